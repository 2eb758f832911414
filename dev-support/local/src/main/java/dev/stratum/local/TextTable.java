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
package dev.stratum.local;

import java.util.ArrayList;
import java.util.List;

/**
 * Columns of text, each as wide as its widest cell: the first one left-aligned, the others
 * right-aligned as figures are read. Not safe for use by several threads.
 */
final class TextTable {
  private static final String GAP = "  ";

  private final List<String[]> rows = new ArrayList<>();
  private final int columns;

  TextTable(String... headings) {
    columns = headings.length;
    rows.add(headings);
  }

  /** @throws IllegalArgumentException if there are not as many cells as headings */
  TextTable row(String... cells) {
    if (cells.length != columns) {
      throw new IllegalArgumentException(cells.length + " cells for " + columns + " columns");
    }
    rows.add(cells);
    return this;
  }

  @Override
  public String toString() {
    int[] widths = new int[columns];
    for (String[] row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (String[] row : rows) {
      for (int i = 0; i < columns; i++) {
        String padding = " ".repeat(widths[i] - row[i].length());
        text.append(GAP);
        if (i == 0) {
          text.append(row[i]).append(padding);
        } else {
          text.append(padding).append(row[i]);
        }
      }
      text.append(System.lineSeparator());
    }
    return text.toString();
  }
}
