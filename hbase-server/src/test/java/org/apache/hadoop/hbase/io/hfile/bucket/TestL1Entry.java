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
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** A place that is read without a lock, over each kind of engine that L1 may have. */
@Category({ IOTests.class, SmallTests.class })
public class TestL1Entry {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestL1Entry.class);

  private static final int CAPACITY = 16 * 1024 * 1024;
  /** The engine's memory is in pieces of a sixteenth of its capacity. */
  private static final int PIECE = CAPACITY / 16;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final AtomicInteger freed = new AtomicInteger();

  private L1Entry write(IOEngine engine, HFileBlock block, long offset)
    throws IOException {
    int length = block.getSerializedLength();
    engine.write(block.getBufferReadOnly(), offset);
    engine.write(block.getMetaData(ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE)),
      offset + length - HFileBlock.BLOCK_METADATA_SPACE);
    L1Entry entry = new L1Entry(offset, length, block.getOnDiskSizeWithHeader(),
      1, false, e -> freed::incrementAndGet, ByteBuffAllocator.HEAP);
    entry.setDeserializerReference(block.getDeserializer());
    return entry;
  }

  /**
   * Reads like a tier: it retains the entry first, and a block in place takes over the reference.
   */
  private static HFileBlock read(L1Entry entry, IOEngine engine) throws IOException {
    if (!LockFreeLookup.retainIfAlive(entry)) {
      return null;
    }
    boolean handedOver = false;
    try {
      HFileBlock block = (HFileBlock) entry.read(engine);
      handedOver = engine.usesSharedMemory();
      return block;
    } finally {
      if (!handedOver) {
        entry.release();
      }
    }
  }

  private void blocksAreSharedByTheirReaders(IOEngine engine, long offset) throws IOException {
    HFileBlock block = block(BlockType.LEAF_INDEX, 4711, 40_000);
    L1Entry entry = write(engine, block, offset);
    HFileBlock one = read(entry, engine);
    HFileBlock two = read(entry, engine);
    HFileBlock three = read(entry, engine);
    assertEquals(4, entry.refCnt());
    assertTrue(entry.isRpcRef());
    assertNotSame("a scanner tells blocks apart by identity", two, three);
    assertSame("equal contexts are one", two.getHFileContext(), three.getHFileContext());
    for (HFileBlock read : new HFileBlock[] { one, two, three }) {
      assertTrue(read.isSharedMem());
      assertEquals(block, read);
      assertArrayEquals(content(block), content(read));
      // Whatever one reader does to a buffer that it got.
      read.getBufferReadOnly().position(17).limit(20);
      read.getBufferWithoutHeader().skip(100);
      assertEquals(block, read);
      assertEquals(block.getOnDiskSizeWithHeader(), read.getOnDiskSizeWithHeader());
      assertEquals(block.getNextBlockOnDiskSize(), read.getNextBlockOnDiskSize());
      assertTrue(read.isUnpacked());
      read.release();
    }
    assertFalse(entry.isRpcRef());
    assertTrue(entry.markAsEvicted());
    assertEquals(1, freed.get());
  }

  @Test
  public void testBlocksOfTheHeaplessEngineAreShared() throws IOException {
    blocksAreSharedByTheirReaders(new ByteBufferIOEngine(CAPACITY), 0);
  }

  @Test
  public void testBlocksThatSpanTwoPiecesOfMemoryAreShared() throws IOException {
    blocksAreSharedByTheirReaders(new ByteBufferIOEngine(CAPACITY), PIECE - 20_224);
    freed.set(0);
    blocksAreSharedByTheirReaders(new ByteBufferIOEngine(CAPACITY), PIECE - 256);
  }

  @Test
  public void testBlocksOfPersistentMemoryAreShared() throws IOException {
    IOEngine engine =
      new SharedMemoryMmapIOEngine(new File(folder.getRoot(), "pmem").getPath(), CAPACITY);
    blocksAreSharedByTheirReaders(engine, 512);
    engine.shutdown();
  }

  @Test
  public void testCopyDoesNotKeepThePlace() throws IOException {
    IOEngine engine =
      new ExclusiveMemoryMmapIOEngine(new File(folder.getRoot(), "mmap").getPath(), CAPACITY);
    HFileBlock block = block(BlockType.DATA, 1, 40_000);
    L1Entry entry = write(engine, block, 0);
    HFileBlock read = read(entry, engine);
    assertFalse(entry.isRpcRef());
    assertTrue(entry.markAsEvicted());
    assertArrayEquals(content(block), content(read));
    read.release();
    engine.shutdown();
  }

  @Test
  public void testEvictedPlaceIsReadByNobodyNewAndFreedWithItsLastReader() throws IOException {
    IOEngine engine = new ByteBufferIOEngine(CAPACITY);
    HFileBlock block = block(BlockType.DATA, 1, 40_000);
    L1Entry entry = write(engine, block, 0);
    HFileBlock held = read(entry, engine);
    assertFalse(entry.markAsEvicted());
    assertEquals(0, freed.get());
    assertArrayEquals(content(block), content(held));
    assertTrue(held.release());
    assertEquals(1, freed.get());
    for (int i = 0; i < 100; i++) {
      assertNull(read(entry, engine));
    }
    assertEquals("a count that was zero stays zero", 0, entry.refCnt());
    assertEquals(1, freed.get());
  }

  @Test
  public void testFailedReadKeepsNoReference() throws IOException {
    IOEngine engine = new ByteBufferIOEngine(CAPACITY);
    L1Entry entry = write(engine, block(BlockType.DATA, 1, 40_000), 0);
    engine.write(ByteBuffer.allocate(100), 0);
    assertThrows(IOException.class, () -> read(entry, engine));
    assertEquals(1, entry.refCnt());
    entry.markAsEvicted();
    assertEquals(1, freed.get());
  }

  /** A place that were not freed would also keep a disabled tier from being used again. */
  @Test
  public void testFailedWriteOfAQueuedBlockFreesItsPlaceOnce() throws IOException {
    int itemSize = 40 * 1024 + 256;
    BucketAllocator allocator = new BucketAllocator(1 << 20, new int[] { itemSize });
    LongAdder size = new LongAdder();
    HFileBlock block = block(BlockType.LEAF_INDEX, 1, 40_000);
    L1QueueEntry queued = new L1QueueEntry(any -> false, new BucketCache.RAMQueueEntry(
      new BlockCacheKey("f", 1), block, 0, false, false));
    IOEngine engine = mock(IOEngine.class);
    IOException failure = new IOException("device is gone");
    doThrow(failure).doNothing().when(engine).write(any(ByteBuff.class), anyLong());
    ByteBuffer metadata = ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE);
    assertSame(failure, assertThrows(IOException.class, () -> queued.writeToCache(engine, allocator,
      size, entry -> freed::incrementAndGet, metadata)));
    assertEquals(0, allocator.getUsedSize());
    assertEquals(0, size.sum());
    assertEquals(0, freed.get());
    metadata.clear();
    BucketEntry written =
      queued.writeToCache(engine, allocator, size, entry -> freed::incrementAndGet, metadata);
    assertEquals(itemSize, allocator.getUsedSize());
    assertEquals(block.getSerializedLength(), size.sum());
    assertEquals(0, freed.get());
    assertTrue(written.markAsEvicted());
    assertEquals("the tier's recycler frees it", 1, freed.get());
    assertEquals(itemSize, allocator.getUsedSize());
  }
}
