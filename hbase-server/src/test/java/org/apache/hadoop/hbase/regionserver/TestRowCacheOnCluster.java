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

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Gets and multigets of hot rows by more clients than HBase's default number of handlers, while
 * regions move between servers and back, are split, flushed and compacted, and the rows are
 * written: no row is older than what was acknowledged before the get.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestRowCacheOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowCacheOnCluster.class);

  private static final TableName NAME = TableName.valueOf("rows");
  private static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final int READERS = 35;
  private static final int WRITERS = 6;
  private static final int ROWS = 30;
  private static final int MOVES = 12;
  private static final int HITS_OF_A_MOVE = 50;

  private HBaseTestingUtility util;
  private final AtomicLongArray acknowledged = new AtomicLongArray(ROWS);
  private volatile boolean done;

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
  }

  @After
  public void tearDown() throws Exception {
    util.deleteTable(NAME);
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("%02d", number));
  }

  private static Put put(int row, long number) {
    Put put = new Put(row(row));
    for (byte[] family : FAMILIES) {
      put.addColumn(family, COLUMN, number, Bytes.toBytes(number));
    }
    return put;
  }

  private static void check(Result result, long least) {
    long number = Bytes.toLong(result.getValue(FAMILIES[0], COLUMN));
    assertEquals("a whole row", number,
      Bytes.toLong(result.getValue(FAMILIES[1], COLUMN)));
    assertTrue(number + " after " + least, number >= least);
  }

  private void read(Table table, Random random) throws Exception {
    while (!done) {
      int row = random.nextInt(ROWS);
      if (random.nextInt(4) > 0) {
        long least = acknowledged.get(row);
        check(table.get(new Get(row(row))), least);
      } else {
        List<Get> gets = new ArrayList<>();
        long[] least = new long[3];
        for (int i = 0; i < 3; i++) {
          least[i] = acknowledged.get((row + i) % ROWS);
          gets.add(new Get(row((row + i) % ROWS)));
        }
        Result[] results = table.get(gets);
        for (int i = 0; i < 3; i++) {
          check(results[i], least[i]);
        }
      }
    }
  }

  private void write(Table table, int writer) throws Exception {
    for (long number = 2; !done; number++) {
      for (int row = writer; row < ROWS; row += WRITERS) {
        table.put(put(row, number));
        acknowledged.set(row, number);
      }
      Thread.sleep(20);
    }
  }

  private static long hits() {
    return TestRowCacheEqualsScanner.count("HitCount");
  }

  private void move(Admin admin, int number) throws Exception {
    List<RegionInfo> regions = admin.getRegions(NAME);
    RegionInfo region = regions.get(number % regions.size());
    if (number == MOVES / 2) {
      util.getAdmin().splitRegionAsync(region.getRegionName(), row(ROWS / 2)).get(1,
        TimeUnit.MINUTES);
      return;
    }
    HRegionServer at = util.getRSForFirstRegionInTable(NAME);
    HRegionServer to = util.getHBaseCluster().getRegionServer(number % 2);
    if (at != to) {
      admin.move(region.getEncodedNameAsBytes(), to.getServerName());
    } else {
      admin.flush(NAME);
      admin.majorCompact(NAME);
    }
  }

  @Test
  public void testRowsOfMovingRegions() throws Exception {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(NAME)
      .setValue(RowCacheSettings.TABLE_ATTRIBUTE, "true");
    for (byte[] family : FAMILIES) {
      builder.setColumnFamily(ColumnFamilyDescriptorBuilder.of(family));
    }
    Admin admin = util.getAdmin();
    admin.createTable(builder.build());
    ExecutorService clients = Executors.newCachedThreadPool();
    List<Future<?>> tasks = new ArrayList<>();
    try (Table table = util.getConnection().getTable(NAME)) {
      for (int row = 0; row < ROWS; row++) {
        table.put(put(row, 1));
        acknowledged.set(row, 1);
      }
      for (int i = 0; i < READERS; i++) {
        Random random = new Random(i);
        tasks.add(clients.submit(() -> {
          read(table, random);
          return null;
        }));
      }
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        tasks.add(clients.submit(() -> {
          write(table, writer);
          return null;
        }));
      }
      for (int i = 0; i < MOVES; i++) {
        move(admin, i);
        long hits = hits();
        util.waitFor(SharedCluster.TIMEOUT_MILLIS, 10, () -> hits() > hits + HITS_OF_A_MOVE);
      }
      done = true;
      for (Future<?> task : tasks) {
        task.get(2, TimeUnit.MINUTES);
      }
    } finally {
      done = true;
      clients.shutdownNow();
      assertTrue(clients.awaitTermination(1, TimeUnit.MINUTES));
    }
    for (HRegion region : util.getHBaseCluster().getRegions(NAME)) {
      util.waitFor(SharedCluster.TIMEOUT_MILLIS, () -> region.scannerReadPoints.isEmpty());
    }
  }
}
