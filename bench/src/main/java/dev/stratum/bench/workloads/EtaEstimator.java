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

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Estimates the time that the suite still takes: the planned amount of each kind of work, at the
 * pace of that kind so far. Not thread-safe.
 */
final class EtaEstimator {
  private static final class Work {
    private double left;
    private double done;
    private double seconds;
    private final double guess;

    Work(double guess) {
      this.guess = guess;
    }

    double pace() {
      return done == 0 ? guess : seconds / done;
    }
  }

  private final Map<String, Work> works = new HashMap<>();

  /**
   * Adds work to the plan.
   * @param amount in the unit of that kind
   * @param guess  seconds for one unit, used until some of it has been done
   */
  void plan(String kind, double amount, double guess) {
    works.computeIfAbsent(kind, key -> new Work(guess)).left += amount;
  }

  void done(String kind, double amount, double seconds) {
    Work work = works.get(kind);
    work.left -= amount;
    work.done += amount;
    work.seconds += seconds;
  }

  /** Drops all planned work and keeps the measured paces. */
  void dropPlan() {
    works.values().forEach(work -> work.left = 0);
  }

  double seconds() {
    return works.values().stream().mapToDouble(work -> Math.max(0, work.left) * work.pace()).sum();
  }

  /** Returns the remaining time, such as <code>7:05</code>. */
  @Override
  public String toString() {
    return text(seconds());
  }

  static String text(double seconds) {
    long whole = Math.round(seconds);
    return String.format(Locale.ROOT, "%d:%02d", whole / 60, whole % 60);
  }
}
