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
 * Skips the cells of an unencoded data block up to the requested row. A seek skips on average half
 * of a block's cells, and for all but the last few only length and row matter: no cell object is
 * created for them, and the block's reference count is checked once instead of on each access.
 * Thread-safe, as it has no state.
 */
@InterfaceAudience.Private
final class InBlockSeek {
  /** Minimum size of a cell: lengths of key and value, length of the row. */
  private static final int MIN_CELL = Long.BYTES + Short.BYTES;

  private InBlockSeek() {
  }

  /**
   * Returns how far a seek may skip before it must compare whole keys.
   * @param block positioned at a cell; its position is unchanged
   * @param key   the requested key
   * @param pair  reusable pair for internal use
   * @return the number of bytes to the last cell from the position on for which its row and all
   *         rows before it are smaller than that of the key; 0 if the first row is not smaller, or
   *         if it cannot be determined here
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
      // Invalid lengths are left to the caller, which reports them.
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
