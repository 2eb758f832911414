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
package dev.stratum.bench.workloads;

import static dev.stratum.bench.report.HtmlPage.escape;

import dev.stratum.bench.report.HtmlPage;
import dev.stratum.bench.report.LineChart;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * The results as one page that needs nothing but a browser, with the raw results in it. No scripts,
 * nothing loaded.
 */
final class WorkloadReport {
  private static final List<String> SIDES = List.of("stock", "fork");
  private static final int TICKS = 8;
  private static final List<String> LATENCIES = List.of("mean", "p50", "p95", "p99", "p999", "max");

  private static final String STYLE = """
      :root { color-scheme: light dark; --ink: #1c2329; --soft: #5c6670; --line: #d8dde2;
        --page: #ffffff; --fork: #0b6e99; --stock: #b5651d; --better: #17803d; --worse: #b42318; }
      @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5b1;
        --line: #39424b; --page: #14191e; --fork: #4fb3dd; --stock: #e09a55; --better: #4cc277;
        --worse: #f27a6f; } }
      * { box-sizing: border-box; }
      body { margin: 0; background: var(--page); color: var(--ink);
        font: 16px/1.5 system-ui, sans-serif; }
      main { max-width: 80rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
      h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
      h2 { font-size: 1.25rem; margin: 3rem 0 .25rem; }
      h3 { font-size: 1.05rem; margin: 2rem 0 .25rem; scroll-margin-top: 1rem; }
      p { margin: 0 0 1rem; max-width: 48rem; }
      a { color: var(--fork); }
      .meta { color: var(--soft); }
      code, pre { font: .85rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
      pre { white-space: pre-wrap; margin: 0 0 1rem; }
      .scroll { overflow-x: auto; margin-bottom: 1rem; }
      table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
      .summary { width: 100%; }
      .tables { display: flex; flex-wrap: wrap; gap: 0 2.5rem; align-items: flex-start; }
      .tables .scroll { max-width: 100%; }
      th, td { text-align: right; padding: .35rem .5rem; border-bottom: 1px solid var(--line);
        white-space: nowrap; }
      th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
      th:first-child, td:first-child, .text { text-align: left; }
      td.text { white-space: normal; }
      td b { font-weight: 600; }
      .ahead { color: var(--better); } .behind, .failed, .missed { color: var(--worse); }
      .met { color: var(--better); }
      .charts { display: grid; gap: 1rem 1.5rem; margin: .5rem 0 1rem;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 17.5rem), 1fr)); }
      figure { margin: 0; }
      figcaption { font-size: .85rem; font-weight: 600; }
      svg { width: 100%; height: auto; display: block; }
      svg text { font: 12px system-ui, sans-serif; fill: var(--soft); text-anchor: middle; }
      svg text.end { text-anchor: end; }
      .grid { stroke: var(--line); }
      polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
      polyline.fork { stroke: var(--fork); } polyline.stock { stroke: var(--stock); }
      circle.fork { fill: var(--fork); } circle.stock { fill: var(--stock); }
      .key span::before { content: ""; display: inline-block; width: 1.1rem; height: .2rem;
        margin-right: .35rem; vertical-align: middle; background: currentColor; }
      .key span { margin-right: 1rem; font-weight: 600; }
      .key .fork, td.fork { color: var(--fork); } .key .stock, td.stock { color: var(--stock); }
      details { margin: .5rem 0; } summary { cursor: pointer; }
      @media (max-width: 46rem) {
        .summary .wide { display: none; }
        .summary th, .summary td { padding: .35rem .25rem; }
        .summary td:first-child { white-space: normal; overflow-wrap: anywhere; }
      }
      """;

  private final JsonObject results;
  private final SummaryTable table;
  private final StringBuilder html = new StringBuilder();

  /** @param results what the suite writes */
  WorkloadReport(JsonObject results) {
    this.results = results;
    this.table = new SummaryTable(results);
  }

