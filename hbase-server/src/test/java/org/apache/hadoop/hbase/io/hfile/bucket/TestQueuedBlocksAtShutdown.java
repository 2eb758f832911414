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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
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
 * Tests that a bucket cache that is shut down holds no buffer any more: neither of a block that is
 * being written, nor of one that waits or is inserted at this moment; and that each is released
 * once.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestQueuedBlocksAtShutdown {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestQueuedBlocksAtShutdown.class);

  private final Configuration conf = HBaseConfiguration.create();
  private final int writers;
  private final int size;
  private final CountDownLatch writing = new CountDownLatch(1);
  private final CountDownLatch checked = new CountDownLatch(1);
  private ByteBuffAllocator pool;
  private BucketCache cache;

  public TestQueuedBlocksAtShutdown(int writers, int size) {
    this.writers = writers;
    this.size = size;
  }

  @Parameterized.Parameters(name = "writers={0}, size={1}")
  public static List<Object[]> parameters() {
    return Arrays.asList(new Object[] { 1, 1 },
      new Object[] { BucketCache.DEFAULT_WRITER_THREADS, 65_537 });
  }

  @Before
  public void setUp() throws IOException {
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 0);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 1024);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 2048);
    pool = ByteBuffAllocator.create(conf, true);
    Thread closer = Thread.currentThread();
    cache = new BucketCache("offheap", 32 << 20, 64 << 10, null, writers,
      BucketCache.DEFAULT_WRITER_QUEUE_ITEMS, null, 60_000, conf) {
      @Override
      BucketEntry writeEntry(RAMQueueEntry re, ByteBuffer metaBuff) throws IOException {
        writing.countDown();
        // The thread that shuts down waits for this one, or has found its buffers missing.
        CachedBlockFixture.await(
          () -> closer.getState() == Thread.State.TIMED_WAITING && isAwaitingWriters(closer)
            || checked.getCount() == 0);
        return super.writeEntry(re, metaBuff);
      }
    };
  }

  private static boolean isAwaitingWriters(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
      .anyMatch(frame -> frame.getClassName().equals(WriterThreads.class.getName()));
  }

  @After
  public void tearDown() {
    checked.countDown();
    cache.shutdown();
    pool.clean();
  }

  private static BlockCacheKey key(long offset) {
    return CachedBlockFixture.key("file", offset, BlockType.DATA);
  }

  @Test
  public void testBlocksThatWaitOrAreWrittenGiveTheirBuffersBack() throws Exception {
    for (int offset = 0; offset < 8; offset++) {
      CachedBlockFixture.cache(cache, key(offset),
        CachedBlockFixture.block(BlockType.DATA, offset, size, pool));
    }
    assertTrue(writing.await(1, TimeUnit.MINUTES));
    assertTrue(pool.getUsedBufferCount() > 0);

    cache.shutdown();

    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }

  /** A reader continues to insert blocks while the cache is shut down. */
  @Test
  public void testBlockInsertedAfterwardsGivesItsBufferBack() {
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 0, size, pool);
    // The cache takes the type from the block, after it has seen that it is enabled itself.
    BlockCacheKey key = new BlockCacheKey("file", 0, true, null) {
      private static final long serialVersionUID = 1L;

      @Override
      public BlockType getBlockType() {
        cache.shutdown();
        return super.getBlockType();
      }
    };
    cache.cacheBlock(key, block);
    assertEquals(1, block.refCnt());
    block.release();
    assertTrue(cache.ramCache.isEmpty());
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }

  @Test
  public void testBlocksThatAWriterRemovesMeanwhileAreReleasedOnce() {
    BucketCache.RAMCache queue = new BucketCache.RAMCache();
    List<HFileBlock> blocks = new ArrayList<>();
    AtomicBoolean clearing = new AtomicBoolean();
    for (int offset = 0; offset < 4; offset++) {
      HFileBlock block = CachedBlockFixture.block(BlockType.DATA, offset, size, pool);
      blocks.add(block);
      queue.putIfAbsent(key(offset),
        new BucketCache.RAMQueueEntry(key(offset), block, 0, false, false) {
          @Override
          public HFileBlock getData() {
            if (clearing.getAndSet(false)) {
              // When the first is out, a writer thread is done with the others.
              queue.delegate.keySet().forEach(queue::remove);
            }
            return block;
          }
        });
    }
    clearing.set(true);

    queue.clear();

    for (HFileBlock block : blocks) {
      assertEquals(1, block.refCnt());
      block.release();
    }
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }
}
