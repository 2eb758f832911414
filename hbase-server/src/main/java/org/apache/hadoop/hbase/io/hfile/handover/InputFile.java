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
package org.apache.hadoop.hbase.io.hfile.handover;

import java.io.IOException;
import java.util.function.BiConsumer;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockIndexEntries;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HotBlockCache;
import org.apache.hadoop.hbase.io.hfile.HotBlockMap;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A file that a compaction reads, and what the cache has of it. Reads no block from the file or
 * from a device. Not thread-safe.
 */
@InterfaceAudience.Private
final class InputFile implements BlockIndexCursor.IndexBlocks, BlockIndexCursor.Visitor {
  private final HFile.Reader reader;
  private final String name;
  private final HotBlockCache cache;
  private final RangeHeat heat;
  private final Cell lastKey;
  /** Null if the encoding of the block index is unknown. */
  private final BlockIndexCursor cursor;

  /**
   * @param heat receives what {@link #addTo} finds
   */
  InputFile(HFile.Reader reader, HotBlockCache cache, RangeHeat heat) {
    this.reader = reader;
    this.name = reader.getName();
    this.cache = cache;
    this.heat = heat;
    this.lastKey = reader.getLastKey().orElse(null);
    BlockIndexEntries root = BlockIndexEntries.root(reader);
    this.cursor = root == null
      ? null
      : new BlockIndexCursor(root, reader.getTrailer().getNumDataIndexLevels(),
        reader.getComparator(), this);
  }

  /** Returns this file, with another place for what is found, and as if nothing was asked yet. */
  InputFile startOver(RangeHeat found) {
    return new InputFile(reader, cache, found);
  }

  /** Returns the bytes of the file. */
  long length() {
    return reader.length();
  }

  /** Visits the keys of each data block that is known, to the first key of the next one. */
  void forEachRange(BiConsumer<Cell, Cell> ranges) {
    Cell first = reader.getFirstKey().orElse(null);
    if (cursor == null || first == null || lastKey == null) {
      return;
    }
    cursor.visit(first, lastKey, new BlockIndexCursor.Visitor() {
      @Override
      public void block(long offset) {
        Cell next = cursor.nextKey();
        ranges.accept(cursor.key(), next == null ? lastKey : next);
      }

      @Override
      public void unknown() {
        // Of no use here.
      }
    });
  }

  /** Returns the data blocks that are cached and were accessed, as far as they are known. */
  HotBlockMap hotBlocks(int shift) {
    HotBlockMap hot = new HotBlockMap(shift);
    Cell first = reader.getFirstKey().orElse(null);
    if (cursor != null && first != null && lastKey != null) {
      cursor.visit(first, lastKey, new BlockIndexCursor.Visitor() {
        @Override
        public void block(long offset) {
          if (cache.accesses(new BlockCacheKey(name, offset)) > 0) {
            hot.add(offset);
          }
        }

        @Override
        public void unknown() {
          // No reader has accessed these blocks for long.
        }
      });
    }
    return hot;
  }

  /** Returns the name under which the file's blocks are cached. */
  String name() {
    return name;
  }

  /** Returns the bytes that the file's blocks take in the cache, and those that it refers to. */
  long cachedBytes() {
    String referredTo = ReferredFile.of(name);
    return cache.cachedBytes(name) + (referredTo == null ? 0 : cache.cachedBytes(referredTo));
  }

  /** Adds the blocks that may have cells of a range to the heat of the range. */
  void addTo(Cell first, Cell last) {
    addTo(first, last, true);
  }

  /** Adds the blocks that may have cells of a range, whose last key may itself not be in it. */
  void addTo(Cell first, Cell last, boolean withLast) {
    if (
      lastKey == null
        || PrivateCellUtil.compareKeyIgnoresMvcc(reader.getComparator(), first, lastKey) > 0
    ) {
      return;
    }
    if (cursor == null) {
      heat.addUnknown();
    } else {
      cursor.visit(first, last, withLast, this);
    }
  }

  @Override
  public void block(long offset) {
    BlockCacheKey key = new BlockCacheKey(name, offset);
    int accesses = cache.accesses(key);
    heat.add(accesses, accesses > 0 && cache.isInL1(key));
  }

  @Override
  public void unknown() {
    heat.addUnknown();
  }

  @Override
  public BlockIndexEntries find(long offset, boolean leaf) {
    HFileBlock block = cache.peek(new BlockCacheKey(name, offset, true,
      leaf ? BlockType.LEAF_INDEX : BlockType.INTERMEDIATE_INDEX));
    if (block == null) {
      return null;
    }
    try {
      return BlockIndexEntries.below(block);
    } catch (IOException | RuntimeException e) {
      // Not an index block: without it, its range counts as not known.
      return null;
    } finally {
      block.release();
    }
  }
}
