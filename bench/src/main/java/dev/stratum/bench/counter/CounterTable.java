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

import dev.stratum.bench.harness.CompilerWarmUp;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** One side's lines of the table of all update methods, one after the other. */
final class CounterTable {
  /** Into so many parts the time of a line is divided, for what changes over time. */
  static final int INTERVALS = 10;
  private static final int ROWS = 12_000;
  private static final int WARM_UPS = 8;
  private static final int WARM_UP_MILLIS = 300;

  private final CounterLoad load;
  private final int[] clients;
  private final long intervalMillis;
  private final List<UpdateMethod> methods = new ArrayList<>();
  private final List<CounterPoint> points = new ArrayList<>();

  /**
   * @param side           what the server's jars are
   * @param keys           how a row is drawn
   * @param clients        how many clients update, each number as one case
   * @param intervalMillis how long each of the {@link #INTERVALS} of a line is
   */
  CounterTable(CounterServer server, String side, String keys, int[] clients,
    long intervalMillis) {
    this.load = new CounterLoad(server, side, keys, ROWS);
    this.clients = clients;
    this.intervalMillis = intervalMillis;
    for (UpdateMethod method : UpdateMethod.values()) {
      if (method != UpdateMethod.GET_NOTHING) {
        methods.add(method);
      }
    }
  }

  /** Returns how many lines there are. */
  int size() {
    return methods.size() * clients.length;
  }

  /**
   * Runs all methods and numbers of clients until they are compiled. Without this, lines of either
   * side had a third of their throughput for seconds.
   * @throws Exception if a client failed, or updates were lost that should not be
   */
  void warmUp() throws Exception {
    for (UpdateMethod method : methods) {
      CompilerWarmUp.untilQuiet(WARM_UPS, () -> {
        for (int count : clients) {
          load.run(method, count, 1, WARM_UP_MILLIS);
        }
      });
    }
  }

  /**
   * Measures one more line, as long as there are fewer than {@link #size}.
   * @return all that were measured
   * @throws IOException if a client failed, or updates were lost that should not be
   */
  List<CounterPoint> measureNext() throws IOException, InterruptedException {
    UpdateMethod method = methods.get(points.size() / clients.length);
    int count = clients[points.size() % clients.length];
    points.add(load.run(method, count, INTERVALS, intervalMillis));
    return points;
  }
}
