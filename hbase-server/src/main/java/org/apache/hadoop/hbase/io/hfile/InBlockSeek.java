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
package org.apache.hadoop.hbase.io.hfile;

import java.nio.ByteBuffer;
import org.apache.hadoop.hbase.ByteBufferExtendedCell;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.InnerStoreCellComparator;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.hadoop.hbase.util.ByteBufferUtils;
import org.apache.hadoop.hbase.util.ObjectIntPair;
import org.apache.hadoop.io.WritableUtils;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Walks the cells of a data block that is not encoded, up to the row that is looked for. A seek has
 * to pass half of a block's cells, and of all but the last few no more than length and row matter:
 * they are not made a cell each, and the block is asked once whether it is still there, instead of
 * at each access. Thread-safe, as it has no state.
 */
@InterfaceAudience.Private
final class InBlockSeek {
  /** Lengths of key and value, length of the row. */
  private static final int MIN_CELL = Long.BYTES + Short.BYTES;

  private InBlockSeek() {
  }

  /**
   * Tells how far a seek may go on before it has to look closely.
   * @param block at a cell; is left there
   * @param key   to be looked for
   * @param pair  for use in here
   * @return the bytes to the last cell from there on whose row and all before it are smaller than
   *         that of the key; 0 if the first one's is not, or that is not to be told in here
   */
  static int bytesToLastSmallerRow(ByteBuff block, Cell key, HFile.Reader reader,
    ObjectIntPair<ByteBuffer> pair) {
    if (!(block instanceof SingleByteBuff) || !ordersRowsByBytes(reader.getComparator())) {
      return 0;
    }
    HFileInfo info = reader.getHFileInfo();
    boolean hasTags = reader.getFileContext().isIncludesTags();
    boolean hasSequenceId = info.shouldIncludeMemStoreTS();
    boolean isSequenceIdRead = hasSequenceId && info.isDecodeMemstoreTS();
    int start = block.position();
    int end = block.limit();
    block.asSubByteBuffer(start, end - start, pair);
    ByteBuffer bytes = pair.getFirst();
    int last = start;
    int at = start;
    while (end - at >= MIN_CELL) {
      long lengths = ByteBufferUtils.toLong(bytes, at);
      int keyLength = (int) (lengths >>> Integer.SIZE);
      int valueLength = (int) lengths;
      int rowLength = ByteBufferUtils.toShort(bytes, at + Long.BYTES);
      // What cannot be is left to who says so.
      if (
        rowLength < 0 || keyLength < rowLength + Short.BYTES || valueLength < 0
          || keyLength > end - at - Long.BYTES
          || compareRow(key, bytes, at + MIN_CELL, rowLength) <= 0
      ) {
        break;
      }
      last = at;
      long next = (long) at + Long.BYTES + keyLength + valueLength;
      if (hasTags && next <= end - Short.BYTES) {
        next += Short.BYTES + (ByteBufferUtils.toShort(bytes, (int) next) & 0xffff);
      }
      if (hasSequenceId && next < end) {
        next += isSequenceIdRead
          ? WritableUtils.decodeVIntSize(ByteBufferUtils.toByte(bytes, (int) next))
          : 1;
      }
      if (next >= end) {
        break;
      }
      at = (int) next;
    }
    return last - start;
  }

  private static boolean ordersRowsByBytes(CellComparator comparator) {
    return comparator == CellComparatorImpl.COMPARATOR
      || comparator == InnerStoreCellComparator.INNER_STORE_COMPARATOR
      || comparator.getClass() == CellComparatorImpl.class
      || comparator.getClass() == InnerStoreCellComparator.class;
  }

  private static int compareRow(Cell key, ByteBuffer bytes, int offset, int length) {
    if (key instanceof ByteBufferExtendedCell) {
      ByteBufferExtendedCell cell = (ByteBufferExtendedCell) key;
      return ByteBufferUtils.compareTo(cell.getRowByteBuffer(), cell.getRowPosition(),
        cell.getRowLength(), bytes, offset, length);
    }
    return ByteBufferUtils.compareTo(key.getRowArray(), key.getRowOffset(), key.getRowLength(),
      bytes, offset, length);
  }
}
