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
package org.apache.hadoop.hbase.io.hfile.load;

import java.util.Arrays;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.hfile.BlockIndexEntries;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Finds the data blocks of a file that may have cells of a range of keys, from the block index
 * alone. A cursor that moves forward costs a comparison or two for each range and for each block;
 * one that is moved back, or far forward, searches the index from its root.
 * <p>
 * A data block has the keys from that of its entry on, and before that of the next entry. Below
 * the root, the cursor holds one index block of each level. Not thread-safe.
 */
@InterfaceAudience.Private
final class BlockIndexCursor {

  /** Looks up index blocks below the root. */
  interface IndexBlocks {
    /** Returns the entries of an index block; null if they are not to be had without I/O. */
    BlockIndexEntries find(long offset, boolean leaf);
  }

  /** Receives what the cursor finds for a range. */
  interface Visitor {
    /** A data block may have cells of the range. */
    void block(long offset);

    /** Some data blocks of the range are not known, because their index block was not found. */
    default void unknown() {
    }
  }

  private final CellComparator comparator;
  private final IndexBlocks blocks;
  /** The index blocks from the root down to the current one. */
  private final BlockIndexEntries[] entries;
  /** The current entry of each. */
  private final int[] at;
  /** The offset of the index block of each level; the root has none. */
  private final long[] loaded;
  /** The last level, from 0, whose index block was found. */
  private int depth;
  private boolean positioned;

  /**
   * @param levels number of levels of the index: 1 if the root's entries are data blocks
   */
  BlockIndexCursor(BlockIndexEntries root, int levels, CellComparator comparator,
    IndexBlocks blocks) {
    this.comparator = comparator;
    this.blocks = blocks;
    int count = Math.max(1, levels);
    entries = new BlockIndexEntries[count];
    entries[0] = root;
    at = new int[count];
    loaded = new long[count];
    Arrays.fill(loaded, -1);
  }

  /**
   * Visits the data blocks that may have cells of a range, in the order of their keys.
   * @param first    the first key of the range
   * @param last     the last key of the range, not before the first
   * @param withLast whether the last key is itself in the range
   */
  void visit(Cell first, Cell last, boolean withLast, Visitor visitor) {
    if (entries[0].count() == 0) {
      return;
    }
    moveTo(first);
    if (isBeyond(key(), last, withLast)) {
      return;
    }
    while (true) {
      if (isOnDataBlock()) {
        visitor.block(entries[depth].offset(at[depth]));
      } else {
        visitor.unknown();
      }
      Cell next = nextKey();
      if (next == null || isBeyond(next, last, withLast)) {
        // The next range may begin in this block.
        return;
      }
      advance();
    }
  }

  /** Moves to the last block that does not begin after the key, or to the first block. */
  private void moveTo(Cell key) {
    if (!positioned || !isOnDataBlock() || isAfter(key(), key)) {
      seek(key);
      return;
    }
    Cell next = nextKey();
    if (next != null && !isAfter(next, key)) {
      advance();
      next = nextKey();
      if (!isOnDataBlock() || next != null && !isAfter(next, key)) {
        seek(key);
      }
    }
  }

  private boolean isOnDataBlock() {
    return depth == entries.length - 1;
  }

  private void seek(Cell key) {
    positioned = true;
    at[0] = floor(entries[0], key);
    depth = 0;
    while (descend()) {
      at[depth] = floor(entries[depth], key);
    }
  }

  private void advance() {
    while (at[depth] + 1 >= entries[depth].count()) {
      depth--;
    }
    at[depth]++;
    while (descend()) {
      at[depth] = 0;
    }
  }

  /** Descends to the index block of the current entry. Returns false if there is none. */
  private boolean descend() {
    if (isOnDataBlock()) {
      return false;
    }
    int below = depth + 1;
    long offset = entries[depth].offset(at[depth]);
    if (loaded[below] != offset || entries[below] == null) {
      entries[below] = blocks.find(offset, below == entries.length - 1);
      loaded[below] = offset;
    }
    if (entries[below] == null || entries[below].count() == 0) {
      entries[below] = null;
      return false;
    }
    depth = below;
    return true;
  }

  /** Returns the index of the last entry that is not after the key, 0 if there is none. */
  private int floor(BlockIndexEntries in, Cell key) {
    int low = 0;
    int high = in.count() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (isAfter(in.key(middle), key)) {
        high = middle - 1;
      } else {
        low = middle;
      }
    }
    return low;
  }

  /** Returns the key at which the current block begins. */
  Cell key() {
    return entries[depth].key(at[depth]);
  }

  /** Returns the key at which the current block ends, null if it is the last one. */
  Cell nextKey() {
    for (int level = depth; level >= 0; level--) {
      if (at[level] + 1 < entries[level].count()) {
        return entries[level].key(at[level] + 1);
      }
    }
    return null;
  }

  private boolean isBeyond(Cell key, Cell last, boolean withLast) {
    return withLast ? isAfter(key, last) : !isAfter(last, key);
  }

  /** Entries have no sequence ids. */
  private boolean isAfter(Cell a, Cell b) {
    return PrivateCellUtil.compareKeyIgnoresMvcc(comparator, a, b) > 0;
  }
}
