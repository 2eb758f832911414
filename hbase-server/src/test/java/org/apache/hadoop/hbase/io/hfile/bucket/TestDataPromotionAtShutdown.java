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
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * The end of a cache whose readers are at work. What is in the tiers then is forgotten without
 * being released, so that only the pool tells whether a buffer was lost.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestDataPromotionAtShutdown {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDataPromotionAtShutdown.class);

  private static final int BLOCKS = 600;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean done;

  private void read(CompositeBucketCache cache) {
    try {
      while (!done) {
        long offset = ThreadLocalRandom.current().nextInt(BLOCKS);
        Cacheable block = cache.getBlock(key("file", offset, BlockType.DATA), true, false, true);
        if (block != null) {
          assertEquals(BlockType.DATA, block.getBlockType());
          block.release();
        }
      }
    } catch (Throwable t) {
      failure.compareAndSet(null, t);
    }
  }

  @Test
  public void testShutdownAmidPromotionsKeepsNoBufferAndFailsNoReader() throws Exception {
    Configuration conf = CachedBlockFixture.tiers(1, 8,
      "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.set("hbase.bucketcache.bucket.sizes", "5120");
    conf.set("hbase.blockcache.minblocksize", "4096");
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 2000);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 2048);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 512);
    ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
    for (int round = 0; round < 15; round++) {
      CompositeBucketCache cache =
        (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
      BucketCacheTier second = (BucketCacheTier) cache.getSecondLevelCache();
      for (int i = 0; i < BLOCKS; i++) {
        cache(cache, key("file", i, BlockType.DATA), block(BlockType.DATA, i, 4000, pool));
        if (i % 50 == 0) {
          await(() -> second.ramCache.isEmpty());
        }
      }
      await(() -> second.ramCache.isEmpty());
      done = false;
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Thread thread = new Thread(() -> read(cache));
        thread.start();
        threads.add(thread);
      }
      await(() -> cache.getFirstLevelCache().getStats().getHitCount() > 0);
      TimeUnit.MILLISECONDS.sleep(5 * round);
      cache.shutdown();
      done = true;
      for (Thread thread : threads) {
        thread.join();
      }
      if (failure.get() != null) {
        throw new AssertionError(failure.get());
      }
      assertNull(cache.getBlock(key("file", 0, BlockType.DATA), true, false, true));
      // Every pooled buffer is back, once the writers have let go.
      await(() -> pool.getUsedBufferCount() == pool.getFreeBufferCount());
    }
  }
}
