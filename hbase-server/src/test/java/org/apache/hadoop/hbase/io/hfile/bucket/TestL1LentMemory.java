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
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.isWritten;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier.LentMemory;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** L1 lends what data blocks have, and has meta blocks keep or get back what they need. */
@Category({ IOTests.class, MediumTests.class })
public class TestL1LentMemory {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestL1LentMemory.class);

  private static final BlockType META = BlockType.LEAF_INDEX;
  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int SIZE = 4000;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final Deque<LentMemory> units = new ArrayDeque<>();
  private CompositeBucketCache cache;
  private L1BucketCache first;
  private LendingTier tier;

  @Before
  public void setUp() {
    Configuration conf = CachedBlockFixture.tiers(4, 32, "offheap");
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    conf.set("hbase.blockcache.minblocksize", "4096");
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (L1BucketCache) cache.getFirstLevelCache();
    tier = cache.lendingTier();
    tier.setBorrower(0.5, this::giveBack);
  }

  @After
  public void tearDown() {
    cache.evictBlocksByHfileName(FILE);
    cache.shutdown();
    assertTrue(units.isEmpty());
    assertEquals(0, tier.getLent());
    assertEquals(0, tier.lend(1).size());
  }

  private void giveBack(int count) {
    for (int i = 0; i < count && !units.isEmpty(); i++) {
      LentMemory unit = units.remove();
      for (ByteBuffer page : unit.pages()) {
        assertIs(page, (byte) unit.offsets()[0]);
      }
      tier.takeBack(unit);
    }
  }

  private static void assertIs(ByteBuffer page, byte value) {
    for (int i = 0; i < page.capacity(); i++) {
      assertEquals(value, page.get(i));
    }
  }

  /** Borrows, and writes to all memory that was lent. */
  private int borrow(int count) {
    int before = units.size();
    for (LentMemory unit : tier.lend(count)) {
      for (ByteBuffer page : unit.pages()) {
        for (int i = 0; i < page.capacity(); i++) {
          page.put(i, (byte) unit.offsets()[0]);
        }
      }
      units.add(unit);
    }
    return units.size() - before;
  }

  private void put(BlockCacheKey key) {
    cache(cache, key, block(key.getBlockType(), key.getOffset(), SIZE));
    await(() -> isWritten(cache, key));
  }

  private void assertContent(BlockCacheKey key) {
    Cacheable block = cache.getBlock(key, true, false, true);
    assertArrayEquals(content(block(key.getBlockType(), key.getOffset(), SIZE)), content(block));
    block.release();
  }

  private void fillWithData(int count) {
    for (int i = 0; i < count; i++) {
      put(key(FILE, i, BlockType.DATA));
      assertContent(key(FILE, i, BlockType.DATA));
    }
  }

  private long maxUnits() {
    return tier.getMaxLent() / tier.getUnitSize();
  }

  @Test
  public void testLendsUpToTheShareFromEmptyAndFromFull() {
    for (int data : new int[] { 0, 1500 }) {
      fillWithData(data);
      assertEquals(1, borrow(1));
      assertEquals(maxUnits() - 1, borrow(Integer.MAX_VALUE));
      assertEquals(tier.getMaxLent(), tier.getLent());
      assertEquals(0, borrow(1));
      assertTrue(tier.getMaxLent() > 0.45 * tier.getSize());
      Set<Long> offsets = new HashSet<>();
      units.forEach(unit -> {
        for (long offset : unit.offsets()) {
          assertTrue(offsets.add(offset));
        }
      });
      for (int i = 0; i < data; i++) {
        assertContent(key(FILE, i, BlockType.DATA));
      }
      assertTrue(first.dataSpace().policy().getUsedBytes() <= tier.getSize() - tier.getLent());
      // Data is promoted into the rest, and nothing that is lent is overwritten.
      assertTrue(data == 0 || first.getDataBlockCount() > 100);
      giveBack(Integer.MAX_VALUE);
    }
    long before = first.getDataBlockCount();
    for (int i = 0; i < 1500; i++) {
      assertContent(key(FILE, i, BlockType.DATA));
    }
    assertTrue("what was lent is used", first.getDataBlockCount() > before * 1.5);
  }

  /** Meta blocks take all of L1, without one of them spilled while anything is lent. */
  @Test
  public void testMetaBlocksGetBackWhatTheyNeed() {
    fillWithData(1000);
    borrow(Integer.MAX_VALUE);
    int meta = 0;
    while (tier.getLent() > 0) {
      put(key(FILE, 1_000_000 + meta++, META));
      assertEquals(0, first.getSpilledCount());
    }
    assertTrue(meta + " meta blocks", meta * 5120L > 0.8 * tier.getSize());
    for (int i = 0; i < meta; i++) {
      assertTrue(first.containsBlock(key(FILE, 1_000_000 + i, META)));
    }
    assertEquals(0, borrow(1));
  }

  @Test
  public void testWithoutDataInL1NothingIsLent() {
    borrow(3);
    first.setPromotedShare(0);
    assertEquals("a share of 0 takes it back", 0, tier.getLent());
    assertEquals(0, borrow(1));
    Configuration conf = CachedBlockFixture.tiers(4, 32, "offheap");
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    conf.set("hbase.bucketcache.composite.promotion", "none");
    CompositeBucketCache none = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    assertNull(none.lendingTier());
    none.shutdown();
  }

  /** Blocks that are being read keep their buckets. */
  @Test
  public void testBlocksInUseAreNotOverwritten() {
    fillWithData(1000);
    Cacheable[] read = new Cacheable[50];
    for (int i = 0; i < read.length; i++) {
      read[i] = cache.getBlock(key(FILE, 20 * i, BlockType.DATA), true, false, true);
    }
    borrow(Integer.MAX_VALUE);
    for (int i = 0; i < read.length; i++) {
      assertArrayEquals(content(block(BlockType.DATA, 20 * i, SIZE)), content(read[i]));
      read[i].release();
    }
    borrow(Integer.MAX_VALUE);
    assertEquals(maxUnits(), units.size());
  }
}