  String html() {
    html.setLength(0);
    String title = "HBase " + text("fork") + " against " + text("stock");
    html.append(HtmlPage.begin("Workloads: " + title, STYLE)).append("""
        <h1>Workloads: %s</h1>
        <p class="meta">%s<br>%s</p>
        <pre>%s</pre>
        """.formatted(escape(title), text("date"), text("machine"), text("command")));
    summary();
    String heading = "";
    int index = 0;
    for (JsonElement element : results.getAsJsonArray("cases")) {
      JsonObject result = element.getAsJsonObject();
      String group = result.get("title").getAsString();
      if (!group.equals(heading)) {
        heading = group;
        html.append("<h2>").append(escape(group)).append("</h2>\n<p class=\"meta\">Source: ")
          .append(escape(result.get("source").getAsString())).append("</p>\n");
      }
      workload(index++, result);
    }
    settings();
    return html.append(HtmlPage.end()).toString();
  }

  private String text(String key) {
    return results.has(key) ? escape(results.get(key).getAsString()) : "";
  }

  private void summary() {
    int[] verdicts = new int[CaseComparison.Verdict.values().length];
    int met = 0;
    int missed = 0;
    for (CaseComparison one : table.cases()) {
      verdicts[one.verdict().ordinal()]++;
      for (CaseComparison.Aim aim : one.aims()) {
        met += aim.met() ? 1 : 0;
        missed += aim.met() ? 0 : 1;
      }
    }
    html.append("<h2>Summary</h2>\n<p>The fork is ahead in ").append(verdicts[0])
      .append(" cases, level in ").append(verdicts[1]).append(" and behind in ")
      .append(verdicts[2]).append(verdicts[3] > 0 ? "; " + verdicts[3] + " failed" : "")
      .append(". Of the aims ").append(met).append(" are met and ").append(missed)
      .append(" missed.</p>\n<p class=\"meta\">Figures are medians of the rounds. The ratio is the"
        + " fork's throughput to stock's in the same round, with the lowest and the highest beside"
        + " it; ahead or behind is what is so in every round and by 3 % or more in the median. The"
        + " ratio of p99 is better below 1.</p>\n<div class=\"scroll\" tabindex=\"0\""
        + " role=\"region\" aria-label=\"Summary\"><table class=\"summary\">\n<tr>");
    List<Integer> wide = List.of(1, 2, 4, 5, 6, 7, 10);
    int verdictAt = SummaryTable.HEAD.indexOf("verdict");
    for (int i = 0; i < SummaryTable.HEAD.size(); i++) {
      html.append("<th class=\"").append(i >= verdictAt ? "text " : "").append(wide.contains(i)
        ? "wide" : "").append("\">").append(SummaryTable.HEAD.get(i)).append("</th>");
    }
    html.append("</tr>\n");
    for (int n = 0; n < table.cases().size(); n++) {
      CaseComparison one = table.cases().get(n);
      List<String> cells = SummaryTable.cells(one);
      html.append("<tr><td><a href=\"#case").append(n).append("\">").append(escape(cells.get(0)))
        .append("</a></td>");
      for (int i = 1; i <= verdictAt; i++) {
        String verdict = i == 3 || i == verdictAt ? one.verdict() + " " : "";
        html.append("<td class=\"").append(verdict).append(i == verdictAt ? "text " : "")
          .append(wide.contains(i) ? "wide" : "").append("\">").append(i == 3 ? "<b>" : "")
          .append(escape(cells.get(i))).append(i == 3 ? "</b>" : "").append("</td>");
      }
      html.append("<td class=\"text wide\">");
      aims(one);
      html.append("</td></tr>\n");
    }
    html.append("</table></div>\n");
  }

  private void aims(CaseComparison one) {
    if (one.failure() != null) {
      html.append(escape(one.failure()));
      return;
    }
    String between = "";
    for (CaseComparison.Aim aim : one.aims()) {
      html.append(between).append(escape(aim.text())).append(": <span class=\"")
        .append(aim.met() ? "met\">met" : "missed\">missed").append("</span>");
      between = "<br>";
    }
  }

