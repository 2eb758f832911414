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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;

/** Tests that blocks recovered from a persisted map are read into buffers of the server's pool. */
@Category({ IOTests.class, SmallTests.class })
public class TestRecoveredEntriesUseThePool {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRecoveredEntriesUseThePool.class);

  private static final int BLOCKS = 20;
  private static final int BLOCK_SIZE = 32 * 1024;
  private static final int READS = 20_000;
  /** Far from a block, though not all code is compiled to the end yet. */
  private static final int GARBAGE = 2048;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
  private final List<BlockCacheKey> keys = new ArrayList<>();
  private File dir;
  private BucketCache cache;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Before
  public void recover() throws IOException {
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    BucketCache before = open();
    for (int i = 0; i < BLOCKS; i++) {
      BlockCacheKey key = CachedBlockFixture.key("file", i * BLOCK_SIZE, BlockType.DATA);
      CachedBlockFixture.cache(before, key, block(i));
      CachedBlockFixture.await(
        () -> before.backingMap.containsKey(key) && !before.ramCache.containsKey(key));
      keys.add(key);
    }
    before.shutdown();
    // These entries belong to the process that is gone.
    before.backingMap.values().forEach(BucketEntry::markAsEvicted);
    cache = open();
    CachedBlockFixture.await(() -> cache.getBackingMapValidated().get());
    assertEquals(BLOCKS, cache.backingMap.size());
  }

  @After
  public void close() {
    cache.evictBlocksByHfileName("file");
    cache.shutdown();
    pool.clean();
    util.cleanupTestDir();
  }

  @Test
  public void testReadLeavesNoBlockBehind() {
    new CacheConfig(conf, null, cache, pool);
    // Leak detection is off, since the paranoid level of tests allocates more than what it tracks.
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    read(READS);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long start = threads.getThreadAllocatedBytes(thread);
    read(READS);
    long perRead = (threads.getThreadAllocatedBytes(thread) - start) / READS;
    assertTrue("Allocated " + perRead + " bytes per read", perRead <= GARBAGE);
    assertEquals("All buffers are back", pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }

  @Test
  public void testBufferIsOfThePool() {
    new CacheConfig(conf, null, cache, pool);
    for (int i = 0; i < BLOCKS; i++) {
      Cacheable block = cache.getBlock(keys.get(i), true, false, true);
      assertEquals(1, pool.getUsedBufferCount() - pool.getFreeBufferCount());
      assertArrayEquals(CachedBlockFixture.content(block(i)), CachedBlockFixture.content(block));
      block.release();
      assertEquals(0, pool.getUsedBufferCount() - pool.getFreeBufferCount());
    }
    assertEquals(0, ByteBuffAllocator.HEAP.getUsedBufferCount());
  }

  @Test
  public void testPartOfACombinedCacheIsFound() {
    BlockCache combined =
      new CombinedBlockCache(new LruBlockCache(1 << 20, BLOCK_SIZE), cache);
    new CacheConfig(conf, null, combined, pool);
    assertTrue(cache.recoveredEntryAllocator.isReservoirEnabled());
    combined.evictBlocksByHfileName("file");
    combined.shutdown();
  }

  @Test
  public void testReadBeforeThereIsAPoolIsOnTheHeap() {
    new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP);
    assertFalse(cache.recoveredEntryAllocator.isReservoirEnabled());
    Cacheable block = cache.getBlock(keys.get(0), true, false, true);
    assertNotNull(block);
    new CacheConfig(conf, null, cache, pool);
    block.release();
    assertEquals(0, pool.getUsedBufferCount());
  }

  @Test
  public void testFirstPoolStays() {
    new CacheConfig(conf, null, cache, pool);
    new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP);
    ByteBuffAllocator second = ByteBuffAllocator.create(conf, true);
    new CacheConfig(conf, null, cache, second);
    cache.getBlock(keys.get(0), true, false, true).release();
    assertEquals(1, pool.getUsedBufferCount());
    assertEquals(0, second.getUsedBufferCount());
  }

  /** One that is cached in this process keeps the allocator of the block that it is made of. */
  @Test
  public void testNewEntryHasItsOwnAllocator() {
    BlockCacheKey key = CachedBlockFixture.key("file", BLOCKS * BLOCK_SIZE, BlockType.DATA);
    CachedBlockFixture.cache(cache, key, block(BLOCKS));
    CachedBlockFixture.await(() -> cache.backingMap.containsKey(key));
    assertSame(ByteBuffAllocator.HEAP, cache.backingMap.get(key).allocator);
    assertSame(cache.recoveredEntryAllocator, cache.backingMap.get(keys.get(0)).allocator);
  }

  private void read(int times) {
    for (int i = 0; i < times; i++) {
      cache.getBlock(keys.get(i % BLOCKS), true, false, true).release();
    }
  }

  private static HFileBlock block(int i) {
    return CachedBlockFixture.block(BlockType.DATA, i * BLOCK_SIZE, BLOCK_SIZE);
  }

  private BucketCache open() throws IOException {
    return new BucketCache("file:" + new File(dir, "cache"), 4 << 20, BLOCK_SIZE,
      new int[] { BLOCK_SIZE + 1024 }, 1, 64, new File(dir, "map").getPath(), 60000, conf);
  }
}
