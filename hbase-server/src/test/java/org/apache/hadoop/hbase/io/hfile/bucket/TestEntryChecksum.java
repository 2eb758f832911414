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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.util.DataChecksum;
import org.apache.hadoop.util.PureJavaCrc32C;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.protobuf.UnknownFieldSet;

import org.apache.hadoop.hbase.shaded.protobuf.generated.BucketCacheProtos;

/** Tests the sum over every kind of buffer, and what the persisted map has of it. */
@Category({ IOTests.class, SmallTests.class })
public class TestEntryChecksum {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestEntryChecksum.class);

  private static final int SIZE = 32 * 1024;

  private static byte[] bytes() {
    byte[] bytes = new byte[SIZE];
    new Random(1).nextBytes(bytes);
    return bytes;
  }

  /** Returns Hadoop's own CRC32C. */
  private static int expected(byte[] bytes) {
    Checksum sum = DataChecksum.newDataChecksum(DataChecksum.Type.CRC32C, bytes.length);
    sum.update(bytes, 0, bytes.length);
    return (int) sum.getValue();
  }

  private static ByteBuffer[] pieces(byte[] bytes, boolean direct, int... ends) {
    ByteBuffer[] pieces = new ByteBuffer[ends.length + 1];
    int start = 0;
    for (int i = 0; i < pieces.length; i++) {
      int end = i < ends.length ? ends[i] : bytes.length;
      // Neither at the start nor at the end of its memory
      ByteBuffer memory = direct
        ? ByteBuffer.allocateDirect(end - start + 20)
        : ByteBuffer.allocate(end - start + 20);
      memory.position(10);
      memory.put(bytes, start, end - start);
      memory.flip();
      memory.position(10);
      pieces[i] = memory.slice();
      start = end;
    }
    return pieces;
  }

  @Test
  public void testEveryKindOfBuffer() throws Exception {
    byte[] bytes = bytes();
    int sum = expected(bytes);
    for (boolean direct : new boolean[] { true, false }) {
      for (int[] ends : new int[][] { {}, { 1 }, { 4096 }, { SIZE - 1 }, { 7, 4099, 9000 } }) {
        ByteBuffer[] pieces = pieces(bytes, direct, ends);
        ByteBuff buffer = ByteBuff.wrap(pieces);
        EntryChecksum.check(buffer, sum);
        EntryChecksum.checkShared(pieces, sum);
        assertEquals("position moved", 0, buffer.position());
        assertEquals("limit moved", SIZE, buffer.limit());
        assertThrows(HBaseIOException.class, () -> EntryChecksum.check(buffer, sum + 1));
        assertThrows(HBaseIOException.class, () -> EntryChecksum.checkShared(pieces, sum + 1));
        EntryChecksum.check(buffer, EntryChecksum.NONE);
        EntryChecksum.checkShared(pieces, EntryChecksum.NONE);
      }
    }
  }

  @Test
  public void testPoolsBufferIsSummedToItsLimit() throws Exception {
    byte[] bytes = Arrays.copyOf(bytes(), 5000);
    ByteBuff buffer = ByteBuff.wrap(pieces(bytes(), true, 4096, 8192, 12288));
    buffer.position(0).limit(bytes.length);
    EntryChecksum.check(buffer, expected(bytes));
  }

  @Test
  public void testEveryFlippedBitIsFound() {
    byte[] bytes = bytes();
    int sum = expected(bytes);
    ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
    buffer.put(bytes).flip();
    ByteBuff read = ByteBuff.wrap(buffer);
    Random random = new Random(2);
    for (int i = 0; i < 2000; i++) {
      int position = i < 16 ? i : random.nextInt(SIZE);
      buffer.put(position, (byte) (bytes[position] ^ 1 << i % Byte.SIZE));
      assertThrows(HBaseIOException.class, () -> EntryChecksum.check(read, sum));
      buffer.put(position, bytes[position]);
    }
  }

  /** Java 8 has no other. */
  @Test
  public void testSumInPureJavaIsTheSame() {
    byte[] bytes = bytes();
    for (boolean direct : new boolean[] { true, false }) {
      Checksum sum = new PureJavaCrc32C();
      for (ByteBuffer piece : pieces(bytes, direct, 7, 4099, 9000)) {
        EntryChecksum.updateByPieces(sum, piece);
        assertEquals(0, piece.position());
      }
      assertEquals(expected(bytes), (int) sum.getValue());
    }
  }

  @Test
  public void testBlockIsSummedAsItIsStored() {
    HFileBlock block = CacheTestUtils.generateHFileBlocks(SIZE, 1)[0].getBlock();
    ByteBuffer stored = ByteBuffer.allocate(block.getSerializedLength());
    block.serialize(stored, true);
    ByteBuffer metadata = ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE);
    block.getMetaData(metadata);
    metadata.position(metadata.limit());
    assertEquals(expected(stored.array()), EntryChecksum.of(block, metadata));
    assertEquals(metadata.limit(), metadata.position());
  }

  private static BucketEntry entry(long offset, int length, int onDiskSize, long cachedTime) {
    BucketEntry entry = new BucketEntry(offset, length, onDiskSize, 0, cachedTime, false,
      e -> ByteBuffAllocator.NONE, ByteBuffAllocator.HEAP);
    entry.checksum = 12345;
    return entry;
  }

  private static BucketCacheProtos.BackingMapEntry persisted(UnknownFieldSet fields) {
    return BucketCacheProtos.BackingMapEntry.newBuilder().setUnknownFields(fields).buildPartial();
  }

  @Test
  public void testPersistedSumHoldsForNothingElse() {
    BlockCacheKey key = new BlockCacheKey("file", 1000);
    BucketEntry entry = entry(4096, 500, 480, 77);
    BucketCacheProtos.BackingMapEntry persisted = persisted(EntryChecksum.toPB(key, entry));
    assertEquals(12345, EntryChecksum.fromPB(persisted, key, entry));
    assertNotEquals(12345,
      EntryChecksum.fromPB(persisted, new BlockCacheKey("fild", 1000), entry));
    assertNotEquals(12345,
      EntryChecksum.fromPB(persisted, new BlockCacheKey("file", 1001), entry));
    assertNotEquals(12345, EntryChecksum.fromPB(persisted, key, entry(8192, 500, 480, 77)));
    assertNotEquals(12345, EntryChecksum.fromPB(persisted, key, entry(4096, 501, 480, 77)));
    assertNotEquals(12345, EntryChecksum.fromPB(persisted, key, entry(4096, 500, 481, 77)));
    assertNotEquals(12345, EntryChecksum.fromPB(persisted, key, entry(4096, 500, 480, 78)));
  }

  @Test
  public void testEntryWithoutSumIsPersistedAsAStockServerDoes() {
    BlockCacheKey key = new BlockCacheKey("file", 1000);
    BucketEntry entry = entry(4096, 500, 480, 77);
    entry.checksum = EntryChecksum.NONE;
    BucketCacheProtos.BackingMapEntry persisted = persisted(EntryChecksum.toPB(key, entry));
    assertTrue(persisted.getUnknownFields().asMap().isEmpty());
    assertEquals(EntryChecksum.NONE, EntryChecksum.fromPB(persisted, key, entry));
    assertFalse(persisted.hasKey());
  }

  /** A field of another kind under the same number, should there ever be one, is no sum. */
  @Test
  public void testForeignFieldIsNoSum() {
    BlockCacheKey key = new BlockCacheKey("file", 1000);
    UnknownFieldSet foreign = UnknownFieldSet.newBuilder()
      .addField(EntryChecksum.PERSISTED_FIELD,
        UnknownFieldSet.Field.newBuilder().addVarint(7).build())
      .build();
    assertEquals(EntryChecksum.NONE,
      EntryChecksum.fromPB(persisted(foreign), key, entry(4096, 500, 480, 77)));
  }
}
