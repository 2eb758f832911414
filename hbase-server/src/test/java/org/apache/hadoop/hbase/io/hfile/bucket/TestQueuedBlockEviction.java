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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
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
 * Tests that the blocks of a file are evicted with it when they wait for a writer thread, or are
 * being written: a block that its writer inserted after its file is gone would stay until the cache
 * needs the space. With one writer and with HBase's default of three, and with blocks of one byte,
 * of an odd size, and of 64 KB.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestQueuedBlockEviction {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestQueuedBlockEviction.class);

  private static final int CLIENTS = 64;
  private static final int FILES = 3;

  private final Configuration conf = HBaseConfiguration.create();
  private final int writers;
  private final int size;
  /** The writer threads wait for this before they write a block. */
  private final CountDownLatch mayWrite = new CountDownLatch(1);
  private final CountDownLatch writing = new CountDownLatch(1);
  private final AtomicInteger insertions = new AtomicInteger();
  private final AtomicInteger drained = new AtomicInteger();
  private ByteBuffAllocator pool;
  private BucketCache cache;

  public TestQueuedBlockEviction(int writers, int size) {
    this.writers = writers;
    this.size = size;
  }

  @Parameterized.Parameters(name = "writers={0}, size={1}")
  public static List<Object[]> parameters() {
    return Arrays.asList(new Object[] { 1, 1 }, new Object[] { 1, 65_536 },
      new Object[] { BucketCache.DEFAULT_WRITER_THREADS, 4_097 });
  }

  @Before
  public void setUp() throws IOException {
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 0);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 64);
    pool = ByteBuffAllocator.create(conf, true);
    cache = new BucketCache("offheap", 32 << 20, 64 << 10, null, writers,
      BucketCache.DEFAULT_WRITER_QUEUE_ITEMS, null, 60_000, conf) {
      @Override
      BucketEntry writeEntry(RAMQueueEntry re, ByteBuffer metaBuff) throws IOException {
        writing.countDown();
        try {
          if (!mayWrite.await(1, TimeUnit.MINUTES)) {
            throw new IOException("Held for a minute");
          }
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
        return super.writeEntry(re, metaBuff);
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
    mayWrite.countDown();
    cache.shutdown();
    pool.clean();
  }

  private static BlockCacheKey key(String file, long offset) {
    return CachedBlockFixture.key(file, offset, BlockType.DATA);
  }

  private void cache(BlockCache target, String file, long offset) {
    CachedBlockFixture.cache(target, key(file, offset),
      CachedBlockFixture.block(BlockType.DATA, offset, size, pool));
    insertions.incrementAndGet();
  }

  @Test
  public void testBlocksThatWaitOrAreWrittenAreEvictedWithTheirFile() throws Exception {
    for (int offset = 0; offset < 4; offset++) {
      cache(cache, "evicted", offset);
      cache(cache, "kept", offset);
    }
    assertTrue(writing.await(1, TimeUnit.MINUTES));

    assertEquals(4, cache.evictBlocksByHfileName("evicted"));

    assertEquals(0, cache.evictBlocksByHfileName("evicted"));
    assertEquals(4, cache.getBlockCount());
    assertOnlyKeptRemain(cache, "kept", 4);
  }

  @Test
  public void testRangeIsInclusiveAndOtherBlocksStay() throws Exception {
    for (int offset = 0; offset < 5; offset++) {
      cache(cache, "file", offset);
    }
    assertTrue(writing.await(1, TimeUnit.MINUTES));

    assertEquals(3, cache.evictBlocksRangeByHfileName("file", 1, 3));

    assertOnlyKeptRemain(cache, "file", 2);
    assertEquals(2, cache.evictBlocksByHfileName("file"));
  }

  @Test
  public void testBlocksOfTheSecondLevelAreEvictedWithTheirFile() throws Exception {
    CombinedBlockCache levels =
      new CombinedBlockCache(new LruBlockCache(1 << 20, 64 << 10, false, conf), cache);
    for (int offset = 0; offset < 4; offset++) {
      cache(levels, "evicted", offset);
    }
    assertTrue(writing.await(1, TimeUnit.MINUTES));

    assertEquals(4, levels.evictBlocksByHfileName("evicted"));

    assertOnlyKeptRemain(levels, "kept", 0);
  }

  /** Each client evicts its files when it has cached their blocks, while writers are at work. */
  @Test
  public void testFilesOfManyClients() throws Exception {
    mayWrite.countDown();
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    try {
      List<Future<?>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        String prefix = "client" + i + "-";
        clients.add(threads.submit(() -> {
          for (int file = 0; file < FILES; file++) {
            for (int offset = 0; offset < 4; offset++) {
              cache(cache, prefix + file, offset);
            }
            cache.evictBlocksByHfileName(prefix + file);
          }
        }));
      }
      for (Future<?> client : clients) {
        client.get(1, TimeUnit.MINUTES);
      }
    } finally {
      threads.shutdownNow();
    }
    assertOnlyKeptRemain(cache, "kept", 0);
  }

  /** Checks what is in the cache when the writers have written all that they still have. */
  private void assertOnlyKeptRemain(BlockCache levels, String file, int blocks) {
    mayWrite.countDown();
    CachedBlockFixture
      .await(() -> drained.get() + cache.getStats().getFailedInserts() == insertions.get());
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
    for (BlockCacheKey key : cache.backingMap.keySet()) {
      assertEquals(file, key.getHfileName());
    }
    assertEquals(blocks, cache.backingMap.size());
    assertEquals(blocks, levels.getBlockCount());
    assertNull(levels.getBlock(key("evicted", 0), false, false, false));
    if (blocks == 0) {
      assertEquals(0, cache.getCurrentSize());
    }
  }
}
