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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.isWritten;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Proves which blocks that reads have missed reach L2, with a bucket cache on a file as L2. */
@Category({ IOTests.class, MediumTests.class })
public class TestCompositeBucketCacheAdmission {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCacheAdmission.class);

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final String FILLER = "fedcba9876543210fedcba9876543210";
  private static final String ADMISSION = "hbase.bucketcache.composite.l2.admission";
  private static final int SIZE = 4000;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private Configuration conf;
  private CompositeBucketCache cache;
  private BucketCacheTier second;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(4, 16, "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    conf.set(ADMISSION, "second-miss");
  }

  @After
  public void tearDown() {
    if (cache == null) {
      return;
    }
    CachedBlockFixture.close(cache);
  }

  private void open() {
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    second = (BucketCacheTier) cache.getSecondLevelCache();
  }

  private void insert(BlockCacheKey key, BlockType type, boolean inMemory, boolean waits) {
    HFileBlock block = block(type, key.getOffset(), SIZE);
    try {
      cache.cacheBlock(key, block, inMemory, waits);
    } finally {
      block.release();
    }
  }

  /** Inserts a block as a reader does that has missed it. */
  private void miss(BlockCacheKey key) {
    insert(key, BlockType.DATA, false, false);
  }

  private void awaitStored(BlockCacheKey key) {
    await(() -> isWritten(cache, key));
  }

  /** Inserts as prefetch does until there is no space to spare. */
  private long fill() {
    long offset = 0;
    while (second.hasSpareSpace()) {
      offset = prefetchSome(offset);
    }
    return offset;
  }

  private long prefetchSome(long from) {
    long offset = from;
    for (int i = 0; i < 20; i++) {
      insert(key(FILLER, offset += SIZE, BlockType.DATA), BlockType.DATA, false, true);
    }
    await(() -> second.heapSize() <= 0);
    return offset;
  }

  private long gauge(String name) {
    return CachedBlockFixture.tierMetric("L2" + name);
  }

  private void assertCounts(long admitted, long rejected) {
    assertEquals(admitted, gauge("AdmittedReadInsertCount"));
    assertEquals(rejected, gauge("RejectedReadInsertCount"));
  }

  @Test
  public void testWithoutSpaceToSpareAMissedBlockIsInsertedOnItsSecondMiss() {
    open();
    assertTrue(second.hasSpareSpace());
    BlockCacheKey spare = key(FILE, SIZE, BlockType.DATA);
    miss(spare);
    awaitStored(spare);
    assertCounts(1, 0);
    fill();
    BlockCacheKey key = key(FILE, 0, BlockType.DATA);
    miss(key);
    assertFalse(cache.isAlreadyCached(key).get());
    assertCounts(1, 1);
    miss(key);
    awaitStored(key);
    assertTrue(second.containsBlock(key));
    assertCounts(2, 1);
    // Once it is stored there is nothing to decide.
    miss(key);
    assertTrue(second.containsBlock(key));
    assertCounts(2, 1);
  }

  @Test
  public void testPrefetchCacheOnWriteMetaAndInMemoryAreNotFiltered() {
    open();
    fill();
    BlockCacheKey written = key(FILE, 0, BlockType.DATA);
    insert(written, BlockType.DATA, false, true);
    BlockCacheKey inMemory = key(FILE, SIZE, BlockType.DATA);
    insert(inMemory, BlockType.DATA, true, false);
    BlockCacheKey index = key(FILE, 2 * SIZE, BlockType.LEAF_INDEX);
    insert(index, BlockType.LEAF_INDEX, false, false);
    BlockCacheKey bloom = key(FILE, 3 * SIZE, BlockType.BLOOM_CHUNK);
    insert(bloom, BlockType.BLOOM_CHUNK, false, false);
    for (BlockCacheKey key : new BlockCacheKey[] { written, inMemory, index, bloom }) {
      awaitStored(key);
      assertTrue(cache.isAlreadyCached(key).get());
    }
    assertCounts(0, 0);
  }

  @Test
  public void testFullTierHasNoSpaceToSpareWhateverItEvicts() {
    open();
    long offset = fill();
    long evicted = second.getStats().getEvictedCount();
    for (int i = 0; i < 200; i++) {
      offset = prefetchSome(offset);
      assertFalse("after " + offset, second.hasSpareSpace());
    }
    assertTrue("evictions", second.getStats().getEvictedCount() > evicted);
    cache.evictBlocksByHfileName(FILLER);
    assertTrue(second.hasSpareSpace());
  }

  @Test
  public void testFilterIsOffByDefaultAndFollowsTheConfiguration() {
    conf.unset(ADMISSION);
    open();
    fill();
    BlockCacheKey first = key(FILE, 0, BlockType.DATA);
    miss(first);
    awaitStored(first);
    assertCounts(0, 0);
    conf.set(ADMISSION, "second-miss");
    cache.onConfigurationChange(conf);
    BlockCacheKey next = key(FILE, SIZE, BlockType.DATA);
    miss(next);
    assertFalse(cache.isAlreadyCached(next).get());
    assertCounts(0, 1);
    conf.set(ADMISSION, "third-miss");
    assertThrows(IllegalArgumentException.class, () -> cache.onConfigurationChange(conf));
    miss(next);
    awaitStored(next);
    assertCounts(1, 1);
    conf.set(ADMISSION, "all");
    cache.onConfigurationChange(conf);
    BlockCacheKey last = key(FILE, 2 * SIZE, BlockType.DATA);
    miss(last);
    awaitStored(last);
    assertCounts(1, 1);
  }
}
