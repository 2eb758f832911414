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
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteIterator;
import site.ycsb.Status;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's {@code usertable}: one family, row bloom filter, 32 KB blocks. How many rows it holds is
 * kept in its descriptor, so that it cannot differ from the data for longer than a load.
 */
final class UserTable {
  static final TableName NAME = TableName.valueOf("usertable");
  static final byte[] FAMILY = Bytes.toBytes("family");
  private static final String ROWS_KEY = "STRATUM_ROWS";
  private static final int BLOCK_BYTES = 32 * 1024;
  private static final int LOADERS = 2;
  private static final long COMPACTION_SECONDS = 600;
  private static final long POLL_MILLIS = 100;

  private final Connection connection;

  UserTable(Connection connection) {
    this.connection = connection;
  }

  /** Creates the table unless it exists; the rows that are known to be in it. */
  int open() throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (!admin.tableExists(NAME)) {
        admin.createTable(TableDescriptorBuilder.newBuilder(NAME)
          .setColumnFamily(
            ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(BLOCK_BYTES).build())
          // No split under the load: the same rows always make the same one region.
          .setRegionSplitPolicyClassName(ConstantSizeRegionSplitPolicy.class.getName()).build());
        return 0;
      }
      String rows = admin.getDescriptor(NAME).getValue(ROWS_KEY);
      return rows == null ? 0 : Integer.parseInt(rows);
    }
  }

  /** Writes the rows {@code from} to {@code to} - 1 and notes that they are there. */
  void load(int from, int to, LoadProgress progress) throws Exception {
    CoreWorkload workload = Ycsb.inserts(from, to);
    AtomicInteger left = new AtomicInteger(to - from);
    ExecutorService loaders = Executors.newFixedThreadPool(LOADERS);
    try {
      List<Future<Void>> results = new ArrayList<>();
      for (int i = 0; i < LOADERS; i++) {
        results.add(loaders.submit(() -> {
          try (BufferedMutator mutator = connection.getBufferedMutator(NAME)) {
            Inserts inserts = new Inserts(mutator);
            while (left.getAndDecrement() > 0) {
              workload.doInsert(inserts, null);
              progress.step();
            }
          }
          return null;
        }));
      }
      for (Future<Void> result : results) {
        result.get();
      }
    } catch (ExecutionException e) {
      throw new RunLocalException("Writing to " + NAME + " failed: "
        + e.getCause().getMessage() + ".", e);
    } finally {
      loaders.shutdownNow();
    }
    try (Admin admin = connection.getAdmin()) {
      TableDescriptor loaded = TableDescriptorBuilder.newBuilder(admin.getDescriptor(NAME))
        .setValue(ROWS_KEY, Integer.toString(to)).build();
      admin.modifyTable(loaded, false);
    }
  }

  void flush() throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.flush(NAME);
    }
  }

  /** Merges each store into one file and waits until that is done. */
  void compact(HRegionServer server) throws IOException, InterruptedException, RunLocalException {
    try (Admin admin = connection.getAdmin()) {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(COMPACTION_SECONDS);
      while (true) {
        if (admin.getCompactionState(NAME) == CompactionState.NONE) {
          if (storeFiles(server) <= stores(server)) {
            return;
          }
          // Asked again as long as needed: a request finds nothing to do while a compaction that
          // the flushes have started holds the files.
          admin.majorCompact(NAME);
        }
        if (System.nanoTime() > deadline) {
          throw new RunLocalException(
            "The compaction of " + NAME + " did not end within " + COMPACTION_SECONDS + " s.");
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  /** Bytes of the table's files. */
  long fileBytes(HRegionServer server) {
    return server.getRegions(NAME).stream().flatMap(region -> ((HRegion) region).getStores()
      .stream()).mapToLong(HStore::getStorefilesSize).sum();
  }

  private static int storeFiles(HRegionServer server) {
    return server.getRegions(NAME).stream().flatMap(region -> ((HRegion) region).getStores()
      .stream()).mapToInt(HStore::getStorefilesCount).sum();
  }

  private static int stores(HRegionServer server) {
    return server.getRegions(NAME).stream().mapToInt(region -> region.getStores().size()).sum();
  }

  private static final class Inserts extends Ycsb.Binding {
    private final BufferedMutator mutator;

    Inserts(BufferedMutator mutator) {
      this.mutator = mutator;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      Put put = new Put(Bytes.toBytes(key));
      values.forEach(
        (field, value) -> put.addColumn(FAMILY, Bytes.toBytes(field), value.toArray()));
      try {
        mutator.mutate(put);
      } catch (IOException e) {
        // A status of its own would be retried and reported by YCSB on the console.
        throw new UncheckedIOException(e);
      }
      return Status.OK;
    }
  }
}
