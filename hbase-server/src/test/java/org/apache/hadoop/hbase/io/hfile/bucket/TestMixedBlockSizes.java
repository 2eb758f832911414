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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.cache;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.isWritten;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * A tier that blocks of one size have filled makes place for blocks of another size by emptying
 * buckets, not by evicting blocks until one is empty by chance.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestMixedBlockSizes {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMixedBlockSizes.class);

  private static final int[] SIZES = { 4000, 8000, 16000, 32000 };
  /** Buckets that so many blocks need, of which a bucket holds the fewest if they are largest. */
  private static final int BUCKETS = 3;
  private static final int BLOCKS = BUCKETS * BucketAllocator.FEWEST_ITEMS_IN_BUCKET;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private StressedTiers tiers;

  @Before
  public void setUp() {
    tiers = new StressedTiers(folder.getRoot(), 16, 32, "5120,9216,17408,33792");
    // With this factor no bucket stays free.
    tiers.conf.setFloat("hbase.bucketcache.acceptfactor", 1);
    tiers.open();
  }

  @After
  public void tearDown() {
    tiers.cache().evictBlocksByHfileName("old");
    for (int size : SIZES) {
      tiers.cache().evictBlocksByHfileName("new" + size);
    }
    tiers.assertEmpty();
    tiers.close();
  }

  private static void insert(BucketCacheTier tier, String file, BlockType type, int count,
    int size) {
    for (int i = 0; i < count; i++) {
      BlockCacheKey key = key(file, i, type);
      cache(tier, key, block(type, i, size));
      await(() -> isWritten(tier, key));
    }
  }

  private static void read(BucketCacheTier tier, BlockCacheKey key) {
    Cacheable block = tier.getBlock(key, true, false, true);
    if (block != null) {
      block.release();
    }
  }

  /** Fills a tier with blocks that are not read again, but for one in each bucket. */
  private static void fill(BucketCacheTier tier, BlockType type, int size) {
    Set<Integer> served = new HashSet<>();
    long blocks = 2 * tier.getAllocator().getTotalSize() / size;
    for (int i = 0; i < blocks; i++) {
      BlockCacheKey key = key("old", i, type);
      cache(tier, key, block(type, i, size));
      await(() -> isWritten(tier, key));
      BucketEntry entry = tier.backingMap.get(key);
      if (entry != null && served.add(tier.getAllocator().getBucketIndex(entry.offset()))) {
        read(tier, key);
      }
    }
  }

  private static void assertOtherSizesTakeBuckets(BucketCacheTier tier, BlockType type) {
    fill(tier, type, SIZES[0]);
    for (int size = 1; size < SIZES.length; size++) {
      long runs = tier.getStats().getEvictionCount();
      insert(tier, "new" + SIZES[size], type, BLOCKS, SIZES[size]);
      // A run empties two buckets at least.
      assertTrue(tier.getStats().getEvictionCount() - runs <= BUCKETS);
    }
  }

  @Test
  public void testSecondTier() {
    assertOtherSizesTakeBuckets(tiers.second(), BlockType.DATA);
  }

  @Test
  public void testMetaBlocksOfTheFirstTier() {
    assertOtherSizesTakeBuckets(tiers.first(), BlockType.LEAF_INDEX);
  }

  @Test
  public void testManySizesByTurns() {
    BucketCacheTier tier = tiers.second();
    long total = tier.getAllocator().getTotalSize();
    long inserted = 0;
    for (int i = 0; inserted < 3 * total; i++) {
      int size = SIZES[i % SIZES.length];
      BlockCacheKey key = key("new" + size, i, BlockType.DATA);
      cache(tier, key, block(BlockType.DATA, i, size));
      await(() -> isWritten(tier, key));
      if (i % 20 == 0) {
        read(tier, key);
      }
      inserted += size;
      // Once full, it stays so.
      assertTrue(inserted < total || tier.getAllocator().getUsedSize() > total / 2);
    }
  }
}
