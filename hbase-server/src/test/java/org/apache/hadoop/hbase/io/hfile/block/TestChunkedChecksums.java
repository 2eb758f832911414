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
package org.apache.hadoop.hbase.io.hfile.block;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.AllocatedBytes;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.util.DataChecksum;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestChunkedChecksums {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestChunkedChecksums.class);

  private static final DataChecksum.Type[] TYPES =
    { DataChecksum.Type.CRC32, DataChecksum.Type.CRC32C };
  private static final int[] SIZES = { 1, 33, 511, 512, 513, 1024, 5000, 16384, 16385, 70_000 };
  private static final int[] CHUNKS = { 512, 4096, 16384 };

  private final Random random = new Random(17);

  /** Bytes, and behind them their sums as HBase writes them. */
  private static byte[] withSums(byte[] bytes, DataChecksum checksum) {
    int chunks =
      (bytes.length + checksum.getBytesPerChecksum() - 1) / checksum.getBytesPerChecksum();
    byte[] all = new byte[bytes.length + chunks * Integer.BYTES];
    System.arraycopy(bytes, 0, all, 0, bytes.length);
    checksum.calculateChunkedSums(bytes, 0, bytes.length, all, bytes.length);
    return all;
  }

  /** The bytes in so many buffers of about one size. */
  private static ByteBuff in(byte[] bytes, int buffers, boolean direct) {
    ByteBuffer[] items = new ByteBuffer[buffers];
    for (int i = 0, from = 0; i < buffers; i++) {
      int to = (int) ((long) bytes.length * (i + 1) / buffers);
      items[i] = direct ? ByteBuffer.allocateDirect(to - from) : ByteBuffer.allocate(to - from);
      items[i].put(bytes, from, to - from).flip();
      from = to;
    }
    return ByteBuff.wrap(items);
  }

  private static boolean verify(DataChecksum checksum, ByteBuff all, int size) {
    return ChunkedChecksums.verify(checksum, all.duplicate().position(0).limit(size),
      all.duplicate().position(size).limit(all.limit()));
  }

  @Test
  public void testSumsOfAllSizesInAnyNumberOfBuffers() {
    for (DataChecksum.Type type : TYPES) {
      assertTrue(ChunkedChecksums.canVerify(type));
      for (int chunk : CHUNKS) {
        DataChecksum checksum = DataChecksum.newDataChecksum(type, chunk);
        for (int size : SIZES) {
          byte[] bytes = new byte[size];
          random.nextBytes(bytes);
          byte[] all = withSums(bytes, checksum);
          for (int buffers = 1; buffers <= 4; buffers++) {
            for (boolean direct : new boolean[] { true, false }) {
              ByteBuff buff = in(all, buffers, direct);
              String which = type + " " + chunk + " " + size + " " + buffers + " " + direct;
              assertTrue(which, verify(checksum, buff, size));
              assertEquals(which, 0, buff.position());
              assertEquals(which, all.length, buff.limit());
            }
          }
        }
      }
    }
  }

  @Test
  public void testBitThatFlippedAnywhereIsFound() {
    for (DataChecksum.Type type : TYPES) {
      DataChecksum checksum = DataChecksum.newDataChecksum(type, 512);
      int size = 1300;
      byte[] bytes = new byte[size];
      random.nextBytes(bytes);
      byte[] all = withSums(bytes, checksum);
      for (int i = 0; i < all.length; i++) {
        all[i] ^= 16;
        assertFalse(type + " " + i, verify(checksum, in(all, 1, true), size));
        assertFalse(type + " " + i, verify(checksum, in(all, 3, true), size));
        all[i] ^= 16;
      }
      assertTrue(verify(checksum, in(all, 3, true), size));
    }
  }

  @Test
  public void testMissingSumIsAMismatch() {
    DataChecksum checksum = DataChecksum.newDataChecksum(DataChecksum.Type.CRC32C, 512);
    byte[] all = withSums(new byte[1300], checksum);
    byte[] less = Arrays.copyOf(all, all.length - 1);
    assertFalse(verify(checksum, in(less, 1, true), 1300));
    assertFalse(verify(checksum, in(less, 2, true), 1300));
  }

  @Test
  public void testOtherKindsAreLeftToHadoop() {
    assertFalse(ChunkedChecksums.canVerify(DataChecksum.Type.NULL));
  }

  @Test
  public void testVerifyingLeavesLittleBehind() throws Exception {
    DataChecksum checksum = DataChecksum.newDataChecksum(DataChecksum.Type.CRC32C, 16384);
    int size = 70_000;
    byte[] all = withSums(new byte[size], checksum);
    for (int buffers = 1; buffers <= 2; buffers++) {
      ByteBuff buff = in(all, buffers, true);
      long perCall = AllocatedBytes.ofThisThread().perCall(2000,
        () -> assertTrue(verify(checksum, buff, size)));
      assertTrue(perCall + " bytes", perCall < 1000);
    }
  }
}
