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
package org.apache.hadoop.hbase.regionserver.read.cache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A row cache with many small rows: what a row takes, and how many zipfian gets it answers. The
 * number of rows is <code>rowcache.rows</code>; 100,000,000 take 13 GB off the heap and 3 GB on it.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestRowCacheSize {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowCacheSize.class);

  private static final Logger LOG = LoggerFactory.getLogger(TestRowCacheSize.class);

  private static final int ROWS = Integer.getInteger("rowcache.rows", 300_000);
  /** Enough for all rows. */
  private static final int BYTES_PER_ROW = 128;
  private static final int MAX_INDEX_BYTES = 44;
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");

  private final List<Cell> found = new ArrayList<>();

  private static Get get(int row) {
    return new Get(Bytes.toBytes(row)).addFamily(FAMILY);
  }

  private static List<Cell> cells(int row) {
    return Collections.singletonList(
      new KeyValue(Bytes.toBytes(row), FAMILY, QUALIFIER, 1, Bytes.toBytes((long) row)));
  }

  private boolean isHit(RowCache cache, CachedRegion region, int row) {
    found.clear();
    if (!cache.get(region, get(row), 1, true, found)) {
      return false;
    }
    assertEquals(row, Bytes.toLong(found.get(0).getValueArray(), found.get(0).getValueOffset()));
    return true;
  }

  private static void put(RowCache cache, CachedRegion region, int row) {
    cache.put(region, get(row), 1, () -> 0, 0, Long.MAX_VALUE, 1, true, cells(row));
  }

  @Test
  public void testIndexOfARowIsSmall() {
    RowCache cache = new RowCache((long) ROWS * BYTES_PER_ROW, 1000);
    CachedRegion region = cache.open(0);
    for (int row = 0; row < ROWS; row++) {
      // The first time it is only counted.
      put(cache, region, row);
      put(cache, region, row);
    }
    int hits = 0;
    for (int row = 0; row < ROWS; row++) {
      hits += isHit(cache, region, row) ? 1 : 0;
    }
    long index = 0;
    for (RowStripe stripe : cache.stripes()) {
      index += stripe.indexBytes();
    }
    long rows = cache.rows();
    LOG.info("{} of {} rows; {} bytes of index", rows, ROWS, index);
    // Rows that have no space beside others in RowVersions are not found.
    assertTrue(hits + " of " + rows, hits <= rows && hits > 0.98 * rows);
    assertTrue("rows: " + rows, rows > 0);
    assertTrue("bytes of index: " + index, index <= rows * (MAX_INDEX_BYTES - RowStripe.HEADER));
  }

  /** The chains of the index of a stripe would grow with the number of stripes otherwise. */
  @Test
  public void testAnyPlaceInTheIndexOfAStripeIsUsed() {
    SplittableRandom random = new SplittableRandom(2);
    int stripes = 128;
    int slots = 1 << 14;
    BitSet used = new BitSet();
    // Twenty hashes for each slot.
    for (int i = 0; i < 20 * stripes * slots; i++) {
      int hash = random.nextInt();
      if (RowCache.stripe(hash, stripes) == 3) {
        used.set(hash & slots - 1);
      }
    }
    assertEquals(slots, used.cardinality());
  }

  /** A row's probability is one by its rank; four times as many are read as have room. */
  @Test
  public void testZipfianGetsLeaveTheHottestRowsInTheCache() {
    RowCache cache = new RowCache((long) ROWS / 4 * BYTES_PER_ROW, 1000);
    CachedRegion region = cache.open(0);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 4 * ROWS; i++) {
      int row = rowOf((int) Math.exp(random.nextDouble() * Math.log(ROWS)));
      if (!isHit(cache, region, row)) {
        put(cache, region, row);
      }
    }
    for (int rank = 1; rank <= 1000; rank++) {
      assertTrue("rank " + rank, isHit(cache, region, rowOf(rank)));
    }
  }

  /** Ranks are anywhere, not side by side. */
  private static int rowOf(int rank) {
    return rank * 0x9E3779B1;
  }
}
