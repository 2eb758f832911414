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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.nio.ByteBuff;
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
 * Tests that a bucket cache counts the blocks that it has: not those that were too large for any
 * bucket, that could not be synced, or that another block has replaced. Blocks that fill a bucket
 * exactly, that are one byte smaller or larger, and more blocks than fit.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestBlockCount {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockCount.class);

  private static final int BUCKET = 5 * 1024;
  /** Written besides a block's content. */
  private static final int OVERHEAD =
    HConstants.HFILEBLOCK_HEADER_SIZE_NO_CHECKSUM + HFileBlock.BLOCK_METADATA_SPACE;
  private static final int EXACT = BUCKET - OVERHEAD;
  private static final String FILE = "8e8ab58dcf39412da19833fcd8f687ac";

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final int writers;
  private final AtomicInteger drained = new AtomicInteger();
  /** Whether a block is evicted from the queue and again when its writer has inserted it. */
  private volatile boolean evictedTwice;
  private int insertions;
  private BucketCache cache;

  public TestBlockCount(int writers) {
    this.writers = writers;
  }

  @Parameterized.Parameters(name = "writers={0}")
  public static Object[] parameters() {
    return new Object[] { 1, BucketCache.DEFAULT_WRITER_THREADS };
  }

  @Before
  public void setUp() throws IOException {
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    cache = new BucketCache("files:" + new File(dir, "1") + "," + new File(dir, "2"), 2 << 20,
      BUCKET, new int[] { BUCKET }, writers, 1024, null, 60_000, conf) {
      @Override
      void doDrain(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
        super.doDrain(entries, metaBuff);
        drained.addAndGet(entries.size());
      }

      @Override
      protected void putIntoBackingMap(BlockCacheKey key, BucketEntry entry) {
        if (evictedTwice) {
          assertTrue(evictBlock(key));
        }
        super.putIntoBackingMap(key, entry);
        if (evictedTwice) {
          assertTrue(evictBlock(key));
        }
      }
    };
  }

  @After
  public void tearDown() {
    cache.evictBlocksByHfileName(FILE);
    assertEquals(0, cache.getBlockCount());
    cache.shutdown();
    util.cleanupTestDir();
  }

  private static BlockCacheKey key(long offset) {
    return CachedBlockFixture.key(FILE, offset, BlockType.DATA);
  }

  private void cache(long offset, HFileBlock block) {
    CachedBlockFixture.cache(cache, key(offset), block);
    insertions++;
  }

  private void cache(long offset, int size) {
    cache(offset, CachedBlockFixture.block(BlockType.DATA, offset, size));
  }

  private void awaitWriters() {
    CachedBlockFixture.await(() -> drained.get() == insertions);
  }

  private static HFileBlock block(int nextBlockOnDiskSize) {
    ByteBuff buffer = ByteBuff.wrap(ByteBuffer.allocate(2048));
    return new HFileBlock(BlockType.DATA, 2048, 2048, -1, buffer, HFileBlock.FILL_HEADER, 0,
      nextBlockOnDiskSize, 2048, new HFileContextBuilder().build(), ByteBuffAllocator.HEAP);
  }

  @Test
  public void testBlockLargerThanAnyBucketIsNotCounted() {
    cache(0, 1);
    cache(1, EXACT - 1);
    cache(2, EXACT);
    cache(3, EXACT + 1);
    awaitWriters();

    assertEquals(3, cache.backingMap.size());
    assertFalse(cache.backingMap.containsKey(key(3)));
    assertEquals(3, cache.getBlockCount());
  }

  @Test
  public void testReplacedBlockIsCountedOnce() {
    for (int i = 0; i < 3; i++) {
      cache(i, block(-1));
    }
    awaitWriters();
    for (int i = 0; i < 3; i++) {
      // A block that includes the size of the next one replaces a cached block that does not.
      cache(i, block(2048));
    }
    awaitWriters();

    assertEquals(3, cache.backingMap.size());
    assertEquals(3, cache.getBlockCount());
  }

  @Test
  public void testBlockThatCouldNotBeSyncedIsNotCounted() throws IOException {
    // The first blocks go to the end: this file is not written to and opened again, but synced.
    ((FileIOEngine) cache.ioEngine).getFileChannels()[0].close();
    cache(0, EXACT);
    awaitWriters();

    assertEquals(0, cache.backingMap.size());
    assertEquals(0, cache.getBlockCount());
    ((FileIOEngine) cache.ioEngine).refreshFileConnection(0, new IOException("closed"));
  }

  @Test
  public void testBlockEvictedTwiceWhileItIsInsertedIsTakenOffOnce() {
    cache(0, EXACT);
    awaitWriters();
    evictedTwice = true;
    cache(1, EXACT);
    awaitWriters();

    assertEquals(1, cache.backingMap.size());
    assertEquals(1, cache.getBlockCount());
  }

  @Test
  public void testMoreBlocksThanFit() {
    for (int i = 0; i < 1000; i++) {
      cache(i, i % 2 == 0 ? EXACT : 1);
      if (i % 50 == 0) {
        awaitWriters();
      }
    }
    awaitWriters();

    assertTrue(cache.getStats().getEvictedCount() > 0);
    assertEquals(cache.backingMap.size(), cache.getBlockCount());
  }
}
