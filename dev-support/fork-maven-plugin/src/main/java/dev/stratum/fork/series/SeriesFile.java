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

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Rewrites patches/series for a new order, keeping each comment with the line below it. */
public final class SeriesFile {

  private SeriesFile() {
  }

  /**
   * Returns the file with these names in this order; the same bytes if it has them already.
   * @param old   the file as it is, {@code null} if there is none
   * @param names the patch file names
   */
  public static byte[] rewrite(byte[] old, List<String> names) {
    List<String> lines = old == null || old.length == 0
      ? List.of()
      : List.of(new String(old, StandardCharsets.UTF_8).split("\n"));
    List<String> head = new ArrayList<>();
    List<String> pending = new ArrayList<>();
    Map<String, List<String>> blocks = new LinkedHashMap<>();
    boolean inHead = true;
    for (String line : lines) {
      String name = line.replaceFirst("#.*", "").trim();
      if (!name.isEmpty()) {
        inHead = false;
        pending.add(line);
        blocks.put(name, pending);
        pending = new ArrayList<>();
      } else if (inHead) {
        head.add(line);
        inHead = !line.isBlank();
      } else {
        pending.add(line);
      }
    }
    if (List.copyOf(blocks.keySet()).equals(names)) {
      return old == null ? new byte[0] : old;
    }
    List<String> result = new ArrayList<>(head);
    for (String name : names) {
      result.addAll(blocks.getOrDefault(name, List.of(name)));
    }
    result.addAll(pending);
    return (String.join("\n", result) + "\n").getBytes(StandardCharsets.UTF_8);
  }
}
