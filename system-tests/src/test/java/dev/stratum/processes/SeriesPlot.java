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

import dev.stratum.report.Axis;
import dev.stratum.report.Chart;
import dev.stratum.report.HtmlPage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A page of samples over time, with a chart for each series. */
final class SeriesPlot {
  private SeriesPlot() {
  }

  /** @param seconds the time of each sample, for all series */
  static String html(List<Double> seconds, Map<Soaked, List<Double>> samples) {
    StringBuilder html = new StringBuilder(HtmlPage.begin("Soak test"))
      .append("<h1>Soak test</h1>\n<div class=\"charts\">\n");
    samples.forEach((soaked, values) -> html.append(chart(soaked, seconds, values)));
    return html.append("</div>\n").append(HtmlPage.end()).toString();
  }

  /** Returns a chart whose axis starts at zero, since small differences do not matter. */
  private static String chart(Soaked soaked, List<Double> seconds, List<Double> values) {
    double max = Collections.max(values);
    String title =
      String.format(Locale.ROOT, "%s, up to %.1f %s", soaked.title, max, soaked.unit);
    Chart chart = new Chart(title,
      Axis.linear("seconds", seconds.get(seconds.size() - 1)), Axis.linear(soaked.unit, max));
    List<double[]> points = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      points.add(new double[] { seconds.get(i), values.get(i) });
    }
    chart.line("fork", points, false);
    return chart.svg();
  }
}
