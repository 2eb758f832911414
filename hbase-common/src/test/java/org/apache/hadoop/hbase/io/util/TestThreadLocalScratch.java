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
package org.apache.hadoop.hbase.io.util;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests reads of blocks through an array on the heap that is used again and again. */
@Category({ IOTests.class, SmallTests.class })
public class TestThreadLocalScratch {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestThreadLocalScratch.class);

  private static final int BLOCK = 64 << 10;
  private static final int HEADER = 33;
  private static final int READS = 2000;

  private final byte[] file = new byte[4 * BLOCK];
  private final FSDataInputStream in = new FSDataInputStream(new HeapOnlyStream(file));
  private final ByteBuff block = ByteBuff.wrap(ByteBuffer.allocateDirect(BLOCK + HEADER));

  public TestThreadLocalScratch() {
    new Random(1).nextBytes(file);
  }

  private interface Read {
    void from(int position) throws IOException;
  }

  @Test
  public void testPositionedReadAllocatesNoBlock() throws IOException {
    assertNoBlockIsAllocated(position -> assertTrue(
      BlockIOUtils.preadWithExtra(block, in, position, BLOCK, HEADER)), BLOCK + HEADER);
  }

  @Test
  public void testReadWithHeaderOfTheNextAllocatesNoBlock() throws IOException {
    assertNoBlockIsAllocated(position -> {
      in.seek(position);
      assertTrue(BlockIOUtils.readWithExtra(block, in, BLOCK, HEADER));
    }, BLOCK + HEADER);
  }

  @Test
  public void testReadAllocatesNoBlock() throws IOException {
    assertNoBlockIsAllocated(position -> {
      in.seek(position);
      BlockIOUtils.readFully(block, in, BLOCK);
    }, BLOCK);
  }

  /** A decompressor is read in the same way. */
  @Test
  public void testReadOfAnyStreamAllocatesNoBuffer() throws IOException {
    assertNoBlockIsAllocated(position -> {
      in.seek(position);
      BlockIOUtils.readFullyWithHeapBuffer(in, block, BLOCK);
    }, BLOCK);
  }

  /** What the last read left behind must not be seen. */
  @Test
  public void testMissingHeaderOfTheNextIsZero() throws IOException {
    BlockIOUtils.readWithExtra(block, in, BLOCK, HEADER);
    block.rewind();
    in.seek(3 * BLOCK);
    assertFalse(BlockIOUtils.readWithExtra(block, in, BLOCK, HEADER));
    block.rewind();
    byte[] expected = Arrays.copyOfRange(file, 3 * BLOCK, 4 * BLOCK + HEADER);
    byte[] read = new byte[BLOCK + HEADER];
    block.get(read);
    assertArrayEquals(expected, read);
  }

  @Test
  public void testArrayIsUsedAgainForLessAndGrowsForMore() throws Exception {
    // Other tests may have left a long one to this thread.
    inThread(() -> {
      byte[] first = ThreadLocalScratch.atLeast(BLOCK);
      assertTrue(first.length >= BLOCK);
      assertSame(first, ThreadLocalScratch.atLeast(ThreadLocalScratch.MIN_KEPT));
      byte[] longer = ThreadLocalScratch.atLeast(first.length + 1);
      assertTrue(longer.length > first.length);
      assertSame(longer, ThreadLocalScratch.atLeast(BLOCK));
      return longer;
    });
  }

  @Test
  public void testShortArraysAreNewAndExact() {
    for (int length = 0; length < ThreadLocalScratch.MIN_KEPT; length++) {
      byte[] first = ThreadLocalScratch.atLeast(length);
      assertEquals(length, first.length);
      assertNotSame(first, ThreadLocalScratch.atLeast(length));
    }
  }

  @Test
  public void testLongArraysAreNotKept() {
    byte[] kept = ThreadLocalScratch.atLeast(ThreadLocalScratch.MAX_KEPT);
    byte[] longer = ThreadLocalScratch.atLeast(ThreadLocalScratch.MAX_KEPT + 1);
    assertEquals(ThreadLocalScratch.MAX_KEPT + 1, longer.length);
    assertNotSame(longer, ThreadLocalScratch.atLeast(ThreadLocalScratch.MAX_KEPT + 1));
    assertSame(kept, ThreadLocalScratch.atLeast(ThreadLocalScratch.MAX_KEPT));
  }

  @Test(expected = NegativeArraySizeException.class)
  public void testNegativeLength() {
    ThreadLocalScratch.atLeast(-ThreadLocalScratch.MAX_KEPT);
  }

  @Test
  public void testEachThreadHasItsOwn() throws Exception {
    assertNotSame(inThread(() -> ThreadLocalScratch.atLeast(BLOCK)),
      ThreadLocalScratch.atLeast(BLOCK));
  }

  private static byte[] inThread(Callable<byte[]> body) throws Exception {
    FutureTask<byte[]> task = new FutureTask<>(body);
    new Thread(task).start();
    return task.get();
  }

  private void assertNoBlockIsAllocated(Read read, int length) throws IOException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    byte[] found = new byte[length];
    long before = 0;
    for (int i = -READS; i < READS; i++) {
      if (i == 0) {
        before = threads.getThreadAllocatedBytes(thread);
      }
      int position = (i & 1) * BLOCK;
      block.rewind();
      read.from(position);
      if (i < 0) {
        block.rewind();
        block.get(found);
        assertArrayEquals(Arrays.copyOfRange(file, position, position + length), found);
      }
    }
    long each = (threads.getThreadAllocatedBytes(thread) - before) / READS;
    assertTrue("Allocated " + each + " bytes for each block of " + BLOCK, each < 512);
  }

  /** A stream that reads into arrays only, as that of an object store does. */
  private static final class HeapOnlyStream extends ByteArrayInputStream
    implements Seekable, PositionedReadable {

    HeapOnlyStream(byte[] bytes) {
      super(bytes);
    }

    @Override
    public void seek(long position) {
      pos = (int) position;
    }

    @Override
    public long getPos() {
      return pos;
    }

    @Override
    public boolean seekToNewSource(long position) {
      return false;
    }

    @Override
    public int read(long position, byte[] buffer, int offset, int length) {
      if (position >= count) {
        return -1;
      }
      int read = (int) Math.min(length, count - position);
      System.arraycopy(buf, (int) position, buffer, offset, read);
      return read;
    }

    @Override
    public void readFully(long position, byte[] buffer, int offset, int length)
      throws IOException {
      if (read(position, buffer, offset, length) < length) {
        throw new EOFException();
      }
    }

    @Override
    public void readFully(long position, byte[] buffer) throws IOException {
      readFully(position, buffer, 0, buffer.length);
    }
  }
}
