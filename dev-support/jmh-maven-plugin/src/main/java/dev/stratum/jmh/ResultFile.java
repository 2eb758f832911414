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
package dev.stratum.jmh;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/** Reads the JSON that JMH 1.37 writes, by trial. */
final class ResultFile {
  private static final String ALLOCATION = "gc.alloc.rate.norm";
  private static final String GC = "gc.";
  /** JMH's quantiles are of all JVMs together, from which no interval can be had. */
  private static final Pattern OWN_QUANTILE = Pattern.compile(".*:?p[01]\\.\\d+");
  /** The quantiles shown of a benchmark that samples times; 1 is the worst of all. */
  private static final double[] QUANTILES = { 0.5, 0.99, 1 };

  /** JMH's short labels, which the file has, to the names of the modes. */
  private static final Map<String, String> MODES = Map.of("thrpt", "Throughput", "avgt",
    "AverageTime", "sample", "SampleTime", "ss", "SingleShotTime");

  private ResultFile() {
  }

  /**
   * One figure of a trial.
   * @param name          empty for the benchmark's own score, else what it is
   * @param unit          as JMH writes it
   * @param lowerIsBetter null if the unit does not say
   */
  record Figure(String name, String unit, Boolean lowerIsBetter, Sample sample) {
  }

  /**
   * What one side measured of a trial.
   * @param figures    the score first, then quantiles and counters
   * @param allocation bytes of heap per operation, or null if the profiler had nothing to say
   */
  record Measured(List<Figure> figures, Sample allocation) {
  }

  /** @throws IOException if the file cannot be read */
  static Map<Trial.Key, Measured> read(Path file) throws IOException {
    Map<Trial.Key, Measured> results = new LinkedHashMap<>();
    try (Reader in = Files.newBufferedReader(file)) {
      for (JsonElement element : JsonParser.parseReader(in).getAsJsonArray()) {
        JsonObject result = element.getAsJsonObject();
        Map<String, String> params = new LinkedHashMap<>();
        if (result.has("params")) {
          result.getAsJsonObject("params").entrySet()
            .forEach(e -> params.put(e.getKey(), e.getValue().getAsString()));
        }
        results.put(new Trial.Key(result.get("benchmark").getAsString(),
          MODES.get(result.get("mode").getAsString()), params), measured(result));
      }
    }
    return results;
  }

  private static Measured measured(JsonObject result) {
    List<Figure> figures = new ArrayList<>();
    JsonObject primary = result.getAsJsonObject("primaryMetric");
    if (primary.has("rawDataHistogram")) {
      addTimes(figures, primary);
    } else {
      figures.add(figure("", primary));
    }
    Sample allocation = null;
    for (Map.Entry<String, JsonElement> e : result.getAsJsonObject("secondaryMetrics").entrySet()) {
      JsonObject metric = e.getValue().getAsJsonObject();
      // JMH marks what a profiler measured with a middle dot in some versions.
      String name = e.getKey().replace("\u00b7", "");
      if (name.equals(ALLOCATION)) {
        allocation = figure(name, metric).sample();
      } else if (!name.startsWith(GC) && !OWN_QUANTILE.matcher(name).matches()) {
        figures.add(figure(name, metric));
      }
    }
    return new Measured(figures, allocation);
  }

  private static Figure figure(String name, JsonObject metric) {
    JsonArray jvms = metric.getAsJsonArray("rawData");
    double[] perJvm = new double[jvms.size()];
    for (int i = 0; i < perJvm.length; i++) {
      JsonArray iterations = jvms.get(i).getAsJsonArray();
      for (JsonElement value : iterations) {
        // JMH writes what is not a number as a string.
        perJvm[i] += Double.parseDouble(value.getAsString()) / iterations.size();
      }
    }
    String unit = metric.get("scoreUnit").getAsString();
    return new Figure(name, unit, lowerIsBetter(unit), new Sample(perJvm));
  }

  private static Boolean lowerIsBetter(String unit) {
    if (unit.startsWith("ops/")) {
      return false;
    }
    return unit.endsWith("/op") ? true : null;
  }

  private static void addTimes(List<Figure> figures, JsonObject metric) {
    String unit = metric.get("scoreUnit").getAsString();
    JsonArray jvms = metric.getAsJsonArray("rawDataHistogram");
    double[] means = new double[jvms.size()];
    double[][] quantiles = new double[QUANTILES.length][jvms.size()];
    for (int i = 0; i < means.length; i++) {
      TreeMap<Double, Long> counts = new TreeMap<>();
      for (JsonElement iteration : jvms.get(i).getAsJsonArray()) {
        for (JsonElement bar : iteration.getAsJsonArray()) {
          counts.merge(bar.getAsJsonArray().get(0).getAsDouble(),
            bar.getAsJsonArray().get(1).getAsLong(), Long::sum);
        }
      }
      long all = counts.values().stream().mapToLong(Long::longValue).sum();
      double sum = counts.entrySet().stream().mapToDouble(e -> e.getKey() * e.getValue()).sum();
      means[i] = sum / all;
      for (int q = 0; q < QUANTILES.length; q++) {
        quantiles[q][i] = quantile(counts, (long) Math.ceil(QUANTILES[q] * all));
      }
    }
    figures.add(new Figure("", unit, true, new Sample(means)));
    for (int q = 0; q < QUANTILES.length; q++) {
      figures.add(new Figure(QUANTILES[q] == 1 ? "max" : "p" + Math.round(QUANTILES[q] * 100), unit,
        true, new Sample(quantiles[q])));
    }
  }

  /** Returns the smallest value that at least <code>rank</code> of the values do not exceed. */
  private static double quantile(TreeMap<Double, Long> counts, long rank) {
    long seen = 0;
    for (Map.Entry<Double, Long> bar : counts.entrySet()) {
      seen += bar.getValue();
      if (seen >= rank) {
        return bar.getKey();
      }
    }
    return Double.NaN;
  }
}
