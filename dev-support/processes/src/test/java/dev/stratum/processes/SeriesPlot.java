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
package dev.stratum.processes;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A picture of what was sampled over time, one panel for each series, as SVG. */
final class SeriesPlot {
  private static final int WIDTH = 800;
  private static final int HEIGHT = 150;
  private static final int LEFT = 20;
  private static final int TITLE = 30;
  private static final int CURVE = HEIGHT - TITLE - 20;

  private final List<Double> seconds;
  private final StringBuilder svg = new StringBuilder();

  private SeriesPlot(List<Double> seconds) {
    this.seconds = seconds;
  }

  static String of(List<Double> seconds, Map<Soaked, List<Double>> samples) {
    SeriesPlot plot = new SeriesPlot(seconds);
    plot.add("<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
      + "font-family='sans-serif' font-size='12'>%n<rect width='100%%' height='100%%' "
      + "fill='white'/>%n", WIDTH, HEIGHT * samples.size());
    int panel = 0;
    for (Map.Entry<Soaked, List<Double>> series : samples.entrySet()) {
      plot.panel(HEIGHT * panel++, series.getKey(), series.getValue());
    }
    return plot.add("</svg>%n").svg.toString();
  }

  private SeriesPlot add(String format, Object... arguments) {
    svg.append(String.format(Locale.ROOT, format, arguments));
    return this;
  }

  /** From zero up, as what is small beside the whole does not matter. */
  private void panel(int top, Soaked soaked, List<Double> values) {
    double max = Math.max(Collections.max(values), Double.MIN_NORMAL);
    double last = seconds.get(seconds.size() - 1);
    int bottom = top + TITLE + CURVE;
    add("<text x='%d' y='%d'>%s: up to %.1f %s; %.0f s</text>%n", LEFT, top + TITLE - 10,
      soaked.title, max, soaked.unit, last);
    add("<path d='M%d %dH%d' stroke='silver'/>%n<polyline fill='none' stroke='navy' points='",
      LEFT, bottom, WIDTH - LEFT);
    for (int i = 0; i < values.size(); i++) {
      add("%.1f,%.1f ", LEFT + (WIDTH - 2 * LEFT) * seconds.get(i) / last,
        bottom - CURVE * values.get(i) / max);
    }
    add("'/>%n");
  }
}
