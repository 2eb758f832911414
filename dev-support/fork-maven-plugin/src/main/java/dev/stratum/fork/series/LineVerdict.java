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
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is known of a defect on another line of HBase, as {@code Lines:} of a patch says it:
 * {@code 3.0.0 fixed, read (HBASE-28840)}.
 * @param line     the version, or {@code master}
 * @param verdict  whether the line has the defect
 * @param evidence how that is known
 * @param note     the text in brackets, empty for none
 */
public record LineVerdict(String line, Verdict verdict, Evidence evidence, String note) {

  /** Whether a line has a defect. */
  public enum Verdict {
    /** The line has the defect. */
    THERE,
    /** The line had the defect and has another fix of it, or code without it. */
    FIXED,
    /** The defect has no effect on the line, or the line lacks the code that has it. */
    MOOT;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** How a verdict is known. */
  public enum Evidence {
    /** The patch's tests were run against the line. */
    TEST,
    /** The sources of the line were read. */
    READ;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final Pattern ENTRY =
    Pattern.compile("(\\S+) (there|fixed|moot), (test|read)(?: \\(([^()]+)\\))?");

  /**
   * Reads the value of {@code Lines:}.
   * @param name  what the header belongs to, for messages
   * @param value the value in one line, empty for none
   */
  static List<LineVerdict> parse(String name, String value) {
    List<LineVerdict> verdicts = new ArrayList<>();
    if (value.isEmpty()) {
      return verdicts;
    }
    for (String entry : value.split(" *; *")) {
      Matcher matcher = ENTRY.matcher(entry);
      if (!matcher.matches()) {
        throw new ForkException("%s has '%s' in 'Lines:'; write for each line of HBase its "
          + "version, 'there', 'fixed' or 'moot', and 'test' or 'read', as in '2.6.6 there, test; "
          + "3.0.0 fixed, read (HBASE-1)', or 'none'.", name, entry);
      }
      verdicts.add(new LineVerdict(matcher.group(1), Verdict.valueOf(upper(matcher.group(2))),
        Evidence.valueOf(upper(matcher.group(3))),
        matcher.group(4) == null ? "" : matcher.group(4)));
    }
    return verdicts;
  }

  private static String upper(String word) {
    return word.toUpperCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return line + " " + verdict + ", " + evidence + (note.isEmpty() ? "" : " (" + note + ")");
  }
}
