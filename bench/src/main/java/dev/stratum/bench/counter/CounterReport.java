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

import dev.stratum.bench.report.HtmlPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hbase.thirdparty.com.google.gson.Gson;

/**
 * What was measured, as a folder: a file for each side and kind of keys, and of all that is there a
 * page with plots, which needs nothing but a browser, and a table for a guide.
 */
final class CounterReport {
  private static final String STYLE = """
      :root { color-scheme: light dark; --ink: #1c2329; --soft: #5c6670; --line: #d8dde2;
        --page: #ffffff; --fork: #0b6e99; --stock: #b4540a; }
      @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5b1;
        --line: #39424b; --page: #14191e; --fork: #4fb3dd; --stock: #f0a35e; } }
      body { margin: 0; background: var(--page); color: var(--ink);
        font: 16px/1.5 system-ui, sans-serif; }
      main { max-width: 86rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
      h1 { font-size: 1.5rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 0; }
      h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
      p { max-width: 46rem; margin: .25rem 0 .5rem; color: var(--soft); }
      .charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr));
        gap: .75rem; }
      figure { margin: 0; } figcaption { font-size: .85rem; }
      svg { width: 100%; height: auto; display: block; }
      svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
      svg line { stroke: var(--line); }
      polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
      .fork { stroke: var(--fork); } .stock { stroke: var(--stock); }
      .p99 { stroke-dasharray: 5 3; }
      .key { border-top: 3px solid; padding-top: .1rem; margin-right: 1rem; }
      .key.fork { border-color: var(--fork); } .key.stock { border-color: var(--stock); }
      """;

  private final Path folder;

  CounterReport(Path folder) {
    this.folder = folder;
  }

  /** Adds points, in the place of those of the same name, and makes page and table anew. */
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
    Files.writeString(folder.resolve("counters.md"), table(all));
  }

  private static List<String> keys(List<CounterPoint> points) {
    return points.stream().map(p -> p.keys).distinct().sorted(Collections.reverseOrder()).toList();
  }

  private static CounterPoint find(List<CounterPoint> points, String side, CounterPoint other) {
    return points.stream().filter(p -> p.side.equals(side) && p.keys.equals(other.keys)
      && p.method == other.method && p.clients == other.clients).findFirst().orElse(null);
  }

  private static String table(List<CounterPoint> points) {
    StringBuilder text = new StringBuilder();
    for (String keys : keys(points)) {
      text.append("\n**").append(keys).append("**\n\n");
      text.append("| way | clients | stock /s | fork /s | ratio | p50 ms | p99 ms | lost |\n");
      text.append("|---|---:|---:|---:|---:|---:|---:|---:|\n");
      List<CounterPoint> rows = points.stream().filter(p -> p.keys.equals(keys)
        && (p.side.equals("fork") || find(points, "fork", p) == null)).toList();
      for (CounterPoint row : rows) {
        CounterPoint stock = find(points, "stock", row);
        CounterPoint fork = find(points, "fork", row);
        text.append("| ").append(row.method.text()).append(" | ").append(row.clients).append(" | ")
          .append(figure("%,.0f", stock, p -> p.all.updatesPerSecond)).append(" | ")
          .append(figure("%,.0f", fork, p -> p.all.updatesPerSecond)).append(" | ")
          .append(stock == null || fork == null
            ? ""
            : format("%.2f", fork.all.updatesPerSecond / stock.all.updatesPerSecond))
          .append(" | ").append(pair("%.1f", stock, fork, p -> p.all.p50 / 1000)).append(" | ")
          .append(pair("%.1f", stock, fork, p -> p.all.p99 / 1000)).append(" | ")
          .append(row.method.mayLoseUpdates()
            ? pair("%.1f %%", stock, fork, p -> p.lostPercent)
            : "")
          .append(" |\n");
      }
    }
    return text.toString();
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
    StringBuilder html = new StringBuilder(HtmlPage.begin("Counters", STYLE));
    html.append("<h1>Ways to update a counter</h1>\n<p><span class=\"key fork\">fork</span>"
      + "<span class=\"key stock\">stock</span> Solid: updates per second, or p50. Dashed: p99."
      + " An operation of a batch is ten updates.</p>\n");
    for (String keys : keys(points)) {
      List<CounterPoint> some = points.stream().filter(p -> p.keys.equals(keys)).toList();
      List<UpdateMethod> methods = some.stream().map(p -> p.method).distinct().sorted().toList();
      html.append("<h2>").append(keys).append("</h2>\n<h3>Updates per second, by clients</h3>\n");
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
      LineChart chart =
        new LineChart(method.text(), clients.stream().map(String::valueOf).toList());
      for (String side : new String[] { "stock", "fork" }) {
        List<CounterPoint> line =
          points.stream().filter(p -> p.method == method && p.side.equals(side)).toList();
        chart.add(side, line.stream().mapToDouble(figure).toArray());
        if (withP99) {
          chart.add(side + " p99", line.stream().mapToDouble(p -> p.all.p99 / 1000).toArray());
        }
      }
      html.append(chart.svg());
    }
    html.append("</div>\n");
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
    String[] times = new String[first.intervals.size()];
    Arrays.setAll(times,
      i -> i == times.length - 1 ? format("%.1f s", times.length * first.seconds) : "");
    LineChart chart =
      new LineChart(first.method.text() + ", " + first.clients, Arrays.asList(times));
    for (CounterPoint side : sides) {
      if (latency) {
        chart.add(side.side, values(side, i -> i.p50 / 1000));
        chart.add(side.side + " p99", values(side, i -> i.p99 / 1000));
      } else {
        chart.add(side.side, values(side, i -> i.updatesPerSecond));
      }
    }
    return chart.svg();
  }

  private static double[] values(CounterPoint point,
    ToDoubleFunction<CounterPoint.Interval> figure) {
    return point.intervals.stream().mapToDouble(figure).toArray();
  }
}
