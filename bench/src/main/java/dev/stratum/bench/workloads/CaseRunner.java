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

import dev.stratum.bench.workloads.SuitePlan.Work;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * Measures a case: after a warm-up of both clusters, each round on one cluster and then on the
 * other. The clusters alternate at being first, so that what slows the machine down slows both.
 */
final class CaseRunner {
  /** How often a round is repeated at most. */
  private static final int MAX_REPETITIONS = 2;

  private final SuiteOptions options;
  private final SuitePlan plan;
  private final ClusterPair clusters;
  private final SuiteProgress progress;
  /** Calibrated sleeps in ns by the delay of a read in us. */
  private final Map<Integer, Long> sleeps = new HashMap<>();
  /** The tables that both clusters have. */
  private final Set<String> loaded = new HashSet<>();

  CaseRunner(SuiteOptions options, SuitePlan plan, ClusterPair clusters, SuiteProgress progress) {
    this.options = options;
    this.plan = plan;
    this.clusters = clusters;
    this.progress = progress;
  }

  /** Forgets the tables of clusters that have been stopped. */
  void forgetTables() {
    loaded.clear();
  }

  /** Loads the tables of a case on both clusters, unless they have them. */
  void load(WorkloadCase one) throws SuiteException {
    for (WorkloadCase kind : one.kinds()) {
      loadTable(kind);
    }
  }

  private void loadTable(WorkloadCase one) throws SuiteException {
    if (loaded.contains(one.table())) {
      return;
    }
    int rows = one.rows(options.isQuick());
    long start = System.nanoTime();
    clusters.both(cluster -> cluster.load(one, rows, part -> {
    }));
    progress.done(Work.LOAD, rows + SuitePlan.ROWS_OF_A_TABLE, start);
    if (rows > 0) {
      progress.say("%s rows loaded into %s%s", String.format(Locale.ROOT, "%,d", rows),
        one.table(), one.isWarm() ? ", all of them cached" : "");
    }
    loaded.add(one.table());
  }

  /** Drops the tables of a case on both clusters, if they have them. */
  void drop(WorkloadCase one) throws SuiteException {
    for (String table : one.tables()) {
      if (loaded.remove(table)) {
        clusters.both(cluster -> cluster.drop(table));
      }
    }
  }

  /**
   * @param firstRound its number
   * @param result     gets the runs
   */
  void measure(WorkloadCase one, int firstRound, JsonObject result) throws SuiteException {
    double rate = 0;
    for (ClusterUnderTest cluster : clusters.clusters()) {
      warmUp(one, cluster, 0);
    }
    for (int round = firstRound; round < firstRound + plan.rounds(); round++) {
      double slower = measureRound(one, round, 0, result);
      if (one.fixedRate() > 0) {
        if (rate == 0) {
          // A rate that both can sustain, and the same in all rounds.
          rate = one.fixedRate() > 1
            ? one.fixedRate()
            : Math.max(1, Math.round(one.fixedRate() * slower));
          for (ClusterUnderTest cluster : clusters.clusters()) {
            warmUp(one, cluster, rate);
          }
        }
        measureRound(one, round, rate, result);
      }
    }
    if (one.isAdverse()) {
      Map<String, Long> exceptions = new CaseComparison(result).exceptionsOfForkAlone();
      if (!exceptions.isEmpty()) {
        throw new SuiteException("Requests got exceptions on the fork's side that they did not get"
          + " on stock's: " + exceptions);
      }
    }
    if (one.isProfiled()) {
      profile(one, result);
    }
  }

  /**
   * Measures a case on both clusters, and again while JIT compilation takes too much CPU time.
   * @return the throughput of the slower one
   */
  private double measureRound(WorkloadCase one, int round, double rate, JsonObject result)
    throws SuiteException {
    List<ClusterUnderTest> both = clusters.clusters();
    for (int left = MAX_REPETITIONS;; left--) {
      List<JsonObject> runs = new ArrayList<>();
      for (int i = 0; i < both.size(); i++) {
        runs.add(run(one, both.get((i + round) % both.size()), round, rate));
      }
      boolean counts = left == 0 || runs.stream().allMatch(run -> isCompiled(one, run));
      runs.forEach(result.getAsJsonArray(counts ? "runs" : "discarded")::add);
      if (counts) {
        return runs.stream().mapToDouble(run -> run.get("throughput").getAsDouble()).min()
          .getAsDouble();
      }
      progress.say("%-30s round %d/%d  once more: compilers were at work", one, round + 1,
        plan.starts() * plan.rounds());
    }
  }

