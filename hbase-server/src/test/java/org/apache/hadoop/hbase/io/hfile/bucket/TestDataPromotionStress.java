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

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencyPromotionPolicy;
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
 * Promotions against everything that takes blocks away: evictions by block, by file and by range,
 * by size in both tiers, meta blocks that come and go, promotion switched off and on. Whatever
 * happened, the policy must know exactly the data blocks that are in L1, and nothing may stay once
 * the files are gone. A test ends as soon as all of that has happened, and not before the seconds
 * of the system property {@value StressedTiers#SECONDS}.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestDataPromotionStress {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDataPromotionStress.class);

  private static final int FILES = 8;
  /** Files that are closed at least while it runs, and how much longer it may take for them. */
  private static final int CLOSED = 100;
  private static final long EXTENSION_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final int BLOCKS = 300;
  /** A file of meta blocks that are not read. */
  private static final String SELDOM = "seldom";
  private static final int SELDOM_BLOCKS = 20;
  /** Besides the content of a block. */
  private static final int OVERHEAD =
    HConstants.HFILEBLOCK_HEADER_SIZE_NO_CHECKSUM + HFileBlock.BLOCK_METADATA_SPACE;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private volatile String closing = "none";
  private volatile int closed;
  private StressedTiers tiers;
  private Configuration none;

  @Before
  public void setUp() {
    tiers = new StressedTiers(folder.getRoot(), 2, 8, "5120,9216");
    tiers.conf.set("hbase.blockcache.minblocksize", "4096");
    // The queue is full at times, so that promotions are refused.
    tiers.conf.set("hbase.bucketcache.l1.writer.queuelength", "4");
    tiers.conf.set("hbase.bucketcache.composite.l1.meta.idle.ms", "1000");
  }

  @After
  public void tearDown() {
    tiers.close();
  }

  /** One block in sixteen is a meta block. */
  private static BlockType typeOf(long offset) {
    return offset % 16 == 0
      ? BlockType.LEAF_INDEX
      : offset % 16 == 1 ? BlockType.ENCODED_DATA : BlockType.DATA;
  }

  /**
   * A third of the blocks are of the larger of the two bucket sizes. Some are a byte larger than
   * the smaller bucket, have one byte, or fill the larger one.
   */
  private static int sizeOf(long offset) {
    switch ((int) (offset % 12)) {
      case 3:
        return 5120 - OVERHEAD + 1;
      case 6:
        return 9216 - OVERHEAD;
      case 7:
        return 1;
      default:
        return offset % 3 == 0 ? 8500 : 4000;
    }
  }

  private void read(String file, long offset, boolean cacheOnMiss) {
    BlockType type = typeOf(offset);
    BlockCacheKey key = key(file, offset, offset % 5 == 0 ? null : type);
    tiers.read(key, type, sizeOf(offset), cacheOnMiss);
  }

  /** Reads a file while it is closed; afterwards no block of it is cached. */
  private void openAndClose(ThreadLocalRandom random) throws Exception {
    String file = "closing" + closed;
    for (int i = 0; i < 20; i++) {
      cache(tiers.cache(), key(file, i, typeOf(i)), block(typeOf(i), i, sizeOf(i), tiers.pool));
    }
    closing = file;
    TimeUnit.MICROSECONDS.sleep(random.nextInt(2000));
    tiers.cache().evictBlocksByHfileName(file);
    closed++;
  }

  /** Prefers small offsets, so that some are worth promoting. */
  private static int skewed(ThreadLocalRandom random) {
    double u = random.nextDouble();
    return (int) (BLOCKS * u * u * u);
  }

  private void takeAway(ThreadLocalRandom random) throws Exception {
    TimeUnit.MICROSECONDS.sleep(500);
    String file = "file" + random.nextInt(FILES);
    switch (random.nextInt(40)) {
      case 0:
        tiers.cache().evictBlocksByHfileName(file);
        break;
      case 1:
        tiers.cache().evictBlocksRangeByHfileName(file, 50, 100);
        break;
      case 2:
        tiers.first().freeSpace("test");
        break;
      case 3:
        tiers.second().freeSpace("test");
        break;
      case 4:
        tiers.cache().onConfigurationChange(random.nextInt(4) == 0 ? none : tiers.conf);
        break;
      case 5:
        int offset = random.nextInt(SELDOM_BLOCKS);
        cache(tiers.cache(), key(SELDOM, offset, BlockType.BLOOM_CHUNK),
          block(BlockType.BLOOM_CHUNK, offset, sizeOf(offset), tiers.pool));
        break;
      default:
        tiers.cache().evictBlock(key(file, skewed(random), null));
    }
  }

  private boolean hasSeenAll() {
    return closed >= CLOSED && tiers.first().getIdleMetaEvictedCount() > 0;
  }

  private void runFor(long nanos, int readers) throws Exception {
    for (int i = 0; i < readers; i++) {
      tiers.start(random -> read("file" + random.nextInt(FILES), skewed(random), true));
    }
    tiers.start(random -> read(closing, random.nextInt(20), false));
    tiers.start(this::openAndClose);
    tiers.start(this::takeAway);
    long start = System.nanoTime();
    while (
      !tiers.hasFailed() && (System.nanoTime() - start < nanos
        || !hasSeenAll() && System.nanoTime() - start < nanos + EXTENSION_NANOS)
    ) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    tiers.stop();
  }

  private long dataInFirst() {
    return tiers.first().backingMap.values().stream().filter(entry -> !entry.metaBlock).count();
  }

  private boolean agrees(FrequencyPromotionPolicy policy, L1BucketCache first) {
    long bytes = first.backingMap.values().stream().filter(entry -> !entry.metaBlock)
      .mapToLong(entry -> first.bucketSizeFor(entry.getLength())).sum();
    return policy.getBlockCount() == dataInFirst() && policy.getUsedBytes() == bytes;
  }

  private void stress(int readers) throws Exception {
    none = new Configuration(tiers.conf);
    none.set("hbase.bucketcache.composite.promotion", "none");
    tiers.open();
    L1BucketCache first = tiers.first();
    runFor(TimeUnit.SECONDS.toNanos(Integer.getInteger(StressedTiers.SECONDS, 0)), readers);
    // Promotion may have been off at the end.
    tiers.cache().onConfigurationChange(tiers.conf);
    FrequencyPromotionPolicy policy = first.setPromotedShare(1);
    // The room for data may have been taken as full for a while.
    await(() -> {
      for (int i = 0; i < BLOCKS; i++) {
        read("file0", i, true);
        read("file0", i, false);
      }
      return policy.getBlockCount() > 0;
    });
    tiers.awaitWritten();
    // Once nothing moves any more, it stays like that.
    await(() -> {
      if (!agrees(policy, first)) {
        return false;
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      return agrees(policy, first);
    });
    assertTrue("files were closed", closed >= CLOSED);
    assertTrue(policy.getPromotedCount() + " blocks were promoted",
      policy.getPromotedCount() > 100);
    assertTrue("blocks were demoted", policy.getDemotedCount() > 0);
    for (int i = 0; i < closed; i++) {
      tiers.assertNothingIsLeftOf("closing" + i);
    }
    assertTrue("meta blocks gave way", first.getIdleMetaEvictedCount() > 0);
    tiers.cache().evictBlocksByHfileName(SELDOM);
    tiers.assertNothingIsLeftOf(SELDOM);
    for (int i = 0; i < FILES; i++) {
      tiers.cache().evictBlocksByHfileName("file" + i);
    }
    tiers.assertEmpty();
    // A shortage that does not end would keep its size from taking free places.
    await(() -> policy.shortages().length == 0);
    assertEquals(0, policy.getBlockCount());
    assertEquals(0, policy.getUsedBytes());
    tiers.close();
    tiers.awaitBuffers();
  }

  @Test
  public void testPolicyAndTiersAgreeInMemoryOverAFile() throws Exception {
    stress(3);
  }

  @Test
  public void testPolicyAndTiersAgreeInTwoTiersOfSharedMemory() throws Exception {
    tiers.useSharedMemory();
    // A server has fewer handlers.
    stress(64);
  }
}
