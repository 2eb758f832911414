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
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileBlockBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests that objects that many blocks can share are not created for each of them. */
@Category({ IOTests.class, SmallTests.class })
public class TestBlockGarbage {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockGarbage.class);

  private static final int BLOCK_SIZE = 4096;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testBlocksFromTheCacheShareTheirContext() throws Exception {
    BucketCache cache = new BucketCache("offheap", 4 << 20, BLOCK_SIZE, new int[] { 8192 }, 1, 64,
      null, 60000, conf);
    HFileContext first = context(cache, 0, true, ChecksumType.CRC32C, 16384);
    assertSame(first, context(cache, 1, true, ChecksumType.CRC32C, 16384));
    HFileContext none = context(cache, 2, false, ChecksumType.NULL, 0);
    assertSame(none, context(cache, 3, false, ChecksumType.NULL, 0));
    HFileContext other = context(cache, 4, true, ChecksumType.CRC32, 512);
    assertNotSame(first, other);
    assertNotSame(first, context(cache, 5, true, ChecksumType.CRC32C, 512));
    // And none took another one's place.
    assertSame(other, context(cache, 6, true, ChecksumType.CRC32, 512));
    assertTrue(first.isUseHBaseChecksum());
    assertEquals(16384, first.getBytesPerChecksum());
    assertFalse(none.isUseHBaseChecksum());
    cache.evictBlocksByHfileName("file");
    cache.shutdown();
  }

  private HFileContext context(BucketCache cache, int i, boolean checksum, ChecksumType type,
    int bytesPerChecksum) {
    BlockCacheKey key = CachedBlockFixture.key("file", i * BLOCK_SIZE, BlockType.DATA);
    HFileContext context = new HFileContextBuilder().withHBaseCheckSum(checksum)
      .withChecksumType(type).withBytesPerCheckSum(bytesPerChecksum).build();
    CachedBlockFixture.cache(cache, key, block(i * BLOCK_SIZE, context));
    CachedBlockFixture.await(() -> cache.backingMap.containsKey(key));
    // What waits to be written is given out as it is.
    CachedBlockFixture.await(() -> !cache.ramCache.containsKey(key));
    HFileBlock block = (HFileBlock) cache.getBlock(key, true, false, true);
    try {
      HFileContext found = block.getHFileContext();
      assertEquals(checksum, found.isUseHBaseChecksum());
      assertEquals(type, found.getChecksumType());
      assertEquals(bytesPerChecksum, found.getBytesPerChecksum());
      return found;
    } finally {
      block.release();
    }
  }

  private static HFileBlock block(long offset, HFileContext context) {
    int header = context.isUseHBaseChecksum()
      ? HConstants.HFILEBLOCK_HEADER_SIZE
      : HConstants.HFILEBLOCK_HEADER_SIZE_NO_CHECKSUM;
    return new HFileBlockBuilder().withBlockType(BlockType.DATA)
      .withOnDiskSizeWithoutHeader(BLOCK_SIZE).withUncompressedSizeWithoutHeader(BLOCK_SIZE)
      .withPrevBlockOffset(-1).withFillHeader(true).withOffset(offset).withNextBlockOnDiskSize(-1)
      .withByteBuff(ByteBuff.wrap(ByteBuffer.allocate(header + BLOCK_SIZE)))
      .withOnDiskDataSizeWithHeader(header + BLOCK_SIZE).withHFileContext(context)
      .withByteBuffAllocator(ByteBuffAllocator.HEAP).withShared(false).build();
  }

  @Test
  public void testTimeOfAPersistentEntryNeedsNoBufferOfItsOwn() throws Exception {
    List<ByteBuffer> buffers = new ArrayList<>();
    List<Long> offsets = new ArrayList<>();
    List<byte[]> written = new ArrayList<>();
    IOEngine engine = mock(IOEngine.class);
    doAnswer(invocation -> {
      ByteBuffer buffer = invocation.getArgument(0);
      buffers.add(buffer);
      offsets.add(invocation.getArgument(1));
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      written.add(bytes);
      return null;
    }).when(engine).write(any(ByteBuffer.class), anyLong());
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 77, BLOCK_SIZE);
    BucketCache.RAMQueueEntry entry = new BucketCache.RAMQueueEntry(
      CachedBlockFixture.key("file", 77, BlockType.DATA), block, 1, false, true);
    ByteBuffer meta = ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE);
    BucketAllocator allocator = new BucketAllocator(1 << 20, new int[] { 8192 });
    BucketEntry cached = entry.writeToCache(engine, allocator, new LongAdder(),
      e -> ByteBuffAllocator.NONE, meta);
    assertEquals(2, buffers.size());
    assertSame(meta, buffers.get(0));
    assertSame(meta, buffers.get(1));
    assertEquals(cached.offset(), (long) offsets.get(0));
    assertEquals(cached.getCachedTime(), Bytes.toLong(written.get(0)));
    assertEquals(Long.BYTES, written.get(0).length);
    assertEquals(cached.offset() + cached.getLength() - HFileBlock.BLOCK_METADATA_SPACE,
      (long) offsets.get(1));
    assertEquals(HFileBlock.BLOCK_METADATA_SPACE, written.get(1).length);
    assertEquals("the block's offset", 77, Bytes.toLong(written.get(1), 1));
    cached.markAsEvicted();
    block.release();
  }

  /** Copied for nothing, it costs a buffer of the pool for each block that is written. */
  @Test
  public void testBlockThatTheCacheDoesNotWantIsNotCopied() throws Exception {
    BlockCache cache = mock(BlockCache.class);
    when(cache.shouldCacheBlock(any(), anyLong(), any())).thenReturn(Optional.of(false));
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
    write(cache, pool);
    assertEquals(0, pool.getPoolAllocationBytes());
    assertEquals(0, pool.getHeapAllocationBytes());
    when(cache.shouldCacheBlock(any(), anyLong(), any())).thenReturn(Optional.of(true));
    write(cache, pool);
    assertTrue(pool.getPoolAllocationBytes() > 0);
    pool.clean();
  }

  private void write(BlockCache cache, ByteBuffAllocator pool) throws IOException {
    FileSystem fs = FileSystem.getLocal(conf);
    Path path = new Path(new File(util.getDataTestDir().toString(), "file").getPath());
    HFileContext context = new HFileContextBuilder().withBlockSize(64 * 1024).build();
    CacheConfig cacheConfig = new CacheConfig(conf, null, cache, pool);
    try (HFile.Writer writer = HFile.getWriterFactory(conf, cacheConfig).withPath(fs, path)
      .withFileContext(context).create()) {
      for (int i = 0; i < 500; i++) {
        writer.append(new KeyValue(Bytes.toBytes(String.format("row%05d", i)), Bytes.toBytes("f"),
          Bytes.toBytes("q"), new byte[1000]));
      }
    }
  }
}
