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
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The cases to run, their order, their time, and an estimate of the time that they take. Cases of
 * the same servers follow one another, and those with another number of handlers are last: a server
 * has its handlers, and its sizes, from its start on.
 */
final class SuitePlan {
  /** A kind of work, with the seconds that a unit of it takes until some has been measured. */
  enum Work {
    /** The start of both clusters. */
    START(30),
    /** Loading, in rows, {@link #ROWS_OF_A_TABLE} included. */
    LOAD(1.0 / 8000),
    /** Warm-ups, in seconds of their limit. */
    WARM_UP(0.5),
    /** Runs, in seconds. */
    RUN(1.2),
    /** Truncation, in tables. */
    TRUNCATE(5);

    private final double secondsPerUnit;

    Work(double secondsPerUnit) {
      this.secondsPerUnit = secondsPerUnit;
    }
  }

  /** Creating, flushing and compacting a table takes as long as loading so many rows. */
  static final int ROWS_OF_A_TABLE = 20_000;
  private static final int SIDES = 2;

  private final SuiteOptions options;
  private final List<WorkloadCase> cases;

  /** @throws SuiteException if the options choose no case */
  SuitePlan(SuiteOptions options) throws IOException, SuiteException {
    this.options = options;
    this.cases = choose();
  }

  private List<WorkloadCase> choose() throws IOException, SuiteException {
    Pattern pattern = options.includePattern();
    List<WorkloadCase> chosen = new ArrayList<>();
    for (String group : WorkloadCase.GROUPS) {
      for (WorkloadCase one : WorkloadCase.read(group, options.caseDefaults())) {
        boolean isChosen = options.include() != null
          ? pattern.matcher(one.fullName()).find()
          : !options.isQuick() || one.isQuick();
        if (isChosen) {
          chosen.add(one);
        }
      }
    }
    if (chosen.isEmpty()) {
      throw new SuiteException("workloads=" + options.include() + " is found in the name of no"
        + " case: -Djmh.list prints their names.");
    }
    int usual = (int) options.number("handlers");
    List<Map<String, String>> servers =
      chosen.stream().map(WorkloadCase::servers).distinct().toList();
    chosen.sort(Comparator.comparing((WorkloadCase one) -> one.handlers() != usual)
      .thenComparing(WorkloadCase::handlers)
      .thenComparing(one -> servers.indexOf(one.servers())));
    return chosen;
  }

  /** The cases in the order in which they run. */
  List<WorkloadCase> cases() {
    return cases;
  }

  int rounds() {
    return (int) options.number("rounds");
  }

  /** Returns how often all cases are measured, each time by new JVMs of both sides. */
  int starts() {
    return (int) options.number("starts");
  }

  /** Seconds of a measured run of a case. */
  double seconds(WorkloadCase one) {
    double seconds = options.number("seconds");
    return options.isQuick() ? seconds : Math.max(seconds, one.minSeconds());
  }

  /** Seconds of the warm-up before a run that is not at a fixed rate. */
  double warmUpSeconds() {
    return options.number("warmup.seconds");
  }

  /** Returns whether two cases share a table on the same servers. */
  static boolean isOnSameTable(WorkloadCase one, WorkloadCase other) {
    return !Collections.disjoint(one.tables(), other.tables())
      && one.servers().equals(other.servers());
  }

  /** Adds to the estimate what cases take, on servers that are yet to be started. */
  void estimate(List<WorkloadCase> left, EtaEstimator eta) {
    add(eta, Work.START, left.stream().map(WorkloadCase::servers).distinct().count());
    Set<String> tables = new HashSet<>();
    for (WorkloadCase one : left) {
      for (WorkloadCase kind : one.kinds()) {
        if (tables.add(one.servers() + " " + kind.table())) {
          add(eta, Work.LOAD, kind.rows(options.isQuick()) + ROWS_OF_A_TABLE);
        }
      }
      boolean hasFixedRate = one.fixedRate() > 0;
      add(eta, Work.WARM_UP,
        SIDES * (hasFixedRate ? 2 : 1) * options.number("first.warmup.seconds"));
      double round = warmUpSeconds() + seconds(one) + (hasFixedRate ? seconds(one) : 0);
      add(eta, Work.RUN,
        SIDES * rounds() * round + (one.isProfiled() ? SIDES * seconds(one) : 0));
      add(eta, Work.TRUNCATE,
        one.isEmptied() ? SIDES * (rounds() + 1) * one.tables().size() : 0);
    }
  }

  private static void add(EtaEstimator eta, Work work, double amount) {
    eta.plan(work.name(), amount, work.secondsPerUnit);
  }
}
