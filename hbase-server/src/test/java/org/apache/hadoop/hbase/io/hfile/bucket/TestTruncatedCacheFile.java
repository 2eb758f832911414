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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils.HFileBlockPair;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a block beyond the end of a cache file which was cut is evicted when it is
 * read, and is not put together from what is left of the files.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestTruncatedCacheFile {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestTruncatedCacheFile.class);

  private static final int BLOCK_SIZE = 2048;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private File dir;

  @Before
  public void setUp() {
    dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
  }

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testBlockBeyondTheEndIsEvicted() throws Exception {
    File file = new File(dir, "cache");
    BucketCache cache =
      new BucketCache("file:" + file, 32 << 20, BLOCK_SIZE, null, 1, 64, null);
    HFileBlockPair[] blocks = CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, 2);
    for (HFileBlockPair block : blocks) {
      cache.cacheBlock(block.getBlockName(), block.getBlock());
      Waiter.waitFor(util.getConfiguration(), 120_000, 5,
        () -> cache.backingMap.containsKey(block.getBlockName())
          && !cache.ramCache.containsKey(block.getBlockName()));
    }
    BlockCacheKey kept = first(cache, blocks);
    BlockCacheKey lost =
      kept == blocks[0].getBlockName() ? blocks[1].getBlockName() : blocks[0].getBlockName();
    setLength(file, cache.backingMap.get(lost).offset() + 1);

    assertNull(cache.getBlock(lost, true, false, true));
    assertNull("still in the map", cache.backingMap.get(lost));
    assertEquals(1, cache.backingMap.size());
    Cacheable read = cache.getBlock(kept, true, false, true);
    assertNotNull(read);
    read.release();
    cache.evictBlock(kept);
    assertEquals(0, cache.getAllocator().getUsedSize());
    cache.shutdown();
  }

  private static BlockCacheKey first(BucketCache cache, HFileBlockPair[] blocks) {
    return cache.backingMap.get(blocks[0].getBlockName()).offset()
        < cache.backingMap.get(blocks[1].getBlockName()).offset()
          ? blocks[0].getBlockName()
          : blocks[1].getBlockName();
  }

  @Test
  public void testBlockInTwoFilesIsNotReadWhenTheFirstFileIsCut() throws Exception {
    File first = new File(dir, "first");
    FileIOEngine engine = new FileIOEngine(1 << 20, false, first.getPath(),
      new File(dir, "second").getPath());
    byte[] bytes = new byte[BLOCK_SIZE];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i / 8);
    }
    int size = 1 << 19;
    long offset = size - BLOCK_SIZE / 2;
    engine.write(java.nio.ByteBuffer.wrap(bytes), offset);
    byte[][] read = new byte[1][];
    BucketEntry entry = new BucketEntry(offset, BLOCK_SIZE, BLOCK_SIZE, 0, false,
      e -> ByteBuffAllocator.NONE, ByteBuffAllocator.HEAP) {
      @Override
      Cacheable wrapAsCacheable(ByteBuff buffer) throws IOException {
        read[0] = buffer.toBytes();
        return null;
      }
    };
    entry.deserializerIndex = (byte) HFileBlock.BLOCK_DESERIALIZER.getDeserializerIdentifier();
    engine.read(entry);
    assertArrayEquals(bytes, read[0]);

    setLength(first, size - 256);
    assertThrows(HBaseIOException.class, () -> engine.read(entry));
    engine.shutdown();
  }

  private static void setLength(File file, long length) throws IOException {
    try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
      out.setLength(length);
    }
  }
}
