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
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that an interrupt, which closes the file under everyone who uses it, costs neither the
 * thread that was interrupted nor any other its block.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestInterruptedFileAccess {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestInterruptedFileAccess.class);

  private static final int BLOCKS = 16;
  /** More than is read in one go, and more than a buffer of the pool. */
  private static final int BLOCK_SIZE = 100 * 1024;
  private static final long HEAP_BLOCK = 100L * BLOCK_SIZE;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
  private final List<BlockCacheKey> keys = new ArrayList<>();
  private BucketCache cache;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Before
  public void fill() throws IOException {
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    cache = new BucketCache("files:" + new File(dir, "a") + "," + new File(dir, "b"), 8 << 20,
      BLOCK_SIZE, new int[] { BLOCK_SIZE + 1024 }, 1, 64, null, 60000, conf);
    for (int i = 0; i < BLOCKS; i++) {
      cache(i);
    }
  }

  @After
  public void close() {
    cache.evictBlocksByHfileName("file");
    cache.shutdown();
    assertEquals("All buffers are back", pool.getUsedBufferCount(), pool.getFreeBufferCount());
    pool.clean();
    util.cleanupTestDir();
  }

  @Test
  public void testThreadThatIsInterruptedReadsAndClosesNothing() {
    FileChannel[] channels = engine().getFileChannels().clone();
    Thread.currentThread().interrupt();
    boolean interrupted;
    try {
      for (int i = 0; i < BLOCKS; i++) {
        assertRead(i);
      }
    } finally {
      interrupted = Thread.interrupted();
    }
    assertTrue("The interrupt is still to be answered", interrupted);
    assertSame(channels[0], engine().getFileChannels()[0]);
    assertTrue(channels[0].isOpen());
  }

  @Test
  public void testReadStartsAgainWhenTheFileIsClosedHalfWay() throws IOException {
    for (int calls = 0; calls < 2; calls++) {
      closeAfter(calls);
      assertRead(0);
    }
  }

  @Test
  public void testReadOfAHeapBufferStartsAgain() throws IOException {
    BlockCacheKey key = CachedBlockFixture.key("file", HEAP_BLOCK, BlockType.DATA);
    CachedBlockFixture.cache(cache, key,
      CachedBlockFixture.block(BlockType.DATA, HEAP_BLOCK, BLOCK_SIZE));
    CachedBlockFixture.await(() -> isWritten(key));
    for (int calls = 0; calls < 2; calls++) {
      closeAfter(calls);
      Cacheable block = cache.getBlock(key, true, false, true);
      assertNotNull(block);
      assertArrayEquals(
        CachedBlockFixture.content(
          CachedBlockFixture.block(BlockType.DATA, HEAP_BLOCK, BLOCK_SIZE)),
        CachedBlockFixture.content(block));
      block.release();
    }
  }

  @Test
  public void testWriteStartsAgainWhenTheFileIsClosedHalfWay() throws IOException {
    for (int calls = 0; calls < 3; calls++) {
      closeAfter(calls);
      cache(BLOCKS + calls);
      assertRead(BLOCKS + calls);
    }
  }

  @Test
  public void testStormOfInterruptsCostsNoBlock() throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    AtomicInteger interrupts = new AtomicInteger();
    List<Thread> readers = new ArrayList<>();
    AtomicBoolean done = new AtomicBoolean();
    for (int t = 0; t < 4; t++) {
      int first = t;
      readers.add(new Thread(() -> {
        try {
          for (int i = first; !done.get(); i++) {
            assertRead(i % BLOCKS);
            if (i % 10 == 0 && Thread.interrupted()) {
              interrupts.incrementAndGet();
            }
          }
        } catch (Throwable e) {
          failure.compareAndSet(null, e);
        }
      }));
    }
    readers.forEach(Thread::start);
    AtomicInteger next = new AtomicInteger();
    try {
      CachedBlockFixture.await(() -> {
        readers.get(next.getAndIncrement() % readers.size()).interrupt();
        return interrupts.get() > 1000 || failure.get() != null;
      });
    } finally {
      done.set(true);
    }
    for (Thread reader : readers) {
      reader.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
    assertTrue(cache.isCacheEnabled());
  }

  private FileIOEngine engine() {
    return (FileIOEngine) cache.ioEngine;
  }

  /** Lets the first file do as many reads or writes, and be found closed at the next. */
  private void closeAfter(int calls) throws IOException {
    FileChannel[] channels = engine().getFileChannels();
    FileChannel real = channels[0];
    AtomicInteger left = new AtomicInteger(calls);
    FileChannel channel = mock(FileChannel.class);
    when(channel.read(any(ByteBuffer.class), anyLong())).thenAnswer(invocation -> {
      if (left.getAndDecrement() <= 0) {
        throw new ClosedChannelException();
      }
      return real.read(invocation.<ByteBuffer> getArgument(0), invocation.getArgument(1));
    });
    when(channel.write(any(ByteBuffer.class), anyLong())).thenAnswer(invocation -> {
      if (left.getAndDecrement() <= 0) {
        throw new ClosedChannelException();
      }
      return real.write(invocation.<ByteBuffer> getArgument(0), invocation.getArgument(1));
    });
    channels[0] = channel;
  }

  private void cache(int i) {
    BlockCacheKey key = CachedBlockFixture.key("file", (long) i * BLOCK_SIZE, BlockType.DATA);
    CachedBlockFixture.cache(cache, key,
      CachedBlockFixture.block(BlockType.DATA, (long) i * BLOCK_SIZE, BLOCK_SIZE, pool));
    CachedBlockFixture.await(() -> isWritten(key));
    keys.add(key);
  }

  private boolean isWritten(BlockCacheKey key) {
    return cache.backingMap.containsKey(key) && !cache.ramCache.containsKey(key);
  }

  private void assertRead(int i) {
    Cacheable block = cache.getBlock(keys.get(i), true, false, true);
    assertNotNull("block " + i, block);
    try {
      assertArrayEquals(
        CachedBlockFixture.content(
          CachedBlockFixture.block(BlockType.DATA, (long) i * BLOCK_SIZE, BLOCK_SIZE)),
        CachedBlockFixture.content(block));
    } finally {
      block.release();
    }
  }
}
