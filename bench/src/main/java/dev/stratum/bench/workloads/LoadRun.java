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

import dev.stratum.processes.Operations;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.Recorder;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * Threads that do operations for some time, and what that took: each operation's latency in an
 * HdrHistogram, per kind of operation and per slice of time.
 * <p>
 * In a closed loop a thread begins its next operation when the last is done. At a fixed rate each
 * operation has a time at which it is due, whatever became of those before it, and its latency
 * counts from then: a server that stalls makes all operations late that it kept from beginning
 * (Tene's coordinated omission). A worker may have a rate of its own in either. Used once.
 */
final class LoadRun {
  private static final long MIN_NANOS = 1000;
  private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final int DIGITS = 3;
  private static final int PERCENTILE_TICKS = 4;
  /** Enough for a curve, however long the run is. */
  private static final int SLICES = 20;

  /** One operation of a kind that it chooses; called by a thread of its own each. */
  interface Worker {
    /** @return what the next operation is to be */
    String choose();

    void perform(String operation);

    /** Operations per second of this worker, whatever the others do; 0 for none of its own. */
    default double rate() {
      return 0;
    }
  }

  private final List<? extends Worker> workers;
  private final long nanos;
  private final double rate;
  private final Operations operations;
  private final Map<String, Recorder> recorders = new ConcurrentHashMap<>();
  private final Map<String, Histogram> totals = new TreeMap<>();
  private final Histogram all = histogram();
  private final JsonArray series = new JsonArray();
  private final LongAdder inTime = new LongAdder();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final CountDownLatch failed = new CountDownLatch(1);
  private volatile boolean stopped;
  private long lastTaken;

  /**
   * @param workers    one per thread
   * @param seconds    for how long operations are begun
   * @param rate       operations per second of all threads together that have none of their own;
   *                   0 for a closed loop
   * @param operations is told what each thread does
   */
  LoadRun(List<? extends Worker> workers, double seconds, double rate, Operations operations) {
    this.workers = workers;
    this.nanos = (long) (seconds * 1e9);
    this.rate = rate;
    this.operations = operations;
  }

  private static Histogram histogram() {
    return new Histogram(MIN_NANOS, MAX_NANOS, DIGITS);
  }

  /**
   * Runs to the end.
   * @return <code>seconds</code>, <code>throughput</code> (operations per second that ended in
   *         time), <code>operations</code> by kind and <code>all</code> with latencies in
   *         microseconds, and <code>series</code>
   * @throws SuiteException if an operation failed
   */
  JsonObject run() throws InterruptedException, SuiteException {
    long start = System.nanoTime();
    lastTaken = start;
    List<Thread> threads = new ArrayList<>();
    long sharing = workers.stream().filter(worker -> worker.rate() == 0).count();
    for (int i = 0; i < workers.size(); i++) {
      Worker worker = workers.get(i);
      double own = worker.rate() > 0 ? worker.rate() : rate / sharing;
      long step = own == 0 ? 0 : (long) (1e9 / own);
      // Spread over the time between two operations of one thread.
      long first = start + step * i / workers.size();
      Operations.Client client = operations.client("load-" + i);
      Thread thread = new Thread(() -> work(worker, client, start, first, step), "load-" + i);
      threads.add(thread);
      thread.start();
    }
    long slice = Math.max(TimeUnit.MILLISECONDS.toNanos(100), nanos / SLICES);
    for (long at = slice; at < nanos + slice / 2; at += slice) {
      long wait = start + at - System.nanoTime();
      if (wait > 0 && failed.await(wait, TimeUnit.NANOSECONDS)) {
        break;
      }
      take(start, true);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    take(start, false);
    if (failure.get() != null) {
      throw new SuiteException("An operation failed: " + failure.get(), failure.get());
    }
    return result();
  }

  /** @param step nanoseconds from one operation to the next; 0 for a closed loop */
  private void work(Worker worker, Operations.Client client, long start, long first, long step) {
    long end = start + nanos;
    long due = first;
    try {
      while (!stopped) {
        if (step == 0) {
          due = System.nanoTime();
        } else {
          for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
            LockSupport.parkNanos(wait);
          }
        }
        if (due - end >= 0) {
          return;
        }
        String operation = worker.choose();
        client.begin(operation);
        worker.perform(operation);
        client.end();
        long now = System.nanoTime();
        recorders.computeIfAbsent(operation, key -> new Recorder(MIN_NANOS, MAX_NANOS,
          DIGITS)).recordValue(Math.min(MAX_NANOS, now - due));
        if (now - end <= 0) {
          inTime.increment();
        }
        due += step;
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      stopped = true;
      failed.countDown();
    }
  }

  /** Takes what was recorded since the last time. */
  private void take(long start, boolean isInSeries) {
    long now = System.nanoTime();
    Histogram taken = histogram();
    recorders.forEach((operation, recorder) -> {
      Histogram interval = recorder.getIntervalHistogram();
      taken.add(interval);
      totals.computeIfAbsent(operation, key -> histogram()).add(interval);
    });
    all.add(taken);
    if (isInSeries) {
      JsonObject point = new JsonObject();
      point.addProperty("second", rounded((now - start) / 1e9));
      point.addProperty("throughput", rounded(taken.getTotalCount() * 1e9 / (now - lastTaken)));
      point.addProperty("p50", micros(taken.getValueAtPercentile(50)));
      point.addProperty("p99", micros(taken.getValueAtPercentile(99)));
      point.addProperty("max", micros(taken.getMaxValue()));
      series.add(point);
    }
    lastTaken = now;
  }

  private JsonObject result() {
    JsonObject result = new JsonObject();
    result.addProperty("seconds", nanos / 1e9);
    result.addProperty("throughput", rounded(inTime.sum() * 1e9 / nanos));
    result.add("all", latencies(all));
    JsonObject operations = new JsonObject();
    totals.forEach((operation, total) -> operations.add(operation, latencies(total)));
    result.add("operations", operations);
    result.add("series", series);
    return result;
  }

  private static JsonObject latencies(Histogram histogram) {
    JsonObject json = new JsonObject();
    json.addProperty("count", histogram.getTotalCount());
    json.addProperty("mean", rounded(histogram.getMean() / 1000));
    for (double percentile : new double[] { 50, 95, 99, 99.9 }) {
      json.addProperty("p" + (percentile % 1 == 0 ? (int) percentile : "999"),
        micros(histogram.getValueAtPercentile(percentile)));
    }
    json.addProperty("max", micros(histogram.getMaxValue()));
    JsonArray curve = new JsonArray();
    for (HistogramIterationValue value : histogram.percentiles(PERCENTILE_TICKS)) {
      JsonArray point = new JsonArray();
      point.add(value.getPercentileLevelIteratedTo());
      point.add(micros(value.getValueIteratedTo()));
      curve.add(point);
    }
    json.add("percentiles", curve);
    ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(buffer);
    json.addProperty("hdr",
      Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length)));
    return json;
  }

  private static double micros(long nanos) {
    return rounded(nanos / 1000.0);
  }

  private static double rounded(double value) {
    return Math.round(value * 10) / 10.0;
  }
}
