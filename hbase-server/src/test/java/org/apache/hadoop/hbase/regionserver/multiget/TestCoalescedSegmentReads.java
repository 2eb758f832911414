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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.load.BatchReadCoalescer;
import org.apache.hadoop.hbase.io.hfile.segment.SegmentCache;
import org.apache.hadoop.hbase.io.hfile.segment.SegmentCacheSettings;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** What a batch reads from a tier of segments is read once, too. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestCoalescedSegmentReads {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCoalescedSegmentReads.class);

  private static final int SIZE = 4000;
  private static final BlockCacheKey KEY = key("file", 1, BlockType.DATA);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final LongAdder spared = new LongAdder();
  private final BatchReadCoalescer reads = new BatchReadCoalescer(spared);
  private ByteBuffAllocator pool;
  private SegmentCache cache;

  @Before
  public void setUp() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    String engine = SegmentCacheSettings.ENGINE + new File(folder.getRoot(), "segments");
    cache = new SegmentCache("L2", engine,
      SegmentCacheSettings.of(engine, "hbase.bucketcache.l2.size", 33 << 20, null, conf), conf);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 4);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 0);
    pool = ByteBuffAllocator.create(conf, true);
    cache.useAllocator(pool);
    HFileBlock block = block(BlockType.DATA, 1, SIZE);
    cache.cacheBlock(KEY, block);
    block.release();
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  /** Returns the number of reads of the segment in memory, where all blocks of this test are. */
  private long readsOfSegments() {
    long[] count = new long[1];
    cache.forEachMetric((kind, name, value) -> count[0] =
      name.equals("MemoryReadCount") ? value.getAsLong() : count[0]);
    return count[0];
  }

  private Cacheable get(BlockCacheKey key) {
    return cache.getBlock(key, true, false, true);
  }

  @Test
  public void testTheGetsOfABatchReadABlockOnceAndEachOfThemHits() {
    reads.enter();
    Cacheable first;
    Cacheable second;
    try {
      first = get(KEY);
      second = get(key("file", 1, BlockType.DATA));
    } finally {
      BatchReadCoalescer.leave();
    }
    assertSame(first, second);
    assertEquals(1, readsOfSegments());
    assertEquals(1, spared.sum());
    assertEquals(2, cache.getStats().getHitCount());
    reads.release();
    first.release();
    assertEquals("held", 1, pool.getUsedBufferCount() - pool.getFreeBufferCount());
    assertArrayEquals(content(block(BlockType.DATA, 1, SIZE)), content(second));
    second.release();
    assertEquals("given back", 0, pool.getUsedBufferCount() - pool.getFreeBufferCount());
    Cacheable alone = get(KEY);
    Cacheable again = get(KEY);
    assertNotSame(alone, again);
    assertEquals(3, readsOfSegments());
    alone.release();
    again.release();
  }

  private long gauge(String wanted) {
    long[] value = new long[1];
    cache.forEachMetric((kind, name, gauge) -> value[0] =
      name.equals(wanted) ? gauge.getAsLong() : value[0]);
    return value[0];
  }

  /** Stores blocks as they follow each other in a file, so many that some are on the device. */
  private List<BlockCacheKey> storeFile() {
    List<BlockCacheKey> keys = new ArrayList<>();
    long offset = 0;
    for (int i = 0; i < 600; i++) {
      HFileBlock block = block(BlockType.DATA, offset, SIZE);
      keys.add(key("rows", offset, BlockType.DATA));
      cache.cacheBlock(keys.get(i), block);
      CachedBlockFixture.await(() -> gauge("WaitingSegmentCount") == 0);
      offset += block.getOnDiskSizeWithHeader();
      block.release();
    }
    return keys;
  }

  private void getAndRelease(BlockCacheKey key) {
    Cacheable block = get(key);
    assertArrayEquals(content(block(BlockType.DATA, key.getOffset(), SIZE)), content(block));
    block.release();
  }

  @Test
  public void testBlocksOfRowsSideBySideAreReadTogether() {
    List<BlockCacheKey> keys = storeFile();
    reads.enter();
    try {
      getAndRelease(keys.get(0));
      assertEquals(0, gauge("JoinedReadCount"));
      for (int i = 1; i < 10; i++) {
        // Each read takes one, and three with it.
        getAndRelease(keys.get(i));
        assertEquals((i + 3) / 4 * 3, gauge("JoinedReadCount"));
      }
    } finally {
      BatchReadCoalescer.leave();
    }
    assertEquals(6, spared.sum());
    assertEquals(10, cache.getStats().getHitCount());
    reads.release();
    assertEquals("given back", 0, pool.getUsedBufferCount() - pool.getFreeBufferCount());
  }

  @Test
  public void testBlocksOfRowsFarFromEachOtherAreReadAlone() {
    List<BlockCacheKey> keys = storeFile();
    reads.enter();
    try {
      for (int i = 20; i >= 0; i -= 2) {
        getAndRelease(keys.get(i));
      }
    } finally {
      BatchReadCoalescer.leave();
    }
    reads.release();
    assertEquals(0, gauge("JoinedReadCount"));
    for (BlockCacheKey key : keys.subList(0, 20)) {
      getAndRelease(key);
    }
    assertEquals("without a batch", 0, gauge("JoinedReadCount"));
  }

  @Test
  public void testWhatIsNotThereIsAMissForEachGet() {
    reads.enter();
    try {
      assertNull(get(key("file", 2, BlockType.DATA)));
      assertNull(get(key("another", 1, BlockType.DATA)));
      assertNull(get(key("another", 1, BlockType.DATA)));
    } finally {
      BatchReadCoalescer.leave();
    }
    reads.release();
    assertEquals(3, cache.getStats().getMissCount());
    assertEquals(0, spared.sum());
  }
}
