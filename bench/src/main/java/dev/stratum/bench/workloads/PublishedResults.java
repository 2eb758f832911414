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

import dev.stratum.bench.workloads.CaseComparison.Pair;
import dev.stratum.report.Axis;
import dev.stratum.report.Chart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * The results in README.md: a table between two marker lines and two pictures, made from the
 * committed files of bench/results alone, as {@link ResultSummary} writes them.
 */
final class PublishedResults {
  static final String BEGIN = "<!-- results, written by TestPublishedResults -->\n";
  static final String END = "<!-- end of results -->\n";
  private static final String FILE = "bench/results/workloads/headline.json";
  /** The least number of JVMs of a side that a published ratio is of. */
  private static final int MIN_STARTS = 2;

  /** A case of the suite. */
  private record Row(String label, String name) {
  }

  private static final List<Row> ROWS = List.of(
    new Row("gets, zipfian keys, L2 in the page cache", "throughput/get-zipfian"),
    new Row("gets, zipfian keys, a device of 100 us", "throughput/get-zipfian-100us"),
    new Row("multigets of 50, a device of 100 us", "throughput/multiget-zipfian-100us"),
    new Row("YCSB C, reads only", "ycsb/c"),
    new Row("YCSB E, short scans", "ycsb/e"),
    new Row("increments, zipfian keys, 128 handlers", "increment/increment-zipfian-128handlers"),
    new Row("SYNC_WAL inserts, 64 clients", "log/sync-64"),
    new Row("ASYNC_WAL inserts, 1 client", "log/async-1"));

  private final Path root;

  /** @param root of the repository */
  PublishedResults(Path root) {
    this.root = root;
  }

  private JsonObject results() throws IOException {
    return JsonParser.parseString(Files.readString(root.resolve(FILE))).getAsJsonObject();
  }

  private CaseComparison comparison(Row row) throws IOException {
    JsonArray runs = new JsonArray();
    Set<Integer> starts = new HashSet<>();
    for (JsonElement element : results().getAsJsonArray("runs")) {
      JsonObject run = element.getAsJsonObject();
      if (run.get("name").getAsString().equals(row.name())) {
        runs.add(run);
        starts.add(run.get("start").getAsInt());
      }
    }
    if (starts.size() < MIN_STARTS) {
      throw new IOException(FILE + " has " + row.name() + " from " + starts.size()
        + " JVMs of a side: measure it with starts=" + MIN_STARTS + " or more");
    }
    JsonObject result = new JsonObject();
    result.addProperty("name", row.name());
    result.add("runs", runs);
    return new CaseComparison(result);
  }

  /** Microseconds in a closed loop. */
  private static Pair latency(CaseComparison one, String percentile) {
    ToDoubleFunction<JsonObject> figure =
      run -> run.getAsJsonObject("micros").get(percentile).getAsDouble();
    return one.pair(false, figure);
  }

  /** Returns README.md with the table as the results have it. */
  String readme() throws IOException {
    String text = Files.readString(root.resolve("README.md"));
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IOException("README.md lacks the line '" + BEGIN.trim() + "' or, below it, '"
        + END.trim() + "'");
    }
    return text.substring(0, begin + BEGIN.length()) + table() + text.substring(end);
  }

  private String table() throws IOException {
    StringBuilder table = new StringBuilder("\n| workload | throughput | in each round | "
      + "CPU time per row | p99 latency |\n|---|---:|---:|---:|---:|\n");
    for (Row row : ROWS) {
      CaseComparison one = comparison(row);
      CaseComparison.Spread ratio = one.throughput().ratio();
      table.append(String.format(Locale.ROOT, "| %s | %.2f | %.2f to %.2f | %.2f | %.2f |%n",
        row.label(), ratio.median(), ratio.low(), ratio.high(),
        one.cpuPerRow().ratio().median(), latency(one, "p99").ratio().median()));
    }
    return table.append(String.format("%nFrom [headline.json](%s), written by%n```%n%s%n```%n%n",
      FILE, results().get("command").getAsString())).toString();
  }

  /** Returns a picture of each case's throughput ratio with the range of its rounds. */
  String ratios() throws IOException {
    Chart chart = chart("Throughput and CPU time per row, fork / stock", Axis.logarithmic(
      "ratio (logarithmic)", List.of(0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5)));
    chart.legend("fork", "throughput, with the range of the rounds");
    chart.legend("stock hollow", "RegionServer CPU time per row");
    chart.rule(1);
    for (int i = 0; i < ROWS.size(); i++) {
      CaseComparison one = comparison(ROWS.get(i));
      CaseComparison.Spread ratio = one.throughput().ratio();
      double cpu = one.cpuPerRow().ratio().median();
      chart.range("fork", ratio.low(), ratio.high(), i);
      chart.dot("fork", ratio.median(), i, String.format(Locale.ROOT,
        "throughput %.2f, %.2f to %.2f", ratio.median(), ratio.low(), ratio.high()));
      chart.dot("stock hollow", cpu, i, String.format(Locale.ROOT, "CPU time per row %.2f", cpu));
    }
    return chart.file();
  }

  private static Chart chart(String title, Axis x) {
    return Chart.rows(title, x, ROWS.stream().map(Row::label).toList());
  }

  /** Returns a picture of each case's median and p99 latency on both sides. */
  String latencies() throws IOException {
    Chart chart = chart("Latency in a closed loop: median and p99, us",
      Axis.logarithmic("us (logarithmic)", List.of(50.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0,
        30_000.0, 100_000.0)));
    for (String side : List.of("stock", "fork")) {
      chart.legend(side, side + ", median");
      chart.legend(side + " hollow", side + ", p99");
    }
    for (int i = 0; i < ROWS.size(); i++) {
      CaseComparison one = comparison(ROWS.get(i));
      for (String percentile : List.of("p50", "p99")) {
        Pair latency = latency(one, percentile);
        String hollow = percentile.equals("p99") ? " hollow" : "";
        String tooltip = "%s, " + percentile + ": %,.0f us";
        double stock = latency.stock().median();
        double fork = latency.fork().median();
        chart.dot("stock" + hollow, stock, i, String.format(Locale.ROOT, tooltip, "stock", stock));
        chart.dot("fork" + hollow, fork, i, String.format(Locale.ROOT, tooltip, "fork", fork));
      }
    }
    return chart.file();
  }
}
