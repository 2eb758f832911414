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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How many rounds each trial is measured in. In the headline set that depends on what has been
 * measured: a trial has two rounds, and more, up to eight, until the 99 % interval of its ratio
 * excludes 1, so that those that need it get the time. Not thread-safe.
 */
final class Rounds {
  /** The fewest from which there is an interval. */
  static final int MIN = 2;
  static final int MAX = 8;

  /** The scores of the two sides in each round. */
  private record Scores(List<Double> stock, List<Double> fork) {
  }

  private final Integer fixed;
  private final Map<Trial, Scores> scores = new HashMap<>();

  /** @param fixed number of rounds of all trials, null if it depends on the trial */
  Rounds(Integer fixed) {
    this.fixed = fixed;
  }

  /** A round of a trial is done. */
  void add(Trial trial, double stock, double fork) {
    Scores both = scores.computeIfAbsent(trial,
      any -> new Scores(new ArrayList<>(), new ArrayList<>()));
    both.stock.add(stock);
    both.fork.add(fork);
  }

  /** Returns how many rounds a trial has, as far as is known. */
  int of(Trial trial) {
    if (fixed != null) {
      return fixed;
    }
    if (trial.headline() == null) {
      return trial.forks();
    }
    Scores both = scores.get(trial);
    int done = both == null ? 0 : both.fork.size();
    return done < MIN || isShown(trial, both) ? Math.max(MIN, done) : Math.min(MAX, done + 1);
  }

  /** Returns the most rounds that a trial can have. */
  int most(Trial trial) {
    return fixed == null && trial.headline() != null ? MAX : of(trial);
  }

  private static boolean isShown(Trial trial, Scores both) {
    return Sample.ratio(sample(both.stock), sample(both.fork), trial.lowerIsBetter())
      .verdict() != Sample.Verdict.NOT_SHOWN;
  }

  private static Sample sample(List<Double> values) {
    return new Sample(values.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
