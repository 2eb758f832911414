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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants.OperationStatusCode;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.regionserver.write.GroupMetrics;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Random mutations by more clients than a server has handlers, each of rows of its own, in groups
 * and, one after the other, by a region of their own. Results, rows that are read between
 * them, and all versions at the end are equal. The number of mutations is
 * <code>writegroups.mutations</code>, the seed <code>writegroups.seed</code>.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestWriteGroupsEqualSerial {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroupsEqualSerial.class);

  private static final int MUTATIONS = Integer.getInteger("writegroups.mutations", 10_000);
  private static final long SEED = Long.getLong("writegroups.seed", System.nanoTime());
  private static final int CLIENTS = 64;
  private static final int ROWS = 7;
  private static final int QUALIFIERS = 3;
  private static final int TIMESTAMPS = 6;
  private static final int MOST_IN_A_BATCH = 7;
  private static final int MUTATIONS_OF_A_ROUND = 2_000;
  private static final int ROUNDS = Math.max(1, MUTATIONS / MUTATIONS_OF_A_ROUND);
  /** Rounds that write the same rows; after them there are new ones, so that a row stays small. */
  private static final int ROUNDS_OF_ROWS = 5;
  private static final TableName TABLE = TableName.valueOf("grouped");
  private static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  private static final byte[] NO_FAMILY = Bytes.toBytes("none");

  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
  private HBaseTestingUtility util;
  private HRegion serial;

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
    Configuration conf = new HBaseTestingUtility().getConfiguration();
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TABLE)
      .setColumnFamily(family(FAMILIES[0])).setColumnFamily(family(FAMILIES[1])).build();
    util.getAdmin().createTable(table,
      new byte[][] { Bytes.toBytes("16"), Bytes.toBytes("32"), Bytes.toBytes("48") });
    serial = HBaseTestingUtility.createRegionAndWAL(RegionInfoBuilder.newBuilder(TABLE).build(),
      util.getDataTestDir("serial"), conf, table, BlockCacheFactory.createBlockCache(conf));
  }

  @After
  public void tearDown() throws Exception {
    clients.shutdownNow();
    HBaseTestingUtility.closeRegionAndWAL(serial);
    util.deleteTable(TABLE);
  }

  /** What flushes and compactions leave out must not depend on when they are. */
  private static ColumnFamilyDescriptor family(byte[] name) {
    return ColumnFamilyDescriptorBuilder.newBuilder(name).setMaxVersions(Integer.MAX_VALUE)
      .setKeepDeletedCells(KeepDeletedCells.TRUE).build();
  }

  private static byte[] row(int client, int round, Random random) {
    return Bytes
      .toBytes(String.format("%02d-%d-%d", client, round / ROUNDS_OF_ROWS, random.nextInt(ROWS)));
  }

  private static byte[] family(Random random) {
    return random.nextInt(40) == 0 ? NO_FAMILY : FAMILIES[random.nextInt(FAMILIES.length)];
  }

  private static byte[] qualifier(Random random) {
    return Bytes.toBytes("q" + random.nextInt(QUALIFIERS));
  }

  private static Mutation mutation(int client, int round, long oldest, Random random) {
    byte[] row = row(client, round, random);
    long timestamp = oldest + random.nextInt(TIMESTAMPS);
    if (random.nextInt(3) > 0) {
      Put put = new Put(row);
      for (int cells = 1 + random.nextInt(3); cells > 0; cells--) {
        byte[] value = new byte[random.nextInt(40)];
        random.nextBytes(value);
        put.addColumn(family(random), qualifier(random), oldest + random.nextInt(TIMESTAMPS),
          value);
      }
      return random.nextInt(10) == 0 ? put.setTTL(TimeUnit.DAYS.toMillis(1)) : put;
    }
    Delete delete = new Delete(row);
    switch (random.nextInt(6)) {
      case 0:
        return delete.setTimestamp(timestamp);
      case 1:
        return delete.addFamily(family(random), timestamp);
      case 2:
        return delete.addFamilyVersion(family(random), timestamp);
      case 3:
        return delete.addColumns(family(random), qualifier(random), timestamp);
      case 4:
        // The latest version: the region reads the row.
        return delete.addColumn(family(random), qualifier(random));
      default:
        return delete.addColumn(family(random), qualifier(random), timestamp);
    }
  }

  /** @param oldest timestamp that they may have; if it is later, deleted cells are written again */
  private static List<Mutation> mutations(int client, int round, long oldest, long seed) {
    Random random = new Random(seed);
    List<Mutation> mutations = new ArrayList<>();
    int count = random.nextInt(3) > 0 ? 1 : 2 + random.nextInt(MOST_IN_A_BATCH - 1);
    for (int i = 0; i < count; i++) {
      mutations.add(mutation(client, round, oldest, random));
    }
    return mutations;
  }

  /** Returns of each mutation whether it was applied. */
  private static List<Boolean> write(Table table, List<Mutation> mutations) throws Exception {
    Object[] results = new Object[mutations.size()];
    try {
      if (mutations.size() > 1) {
        table.batch(mutations, results);
      } else if (mutations.get(0) instanceof Put) {
        table.put((Put) mutations.get(0));
        results[0] = Result.EMPTY_RESULT;
      } else {
        table.delete((Delete) mutations.get(0));
        results[0] = Result.EMPTY_RESULT;
      }
    } catch (IOException e) {
      // The results have the failures.
    }
    List<Boolean> applied = new ArrayList<>();
    for (Object result : results) {
      applied.add(result instanceof Result);
    }
    return applied;
  }

  private List<Boolean> writeSerially(List<Mutation> mutations) throws IOException {
    mutations.forEach(mutation -> mutation.setDurability(Durability.SKIP_WAL));
    List<Boolean> applied = new ArrayList<>();
    for (OperationStatus status : serial.batchMutate(mutations.toArray(new Mutation[0]))) {
      applied.add(status.getOperationStatusCode() == OperationStatusCode.SUCCESS);
    }
    return applied;
  }

  /** Returns the cells with what a client sees of them. */
  private static List<String> cells(Result result) {
    if (result.isEmpty()) {
      return new ArrayList<>();
    }
    return result.listCells().stream().map(TestWriteGroupsEqualSerial::text)
      .collect(Collectors.toList());
  }

  private static String text(Cell cell) {
    return String.join("/", Bytes.toString(CellUtil.cloneRow(cell)),
      Bytes.toString(CellUtil.cloneFamily(cell)), Bytes.toString(CellUtil.cloneQualifier(cell)),
      cell.getTimestamp() + "", Bytes.toStringBinary(CellUtil.cloneValue(cell)));
  }

  private int writeAndCompare(int client, int round) throws Exception {
    Random seeds = new Random(SEED + 1_000_003L * client + round);
    int written = 0;
    try (Table table = util.getConnection().getTable(TABLE)) {
      while (written < MUTATIONS / CLIENTS / ROUNDS) {
        long seed = seeds.nextLong();
        long oldest = 1 + (long) round * MUTATIONS + written / TIMESTAMPS;
        List<Mutation> mutations = mutations(client, round, oldest, seed);
        String what = "seed " + SEED + ": " + mutations;
        assertEquals(what, writeSerially(mutations(client, round, oldest, seed)),
          write(table, mutations));
        Get get = new Get(mutations.get(0).getRow());
        assertEquals(what, cells(serial.get(get)), cells(table.get(get)));
        written += mutations.size();
      }
    }
    return written;
  }

  private List<String> everything(Table table) throws IOException {
    List<String> all = new ArrayList<>();
    // A scan that opens streams between cells with equal keys would see some of them again.
    Scan scan = new Scan().readAllVersions().setReadType(Scan.ReadType.PREAD);
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) {
        all.addAll(cells(result));
      }
    }
    return all;
  }

  private List<String> everythingSerial() throws IOException {
    List<String> all = new ArrayList<>();
    try (RegionScanner scanner = serial.getScanner(new Scan().readAllVersions())) {
      List<Cell> row = new ArrayList<>();
      boolean more = true;
      while (more) {
        more = scanner.next(row);
        all.addAll(cells(Result.create(row)));
        row.clear();
      }
    }
    return all;
  }

  @Test
  public void testResultsAndRowsAreThoseOfOneWriteAfterTheOther() throws Exception {
    long before = GroupMetrics.ofMutations().grouped();
    int written = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<Future<Integer>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        int which = round;
        running.add(clients.submit(() -> writeAndCompare(client, which)));
      }
      util.getAdmin().flush(TABLE);
      util.getAdmin().compact(TABLE);
      for (Future<Integer> one : running) {
        written += one.get();
      }
      serial.flush(true);
      serial.compact(false);
    }
    try (Table table = util.getConnection().getTable(TABLE)) {
      List<String> all = everything(table);
      assertEquals(everythingSerial(), all);
      assertTrue(all.size() > CLIENTS);
    }
    long grouped = GroupMetrics.ofMutations().grouped() - before;
    assertTrue(grouped + " of " + written + " were in groups", grouped > written / 10);
  }
}
