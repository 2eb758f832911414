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
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * Readers, evictions by size, by block and by file all at once, over tiers that hold a third of
 * what is asked for. Afterwards nothing may be left behind: no block of a file that was closed, no
 * place taken, no buffer out of its pool.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestCompositeBucketCacheStress {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCacheStress.class);

  private static final long DURATION_NANOS = TimeUnit.SECONDS.toNanos(15);
  /** How much longer it goes on if something that is to happen meanwhile has not happened yet. */
  private static final long EXTENSION_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int FILES = 8;
  private static final int BLOCKS = 300;
  private static final int SIZE = 4000;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final List<String> closed = new ArrayList<>();
  private volatile String closing = "none";
  private volatile int closedCount;
  private volatile boolean done;
  private ByteBuffAllocator pool;
  private Configuration conf;
  private CompositeBucketCache cache;
  private FirstLevelBucketCache first;
  private BucketCacheTier second;

  @Before
  public void setUp() {
    conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.l1.size", "1");
    conf.set("hbase.bucketcache.l2.size", "3");
    conf.set("hbase.bucketcache.bucket.sizes", "5120");
    conf.set("hbase.bucketcache.l2.ioengine",
      "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 2000);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 2048);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 512);
    pool = ByteBuffAllocator.create(conf, true);
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private void open() {
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (FirstLevelBucketCache) cache.getFirstLevelCache();
    second = (BucketCacheTier) cache.getSecondLevelCache();
  }

  private interface Step {
    void run(ThreadLocalRandom random) throws Exception;
  }

  private Thread start(Step step) {
    Thread thread = new Thread(() -> {
      try {
        while (!done && failure.get() == null) {
          step.run(ThreadLocalRandom.current());
        }
      } catch (Throwable t) {
        failure.compareAndSet(null, t);
      }
    });
    thread.start();
    return thread;
  }

  /** Every second block of a file is a meta block. */
  private static BlockType typeOf(long offset) {
    return offset % 2 == 0 ? BlockType.LEAF_INDEX : BlockType.DATA;
  }

  private void read(String file, long offset, boolean cacheOnMiss) {
    BlockType type = typeOf(offset);
    BlockCacheKey key = key(file, offset, offset % 3 == 0 ? null : type);
    Cacheable found = cache.getBlock(key, true, false, true);
    if (found != null) {
      try {
        assertEquals(type, found.getBlockType());
        assertEquals(offset, ((HFileBlock) found).getOffset());
      } finally {
        found.release();
      }
    } else if (cacheOnMiss) {
      cache(cache, key, block(type, offset, SIZE, pool));
    }
  }

  /** Caches a file, lets others read it, closes it, and nobody caches anything of it again. */
  private void openAndClose(ThreadLocalRandom random) throws Exception {
    String file = "closing" + closed.size();
    for (int i = 0; i < 20; i++) {
      BlockType type = typeOf(2 * i);
      cache(cache, key(file, 2 * i, type), block(type, 2 * i, SIZE, pool));
    }
    closing = file;
    TimeUnit.MICROSECONDS.sleep(random.nextInt(3000));
    cache.evictBlocksByHfileName(file);
    closed.add(file);
    closedCount = closed.size();
  }

  private boolean hasSeenAll() {
    return closedCount > 100 && first.getSpilledCount() > 0 && cache.getReturnedBlockCount() > 0
      && first.getStats().getHitCount() > 0;
  }

  private void stress() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      threads.add(start(random -> read("file" + random.nextInt(FILES), random.nextInt(BLOCKS),
        true)));
    }
    threads.add(start(random -> read(closing, 2 * random.nextInt(20), false)));
    threads.add(start(this::openAndClose));
    threads.add(start(random -> {
      TimeUnit.MILLISECONDS.sleep(1);
      String file = "file" + random.nextInt(FILES);
      if (random.nextInt(20) == 0) {
        cache.evictBlocksByHfileName(file);
      } else if (random.nextInt(20) == 0) {
        cache.evictBlocksRangeByHfileName(file, 50, 100);
      } else {
        cache.evictBlock(key(file, random.nextInt(BLOCKS), null));
      }
    }));
    long end = System.nanoTime() + DURATION_NANOS;
    while (
      failure.get() == null
        && System.nanoTime() - end < (hasSeenAll() ? 0 : EXTENSION_NANOS)
    ) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
    done = true;
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
    await(() -> first.ramCache.isEmpty());
    await(() -> second.ramCache.isEmpty());
    assertTrue(closedCount + " files closed, " + first.getSpilledCount() + " blocks spilled, "
      + cache.getReturnedBlockCount() + " came back, " + first.getStats().getHitCount()
      + " hits in the first tier", hasSeenAll());
    for (String file : closed) {
      for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
        tier.forEachBlockOf(file, key -> {
          throw new AssertionError(key + " outlived its file in " + tier.getName()
            + (tier.backingMap.containsKey(key) ? ", stored" : ", not stored"));
        });
      }
    }
    for (int i = 0; i < FILES; i++) {
      cache.evictBlocksByHfileName("file" + i);
    }
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      assertEquals(0, tier.backingMap.size());
      assertTrue(tier.blocksByHFile.isEmpty());
      assertEquals(0, tier.getAllocator().getUsedSize());
      assertEquals(0, tier.size());
      assertEquals(0, tier.getBlockCount());
      assertEquals(0, tier.getMetaBlockCount());
      assertEquals(0, tier.getMetaBlockSize());
    }
    assertEquals("every pooled buffer is back", pool.getUsedBufferCount(),
      pool.getFreeBufferCount());
    assertNull(cache.getBlock(key("file0", 0, null), true, false, true));
  }

  @Test
  public void nothingIsLeftBehindInMemoryOverAFile() throws Exception {
    open();
    stress();
  }

  @Test
  public void nothingIsLeftBehindInTwoTiersOfSharedMemory() throws Exception {
    conf.set("hbase.bucketcache.l1.ioengine",
      "pmem:" + new File(folder.getRoot(), "l1").getPath());
    conf.set("hbase.bucketcache.l2.ioengine", "offheap");
    open();
    stress();
  }
}
