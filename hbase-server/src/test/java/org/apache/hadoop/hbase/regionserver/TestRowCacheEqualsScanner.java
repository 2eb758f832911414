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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;
import static org.mockito.ArgumentMatchers.longThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.regionserver.read.PointGet;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.PreparedRow;
import org.apache.hadoop.hbase.regionserver.read.cache.RegionRows;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.ManualEnvironmentEdge;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Gets through the row cache return what a scanner returns, over random histories of a region: the
 * same gets again and again, after each change.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestRowCacheEqualsScanner {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowCacheEqualsScanner.class);

  private static final int GETS = Integer.getInteger("rowcache.gets", 15_000);
  private static final long SEED = Long.getLong("rowcache.seed", 1);
  private static final int CHANGES = 60;
  private static final int GETS_OF_HISTORY = 24;

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();

  private final ManualEnvironmentEdge clock = new ManualEnvironmentEdge();
  private long gets;

  @BeforeClass
  public static void setUpBeforeClass() {
    Configuration conf = UTIL.getConfiguration();
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    conf.setInt(RowCacheSettings.SIZE_KEY, 1);
    RegionRows.forgetCache();
  }

  @Before
  public void setUp() {
    EnvironmentEdgeManager.injectEdge(clock);
  }

  @After
  public void tearDown() {
    EnvironmentEdgeManager.reset();
  }

  @AfterClass
  public static void tearDownAfterClass() {
    RegionRows.forgetCache();
    UTIL.cleanupTestDir();
  }

  static long count(String metric) {
    return MetricRegistries.global().getMetricRegistries().stream()
      .filter(registry -> registry.getMetricRegistryInfo().getMetricsName().equals("RowCache"))
      .mapToLong(registry -> ((Counter) registry.get(metric).get()).getCount()).sum();
  }

  @Test
  public void testRandomHistories() throws IOException {
    long hits = count("HitCount");
    long stale = count("StaleCount");
    for (long seed = SEED; gets < GETS; seed++) {
      try (PointGetHistory history = new PointGetHistory(UTIL, seed, clock)) {
        run(history, seed);
      }
    }
    hits = count("HitCount") - hits;
    stale = count("StaleCount") - stale;
    System.out.println(gets + " gets, " + hits + " hits, " + stale + " stale");
    assertTrue("hits: " + hits, hits > 0);
    assertTrue("stale rows: " + stale, stale > gets / 100);
  }

  private void run(PointGetHistory history, long seed) throws IOException {
    HRegion region = history.region();
    List<String> changes = new ArrayList<>();
    List<Get> queries = new ArrayList<>();
    for (int i = 0; i < GETS_OF_HISTORY; i++) {
      Get get = TestPointGetEqualsScanner.get(history, region);
      if (i % 4 > 0) {
        // What the cache serves.
        Get latest = new Get(get.getRow());
        get.getFamilyMap().forEach((family, columns) -> {
          if (columns == null) {
            latest.addFamily(family);
          } else {
            columns.forEach(column -> latest.addColumn(family, column));
          }
        });
        get = latest;
      }
      if (get.getFamilyMap().isEmpty()) {
        for (byte[] family : PointGetHistory.FAMILIES) {
          get.addFamily(family);
        }
      }
      queries.add(get);
    }
    for (int i = 0; i < CHANGES; i++) {
      changes.add(history.change());
      TestPointGetEqualsScanner.awaitInMemoryCompaction(region);
      for (Get get : queries) {
        compare(region, get, "seed " + seed + " after " + changes);
      }
    }
  }

  private void compare(HRegion region, Get get, String message) throws IOException {
    List<Cell> expected = new ArrayList<>();
    List<String> texts;
    try (RegionScanner scanner = region.getScanner(new Scan(get))) {
      scanner.next(expected);
      texts = PointGetTexts.of(expected);
    }
    List<Cell> cells = new ArrayList<>();
    try (Closeable ignored =
      region.pointGets.read(get, cells, HConstants.NO_NONCE, HConstants.NO_NONCE)) {
      if (!texts.equals(PointGetTexts.of(cells))) {
        fail(message + ": " + get + " is " + PointGetTexts.of(cells) + " instead of " + texts);
      }
    }
    gets++;
  }

  /** A row of a region that has moved away may have been written elsewhere. */
  @Test
  public void testClosedRegionDoesNotServeItsRows() throws IOException {
    PointGetHistory history = new PointGetHistory(UTIL, 1, clock);
    HRegion region = history.region();
    Get get = new Get(PointGetHistory.row(1)).addFamily(PointGetHistory.FAMILIES[0]);
    for (int i = 0; i < 3; i++) {
      region.get(get);
    }
    long hits = count("HitCount");
    assertTrue(PointGet.tryCached(region, get, region.cachedRows, new ArrayList<>()));
    region.closing.set(true);
    assertFalse(PointGet.tryCached(region, get, region.cachedRows, new ArrayList<>()));
    assertThrows(NotServingRegionException.class, () -> region.get(get));
    region.closing.set(false);
    history.close();
    assertFalse(PointGet.tryCached(region, get, region.cachedRows, new ArrayList<>()));
    assertThrows(NotServingRegionException.class, () -> region.get(get));
    assertEquals(hits, count("HitCount"));
  }

  /** Quotas count the bytes of blocks, so a cached row has to count as well. */
  @Test
  public void testHitCountsItsBytes() throws IOException {
    RpcCall call = mock(RpcCall.class);
    when(call.disconnectSince()).thenReturn(-1L);
    try (PointGetHistory history = new PointGetHistory(UTIL, 3, clock)) {
      byte[] row = PointGetHistory.row(1);
      byte[] family = PointGetHistory.FAMILIES[0];
      HRegion region = history.region();
      region.put(new Put(row).addColumn(family, family, new byte[100]));
      Get get = new Get(row).addFamily(family);
      RpcServer.setCurrentCall(call);
      long hits = count("HitCount");
      for (int i = 0; i < 3; i++) {
        assertFalse(region.get(get).isEmpty());
      }
      assertEquals(hits + 1, count("HitCount"));
      verify(call).incrementBlockBytesScanned(longThat(bytes -> bytes > 100 && bytes < 300));
    } finally {
      RpcServer.setCurrentCall(null);
    }
  }

  @Test
  public void testLackOfMemoryLeavesRowsUncached() throws IOException {
    RegionRows.forgetCache();
    Configuration conf = UTIL.getConfiguration();
    conf.setInt(RowCacheSettings.SIZE_KEY, 1_000_000);
    try (PointGetHistory history = new PointGetHistory(UTIL, 2, clock)) {
      assertFalse(history.region().cachedRows.isEnabled());
      history.region().get(new Get(PointGetHistory.row(1)));
    } finally {
      conf.setInt(RowCacheSettings.SIZE_KEY, 1);
      RegionRows.forgetCache();
    }
  }

  @Test
  public void testRowsThatAreReadBeforeTheirCallsAreCached() throws IOException {
    try (PointGetHistory history = new PointGetHistory(UTIL, 4, clock)) {
      byte[] row = PointGetHistory.row(1);
      byte[] family = PointGetHistory.FAMILIES[0];
      HRegion region = history.region();
      region.put(new Put(row).addColumn(family, family, new byte[100]));
      Get get = new Get(row).addFamily(family);
      long hits = count("HitCount");
      long misses = count("MissCount");
      try (PreparedRow untaken = region.pointGets.prepare(get, null)) {
        assertNotNull(untaken);
      }
      assertEquals("not taken", misses, count("MissCount"));
      for (int i = 0; i < 3; i++) {
        List<Cell> cells = new ArrayList<>();
        try (PreparedRow prepared = region.pointGets.prepare(get, null)) {
          PreparedRow.offer(prepared);
          PreparedRow.take(region, cells).close();
        }
        assertEquals(1, cells.size());
      }
      assertEquals(misses + 2, count("MissCount"));
      assertEquals("the third time", hits + 1, count("HitCount"));
    }
  }

  @Test
  public void testReadRequestsAreCounted() throws IOException {
    try (PointGetHistory history = new PointGetHistory(UTIL, 0, clock)) {
      HRegion region = history.region();
      Get get = new Get(PointGetHistory.row(1)).addFamily(PointGetHistory.FAMILIES[0]);
      long hits = count("HitCount");
      long reads = region.getReadRequestsCount();
      for (int i = 0; i < 5; i++) {
        region.get(get);
      }
      assertEquals(reads + 5, region.getReadRequestsCount());
      assertEquals("from the third on", hits + 3, count("HitCount"));
      long bypassed = count("BypassedCount");
      region.get(new Get(get).readVersions(2));
      region.get(new Get(get).setCacheBlocks(false));
      region.get(new Get(get).setTimeRange(0, 5));
      assertEquals(bypassed + 3, count("BypassedCount"));
      assertEquals(hits + 3, count("HitCount"));
      region.cachedRows.clear();
      region.get(get);
      assertEquals(hits + 3, count("HitCount"));
    }
  }
}
