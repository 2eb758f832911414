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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentStoreSettings;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/**
 * A {@link SegmentCache} several times too small, used by many threads for whatever it can do: what
 * is read is always right, the counts are those of the index in the end, and so they are after a
 * restart. For as many operations of each thread as <code>-Dsegment.cache.operations</code> says,
 * and for as many minutes, 10 at most, as <code>-Dsegment.soak.minutes</code> does.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentCacheStress {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentCacheStress.class);

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  /** The number of operations of all threads together. */
  private static final int OPERATIONS = Integer.getInteger("segment.cache.operations", 48_000);
  private static final long MINUTES = Long.getLong("segment.soak.minutes", 0);
  private static final int FILES = 12;
  private static final int BLOCKS = 400;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final int threadCount;
  private final int paths;
  private final long capacity;
  private final int buffers;
  private File directory;
  private ByteBuffAllocator pool;
  private SegmentCache cache;

  public TestSegmentCacheStress(int threadCount, int paths, long capacity, int buffers) {
    this.threadCount = threadCount;
    this.paths = paths;
    this.capacity = capacity;
    this.buffers = buffers;
  }

  /** The second has more threads than a server has handlers, and the least of everything else. */
  @Parameterized.Parameters(name = "threads={0}, paths={1}, capacity={2}, buffers={3}")
  public static List<Object[]> parameters() {
    long fewest = ((long) SegmentStoreSettings.MIN_SEGMENTS << 20) + Superblock.HEADER_SIZE;
    return Arrays.asList(new Object[] { 4, 2, 20L << 20, 6 },
      new Object[] { 64, 1, fewest + (1 << 20) + 1, SegmentStoreSettings.MIN_BUFFERS });
  }

  @Before
  public void setUp() throws IOException {
    directory = new File(util.getDataTestDir().toString());
    assertTrue(directory.mkdirs() || directory.isDirectory());
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 8);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 16 * 1024);
    pool = ByteBuffAllocator.create(conf, true);
    cache = open();
  }

  @After
  public void tearDown() {
    cache.shutdown();
    util.cleanupTestDir();
  }

  private SegmentCache open() throws IOException {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    conf.setInt(SegmentCacheSettings.BUFFERS_KEY, buffers);
    String engine = SegmentCacheSettings.ENGINE + new File(directory, "a")
      + (paths > 1 ? "," + new File(directory, "b") : "");
    SegmentCache opened = new SegmentCache("L2", engine,
      SegmentCacheSettings.of(engine, "hbase.bucketcache.l2.size", capacity, null, conf), conf);
    opened.useAllocator(pool);
    return opened;
  }

  private static String nameOf(int file) {
    return String.format("%032x", file + 1);
  }

  /** No two files have a block at the same offset, so a block tells whose it is. */
  private static long offsetOf(int file, int block) {
    return (long) block * FILES * 40_000 + file;
  }

  private static HFileBlock blockAt(long offset) {
    return block(BlockType.DATA, offset, 1000 + (int) (offset % 37) * 1000);
  }

  private void read(BlockCacheKey key) {
    Cacheable found = cache.getBlock(key, true, false, true);
    if (found != null) {
      try {
        assertArrayEquals(content(blockAt(key.getOffset())), content(found));
      } finally {
        found.release();
      }
    }
  }

  private void work(int seed) {
    int operations = OPERATIONS / threadCount;
    Random random = new Random(seed);
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
    for (
      int i = 0; (i < operations || System.nanoTime() < end) && failure.get() == null; i++
    ) {
      int file = random.nextInt(FILES);
      // A tenth of the blocks has most of the reads.
      int block = random.nextInt(random.nextBoolean() ? BLOCKS / 10 : BLOCKS);
      BlockCacheKey key = key(nameOf(file), offsetOf(file, block), BlockType.DATA);
      int what = random.nextInt(1000);
      if (what < 500) {
        read(key);
      } else if (what < 960) {
        HFileBlock inserted = blockAt(key.getOffset());
        cache.cacheBlock(key, inserted, false, what % 3 == 0);
        inserted.release();
      } else if (what < 980) {
        cache.evictBlock(key);
      } else if (what < 988) {
        cache.evictBlocksRangeByHfileName(nameOf(file), key.getOffset(),
          key.getOffset() + 500_000);
      } else if (what < 992) {
        cache.evictBlocksByHfileName(nameOf(file));
      } else if (what < 996) {
        cache.isAlreadyCached(key);
      } else {
        cache.iterator().forEachRemaining(cached -> assertTrue(cached.getSize() > 0));
      }
    }
  }

  @Test
  public void testWhatIsReadIsRightAndTheCountsAreThoseOfTheIndex() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < threadCount; t++) {
      int seed = t;
      Thread thread = new Thread(() -> {
        try {
          work(seed);
        } catch (Throwable e) {
          failure.compareAndSet(null, e);
        }
      });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
    assertTrue("nothing was reclaimed", cache.metrics().segmentsReclaimed.sum() > 0);
    assertEquals(0, cache.metrics().badEntries.sum());
    assertEquals(0, pool.getUsedBufferCount() - pool.getFreeBufferCount());
    // Stopped, so that nothing is reclaimed while it is counted.
    cache.shutdown();
    long blocks = cache.getBlockCount();
    assertEquals(cache.index().size(), blocks + cache.files().getDroppedBlockCount());
    cache = open();
    assertTrue(cache.isRestored());
    int[] there = new int[1];
    for (int file = 0; file < FILES; file++) {
      cache.forEachBlockOf(nameOf(file), key -> {
        read(key);
        there[0]++;
      });
    }
    // It may have found that it should make room.
    long least = blocks - cache.metrics().blocksReclaimed.sum();
    assertTrue(there[0] + " of " + least + " to " + blocks,
      there[0] >= least && there[0] <= blocks);
    assertTrue(cache.getStats().getHitCount() >= least);
    while (cache.files().getDroppedBlockCount() > 0) {
      LockSupport.parkNanos(1_000_000);
    }
    cache.shutdown();
    assertEquals(cache.getBlockCount(), cache.index().size());
  }
}
