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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/** What the rounds of one case say about fork and stock. Computed from the results alone. */
final class CaseComparison {
  /** A median that is this far from 1 says something, if all rounds are on its side. */
  private static final double NOTICEABLE = 0.03;

  private final JsonObject result;

  /** @param result one of <code>cases</code> in the results */
  CaseComparison(JsonObject result) {
    this.result = result;
  }

  /** A figure of several rounds. */
  record Spread(double low, double median, double high) {
    static Spread of(double[] values) {
      double[] sorted = values.clone();
      Arrays.sort(sorted);
      int middle = sorted.length / 2;
      double median = sorted.length == 0 ? Double.NaN
        : sorted.length % 2 == 1 ? sorted[middle]
        : (sorted[middle - 1] + sorted[middle]) / 2;
      return sorted.length == 0
        ? new Spread(median, median, median)
        : new Spread(sorted[0], median, sorted[sorted.length - 1]);
    }
  }

  /**
   * A figure of both sides.
   * @param ratio fork to stock, each round by itself
   */
  record Pair(Spread stock, Spread fork, Spread ratio) {
  }

  /** How the fork stands. */
  enum Verdict {
    AHEAD("ahead"), LEVEL("level"), BEHIND("behind"), FAILED("failed");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** An aim and what became of it. */
  record Aim(String text, boolean met) {
  }

  String name() {
    return result.get("name").getAsString();
  }

  /** Why there is no result, or null. */
  String failure() {
    return result.has("failure") ? result.get("failure").getAsString() : null;
  }

  /** Why there was no result in a first attempt, or null. */
  String failedBefore() {
    return result.has("failedBefore") ? result.get("failedBefore").getAsString() : null;
  }

  /** Returns how many runs of a side were measured again since compilers were at work. */
  int discarded() {
    return result.has("discarded") ? result.getAsJsonArray("discarded").size() / 2 : 0;
  }

  /** The runs of a side, by round. */
  List<JsonObject> runs(String side, boolean atFixedRate) {
    List<JsonObject> runs = new ArrayList<>();
    for (JsonElement element : result.getAsJsonArray("runs")) {
      JsonObject run = element.getAsJsonObject();
      if (
        run.get("side").getAsString().equals(side)
          && run.get("rate").getAsDouble() > 0 == atFixedRate
      ) {
        runs.add(run);
      }
    }
    return runs;
  }

  /** @return null if no round was measured on both sides */
  Pair pair(boolean atFixedRate, ToDoubleFunction<JsonObject> figure) {
    List<JsonObject> stock = runs("stock", atFixedRate);
    List<JsonObject> fork = runs("fork", atFixedRate);
    int rounds = Math.min(stock.size(), fork.size());
    if (rounds == 0) {
      return null;
    }
    double[] stockValues = new double[rounds];
    double[] forkValues = new double[rounds];
    double[] ratios = new double[rounds];
    for (int i = 0; i < rounds; i++) {
      stockValues[i] = figure.applyAsDouble(stock.get(i));
      forkValues[i] = figure.applyAsDouble(fork.get(i));
      ratios[i] = forkValues[i] / stockValues[i];
    }
    return new Pair(Spread.of(stockValues), Spread.of(forkValues), Spread.of(ratios));
  }

  /** Operations per second in a closed loop. */
  Pair throughput() {
    return pair(false, run -> run.get("throughput").getAsDouble());
  }

  /** @param name <code>mean</code>, <code>p50</code>, <code>p95</code>, <code>p99</code> … */
  Pair latency(boolean atFixedRate, String name) {
    return pair(atFixedRate, run -> run.getAsJsonObject("all").get(name).getAsDouble());
  }

  /** Microseconds of CPU time of the RegionServer per row, in a closed loop. */
  Pair cpuPerRow() {
    return pair(false, run -> 1000 * run.getAsJsonObject("regionserver").get("cpuMillis")
      .getAsDouble() / run.get("rows").getAsDouble());
  }

  /**
   * Blocks that were read from HDFS per 100 reads, at the fixed rate, of a case with an event.
   * @param when <code>before</code> it, <code>since</code> it began, in the
   *             <code>worstSecond</code> or the <code>worstTen</code> of that
   * @return null if the case has no event
   */
  Pair missesPer100Reads(String when) {
    return runs("fork", true).stream().anyMatch(run -> run.has("event"))
      ? pair(true, run -> run.getAsJsonObject("event").get(when).getAsDouble())
      : null;
  }

