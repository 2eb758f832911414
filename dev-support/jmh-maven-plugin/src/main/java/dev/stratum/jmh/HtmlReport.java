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

import static dev.stratum.report.HtmlPage.escape;

import dev.stratum.report.Axis;
import dev.stratum.report.Chart;
import dev.stratum.report.HtmlPage;
import dev.stratum.report.HtmlTable;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * The comparison as one page that needs nothing but a browser: the ratios with their intervals on a
 * logarithmic axis, the bytes allocated per operation, and the table. No scripts, nothing loaded.
 */
final class HtmlReport {
  private static final int TEXT_COLUMNS = 3;

  private final Comparison comparison;

  HtmlReport(Comparison comparison) {
    this.comparison = comparison;
  }

  /**
   * @param sides   the sides that were compared
   * @param command that gives this page
   */
  String html(String sides, String command, String date) {
    StringBuilder html = new StringBuilder();
    html.append(HtmlPage.begin("Benchmarks: " + sides)).append("""
        <h1>%s</h1>
        <p class="meta">%s, %s<br><code>%s</code></p>
        """.formatted(escape(sides), escape(date), escape(Machine.describe()), escape(command)));
    if (comparison.hasStock()) {
      ratios(html);
    }
    allocations(html);
    table(html);
    return html.append(HtmlPage.end()).toString();
  }

  private void ratios(StringBuilder html) {
    List<Comparison.Row> rows =
      comparison.rows().stream().filter(row -> row.ratio() != null).toList();
    double[] values = rows.stream().map(Comparison.Row::ratio).flatMapToDouble(
      ratio -> DoubleStream.concat(DoubleStream.of(ratio.value()), DoubleStream.of(ratio.rounds())))
      .toArray();
    Chart chart = Chart.rows("How many times better the fork is",
      Axis.ratios(DoubleStream.of(values).min().orElse(1), DoubleStream.of(values).max().orElse(1)),
      labels(rows));
    chart.rule(1);
    for (int i = 0; i < rows.size(); i++) {
      Sample.Ratio ratio = rows.get(i).ratio();
      String style = style(ratio);
      for (double round : ratio.rounds()) {
        chart.line("rule",
          List.of(new double[] { round, i - 0.4 }, new double[] { round, i - 0.25 }), false);
      }
      String interval = "";
      if (!Double.isNaN(ratio.low())) {
        chart.range(style, ratio.low(), ratio.high(), i);
        interval = ", " + Figures.ratio(ratio.low()) + " to " + Figures.ratio(ratio.high());
      }
      chart.dot(style, ratio.value(), i, Figures.ratio(ratio.value()) + interval);
    }
    html.append("<h2>Ratios</h2>\n<p>").append(comparison.verdict())
      .append(". A dot is the mean over all rounds, the bar its 99 % interval, the small ticks are"
        + " the single rounds. Right of 1 the fork is better.</p>\n");
    add(chart, html);
  }

  private void allocations(StringBuilder html) {
    List<Comparison.Row> rows =
      comparison.rows().stream().filter(row -> row.forkAllocation() != null).toList();
    if (rows.isEmpty()) {
      return;
    }
    double max = rows.stream().mapToDouble(row -> Math.max(row.forkAllocation().mean(),
      row.stockAllocation() == null ? 0 : row.stockAllocation().mean())).max().orElse(1);
    Chart chart = Chart.rows("Bytes of heap allocated per operation",
      Axis.linear("bytes", max), labels(rows));
    chart.legend("stock hollow", "stock");
    chart.legend("fork", "fork");
    for (int i = 0; i < rows.size(); i++) {
      allocation(chart, "stock hollow", rows.get(i).stockAllocation(), i);
      allocation(chart, "fork", rows.get(i).forkAllocation(), i);
    }
    html.append("<h2>Allocations</h2>\n");
    add(chart, html);
  }

  private static void allocation(Chart chart, String style, Sample bytes, int row) {
    if (bytes != null) {
      chart.dot(style, bytes.mean(), row, String.format(Locale.ROOT, "%,.0f", bytes.mean()));
    }
  }

  private static List<String> labels(List<Comparison.Row> rows) {
    return rows.stream().map(row -> row.name().replace("Benchmark.", ".") + " "
      + row.trial().paramText()).map(String::trim).toList();
  }

  private static void add(Chart chart, StringBuilder html) {
    html.append("<div class=\"scroll\">\n").append(chart.svg()).append("</div>\n");
  }

  private void table(StringBuilder html) {
    html.append("<h2>All figures</h2>\n");
    HtmlTable table = new HtmlTable("All figures", "summary");
    List<List<String>> cells = new RatioTable(comparison, Map.of()).cells();
    for (int i = 0; i < cells.get(0).size(); i++) {
      table.heading(cells.get(0).get(i).trim(), style(i));
    }
    for (List<String> row : cells.subList(1, cells.size())) {
      table.row();
      for (int i = 0; i < row.size(); i++) {
        table.cell(row.get(i).trim(), style(i));
      }
    }
    html.append(table.html());
  }

  /** The classes of a column's cells: names and units are text. */
  private static String style(int column) {
    return column < TEXT_COLUMNS ? "text" : "";
  }

  private static String style(Sample.Ratio ratio) {
    return switch (ratio.verdict()) {
      case BETTER -> "ahead";
      case WORSE -> "behind";
      case NOT_SHOWN -> "meta";
    };
  }
}
