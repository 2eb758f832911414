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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests how often a stream is read for a block in several buffers. */
@Category({ IOTests.class, SmallTests.class })
public class TestPreadPolicy {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPreadPolicy.class);

  /** What the pool's buffers hold by default, in bytes. */
  private static final int PIECE = 65 << 10;
  private static final int HEADER = 33;

  private final byte[] file = new byte[1 << 20];
  private final Stream stream = new Stream(file);
  private final FSDataInputStream in = new FSDataInputStream(stream);

  public TestPreadPolicy() {
    new Random(1).nextBytes(file);
  }

  @Test
  public void testBlockInSeveralBuffersIsOneRead() throws IOException {
    for (int length : new int[] { PIECE + 1, 128 << 10, 2 * PIECE, 2 * PIECE + 1, 192 << 10,
      ThreadLocalScratch.MAX_KEPT - HEADER }) {
      assertReads(1, 0, pieces(length + HEADER, PIECE), length);
    }
  }

  @Test
  public void testBlockInOneBufferIsReadWithoutACopy() throws IOException {
    for (int length : new int[] { 1, 4 << 10, 64 << 10, PIECE - HEADER }) {
      assertReads(0, 1, pieces(length + HEADER, PIECE), length);
    }
    assertReads(0, 1, pieces(128 << 10, 128 << 10), (128 << 10) - HEADER);
  }

  /** A reader may take more buffers than the block needs. */
  @Test
  public void testBlockInTheFirstOfSeveralBuffersIsReadWithoutACopy() throws IOException {
    ByteBuff buffers = pieces(2 * PIECE, PIECE);
    buffers.limit(PIECE);
    assertReads(0, 1, buffers, PIECE - HEADER);
  }

  @Test
  public void testMoreThanAThreadsArrayIsReadBufferByBuffer() throws IOException {
    int length = ThreadLocalScratch.MAX_KEPT - HEADER + 1;
    assertReads(0, 1 + length / PIECE, pieces(length + HEADER, PIECE), length);
  }

  @Test
  public void testReadBeginsWhereTheBuffersDo() throws IOException {
    ByteBuff buffers = pieces(3 * PIECE, PIECE);
    buffers.position(PIECE + 7);
    assertTrue(BlockIOUtils.preadWithExtra(buffers, in, 11, PIECE, HEADER));
    assertEquals("reads into an array", 1, stream.intoArrays);
    buffers.rewind();
    buffers.position(PIECE + 7);
    assertRead(buffers, 11, PIECE + HEADER);
  }

  @Test
  public void testShortReadsGoOn() throws IOException {
    stream.most = 50_000;
    assertReads(3, 0, pieces((128 << 10) + HEADER, PIECE), 128 << 10);
  }

  @Test
  public void testHeaderOfTheNextMayBeMissing() throws IOException {
    int length = 128 << 10;
    ByteBuff buffers = pieces(length + HEADER, PIECE);
    assertFalse(
      BlockIOUtils.preadWithExtra(buffers, in, file.length - length, length, HEADER));
    assertEquals(HEADER, left(buffers));
    buffers.rewind();
    assertRead(buffers, file.length - length, length);
  }

  @Test
  public void testEndOfFileInTheBlockFails() {
    int length = 128 << 10;
    assertThrows(IOException.class,
      () -> BlockIOUtils.preadWithExtra(pieces(length, PIECE), in, file.length - length + 1,
        length, 0));
  }

  private void assertReads(int intoArrays, int intoBuffers, ByteBuff buffers, int length)
    throws IOException {
    stream.intoArrays = 0;
    stream.intoBuffers = 0;
    String what = length + " bytes into " + buffers.nioByteBuffers().length + " buffers";
    assertTrue(what, BlockIOUtils.preadWithExtra(buffers, in, 77, length, HEADER));
    assertEquals(what + ": reads into an array", intoArrays, stream.intoArrays);
    assertEquals(what + ": reads into a buffer", intoBuffers, stream.intoBuffers);
    assertEquals(what, 0, left(buffers));
    buffers.rewind();
    assertRead(buffers, 77, length + HEADER);
  }

  private static int left(ByteBuff buffers) {
    int left = 0;
    for (ByteBuffer each : buffers.nioByteBuffers()) {
      left += each.remaining();
    }
    return left;
  }

  private void assertRead(ByteBuff buffers, int position, int length) {
    byte[] found = new byte[length];
    buffers.get(found);
    assertArrayEquals(Arrays.copyOfRange(file, position, position + length), found);
  }

  private static ByteBuff pieces(int length, int piece) {
    ByteBuffer[] buffers = new ByteBuffer[(length + piece - 1) / piece];
    for (int i = 0; i < buffers.length; i++) {
      buffers[i] = ByteBuffer.allocateDirect(piece);
    }
    return ByteBuff.wrap(buffers).limit(length);
  }

  /** A stream that fills arrays and buffers, as that of HDFS does, and counts. */
  private static final class Stream extends ByteArrayInputStream
    implements Seekable, PositionedReadable, ByteBufferPositionedReadable, StreamCapabilities {
    private int most = Integer.MAX_VALUE;
    private int intoArrays;
    private int intoBuffers;

    Stream(byte[] bytes) {
      super(bytes);
    }

    @Override
    public boolean hasCapability(String capability) {
      return capability.equals("in:preadbytebuffer");
    }

    private int available(long position, int length) {
      return position >= count ? -1 : (int) Math.min(Math.min(length, most), count - position);
    }

    @Override
    public int read(long position, byte[] buffer, int offset, int length) {
      intoArrays++;
      int read = available(position, length);
      if (read > 0) {
        System.arraycopy(buf, (int) position, buffer, offset, read);
      }
      return read;
    }

    @Override
    public int read(long position, ByteBuffer buffer) {
      intoBuffers++;
      int read = available(position, buffer.remaining());
      if (read > 0) {
        buffer.put(buf, (int) position, read);
      }
      return read;
    }

    @Override
    public void readFully(long position, ByteBuffer buffer) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void readFully(long position, byte[] buffer, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void readFully(long position, byte[] buffer) {
      throw new UnsupportedOperationException();
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
  }
}
