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
package dev.stratum.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteIterator;
import site.ycsb.Status;
import site.ycsb.workloads.CoreWorkload;

/**
 * Closed-loop reads for a given time: each thread sends its next request when the last one is
 * answered. Only the requests are timed, not the choice of keys.
 */
final class ReadPhase {
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final int DIGITS = 3;

  private final String name;
  private final int threads;
  private final int batch;

  /** @param batch rows per request */
  ReadPhase(String name, int threads, int batch) {
    this.name = name;
    this.threads = threads;
    this.batch = batch;
  }

  /** What one phase showed. */
  static final class Outcome {
    private final ReadPhase phase;
    private final double seconds;
    private final Histogram nanos;

    Outcome(ReadPhase phase, double seconds, Histogram nanos) {
      this.phase = phase;
      this.seconds = seconds;
      this.nanos = nanos;
    }

    static TextTable report(List<Outcome> outcomes) {
      TextTable table =
        new TextTable("reads", "threads", "ops", "ops/s", "p50 ms", "p99 ms", "p999 ms");
      for (Outcome outcome : outcomes) {
        long operations = outcome.nanos.getTotalCount();
        table.row(outcome.phase.name, Integer.toString(outcome.phase.threads),
          LoadProgress.count(operations),
          String.format(Locale.ROOT, "%,.0f", operations / outcome.seconds),
          outcome.milliseconds(50), outcome.milliseconds(99), outcome.milliseconds(99.9));
      }
      return table;
    }

    private String milliseconds(double percentile) {
      return String.format(Locale.ROOT, "%.2f", nanos.getValueAtPercentile(percentile) / 1e6);
    }
  }

  /**
   * @param rows    how many rows there are to read
   * @param seconds how long to read
   * @throws RunLocalException if a read fails or finds no row
   */
  Outcome run(Connection connection, int rows, double seconds) throws Exception {
    CoreWorkload workload = Ycsb.reads(rows);
    ExecutorService readers = Executors.newFixedThreadPool(threads);
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    Histogram all = new Histogram(LONGEST_NANOS, DIGITS);
    try {
      List<Future<Histogram>> results = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        results.add(readers.submit(() -> {
          try (Table table = connection.getTable(UserTable.NAME)) {
            Reads reads = new Reads(table, batch);
            do {
              workload.doTransaction(reads, null);
            } while (System.nanoTime() < end);
            return reads.nanos;
          }
        }));
      }
      for (Future<Histogram> result : results) {
        all.add(result.get());
      }
    } catch (ExecutionException e) {
      throw new RunLocalException("Reading " + UserTable.NAME + " failed: "
        + e.getCause().getMessage() + ".", e);
    } finally {
      readers.shutdownNow();
    }
    return new Outcome(this, (System.nanoTime() - start) / 1e9, all);
  }

  /** Collects YCSB's reads into requests of the batch's size and times these. One thread's. */
  private static final class Reads extends Ycsb.Binding {
    private final Table table;
    private final int batch;
    private final List<Get> gets;
    private final Histogram nanos = new Histogram(LONGEST_NANOS, DIGITS);

    Reads(Table table, int batch) {
      this.table = table;
      this.batch = batch;
      this.gets = new ArrayList<>(batch);
    }

    @Override
    public Status read(String name, String key, Set<String> fields,
      Map<String, ByteIterator> result) {
      gets.add(new Get(Bytes.toBytes(key)).addFamily(UserTable.FAMILY));
      if (gets.size() < batch) {
        return Status.BATCHED_OK;
      }
      try {
        long start = System.nanoTime();
        Result[] results =
          batch == 1 ? new Result[] { table.get(gets.get(0)) } : table.get(gets);
        nanos.recordValue(Math.min(System.nanoTime() - start, LONGEST_NANOS));
        for (int i = 0; i < results.length; i++) {
          if (results[i].size() != Ycsb.FIELDS) {
            throw new IOException("row " + Bytes.toString(gets.get(i).getRow()) + " has "
              + results[i].size() + " of " + Ycsb.FIELDS + " fields");
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      gets.clear();
      return Status.OK;
    }
  }
}
