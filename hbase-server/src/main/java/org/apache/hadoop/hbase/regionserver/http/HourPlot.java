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
package org.apache.hadoop.hbase.regionserver.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A line plot of the last hour, as an SVG image to be embedded in a page. Scales to the available
 * width and needs no script; hovering over it shows the values. Not thread-safe.
 */
@InterfaceAudience.Private
final class HourPlot {
  private static final long HOUR_MS = 3_600_000;
  private static final int WIDTH = 560;
  private static final int HEIGHT = 230;
  private static final int LEFT = 66;
  private static final int RIGHT = 548;
  private static final int TOP = 12;
  private static final int BOTTOM = 196;
  private static final String FAINT = " opacity=\"0.3\"";

  private final String label;
  private final long now;
  private final DoubleFunction<String> format;
  private final List<String> names = new ArrayList<>();
  private final List<String> colors = new ArrayList<>();
  private final List<Point> points = new ArrayList<>();

  private static final class Point {
    private final long from;
    private final long to;
    private final String when;
    private final boolean faint;
    private final double[] values;

    Point(long from, long to, String when, boolean faint, double[] values) {
      this.from = from;
      this.to = to;
      this.when = when;
      this.faint = faint;
      this.values = values;
    }
  }

  /**
   * @param label  description of the plot, for screen readers
   * @param now    the right end, in milliseconds
   * @param format formats a value with its unit
   */
  HourPlot(String label, long now, DoubleFunction<String> format) {
    this.label = label;
    this.now = now;
    this.format = format;
  }

  /** Adds a line; the values of points are in the order of the lines. */
  HourPlot line(String name, String color) {
    names.add(name);
    colors.add(color);
    return this;
  }

  /**
   * Adds a point to each line.
   * @param from   start of the period of the values, in milliseconds
   * @param to     end of the period, in milliseconds
   * @param when   the period as text
   * @param faint  whether the point, and lines that lead to it, are drawn faint
   * @param values one per line; NaN where there is none
   */
  void point(long from, long to, String when, boolean faint, double... values) {
    if (to > now - HOUR_MS) {
      points.add(new Point(from, to, when, faint, values));
    }
  }

  /** Returns the minimum of 1, 2 and 5 times a power of ten that is not below the value. */
  static double niceCeiling(double value) {
    double power = Math.pow(10, Math.floor(Math.log10(value)));
    for (double factor : new double[] { 1, 2, 5 }) {
      if (value <= factor * power) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  /** @param top the upper end of the axis; 0 to take it from the values */
  String svg(double top) {
    double max = top;
    if (top == 0) {
      for (Point point : points) {
        for (double value : point.values) {
          max = Math.max(max, value);
        }
      }
      max = max > 0 ? niceCeiling(max) : 1;
    }
    StringBuilder svg = new StringBuilder();
    svg.append(String.format(Locale.ROOT,
      "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT, label));
    for (int i = 0; i <= 4; i++) {
      double y = BOTTOM - (BOTTOM - TOP) * i / 4.0;
      svg.append(String.format(Locale.ROOT,
        "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
          + "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
        LEFT, RIGHT, y, y, LEFT - 6, y + 4.5, format.apply(max * i / 4)));
    }
    for (int minutes = 60; minutes >= 0; minutes -= 15) {
      double x = x(now - minutes * 60_000L);
      svg.append(String.format(Locale.ROOT,
        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#999\"/>"
          + "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
        x, x, BOTTOM, BOTTOM + 5, x, BOTTOM + 21, minutes == 0 ? "end" : "middle",
        minutes == 0 ? "now" : "\u2212" + minutes + " min"));
    }
    for (int i = 0; i < names.size(); i++) {
      appendLine(svg, i, max);
    }
    appendHints(svg);
    return svg.append("</svg>\n").toString();
  }

  private static double clamp(double x) {
    return Math.max(LEFT, Math.min(RIGHT, x));
  }

  private double x(long time) {
    return clamp(RIGHT - (double) (RIGHT - LEFT) * (now - time) / HOUR_MS);
  }

  private void appendLine(StringBuilder svg, int line, double max) {
    StringBuilder path = new StringBuilder();
    StringBuilder faint = new StringBuilder();
    StringBuilder alone = new StringBuilder();
    boolean gapBefore = true;
    boolean faintBefore = false;
    String before = "";
    for (int i = 0; i < points.size(); i++) {
      Point point = points.get(i);
      double value = point.values[line];
      if (Double.isNaN(value)) {
        gapBefore = true;
        continue;
      }
      double x = x((point.from + point.to) / 2);
      double y = BOTTOM - (BOTTOM - TOP) * Math.min(1, value / max);
      boolean gapAfter =
        i + 1 == points.size() || Double.isNaN(points.get(i + 1).values[line]);
      if (gapBefore && gapAfter) {
        // A line of one point would be invisible.
        alone.append(String.format(Locale.ROOT,
          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"%s/>\n", x, y, colors.get(line),
          point.faint ? FAINT : ""));
      }
      String position = String.format(Locale.ROOT, "%.1f %.1f", x, y);
      if (!gapBefore) {
        append(point.faint || faintBefore ? faint : path, before, position);
      }
      gapBefore = false;
      faintBefore = point.faint;
      before = position;
    }
    appendPath(svg, path, line, "");
    appendPath(svg, faint, line, FAINT);
    svg.append(alone);
  }

  /** Appends a line between two positions, which continues the last one if that ends there. */
  private static void append(StringBuilder path, String from, String to) {
    if (!path.toString().endsWith(from)) {
      path.append('M').append(from);
    }
    path.append('L').append(to);
  }

  private void appendPath(StringBuilder svg, StringBuilder path, int line, String more) {
    if (path.length() > 0) {
      // Where lines overlap, the one below shows through.
      svg.append(String.format(Locale.ROOT,
        "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
          + "stroke-linejoin=\"round\"%s%s/>\n",
        path, colors.get(line), line == 0 ? "" : " stroke-dasharray=\"6 3\"", more));
    }
  }

  private void appendHints(StringBuilder svg) {
    svg.append("<g fill-opacity=\"0\">\n");
    for (Point point : points) {
      double from = x(point.from);
      StringBuilder hint = new StringBuilder(point.when);
      for (int i = 0; i < names.size(); i++) {
        double value = point.values[i];
        hint.append(i == 0 ? ": " : ", ").append(names.get(i)).append(' ')
          .append(Double.isNaN(value) ? "\u2013" : format.apply(value));
      }
      svg.append(String.format(Locale.ROOT,
        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s</title></rect>\n", from,
        TOP, Math.max(0.1, x(point.to) - from), BOTTOM - TOP, hint));
    }
    svg.append("</g>\n");
  }

  /** Returns the names of the lines with their colours. */
  String legend() {
    StringBuilder html = new StringBuilder("<p class=\"tiers-legend\">");
    for (int i = 0; i < names.size(); i++) {
      html.append("<span><i style=\"background:").append(colors.get(i)).append("\"></i>")
        .append(names.get(i)).append("</span> ");
    }
    return html.append("</p>\n").toString();
  }
}
