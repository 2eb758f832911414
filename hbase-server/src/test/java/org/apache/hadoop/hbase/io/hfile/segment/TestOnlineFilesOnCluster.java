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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.io.hfile.composite.OrphanFiles;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.OnlineRegionFiles;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Proves which cached files the regions of a RegionServer read, also through references and links.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestOnlineFilesOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestOnlineFilesOnCluster.class);

  private static final int ROWS = 2000;

  private ClusterWithTiers cluster;
  private HBaseTestingUtility util;

  @Before
  public void setUp() throws Exception {
    cluster = new ClusterWithTiers("online");
    util = cluster.util();
    useSegments(cluster.conf(), new File(cluster.folder(), "segments"));
    // What a parent of a split had is read by its daughters.
    cluster.conf().setBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, false);
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

  private SegmentCache cache() {
    return (SegmentCache) ClusterWithTiers.cacheOf(cluster.server()).getSecondLevelCache();
  }

  private List<String> orphans() {
    OnlineFiles.Snapshot online =
      OnlineRegionFiles.of(cluster.server().getOnlineRegionsLocalContext());
    return cache().files().live().stream()
      .filter(file -> !online.isRead(file.name(), file.getRegion())).map(CachedFile::name)
      .collect(Collectors.toList());
  }

  @Test
  public void testFilesBehindReferencesAndLinksAreRead() throws Exception {
    TableName clone = TableName.valueOf("clone");
    util.getAdmin().compactionSwitch(false, util.getAdmin().getRegionServers().stream()
      .map(server -> server.getServerName()).collect(Collectors.toList()));
    try (Table table = cluster.createTable()) {
      cluster.load(table, 0, ROWS);
      ClusterWithTiers.readAll(table, ROWS);
      assertTrue(cache().files().getFileCount() > 0);
      assertEquals(0, orphans().size());
      util.getAdmin().snapshot("snapshot", cluster.table());
      util.getAdmin().cloneSnapshot("snapshot", clone);
      RegionInfo region = util.getAdmin().getRegions(cluster.table()).get(0);
      util.getAdmin().splitRegionAsync(region.getRegionName(), ClusterWithTiers.row(ROWS / 2))
        .get(1, TimeUnit.MINUTES);
      util.waitUntilNoRegionsInTransition(60_000);
      assertEquals(2, util.getAdmin().getRegions(cluster.table()).size());
      long blocks = cache().getBlockCount();
      ClusterWithTiers.readAll(table, ROWS);
      assertEquals("what the parent had cached", 0, orphans().size());
      assertTrue(cache().getBlockCount() >= blocks);
      util.deleteTable(cluster.table());
      try (Table linked = util.getConnection().getTable(clone)) {
        ClusterWithTiers.readAll(linked, ROWS);
      }
      List<String> left = orphans();
      // Only references of the daughters may be left.
      assertTrue(left.toString(), left.stream().allMatch(name -> name.contains(".")));
      assertTrue(cache().files().live().stream().anyMatch(file -> !left.contains(file.name())));
    }
  }

  /**
   * A server that is killed after a compaction leaves such a file. A flush has one until it
   * commits.
   */
  @Test
  public void testFileOfNoStoreIsDroppedByTheServer() throws Exception {
    HRegionServer server = cluster.server();
    try (Table table = cluster.createTable()) {
      cluster.load(table, 0, ROWS);
      ClusterWithTiers.readAll(table, ROWS);
      String region = util.getAdmin().getRegions(cluster.table()).get(0).getEncodedName();
      String name = "0123456789abcdef0123456789abcdef";
      BlockCacheKey key = new BlockCacheKey(
        new Path("/hbase/data/default/online/" + region + "/f/" + name), 0, true, BlockType.DATA);
      HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 0, 1000);
      cache().cacheBlock(key, block);
      block.release();
      assertEquals(Collections.singletonList(name), orphans());
      long files = cache().files().getFileCount();
      long now = System.nanoTime();
      cache().sweeper().dropOrphans(now);
      assertTrue("not before its time", cache().containsBlock(key));
      cache().sweeper().dropOrphans(now + OrphanFiles.COMMIT_NANOS);
      assertFalse(cache().containsBlock(key));
      assertEquals(files - 1, cache().files().getFileCount());
      assertEquals(1, cache().metrics().orphanFiles.sum());
      assertTrue(server.isOnline());
    }
  }
}
