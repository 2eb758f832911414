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

import dev.stratum.childprocess.ParentWatch;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * Runs the cases of a {@link SuitePlan} on both sides, and has the results written after each, so
 * that what was measured is there however the run ends.
 * <p>
 * Both clusters run all the time, and one of them is measured. A table is loaded on both at once
 * and used by all cases that name it. Cases with other servers come last, on clusters that are
 * started again. A case that fails is attempted once more on new clusters.
 */
final class WorkloadSuite implements Closeable {
  private static final Pattern LINE_BREAKS = Pattern.compile("\\s*\\R\\s*");

  private final SuiteOptions options;
  private final PrintStream out;
  private final SuitePlan plan;
  private final SuiteProgress progress;
  private final ClusterPair clusters;
  private final ResultRecorder recorder;
  private final CaseRunner runner;

  WorkloadSuite(SuiteOptions options, PrintStream out) throws IOException, SuiteException {
    this.options = options;
    this.out = out;
    this.plan = new SuitePlan(options);
    this.progress = new SuiteProgress(out);
    this.clusters = new ClusterPair(options, out);
    this.recorder = new ResultRecorder(options, plan);
    this.runner = new CaseRunner(options, plan, clusters, progress);
  }

  /** @param arguments see {@link SuiteOptions#of} */
  WorkloadSuite(Properties arguments, PrintStream out) throws IOException, SuiteException {
    this(SuiteOptions.of(arguments), out);
  }

  /** @param args a file with the arguments, see {@link SuiteOptions#read} */
  public static void main(String[] args) throws IOException {
    int failures = 1;
    try {
      failures = run(new WorkloadSuite(SuiteOptions.read(Path.of(args[0])), System.out));
    } catch (SuiteException e) {
      System.err.println(e.getMessage());
    }
    System.exit(failures == 0 ? 0 : 1);
  }

  /** Runs a suite that ends with this JVM, and with the end of standard input. */
  private static int run(WorkloadSuite suite) throws IOException {
    Runtime.getRuntime().addShutdownHook(new Thread(suite::close, "stop-workloads"));
    ParentWatch.atEnd(() -> System.exit(1));
    try {
      return suite.run();
    } catch (SuiteException e) {
      if (!suite.clusters.isClosed()) {
        System.err.println(e.getMessage());
      }
      return 1;
    }
  }

  /** @return how many cases failed */
  int run() throws IOException, SuiteException {
    List<WorkloadCase> cases = plan.cases();
    if (options.isList()) {
      cases.forEach(one -> out.println(one + (one.isQuick() ? "  [quick]" : "")));
      return 0;
    }
    Files.createDirectories(options.directory().resolve("logs"));
    for (int i = 0; i < plan.starts(); i++) {
      plan.estimate(cases, progress.eta());
    }
    progress.say("%d cases, %d times %d rounds of %.0f s on each side, about %s", cases.size(),
      plan.starts(), plan.rounds(), options.number("seconds"), progress.eta());
    start(cases.get(0).servers());
    int failures = run(cases, 0);
    for (int i = 1; i < plan.starts(); i++) {
      progress.say("New JVMs of both sides, %d of %d", i + 1, plan.starts());
      restart(cases);
      failures += run(cases, i);
    }
    out.println();
    out.print(recorder.table());
    out.println();
    out.println("Report: " + options.directory().resolve("report.html").toUri());
    return failures;
  }

  /**
   * Measures all cases on the clusters that have been started for the first of them.
   * @param starts how many clusters have measured all of them before
   * @return how many cases failed
   */
  private int run(List<WorkloadCase> cases, int starts) throws IOException, SuiteException {
    int failures = 0;
    for (int i = 0; i < cases.size(); i++) {
      WorkloadCase one = cases.get(i);
      if (i > 0 && !one.servers().equals(cases.get(i - 1).servers())) {
        progress.say("Servers with %s", one.servers());
        restart(cases.subList(i, cases.size()));
      }
      if (!hasResult(one, cases.subList(i, cases.size()), starts)) {
        failures++;
      }
      recorder.write();
      List<WorkloadCase> left = cases.subList(i + 1, cases.size());
      boolean isUsedAgain = left.stream().anyMatch(other -> SuitePlan.isOnSameTable(one, other));
      boolean isOnLastServers = left.isEmpty() || left.get(0).servers().equals(one.servers());
      if (!isUsedAgain && isOnLastServers) {
        drop(one, left);
      }
    }
    return failures;
  }

  /**
   * Measures a case, and if that fails once more on new clusters: a failure of either side that is
   * not the case's is to cost no case, and no later one.
   * @param left   the cases that are left, this one first
   * @param starts how many clusters have measured it before
   * @throws HangException if an operation hangs: that is a defect, and ends the run
   */
  private boolean hasResult(WorkloadCase one, List<WorkloadCase> left, int starts)
    throws IOException, SuiteException {
    String failedBefore = null;
    while (true) {
      JsonObject result = recorder.begin(one, clusters.clusters().get(0).handlers());
      if (failedBefore != null) {
        result.addProperty("failedBefore", failedBefore);
      }
      try {
        runner.load(one);
        runner.measure(one, starts * plan.rounds(), result);
        recorder.join(result);
        return true;
      } catch (HangException e) {
        result.addProperty("failure", LINE_BREAKS.matcher(e.getMessage()).replaceAll(" "));
        recorder.write();
        throw e;
      } catch (SuiteException e) {
        if (clusters.isClosed()) {
          throw e;
        }
        progress.say("%s failed: %s", one, e.getMessage());
        if (failedBefore != null) {
          result.addProperty("failure", e.getMessage());
          restart(left.subList(1, left.size()));
          return false;
        }
        failedBefore = e.getMessage();
        recorder.discard(result);
        restart(left);
      }
    }
  }

  private void drop(WorkloadCase one, List<WorkloadCase> left) throws IOException, SuiteException {
    try {
      runner.drop(one);
    } catch (SuiteException e) {
      if (clusters.isClosed()) {
        throw e;
      }
      progress.say("%s could not be dropped: %s", one.tables(), e.getMessage());
      restart(left);
    }
  }

  /**
   * Replaces the clusters by new ones, with no table.
   * @param left the cases that are left; if there are none nothing is done
   */
  private void restart(List<WorkloadCase> left) throws IOException, SuiteException {
    if (left.isEmpty()) {
      return;
    }
    // Their data is removed first: the new ones need as much space.
    clusters.stop();
    runner.forgetTables();
    progress.eta().dropPlan();
    plan.estimate(left, progress.eta());
    start(left.get(0).servers());
  }

  private void start(Map<String, String> servers) throws IOException, SuiteException {
    long start = System.nanoTime();
    clusters.start(servers);
    recorder.addClusters(clusters);
    progress.done(SuitePlan.Work.START, 1, start);
    progress.say("%s and %s are up", clusters.clusters().get(0).version(),
      clusters.clusters().get(1).version());
  }

  /** The cases that the options choose, in the order in which they run. */
  List<WorkloadCase> cases() {
    return plan.cases();
  }

  List<ProcessHandle> processes() {
    return clusters.processes();
  }

  /** Ends all processes and removes their data. May be called by any thread, several times. */
  @Override
  public void close() {
    clusters.close();
  }
}
