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
package org.apache.hadoop.hbase.regionserver.rowcache;

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
  private static final int MAX_INDEX_BYTES = 40;
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
    cache.put(region, get(row), 1, Long.MAX_VALUE, 1, true, cells(row));
  }

  @Test
  public void testIndexOfARowIsSmall() {
    RowCache cache = new RowCache((long) ROWS * BYTES_PER_ROW, 1000);
    CachedRegion region = cache.open();
    long start = System.nanoTime();
    for (int row = 0; row < ROWS; row++) {
      // The first time it is only counted.
      put(cache, region, row);
      put(cache, region, row);
    }
    long inserted = System.nanoTime();
    int hits = 0;
    for (int row = 0; row < ROWS; row++) {
      hits += isHit(cache, region, row) ? 1 : 0;
    }
    long read = System.nanoTime();
    long index = 0;
    for (RowStripe stripe : cache.stripes()) {
      index += stripe.indexBytes();
    }
    double bytes = RowStripe.HEADER + (double) index / cache.rows();
    LOG.info("{} of {} rows; index and header of a row {} bytes; insertion {} ns, lookup {} ns",
      cache.rows(), ROWS, bytes, (inserted - start) / ROWS, (read - inserted) / ROWS);
    assertEquals("a row is either there or not", cache.rows(), hits);
    assertTrue("rows: " + hits, hits > 0.95 * ROWS);
    assertTrue("bytes: " + bytes, bytes <= MAX_INDEX_BYTES);
  }

  /** Else the chains of its index grow with the number of stripes. */
  @Test
  public void testAnyPlaceInTheIndexOfAStripeIsUsed() {
    SplittableRandom random = new SplittableRandom(2);
    int stripes = 128;
    int places = 1 << 20;
    BitSet used = new BitSet();
    for (int i = 0; i < 100 * places; i++) {
      int hash = random.nextInt();
      if (RowCache.stripe(hash, stripes) == 3) {
        used.set(hash & places - 1);
      }
    }
    double share = (double) used.cardinality() / places;
    assertEquals(1 - Math.exp(-100.0 / stripes), share, 0.01);
  }

  /** A row's probability is one by its rank. */
  @Test
  public void testZipfianGetsFindTheHotRows() {
    RowCache cache = new RowCache((long) ROWS / 4 * BYTES_PER_ROW, 1000);
    CachedRegion region = cache.open();
    SplittableRandom random = new SplittableRandom(1);
    int gets = 4 * ROWS;
    int hits = 0;
    for (int i = 0; i < gets; i++) {
      int rank = (int) Math.exp(random.nextDouble() * Math.log(ROWS));
      // Ranks are anywhere, not side by side.
      int row = rank * 0x9E3779B1;
      if (isHit(cache, region, row)) {
        hits += i > gets / 2 ? 1 : 0;
      } else {
        put(cache, region, row);
      }
    }
    double ratio = 2.0 * hits / gets;
    double best = Math.log(cache.rows()) / Math.log(ROWS);
    LOG.info("{} rows of {} answer {} of the gets; at best {}", cache.rows(), ROWS, ratio, best);
    assertTrue(ratio + " of " + best, ratio > 0.9 * best);
  }
}
