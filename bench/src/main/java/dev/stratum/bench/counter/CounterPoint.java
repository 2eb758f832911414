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
package dev.stratum.bench.counter;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.apache.hbase.thirdparty.com.google.gson.annotations.SerializedName;

/** The result of a number of clients with one update method on one side, in equal intervals. */
final class CounterPoint {
  private static final double MICROS = 1e3;

  /** What was seen in a time. */
  static final class Interval {
    final double updatesPerSecond;
    /** Microseconds for one operation, which is several updates in a batch. */
    final double p50;
    final double p99;

    Interval(Histogram nanos, double updatesPerSecond) {
      this.updatesPerSecond = updatesPerSecond;
      this.p50 = nanos.getValueAtPercentile(50) / MICROS;
      this.p99 = nanos.getValueAtPercentile(99) / MICROS;
    }
  }

  /** <code>fork</code> or <code>stock</code>. */
  final String side;
  /** How rows were drawn, and what else there is to say of them. */
  final String keys;
  @SerializedName("way")
  final UpdateMethod method;
  final int clients;
  /** How long an interval is. */
  final double seconds;
  /** All of it together. */
  final Interval all;
  final List<Interval> intervals = new ArrayList<>();
  /** How many of a hundred updates that were acknowledged are not in the table. */
  final double lostPercent;

  /**
   * @param nanos   what each operation took, for each interval
   * @param seconds how long an interval was
   */
  CounterPoint(String side, String keys, UpdateMethod method, int clients, List<Histogram> nanos,
    double seconds, double lostPercent) {
    this.side = side;
    this.keys = keys;
    this.method = method;
    this.clients = clients;
    this.seconds = seconds;
    this.lostPercent = lostPercent;
    Histogram sum = nanos.get(0).copy();
    sum.reset();
    for (Histogram interval : nanos) {
      sum.add(interval);
      intervals.add(new Interval(interval, rate(interval, seconds)));
    }
    all = new Interval(sum, rate(sum, seconds * nanos.size()));
  }

  private double rate(Histogram nanos, double during) {
    return nanos.getTotalCount() * method.updates() / during;
  }
}
