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

import dev.stratum.local.RunLocal.Failure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.RandomByteIterator;
import site.ycsb.Utils;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * YCSB's {@code usertable}: hashed keys, 10 fields of 100 random bytes, zipfian reads; one family
 * with a row bloom filter and 32 KB blocks. How many rows it holds is kept in its descriptor, so
 * that it cannot differ from the data for longer than a load.
 */
final class UserTable {
  private static final int FIELDS = 10;
  private static final int FIELD_BYTES = 100;
  static final int ROW_BYTES = FIELDS * FIELD_BYTES;
  private static final TableName NAME = TableName.valueOf("usertable");
  private static final byte[] FAMILY = Bytes.toBytes("family");
  private static final String ROWS_KEY = "STRATUM_ROWS";
  private static final int BLOCK_BYTES = 32 * 1024;
  private static final int LOADERS = 2;
  private static final long POLL_MILLIS = 100;
  private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final int DIGITS = 3;

  private final Connection connection;
  private final HRegionServer server;

  UserTable(Connection connection, HRegionServer server) {
    this.connection = connection;
    this.server = server;
  }

  /** Adds the rows that the table lacks, and merges each store into one file. */
  void fill(int rows) throws Exception {
    int present = open();
    if (present > 0) {
      RunLocal.done("%s holds %,d rows from an earlier run%s", NAME, present,
        present > rows ? String.format(Locale.ROOT, ", of which the first %,d are read", rows)
          : present < rows ? "; loading the rest" : "");
    }
    if (present < rows) {
      load(present, rows);
      RunLocal.done("loaded %,d rows of %d x %d B into %s", rows - present, FIELDS, FIELD_BYTES,
        NAME);
    }
    long bytes = 0;
    for (HRegion region : server.getRegions(NAME).stream().map(HRegion.class::cast).toList()) {
      // This is repeated, since the load's own flush or compaction may be running and excludes
      // these.
      while (region.getMemStoreDataSize() > 0
        || region.getStores().stream().anyMatch(store -> store.getStorefilesCount() > 1)) {
        region.flush(true);
        region.compact(true);
        Thread.sleep(POLL_MILLIS);
      }
      bytes += region.getStores().stream().mapToLong(HStore::getStorefilesSize).sum();
    }
    RunLocal.done("flushed and compacted: %,d MB of files", bytes >> 20);
  }

  /** Creates the table unless it exists; returns the rows that are known to be in it. */
  private int open() throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (!admin.tableExists(NAME)) {
        admin.createTable(TableDescriptorBuilder.newBuilder(NAME)
          .setColumnFamily(
            ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(BLOCK_BYTES).build())
          // The load causes no split: the same rows always make the same one region.
          .setRegionSplitPolicyClassName(ConstantSizeRegionSplitPolicy.class.getName()).build());
      }
      String rows = admin.getDescriptor(NAME).getValue(ROWS_KEY);
      return rows == null ? 0 : Integer.parseInt(rows);
    }
  }

  /** Writes the rows {@code from} to {@code to} - 1 and notes that they are there. */
  private void load(int from, int to) throws Exception {
    int total = to - from;
    AtomicInteger started = new AtomicInteger();
    inParallel("Writing to", LOADERS, () -> {
      try (BufferedMutator mutator = connection.getBufferedMutator(NAME)) {
        for (long row = started.getAndIncrement(); row < total; row = started.getAndIncrement()) {
          Put put = new Put(key(from + row));
          for (int i = 0; i < FIELDS; i++) {
            put.addColumn(FAMILY, Bytes.toBytes("field" + i),
              new RandomByteIterator(FIELD_BYTES).toArray());
          }
          mutator.mutate(put);
          if (row > 0 && row * 10 / total > (row - 1) * 10 / total) {
            RunLocal.done("load: %,d of %,d rows", row, total);
          }
        }
      }
      return null;
    });
    try (Admin admin = connection.getAdmin()) {
      admin.modifyTable(TableDescriptorBuilder.newBuilder(admin.getDescriptor(NAME))
        .setValue(ROWS_KEY, Integer.toString(to)).build(), false);
    }
  }

  /**
   * Reads in a closed loop: each thread sends its next request when the last one is answered. Only
   * the requests are timed, not the choice of keys.
   * @param batch rows per request
   * @param rows  how many rows there are to read
   * @return the name, threads, requests, requests per second, and percentiles in ms
   */
  List<String> read(String name, int threads, int batch, int rows, double seconds)
    throws Exception {
    ScrambledZipfianGenerator keys = new ScrambledZipfianGenerator(rows);
    Histogram nanos = new ConcurrentHistogram(MAX_NANOS, DIGITS);
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    inParallel("Reading", threads, () -> {
      try (Table table = connection.getTable(NAME)) {
        do {
          List<Get> gets = Stream.generate(() -> new Get(key(keys.nextValue()))).limit(batch)
            .toList();
          long sent = System.nanoTime();
          Result[] results =
            batch == 1 ? new Result[] { table.get(gets.get(0)) } : table.get(gets);
          nanos.recordValue(Math.min(System.nanoTime() - sent, MAX_NANOS));
          for (int i = 0; i < batch; i++) {
            if (results[i].size() != FIELDS) {
              throw new IOException("row " + Bytes.toString(gets.get(i).getRow()) + " has "
                + results[i].size() + " of " + FIELDS + " fields");
            }
          }
        } while (System.nanoTime() < end);
      }
      return null;
    });
    double perSecond = nanos.getTotalCount() * 1e9 / (System.nanoTime() - start);
    List<String> row = new ArrayList<>(List.of(name, Integer.toString(threads),
      RunLocal.count(nanos.getTotalCount()), RunLocal.count(Math.round(perSecond))));
    for (double percentile : new double[] { 50, 99, 99.9 }) {
      row.add(
        String.format(Locale.ROOT, "%.2f", nanos.getValueAtPercentile(percentile) / 1e6));
    }
    return row;
  }

  private static byte[] key(long row) {
    return Bytes.toBytes("user" + Utils.hash(row));
  }

  private static void inParallel(String what, int threads, Callable<Void> task) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (Future<Void> result : pool.invokeAll(Collections.nCopies(threads, task))) {
        result.get();
      }
    } catch (ExecutionException e) {
      throw new Failure(what + " " + NAME + " failed: " + e.getCause().getMessage() + ".", e);
    } finally {
      pool.shutdownNow();
    }
  }
}
