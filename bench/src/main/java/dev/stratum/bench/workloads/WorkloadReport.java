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

import static dev.stratum.report.HtmlPage.escape;

import dev.stratum.report.Axis;
import dev.stratum.report.Chart;
import dev.stratum.report.HtmlPage;
import dev.stratum.report.HtmlTable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * The results as one page that needs nothing but a browser, with the raw results in it. No scripts,
 * nothing loaded.
 */
final class WorkloadReport {
  private static final List<String> SIDES = List.of("stock", "fork");
  private static final int TICKS = 8;
  /** Columns of the summary that a phone leaves out. */
  private static final List<Integer> WIDE_COLUMNS = List.of(1, 2, 4, 6, 7, 8, 11);
  private static final List<String> LATENCIES = List.of("mean", "p50", "p95", "p99", "p999", "max");

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
    html.append(HtmlPage.begin("Workloads: " + title)).append("""
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
        + " ratios of p99 and of the RegionServer's CPU time per row are better below 1.</p>\n")
      .append(summaryTable());
  }

  private String summaryTable() {
    HtmlTable summary = new HtmlTable("Summary", "summary");
    int verdictAt = SummaryTable.HEAD.indexOf("verdict");
    for (int i = 0; i < SummaryTable.HEAD.size(); i++) {
      summary.heading(SummaryTable.HEAD.get(i), style("", i, i >= verdictAt));
    }
    for (int n = 0; n < table.cases().size(); n++) {
      CaseComparison one = table.cases().get(n);
      List<String> cells = SummaryTable.cells(one);
      summary.row()
        .markup("<a href=\"#case" + n + "\">" + escape(cells.get(0)) + "</a>", "");
      for (int i = 1; i <= verdictAt; i++) {
        boolean isRatio = i == SummaryTable.HEAD.indexOf("ratio");
        String style =
          style(isRatio || i == verdictAt ? one.verdict().toString() : "", i, i == verdictAt);
        String cell = escape(cells.get(i));
        summary.markup(isRatio ? "<b>" + cell + "</b>" : cell, style);
      }
      summary.markup(one.failure() != null ? escape(one.failure()) : aims(one), "text wide");
    }
    return summary.html();
  }

  /** The classes of a column's cells. */
  private static String style(String verdict, int column, boolean isText) {
    List<String> classes = new ArrayList<>();
    if (!verdict.isEmpty()) {
      classes.add(verdict);
    }
    if (isText) {
      classes.add("text");
    }
    if (WIDE_COLUMNS.contains(column)) {
      classes.add("wide");
    }
    return String.join(" ", classes);
  }

  private static String aims(CaseComparison one) {
    return one.aims().stream().map(aim -> escape(aim.text()) + ": <span class=\""
      + (aim.met() ? "met\">met" : "missed\">missed") + "</span>")
      .collect(Collectors.joining("<br>"));
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
    html.append(one.failure() != null ? escape(one.failure()) : aims(one)).append("</p>\n")
      .append(HtmlPage.legend()).append("<div class=\"charts\">\n");
    overTime(one, "Throughput, operations per second", "throughput", false);
    overTime(one, "p99 in each slice of time, us", "p99", true);
    percentiles(one, false, "Latency by percentile, us");
    if (!one.runs("fork", true).isEmpty()) {
      double rate = one.runs("fork", true).get(0).get("rate").getAsDouble();
      percentiles(one, true, String.format(Locale.ROOT,
        "Latency by percentile at %,.0f operations per second, us", rate));
    }
    if (one.missesPer100Reads("before") != null) {
      overTime(one.runs("stock", true), one.runs("fork", true));
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
    double min = Double.MAX_VALUE;
    double max = 0;
    double seconds = 0;
    for (String side : SIDES) {
      for (JsonObject run : one.runs(side, false)) {
        seconds = Math.max(seconds,
          (run.get("round").getAsInt() + 1) * run.get("seconds").getAsDouble());
        for (JsonElement point : run.getAsJsonArray("series")) {
          double value = point.getAsJsonObject().get(figure).getAsDouble();
          max = Math.max(max, value);
          min = value > 0 ? Math.min(min, value) : min;
        }
      }
    }
    Chart chart = new Chart(title, Axis.linear("seconds, round after round",
      seconds), isLogarithmic && max > 0
        ? Axis.logarithmic("us", min, max)
        : Axis.linear("", max));
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
        chart.line(side, points, true);
      }
    }
    html.append(chart.svg());
  }

  /** Shows what an event does to reads, as a line for each round. */
  private void overTime(List<JsonObject> stock, List<JsonObject> fork) {
    double seconds = 0;
    double max = 0;
    List<List<JsonObject>> sides = List.of(stock, fork);
    for (List<JsonObject> runs : sides) {
      for (JsonObject run : runs) {
        seconds = Math.max(seconds, run.get("seconds").getAsDouble());
        max = Math.max(max, run.getAsJsonObject("event").get("worstSecond").getAsDouble());
      }
    }
    Chart chart = new Chart("Blocks read from HDFS per 100 reads, at the fixed rate",
      Axis.linear("seconds, the event after 0.3 of them", seconds),
      Axis.linear("", max));
    for (int side = 0; side < SIDES.size(); side++) {
      for (JsonObject run : sides.get(side)) {
        List<double[]> points = new ArrayList<>();
        JsonArray samples = run.getAsJsonObject("event").getAsJsonArray("seconds");
        for (int i = 0; i < samples.size(); i++) {
          points.add(new double[] { i + 1, MaintenanceEvent.missesPer100(samples, i, i + 1) });
        }
        chart.line(SIDES.get(side), points, true);
      }
    }
    html.append(chart.svg());
  }

  private void percentiles(CaseComparison one, boolean atFixedRate, String title) {
    List<List<double[]>> curves = new ArrayList<>();
    double min = Double.MAX_VALUE;
    double max = 0;
    double maxPercentile = 99.9;
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
            min = Math.min(min, micros);
            max = Math.max(max, micros);
            maxPercentile = Math.max(maxPercentile, percentile);
          }
        }
      }
      curves.add(curve);
    }
    if (max == 0) {
      return;
    }
    Chart chart = new Chart(title, Axis.nines("percentile", maxPercentile),
      Axis.logarithmic("us", min, max));
    for (int i = 0; i < SIDES.size(); i++) {
      chart.line(SIDES.get(i), curves.get(i), false);
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
    HtmlTable latencies = new HtmlTable("Latencies", "")
      .heading(atFixedRate ? "at a fixed rate, us" : "closed loop, us").heading("side", "text")
      .heading("per second");
    LATENCIES.forEach(name -> latencies.heading(name.equals("p999") ? "p99.9" : name));
    for (String operation : operations) {
      for (String side : SIDES) {
        List<JsonObject> runs = one.runs(side, atFixedRate);
        latencies.row().cell(operation).cell(side, "text " + side).cell(median(runs,
          run -> latency(run, operation, "count") / run.get("seconds").getAsDouble()));
        for (String name : LATENCIES) {
          latencies.cell(median(runs, run -> latency(run, operation, name)));
        }
      }
    }
    html.append(latencies.html());
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
    HtmlTable resources =
      new HtmlTable("Resources", "").heading("in a round of the closed loop");
    SIDES.forEach(resources::heading);
    resource(resources, one, "rows a second",
      run -> run.get("rows").getAsDouble() / run.get("seconds").getAsDouble());
    for (String process : List.of("regionserver", "client", "base")) {
      String name = process.equals("regionserver")
        ? "RegionServer"
        : process.equals("client") ? "clients" : "HDFS and master";
      resource(resources, one, name + ": collections",
        run -> counter(run, process, "gcCount"));
      resource(resources, one, name + ": ms of them",
        run -> counter(run, process, "gcMillis"));
      resource(resources, one, name + ": CPU seconds",
        run -> counter(run, process, "cpuMillis") / 1000);
    }
    resource(resources, one, "block cache: hits in L1, %",
      run -> 100 * counter(run, "regionserver", "l1Hits")
        / (counter(run, "regionserver", "l1Hits") + counter(run, "regionserver", "l2Hits")));
    resource(resources, one, "block cache: misses",
      run -> counter(run, "regionserver", "cacheMisses"));
    resource(resources, one, "waits of slowed reads, us in the mean",
      run -> run.has("slowed") && run.getAsJsonObject("slowed").has("micros")
        ? run.getAsJsonObject("slowed").get("micros").getAsDouble()
        : Double.NaN);
    for (Map.Entry<String, String> when : List.of(Map.entry("before", "before the event"),
      Map.entry("worstSecond", "worst second after"),
      Map.entry("worstTen", "worst ten seconds after"),
      Map.entry("since", "from its begin to the end"))) {
      CaseComparison.Pair misses = one.missesPer100Reads(when.getKey());
      if (misses != null) {
        resources.row().cell("blocks read from HDFS per 100 reads, " + when.getValue())
          .cell(SummaryTable.ratio(misses.stock().median()))
          .cell(SummaryTable.ratio(misses.fork().median()));
      }
    }
    html.append(resources.html());
  }

  private static double counter(JsonObject run, String process, String name) {
    JsonObject counters = run.getAsJsonObject(process);
    return counters.has(name) ? counters.get(name).getAsDouble() : Double.NaN;
  }

  private static void resource(HtmlTable table, CaseComparison one, String name,
    ToDoubleFunction<JsonObject> figure) {
    List<String> cells = new ArrayList<>();
    SIDES.forEach(side -> cells.add(median(one.runs(side, false), figure)));
    if (cells.stream().anyMatch(cell -> !cell.isEmpty())) {
      table.row().cell(name);
      cells.forEach(table::cell);
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
