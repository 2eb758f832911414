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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.isWritten;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The split of L1's memory between rows and data blocks under gets with zipfian keys, scans of
 * blocks that fit into L1, and changes from one to the other: rows get more than half of what may
 * be borrowed under gets, and keep less than half under scans.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestMemoryShare {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMemoryShare.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final long NOW = 1_700_000_000_000L;
  private static final String TABLE = "0123456789abcdef0123456789abcdef";
  private static final String SCANNED = "fedcba9876543210fedcba9876543210";
  private static final String META = "00112233445566778899aabbccddeeff";
  private static final int BLOCK = 32 << 10;
  private static final int ROWS_PER_BLOCK = 32;
  private static final int TABLE_BLOCKS = 3000;
  private static final int ROWS = TABLE_BLOCKS * ROWS_PER_BLOCK;
  private static final int SCANNED_BLOCKS = 500;
  private static final int META_BLOCKS = 60;
  private static final double SHARE = 0.8;
  private static final byte[] VALUE = new byte[900];

  /** Calls of a second, between two ticks. */
  private static final int OPERATIONS = 20_000;
  private static final int MINUTE = 60;

  /** Operations of one second. */
  private interface Load {
    void run();
  }

  private CompositeBucketCache blocks;
  private LendingTier tier;
  private RowCache rows;
  private CachedRegion region;
  private Random random;
  private int scanned;
  private final double[] zipfian = new double[ROWS];
  private final List<Cell> results = new ArrayList<>();
  private final Load gets = () -> {
    for (int i = 0; i < OPERATIONS; i++) {
      get(zipfian());
    }
  };
  private final Load scansBesideGets = () -> {
    for (int i = 0; i < OPERATIONS; i++) {
      if (i % 4 == 0) {
        get(zipfian());
      } else {
        read(SCANNED, scanned++ % SCANNED_BLOCKS, BlockType.DATA);
      }
    }
  };

  @Before
  public void setUp() {
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
      sum += Math.pow(i + 1, -0.99);
      zipfian[i] = sum;
    }
    random = new Random(1);
    open(24);
  }

  private void open(int l1Mb) {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.setInt("hbase.bucketcache.l1.size", l1Mb);
    conf.setInt("hbase.bucketcache.l2.size", 160);
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216,17408,33792,66560,132096");
    conf.set("hbase.bucketcache.l2.ioengine", "offheap");
    blocks = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    fill(TABLE, TABLE_BLOCKS, BlockType.DATA);
    fill(SCANNED, SCANNED_BLOCKS, BlockType.DATA);
    fill(META, META_BLOCKS, BlockType.LEAF_INDEX);
    tier = blocks.lendingTier();
    rows = new RowCache(2 << 20, 16 << 10, (long) (SHARE * tier.getSize()));
    region = rows.open(0);
  }

  private void fill(String file, int count, BlockType type) {
    for (int i = 0; i < count; i++) {
      BlockCacheKey key = key(file, i, type);
      CachedBlockFixture.cache(blocks, key, block(type, i, BLOCK - 200));
      await(() -> isWritten(blocks, key));
    }
  }

  @After
  public void tearDown() {
    assertMetaIsInL1();
    blocks.shutdown();
    assertEquals("all is given back", 0, tier.getLent());
  }

  private int zipfian() {
    double wanted = random.nextDouble() * zipfian[ROWS - 1];
    int low = 0;
    int high = ROWS - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (zipfian[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void get(int rank) {
    Get get = new Get(Bytes.toBytes(rank)).addFamily(FAMILY);
    results.clear();
    if (rows.get(region, get, NOW, true, results)) {
      assertEquals(rank, Bytes.toInt(results.get(0).getRowArray(), results.get(0).getRowOffset()));
      return;
    }
    // Hot rows are anywhere in the table.
    read(TABLE, (int) ((rank * 48_271L & 0x7FFF_FFFF) % TABLE_BLOCKS), BlockType.DATA);
    results.add(new KeyValue(get.getRow(), FAMILY, FAMILY, NOW, VALUE));
    rows.put(region, get, 1, () -> 0, 0, Long.MAX_VALUE, NOW, true, results);
  }

  private void read(String file, int block, BlockType type) {
    Cacheable read = blocks.getBlock(key(file, block, type), true, false, true);
    read.release();
  }

  private void assertMetaIsInL1() {
    for (int i = 0; i < META_BLOCKS; i++) {
      assertTrue(blocks.getFirstLevelCache().isAlreadyCached(
        key(META, i, BlockType.LEAF_INDEX)).get());
    }
  }

  private void run(Load load, int seconds) {
    for (int i = 0; i < seconds; i++) {
      load.run();
      rows.tuneMemory();
    }
  }

  private void adaptive(String name, Load load) {
    for (int i = 0; i < 6; i++) {
      run(load, MINUTE / 6);
      System.out.printf("split %s: %d of %d bytes borrowed, ghost hits %d and %d%n", name,
        tier.getLent(), tier.getMaxLent(), rows.rowGhosts().getHits(),
        tier.getGhosts().getHits());
    }
    run(load, 10);
  }

  @Test
  public void testFollowsTheLoad() {
    rows.borrowFrom(tier, SHARE);
    for (int round = 0; round < 2; round++) {
      adaptive("gets", gets);
      assertTrue("rows get " + tier.getLent(), tier.getLent() > tier.getMaxLent() / 2);
      adaptive("scans", scansBesideGets);
      assertTrue("rows keep " + tier.getLent(), tier.getLent() < tier.getMaxLent() / 2);
      assertMetaIsInL1();
    }
  }
}
