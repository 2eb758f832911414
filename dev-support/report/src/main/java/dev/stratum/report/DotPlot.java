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
package dev.stratum.report;

import java.util.Locale;

/**
 * Rows of dots and ranges on one axis as an SVG file that needs no style sheet, such as a picture
 * in a Markdown page. It is readable on a light and on a dark page. Not thread-safe.
 */
public final class DotPlot {
  private static final int WIDTH = 800;
  private static final int LEFT = 310;
  private static final int RIGHT = 30;
  private static final int TOP = 54;
  private static final int ROW = 26;
  private static final int BOTTOM = 44;
  /** Characters of a label that certainly fit. */
  private static final int MAX_LABEL = 38;
  private static final String STYLE = """
      text { font: 13px system-ui, sans-serif; fill: #5c6670; text-anchor: middle; }
      .title { font-weight: 600; text-anchor: start; }
      .end { text-anchor: end; } .start { text-anchor: start; }
      .grid { stroke: #8a949e; stroke-opacity: .35; } .rule { stroke: #8a949e; stroke-width: 1.5; }
      .range { stroke-width: 3; stroke-opacity: .45; stroke-linecap: round; }
      .fork { stroke: #0b6e99; fill: #0b6e99; } .stock { stroke: #b5651d; fill: #b5651d; }
      .hollow { fill: none; stroke-width: 2; }
      @media (prefers-color-scheme: dark) { text { fill: #aab4be; }
        .fork { stroke: #4fb3dd; fill: #4fb3dd; } .stock { stroke: #e09a55; fill: #e09a55; }
        .hollow { fill: none; } }
      """;

  private final String title;
  private final LineChart.Axis x;
  private final StringBuilder marks = new StringBuilder();
  private final StringBuilder legend = new StringBuilder();
  private final StringBuilder rules = new StringBuilder();
  private int rows;
  private int legendEnd = 18;

  /** @param title is escaped here */
  public DotPlot(String title, LineChart.Axis x) {
    this.title = HtmlPage.escape(title);
    this.x = x;
  }

  /** Begins a row, below the previous one. */
  public void row(String label) {
    rows++;
    // Fonts differ: a long label is condensed to the place that there is.
    String fit = label.length() > MAX_LABEL
      ? String.format(Locale.ROOT, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"",
        LEFT - 20)
      : "";
    marks.append(
      String.format(Locale.ROOT, "<text class=\"end\" x=\"%d\" y=\"%d\"%s>%s</text>%n", LEFT - 12,
        y() + 4, fit, HtmlPage.escape(label)));
  }

  /**
   * Adds a line from one value to another.
   * @param side <code>stock</code> or <code>fork</code>
   */
  public void range(String side, double low, double high) {
    marks.append(String.format(Locale.ROOT,
      "<line class=\"range %s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%4$d\" y2=\"%4$d\"/>%n", side,
      left(low), left(high), y()));
  }

  /**
   * Adds a dot with a tooltip.
   * @param side   <code>stock</code> or <code>fork</code>
   * @param hollow whether only its outline is drawn
   */
  public void dot(String side, double value, boolean hollow, String tooltip) {
    marks.append(circle(side, hollow, left(value), y())).append("<title>")
      .append(HtmlPage.escape(tooltip)).append("</title></circle>\n");
  }

  /** Adds an emphasized line over all rows. */
  public void rule(double value) {
    rules.append(String.format(Locale.ROOT,
      "<line class=\"rule\" x1=\"%1$.1f\" x2=\"%1$.1f\" y1=\"%2$d\" y2=\"", left(value), TOP - 6))
      .append("%BOTTOM%\"/>\n");
  }

  /** Adds a dot and its meaning to the legend. */
  public void legend(String side, boolean hollow, String meaning) {
    legend.append(circle(side, hollow, legendEnd, 38)).append("</circle>")
      .append(String.format(Locale.ROOT, "<text class=\"start\" x=\"%d\" y=\"42\">%s</text>%n",
        legendEnd + 10, HtmlPage.escape(meaning)));
    legendEnd += 30 + 7 * meaning.length();
  }

  private static String circle(String side, boolean hollow, double x, int y) {
    return String.format(Locale.ROOT, "<circle class=\"%s%s\" r=\"5\" cx=\"%.1f\" cy=\"%d\">", side,
      hollow ? " hollow" : "", x, y);
  }

  private int y() {
    return TOP + ROW * (rows - 1) + ROW / 2;
  }

  private double left(double value) {
    return LEFT + x.place(value) * (WIDTH - LEFT - RIGHT);
  }

  /** Returns the content of the file. */
  public String svg() {
    int bottom = TOP + ROW * rows + 6;
    int height = bottom + BOTTOM;
    StringBuilder svg = new StringBuilder(String.format(Locale.ROOT,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\""
        + " viewBox=\"0 0 %1$d %2$d\" role=\"img\" aria-label=\"%3$s\">%n<style>%n%4$s</style>%n"
        + "<text class=\"title\" x=\"10\" y=\"18\">%3$s</text>%n",
      WIDTH, height, title, STYLE)).append(legend);
    for (double tick : x.ticks()) {
      svg.append(String.format(Locale.ROOT,
        "<line class=\"grid\" x1=\"%1$.1f\" x2=\"%1$.1f\" y1=\"%2$d\" y2=\"%3$d\"/>"
          + "<text x=\"%1$.1f\" y=\"%4$d\">%5$s</text>%n",
        left(tick), TOP - 6, bottom, bottom + 16, x.text().apply(tick)));
    }
    return svg.append(rules.toString().replace("%BOTTOM%", String.valueOf(bottom)))
      .append(marks)
      .append(String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\">%s</text>%n</svg>%n",
        (LEFT + WIDTH - RIGHT) / 2, height - 8, HtmlPage.escape(x.label())))
      .toString();
  }
}
