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

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.cache.RegionRows;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The row cache of a server borrows memory of L1, and gives it back when the server stops. */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestRowCacheBorrowsOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowCacheBorrowsOnCluster.class);

  private static final int ROWS = 10_000;
  private static final int HOT = 5_000;

  private ClusterWithTiers cluster;

  @Before
  public void setUp() throws Exception {
    RegionRows.forgetCache();
    cluster = new ClusterWithTiers("borrowing");
    cluster.conf().setBoolean(PointGetSettings.ENABLED_KEY, true);
    cluster.conf().set("hbase.bucketcache.l2.ioengine", "file:" + cluster.folder() + "/l2");
    cluster.conf().setInt(RowCacheSettings.SIZE_KEY, 1);
    cluster.conf().setBoolean(RowCacheSettings.ALL_TABLES_KEY, true);
    cluster.conf().set(RowCacheSettings.L1_SHARE_KEY, "0.5");
    cluster.start();
  }

  @After
  public void tearDown() {
    RegionRows.forgetCache();
  }

  @Test
  public void testBorrowsUnderGetsUntilTheServerStops() throws Exception {
    Table table = cluster.createTable();
    cluster.load(table, 0, ROWS);
    LendingTier tier = ClusterWithTiers.cacheOf(cluster.server()).lendingTier();
    Random random = new Random(1);
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (tier.getLent() == 0 && System.nanoTime() < end) {
      ClusterWithTiers.getBatch(table, random.ints(100, 0, HOT).toArray());
    }
    assertTrue(tier.getLent() > 0);
    for (int i = 0; i < 200; i++) {
      ClusterWithTiers.getBatch(table, random.ints(100, 0, ROWS).toArray());
    }
    ClusterWithTiers.scan(table, ROWS);
    cluster.stop();
    assertEquals(0, tier.getLent());
  }
}
