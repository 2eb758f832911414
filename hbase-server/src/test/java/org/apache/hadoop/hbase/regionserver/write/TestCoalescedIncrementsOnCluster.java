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
package org.apache.hadoop.hbase.regionserver.write;

import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.JVMClusterUtil.RegionServerThread;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TestName;

/**
 * Clients that increment a few rows as fast as they can while regions are flushed, split, and
 * moved. Every returned value has its place, and no increment is lost or applied twice.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestCoalescedIncrementsOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCoalescedIncrementsOnCluster.class);

  /** More than a server has handlers. */
  private static final int CLIENTS = 64;
  private static final int INCREMENTS = 47;
  private static final byte[] OTHER = Bytes.toBytes("other");

  @Rule
  public final TestName name = new TestName();

  private final List<CounterHistory> histories = new ArrayList<>();
  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
  private HBaseTestingUtility util;
  private TableName table;

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
    table = TableName.valueOf(name.getMethodName());
    util.createTable(table, CounterHistory.FAMILY).close();
    for (String row : new String[] { "a", "m", "z" }) {
      histories.add(new CounterHistory(Bytes.toBytes(row)));
    }
  }

  @After
  public void tearDown() throws Exception {
    clients.shutdownNow();
    util.deleteTable(table);
  }

  private Void increment(int client, Durability durability) throws IOException {
    Random random = new Random(client);
    try (Table t = util.getConnection().getTable(table)) {
      for (int i = 0; i < INCREMENTS; i++) {
        // One row is hotter than the others.
        CounterHistory history =
          histories.get(random.nextInt(4) > 0 ? 0 : random.nextInt(histories.size()));
        long amount = random.nextInt(2000) - 1000;
        long begun = System.nanoTime();
        history.add(amount, begun,
          t.increment(history.increment(amount).setDurability(durability)));
        if (i % 10 == 0) {
          t.put(new Put(history.row()).addColumn(CounterHistory.FAMILY, OTHER, OTHER));
          t.delete(new Delete(history.row()).addColumns(CounterHistory.FAMILY, OTHER));
        }
      }
    }
    return null;
  }

  private void flushSplitAndMove() throws Exception {
    Admin admin = util.getAdmin();
    admin.flush(table);
    moveAll();
    util.getAdmin().splitRegionAsync(admin.getRegions(table).get(0).getRegionName(),
      Bytes.toBytes("k")).get();
    admin.flush(table);
    moveAll();
  }

  private void moveAll() throws Exception {
    for (RegionInfo region : util.getAdmin().getRegions(table)) {
      ServerName from = util.getHBaseCluster().getServerHoldingRegion(table,
        region.getRegionName());
      for (RegionServerThread server : util.getHBaseCluster().getLiveRegionServerThreads()) {
        ServerName to = server.getRegionServer().getServerName();
        if (from != null && !to.equals(from)) {
          util.getAdmin().move(region.getEncodedNameAsBytes(), to);
          break;
        }
      }
    }
  }

  private void assertSumsAndOrder(Durability durability) throws Exception {
    List<Future<Void>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      running.add(clients.submit(() -> increment(client, durability)));
    }
    flushSplitAndMove();
    for (Future<Void> client : running) {
      client.get();
    }
    try (Table t = util.getConnection().getTable(table)) {
      for (CounterHistory history : histories) {
        history.assertSum(t.get(new Get(history.row())));
        history.assertLinear();
      }
    }
    assertTrue("no group was formed", GroupMetrics.ofIncrements().groups() > 0);
  }

  @Test
  public void testFlushesSplitsAndMoves() throws Exception {
    assertSumsAndOrder(Durability.SYNC_WAL);
  }

  @Test
  public void testFlushesSplitsAndMovesWithAsyncWal() throws Exception {
    assertSumsAndOrder(Durability.ASYNC_WAL);
  }
}
