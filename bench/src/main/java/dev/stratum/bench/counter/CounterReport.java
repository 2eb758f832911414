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

import dev.stratum.report.Axis;
import dev.stratum.report.Chart;
import dev.stratum.report.HtmlPage;
import dev.stratum.report.HtmlTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hbase.thirdparty.com.google.gson.Gson;

/**
 * Writes the results as files of a folder: JSON for each side and kind of keys, and of all JSON
 * files there a page with plots, which needs nothing but a browser, and a table for a guide.
 */
final class CounterReport {
  private static final List<String> HEADINGS = List.of("way", "clients", "stock /s", "fork /s",
    "ratio", "p50 ms", "p99 ms", "lost");

  private final Path folder;

  CounterReport(Path folder) {
    this.folder = folder;
  }

  /** Writes or replaces the points of a name, and writes page and table again. */
  void write(String name, List<CounterPoint> points) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve(name + ".json"), new Gson().toJson(points));
    List<CounterPoint> all = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".json")).sorted().toList()) {
        Collections.addAll(all,
          new Gson().fromJson(Files.readString(file), CounterPoint[].class));
      }
    }
    Files.writeString(folder.resolve("counters.html"), html(all));
    Files.writeString(folder.resolve("counters.md"), markdown(all));
  }

  private static List<String> keys(List<CounterPoint> points) {
    return points.stream().map(p -> p.keys).distinct().sorted(Collections.reverseOrder()).toList();
  }

  private static CounterPoint find(List<CounterPoint> points, String side, CounterPoint other) {
    return points.stream().filter(p -> p.side.equals(side) && p.keys.equals(other.keys)
      && p.method == other.method && p.clients == other.clients).findFirst().orElse(null);
  }

  private static List<List<String>> rows(List<CounterPoint> points) {
    List<List<String>> rows = new ArrayList<>();
    // A row has both sides; it is the fork's point, or stock's where there is none of the fork's.
    for (CounterPoint row : points.stream()
      .filter(p -> p.side.equals("fork") || find(points, "fork", p) == null).toList()) {
      CounterPoint stock = find(points, "stock", row);
      CounterPoint fork = find(points, "fork", row);
      rows.add(List.of(row.method.text(), String.valueOf(row.clients),
        figure("%,.0f", stock, p -> p.all.updatesPerSecond),
        figure("%,.0f", fork, p -> p.all.updatesPerSecond),
        stock == null || fork == null
          ? ""
          : format("%.2f", fork.all.updatesPerSecond / stock.all.updatesPerSecond),
        pair("%.1f", stock, fork, p -> p.all.p50 / 1000),
        pair("%.1f", stock, fork, p -> p.all.p99 / 1000),
        row.method.mayLoseUpdates() ? pair("%.1f %%", stock, fork, p -> p.lostPercent) : ""));
    }
    return rows;
  }

  private static String markdown(List<CounterPoint> points) {
    StringBuilder text = new StringBuilder();
    for (String keys : keys(points)) {
      text.append("\n**").append(keys).append("**\n\n| ").append(String.join(" | ", HEADINGS))
        .append(" |\n|---").append("|---:".repeat(HEADINGS.size() - 1)).append("|\n");
      for (List<String> row : rows(points.stream().filter(p -> p.keys.equals(keys)).toList())) {
        text.append("| ").append(String.join(" | ", row)).append(" |\n");
      }
    }
    return text.toString();
  }

  private static void table(StringBuilder html, List<CounterPoint> points) {
    HtmlTable table = new HtmlTable("Results", "");
    HEADINGS.forEach(table::heading);
    for (List<String> row : rows(points)) {
      table.row();
      row.forEach(table::cell);
    }
    html.append(table.html());
  }

  private static String format(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }

  private static String figure(String format, CounterPoint point,
    ToDoubleFunction<CounterPoint> figure) {
    return point == null ? "" : format(format, figure.applyAsDouble(point));
  }

  private static String pair(String format, CounterPoint stock, CounterPoint fork,
    ToDoubleFunction<CounterPoint> figure) {
    return Stream.of(stock, fork).filter(p -> p != null).map(p -> figure(format, p, figure))
      .collect(Collectors.joining(" → "));
  }

  private static String html(List<CounterPoint> points) {
    StringBuilder html = new StringBuilder(HtmlPage.begin("Counters"));
    html.append("<h1>Ways to update a counter</h1>\n").append(HtmlPage.legend())
      .append("<p class=\"meta\">Solid: updates per second, or p50. Dashed: p99."
        + " An operation of a batch is ten updates.</p>\n");
    for (String keys : keys(points)) {
      List<CounterPoint> some = points.stream().filter(p -> p.keys.equals(keys)).toList();
      List<UpdateMethod> methods = some.stream().map(p -> p.method).distinct().sorted().toList();
      html.append("<h2>").append(HtmlPage.escape(keys)).append("</h2>\n");
      table(html, some);
      html.append("<h3>Updates per second, by clients</h3>\n");
      charts(html, methods, some, false, p -> p.all.updatesPerSecond);
      html.append("<h3>Milliseconds for one operation, by clients</h3>\n");
      charts(html, methods, some, true, p -> p.all.p50 / 1000);
      html.append("<h3>Updates per second, over time</h3>\n");
      overTime(html, methods, some, false);
      html.append("<h3>Milliseconds for one operation, over time</h3>\n");
      overTime(html, methods, some, true);
    }
    return html.append(HtmlPage.end()).toString();
  }

  private static TreeSet<Integer> clients(List<CounterPoint> points, UpdateMethod method) {
    return points.stream().filter(p -> p.method == method).map(p -> p.clients)
      .collect(Collectors.toCollection(TreeSet::new));
  }

  private static void charts(StringBuilder html, List<UpdateMethod> methods,
    List<CounterPoint> points, boolean withP99, ToDoubleFunction<CounterPoint> figure) {
    html.append("<div class=\"charts\">\n");
    for (UpdateMethod method : methods) {
      List<Integer> clients = new ArrayList<>(clients(points, method));
      List<CounterPoint> some = points.stream().filter(p -> p.method == method).toList();
      ToDoubleFunction<CounterPoint> p99 = p -> p.all.p99 / 1000;
      Chart chart = new Chart(method.text(),
        Axis.names("clients", clients.stream().map(String::valueOf).toList()),
        Axis.linear("", some.stream().mapToDouble(withP99 ? p99 : figure).max().orElse(0)));
      for (String side : new String[] { "stock", "fork" }) {
        addLine(chart, side, some, clients, figure);
        if (withP99) {
          addLine(chart, side + " p99", some, clients, p99);
        }
      }
      html.append(chart.svg());
    }
    html.append("</div>\n");
  }

  private static void addLine(Chart chart, String style, List<CounterPoint> points,
    List<Integer> clients, ToDoubleFunction<CounterPoint> figure) {
    String side = style.split(" ")[0];
    chart.line(style, points.stream().filter(p -> p.side.equals(side))
      .map(p -> new double[] { clients.indexOf(p.clients), figure.applyAsDouble(p) }).toList(),
      true);
  }

  private static void overTime(StringBuilder html, List<UpdateMethod> methods,
    List<CounterPoint> points, boolean latency) {
    html.append("<div class=\"charts\">\n");
    for (UpdateMethod method : methods) {
      for (int clients : clients(points, method)) {
        html.append(overTime(
          points.stream().filter(p -> p.method == method && p.clients == clients).toList(),
          latency));
      }
    }
    html.append("</div>\n");
  }

  private static String overTime(List<CounterPoint> sides, boolean latency) {
    CounterPoint first = sides.get(0);
    ToDoubleFunction<CounterPoint.Interval> p99 = i -> i.p99 / 1000;
    ToDoubleFunction<CounterPoint.Interval> top = latency ? p99 : i -> i.updatesPerSecond;
    Chart chart = new Chart(first.method.text() + ", " + first.clients,
      Axis.linear("seconds", first.intervals.size() * first.seconds), Axis.linear("",
        sides.stream().flatMap(p -> p.intervals.stream()).mapToDouble(top).max().orElse(0)));
    for (CounterPoint side : sides) {
      if (latency) {
        chart.line(side.side, overTime(side, i -> i.p50 / 1000), false);
        chart.line(side.side + " p99", overTime(side, p99), false);
      } else {
        chart.line(side.side, overTime(side, i -> i.updatesPerSecond), false);
      }
    }
    return chart.svg();
  }

  private static List<double[]> overTime(CounterPoint point,
    ToDoubleFunction<CounterPoint.Interval> figure) {
    return IntStream.range(0, point.intervals.size()).mapToObj(i -> new double[] {
      (i + 0.5) * point.seconds, figure.applyAsDouble(point.intervals.get(i)) }).toList();
  }
}
