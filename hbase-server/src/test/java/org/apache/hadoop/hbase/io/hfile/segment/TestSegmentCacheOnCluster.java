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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.RandomAccessFile;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers;
import org.apache.hadoop.hbase.regionserver.CompactedHFilesDischarger;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** RegionServers with a segment cache as L2, over real HDFS. */
@Category({ IOTests.class, LargeTests.class })
public class TestSegmentCacheOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentCacheOnCluster.class);

  private static final int ROWS = 2000;
  private static final int REGIONS = 3;
  /** One in each region for each of two families. */
  private static final int FILES_OF_A_FLUSH = 2 * REGIONS;

  private ClusterWithTiers cluster;
  private File segments;

  @Before
  public void setUp() throws Exception {
    cluster = new ClusterWithTiers("segments");
    segments = new File(cluster.folder(), "segments");
    useSegments(cluster.conf(), segments);
    cluster.start();
  }

  /** Configures segments so small that there are several. */
  static void useSegments(Configuration conf, File file) {
    conf.set("hbase.bucketcache.composite.promotion", "none");
    conf.set("hbase.bucketcache.l2.size", "65");
    conf.set("hbase.bucketcache.l2.ioengine", SegmentCacheSettings.ENGINE + file);
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    // Not to be lost though the server is told to.
    conf.setBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, true);
  }

  @After
  public void tearDown() throws Exception {
    cluster.stop();
  }

  private static SegmentCache cacheOf(HRegionServer server) {
    return (SegmentCache) ClusterWithTiers.cacheOf(server).getSecondLevelCache();
  }

  private static int blocksOf(HRegionServer server, Set<String> files) {
    int[] blocks = new int[1];
    files.forEach(file -> cacheOf(server).forEachBlockOf(file, key -> blocks[0]++));
    return blocks[0];
  }

  @Test
  public void testServesThroughFlushCompactionFlippedBitsAndRestart() throws Exception {
    HBaseTestingUtility util = cluster.util();
    HRegionServer server = cluster.server();
    try (Table table = cluster.createTableOfTwoFamilies(ROWS / 3, ROWS - 1)) {
      // The last region has one row, so that a flush of the others makes no file there.
      cluster.load(table, 0, ROWS - 1);
      cluster.load(table, 0, ROWS);
      ClusterWithTiers.readAll(table, ROWS);
      Set<String> flushed = cluster.files(server);
      assertEquals(2 * FILES_OF_A_FLUSH - 2, flushed.size());
      int blocks = blocksOf(server, flushed);
      assertTrue("only " + blocks, blocks >= ROWS / 10);
      long misses = cacheOf(server).getStats().getMissCount();
      long hits = cacheOf(server).getStats().getHitCount();
      ClusterWithTiers.readAll(table, ROWS);
      assertEquals("all of it is cached", misses, cacheOf(server).getStats().getMissCount());
      assertTrue(cacheOf(server).getStats().getHitCount() - hits >= ROWS);

      util.compact(cluster.table(), true);
      new CompactedHFilesDischarger(100, server, server, false).chore();
      util.waitFor(60_000, () -> blocksOf(server, flushed) == 0);
      ClusterWithTiers.readAll(table, ROWS);
      Set<String> compacted = cluster.files(server);
      assertEquals(FILES_OF_A_FLUSH, compacted.size());
      int kept = blocksOf(server, compacted);
      assertTrue("only " + kept, kept >= ROWS / 10);

      MiniHBaseCluster servers = util.getMiniHBaseCluster();
      ServerName name = server.getServerName();
      servers.stopRegionServer(name);
      servers.waitForRegionServerToStop(name, 60_000);
      HRegionServer second = servers.startRegionServerAndWait(60_000).getRegionServer();
      util.waitFor(60_000, () -> second.getRegions(cluster.table()).size() == REGIONS);
      assertTrue(cacheOf(second).isRestored());
      assertEquals(kept, blocksOf(second, compacted));
      flipBits();
      ClusterWithTiers.readAll(table, ROWS);
      assertTrue("no bit was flipped where a block is",
        cacheOf(second).metrics().badEntries.sum() > 0);
      ClusterWithTiers.readAll(table, ROWS);
    }
  }

  /** Flips bits in all segments, from the first entry of each on. */
  private void flipBits() throws Exception {
    try (RandomAccessFile file = new RandomAccessFile(segments, "rw")) {
      for (long at = Superblock.HEADER_SIZE + 1000; at < file.length(); at += 50_000) {
        file.seek(at);
        int was = file.read();
        file.seek(at);
        file.write(was ^ 1);
      }
    }
  }
}
