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
package dev.stratum.bench.wal;

import dev.stratum.report.LineChart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Draws what {@link SyncLimitBenchmark} has written. */
public final class SyncLimitPlot {
  private static final int WIDTH = 800;
  private static final int HEIGHT = 260;
  private static final int MARGIN = 24;
  /** Where no limit is drawn. */
  private static final int NO_LIMIT = 10;
  private static final String STYLE = """
      text { font: 11px system-ui, sans-serif; fill: #5c6670; text-anchor: middle; }
      .title { font-size: 12px; font-weight: 600; text-anchor: start; } .end { text-anchor: end; }
      .grid { stroke: #8a949e; stroke-opacity: .35; } polyline { fill: none; stroke-width: 1.2; }
      .fork { stroke: #0b6e99; } .stock { stroke: #b5651d; } .p99 { stroke-dasharray: 4 3; }
      @media (prefers-color-scheme: dark) { text { fill: #aab4be; }
        .fork { stroke: #4fb3dd; } .stock { stroke: #e09a55; } }
      """;

  private SyncLimitPlot() {
  }

  /** Returns a file that needs no style sheet, of the samples in a folder. */
  public static String svg(Path folder) throws IOException {
    List<double[]> unlimited = samples(folder, "0");
    List<double[]> one = samples(folder, "1");
    List<double[]> auto = samples(folder, "auto");
    double seconds = unlimited.get(unlimited.size() - 1)[0];
    double max = 0;
    for (List<double[]> side : List.of(unlimited, one, auto)) {
      max = Math.max(max, side.stream().mapToDouble(sample -> sample[1]).max().orElse(0));
    }
    LineChart puts = new LineChart("Puts per second", LineChart.Axis.linear("seconds", seconds),
      LineChart.Axis.linear("", max));
    puts.add("stock", column(unlimited, 1), false);
    puts.add("stock p99", column(one, 1), false);
    puts.add("fork", column(auto, 1), false);
    LineChart limit = new LineChart("Syncs in flight", LineChart.Axis.linear("seconds", seconds),
      LineChart.Axis.linear("", NO_LIMIT));
    limit.add("fork", column(auto, 2), false);
    return String.format(Locale.ROOT,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1$d\" height=\"%2$d\""
        + " viewBox=\"0 0 %1$d %2$d\" role=\"img\" aria-label=\"Syncs in flight\">%n"
        + "<style>%n%3$s</style>%n%4$s%5$s</svg>%n",
      WIDTH, HEIGHT, STYLE,
      placed(puts, 0, "Puts per second: no limit (brown), 1 (dashed), auto (blue)"),
      placed(limit, WIDTH / 2, "The limit that auto has chosen; " + NO_LIMIT + ": none"));
  }

  private static String placed(LineChart chart, int left, String title) {
    String figure = chart.svg();
    String drawing =
      figure.substring(figure.indexOf("<svg ") + 5, figure.indexOf("</svg>") + 6);
    return String.format(Locale.ROOT, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>%n"
      + "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s%n",
      left + 10, MARGIN - 8, title, left, MARGIN, WIDTH / 2, HEIGHT - MARGIN, drawing);
  }

  private static List<double[]> column(List<double[]> samples, int index) {
    return samples.stream().map(sample -> new double[] { sample[0], sample[index] }).toList();
  }

  private static List<double[]> samples(Path folder, String setting) throws IOException {
    List<double[]> samples = new ArrayList<>();
    for (String line : Files.readAllLines(folder.resolve("sync-limit-" + setting + ".csv"))) {
      String[] values = line.split(",");
      double limit = Double.parseDouble(values[2]);
      samples.add(new double[] { Double.parseDouble(values[0]), Double.parseDouble(values[1]),
        limit == 0 ? NO_LIMIT : limit });
    }
    return samples;
  }
}
