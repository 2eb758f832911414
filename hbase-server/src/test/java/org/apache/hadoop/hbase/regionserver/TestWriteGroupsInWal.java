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

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.regionserver.write.GroupMetrics;
import org.apache.hadoop.hbase.regionserver.write.WriteGroupSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALStreamReader;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * What is in the WAL when DataNodes die, so that an AsyncFSWAL writes entries again to another
 * file. Each request is in a pooled buffer that a later request overwrites.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestWriteGroupsInWal {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroupsInWal.class);

  private static final int CLIENTS = 64;
  private static final int DATA_NODES = 4;
  private static final int DEATHS = 3;
  private static final int REPEATS = 40;
  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final TableName TABLE = TableName.valueOf("t");

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private volatile boolean ended;

  @Before
  public void setUp() throws Exception {
    Configuration conf = util.getConfiguration();
    conf.setBoolean(WriteGroupSettings.ENABLED_KEY, true);
    conf.set(WALFactory.WAL_PROVIDER, "asyncfs");
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    // Requests of any size are in pooled buffers.
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1);
    conf.setInt("dfs.replication", 2);
    // No node is too busy for a WAL, and a roll is tried again: the few nodes may all be left out.
    conf.setBoolean("dfs.namenode.redundancy.considerLoad", false);
    conf.setInt("hbase.regionserver.logroll.retries", 100);
    util.startMiniCluster(StartMiniClusterOption.builder().numDataNodes(DATA_NODES).build());
    util.createTable(TABLE, F, new byte[][] { Bytes.toBytes("2"), Bytes.toBytes("4") }).close();
  }

  @After
  public void tearDown() throws Exception {
    ended = true;
    clients.shutdownNow();
    util.shutdownMiniCluster();
  }

  private static byte[] value(String row) {
    StringBuilder value = new StringBuilder();
    for (int i = 0; i < REPEATS; i++) {
      value.append(row).append('.');
    }
    return Bytes.toBytes(value.toString());
  }

  private Void write(int client) throws IOException {
    Durability durability = client % 4 == 3 ? Durability.ASYNC_WAL : Durability.SYNC_WAL;
    try (Table t = util.getConnection().getTable(TABLE)) {
      for (int i = 0; !ended; i++) {
        String row = (i + client) % 6 + "-" + client + "-" + i;
        t.put(
          new Put(Bytes.toBytes(row)).addColumn(F, Q, value(row)).setDurability(durability));
        acknowledged.add(row);
      }
    }
    return null;
  }

  private void killDataNodes() throws Exception {
    for (int i = 0; i < DEATHS; i++) {
      awaitMore(1_000);
      DataNodeProperties dead = util.getDFSCluster().stopDataNode(0);
      awaitMore(1_000);
      util.getDFSCluster().restartDataNode(dead, true);
      util.getDFSCluster().waitActive();
    }
  }

  private void awaitMore(int rows) {
    int before = acknowledged.size();
    util.waitFor(120_000, 10, () -> acknowledged.size() >= before + rows);
  }

  private Set<String> readWals() throws IOException {
    FileSystem fs = util.getTestFileSystem();
    Path root = CommonFSUtils.getWALRootDir(util.getConfiguration());
    Set<String> rows = new HashSet<>();
    for (String folder : Arrays.asList(HConstants.HREGION_LOGDIR_NAME,
      HConstants.HREGION_OLDLOGDIR_NAME)) {
      RemoteIterator<LocatedFileStatus> files = fs.listFiles(new Path(root, folder), true);
      while (files.hasNext()) {
        readWal(fs, files.next().getPath(), rows);
      }
    }
    return rows;
  }

  private void readWal(FileSystem fs, Path file, Set<String> rows) throws IOException {
    try (WALStreamReader reader =
      WALFactory.createStreamReader(fs, file, util.getConfiguration())) {
      for (WAL.Entry entry; (entry = reader.next()) != null;) {
        for (Cell cell : entry.getEdit().getCells()) {
          if (
            entry.getKey().getTableName().equals(TABLE)
              && !CellUtil.matchingFamily(cell, WALEdit.METAFAMILY)
          ) {
            String row = Bytes.toString(CellUtil.cloneRow(cell));
            assertEquals(Bytes.toString(value(row)), Bytes.toString(CellUtil.cloneValue(cell)));
            rows.add(row);
          }
        }
      }
    } catch (EOFException e) {
      // The WAL went on in another file.
    }
  }

  @Test
  public void testEachEditIsThatOfItsRow() throws Exception {
    long groups = GroupMetrics.ofMutations().groups();
    long edits = GroupMetrics.ofMutations().edits();
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      running.add(clients.submit(() -> write(client)));
    }
    killDataNodes();
    ended = true;
    for (Future<?> client : running) {
      client.get();
    }
    util.getAdmin().rollWALWriter(util.getMiniHBaseCluster().getRegionServer(0).getServerName());
    Set<String> rows = readWals();
    Set<String> missing = new HashSet<>(acknowledged);
    missing.removeAll(rows);
    assertEquals("acknowledged, and not in the WAL", new HashSet<>(), missing);
    GroupMetrics now = GroupMetrics.ofMutations();
    assertTrue("no group has writes of several regions",
      now.edits() - edits > now.groups() - groups);
    try (Table t = util.getConnection().getTable(TABLE)) {
      assertEquals("rows of the table", acknowledged.size(), util.countRows(t));
    }
  }
}
