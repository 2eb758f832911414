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

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

/**
 * A line chart of stock and fork as SVG inside an {@link HtmlPage}, whose style sheet has the
 * colours, those of a dark page included. A marked point shows its value in a tooltip. Small enough
 * for a phone's screen. Not thread-safe.
 * <p>
 * A chart library such as XChart draws with AWT: it needs fonts on the machine, fixes the colours,
 * and has no axis of nines for percentiles.
 */
public final class LineChart {
  private static final int WIDTH = 400;
  private static final int HEIGHT = 230;
  private static final int LEFT = 52;
  private static final int RIGHT = 26;
  private static final int TOP = 12;
  private static final int BOTTOM = 38;

  private final String title;
  private final Axis x;
  private final Axis y;
  private final StringBuilder lines = new StringBuilder();

  /**
   * An axis.
   * @param label     quantity and unit; drawn below the x-axis only
   * @param transform from values to an even scale
   * @param ticks     values with a label; the first and the last may lie outside
   * @param text      format of a tick's label
   * @param low       first value
   * @param high      last value
   */
  public record Axis(String label, DoubleUnaryOperator transform, List<Double> ticks,
    DoubleFunction<String> text, double low, double high) {

    /** From 0 to a round number of at least <code>max</code>. */
    public static Axis linear(String label, double max) {
      double end = max <= 0 ? 1 : max;
      double step = Math.pow(10, Math.floor(Math.log10(end)));
      for (double factor : new double[] { 0.2, 0.25, 0.5, 1, 2 }) {
        if (end / (step * factor) <= 5) {
          step *= factor;
          break;
        }
      }
      List<Double> ticks = new ArrayList<>();
      double high = Math.ceil(end / step) * step;
      for (int i = 0; i * step <= high * 1.0001; i++) {
        ticks.add(i * step);
      }
      return new Axis(label, value -> value, ticks, Axis::number, 0, high);
    }

    /** Powers of ten around both values, which are above 0. */
    public static Axis logarithmic(String label, double min, double max) {
      double low = Math.floor(Math.log10(min));
      double high = Math.max(low + 1, Math.ceil(Math.log10(max)));
      List<Double> ticks = new ArrayList<>();
      for (double power = low; power <= high; power++) {
        ticks.add(Math.pow(10, power));
      }
      return new Axis(label, Math::log10, ticks, Axis::number, Math.pow(10, low),
        Math.pow(10, high));
    }

    /** Percentiles by their nines: 90 is as far from 99 as 99 is from 99.9. */
    public static Axis nines(String label, double max) {
      List<Double> ticks = new ArrayList<>();
      for (double tick : new double[] { 0, 50, 90, 99, 99.9, 99.99, 99.999 }) {
        if (ticks.size() < 5 || ticks.get(ticks.size() - 1) < max) {
          ticks.add(tick);
        }
      }
      return new Axis(label, value -> -Math.log10(1 - value / 100), ticks,
        value -> value % 1 == 0 ? String.valueOf((int) value) : String.valueOf(value), 0,
        ticks.get(ticks.size() - 1));
    }

    /** Names at equal distances; a point's x is the index of its name, from 0 on. */
    public static Axis names(String label, List<String> names) {
      List<Double> ticks = IntStream.range(0, names.size()).asDoubleStream().boxed().toList();
      return new Axis(label, value -> value, ticks, value -> names.get((int) value), -0.5,
        names.size() - 0.5);
    }

    private static String number(double value) {
      if (value >= 1e6) {
        return plain(value / 1e6) + "M";
      }
      return value >= 1e3 ? plain(value / 1e3) + "k" : plain(value);
    }

    private static String plain(double value) {
      String text = String.format(Locale.ROOT, "%.2f", value);
      return text.replaceFirst("\\.?0+$", "");
    }

    double place(double value) {
      double from = transform.applyAsDouble(low);
      double share = (transform.applyAsDouble(value) - from)
        / (transform.applyAsDouble(high) - from);
      return Math.max(0, Math.min(1, share));
    }
  }

  /** @param title is escaped here */
  public LineChart(String title, Axis x, Axis y) {
    this.title = HtmlPage.escape(title);
    this.x = x;
    this.y = y;
  }

  /**
   * Adds a line.
   * @param style    classes of the style sheet: <code>stock</code> or <code>fork</code>, and
   *                 <code>p99</code> for a dashed line
   * @param points   x and y of each
   * @param isMarked if each point has a mark with a tooltip
   */
  public void add(String style, List<double[]> points, boolean isMarked) {
    if (points.isEmpty()) {
      return;
    }
    lines.append("<polyline class=\"").append(style).append("\" points=\"");
    for (double[] point : points) {
      lines.append(at(left(point[0]))).append(',').append(at(top(point[1]))).append(' ');
    }
    lines.setCharAt(lines.length() - 1, '"');
    lines.append("/>");
    for (double[] point : isMarked ? points : List.<double[]> of()) {
      lines.append("<circle class=\"").append(style).append("\" r=\"2\" cx=\"")
        .append(at(left(point[0]))).append("\" cy=\"").append(at(top(point[1])))
        .append("\"><title>").append(style).append(": ").append(tooltip(point[1]))
        .append("</title></circle>");
    }
    lines.append('\n');
  }

  private static String tooltip(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%,.1f" : "%,.0f", value);
  }

  private double left(double value) {
    return LEFT + x.place(value) * (WIDTH - LEFT - RIGHT);
  }

  private double top(double value) {
    return HEIGHT - BOTTOM - y.place(value) * (HEIGHT - TOP - BOTTOM);
  }

  private static String at(double place) {
    return String.format(Locale.ROOT, "%.1f", place);
  }

  /** The figure, with its caption. */
  public String svg() {
    StringBuilder svg = new StringBuilder();
    svg.append(String.format(Locale.ROOT,
      "<figure><figcaption>%s</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\""
        + " aria-label=\"%s\">%n",
      title, WIDTH, HEIGHT, title));
    for (double tick : y.ticks()) {
      svg.append(String.format(Locale.ROOT,
        "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%4$.1f\" y2=\"%4$.1f\"/>"
          + "<text class=\"end\" x=\"%3$d\" y=\"%5$.1f\">%6$s</text>",
        LEFT, WIDTH - RIGHT, LEFT - 6, top(tick), top(tick) + 4, y.text().apply(tick)));
    }
    for (double tick : x.ticks()) {
      svg.append(String.format(Locale.ROOT,
        "<line class=\"grid\" x1=\"%1$.1f\" x2=\"%1$.1f\" y1=\"%2$d\" y2=\"%3$d\"/>"
          + "<text x=\"%1$.1f\" y=\"%4$d\">%5$s</text>",
        left(tick), TOP, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 15, x.text().apply(tick)));
    }
    svg.append(String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\">%s</text>%n",
      (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 5, x.label()));
    return svg.append(lines).append("</svg></figure>\n").toString();
  }
}
