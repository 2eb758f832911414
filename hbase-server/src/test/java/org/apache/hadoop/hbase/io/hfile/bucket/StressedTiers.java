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
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;

/**
 * Two tiers so small that they are full at once, blocks in pooled buffers, and threads that do
 * something to the tiers over and over until they are told to end or one of them fails.
 */
final class StressedTiers {
  /** The system property that says for how many seconds at least a stress test runs. */
  static final String SECONDS = "tiers.stress.seconds";

  /** What a thread does over and over. */
  interface Step {
    void run(ThreadLocalRandom random) throws Exception;
  }

  /** The configuration, to be changed before {@link #open}. */
  final Configuration conf;
  final ByteBuffAllocator pool;
  private final File folder;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean done;
  private CompositeBucketCache cache;
  private L1BucketCache first;
  private BucketCacheTier second;

  /**
   * @param folder          for the file of L2
   * @param firstMegabytes  the size of L1, which is off the heap
   * @param secondMegabytes the size of the second
   * @param bucketSizes     of both, as their key has them
   */
  StressedTiers(File folder, int firstMegabytes, int secondMegabytes, String bucketSizes) {
    this.folder = folder;
    conf = CachedBlockFixture.tiers(firstMegabytes, secondMegabytes, "file:" + path("l2"));
    conf.set("hbase.bucketcache.bucket.sizes", bucketSizes);
    pool = CachedBlockFixture.pool(conf, 2000);
  }

  private String path(String name) {
    return new File(folder, name).getPath();
  }

  /** Takes engines whose memory is the readers' too, with checksums in L1. */
  void useSharedMemory() {
    conf.set("hbase.bucketcache.l1.ioengine", "pmem:" + path("l1"));
    conf.set("hbase.bucketcache.l2.ioengine", "offheap");
  }

  void open() {
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (L1BucketCache) cache.getFirstLevelCache();
    second = (BucketCacheTier) cache.getSecondLevelCache();
  }

  /** Does nothing if they are not open. */
  void close() {
    if (cache != null) {
      cache.shutdown();
      cache = null;
    }
  }

  CompositeBucketCache cache() {
    return cache;
  }

  /** Reads a block and checks it, or caches it if it is not there and that is wanted. */
  void read(BlockCacheKey key, BlockType type, int size, boolean cacheOnMiss) {
    Cacheable found = cache.getBlock(key, true, false, true);
    if (found != null) {
      try {
        assertEquals(type, found.getBlockType());
        assertEquals(key.getOffset(), ((HFileBlock) found).getOffset());
        assertEquals(size, ((HFileBlock) found).getUncompressedSizeWithoutHeader());
      } finally {
        found.release();
      }
    } else if (cacheOnMiss) {
      CachedBlockFixture.cache(cache, key,
        CachedBlockFixture.block(type, key.getOffset(), size, pool));
    }
  }

  L1BucketCache first() {
    return first;
  }

  BucketCacheTier second() {
    return second;
  }

  void start(Step step) {
    done = false;
    Thread thread = new Thread(() -> {
      try {
        while (!done && !hasFailed()) {
          step.run(ThreadLocalRandom.current());
        }
      } catch (Throwable t) {
        failure.compareAndSet(null, t);
      }
    });
    threads.add(thread);
    thread.start();
  }

  boolean hasFailed() {
    return failure.get() != null;
  }

  /**
   * Ends the threads.
   * @throws AssertionError if one of them failed
   */
  void stop() throws InterruptedException {
    done = true;
    for (Thread thread : threads) {
      thread.join();
    }
    threads.clear();
    if (hasFailed()) {
      throw new AssertionError(failure.get());
    }
  }

  /** Waits until no block waits to be written any more. */
  void awaitWritten() {
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      await(() -> tier.ramCache.isEmpty());
      await(() -> tier.writerQueues.stream().allMatch(queue -> queue.isEmpty()));
    }
  }

  void assertNothingIsLeftOf(String file) {
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      tier.forEachBlockOf(file, key -> {
        throw new AssertionError(key + " outlived its file in " + tier.getName()
          + (tier.backingMap.containsKey(key) ? ", stored" : ", not stored"));
      });
    }
  }

  void assertEmpty() {
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      // A writer may still be busy with blocks that were evicted while they waited for it.
      await(() -> tier.getAllocator().getUsedSize() == 0);
      assertEquals(0, tier.backingMap.size());
      assertTrue(tier.blocksByHFile.isEmpty());
      assertEquals(0, tier.getAllocator().getUsedSize());
      assertEquals(0, tier.size());
      assertEquals(0, tier.getBlockCount());
      assertEquals(0, tier.getMetaBlockCount());
      assertEquals(0, tier.getMetaBlockSize());
    }
    assertEquals(0, first.getMetaItemBytes());
  }

  /** Waits until every pooled buffer is back, which writers may still hold for a moment. */
  void awaitBuffers() {
    await(() -> pool.getUsedBufferCount() == pool.getFreeBufferCount());
  }
}
