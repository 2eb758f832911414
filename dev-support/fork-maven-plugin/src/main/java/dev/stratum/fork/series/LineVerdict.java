/*
 * Licensed to the Apache Software Foundation (ASF) under one
 * or more contributor license agreements.  See the NOTICE file
 * distributed with this work for additional information
 * regarding copyright ownership.  The ASF licenses this file
 * to you under the Apache License, Version 2.0 (the
 * "License"); you may not use this file except in compliance
 * with the License.  You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package dev.stratum.fork.series;

import dev.stratum.fork.ForkException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is known of a defect on another line of HBase, as {@code Lines:} of a patch says it:
 * {@code 3.0.0 fixed, read (HBASE-28840)}.
 * @param line     the version, or {@code master}
 * @param verdict  {@link #THERE}; {@code fixed}, if the line has another fix or code without the
 *                 defect; or {@code moot}, if the defect has no effect there or the code is missing
 * @param evidence {@link #TEST} if the patch's tests were run there, {@code read} if the sources were
 *                 read
 * @param note     the text in brackets, empty for none
 */
public record LineVerdict(String line, String verdict, String evidence, String note) {
  public static final String THERE = "there";
  public static final String TEST = "test";
  private static final Pattern ENTRY =
    Pattern.compile("(\\S+) (there|fixed|moot), (test|read)(?: \\(([^()]+)\\))?");

  /**
   * Reads the value of {@code Lines:}.
   * @param name  what the header belongs to, for messages
   * @param value the value in one line, empty for none
   */
  static List<LineVerdict> parse(String name, String value) {
    List<LineVerdict> verdicts = new ArrayList<>();
    for (String entry : value.isEmpty() ? new String[0] : value.split(" *; *")) {
      Matcher matcher = ENTRY.matcher(entry);
      if (!matcher.matches()) {
        throw new ForkException("%s has '%s' in 'Lines:'; write for each line of HBase its "
          + "version, 'there', 'fixed' or 'moot', and 'test' or 'read', as in '2.6.6 there, test; "
          + "3.0.0 fixed, read (HBASE-1)', or 'none'.", name, entry);
      }
      verdicts.add(new LineVerdict(matcher.group(1), matcher.group(2), matcher.group(3),
        matcher.group(4) == null ? "" : matcher.group(4)));
    }
    return verdicts;
  }

  /** Returns whether the line has the defect. */
  public boolean isThere() {
    return verdict.equals(THERE);
  }
}
