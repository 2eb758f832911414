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

import static org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers.cacheOf;
import static org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers.first;
import static org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers.readAll;
import static org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers.second;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ClientSideRegionScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.MetricsRegionServerWrapper;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.JVMClusterUtil;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** RegionServers on two tiers, without any on-heap block cache, over real HDFS. */
@Category({ IOTests.class, LargeTests.class })
public class TestCompositeBucketCacheOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCacheOnCluster.class);

  private static final int ROWS = 2000;

  private ClusterWithTiers cluster;
  private HBaseTestingUtility util;
  private TableName tiers;

  @Before
  public void setUp() throws Exception {
    cluster = new ClusterWithTiers("tiers");
    util = cluster.util();
    tiers = cluster.table();
    Configuration conf = cluster.conf();
    conf.set("hbase.bucketcache.composite.promotion", "none");
    useFiles(conf, "one");
    conf.setBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, true);
    // Chunks are so small that every file has leaf index blocks and bloom chunks.
    conf.setInt("hfile.index.block.max.size", 512);
    conf.setInt("io.storefile.bloom.block.size", 512);
    cluster.start();
  }

  private void useFiles(Configuration conf, String name) {
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + cluster.folder() + "/" + name);
    conf.set("hbase.bucketcache.l2.persistent.path", cluster.folder() + "/" + name + ".map");
  }

  @After
  public void tearDown() throws Exception {
    cluster.stop();
  }

  private static int blocksOf(BucketCacheTier tier, Set<String> files) {
    Set<String> blocks = new TreeSet<>();
    files.forEach(file -> tier.forEachBlockOf(file, key -> blocks.add(key.toString())));
    return blocks.size();
  }

  /** Checks that each tier holds of the table what belongs there. */
  private static void assertSorted(HRegionServer server, Set<String> files) {
    for (String file : files) {
      boolean[] seen = new boolean[2];
      first(server).forEachBlockOf(file, key -> {
        assertFalse(key + " " + key.getBlockType(), key.getBlockType().isData());
        seen[0] = true;
      });
      second(server).forEachBlockOf(file, key -> {
        assertTrue(key + " " + key.getBlockType(), key.getBlockType().isData());
        seen[1] = true;
      });
      assertTrue("meta of " + file, seen[0]);
      assertTrue("data of " + file, seen[1]);
    }
  }

  @Test
  public void testServesAndCountsAndSnapshotReaderTakesNoTier() throws Exception {
    HRegionServer server = cluster.server();
    try (Table table = cluster.createTable()) {
      cluster.load(table, 0, ROWS / 2);
      cluster.load(table, ROWS / 2, ROWS);
      readAll(table, ROWS);
      assertSorted(server, cluster.files(server));
      assertEquals(0, first(server).getDataBlockCount());
      assertSnapshotReaderTakesNoTier(table);
      long misses = cacheOf(server).getStats().getMissCount();
      long firstHits = first(server).getStats().getHitCount();
      long secondHits = second(server).getStats().getHitCount();
      readAll(table, ROWS);
      assertEquals("all of it is cached", misses, cacheOf(server).getStats().getMissCount());
      assertTrue(first(server).getStats().getHitCount() - firstHits >= ROWS);
      assertTrue(second(server).getStats().getHitCount() - secondHits >= ROWS);
      assertMetrics(server);
    }
  }

  private static void assertMetrics(HRegionServer server) {
    MetricsRegionServerWrapper metrics = server.getMetrics().getRegionServerWrapper();
    assertTrue(metrics.getL1CacheHitCount() > 0);
    assertTrue(metrics.getL2CacheHitCount() > 0);
    assertEquals(first(server).getBlockCount(), metrics.getL1CacheCount());
    assertEquals(second(server).getBlockCount(), metrics.getL2CacheCount());
    assertEquals(first(server).getCurrentSize(), metrics.getL1CacheSize());
    assertEquals(second(server).getFreeSize(), metrics.getL2CacheFreeSize());
    assertTrue(metrics.getBlockCacheCount() > 0);
  }

  /** A client that reads a region's files reads the server's configuration, but is no server. */
  private void assertSnapshotReaderTakesNoTier(Table table) throws Exception {
    Configuration conf = HBaseConfiguration.create(util.getConfiguration());
    conf.set("hbase.bucketcache.l2.size", "0");
    try (ClientSideRegionScanner scanner = new ClientSideRegionScanner(conf,
      util.getTestFileSystem(), util.getDefaultRootDirPath(), table.getDescriptor(),
      util.getMiniHBaseCluster().getRegions(tiers).get(0).getRegionInfo(), new Scan(), null)) {
      ClusterWithTiers.assertRow(0, scanner.next());
    }
  }

  @Test
  public void testSecondTierIsWarmAfterARestart() throws Exception {
    MiniHBaseCluster servers = util.getMiniHBaseCluster();
    HRegionServer before = cluster.server();
    // The regions have a third and two thirds of the rows, and a single one.
    try (Table table = cluster.createTableOfTwoFamilies(ROWS / 3, ROWS - 1)) {
      cluster.load(table, 0, ROWS);
      readAll(table, ROWS);
      Set<String> files = cluster.files(before);
      assertEquals(6, files.size());
      int kept = blocksOf(second(before), files);
      assertTrue(kept > 0);
      ServerName name = before.getServerName();
      servers.stopRegionServer(name);
      servers.waitForRegionServerToStop(name, 60_000);
      HRegionServer after = servers.startRegionServerAndWait(60_000).getRegionServer();
      util.waitFor(60_000, () -> after.getRegions(tiers).size() == 3);
      assertEquals("data is kept", kept, blocksOf(second(after), files));
      long hits = second(after).getStats().getDataHitCount();
      readAll(table, ROWS);
      assertEquals("nothing had to be read again", kept, blocksOf(second(after), files));
      assertTrue(second(after).getStats().getDataHitCount() - hits >= ROWS);
      assertSorted(after, files);
    }
  }

  @Test
  public void testBadSettingStopsTheStartOfARegionServer() throws Exception {
    Configuration conf = HBaseConfiguration.create(util.getConfiguration());
    conf.setInt(HConstants.REGIONSERVER_PORT, 0);
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, -1);
    conf.set("hbase.bucketcache.l2.size", "0");
    String message = assertThrows(IllegalArgumentException.class, () -> new HRegionServer(conf))
      .getMessage();
    assertTrue(message, message.startsWith("hbase.bucketcache.l2.size is 0; "));
    // A cluster in one process starts the server this way.
    conf.set("hbase.bucketcache.l2.size", "64");
    conf.set("hbase.bucketcache.l1.ioengine", "disk");
    Throwable failure = assertThrows(Exception.class,
      () -> JVMClusterUtil.createRegionServerThread(conf, HRegionServer.class, 1));
    while (failure.getCause() != null) {
      failure = failure.getCause();
    }
    assertTrue(failure.getMessage(),
      failure.getMessage().startsWith("hbase.bucketcache.l1.ioengine is disk; "));
  }
}
