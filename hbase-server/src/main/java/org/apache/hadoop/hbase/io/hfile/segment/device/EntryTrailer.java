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
package org.apache.hadoop.hbase.io.hfile.segment.device;

import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.io.hfile.block.Crc32c;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The last {@value #SIZE} bytes of an entry, which identify its block and verify its bytes. The
 * block is at the beginning of the entry, so that a buffer into which the entry was read only needs
 * a limit.
 *
 * <pre>
 *   0 magic            4      24 hash of the file's name, low    8
 *   4 version          2      32 offset of the block in its file 8
 *   6 category         1      40 length of the data              4
 *   7 unused           1      44 unused                          4
 *   8 sequence         8      48 unused                          8
 *  16 name hash, high  8      56 CRC32C of the data              4
 *                             60 CRC32C of the trailer so far    4
 * </pre>
 *
 * The data is the output of {@code HFileBlock.serialize}. The name's hash (128 bits) and the offset
 * are the identity of a block: there is one content per identity, since HFiles do not change and
 * their names are not reused. An entry that passes the check is therefore correct wherever it is
 * found and however it was written there. Overwritten, torn, misplaced and flipped bytes are
 * indistinguishable to a reader, and need no lock.
 * <p>
 * Not thread-safe; {@link #local} returns an instance for the calling thread.
 */
@InterfaceAudience.Private
public final class EntryTrailer {
  public static final int SIZE = 64;

  private static final int MAGIC = 0x53454745;
  private static final short VERSION = 1;
  private static final int DATA_SUM = 56;
  private static final int TAG_SUM = 60;

  private static final ThreadLocal<EntryTrailer> LOCAL = ThreadLocal.withInitial(EntryTrailer::new);

  private final byte[] bytes = new byte[SIZE];
  private final ByteBuffer buffer = ByteBuffer.wrap(bytes);
  private final Checksum sum = Crc32c.create();

  /** Returns the instance of the calling thread. */
  public static EntryTrailer local() {
    return LOCAL.get();
  }

  /** Returns the length of an entry in bytes, a multiple of {@link Location#UNIT}. */
  public static int entryLength(int dataLength) {
    return (dataLength + SIZE + Location.UNIT - 1) & -Location.UNIT;
  }

  /**
   * Completes an entry whose data is in place.
   * @param entry a slice of the segment with exactly the entry
   */
  public void write(ByteBuffer entry, long sequence, long hashHigh, long hashLow, long blockOffset,
    int category, int dataLength) {
    int dataSum = sumOfData(entry, dataLength);
    buffer.clear();
    buffer.putInt(MAGIC).putShort(VERSION).put((byte) category).put((byte) 0).putLong(sequence)
      .putLong(hashHigh).putLong(hashLow).putLong(blockOffset).putInt(dataLength)
      .putInt(0).putLong(0).putInt(dataSum);
    buffer.putInt(sumOfTag());
    entry.position(entry.capacity() - SIZE);
    entry.put(bytes, 0, SIZE);
    entry.clear();
  }

  /**
   * Updates the trailer of a verified copy for its new segment: everything but the sequence stays.
   */
  public void rewrite(ByteBuffer entry, long sequence) {
    entry.position(entry.capacity() - SIZE);
    entry.get(bytes, 0, SIZE);
    buffer.putLong(8, sequence);
    buffer.putInt(TAG_SUM, sumOfTag());
    entry.position(entry.capacity() - SIZE);
    entry.put(bytes, 0, SIZE);
    entry.clear();
  }

  /**
   * Loads the trailer of an entry and checks it, but not the data.
   * @param entry the entry, or its end
   * @param end   the end of the entry in the buffer
   * @return whether this is a trailer, and of this block
   */
  public boolean load(ByteBuff entry, int end, long hashHigh, long hashLow, long blockOffset) {
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
   * @return whether the entry is intact and the block's; if so, its limit is the end of the data
   */
  public boolean check(ByteBuff entry, long hashHigh, long hashLow, long blockOffset) {
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

  /** Checks an entry in a segment, with only the part of its identity that the footer has. */
  public boolean check(ByteBuffer entry, long blockOffset) {
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
   * Loads a trailer.
   * @return whether it was written into a segment with this sequence number, for this offset
   */
  public boolean isOf(ByteBuffer tag, long sequence, long blockOffset) {
    tag.clear();
    tag.get(bytes, 0, SIZE);
    return isWhole() && sequence() == sequence && buffer.getLong(32) == blockOffset;
  }

  public int dataLength() {
    return buffer.getInt(40);
  }

  int category() {
    return buffer.get(6);
  }

  public long sequence() {
    return buffer.getLong(8);
  }
}
