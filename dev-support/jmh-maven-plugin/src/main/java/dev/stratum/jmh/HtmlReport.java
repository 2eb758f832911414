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

import dev.stratum.report.HtmlPage;
import dev.stratum.report.HtmlTable;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The comparison as one page that needs nothing but a browser: the ratios with their intervals on a
 * logarithmic axis, the bytes allocated per operation, and the table. No scripts, nothing loaded.
 */
final class HtmlReport {
  /** Of the plots, beyond the style of all reports. */
  private static final String STYLE = """
      small { display: block; font-size: .8rem; font-weight: normal; color: var(--soft); }
      .row { display: grid; grid-template-columns: 21rem 1fr 7rem; gap: 0 1.25rem;
        align-items: center; padding: .4rem 0; border-top: 1px solid var(--line); }
      .label { overflow-wrap: anywhere; line-height: 1.3; }
      .track { position: relative; height: 2rem; margin: 0 .5rem; }
      .track i { position: absolute; top: 0; height: 100%; }
      .grid, .one { width: 1px; background: var(--line); }
      .one { background: var(--soft); }
      .track .round { width: 2px; margin-left: -1px; top: .2rem; height: .35rem;
        background: var(--soft); opacity: .7; }
      .track .bar { top: calc(50% - .18rem); height: .36rem; border-radius: .18rem; opacity: .55;
        background: var(--tone); }
      .track .dot { top: calc(50% - .4rem); width: .8rem; height: .8rem; margin-left: -.4rem;
        border-radius: 50%; background: var(--tone); }
      .same { --tone: var(--soft); } .better { --tone: var(--better); }
      .worse { --tone: var(--worse); }
      .value { text-align: right; font-weight: 600; font-variant-numeric: tabular-nums;
        color: var(--tone); line-height: 1.3; }
      .same .value { color: var(--ink); }
      .axis { color: var(--soft); font-size: .8rem; }
      .axis .track { height: 1.2rem; }
      .axis span { position: absolute; transform: translateX(-50%); }
      .pair { grid-column: 2 / 4; }
      .pair > div { display: grid; grid-template-columns: 3rem 1fr 4.5rem; gap: .5rem;
        align-items: center; font-size: .85rem; line-height: 1.35; }
      .side { color: var(--soft); }
      .space i { display: block; height: .6rem; border-radius: .15rem; }
      .space .fork { background: var(--fork); } .space .stock { background: var(--stock); }
      .pair b { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }
      @media (max-width: 46rem) {
        .row { grid-template-columns: 1fr auto; }
        .row .label { grid-column: 1; }
        .row .value { grid-column: 2; grid-row: 1; }
        .row .track { grid-column: 1 / 3; }
        .row .pair { grid-column: 1 / 3; }
        .axis > div:empty { display: none; }
      }
      """;

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
    html.append(HtmlPage.begin("Benchmarks: " + sides, STYLE)).append("""
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
    Axis axis = Axis.around(rows);
    html.append("<h2>How many times better the fork is</h2>\n<p>").append(comparison.verdict())
      .append(". A dot is the mean over all rounds, the bar its 99 % interval, the small ticks are"
        + " the single rounds. Right of 1 the fork is better.</p>\n<div class=\"plot\">\n");
    for (Comparison.Row row : rows) {
      Sample.Ratio ratio = row.ratio();
      html.append("<div class=\"row ").append(cssClass(ratio)).append("\">");
      label(html, row);
      html.append("<div class=\"track\">");
      for (double tick : axis.ticks()) {
        html.append(tick == 1 ? "<i class=\"one\"" : "<i class=\"grid\"").append(left(axis, tick))
          .append("></i>");
      }
      for (double round : ratio.rounds()) {
        html.append("<i class=\"round\"").append(left(axis, round)).append("></i>");
      }
      if (!Double.isNaN(ratio.low())) {
        html.append("<i class=\"bar\" style=\"left:").append(percent(axis.place(ratio.low())))
          .append(";right:").append(percent(1 - axis.place(ratio.high()))).append("\"></i>");
      }
      html.append("<i class=\"dot\"").append(left(axis, ratio.value()))
        .append("></i></div><div class=\"value\">").append(Figures.ratio(ratio.value()))
        .append(Double.isNaN(ratio.low())
          ? ""
          : "<small>" + Figures.ratio(ratio.low()) + " to " + Figures.ratio(ratio.high())
            + "</small>")
        .append("</div></div>\n");
    }
    html.append("<div class=\"row axis\"><div></div><div class=\"track\">");
    for (double tick : axis.ticks()) {
      html.append("<span").append(left(axis, tick)).append('>').append(axis.text(tick))
        .append("</span>");
    }
    html.append("</div><div></div></div>\n</div>\n");
  }

  private void allocations(StringBuilder html) {
    List<Comparison.Row> rows =
      comparison.rows().stream().filter(row -> row.forkAllocation() != null).toList();
    if (rows.isEmpty()) {
      return;
    }
    double most = rows.stream().mapToDouble(row -> Math.max(row.forkAllocation().mean(),
      row.stockAllocation() == null ? 0 : row.stockAllocation().mean())).max().orElse(1);
    html.append("<h2>Bytes of heap allocated per operation</h2>\n<div class=\"plot\">\n");
    for (Comparison.Row row : rows) {
      html.append("<div class=\"row\">");
      label(html, row);
      html.append("<div class=\"pair\">");
      if (row.stockAllocation() != null) {
        bar(html, "stock", row.stockAllocation().mean(), most);
      }
      bar(html, "fork", row.forkAllocation().mean(), most);
      html.append("</div></div>\n");
    }
    html.append("</div>\n");
  }

  private static void bar(StringBuilder html, String side, double value, double most) {
    html.append("<div><span class=\"side\">").append(side).append("</span><span class=\"space\">")
      .append("<i class=\"").append(side).append("\" style=\"width:")
      .append(percent(Math.max(0.002, value / Math.max(1, most)))).append("\"></i></span><b>")
      .append(String.format(Locale.ROOT, "%,.0f", value)).append("</b></div>");
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

  private static void label(StringBuilder html, Comparison.Row row) {
    // A long name breaks where its parts meet.
    String name = escape(row.name()).replaceAll("([.:])", "<wbr>$1");
    html.append("<div class=\"label\">").append(name).append("<small>")
      .append(escape(row.trial().paramText())).append("</small></div>");
  }

  private static String cssClass(Sample.Ratio ratio) {
    return switch (ratio.verdict()) {
      case BETTER -> "better";
      case WORSE -> "worse";
      case NOT_SHOWN -> "same";
    };
  }

  private static String left(Axis axis, double value) {
    return " style=\"left:" + percent(axis.place(value)) + "\"";
  }

  private static String percent(double fraction) {
    return String.format(Locale.ROOT, "%.2f%%", 100 * Math.max(0, Math.min(1, fraction)));
  }

  /**
   * A logarithmic axis with 1 in its middle, as wide as the ratios need.
   * @param factor the ratio at its right end, the square of a round number
   */
  record Axis(double factor) {
    private static final double[] FACTORS = { 1.21, 1.44, 2.25, 4, 9, 100, 10_000 };

    static Axis around(List<Comparison.Row> rows) {
      double widest = 1;
      for (Comparison.Row row : rows) {
        Sample.Ratio ratio = row.ratio();
        widest = Math.max(widest, Math.max(ratio.value(), 1 / ratio.value()));
        for (double round : ratio.rounds()) {
          widest = Math.max(widest, Math.max(round, 1 / round));
        }
      }
      for (double factor : FACTORS) {
        if (widest <= factor) {
          return new Axis(factor);
        }
      }
      return new Axis(FACTORS[FACTORS.length - 1]);
    }

    /** From 0 at the left end to 1 at the right; what lies beyond an end is put there. */
    double place(double ratio) {
      double place = 0.5 + 0.5 * Math.log(ratio) / Math.log(factor);
      return Math.max(0, Math.min(1, place));
    }

    double[] ticks() {
      double half = Math.sqrt(factor);
      return new double[] { 1 / factor, 1 / half, 1, half, factor };
    }

    String text(double tick) {
      String text = String.format(Locale.ROOT, "%.2f", tick);
      return text.endsWith(".00") ? text.substring(0, text.length() - 3) : text;
    }
  }
}
