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
package dev.stratum.fork.pages;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What was found out about other lines of HBase: a table with a column for each line, and a section
 * for each. A line that was not tried again keeps what it has.
 */
public final class LineTables {
  /** In a line's column for a patch that is newer than its last run. */
  static final String NOT_RUN = "not run";
  private static final String SECTION = "\n## ";

  private LineTables() {
  }

  /**
   * Returns the rows and their order of a new table, with the columns of both.
   * @param before the text that has the former table; what is no row of a table is left out
   * @param now    the new table
   */
  public static String mergeTables(String before, String now) {
    List<List<String>> former = rows(before);
    List<List<String>> rows = rows(now);
    if (former.isEmpty()) {
      return now;
    }
    Map<String, List<String>> formerByPatch = new LinkedHashMap<>();
    former.forEach(row -> formerByPatch.put(row.get(0), row));
    List<String> lines = new ArrayList<>(former.get(0).subList(1, former.get(0).size()));
    List<String> tried = rows.get(0).subList(1, rows.get(0).size());
    tried.stream().filter(line -> !lines.contains(line)).forEach(lines::add);
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      List<String> kept = formerByPatch.getOrDefault(row.get(0), List.of());
      text.append("| ").append(row.get(0)).append(" |");
      for (String line : lines) {
        int column = rows.get(0).indexOf(line);
        int formerColumn = former.get(0).indexOf(line);
        text.append(' ').append(column > 0 ? row.get(column)
          : formerColumn < kept.size() ? kept.get(formerColumn)
          : NOT_RUN).append(" |");
      }
      text.append('\n');
      if (row == rows.get(0)) {
        text.append("|---|").append("---|".repeat(lines.size())).append('\n');
      }
    }
    return text.toString();
  }

  /** Returns the cells of each row of a table, without the line below the head. */
  private static List<List<String>> rows(String table) {
    return table.lines().filter(line -> line.startsWith("| "))
      .map(line -> List.of(line.substring(2, line.lastIndexOf('|')).trim().split(" +\\| +")))
      .toList();
  }

  /**
   * Returns a document with the sections of both, those of the new one instead of former ones.
   * @param before the former document
   * @param now    the new one, whose head remains
   */
  public static String mergeSections(String before, String now) {
    Map<String, String> sections = sections(before);
    sections.putAll(sections(now));
    int head = now.indexOf(SECTION);
    StringBuilder text = new StringBuilder(head < 0 ? now : now.substring(0, head));
    sections.forEach((line, section) -> text.append(SECTION).append(line).append(section));
    return text.toString();
  }

  private static Map<String, String> sections(String document) {
    Map<String, String> sections = new LinkedHashMap<>();
    String[] parts = document.split(SECTION, -1);
    for (int i = 1; i < parts.length; i++) {
      int end = parts[i].indexOf('\n');
      sections.put(parts[i].substring(0, end),
        parts[i].substring(end).stripTrailing() + "\n");
    }
    return sections;
  }
}
