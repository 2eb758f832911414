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

import dev.stratum.report.Axis;
import dev.stratum.report.Chart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * The picture of a feature in docs/results.md: how many times better the fork is in each of its
 * benchmarks, made from the committed files of the feature's folder in bench/results.
 */
final class FeaturePlots {
  /** The features that have a picture. */
  static final List<String> FEATURES = List.of("composite-bucket-cache", "segment-cache",
    "prefetch-dedup", "parallel-multiget", "counter-coalescing", "bounded-async-wal",
    "flush-consolidation", "pooled-reads", "point-get", "row-cache", "cache-handover");
  /** The size that is drawn if a file has a row for each of many sizes. */
  private static final String SIZE = "65536";

  private final Path folder;

  /** A benchmark with one value of each parameter. */
  private record Row(String benchmark, Map<String, String> params, List<Double> rounds,
    Double cpu) {
    String method() {
      return benchmark.replaceAll(".*[.](\\w+?)(Benchmark)?[.](\\w+)$", "$1.$3");
    }

    double ratio() {
      return Math.exp(rounds.stream().mapToDouble(Math::log).average().orElseThrow());
    }
  }

  /** @param root of the repository */
  FeaturePlots(Path root) {
    folder = root.resolve("bench/results");
  }

  private List<Row> rows(String feature) throws IOException {
    Map<String, Row> rows = new LinkedHashMap<>();
    try (Stream<Path> files = Files.list(folder.resolve(feature))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".json")).sorted().toList()) {
        JsonObject summary = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        if (summary.has("results")) {
          addRows(summary.getAsJsonArray("results"), rows);
        }
      }
    }
    return List.copyOf(rows.values());
  }

  private static void addRows(JsonArray results, Map<String, Row> rows) {
    for (JsonElement element : results) {
      JsonObject result = element.getAsJsonObject();
      Map<String, String> params = new TreeMap<>();
      if (result.has("params")) {
        result.getAsJsonObject("params").entrySet()
          .forEach(param -> params.put(param.getKey(), param.getValue().getAsString()));
      }
      String benchmark = result.get("benchmark").getAsString();
      String key = benchmark + params;
      String figure = result.has("figure") ? result.get("figure").getAsString() : "";
      if (figure.equals("cpu") && rows.containsKey(key) && result.has("ratio")) {
        Row row = rows.get(key);
        rows.put(key, new Row(benchmark, params, row.rounds(), result.get("ratio").getAsDouble()));
      } else if (figure.isEmpty()) {
        List<Double> rounds = rounds(result);
        if (!rounds.isEmpty() && SIZE.equals(params.getOrDefault("size", SIZE))) {
          rows.put(key, new Row(benchmark, params, rounds, null));
        }
      }
    }
  }

  /** Returns the ratio of each round, of bytes allocated where no time was compared. */
  private static List<Double> rounds(JsonObject result) {
    boolean timed = result.has("ratio");
    String suffix = timed ? "" : "BytesPerOp";
    JsonArray stock = result.getAsJsonArray("stock" + suffix);
    JsonArray fork = result.getAsJsonArray("fork" + suffix);
    if (stock == null || fork == null) {
      return List.of();
    }
    boolean more = timed && result.get("unit").getAsString().startsWith("ops/");
    List<Double> rounds = new ArrayList<>();
    for (int i = 0; i < Math.min(stock.size(), fork.size()); i++) {
      double ratio = stock.get(i).getAsDouble() / fork.get(i).getAsDouble();
      rounds.add(more ? 1 / ratio : ratio);
    }
    return rounds;
  }

  /** Returns the parameters that tell the rows of a benchmark apart. */
  private static Set<String> different(List<Row> rows, String benchmark) {
    Set<String> different = new TreeSet<>();
    List<Row> own = rows.stream().filter(row -> row.benchmark().equals(benchmark)).toList();
    for (Row row : own) {
      row.params().forEach((name, value) -> {
        if (own.stream().anyMatch(other -> !value.equals(other.params().get(name)))) {
          different.add(name);
        }
      });
    }
    return different;
  }

  /** Returns the picture of a feature. */
  String svg(String feature) throws IOException {
    List<Row> rows = rows(feature);
    double low = rows.stream().flatMap(row -> row.rounds().stream()).min(Double::compare)
      .orElseThrow(() -> new IOException("no results of " + feature));
    double high =
      rows.stream().flatMap(row -> row.rounds().stream()).max(Double::compare).orElseThrow();
    Chart chart = Chart.rows(feature + ": how many times better the fork is",
      Axis.ratios(low, high), rows.stream().map(row -> label(rows, row)).toList());
    chart.legend("fork", "time, or bytes allocated, with the range of the rounds");
    chart.legend("stock hollow", "CPU time");
    chart.rule(1);
    for (int i = 0; i < rows.size(); i++) {
      Row row = rows.get(i);
      chart.range("fork", row.rounds().stream().min(Double::compare).orElseThrow(),
        row.rounds().stream().max(Double::compare).orElseThrow(), i);
      chart.dot("fork", row.ratio(), i,
        String.format(Locale.ROOT, "%.2f, rounds: %d", row.ratio(), row.rounds().size()));
      if (row.cpu() != null) {
        chart.dot("stock hollow", row.cpu(), i,
          String.format(Locale.ROOT, "CPU time %.2f", row.cpu()));
      }
    }
    return chart.file();
  }

  private static String label(List<Row> rows, Row row) {
    Set<String> shown = different(rows, row.benchmark());
    String params = row.params().entrySet().stream().filter(e -> shown.contains(e.getKey()))
      .map(Map.Entry::getValue).collect(Collectors.joining(" "));
    return (row.method() + " " + params).trim();
  }
}
