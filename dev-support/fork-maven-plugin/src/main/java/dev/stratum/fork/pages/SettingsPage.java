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
import java.util.List;
import java.util.regex.Pattern;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TableBody;
import org.commonmark.node.Code;
import org.commonmark.node.Node;

/** The keys of docs/configuration.md: a section and a table for each feature or part of one. */
final class SettingsPage {

  /**
   * A row of a table.
   * @param keys  the keys in full
   * @param value the default if it is a literal, {@code null} if there is none, or if it is the
   *              value of another key
   * @param notes what the default's cell says beside it
   * @param range the unit, and the values that it may have
   * @param live  whether it can be changed at run time
   * @param when  when to change it
   */
  record Entry(List<String> keys, String value, String notes, String range, boolean live,
    String when) {
  }

  private static final Pattern KEY = Pattern.compile("(?:hbase|dfs)(?:\\.[\\w-]+)+");

  private final List<Node> blocks;

  SettingsPage(String markdown) {
    blocks = Plain.blocks(markdown);
  }

  /** Returns the rows of all tables in order. */
  List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    for (Node block : blocks) {
      if (block instanceof TableBlock) {
        for (Node part : Plain.children(block)) {
          if (part instanceof TableBody) {
            Plain.children(part).forEach(row -> entries.add(entry(Plain.children(row))));
          }
        }
      }
    }
    return entries;
  }

  private static Entry entry(List<Node> cells) {
    List<String> keys = keys(cells.get(0));
    Node first = cells.get(1).getFirstChild();
    String value = null;
    String all = Plain.of(cells.get(1)).strip();
    String notes = all;
    if (first instanceof Code code && !KEY.matcher(code.getLiteral()).matches()) {
      value = code.getLiteral();
      notes = all.substring(value.length()).replaceFirst("^[:,;] *", "").strip();
    }
    // The table of HDFS's keys has neither a range nor whether they can be changed at run time.
    boolean whole = cells.size() == 5;
    return new Entry(keys, value, notes, whole ? Plain.of(cells.get(2)).strip() : "",
      whole && !Plain.of(cells.get(3)).strip().equals("no"),
      Plain.of(cells.get(cells.size() - 1)).strip());
  }

  /** Reads a cell such as {@code `hbase.a.l1.size`, `l2.…`}: the second key is hbase.a.l2.size. */
  private static List<String> keys(Node cell) {
    List<String> keys = new ArrayList<>();
    for (Node node : Plain.children(cell)) {
      if (!(node instanceof Code code)) {
        continue;
      }
      String key = code.getLiteral();
      if (key.endsWith(".…") && !keys.isEmpty()) {
        String last = keys.get(keys.size() - 1);
        String prefix = key.substring(0, key.length() - 1);
        int same = last.indexOf("." + prefix.charAt(0)) + 1;
        key = last.substring(0, same) + prefix + last.substring(same + prefix.length());
      }
      if (KEY.matcher(key).matches() && !key.endsWith("NAME")) {
        keys.add(key);
      }
    }
    return keys;
  }
}
