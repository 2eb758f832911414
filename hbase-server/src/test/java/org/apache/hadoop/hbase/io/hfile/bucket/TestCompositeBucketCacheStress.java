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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.cache;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
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
 * the blocks read. Afterwards nothing may be left behind: no block of a file that was closed, no
 * place taken, no buffer out of its pool.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestCompositeBucketCacheStress {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCacheStress.class);

  /** Minimum time; by default a test ends as soon as all that is to happen has happened. */
  private static final long DURATION_NANOS =
    TimeUnit.SECONDS.toNanos(Integer.getInteger(StressedTiers.SECONDS, 0));
  /** How much longer the test runs if an expected event has not happened yet. */
  private static final long EXTENSION_NANOS = TimeUnit.SECONDS.toNanos(120);
  /** Files that are closed at least while it runs. */
  private static final int CLOSED = 120;
  private static final int FILES = 8;
  private static final int BLOCKS = 300;
  private static final int BUCKET = 5120;
  /** The size of a block that fills a bucket. */
  private static final int EXACT = BUCKET - HConstants.HFILEBLOCK_HEADER_SIZE_NO_CHECKSUM
    - HFileBlock.BLOCK_METADATA_SPACE;
  /** One of them is larger than any bucket. */
  private static final int[] SIZES = { 4000, EXACT, 1, EXACT - 1, EXACT + 1, 2047, 4001 };

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final List<String> closed = new ArrayList<>();
  private volatile String closing = "none";
  private volatile int closedCount;
  private StressedTiers tiers;

  @Before
  public void setUp() {
    tiers = new StressedTiers(folder.getRoot(), 1, 3, String.valueOf(BUCKET));
  }

  @After
  public void tearDown() {
    tiers.close();
  }

  /** Every second block of a file is a meta block. */
  private static BlockType typeOf(long offset) {
    return offset % 2 == 0 ? BlockType.LEAF_INDEX : BlockType.DATA;
  }

  private static int sizeOf(long offset) {
    return SIZES[(int) (offset % SIZES.length)];
  }

  private void read(String file, long offset, boolean cacheOnMiss) {
    BlockType type = typeOf(offset);
    BlockCacheKey key = key(file, offset, offset % 3 == 0 ? null : type);
    tiers.read(key, type, sizeOf(offset), cacheOnMiss);
  }

  /** Caches a file, lets others read it and closes it; no thread caches a block of it again. */
  private void openAndClose(ThreadLocalRandom random) throws Exception {
    String file = "closing" + closed.size();
    for (int i = 0; i < 20; i++) {
      BlockType type = typeOf(2 * i);
      cache(tiers.cache(), key(file, 2 * i, type), block(type, 2 * i, sizeOf(2 * i), tiers.pool));
    }
    closing = file;
    TimeUnit.MICROSECONDS.sleep(random.nextInt(3000));
    tiers.cache().evictBlocksByHfileName(file);
    closed.add(file);
    closedCount = closed.size();
  }

  private boolean hasSeenAll() {
    return closedCount > CLOSED && tiers.first().getSpilledCount() > 0
      && tiers.cache().getReturnedBlockCount() > 0
      && tiers.first().getStats().getHitCount() > 0;
  }

  private void stress(int readers) throws Exception {
    for (int i = 0; i < readers; i++) {
      tiers.start(
        random -> read("file" + random.nextInt(FILES), random.nextInt(BLOCKS), true));
    }
    tiers.start(random -> read(closing, 2 * random.nextInt(20), false));
    tiers.start(this::openAndClose);
    tiers.start(random -> {
      TimeUnit.MILLISECONDS.sleep(1);
      String file = "file" + random.nextInt(FILES);
      if (random.nextInt(20) == 0) {
        tiers.cache().evictBlocksByHfileName(file);
      } else if (random.nextInt(20) == 0) {
        tiers.cache().evictBlocksRangeByHfileName(file, 50, 100);
      } else if (random.nextInt(10) == 0) {
        // With many readers, L1 seldom has space for long enough for a block to return.
        tiers.first().evictBlocksByHfileName(file);
      } else {
        tiers.cache().evictBlock(key(file, random.nextInt(BLOCKS), null));
      }
    });
    long end = System.nanoTime() + DURATION_NANOS;
    while (
      !tiers.hasFailed()
        && System.nanoTime() - end < (hasSeenAll() ? 0 : EXTENSION_NANOS)
    ) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
    tiers.stop();
    tiers.awaitWritten();
    assertTrue(closedCount + " files closed, " + tiers.first().getSpilledCount()
      + " blocks spilled, " + tiers.cache().getReturnedBlockCount() + " came back, "
      + tiers.first().getStats().getHitCount()
      + " hits in L1", hasSeenAll());
    closed.forEach(tiers::assertNothingIsLeftOf);
    for (int i = 0; i < FILES; i++) {
      tiers.cache().evictBlocksByHfileName("file" + i);
    }
    tiers.assertEmpty();
    tiers.awaitBuffers();
    assertNull(tiers.cache().getBlock(key("file0", 0, null), true, false, true));
  }

  @Test
  public void testNothingIsLeftBehindInMemoryOverAFile() throws Exception {
    tiers.open();
    stress(3);
  }

  @Test
  public void testNothingIsLeftBehindInTwoTiersOfSharedMemory() throws Exception {
    tiers.useSharedMemory();
    tiers.open();
    // A server has fewer handlers.
    stress(64);
  }
}