  private void workload(int index, JsonObject result) {
    CaseComparison one = new CaseComparison(result);
    html.append("<h3 id=\"case").append(index).append("\">").append(escape(one.name()))
      .append("</h3>\n<p>");
    if (one.throughput() == null) {
      html.append("<span class=\"failed\">").append(escape(String.valueOf(one.failure())))
        .append("</span></p>\n");
      return;
    }
    CaseComparison.Spread ratio = one.throughput().ratio();
    html.append("Throughput <b class=\"").append(one.verdict()).append("\">")
      .append(SummaryTable.ratio(ratio.median())).append("</b> of stock's (")
      .append(SummaryTable.ratio(ratio.low())).append(" to ")
      .append(SummaryTable.ratio(ratio.high())).append("): ").append(one.verdict())
      .append(".<br>");
    if (one.failedBefore() != null) {
      html.append("A second attempt, on servers that began anew; the first ended with: ")
        .append(escape(one.failedBefore())).append("<br>");
    }
    if (one.discarded() > 0) {
      html.append("Measured again as compilers were at work: ").append(one.discarded())
        .append(" times, both sides.<br>");
    }
    aims(one);
    html.append("</p>\n<p class=\"key\"><span class=\"stock\">stock</span>"
      + "<span class=\"fork\">fork</span></p>\n<div class=\"charts\">\n");
    overTime(one, "Throughput, operations per second", "throughput", false);
    overTime(one, "p99 in each slice of time, us", "p99", true);
    percentiles(one, false, "Latency by percentile, us");
    if (!one.runs("fork", true).isEmpty()) {
      double rate = one.runs("fork", true).get(0).get("rate").getAsDouble();
      percentiles(one, true, String.format(Locale.ROOT,
        "Latency by percentile at %,.0f operations per second, us", rate));
    }
    html.append("</div>\n<div class=\"tables\">\n");
    latencies(one, false);
    if (!one.runs("fork", true).isEmpty()) {
      latencies(one, true);
    }
    resources(one);
    html.append("</div>\n");
    if (result.has("flameGraphs")) {
      html.append("<p>Where the time goes:");
      result.getAsJsonArray("flameGraphs").forEach(file -> html.append(" <a href=\"")
        .append(escape(file.getAsString())).append("\">").append(escape(file.getAsString()))
        .append("</a>"));
      html.append("</p>\n");
    }
    html.append("<details><summary>Settings of the case</summary>\n<pre>");
    properties(result.getAsJsonObject("properties"));
    html.append("handlers=").append(result.get("handlers"));
    html.append("\nwarm-up seconds=").append(result.get("warmupSeconds")).append("\nseconds=")
      .append(result.get("seconds")).append("\nrows loaded=").append(result.get("rowsLoaded"))
      .append("\n</pre></details>\n");
  }

  private void overTime(CaseComparison one, String title, String figure, boolean isLogarithmic) {
    double least = Double.MAX_VALUE;
    double most = 0;
    double seconds = 0;
    for (String side : SIDES) {
      for (JsonObject run : one.runs(side, false)) {
        seconds = Math.max(seconds,
          (run.get("round").getAsInt() + 1) * run.get("seconds").getAsDouble());
        for (JsonElement point : run.getAsJsonArray("series")) {
          double value = point.getAsJsonObject().get(figure).getAsDouble();
          most = Math.max(most, value);
          least = value > 0 ? Math.min(least, value) : least;
        }
      }
    }
    LineChart chart = new LineChart(title, LineChart.Axis.linear("seconds, round after round",
      seconds), isLogarithmic && most > 0
        ? LineChart.Axis.logarithmic("us", least, most)
        : LineChart.Axis.linear("", most));
    for (String side : SIDES) {
      for (JsonObject run : one.runs(side, false)) {
        double begin = run.get("round").getAsInt() * run.get("seconds").getAsDouble();
        List<double[]> points = new ArrayList<>();
        for (JsonElement element : run.getAsJsonArray("series")) {
          JsonObject point = element.getAsJsonObject();
          double value = point.get(figure).getAsDouble();
          if (!isLogarithmic || value > 0) {
            points.add(new double[] { begin + point.get("second").getAsDouble(), value });
          }
        }
        chart.add(side, points, true);
      }
    }
    html.append(chart.svg());
  }

