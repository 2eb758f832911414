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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.regionserver.CompactedHFilesDischarger;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Both kinds of L2, segments and buckets, through flush, major compaction with hand-over, and the
 * move of a region from a server of the one kind to one of the other.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestTiersOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestTiersOnCluster.class);

  private static final int ROWS = 2000;
  private static final int REGIONS = 3;

  private HBaseTestingUtility util;
  private ClusterWithTiers cluster;

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
    cluster = new ClusterWithTiers(util, "tiers");
  }

  @After
  public void tearDown() throws Exception {
    util.deleteTable(cluster.table());
  }

  private void moveAll(HRegionServer to) throws Exception {
    for (RegionInfo region : util.getAdmin().getRegions(cluster.table())) {
      util.moveRegionAndWait(region, to.getServerName());
    }
  }

  private static Set<BlockCacheKey> blocks(CacheTier tier, Set<String> files) {
    Set<BlockCacheKey> blocks = new TreeSet<>((a, b) -> a.toString().compareTo(b.toString()));
    files.forEach(file -> tier.forEachBlockOf(file, blocks::add));
    return blocks;
  }

  /** Checks that every block that was read is in the tier where it belongs, or spilled to L2. */
  private void assertServesFromTiers(Table table, HRegionServer server) throws Exception {
    ClusterWithTiers.readAll(table, ROWS);
    CacheTier first = (CacheTier) ClusterWithTiers.cacheOf(server).getFirstLevelCache();
    CacheTier second = (CacheTier) ClusterWithTiers.cacheOf(server).getSecondLevelCache();
    Set<String> files = cluster.files(server);
    Set<BlockCacheKey> inSecond = blocks(second, files);
    assertTrue(inSecond.size() + " blocks", inSecond.size() >= ROWS / 10);
    for (BlockCacheKey block : blocks(first, files)) {
      assertTrue(block + " is a copy",
        !block.getBlockType().isData() || inSecond.contains(block));
    }
    ClusterWithTiers.readAll(table, ROWS);
    assertEquals("nothing is read again", inSecond, blocks(second, files));
  }

  private void serveOn(Table table, HRegionServer server) throws Exception {
    assertServesFromTiers(table, server);
    Set<String> flushed = cluster.files(server);
    util.compact(cluster.table(), true);
    new CompactedHFilesDischarger(100, server, server, false).chore();
    CacheTier second = (CacheTier) ClusterWithTiers.cacheOf(server).getSecondLevelCache();
    util.waitFor(SharedCluster.TIMEOUT_MILLIS, 20, () -> blocks(second, flushed).isEmpty());
    assertServesFromTiers(table, server);
  }

  @Test
  public void testServesFlushCompactionAndMove() throws Exception {
    try (Table table = cluster.createTableOfTwoFamilies(ROWS / 3, ROWS - 1)) {
      moveAll(SharedCluster.first());
      cluster.load(table, 0, ROWS / 2);
      cluster.load(table, ROWS / 2, ROWS);
      serveOn(table, SharedCluster.first());
      moveAll(SharedCluster.second());
      assertEquals(2 * REGIONS, cluster.files(SharedCluster.second()).size());
      cluster.load(table, 0, ROWS);
      serveOn(table, SharedCluster.second());
    }
  }
}
