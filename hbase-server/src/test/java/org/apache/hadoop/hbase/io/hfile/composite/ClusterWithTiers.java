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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.master.procedure.ServerCrashProcedure;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.zookeeper.ZKUtil;
import org.apache.hadoop.hbase.zookeeper.ZNodePaths;

/**
 * A cluster of one RegionServer whose block cache has two tiers, 32 MB over a file of 64 MB unless
 * a test says otherwise before it starts it, and a table of numbered rows of which each knows its
 * value.
 */
public final class ClusterWithTiers {
  private static final byte[] FAMILY = Bytes.toBytes("f");
  /** A family beside it, with blocks of HBase's default size. */
  private static final byte[] DEFAULT_FAMILY = Bytes.toBytes("g");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");

  private static final int GET_BATCH = 100;
  private static final long LONG_ENOUGH_MS = 300_000;

  private final HBaseTestingUtility util;
  private final TableName table;
  private final String folder;

  public ClusterWithTiers(String table) throws Exception {
    this(new HBaseTestingUtility(), table);
    util.getTestFileSystem().mkdirs(new Path(folder));
    Configuration conf = util.getConfiguration();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "64");
  }

  /** Uses a table of a cluster that runs already. */
  ClusterWithTiers(HBaseTestingUtility running, String table) {
    this.util = running;
    this.table = TableName.valueOf(table);
    this.folder = util.getDataTestDir().toString();
  }

  public HBaseTestingUtility util() {
    return util;
  }

  public Configuration conf() {
    return util.getConfiguration();
  }

  public TableName table() {
    return table;
  }

  /** Returns an existing local folder, for L2. */
  public String folder() {
    return folder;
  }

  public void start() throws Exception {
    util.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(1).build());
  }

  public void stop() throws Exception {
    util.shutdownMiniCluster();
  }

  public Table createTable() throws Exception {
    return createTable(table);
  }

  /** Creates one more table. */
  public Table createTable(TableName name) throws Exception {
    return util.createTable(
      TableDescriptorBuilder.newBuilder(name).setColumnFamily(family(FAMILY, 4096)).build(),
      null);
  }

  public static byte[] row(int i) {
    return Bytes.toBytes(String.format("%06d", i));
  }

  private static byte[] value(int i) {
    byte[] value = new byte[400];
    new Random(i).nextBytes(value);
    return value;
  }

  /**
   * Creates the table with two families, of small blocks and of HBase's default size, and with a
   * region for each of these start rows and one before them.
   */
  public Table createTableOfTwoFamilies(int... startRows) throws Exception {
    byte[][] splits = new byte[startRows.length][];
    for (int i = 0; i < splits.length; i++) {
      splits[i] = row(startRows[i]);
    }
    return util.createTable(TableDescriptorBuilder.newBuilder(table)
      .setColumnFamily(family(FAMILY, 4096))
      .setColumnFamily(family(DEFAULT_FAMILY, HConstants.DEFAULT_BLOCKSIZE)).build(), splits);
  }

  private static ColumnFamilyDescriptor family(byte[] name, int blockSize) {
    return ColumnFamilyDescriptorBuilder.newBuilder(name).setBloomFilterType(BloomType.ROW)
      .setBlocksize(blockSize).build();
  }

  /** Puts these rows, and flushes them. */
  public void load(Table to, int from, int end) throws Exception {
    boolean both = to.getDescriptor().hasColumnFamily(DEFAULT_FAMILY);
    List<Put> puts = new ArrayList<>();
    for (int i = from; i < end; i++) {
      Put put = new Put(row(i)).addColumn(FAMILY, QUALIFIER, value(i));
      puts.add(both ? put.addColumn(DEFAULT_FAMILY, QUALIFIER, value(i)) : put);
    }
    to.put(puts);
    // This flushes on any server, also on one in its own process.
    util.getAdmin().flush(to.getName());
  }

  /** Gets a row, which has to be what was loaded. */
  public static void get(Table from, int i) throws Exception {
    assertRow(i, from.get(new Get(row(i))));
  }

  /** Gets rows in one batch; each has to be what was loaded. */
  public static void getBatch(Table from, int... rows) throws Exception {
    List<Get> gets = new ArrayList<>();
    for (int row : rows) {
      gets.add(new Get(row(row)));
    }
    Result[] results = from.get(gets);
    for (int i = 0; i < rows.length; i++) {
      assertRow(rows[i], results[i]);
    }
  }

  public static void assertRow(int i, Result result) {
    assertArrayEquals("row " + i, value(i), result.getValue(FAMILY, QUALIFIER));
    byte[] other = result.getValue(DEFAULT_FAMILY, QUALIFIER);
    if (other != null) {
      assertArrayEquals("row " + i, value(i), other);
    }
    assertEquals(other == null ? 1 : 2, result.size());
  }

  /** Scans all rows, which have to be those that were loaded. */
  public static void scan(Table from, int rows) throws Exception {
    int count = 0;
    try (ResultScanner scanner = from.getScanner(new Scan().setCacheBlocks(true))) {
      for (Result result : scanner) {
        assertRow(count, result);
        count++;
      }
    }
    assertEquals(rows, count);
  }

  /** Reads every row by get and by scan. */
  public static void readAll(Table from, int rows) throws Exception {
    for (int i = 0; i < rows; i += GET_BATCH) {
      getBatch(from, IntStream.range(i, Math.min(i + GET_BATCH, rows)).toArray());
    }
    scan(from, rows);
  }

  public HRegionServer server() {
    return util.getMiniHBaseCluster().getRegionServer(0);
  }

  public static CompositeBucketCache cacheOf(HRegionServer server) {
    return (CompositeBucketCache) server.getBlockCache().get();
  }

  public static BucketCacheTier first(HRegionServer server) {
    return (BucketCacheTier) cacheOf(server).getFirstLevelCache();
  }

  public static BucketCacheTier second(HRegionServer server) {
    return (BucketCacheTier) cacheOf(server).getSecondLevelCache();
  }

  /** Returns the names of the table's files that a server has open. */
  public Set<String> files(HRegionServer server) {
    Set<String> files = new TreeSet<>();
    server.getRegions(table).forEach(region -> region.getStores().forEach(store -> store
      .getStorefiles().forEach(file -> files.add(file.getPath().getName()))));
    return files;
  }

  /** Moves the regions of a table to a server, be it one that the master is to hear of. */
  public void move(TableName of, ServerName to) throws Exception {
    for (RegionInfo region : util.getAdmin().getRegions(of)) {
      move(region, to);
    }
    util.waitUntilNoRegionsInTransition(LONG_ENOUGH_MS);
  }

  private void move(RegionInfo region, ServerName to) throws Exception {
    HMaster master = util.getMiniHBaseCluster().getMaster();
    util.waitFor(LONG_ENOUGH_MS, 20, () -> {
      if (
        to.equals(master.getAssignmentManager().getRegionStates().getRegionServerOfRegion(region))
      ) {
        return true;
      }
      try {
        util.getAdmin().move(region.getEncodedNameAsBytes(), to);
      } catch (IOException e) {
        // The server is not known yet, or the region in transition still.
      }
      return false;
    });
  }

  /** Tells ZooKeeper that a server is dead, which was killed: its session would live on. */
  public void bury(ServerName dead) throws Exception {
    ZKUtil.deleteNodeFailSilent(util.getZooKeeperWatcher(), ZNodePaths
      .joinZNode(util.getZooKeeperWatcher().getZNodePaths().rsZNode, dead.toString()));
  }

  /** Buries a server that was killed, and waits until its regions are online elsewhere. */
  public void buryAndReassign(ServerName dead) throws Exception {
    HMaster master = util.getMiniHBaseCluster().getMaster();
    bury(dead);
    util.waitFor(LONG_ENOUGH_MS, 20, () -> !master.getServerManager().isServerOnline(dead)
      && !master.getServerManager().areDeadServersInProgress() && master.getProcedures().stream()
        .noneMatch(p -> p instanceof ServerCrashProcedure && !p.isFinished()));
    util.waitUntilNoRegionsInTransition(LONG_ENOUGH_MS);
  }

  /** Returns the names of the files of the first region of a table. */
  public Set<String> filesInHdfs(TableName of) throws Exception {
    RegionInfo region = util.getAdmin().getRegions(of).get(0);
    Path directory = CommonFSUtils.getRegionDir(util.getDefaultRootDirPath(), of,
      region.getEncodedName());
    Path family = new Path(directory, "f");
    Set<String> files = new TreeSet<>();
    for (FileStatus file : util.getTestFileSystem().listStatus(family)) {
      files.add(file.getPath().getName());
    }
    assertFalse(files.isEmpty());
    return files;
  }
}
