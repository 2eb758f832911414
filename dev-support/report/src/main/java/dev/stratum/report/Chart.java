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

import java.util.List;
import java.util.Locale;

/**
 * Lines and dots on two axes as SVG, either inside an {@link HtmlPage} or as a file of its own,
 * such as a picture in a Markdown page. Readable on a light and on a dark page. Not thread-safe.
 * <p>
 * A chart library such as XChart draws with AWT: text becomes outlines of the fonts on the machine,
 * which makes a file twenty times as large and different on each machine; the colours of a dark
 * page, horizontal intervals, labels of a logarithmic axis and an axis of nines are lacking.
 */
public final class Chart {
  /** The style of a page with charts. The colours of lines and dots are those of their classes. */
  static final String STYLE = """
      text { font: 13px system-ui, sans-serif; fill: #5c6670; text-anchor: middle; }
      .title { font-weight: 600; } .title, .start { text-anchor: start; } .end { text-anchor: end; }
      polyline, circle { stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
      circle { fill: currentColor; } polyline, .hollow { fill: none; }
      path { stroke: #8a949e; stroke-opacity: .35; } .rule { color: #8a949e; }
      .range { stroke-width: 4; stroke-opacity: .45; stroke-linecap: round; }
      .p99 { stroke-dasharray: 5 3; } .fork { color: #0b6e99; } .stock { color: #b5651d; }
      @media (prefers-color-scheme: dark) {
        text { fill: #aab4be; } .fork { color: #4fb3dd; } .stock { color: #e09a55; } }
      """;
  private static final int RIGHT = 26;
  private static final int BOTTOM = 38;
  private static final int ROW = 26;
  private static final int CHARACTER = 7;
  /** Characters of a line of a row's label; a longer label has two lines. */
  private static final int MAX_LABEL = 60;

  private final String title;
  private final Axis x;
  private final Axis y;
  private final int width;
  private final int left;
  private final int top;
  private final int bottom;
  private final StringBuilder marks = new StringBuilder();
  private int legendEnd = 18;

  /**
   * Creates a chart for a grid of charts, small enough for a phone's screen.
   * @param title is escaped here
   */
  public Chart(String title, Axis x, Axis y) {
    this(title, x, y, 400, 52, 30, 210);
  }

  private Chart(String title, Axis x, Axis y, int width, int left, int top, int bottom) {
    this.title = HtmlPage.escape(title);
    this.x = x;
    this.y = y;
    this.width = width;
    this.left = left;
    this.top = top;
    this.bottom = bottom;
  }

  /**
   * Creates a chart with a row for each label, from the top down; the y of what is in a row is its
   * index.
   * @param title is escaped here
   */
  public static Chart rows(String title, Axis x, List<String> labels) {
    int longest = labels.stream().mapToInt(String::length).max().orElse(0);
    return new Chart(title, x, Axis.names("", labels, labels.size() - 0.5, -0.5), 800,
      24 + CHARACTER * Math.min(MAX_LABEL, longest), 54, 54 + ROW * labels.size());
  }

  /**
   * Adds a line.
   * @param style    classes: <code>stock</code> or <code>fork</code>, and <code>p99</code> for a
   *                 dashed line
   * @param points   x and y of each
   * @param isMarked if each point has a mark with a tooltip
   */
  public void line(String style, List<double[]> points, boolean isMarked) {
    if (points.isEmpty()) {
      return;
    }
    marks.append("<polyline class=\"").append(style).append("\" points=\"");
    for (double[] point : points) {
      marks.append(left(point[0])).append(',').append(top(point[1])).append(' ');
    }
    marks.setCharAt(marks.length() - 1, '"');
    marks.append("/>\n");
    for (double[] point : isMarked ? points : List.<double[]> of()) {
      dot(style, 1, point, String.format(Locale.ROOT, point[1] < 100 ? "%s: %,.1f" : "%s: %,.0f",
        style, point[1]));
    }
  }

  /** Adds a thick line from one value to another in a row. */
  public void range(String style, double low, double high, int row) {
    line("range " + style, List.of(new double[] { low, row }, new double[] { high, row }), false);
  }

  /** Adds an emphasized vertical line over all rows. */
  public void rule(double value) {
    line("rule", List.of(new double[] { value, y.low() }, new double[] { value, y.high() }), false);
  }

  /**
   * Adds a dot.
   * @param style   classes: <code>stock</code> or <code>fork</code>, and <code>hollow</code> for an
   *                outline
   * @param tooltip is escaped here
   */
  public void dot(String style, double value, double row, String tooltip) {
    dot(style, 4, new double[] { value, row }, tooltip);
  }

  private void dot(String style, int radius, double[] point, String tooltip) {
    circle(style, radius, left(point[0]), top(point[1])).append("<title>")
      .append(HtmlPage.escape(tooltip)).append("</title></circle>\n");
  }

  private StringBuilder circle(String style, int radius, Object left, Object top) {
    return marks.append(String.format("<circle class=\"%s\" r=\"%d\" cx=\"%s\" cy=\"%s\">", style,
      radius, left, top));
  }

  /** Adds a dot and its meaning to the legend of a chart with rows. */
  public void legend(String style, String meaning) {
    circle(style, 4, legendEnd, 38).append("</circle>")
      .append(text("start", legendEnd + 10, 42, meaning));
    legendEnd += 30 + CHARACTER * meaning.length();
  }

  private static String text(String style, Object left, int top, String text) {
    return String.format("<text%s x=\"%s\" y=\"%d\">%s</text>%n",
      style.isEmpty() ? "" : " class=\"" + style + '"', left, top, HtmlPage.escape(text));
  }

  private String left(double value) {
    return Axis.plain(left + x.at(value) * (width - RIGHT - left), 1);
  }

  private String top(double value) {
    return Axis.plain(bottom - y.at(value) * (bottom - top), 1);
  }

  /** Returns the chart for an {@link HtmlPage}. */
  public String svg() {
    return svg("", "");
  }

  /** Returns the chart as the content of a file. */
  public String file() {
    return svg(" xmlns=\"http://www.w3.org/2000/svg\"", "<style>\n" + STYLE + "</style>\n");
  }

  private String svg(String attributes, String style) {
    StringBuilder labels = new StringBuilder();
    StringBuilder grid = new StringBuilder();
    for (double tick : y.ticks()) {
      String text = y.text().apply(tick);
      int end = text.length() > MAX_LABEL ? text.lastIndexOf(' ', MAX_LABEL) : -1;
      int base = Math.round(Float.parseFloat(top(tick))) + 4;
      if (end > 0) {
        labels.append(text("end", left - 6, base - 6, text.substring(0, end)));
        base += 7;
      }
      labels.append(text("end", left - 6, base, text.substring(end + 1)));
      grid.append('M').append(left).append(' ').append(top(tick)).append('H').append(width - RIGHT);
    }
    for (double tick : x.ticks()) {
      labels.append(text("", left(tick), bottom + 16, x.text().apply(tick)));
      grid.append('M').append(left(tick)).append(' ').append(top).append('V').append(bottom);
    }
    return String.format(Locale.ROOT,
      "<svg%1$s width=\"%2$d\" height=\"%3$d\" viewBox=\"0 0 %2$d %3$d\" role=\"img\""
        + " aria-label=\"%4$s\">%n%5$s<text class=\"title\" x=\"10\" y=\"18\">%4$s</text>%n"
        + "<path d=\"%6$s\"/>%n",
      attributes, width, bottom + BOTTOM, title, style, grid)
      + labels + marks
      + text("", (left + width - RIGHT) / 2, bottom + BOTTOM - 5, x.label())
      + "</svg>\n";
  }
}
