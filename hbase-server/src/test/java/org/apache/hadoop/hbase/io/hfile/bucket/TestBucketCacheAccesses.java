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
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** What is known of the accesses to the blocks of the base's caches. */
@Category({ IOTests.class, MediumTests.class })
public class TestBucketCacheAccesses {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBucketCacheAccesses.class);

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int SIZE = 4000;
  private static final BlockCacheKey KEY = key(FILE, 7, BlockType.DATA);
  private static final BlockCacheKey INDEX = key(FILE, 9, BlockType.LEAF_INDEX);

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final Configuration conf = HBaseConfiguration.create();
  private LruBlockCache heap;
  private BucketCache bucket;
  private CombinedBlockCache combined;
  private HotBlockCache accesses;

  @Before
  public void setUp() throws Exception {
    heap = new LruBlockCache(4 << 20, 64 << 10, true, conf);
    bucket = new BucketCache("offheap", 32 << 20, 8192, new int[] { 5120, 9216 }, 1, 3, null);
    combined = new CombinedBlockCache(heap, bucket);
    accesses = BucketCacheAccesses.of(combined);
  }

  @After
  public void tearDown() {
    combined.evictBlocksByHfileName(FILE);
    combined.shutdown();
  }

  private void insert(BlockCacheKey key, boolean waits) {
    HFileBlock block = block(key.getBlockType(), key.getOffset(), SIZE);
    combined.cacheBlock(key, block, false, waits);
    block.release();
    awaitWriters();
  }

  private void awaitWriters() {
    await(() -> bucket.heapSize() == 0);
  }

  private void look(BlockCacheKey key, boolean caching, boolean counts) {
    combined.getBlock(key, caching, false, counts).release();
  }

  @Test
  public void testAccesses() {
    assertEquals(HotBlockCache.NOT_CACHED, accesses.accesses(KEY));
    insert(KEY, true);
    look(KEY, false, true);
    look(KEY, true, false);
    assertEquals(0, accesses.accesses(KEY));
    look(KEY, true, true);
    look(KEY, true, true);
    assertEquals(2, accesses.accesses(KEY));
    assertEquals(2, accesses
      .accesses(key(FILE + ".fedcba9876543210fedcba9876543210", 7, BlockType.DATA)));
    assertTrue(accesses.cachedBytes(FILE) > SIZE);
    assertEquals(0, accesses.cachedBytes(FILE + "0"));
  }

  @Test
  public void testReadMissesAreAccessesOnceTheyAreCounted() {
    EntryAccesses.countReadMisses();
    insert(KEY, false);
    assertEquals(1, accesses.accesses(KEY));
    BlockCacheKey written = key(FILE, 8, BlockType.DATA);
    insert(written, true);
    assertEquals(0, accesses.accesses(written));
  }

  @Test
  public void testPeekLeavesNoTrace() {
    insert(INDEX, false);
    long requests = combined.getStats().getRequestCount();
    HFileBlock block = accesses.peek(INDEX);
    assertEquals(INDEX.getOffset(), block.getOffset());
    block.release();
    assertNull(accesses.peek(key(FILE, 10, BlockType.LEAF_INDEX)));
    assertEquals(requests, combined.getStats().getRequestCount());
  }

  @Test
  public void testPeekIntoABucketCacheThatHasAll() {
    HotBlockCache all = BucketCacheAccesses.of(bucket);
    HFileBlock index = block(BlockType.LEAF_INDEX, INDEX.getOffset(), SIZE);
    bucket.cacheBlock(INDEX, index);
    HFileBlock waiting = all.peek(INDEX);
    waiting.release();
    index.release();
    awaitWriters();
    BucketEntry entry = bucket.backingMap.get(INDEX);
    long accessed = entry.getAccessCounter();
    HFileBlock block = all.peek(INDEX);
    assertEquals(INDEX.getOffset(), block.getOffset());
    assertTrue(entry.isRpcRef());
    block.release();
    assertEquals(accessed, entry.getAccessCounter());
    assertNull(all.peek(key(FILE, 10, BlockType.LEAF_INDEX)));
  }

  @Test
  public void testHotBlocks() {
    HFileBlock block = block(BlockType.DATA, 7, SIZE);
    assertTrue(accesses.cacheHot(KEY, block, false, 4));
    block.release();
    awaitWriters();
    assertEquals(4, accesses.accesses(KEY));
    look(KEY, true, true);
    assertEquals(5, accesses.accesses(KEY));
  }

  @Test
  public void testOtherCachesAreNotUsed() {
    assertNull(BucketCacheAccesses.of(heap));
    assertSame(BucketCacheAccesses.class, BucketCacheAccesses.of(bucket).getClass());
  }
}
