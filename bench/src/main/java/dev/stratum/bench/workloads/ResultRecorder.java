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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * Collects the results of a run and writes them as <code>results.json</code>,
 * <code>summary.json</code>, <code>table.md</code> and <code>report.html</code>. Not thread-safe.
 */
final class ResultRecorder {
  private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm");

  private final SuiteOptions options;
  private final SuitePlan plan;
  private final JsonObject results = new JsonObject();
  private final JsonArray cases = new JsonArray();

  ResultRecorder(SuiteOptions options, SuitePlan plan) {
    this.options = options;
    this.plan = plan;
  }

  /** Records versions and settings of clusters that have just been started. */
  void addClusters(ClusterPair clusters) {
    for (ClusterUnderTest cluster : clusters.clusters()) {
      results.add(cluster.name() + "Settings", json(clusters.ownKeys(cluster.name())));
    }
    results.add("sharedSettings", json(new ServerSettings(options.sizes()).shared()));
    for (ClusterUnderTest cluster : clusters.clusters()) {
      results.addProperty(cluster.name(), cluster.version());
      results.addProperty(cluster.name() + "Cache", cluster.cache());
      results.add(cluster.name() + "Commands", cluster.commands());
    }
    results.addProperty("command", options.command());
    results.addProperty("date", LocalDateTime.now().format(DATE));
    results.addProperty("machine", machine());
    results.add("cases", cases);
  }

  private static JsonObject json(Map<String, String> keys) {
    JsonObject json = new JsonObject();
    keys.forEach(json::addProperty);
    return json;
  }

  private static String machine() {
    return String.format(Locale.ROOT, "JDK %s, %s %s, %d processors, %s",
      System.getProperty("java.version"), System.getProperty("os.name"),
      System.getProperty("os.arch"), Runtime.getRuntime().availableProcessors(), processor());
  }

  private static String processor() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines.filter(line -> line.startsWith("model name")).findFirst()
        .map(line -> line.substring(line.indexOf(':') + 1).trim()).orElse("unknown");
    } catch (IOException | UncheckedIOException e) {
      return "unknown";
    }
  }

  /**
   * Begins the result of a case, to which its runs are added.
   * @param handlers that the RegionServers have
   */
  JsonObject begin(WorkloadCase one, int handlers) {
    JsonObject json = new JsonObject();
    json.addProperty("name", one.fullName());
    json.addProperty("title", one.get("title", ""));
    json.addProperty("source", one.get("source", ""));
    json.addProperty("micros", one.micros());
    json.addProperty("handlers", handlers);
    json.addProperty("warmupSeconds", plan.warmUpSeconds());
    json.addProperty("seconds", plan.seconds(one));
    json.addProperty("rowsLoaded", one.rows(options.isQuick()));
    json.add("properties", one.json());
    for (String figure : List.of("throughput", "p99")) {
      if (!Double.isNaN(one.target(figure))) {
        json.addProperty(figure + "Aim", one.target(figure));
      }
    }
    json.add("runs", new JsonArray());
    json.add("discarded", new JsonArray());
    cases.add(json);
    return json;
  }

  /** Discards the result of a case that is attempted again. */
  void discard(JsonObject result) {
    cases.remove(result);
  }

  JsonArray cases() {
    return cases;
  }

  /** Adds the runs of a result to those of the same case by other JVMs, if there are any. */
  void join(JsonObject result) {
    for (JsonElement element : cases) {
      JsonObject earlier = element.getAsJsonObject();
      if (earlier != result && earlier.get("name").equals(result.get("name"))) {
        for (String runs : List.of("runs", "discarded")) {
          earlier.getAsJsonArray(runs).addAll(result.getAsJsonArray(runs));
        }
        cases.remove(result);
        return;
      }
    }
  }

  void write() throws IOException {
    Gson gson = new GsonBuilder().disableHtmlEscaping().create();
    Path directory = options.directory();
    Files.writeString(directory.resolve("results.json"), gson.toJson(results) + "\n",
      StandardCharsets.UTF_8);
    Files.writeString(directory.resolve("summary.json"), ResultSummary.json(results));
    Files.writeString(directory.resolve("table.md"), new SummaryTable(results).markdown());
    Files.writeString(directory.resolve("report.html"), new WorkloadReport(results).html());
  }

  /** Returns the table of the results so far, for a terminal. */
  String table() {
    return new SummaryTable(results).text();
  }
}
