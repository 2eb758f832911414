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

import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.block.Crc32c;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.UnknownFieldSet;

import org.apache.hadoop.hbase.shaded.protobuf.generated.BucketCacheProtos;

/**
 * The CRC32C of what is written for a {@link BucketEntry}: the block with its header and the
 * metadata that follows it, not the time of caching before them, which a persistent engine checks.
 * <p>
 * The sum is kept with the entry and not beside the bytes. So the bytes of another block, be they
 * from another place, another time or another file, do not have the sum that is looked for, and
 * the layout of the cache file is that of a cache without sums. In the persisted map the sum is a
 * field that readers skip if they do not know it. It is combined with the position, the length and
 * the key of the block, so that a damaged map yields a sum that no bytes have.
 * <p>
 * The sum is that of {@link Crc32c}. Thread-safe; no method changes a buffer's position or limit.
 */
@InterfaceAudience.Private
final class EntryChecksum {

  /** What an entry without a sum has; no sum is ever this. */
  static final int NONE = 0;

  /** The field of BackingMapEntry; upstream uses 1 and 2. */
  static final int PERSISTED_FIELD = 100;

  /** See {@link #throwPendingFault}; always one array with one element. */
  private static volatile byte[][] faultProbe = new byte[1][1];

  private EntryChecksum() {
  }

  /**
   * Returns the sum of a block as it is written.
   * @param metadata what {@link HFileBlock#getMetaData} wrote, from 0 to its limit
   */
  static int of(HFileBlock block, ByteBuffer metadata) {
    Checksum sum = Crc32c.create();
    update(sum, block.getBufferReadOnly());
    int position = metadata.position();
    metadata.position(0);
    update(sum, metadata);
    metadata.position(position);
    return value(sum);
  }

  /**
   * Checks what was read.
   * @param buffer   the bytes from its position to its limit
   * @param expected the sum, or {@link #NONE} if there is nothing to check
   * @throws HBaseIOException if these are not the bytes that were written
   */
  static void check(ByteBuff buffer, int expected) throws HBaseIOException {
    if (expected != NONE) {
      Checksum sum = Crc32c.create();
      update(sum, buffer);
      compare(value(sum), expected);
    }
  }

  /**
   * Checks bytes where they are stored. They may be in a mapped file, and what cannot be had from
   * one (the file is shorter by now, the medium has an error) is an {@link InternalError} when it
   * is copied, but ends the process if a CRC instruction reads it. So they are copied first, 4 KB
   * at a time, to an array that stays in the processor's cache.
   * @param buffers  the bytes, each buffer from its position to its limit
   * @param expected the sum, or {@link #NONE} if there is nothing to check
   * @throws HBaseIOException if these are not the bytes that were written
   */
  static void checkShared(ByteBuffer[] buffers, int expected) throws HBaseIOException {
    if (expected != NONE) {
      Checksum sum = Crc32c.create();
      for (ByteBuffer buffer : buffers) {
        updateByPieces(sum, buffer);
      }
      compare(value(sum), expected);
    }
  }

  /**
   * Memory that is not there, such as that of a mapped file which was cut, reads as anything; the
   * JVM throws an {@link InternalError} for it, but only when the thread next calls the runtime,
   * which may be anywhere. Making an array of arrays is such a call, if the compiler cannot know
   * that it is a small one.
   */
  static void throwPendingFault() {
    faultProbe = new byte[faultProbe.length][faultProbe.length];
  }

  private static void compare(int actual, int expected) throws HBaseIOException {
    if (actual != expected) {
      throw new HBaseIOException("The bytes read have the checksum " + Integer.toHexString(actual)
        + ", those written had " + Integer.toHexString(expected));
    }
  }

  private static int value(Checksum sum) {
    int value = (int) sum.getValue();
    return value == NONE ? ~NONE : value;
  }

  private static void update(Checksum sum, ByteBuff buffer) {
    for (ByteBuffer item : buffer.nioByteBuffers()) {
      update(sum, item);
    }
  }

  private static void update(Checksum sum, ByteBuffer buffer) {
    int position = buffer.position();
    Crc32c.update(sum, buffer);
    buffer.position(position);
  }

  static void updateByPieces(Checksum sum, ByteBuffer buffer) {
    int position = buffer.position();
    Crc32c.updateByPieces(sum, buffer);
    buffer.position(position);
  }

  /** Returns what to add to an entry of the persisted map; nothing for an entry without a sum. */
  static UnknownFieldSet toPB(BlockCacheKey key, BucketEntry entry) {
    if (entry.checksum == NONE) {
      return UnknownFieldSet.getDefaultInstance();
    }
    return UnknownFieldSet.newBuilder().addField(PERSISTED_FIELD, UnknownFieldSet.Field.newBuilder()
      .addFixed32(entry.checksum ^ identity(key, entry)).build()).build();
  }

  /** Returns the sum of an entry of the persisted map, {@link #NONE} if it has none. */
  static int fromPB(BucketCacheProtos.BackingMapEntry persisted, BlockCacheKey key,
    BucketEntry entry) {
    UnknownFieldSet fields = persisted.getUnknownFields();
    if (
      !fields.hasField(PERSISTED_FIELD)
        || fields.getField(PERSISTED_FIELD).getFixed32List().size() != 1
    ) {
      return NONE;
    }
    return fields.getField(PERSISTED_FIELD).getFixed32List().get(0) ^ identity(key, entry);
  }

  private static int identity(BlockCacheKey key, BucketEntry entry) {
    long hash = key.getHfileName().hashCode();
    hash = mix(hash ^ key.getOffset());
    hash = mix(hash ^ entry.offset());
    hash = mix(hash ^ entry.getCachedTime());
    hash = mix(hash ^ ((long) entry.getLength() << Integer.SIZE
      | entry.getOnDiskSizeWithHeader() & 0xFFFFFFFFL));
    return (int) (hash >>> Integer.SIZE);
  }

  /** Mixes the bits as MurmurHash3 does in the end. */
  private static long mix(long value) {
    long h = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return h ^ (h >>> 33);
  }
}