  /**
   * Returns the exceptions that requests got on the fork's side, clients' attempts that were
   * repeated among them, by type and with their number, without those types that stock's side has.
   */
  Map<String, Long> exceptionsOfForkAlone() {
    Map<String, Long> exceptions = exceptions("fork");
    exceptions.keySet().removeAll(exceptions("stock").keySet());
    return exceptions;
  }

  private Map<String, Long> exceptions(String side) {
    Map<String, Long> exceptions = new TreeMap<>();
    for (boolean atFixedRate : new boolean[] { false, true }) {
      for (JsonObject run : runs(side, atFixedRate)) {
        run.getAsJsonObject("regionserver").entrySet().forEach(entry -> {
          if (entry.getKey().startsWith("exceptions") && entry.getValue().getAsLong() > 0) {
            exceptions.merge(entry.getKey(), entry.getValue().getAsLong(), Long::sum);
          }
        });
      }
    }
    return exceptions;
  }

  /** Returns the kinds of clients; none if all are alike. */
  private List<String> kinds() {
    JsonObject properties = result.getAsJsonObject("properties");
    return properties != null && properties.has(WorkloadCase.CLIENTS)
      ? List.of(properties.get(WorkloadCase.CLIENTS).getAsString().split("\\s+"))
      : List.of();
  }

  /** Returns a figure of a kind of clients: <code>count</code>, or one of their latencies. */
  private static double figure(JsonObject run, String kind, String name) {
    JsonObject operations = run.getAsJsonObject("operations");
    return operations.has(kind)
      ? operations.getAsJsonObject(kind).get(name).getAsDouble()
      : Double.NaN;
  }

  /** Adds the aims that a case with several kinds of clients has for each of them. */
  private void addAims(String kind, double least, List<Aim> aims) {
    double throughput = pair(false, run -> figure(run, kind, "count")
      / run.get("seconds").getAsDouble()).ratio().median();
    aims.add(new Aim(String.format(Locale.ROOT, "%s: throughput %.2f, at least %s", kind,
      throughput, least), throughput >= least));
    if (result.has("p99Aim")) {
      double most = result.get("p99Aim").getAsDouble();
      double p99 = pair(false, run -> figure(run, kind, "p99")).ratio().median();
      aims.add(new Aim(String.format(Locale.ROOT, "%s: p99 %.2f, at most %s", kind, p99, most),
        p99 <= most));
    }
  }

  Verdict verdict() {
    Pair throughput = throughput();
    if (failure() != null || throughput == null) {
      return Verdict.FAILED;
    }
    Spread ratio = throughput.ratio();
    if (Math.min(runs("stock", false).size(), runs("fork", false).size()) < 2) {
      // One round has no spread to hold its ratio against.
      return Verdict.LEVEL;
    }
    if (ratio.median() >= 1 + NOTICEABLE && ratio.low() > 1) {
      return Verdict.AHEAD;
    }
    return ratio.median() <= 1 - NOTICEABLE && ratio.high() < 1 ? Verdict.BEHIND : Verdict.LEVEL;
  }

  /**
   * Returns what the fork was to reach; no case is to be slower than 0.97 of stock. Each kind of
   * clients is to reach that as well. Reads of HDFS have no aim: that is the same on both sides.
   */
  List<Aim> aims() {
    List<Aim> aims = new ArrayList<>();
    boolean isHdfs =
      result.has("properties") && result.getAsJsonObject("properties").has("hdfs");
    if (verdict() == Verdict.FAILED || isHdfs) {
      return aims;
    }
    double least = result.has("throughputAim")
      ? result.get("throughputAim").getAsDouble()
      : 1 - NOTICEABLE;
    aims.add(new Aim("throughput at least " + least, throughput().ratio().median() >= least));
    if (result.has("p99Aim")) {
      double most = result.get("p99Aim").getAsDouble();
      // A closed loop's latency is its throughput once more, if it is CPU-bound.
      Pair atFixedRate = latency(true, "p99");
      Pair p99 = atFixedRate == null ? latency(false, "p99") : atFixedRate;
      aims.add(new Aim("p99 at most " + most + (atFixedRate == null ? "" : " at a fixed rate"),
        p99.ratio().median() <= most));
    }
    kinds().forEach(kind -> addAims(kind, least, aims));
    return aims;
  }
}
