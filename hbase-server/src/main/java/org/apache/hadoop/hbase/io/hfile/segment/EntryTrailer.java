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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.io.hfile.Crc32c;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The last {@value #SIZE} bytes of an entry, which say whose bytes it holds and prove them. The
 * block lies at the beginning of the entry, so that the buffer it is read into needs but a limit.
 *
 * <pre>
 *   0 magic            4      24 hash of the file's name, low    8
 *   4 version          2      32 offset of the block in its file 8
 *   6 category         1      40 length of the data              4
 *   7 unused           1      44 size of the block on disk       4
 *   8 sequence         8      48 unused                          8
 *  16 name hash, high  8      56 CRC32C of the data              4
 *                             60 CRC32C of the tag before this   4
 * </pre>
 *
 * The data is what {@code HFileBlock.serialize} writes. The name's hash (128 bits) and the offset
 * are the identity of a block: under one identity there is one content, since HFiles do not change
 * and their names are not used twice. So an entry that passes the check is right wherever it is
 * found and however it came there: overwritten, torn, misplaced and flipped bytes are all the same
 * to a reader, and need no lock against them.
 * <p>
 * Not thread-safe; {@link #local} returns one for the thread.
 */
@InterfaceAudience.Private
final class EntryTrailer {
  static final int SIZE = 64;

  private static final int MAGIC = 0x53454745;
  private static final short VERSION = 1;
  private static final int DATA_SUM = 56;
  private static final int TAG_SUM = 60;

  private static final ThreadLocal<EntryTrailer> LOCAL = ThreadLocal.withInitial(EntryTrailer::new);

  private final byte[] bytes = new byte[SIZE];
  private final ByteBuffer buffer = ByteBuffer.wrap(bytes);
  private final Checksum sum = Crc32c.create();

  /** Returns the one of the calling thread. */
  static EntryTrailer local() {
    return LOCAL.get();
  }

  /** Returns how many bytes an entry takes, a multiple of {@link Location#UNIT}. */
  static int entryLength(int dataLength) {
    return (dataLength + SIZE + Location.UNIT - 1) & -Location.UNIT;
  }

  /**
   * Completes an entry whose data is in place.
   * @param entry a slice of the segment that is the entry, no more and no less
   */
  void write(ByteBuffer entry, long sequence, long hashHigh, long hashLow, long blockOffset,
    int category, int dataLength, int onDiskSize) {
    int dataSum = sumOfData(entry, dataLength);
    buffer.clear();
    buffer.putInt(MAGIC).putShort(VERSION).put((byte) category).put((byte) 0).putLong(sequence)
      .putLong(hashHigh).putLong(hashLow).putLong(blockOffset).putInt(dataLength)
      .putInt(onDiskSize).putLong(0).putInt(dataSum);
    buffer.putInt(sumOfTag());
    entry.position(entry.capacity() - SIZE);
    entry.put(bytes, 0, SIZE);
    entry.clear();
  }

  /**
   * Gives a copy of an entry that has been checked another place: all but the sequence stays.
   * @param entry as for {@link #write}
   */
  void rewrite(ByteBuffer entry, long sequence) {
    entry.position(entry.capacity() - SIZE);
    entry.get(bytes, 0, SIZE);
    buffer.putLong(8, sequence);
    buffer.putInt(TAG_SUM, sumOfTag());
    entry.position(entry.capacity() - SIZE);
    entry.put(bytes, 0, SIZE);
    entry.clear();
  }

  /**
   * Loads the tag of an entry and checks it, but not the data.
   * @param entry the entry, or its end
   * @param end   where the entry ends in it
   * @return whether this is a tag, and of this block
   */
  boolean load(ByteBuff entry, int end, long hashHigh, long hashLow, long blockOffset) {
    entry.get(end - SIZE, bytes, 0, SIZE);
    return isWhole() && buffer.getLong(16) == hashHigh && buffer.getLong(24) == hashLow
      && buffer.getLong(32) == blockOffset;
  }

  private boolean isWhole() {
    return buffer.getInt(0) == MAGIC && buffer.getShort(4) == VERSION && dataLength() >= 0
      && buffer.getInt(TAG_SUM) == sumOfTag();
  }

  private int sumOfTag() {
    sum.reset();
    sum.update(bytes, 0, TAG_SUM);
    return (int) sum.getValue();
  }

  private int sumOfData(ByteBuffer entry, int dataLength) {
    entry.clear();
    entry.limit(dataLength);
    sum.reset();
    Crc32c.update(sum, entry);
    entry.clear();
    return (int) sum.getValue();
  }

  /**
   * Checks an entry that was read for a block. Afterwards the buffer's position is 0.
   * @param entry the entry from 0 to its limit
   * @return whether it is whole and the block's; then its limit is the end of the data
   */
  boolean check(ByteBuff entry, long hashHigh, long hashLow, long blockOffset) {
    entry.rewind();
    int length = entry.limit();
    if (
      !load(entry, length, hashHigh, hashLow, blockOffset)
        || entryLength(dataLength()) != length
    ) {
      return false;
    }
    entry.limit(dataLength());
    sum.reset();
    for (ByteBuffer item : entry.nioByteBuffers()) {
      Crc32c.update(sum, item);
    }
    entry.rewind();
    return (int) sum.getValue() == buffer.getInt(DATA_SUM);
  }

  /**
   * Checks an entry in a segment, knowing only that of its identity which the footer says.
   * @param entry as for {@link #write}
   */
  boolean check(ByteBuffer entry, long blockOffset) {
    entry.clear();
    entry.position(entry.capacity() - SIZE);
    entry.get(bytes, 0, SIZE);
    entry.clear();
    if (
      !isWhole() || buffer.getLong(32) != blockOffset
        || entryLength(dataLength()) != entry.capacity()
    ) {
      return false;
    }
    return sumOfData(entry, dataLength()) == buffer.getInt(DATA_SUM);
  }

  /**
   * Loads a tag.
   * @return whether it is one that was written into a segment of this sequence, for this offset
   */
  boolean isOf(ByteBuffer tag, long sequence, long blockOffset) {
    tag.clear();
    tag.get(bytes, 0, SIZE);
    return isWhole() && sequence() == sequence && buffer.getLong(32) == blockOffset;
  }

  int dataLength() {
    return buffer.getInt(40);
  }

  /** The block's size in its file with its header, in bytes. */
  int onDiskSize() {
    return buffer.getInt(44);
  }

  int category() {
    return buffer.get(6);
  }

  long sequence() {
    return buffer.getLong(8);
  }
}