  private void percentiles(CaseComparison one, boolean atFixedRate, String title) {
    List<List<double[]>> curves = new ArrayList<>();
    double least = Double.MAX_VALUE;
    double most = 0;
    double furthest = 99.9;
    for (String side : SIDES) {
      Histogram all = null;
      for (JsonObject run : one.runs(side, atFixedRate)) {
        Histogram decoded = decode(run.getAsJsonObject("all").get("hdr").getAsString());
        if (all == null) {
          all = decoded;
        } else {
          all.add(decoded);
        }
      }
      List<double[]> curve = new ArrayList<>();
      if (all != null && all.getTotalCount() > 0) {
        for (HistogramIterationValue value : all.percentiles(TICKS)) {
          double percentile = value.getPercentileLevelIteratedTo();
          if (percentile < 100 && percentile <= 99.999) {
            double micros = Math.max(0.1, value.getValueIteratedTo() / 1000.0);
            curve.add(new double[] { percentile, micros });
            least = Math.min(least, micros);
            most = Math.max(most, micros);
            furthest = Math.max(furthest, percentile);
          }
        }
      }
      curves.add(curve);
    }
    if (most == 0) {
      return;
    }
    LineChart chart = new LineChart(title, LineChart.Axis.nines("percentile", furthest),
      LineChart.Axis.logarithmic("us", least, most));
    for (int i = 0; i < SIDES.size(); i++) {
      chart.add(SIDES.get(i), curves.get(i), false);
    }
    html.append(chart.svg());
  }

  private static Histogram decode(String text) {
    try {
      return Histogram
        .decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
    } catch (DataFormatException e) {
      throw new IllegalArgumentException("Not a histogram: " + text, e);
    }
  }

  private void latencies(CaseComparison one, boolean atFixedRate) {
    TreeSet<String> operations = new TreeSet<>();
    for (String side : SIDES) {
      one.runs(side, atFixedRate)
        .forEach(run -> operations.addAll(run.getAsJsonObject("operations").keySet()));
    }
    html.append("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Latencies\">")
      .append("<table>\n<tr><th>")
      .append(atFixedRate ? "at a fixed rate, us" : "closed loop, us")
      .append("</th><th class=\"text\">side</th><th>per second</th>");
    LATENCIES.forEach(
      name -> html.append("<th>").append(name.equals("p999") ? "p99.9" : name).append("</th>"));
    html.append("</tr>\n");
    for (String operation : operations) {
      for (String side : SIDES) {
        html.append("<tr><td>").append(operation).append("</td><td class=\"text ").append(side)
          .append("\">").append(side).append("</td><td>")
          .append(median(one.runs(side, atFixedRate), run -> latency(run, operation, "count")
            / run.get("seconds").getAsDouble()))
          .append("</td>");
        for (String name : LATENCIES) {
          html.append("<td>").append(
            median(one.runs(side, atFixedRate), run -> latency(run, operation, name)))
            .append("</td>");
        }
        html.append("</tr>\n");
      }
    }
    html.append("</table></div>\n");
  }

  private static double latency(JsonObject run, String operation, String name) {
    JsonObject operations = run.getAsJsonObject("operations");
    return operations.has(operation)
      ? operations.getAsJsonObject(operation).get(name).getAsDouble()
      : Double.NaN;
  }

