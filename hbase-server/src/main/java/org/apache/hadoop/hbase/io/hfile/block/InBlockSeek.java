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

import java.nio.ByteBuffer;
import org.apache.hadoop.hbase.ByteBufferExtendedCell;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.InnerStoreCellComparator;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.hadoop.hbase.util.ByteBufferUtils;
import org.apache.hadoop.hbase.util.ObjectIntPair;
import org.apache.hadoop.io.WritableUtils;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Skips the cells of an unencoded data block up to the requested row. A seek skips on average half
 * of a block's cells, and for all but the last few only length and row matter: no cell object is
 * created for them, and the block's reference count is checked once instead of on each access. In a
 * block that has {@link RowSamples}, a binary search skips to the last few. Thread-safe.
 */
@InterfaceAudience.Private
public final class InBlockSeek {
  /** Minimum size of a cell: lengths of key and value, length of the row. */
  private static final int MIN_CELL = Long.BYTES + Short.BYTES;

  /** The cells of the block, by their positions. */
  private final ByteBuffer bytes;
  private final int end;
  private final boolean hasTags;
  private final boolean hasSequenceId;
  private final boolean isSequenceIdRead;

  private InBlockSeek(ByteBuffer bytes, int end, HFile.Reader reader) {
    HFileInfo info = reader.getHFileInfo();
    this.bytes = bytes;
    this.end = end;
    this.hasTags = reader.getFileContext().isIncludesTags();
    this.hasSequenceId = info.shouldIncludeMemStoreTS();
    this.isSequenceIdRead = hasSequenceId && info.isDecodeMemstoreTS();
  }

  /**
   * Returns how far a seek may skip before it must compare whole keys.
   * @param block    the block, whose samples are made by its first seek
   * @param position of a cell in the block's data, which is unchanged
   * @param key      the requested key
   * @param pair     reusable pair for internal use
   * @return the number of bytes to the last cell from the position on for which its row and all
   *         rows before it are smaller than that of the key; 0 if the first row is not smaller, or
   *         if it cannot be determined here
   */
  public static int bytesToLastSmallerRow(HFileBlock block, ByteBuff position, Cell key,
    HFile.Reader reader, ObjectIntPair<ByteBuffer> pair) {
    if (!(position instanceof SingleByteBuff) || !ordersRowsByBytes(reader.getComparator())) {
      return 0;
    }
    int start = position.position();
    int end = position.limit();
    position.asSubByteBuffer(start, end - start, pair);
    InBlockSeek seek = new InBlockSeek(pair.getFirst(), end, reader);
    int from = start;
    if (block instanceof SampledBlock) {
      RowSamples samples = ((SampledBlock) block).rowSamples();
      if (samples == null) {
        samples = seek.sample();
        ((SampledBlock) block).setRowSamples(samples);
      }
      from = Math.max(start, seek.lastSmaller(key, samples));
    }
    return seek.lastSmaller(key, from) - start;
  }

  /** Returns the last cell from one on for which its row and all before it are smaller. */
  private int lastSmaller(Cell key, int from) {
    int last = from;
    for (int at = from; at >= 0 && isSmaller(at, key); at = next(at)) {
      last = at;
    }
    return last;
  }

  /** Returns the last sample whose row is smaller than that of a key; 0 if none is. */
  private int lastSmaller(Cell key, RowSamples samples) {
    int low = 0;
    int high = samples.count();
    while (low < high) {
      int middle = low + high >>> 1;
      if (isSmaller(samples.position(middle), key)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == 0 ? 0 : samples.position(low - 1);
  }

  /** Returns whether the row at a position is smaller than that of a key; false if invalid. */
  private boolean isSmaller(int at, Cell key) {
    return isValid(at)
      && compareRow(key, bytes, at + MIN_CELL, ByteBufferUtils.toShort(bytes, at + Long.BYTES)) > 0;
  }

  /** Invalid lengths are left to the caller of the seek, which reports them. */
  private boolean isValid(int at) {
    if (end - at < MIN_CELL) {
      return false;
    }
    int keyLength = ByteBufferUtils.toInt(bytes, at);
    int valueLength = ByteBufferUtils.toInt(bytes, at + Integer.BYTES);
    int rowLength = ByteBufferUtils.toShort(bytes, at + Long.BYTES);
    return rowLength >= 0 && keyLength >= rowLength + Short.BYTES && valueLength >= 0
      && keyLength <= end - at - Long.BYTES;
  }

  /** Returns the position after a valid cell, -1 if it is the end of the block. */
  private int next(int at) {
    long next = (long) at + Long.BYTES + ByteBufferUtils.toInt(bytes, at)
      + ByteBufferUtils.toInt(bytes, at + Integer.BYTES);
    if (hasTags && next <= end - Short.BYTES) {
      next += Short.BYTES + (ByteBufferUtils.toShort(bytes, (int) next) & 0xffff);
    }
    if (hasSequenceId && next < end) {
      next += isSequenceIdRead
        ? WritableUtils.decodeVIntSize(ByteBufferUtils.toByte(bytes, (int) next))
        : 1;
    }
    return next < end ? (int) next : -1;
  }

  private RowSamples sample() {
    RowSamples.Builder samples = new RowSamples.Builder(end);
    for (int at = 0; at >= 0; at = next(at)) {
      if (!isValid(at)) {
        return RowSamples.NONE;
      }
      samples.add(at);
    }
    return samples.build();
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
