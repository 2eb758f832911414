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
package dev.stratum.jmh;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** The comparison as text for a terminal, and as a Markdown table. */
final class RatioTable {
  private final List<Column> columns = new ArrayList<>();
  private final List<Comparison.Row> rows;

  private record Column(String title, boolean left, Function<Comparison.Row, String> text) {
  }

  /** @param features the feature of each benchmark by its name, empty for no such column */
  RatioTable(Comparison comparison, Map<String, String> features) {
    rows = comparison.rows();
    boolean stock = comparison.hasStock();
    if (!features.isEmpty()) {
      columns.add(new Column("feature", true,
        row -> features.getOrDefault(row.trial().benchmark(), "")));
    }
    columns.add(new Column("benchmark", true, Comparison.Row::name));
    columns.add(new Column("parameters", true, row -> row.trial().paramText()));
    columns.add(new Column("unit", true, Comparison.Row::unit));
    if (stock) {
      columns.add(new Column("stock", false, row -> score(row.stock())));
    }
    columns.add(new Column("fork", false, row -> score(row.fork())));
    if (stock) {
      columns.add(new Column("ratio", false, row -> ratio(row)));
      columns.add(new Column("99 % interval", false, row -> interval(row.ratio())));
      columns.add(new Column("B/op stock", false, row -> allocation(row.stockAllocation())));
    }
    columns.add(new Column(stock ? "B/op fork" : "B/op", false,
      row -> allocation(row.forkAllocation())));
  }

  /** Returns the mean with half its interval in per cent of it. */
  private static String score(Sample sample) {
    if (sample == null) {
      return "-";
    }
    double error = sample.error();
    return Figures.of(sample.mean()) + (Double.isNaN(error)
      ? ""
      : String.format(Locale.ROOT, " ±%2.0f%%", Math.min(999, 100 * error / sample.mean())));
  }

  private static String ratio(Comparison.Row row) {
    if (row.stock() == null) {
      return "fork only";
    }
    return row.ratio() == null ? "-" : Figures.ratio(row.ratio().value());
  }

  static String interval(Sample.Ratio ratio) {
    if (ratio == null || Double.isNaN(ratio.low())) {
      return "-";
    }
    String mark = switch (ratio.verdict()) {
      case BETTER -> " +";
      case WORSE -> " -";
      case NOT_SHOWN -> "  ";
    };
    return Figures.ratio(ratio.low()) + " to " + Figures.ratio(ratio.high()) + mark;
  }

  static String allocation(Sample sample) {
    // JMH's own harness allocates a fraction of a byte per operation.
    return sample == null ? "" : String.format(Locale.ROOT, "%,.0f", sample.mean());
  }

  /** Lines without line breaks, the columns aligned. */
  List<String> lines() {
    List<List<String>> cells = cells();
    int[] widths = new int[columns.size()];
    for (List<String> line : cells) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> line : cells) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        String pad = " ".repeat(widths[i] - line.get(i).length());
        text.append(columns.get(i).left ? line.get(i) + pad : pad + line.get(i)).append("  ");
      }
      lines.add(text.toString().stripTrailing());
    }
    lines.add(1, "-".repeat(lines.stream().mapToInt(String::length).max().orElse(0)));
    return lines;
  }

  /** Returns the same table for a page of the documentation. */
  String markdown() {
    StringBuilder text = new StringBuilder();
    List<List<String>> cells = cells();
    for (int n = 0; n < cells.size(); n++) {
      text.append('|');
      for (String cell : cells.get(n)) {
        text.append(' ').append(cell.trim()).append(" |");
      }
      text.append('\n');
      if (n == 0) {
        columns.forEach(column -> text.append(column.left ? "|---" : "|---:"));
        text.append("|\n");
      }
    }
    return text.toString();
  }

  /** Returns the titles, then a line per row; every line has a cell per column. */
  List<List<String>> cells() {
    List<List<String>> cells = new ArrayList<>();
    cells.add(columns.stream().map(Column::title).toList());
    for (Comparison.Row row : rows) {
      cells.add(columns.stream().map(column -> column.text.apply(row)).toList());
    }
    return cells;
  }
}
