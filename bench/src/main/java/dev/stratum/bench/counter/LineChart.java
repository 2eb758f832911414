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
package dev.stratum.bench.counter;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines over places at equal distances, from zero up, as a figure of a page. */
final class LineChart {
  private static final double WIDTH = 300;
  private static final double HEIGHT = 150;
  private static final double LEFT = 44;
  private static final double RIGHT = 8;
  private static final double TOP = 8;
  private static final double BOTTOM = 20;

  private record Line(String style, double[] values) {
  }

  private final String title;
  private final List<String> places;
  private final List<Line> lines = new ArrayList<>();

  /** @param places what stands below the axis, one by one */
  LineChart(String title, List<String> places) {
    this.title = title;
    this.places = places;
  }

  /** @param style the classes that the page's style knows it by */
  void add(String style, double[] values) {
    lines.add(new Line(style, values));
  }

  String svg() {
    double top = 1e-9;
    for (Line line : lines) {
      for (double value : line.values()) {
        top = Math.max(top, value);
      }
    }
    double step = step(top);
    double max = Math.ceil(top / step) * step;
    StringBuilder svg = new StringBuilder("<figure><figcaption>").append(title)
      .append(format("</figcaption><svg viewBox=\"0 0 %.0f %.0f\">", WIDTH, HEIGHT));
    for (double tick = 0; tick <= max * 1.001; tick += step) {
      double y = y(tick, max);
      svg.append(format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT,
        WIDTH - RIGHT, y, y))
        .append(format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LEFT - 4,
          y + 4, figure(tick, step)));
    }
    for (int i = 0; i < places.size(); i++) {
      svg.append(format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>",
        Math.min(x(i), WIDTH - RIGHT - 6), HEIGHT - 4, places.get(i)));
    }
    for (Line line : lines) {
      svg.append("<polyline class=\"").append(line.style()).append("\" points=\"");
      for (int i = 0; i < line.values().length; i++) {
        svg.append(format("%.1f,%.1f ", x(i), y(line.values()[i], max)));
      }
      svg.append("\"/>");
    }
    return svg.append("</svg></figure>\n").toString();
  }

  /** The distance of two to five lines, one, two or five times a power of ten. */
  private static double step(double top) {
    double power = Math.pow(10, Math.floor(Math.log10(top)));
    double share = top / power;
    return share > 4 ? power * 2 : share > 2 ? power : share > 1 ? power / 2 : power / 5;
  }

  private static String figure(double value, double step) {
    return step >= 1000 ? format("%.0fk", value / 1000)
      : step >= 1 ? format("%.0f", value) : step >= 0.1 ? format("%.1f", value)
      : format("%.2f", value);
  }

  private double x(int place) {
    return LEFT + (WIDTH - LEFT - RIGHT) * (place + 0.5) / Math.max(1, places.size());
  }

  private static double y(double value, double max) {
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / max;
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
