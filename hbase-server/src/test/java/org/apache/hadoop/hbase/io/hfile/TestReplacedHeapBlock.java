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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;

import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A block on the heap that replaces another one with the same key, see
 * {@link BlockCacheUtil#shouldReplaceExistingCacheBlock}, leaves nothing of that one's in what the
 * cache counts: else it would be full one day and have nothing in it.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestReplacedHeapBlock {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReplacedHeapBlock.class);

  private static final String FILE = "8e8ab58dcf39412da19833fcd8f687ac";
  private static final int SIZE = 2048;
  private static final long CAPACITY = 1 << 20;
  /** Together more than the cache has. */
  private static final int BLOCKS = 1000;
  private static final BlockType[] TYPES =
    { BlockType.DATA, BlockType.LEAF_INDEX, BlockType.BLOOM_CHUNK };

  private static HFileBlock block(BlockType type, int nextBlockOnDiskSize) {
    return new HFileBlock(type, SIZE, SIZE, -1, ByteBuff.wrap(ByteBuffer.allocate(SIZE)),
      HFileBlock.FILL_HEADER, 0, nextBlockOnDiskSize, SIZE, new HFileContextBuilder().build(),
      ByteBuffAllocator.HEAP);
  }

  private static BlockCacheKey key(int offset) {
    return new BlockCacheKey(FILE, offset, true, TYPES[offset % TYPES.length]);
  }

  private static void replacedBlocksAreCountedOut(FirstLevelBlockCache cache) {
    long empty = cache.getCurrentSize();
    for (int i = 0; i < BLOCKS; i++) {
      BlockType type = TYPES[i % TYPES.length];
      cache.cacheBlock(key(i), block(type, -1));
      long before = cache.getCurrentSize();
      long data = cache.getDataBlockCount();
      cache.cacheBlock(key(i), block(type, SIZE));
      assertNotNull("block " + i, cache.getBlock(key(i), true, false, true));
      assertEquals(before, cache.getCurrentSize());
      assertEquals(1, cache.getBlockCount());
      assertEquals(data, cache.getDataBlockCount());
      assertEquals(1, cache.evictBlocksByHfileName(FILE));
    }
    assertEquals(empty, cache.getCurrentSize());
    assertEquals(0, cache.getBlockCount());
    cache.shutdown();
  }

  @Test
  public void testReplacedBlocksAreCountedOut() {
    replacedBlocksAreCountedOut(
      new LruBlockCache(CAPACITY, SIZE, true, HBaseConfiguration.create()));
  }

  @Test
  public void testReplacedBlocksAreCountedOutOfTheAdaptiveCache() {
    replacedBlocksAreCountedOut(
      new LruAdaptiveBlockCache(CAPACITY, SIZE, true, HBaseConfiguration.create()));
  }

  @Test
  public void testOneBlockCachedByTwoThreadsCountsOnce() throws Exception {
    LruBlockCache cache = new LruBlockCache(CAPACITY, SIZE, true, HBaseConfiguration.create());
    cache.cacheBlock(key(0), block(BlockType.DATA, SIZE));
    long one = cache.getCurrentSize();
    cache.evictBlock(key(0));
    Phaser together = new Phaser(2);
    ExecutorService another = Executors.newSingleThreadExecutor();
    for (int i = 0; i < 10 * BLOCKS; i++) {
      Future<?> other = another.submit(() -> {
        together.arriveAndAwaitAdvance();
        cache.cacheBlock(key(0), block(BlockType.DATA, SIZE));
      });
      together.arriveAndAwaitAdvance();
      cache.cacheBlock(key(0), block(BlockType.DATA, SIZE));
      other.get();
      assertEquals(one, cache.getCurrentSize());
      assertEquals(1, cache.getBlockCount());
      cache.evictBlock(key(0));
    }
    another.shutdownNow();
    cache.shutdown();
  }
}
