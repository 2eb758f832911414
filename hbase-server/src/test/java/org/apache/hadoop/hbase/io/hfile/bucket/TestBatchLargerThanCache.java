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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/**
 * Tests that writer threads get on when more blocks wait for them than the cache has space for: the
 * blocks that a writer has written but not published yet cannot be evicted, so it must not wait for
 * space that only they could leave.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestBatchLargerThanCache {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBatchLargerThanCache.class);

  private static final int CAPACITY = 4 << 20;
  private static final int[] BUCKETS = { 5 * 1024, 65 * 1024 };

  private final Configuration conf = HBaseConfiguration.create();
  private final int writers;
  private final int[] sizes;
  private final int blocks;
  private final AtomicInteger drained = new AtomicInteger();
  private ByteBuffAllocator pool;
  private BucketCache cache;

  /** @param sizes of the blocks, used alternately */
  public TestBatchLargerThanCache(int writers, int[] sizes, int blocks) {
    this.writers = writers;
    this.sizes = sizes;
    this.blocks = blocks;
  }

  @Parameterized.Parameters(name = "writers={0}, blocks={2}")
  public static List<Object[]> parameters() {
    int threads = BucketCache.DEFAULT_WRITER_THREADS;
    int items = BucketCache.DEFAULT_WRITER_QUEUE_ITEMS;
    return Arrays.asList(
      // By default the queues of a server hold this many blocks; the size is HBase's default block
      // size.
      new Object[] { threads, new int[] { 65_536 }, threads * items },
      new Object[] { 1, new int[] { 65_536, 1, 4_097 }, 511 },
      // The largest is larger than any bucket.
      new Object[] { 1, new int[] { 66_561, 65_535 }, 255 });
  }

  @Before
  public void setUp() throws IOException {
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 64);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 0);
    pool = ByteBuffAllocator.create(conf, true);
    cache = new BucketCache("offheap", CAPACITY, 64 << 10, BUCKETS, writers, blocks, null, 60_000,
      conf) {
      @Override
      protected void startWriterThreads() {
        // The test starts the writer when all blocks wait.
      }

      @Override
      void doDrain(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
        super.doDrain(entries, metaBuff);
        drained.addAndGet(entries.size());
      }
    };
  }

  @After
  public void tearDown() {
    cache.shutdown();
    pool.clean();
  }

  private int size(int block) {
    return sizes[block % sizes.length];
  }

  private static BlockCacheKey key(int block) {
    return CachedBlockFixture.key("file", block, BlockType.DATA);
  }

  @Test
  public void testWritersGetOnAndTheCacheStaysUsable() {
    for (int i = 0; i < blocks; i++) {
      CachedBlockFixture.cache(cache, key(i),
        CachedBlockFixture.block(BlockType.DATA, i, size(i), pool));
    }
    assertEquals(0, cache.getStats().getFailedInserts());

    for (Thread writer : cache.writerThreads) {
      writer.start();
    }
    CachedBlockFixture.await(() -> drained.get() == blocks);

    assertTrue(cache.ramCache.isEmpty());
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
    assertTrue(cache.getStats().getEvictedCount() > 0);
    assertTrue(cache.backingMap.size() > 0);
    for (BlockCacheKey key : cache.backingMap.keySet()) {
      Cacheable block = cache.getBlock(key, false, false, false);
      int size = size((int) key.getOffset());
      assertArrayEquals(
        content(CachedBlockFixture.block(BlockType.DATA, key.getOffset(), size)), content(block));
      block.release();
    }
    cache.evictBlocksByHfileName("file");
    assertEquals(0, cache.getCurrentSize());
  }
}
