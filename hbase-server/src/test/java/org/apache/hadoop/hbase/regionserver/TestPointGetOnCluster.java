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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Gets, multigets and tests of existence by more clients than HBase's default number of handlers,
 * beside writers, flushes and compactions, on several regions and families, and with the gets of a
 * multi served by several threads.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestPointGetOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPointGetOnCluster.class);

  private static final TableName NAME = TableName.valueOf("gets");
  private static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final int CLIENTS = 41;
  private static final int ROWS = 300;
  private static final int BATCH = 33;
  private static final int ROUNDS = 40;

  private HBaseTestingUtility util;

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
  }

  @After
  public void tearDown() throws Exception {
    util.deleteTable(NAME);
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("%03d", number));
  }

  private static Put put(int row, long number) {
    Put put = new Put(row(row));
    for (byte[] family : FAMILIES) {
      put.addColumn(family, COLUMN, Bytes.toBytes(number));
    }
    return put;
  }

  private static void check(Result result, int row) {
    assertArrayEquals(row(row), result.getRow());
    assertEquals(2, result.size());
    byte[] value = result.getValue(FAMILIES[0], COLUMN);
    assertArrayEquals(value, result.getValue(FAMILIES[1], COLUMN));
    assertEquals(row, Bytes.toLong(value) % ROWS);
  }

  @Test
  public void testMoreClientsThanHandlers() throws Exception {
    byte[][] splits = { row(ROWS / 3), row(2 * ROWS / 3) };
    try (Table table = util.createTable(NAME, FAMILIES, splits)) {
      List<Put> puts = new ArrayList<>();
      for (int row = 0; row < ROWS; row++) {
        puts.add(put(row, row));
      }
      table.put(puts);
      ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
      try {
        List<Future<?>> tasks = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          long seed = i;
          tasks.add(clients.submit(() -> {
            run(table, new Random(seed));
            return null;
          }));
        }
        for (int i = 0; i < 5; i++) {
          util.flush(NAME);
          util.compact(NAME, i % 2 == 0);
        }
        for (Future<?> task : tasks) {
          task.get(5, TimeUnit.MINUTES);
        }
      } finally {
        clients.shutdownNow();
        assertTrue(clients.awaitTermination(1, TimeUnit.MINUTES));
      }
    }
    for (HRegion region : util.getHBaseCluster().getRegions(NAME)) {
      util.waitFor(SharedCluster.TIMEOUT_MILLIS, () -> region.scannerReadPoints.isEmpty());
      for (HStore store : region.getStores()) {
        for (HStoreFile file : store.getStorefiles()) {
          util.waitFor(SharedCluster.TIMEOUT_MILLIS, () -> file.getRefCount() == 0);
        }
      }
    }
  }

  private static void run(Table table, Random random) throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      int row = random.nextInt(ROWS);
      table.put(put(row, row + (long) ROWS * random.nextInt(1000)));
      check(table.get(new Get(row(row))), row);
      assertTrue(table.exists(new Get(row(row)).addColumn(FAMILIES[1], COLUMN)));
      assertTrue(table.get(new Get(Bytes.toBytes(row + "none"))).isEmpty());
      int first = random.nextInt(ROWS - BATCH);
      List<Get> gets = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        gets.add(new Get(row(first + i)));
      }
      Result[] results = table.get(gets);
      for (int i = 0; i < BATCH; i++) {
        check(results[i], first + i);
      }
      boolean[] exist = table.exists(Arrays.asList(new Get(row(row)), new Get(Bytes.toBytes("x"))));
      assertTrue(exist[0] && !exist[1]);
    }
  }
}
