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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.apache.hadoop.hbase.client.Durability;

/** Clients that update counters for a given time, and what came of it. */
final class CounterLoad {
  /** The longest operation that is told from longer ones. */
  private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final int DIGITS = 3;

  private final CounterServer server;
  private final String side;
  private final String keys;
  private final int rows;

  /**
   * @param side what the server's jars are
   * @param keys how rows are drawn
   */
  CounterLoad(CounterServer server, String side, String keys, int rows) {
    this.server = server;
    this.side = side;
    this.keys = keys;
    this.rows = rows;
  }

  /**
   * Runs that many clients for all intervals, and before that a quarter as long to warm up.
   * @param millis how long an interval is
   * @throws IOException if a client failed, or updates were lost by a method that loses none
   */
  CounterPoint run(UpdateMethod method, int clients, int intervals, long millis)
    throws IOException, InterruptedException {
    long before = server.stored();
    Recorder recorder = new Recorder(MAX_NANOS, DIGITS);
    LongAdder acknowledged = new LongAdder();
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    List<Histogram> nanos = new ArrayList<>();
    double seconds;
    try {
      CounterKeys draw = new CounterKeys(rows, keys);
      List<Future<Void>> running = new ArrayList<>();
      long warm = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(intervals * millis / 4);
      long end = warm + TimeUnit.MILLISECONDS.toNanos(intervals * millis);
      for (int i = 0; i < clients; i++) {
        running.add(threads.submit(() -> {
          try (CounterClient client =
            new CounterClient(server.table(), draw, Durability.SYNC_WAL)) {
            for (long begun = System.nanoTime(); begun < end; begun = System.nanoTime()) {
              client.update(method);
              acknowledged.add(method.updates());
              recorder.recordValue(Math.min(MAX_NANOS, System.nanoTime() - begun));
            }
          }
          return null;
        }));
      }
      sleepUntil(warm);
      recorder.reset();
      long begun = System.nanoTime();
      for (int i = 1; i <= intervals; i++) {
        sleepUntil(warm + TimeUnit.MILLISECONDS.toNanos(i * millis));
        nanos.add(recorder.getIntervalHistogram());
      }
      seconds = (System.nanoTime() - begun) / 1e9 / intervals;
      for (Future<Void> client : running) {
        client.get();
      }
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      threads.shutdownNow();
    }
    long lost = acknowledged.sum() - (server.stored() - before);
    if (lost != 0 && !method.mayLoseUpdates()) {
      throw new IOException(lost + " updates were lost by " + method.text());
    }
    return new CounterPoint(side, keys, method, clients, nanos, seconds,
      100.0 * lost / Math.max(1, acknowledged.sum()));
  }

  private static void sleepUntil(long nanoTime) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep(nanoTime - System.nanoTime());
  }
}
