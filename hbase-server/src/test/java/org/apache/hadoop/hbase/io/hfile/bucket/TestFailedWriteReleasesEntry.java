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
import static org.junit.Assert.assertNotNull;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils.HFileBlockPair;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a block that the engine could not write or sync leaves nothing behind: its space is
 * free, the size of the cache does not count it, and its entry is released.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestFailedWriteReleasesEntry {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFailedWriteReleasesEntry.class);

  private static final int BLOCK_SIZE = 2048;

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testSyncFails() throws Exception {
    Configuration conf = util.getConfiguration();
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    BucketCache cache =
      new BucketCache("files:" + new File(dir, "1") + "," + new File(dir, "2"), 32 << 20,
        BLOCK_SIZE, new int[] { BLOCK_SIZE + 1024 }, 1, 64, null, 60000, conf);
    // The first blocks go to the end: this file is not written to and opened again, but synced
    ((FileIOEngine) cache.ioEngine).getFileChannels()[0].close();
    HFileBlockPair pair = CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, 1)[0];
    for (int i = 0; i < 3; i++) {
      cache.cacheBlock(pair.getBlockName(), pair.getBlock());
      Waiter.waitFor(conf, 120_000, 5, () -> cache.ramCache.isEmpty());
    }
    assertEquals(0, cache.backingMap.size());
    assertEquals(0, cache.getCurrentSize());
    assertEquals(0, cache.size());

    ((FileIOEngine) cache.ioEngine).refreshFileConnection(0, new IOException("closed"));
    cache.cacheBlock(pair.getBlockName(), pair.getBlock());
    Waiter.waitFor(conf, 120_000, 5, () -> cache.ramCache.isEmpty());
    Cacheable read = cache.getBlock(pair.getBlockName(), true, false, true);
    assertNotNull(read);
    read.release();
    assertEquals(BLOCK_SIZE + 1024, cache.getCurrentSize());
    assertTrue(cache.evictBlock(pair.getBlockName()));
    assertEquals(0, cache.size());
    cache.shutdown();
  }

  @Test
  public void testWriteFails() throws Exception {
    HFileBlock block = CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, 1)[0].getBlock();
    BucketAllocator allocator = new BucketAllocator(1 << 20, new int[] { BLOCK_SIZE + 1024 });
    LongAdder size = new LongAdder();
    AtomicReference<BucketEntry> created = new AtomicReference<>();
    IOEngine engine = mock(IOEngine.class);
    IOException failure = new IOException("device is gone");
    doThrow(failure).when(engine).write(any(ByteBuff.class), anyLong());
    BucketCache.RAMQueueEntry queued = new BucketCache.RAMQueueEntry(
      CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, 1)[0].getBlockName(), block, 0, false, false);

    assertSame(failure,
      assertThrows(IOException.class, () -> queued.writeToCache(engine, allocator, size, entry -> {
        created.set(entry);
        return () -> {
          allocator.freeBlock(entry.offset(), entry.getLength());
          size.add(-entry.getLength());
        };
      }, ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE))));
    assertEquals(0, created.get().refCnt());
    assertEquals(0, allocator.getUsedSize());
    assertEquals(0, size.sum());
  }
}
