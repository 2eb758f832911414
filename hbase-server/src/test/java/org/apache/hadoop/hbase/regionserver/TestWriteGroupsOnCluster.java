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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.regionserver.write.GroupMetrics;
import org.apache.hadoop.hbase.regionserver.write.WriteGroupSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.JVMClusterUtil.RegionServerThread;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/**
 * Clients that put and read rows that all of them write, while regions are flushed, split and
 * moved, and a DataNode and a server die: the rows have to be linearizable, and have what was
 * written last in the end. There are more clients than the default 30 handlers.
 */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, LargeTests.class })
public class TestWriteGroupsOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroupsOnCluster.class);

  private static final int CLIENTS = 64;
  private static final int OPERATIONS = 120;
  private static final int DATA_NODES = 4;
  /** Rows of all clients, one in each region. */
  private static final int REGISTERS = 6;
  private static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  private static final byte[] Q = Bytes.toBytes("q");
  private static final TableName TABLE = TableName.valueOf("t");

  @Parameterized.Parameters(name = "{0}")
  public static String[] wals() {
    return new String[] { "asyncfs", "filesystem" };
  }

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
  private final AtomicInteger operations = new AtomicInteger();
  private final RegisterHistory[] registers = new RegisterHistory[REGISTERS];
  private final AtomicInteger failures = new AtomicInteger();
  private final String wal;
  /** A connection without retries, since a repeated write may take effect twice. */
  private Connection once;

  public TestWriteGroupsOnCluster(String wal) {
    this.wal = wal;
  }

  @Before
  public void setUp() throws Exception {
    Configuration conf = util.getConfiguration();
    conf.setBoolean(WriteGroupSettings.ENABLED_KEY, true);
    conf.set(WALFactory.WAL_PROVIDER, wal);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    conf.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 100);
    conf.setInt(HConstants.HBASE_CLIENT_PAUSE, 20);
    // No node is too busy for a WAL, and a roll is tried again: the few nodes may all be left out.
    conf.setBoolean("dfs.namenode.redundancy.considerLoad", false);
    conf.setInt("hbase.regionserver.logroll.retries", 100);
    util.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(2)
      .numDataNodes(DATA_NODES).build());
    util.createTable(TABLE, FAMILIES, Arrays.stream(new String[] { "10", "20", "30", "40", "50" })
      .map(Bytes::toBytes).toArray(byte[][]::new)).close();
    Arrays.setAll(registers, i -> new RegisterHistory());
    Configuration withoutRetries = new Configuration(conf);
    withoutRetries.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 0);
    once = ConnectionFactory.createConnection(withoutRetries);
  }

  @After
  public void tearDown() throws Exception {
    clients.shutdownNow();
    once.close();
    util.shutdownMiniCluster();
  }

  private static byte[] row(int client, int row) {
    return Bytes.toBytes(String.format("%02d-%d", client, row));
  }

  private Void operate(int client) throws IOException {
    Random random = new Random(client);
    for (int i = 0; i < OPERATIONS; i++) {
      int register = random.nextInt(REGISTERS);
      if (random.nextBoolean()) {
        write(register, client + "-" + i);
      } else {
        read(register);
      }
      operations.incrementAndGet();
    }
    return null;
  }

  private static byte[] key(int register) {
    return Bytes.toBytes(String.format("%02d-register", 5 + 10 * register));
  }

  private void write(int register, String value) throws IOException {
    long invoked = System.nanoTime();
    try (Table t = once.getTable(TABLE)) {
      t.put(new Put(key(register)).addColumn(FAMILIES[0], Q, Bytes.toBytes(value)));
      registers[register].wrote(value, invoked, System.nanoTime());
    } catch (IOException e) {
      failures.incrementAndGet();
      registers[register].wrote(value, invoked, RegisterHistory.UNKNOWN);
    }
  }

  /** Reads are repeated, so that clients wait for a region that is being moved. */
  private void read(int register) throws IOException {
    long invoked = System.nanoTime();
    try (Table t = util.getConnection().getTable(TABLE)) {
      String read =
        Bytes.toString(t.get(new Get(key(register))).getValue(FAMILIES[0], Q));
      registers[register].read(read, invoked, System.nanoTime());
    }
  }

  private void assertRegistersAreLinearizable() {
    for (RegisterHistory register : registers) {
      assertNull(register.contradiction());
      assertTrue("values " + register.size(), register.size() > CLIENTS * OPERATIONS / 40);
    }
    assertTrue(failures + " failed", failures.get() < CLIENTS * OPERATIONS / 3);
  }

  /** An action that runs beside the writes. */
  private interface Disturbance {
    void run() throws Exception;
  }

  private void during(Disturbance disturbance) throws Exception {
    long groups = GroupMetrics.ofMutations().groups();
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      running.add(clients.submit(() -> operate(client)));
    }
    disturbance.run();
    for (Future<?> client : running) {
      client.get();
    }
    for (int register = 0; register < REGISTERS; register++) {
      read(register);
    }
    assertRegistersAreLinearizable();
    assertTrue("no group was formed", GroupMetrics.ofMutations().groups() > groups);
  }

  private void moveAll() throws Exception {
    for (RegionInfo region : util.getAdmin().getRegions(TABLE)) {
      ServerName from =
        util.getHBaseCluster().getServerHoldingRegion(TABLE, region.getRegionName());
      for (RegionServerThread server : util.getHBaseCluster().getLiveRegionServerThreads()) {
        ServerName to = server.getRegionServer().getServerName();
        if (from != null && !to.equals(from)) {
          util.getAdmin().move(region.getEncodedNameAsBytes(), to);
          break;
        }
      }
    }
  }

  private void flushSplitAndMove() throws Exception {
    Admin admin = util.getAdmin();
    admin.flush(TABLE);
    moveAll();
    admin.splitRegionAsync(admin.getRegions(TABLE).get(0).getRegionName(), Bytes.toBytes("05"))
      .get();
    admin.flush(TABLE);
    moveAll();
  }

  /** Stops a DataNode that has a replica of a WAL, and waits until it is replaced there. */
  private void killDataNode() throws Exception {
    awaitOperations(CLIENTS * OPERATIONS / 8);
    RegionInfo region = util.getAdmin().getRegions(TABLE).get(1);
    WAL log = util.getRSForFirstRegionInTable(TABLE).getWAL(region);
    util.waitFor(300_000, 10, () -> !dataNodesOf(log).isEmpty());
    String node = dataNodesOf(log).iterator().next();
    assertNotNull(util.getDFSCluster().stopDataNode(node));
    util.waitFor(300_000, 10, () -> {
      Set<String> nodes = dataNodesOf(log);
      return !nodes.isEmpty() && !nodes.contains(node);
    });
  }

  /** Returns none while the WAL is rolled: it has the name of a file before HDFS has the file. */
  private Set<String> dataNodesOf(WAL log) throws IOException {
    Path file = AbstractFSWALProvider.getCurrentFileName(log);
    LocatedBlock last;
    try {
      last = util.getDFSCluster().getFileSystem().getClient()
        .getLocatedBlocks(file.toUri().getPath(), 0).getLastLocatedBlock();
    } catch (FileNotFoundException e) {
      return Collections.emptySet();
    }
    return last == null
      ? Collections.emptySet()
      : Arrays.stream(last.getLocations()).map(DatanodeInfo::getXferAddr)
        .collect(Collectors.toSet());
  }

  private void awaitOperations(int count) {
    util.waitFor(300_000, 10, () -> operations.get() >= count);
  }

  private void killOneHalfway() throws Exception {
    util.getHBaseCluster().startRegionServerAndWait(60_000);
    awaitOperations(CLIENTS * OPERATIONS / 2);
    ServerName holder = util.getHBaseCluster().getServerHoldingRegion(TABLE,
      util.getAdmin().getRegions(TABLE).get(0).getRegionName());
    if (holder != null) {
      util.getHBaseCluster().killRegionServer(holder);
    }
  }

  private void assertMutationOfABatchThatFailsFailsAlone() throws Exception {
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      running.add(clients.submit(() -> {
        try (Table t = util.getConnection().getTable(TABLE)) {
          for (int j = 0; j < 20; j++) {
            byte[] value = Bytes.toBytes(j);
            Object[] results = new Object[3];
            List<Row> batch = Arrays.asList(
              new Put(row(client, 0)).addColumn(FAMILIES[0], Q, value),
              new Put(row(client, 1)).addColumn(Bytes.toBytes("none"), Q, value),
              new Put(row(client, 2)).addColumn(FAMILIES[1], Q, value));
            assertThrows(IOException.class, () -> t.batch(batch, results));
            assertTrue(String.valueOf(results[0]), results[0] instanceof Result);
            assertTrue(String.valueOf(results[1]),
              results[1] instanceof NoSuchColumnFamilyException);
            assertTrue(String.valueOf(results[2]), results[2] instanceof Result);
            assertArrayEquals(value, t.get(new Get(row(client, 0))).getValue(FAMILIES[0], Q));
            assertArrayEquals(value,
              t.get(new Get(row(client, 2))).getValue(FAMILIES[1], Q));
          }
        }
        return null;
      }));
    }
    for (Future<?> client : running) {
      client.get();
    }
  }

  @Test
  public void testRowsAreLinearizable() throws Exception {
    assertMutationOfABatchThatFailsFailsAlone();
    during(() -> {
      killDataNode();
      flushSplitAndMove();
      killOneHalfway();
    });
  }
}