  private static String median(List<JsonObject> runs, ToDoubleFunction<JsonObject> figure) {
    double value =
      CaseComparison.Spread.of(runs.stream().mapToDouble(figure).toArray()).median();
    return Double.isNaN(value) ? "" : SummaryTable.number(value);
  }

  private void resources(CaseComparison one) {
    html.append("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Resources\">")
      .append("<table>\n<tr><th>in a round of the closed loop</th>");
    SIDES.forEach(side -> html.append("<th>").append(side).append("</th>"));
    html.append("</tr>\n");
    resource(one, "rows a second",
      run -> run.get("rows").getAsDouble() / run.get("seconds").getAsDouble());
    for (String process : List.of("regionserver", "client", "base")) {
      String name = process.equals("regionserver")
        ? "RegionServer"
        : process.equals("client") ? "clients" : "HDFS and master";
      resource(one, name + ": collections", run -> counter(run, process, "gcCount"));
      resource(one, name + ": ms of them", run -> counter(run, process, "gcMillis"));
      resource(one, name + ": CPU seconds", run -> counter(run, process, "cpuMillis") / 1000);
    }
    resource(one, "block cache: hits in the first tier, %",
      run -> 100 * counter(run, "regionserver", "l1Hits")
        / (counter(run, "regionserver", "l1Hits") + counter(run, "regionserver", "l2Hits")));
    resource(one, "block cache: misses", run -> counter(run, "regionserver", "cacheMisses"));
    resource(one, "waits of slowed reads, us in the mean",
      run -> run.has("slowed") && run.getAsJsonObject("slowed").has("micros")
        ? run.getAsJsonObject("slowed").get("micros").getAsDouble()
        : Double.NaN);
    html.append("</table></div>\n");
  }

  private static double counter(JsonObject run, String process, String name) {
    JsonObject counters = run.getAsJsonObject(process);
    return counters.has(name) ? counters.get(name).getAsDouble() : Double.NaN;
  }

  private void resource(CaseComparison one, String name, ToDoubleFunction<JsonObject> figure) {
    List<String> cells = new ArrayList<>();
    SIDES.forEach(side -> cells.add(median(one.runs(side, false), figure)));
    if (cells.stream().anyMatch(cell -> !cell.isEmpty())) {
      html.append("<tr><td>").append(name).append("</td><td>")
        .append(String.join("</td><td>", cells)).append("</td></tr>\n");
    }
  }

  private void settings() {
    html.append("<h2>Settings</h2>\n<p class=\"meta\">Each side: HDFS with one DataNode, ZooKeeper"
      + " and master in one JVM, the RegionServer in another, the clients in a third; all on this"
      + " machine, over loopback.</p>\n");
    for (String name : List.of("sharedSettings", "stockSettings", "forkSettings")) {
      if (results.has(name)) {
        html.append("<details open><summary>")
          .append(name.equals("sharedSettings")
            ? "Both sides"
            : name.startsWith("stock")
              ? "Stock, block cache " + text("stockCache")
              : "Fork, block cache " + text("forkCache"))
          .append("</summary>\n<pre>");
        properties(results.getAsJsonObject(name));
        html.append("</pre></details>\n");
      }
    }
    for (String side : SIDES) {
      if (results.has(side + "Commands")) {
        html.append("<details><summary>Command lines, ").append(side).append("</summary>\n<pre>");
        properties(results.getAsJsonObject(side + "Commands"));
        html.append("</pre></details>\n");
      }
    }
    html.append("<p><a download=\"results.json\" href=\"data:application/json;base64,")
      .append(
        Base64.getEncoder().encodeToString(results.toString().getBytes(StandardCharsets.UTF_8)))
      .append("\">Raw results, JSON</a></p>\n");
  }

  private void properties(JsonObject properties) {
    for (Map.Entry<String, JsonElement> property : properties.entrySet()) {
      html.append(escape(property.getKey())).append('=')
        .append(escape(property.getValue().getAsString())).append('\n');
    }
  }
}
