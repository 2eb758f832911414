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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that what a mapped file holds is found again where it was written, and that a map is not
 * taken for the mapped file of another run.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestMappedFileOrder {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMappedFileOrder.class);

  private static final int PIECE = 4 << 20;
  /** The number of pieces of a sparse file, which takes a page of each. */
  private static final int PIECES = 256;

  private static final int BLOCKS = 300;
  private static final int BLOCK_SIZE = 32 * 1024;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
  private File file;
  private File map;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Before
  public void makeFolder() {
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    file = new File(dir, "cache");
    map = new File(dir, "map");
  }

  @After
  public void deleteFolder() {
    pool.clean();
    util.cleanupTestDir();
  }

  @Test
  public void testOffsetsAreThoseOfTheFile() throws IOException {
    FileMmapIOEngine engine =
      new ExclusiveMemoryMmapIOEngine(file.getPath(), (long) PIECES * PIECE);
    for (int i = 0; i < PIECES; i++) {
      engine.write((ByteBuffer) ByteBuffer.allocate(4).putInt(i).flip(), position(i));
    }
    engine.sync();
    engine.shutdown();
    try (RandomAccessFile written = new RandomAccessFile(file, "r")) {
      for (int i = 0; i < PIECES; i++) {
        written.seek(position(i));
        assertEquals("what is written to piece " + i, i, written.readInt());
      }
    }
  }

  @Test
  public void testEngineFindsWhatTheOneBeforeItWrote() throws IOException {
    try (RandomAccessFile written = new RandomAccessFile(file, "rw")) {
      written.setLength((long) PIECES * PIECE);
      for (int i = 0; i < PIECES; i++) {
        written.seek(position(i));
        written.writeInt(i);
      }
    }
    FileMmapIOEngine engine =
      new SharedMemoryMmapIOEngine(file.getPath(), (long) PIECES * PIECE);
    for (int i = 0; i < PIECES; i++) {
      ByteBuff read = ByteBuff.wrap(ByteBuffer.allocate(4));
      engine.bufferArray.read(position(i), read);
      assertEquals("what is read of piece " + i, i, read.rewind().getInt());
    }
    engine.shutdown();
  }

  /** Across the first two pieces, then in the middle of each. */
  private static long position(int piece) {
    return piece == 0 ? PIECE - 2 : (long) piece * PIECE + PIECE / 2;
  }

  @Test
  public void testRecoveredBlocksOfMmapAreTheirOwnAndInThePool() throws IOException {
    assertRecovered("mmap:", 1);
  }

  @Test
  public void testRecoveredBlocksOfPmemAreTheirOwn() throws IOException {
    assertRecovered("pmem:", 0);
  }

  private void assertRecovered(String engine, int buffersOfABlock) throws IOException {
    fill(engine);
    BucketCache cache = recover(engine);
    assertEquals(BLOCKS, cache.backingMap.size());
    for (int i = 0; i < BLOCKS; i++) {
      Cacheable block = cache.getBlock(key(i), true, false, true);
      assertNotNull("block " + i, block);
      assertEquals(buffersOfABlock, pool.getUsedBufferCount() - pool.getFreeBufferCount());
      assertArrayEquals(CachedBlockFixture.content(block(i)), CachedBlockFixture.content(block));
      block.release();
    }
    cache.evictBlocksByHfileName("file");
    cache.shutdown();
  }

  @Test
  public void testMapIsNotTakenForThatOfAnotherRunOfMmap() throws IOException {
    assertStartsEmptyAndCaches("mmap:");
  }

  @Test
  public void testMapIsNotTakenForThatOfAnotherRunOfPmem() throws IOException {
    assertStartsEmptyAndCaches("pmem:");
  }

  private void assertStartsEmptyAndCaches(String engine) throws IOException {
    fill(engine);
    try (RandomAccessFile changed = new RandomAccessFile(file, "rw")) {
      changed.write(new byte[BLOCKS * (BLOCK_SIZE + 1024)]);
    }
    assertTrue(file.setLastModified(file.lastModified() - 60_000));

    BucketCache cache = recover(engine);
    for (int i = 0; i < BLOCKS; i++) {
      assertNull("block " + i, cache.getBlock(key(i), true, false, true));
    }
    assertEquals(0, cache.backingMap.size());
    assertEquals(0, cache.blocksByHFile.size());
    assertEquals(0, cache.getAllocator().getUsedSize());
    assertEquals(0, cache.getCurrentDataSize());

    cache(cache, 0);
    cache.getBlock(key(0), true, false, true).release();
    cache.evictBlocksByHfileName("file");
    cache.shutdown();
  }

  /** Caches all blocks, and shuts down. */
  private void fill(String engine) throws IOException {
    BucketCache before = open(engine);
    for (int i = 0; i < BLOCKS; i++) {
      cache(before, i);
    }
    before.shutdown();
    // These entries belong to the process that is gone.
    before.backingMap.values().forEach(BucketEntry::markAsEvicted);
  }

  private static void cache(BucketCache cache, int i) {
    BlockCacheKey key = key(i);
    CachedBlockFixture.cache(cache, key, block(i));
    CachedBlockFixture.await(
      () -> cache.backingMap.containsKey(key) && !cache.ramCache.containsKey(key));
  }

  private BucketCache recover(String engine) throws IOException {
    BucketCache cache = open(engine);
    new CacheConfig(conf, null, cache, pool);
    CachedBlockFixture.await(() -> cache.getBackingMapValidated().get());
    return cache;
  }

  private static BlockCacheKey key(int i) {
    return CachedBlockFixture.key("file", (long) i * BLOCK_SIZE, BlockType.DATA);
  }

  private static HFileBlock block(int i) {
    return CachedBlockFixture.block(BlockType.DATA, (long) i * BLOCK_SIZE, BLOCK_SIZE);
  }

  /** Opens a cache whose pieces have 1 MB. */
  private BucketCache open(String engine) throws IOException {
    return new BucketCache(engine + file, 16 << 20, BLOCK_SIZE, new int[] { BLOCK_SIZE + 1024 }, 1,
      64, map.getPath(), 60000, conf);
  }
}
