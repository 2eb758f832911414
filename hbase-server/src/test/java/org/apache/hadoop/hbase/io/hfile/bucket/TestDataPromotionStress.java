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
import org.apache.hadoop.hbase.io.hfile.PromotionPolicy;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * Promotions against everything that takes blocks away: evictions by block, by file and by range,
 * by size in both tiers, meta blocks that come and go, promotion switched off and on. Whatever
 * happened, the policy must know exactly the data blocks that are in the
 * first tier, and nothing may stay once the files are gone. Runs for as many seconds as the system
 * property {@value #SECONDS} says.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestDataPromotionStress {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDataPromotionStress.class);

  private static final String SECONDS = "stratum.promotion.stress.seconds";
  private static final int FILES = 8;
  private static final int BLOCKS = 300;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile String closing = "none";
  private volatile boolean done;
  private int closed;
  private ByteBuffAllocator pool;
  private Configuration conf;
  private Configuration none;
  private CompositeBucketCache cache;
  private FirstLevelBucketCache first;
  private BucketCacheTier second;

  @Before
  public void setUp() {
    conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.l1.size", "2");
    conf.set("hbase.bucketcache.l2.size", "8");
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    conf.set("hbase.blockcache.minblocksize", "4096");
    // Full at times, so that promotions are refused.
    conf.set("hbase.bucketcache.l1.writer.queuelength", "4");
    conf.set("hbase.bucketcache.l2.ioengine",
      "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 2000);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 2048);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 512);
    none = new Configuration(conf);
    none.set("hbase.bucketcache.composite.promotion", "none");
    pool = ByteBuffAllocator.create(conf, true);
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

  /** One block in sixteen is a meta block. */
  private static BlockType typeOf(long offset) {
    return offset % 16 == 0
      ? BlockType.LEAF_INDEX
      : offset % 16 == 1 ? BlockType.ENCODED_DATA : BlockType.DATA;
  }

  /** A third of the blocks are of the larger of the two bucket sizes. */
  private static int sizeOf(long offset) {
    return offset % 3 == 0 ? 8500 : 4000;
  }

  private void read(String file, long offset, boolean cacheOnMiss) {
    BlockType type = typeOf(offset);
    BlockCacheKey key = key(file, offset, offset % 5 == 0 ? null : type);
    Cacheable found = cache.getBlock(key, true, false, true);
    if (found != null) {
      try {
        assertEquals(type, found.getBlockType());
        assertEquals(offset, ((HFileBlock) found).getOffset());
        assertEquals(sizeOf(offset), ((HFileBlock) found).getUncompressedSizeWithoutHeader());
      } finally {
        found.release();
      }
    } else if (cacheOnMiss) {
      cache(cache, key, block(type, offset, sizeOf(offset), pool));
    }
  }

  /** A file that is read while it is closed, and of which nobody caches anything afterwards. */
  private void openAndClose(ThreadLocalRandom random) throws Exception {
    String file = "closing" + closed;
    for (int i = 0; i < 20; i++) {
      cache(cache, key(file, i, typeOf(i)), block(typeOf(i), i, sizeOf(i), pool));
    }
    closing = file;
    TimeUnit.MICROSECONDS.sleep(random.nextInt(2000));
    cache.evictBlocksByHfileName(file);
    closed++;
  }

  /** The smaller the offset the likelier, so that some are worth promoting. */
  private static int skewed(ThreadLocalRandom random) {
    double u = random.nextDouble();
    return (int) (BLOCKS * u * u * u);
  }

  private void takeAway(ThreadLocalRandom random) throws Exception {
    TimeUnit.MICROSECONDS.sleep(500);
    String file = "file" + random.nextInt(FILES);
    switch (random.nextInt(40)) {
      case 0:
        cache.evictBlocksByHfileName(file);
        break;
      case 1:
        cache.evictBlocksRangeByHfileName(file, 50, 100);
        break;
      case 2:
        first.freeSpace("test");
        break;
      case 3:
        second.freeSpace("test");
        break;
      case 4:
        cache.onConfigurationChange(random.nextInt(4) == 0 ? none : conf);
        break;
      default:
        cache.evictBlock(key(file, skewed(random), null));
    }
  }

  private void runFor(long nanos) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      threads.add(start(random -> read("file" + random.nextInt(FILES), skewed(random), true)));
    }
    threads.add(start(random -> read(closing, random.nextInt(20), false)));
    threads.add(start(this::openAndClose));
    threads.add(start(this::takeAway));
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() < end && failure.get() == null) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    done = true;
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
  }

  private long dataInFirst() {
    return first.backingMap.values().stream().filter(entry -> !entry.metaBlock).count();
  }

  private void stress() throws Exception {
    runFor(TimeUnit.SECONDS.toNanos(Integer.getInteger(SECONDS, 20)) / 2);
    // Promotion may have been off at the end.
    cache.onConfigurationChange(conf);
    PromotionPolicy policy = first.setPromotedShare(1);
    // The room for data may have been taken as full for a while.
    await(() -> {
      for (int i = 0; i < BLOCKS; i++) {
        read("file0", i, true);
        read("file0", i, false);
      }
      return policy.getBlockCount() > 0;
    });
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      await(() -> tier.ramCache.isEmpty());
      await(() -> tier.writerQueues.stream().allMatch(queue -> queue.isEmpty()));
    }
    await(() -> policy.getBlockCount() == dataInFirst());
    // Nothing moves any more, so it stays like that.
    TimeUnit.MILLISECONDS.sleep(50);
    assertEquals(dataInFirst(), policy.getBlockCount());
    assertEquals(first.backingMap.values().stream().filter(entry -> !entry.metaBlock)
      .mapToLong(entry -> first.bucketSizeFor(entry.getLength())).sum(), policy.getUsedBytes());
    assertTrue("files were closed", closed > 100);
    assertTrue("blocks were promoted", policy.getPromotedCount() > 1000);
    assertTrue("blocks were demoted", policy.getDemotedCount() > 0);
    for (int i = 0; i < closed; i++) {
      String file = "closing" + i;
      for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
        tier.forEachBlockOf(file, key -> {
          throw new AssertionError(key + " outlived its file");
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
    }
    assertEquals(0, first.getMetaPlaces());
    assertEquals(0, policy.getBlockCount());
    assertEquals(0, policy.getUsedBytes());
    cache.shutdown();
    // Every pooled buffer is back, once the writers have let go.
    await(() -> pool.getUsedBufferCount() == pool.getFreeBufferCount());
  }

  @Test
  public void policyAndTiersAgreeInMemoryOverAFile() throws Exception {
    open();
    stress();
  }

  @Test
  public void policyAndTiersAgreeInTwoTiersOfSharedMemory() throws Exception {
    conf.set("hbase.bucketcache.l1.ioengine",
      "pmem:" + new File(folder.getRoot(), "l1").getPath());
    conf.set("hbase.bucketcache.l2.ioengine", "offheap");
    none.set("hbase.bucketcache.l1.ioengine", conf.get("hbase.bucketcache.l1.ioengine"));
    open();
    stress();
  }
}