  private boolean isCompiled(WorkloadCase one, JsonObject run) {
    long millis = Stream.of("client", "regionserver")
      .mapToLong(child -> run.getAsJsonObject(child).get("compileMillis").getAsLong()).sum();
    return millis <= options.number("compiling.max") * plan.seconds(one) * 1000;
  }

  /** Has the JIT compile the case before any run counts. */
  private void warmUp(WorkloadCase one, ClusterUnderTest cluster, double rate)
    throws SuiteException {
    if (one.isEmptied()) {
      truncate(one, cluster);
    }
    double seconds = options.number("first.warmup.seconds");
    double window = options.number("first.warmup.window");
    long start = System.nanoTime();
    delay(cluster, one);
    if (rate > 0) {
      cluster.warmUp(one, seconds, window, rate);
    } else {
      cluster.warmUp(one, seconds, window);
    }
    cluster.delay(0, 0, 0, 0);
    progress.done(Work.WARM_UP, seconds, start);
  }

  private void truncate(WorkloadCase one, ClusterUnderTest cluster) throws SuiteException {
    for (String table : one.tables()) {
      long start = System.nanoTime();
      cluster.truncate(table);
      progress.done(Work.TRUNCATE, 1, start);
    }
  }

  /** Runs each cluster with a profiler; the runs are not among the results. */
  private void profile(WorkloadCase one, JsonObject result) throws SuiteException {
    JsonArray files = new JsonArray();
    for (ClusterUnderTest cluster : clusters.clusters()) {
      long start = System.nanoTime();
      String file = "flame/" + one.fullName().replace('/', '-') + "-" + cluster.name() + ".html";
      Path path = options.directory().resolve(file);
      if (one.isEmptied()) {
        truncate(one, cluster);
      }
      delay(cluster, one);
      cluster.profile(one.subject());
      cluster.run(one, plan.seconds(one), 0);
      cluster.flameGraph(one.subject(),
        one + ", " + cluster.version() + ", " + one.subject(), path);
      cluster.delay(0, 0, 0, 0);
      files.add(file);
      progress.done(Work.RUN, plan.seconds(one), start);
    }
    result.add("flameGraphs", files);
  }

  private JsonObject run(WorkloadCase one, ClusterUnderTest cluster, int round, double rate)
    throws SuiteException {
    if (one.isEmptied()) {
      truncate(one, cluster);
    } else if (one.isWriting()) {
      cluster.awaitIdle();
    }
    long start = System.nanoTime();
    boolean hasEvent = !one.event().isEmpty();
    if (hasEvent) {
      cluster.prepareEvent(one);
    }
    // What an event works on was not in the cache before.
    double warmUp = rate > 0 && !hasEvent ? 0 : plan.warmUpSeconds();
    delay(cluster, one);
    if (warmUp > 0) {
      cluster.run(one, warmUp, 0);
      if (one.micros() > 0) {
        // The delays are counted from here.
        delay(cluster, one);
      }
    }
    JsonObject run = hasEvent
      ? cluster.runWithEvent(one, plan.seconds(one), rate)
      : cluster.run(one, plan.seconds(one), rate);
    JsonObject slowed = cluster.delay(0, 0, 0, 0);
    run.addProperty("side", cluster.name());
    run.addProperty("round", round);
    run.addProperty("start", round / plan.rounds());
    run.addProperty("rate", rate);
    if (one.micros() > 0) {
      run.add("slowed", slowed);
    }
    progress.done(Work.RUN, warmUp + plan.seconds(one), start);
    JsonObject all = run.getAsJsonObject("all");
    progress.say("%-30s round %d/%d  %-5s  %10s ops/s  p99 %8s us%s", one, round + 1,
      plan.starts() * plan.rounds(), cluster.name(),
      String.format(Locale.ROOT, "%,.0f", run.get("throughput").getAsDouble()),
      String.format(Locale.ROOT, "%,.0f", all.get("p99").getAsDouble()),
      rate > 0 ? "  at a fixed rate" : "");
    return run;
  }

  /** Delays reads of L2 by a sleep that is calibrated once and the same on both clusters. */
  private void delay(ClusterUnderTest cluster, WorkloadCase one) throws SuiteException {
    int micros = one.micros();
    if (micros > 0 && !sleeps.containsKey(micros)) {
      sleeps.put(micros, cluster.calibrate(micros));
    }
    cluster.delay(micros, sleeps.getOrDefault(micros, 0L), one.hdfsMicros(), one.syncMillis());
  }
}
