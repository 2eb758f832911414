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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockIndexEntries;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A file that a compaction reads, and what the cache has of it. Of a file that a reference refers
 * to, it is the part that has the region's rows. Reads no block from the file or from a device,
 * unless it is made with index blocks that do. Not thread-safe.
 */
@InterfaceAudience.Private
final class InputFile implements BlockIndexCursor.IndexBlocks, BlockIndexCursor.Visitor {
  private final HFile.Reader reader;
  private final String name;
  /** Null unless the file is a reference. */
  private final String referredTo;
  private final RegionKeyRange range;
  private final HotBlockCache cache;
  private final Cell firstKey;
  private final Cell lastKey;
  /** For a reference, the end of the region unless the file ends before; otherwise null. */
  private final Cell end;
  /** Null if the encoding of the block index is unknown. */
  private final BlockIndexCursor cursor;
  /** What {@link #accesses} has found for its range. */
  private int accesses;
  private boolean inL1;
  private boolean unknown;

  /** @param range of the region that reads the file */
  InputFile(HFile.Reader reader, RegionKeyRange range, HotBlockCache cache) {
    this(reader, range, cache, null);
  }

  /** @param index where the index blocks are; null for the cache */
  InputFile(HFile.Reader reader, RegionKeyRange range, HotBlockCache cache,
    BlockIndexCursor.IndexBlocks index) {
    this.reader = reader;
    this.name = reader.getName();
    this.referredTo = ReferredFile.of(name);
    this.range = range;
    this.cache = cache;
    this.lastKey = reader.getLastKey().orElse(null);
    Cell first = reader.getFirstKey().orElse(null);
    boolean isPart = referredTo != null && lastKey != null;
    this.firstKey = isPart ? range.first(first, reader.getComparator()) : first;
    this.end = isPart ? range.endBefore(lastKey, reader.getComparator()) : null;
    BlockIndexEntries root = BlockIndexEntries.root(reader);
    this.cursor = root == null
      ? null
      : new BlockIndexCursor(root, reader.getTrailer().getNumDataIndexLevels(),
        reader.getComparator(), index == null ? this : index);
  }

  /** Returns this file as if nothing was asked yet. */
  InputFile startOver() {
    return new InputFile(reader, range, cache);
  }

  /** Returns the bytes of the file, of a reference about those of its part. */
  long length() {
    return referredTo == null
      ? reader.length()
      : (long) (reader.length() * share(offset -> true));
  }

  /** Returns the data blocks that are cached and were accessed, as far as they are known. */
  HotBlockMap hotBlocks(int shift) {
    HotBlockMap hot = new HotBlockMap(shift);
    forEachBlock(offset -> {
      if (cache.accesses(new BlockCacheKey(name, offset)) > 0) {
        hot.add(offset);
      }
    });
    return hot;
  }

  /** Visits the offset of each data block that is known and may have cells of the region. */
  void forEachBlock(LongConsumer offsets) {
    if (firstKey == null || lastKey == null || isAfter(firstKey, end == null ? lastKey : end)) {
      return;
    }
    visit(firstKey, end == null ? lastKey : end, end == null, offsets);
  }

  /**
   * Visits the blocks whose index block is in memory: no reader has accessed the others for long.
   */
  private void visit(Cell first, Cell last, boolean withLast, LongConsumer offsets) {
    if (cursor != null) {
      cursor.visit(first, last, withLast, offsets::accept);
    }
  }

  /** Returns the bytes that the file's blocks take in the cache, and those that it refers to. */
  long cachedBytes() {
    long referred = referredTo == null ? 0 : cache.cachedBytes(referredTo);
    return cache.cachedBytes(name)
      + (referred == 0 ? 0 : (long) (referred * share(this::isReferredToCached)));
  }

  private boolean isReferredToCached(long offset) {
    return cache.accesses(new BlockCacheKey(referredTo, offset)) != HotBlockCache.NOT_CACHED;
  }

  /** Returns how many of some blocks of the referred file may have cells of the region; 0 to 1. */
  private double share(LongPredicate blocks) {
    long[] counts = new long[2];
    reader.getFirstKey().ifPresent(first -> visit(first, lastKey, true, offset -> {
      counts[0] += blocks.test(offset) ? 1 : 0;
    }));
    forEachBlock(offset -> counts[1] += blocks.test(offset) ? 1 : 0);
    return counts[0] == 0 ? 0 : (double) counts[1] / counts[0];
  }

  /**
   * Evicts the file's blocks. Of a file that it refers to, it evicts those that have cells of the
   * region alone: another region may read the others.
   */
  void evictFrom(BlockCache blocks) {
    blocks.evictBlocksByHfileName(name);
    if (referredTo != null) {
      forEachBlock(offset -> {
        if (range.hasAll(cursor.key(), cursor.nextKey(), lastKey, reader.getComparator())) {
          blocks.evictBlock(new BlockCacheKey(referredTo, offset));
        }
      });
    }
  }

  /**
   * Returns how often the hottest block of some files that may have cells of a range was accessed,
   * as a block of the range has but its share of the accesses of all of them; 0 if none was.
   * @param withLast whether the last key is itself in the range
   */
  static int accesses(List<InputFile> files, Cell first, Cell last, boolean withLast) {
    int hottest = 0;
    for (InputFile file : files) {
      hottest = Math.max(hottest, file.accesses(first, last, withLast));
    }
    return hottest;
  }

  /**
   * Returns the same for the keys of the block that {@link #forEachBlock} visits now.
   * @param withNext whether the first key of the next block is in the range, too
   */
  int accessesOfBlock(List<InputFile> files, boolean withNext) {
    Cell next = cursor.nextKey();
    return next == null
      ? accesses(files, cursor.key(), lastKey, true)
      : accesses(files, cursor.key(), next, withNext);
  }

  /** Returns the same of this file. */
  int accesses(Cell first, Cell last, boolean withLast) {
    accesses = 0;
    inL1 = false;
    unknown = false;
    if (lastKey != null && !isAfter(first, lastKey)) {
      if (cursor == null) {
        unknown();
      } else {
        cursor.visit(first, last, withLast, this);
      }
    }
    return accesses;
  }

  /** Returns whether L1 has one of the blocks that were accessed. */
  boolean isInL1() {
    return inL1;
  }

  /** Returns whether some of the blocks are not known. */
  boolean isUnknown() {
    return unknown;
  }

  private boolean isAfter(Cell a, Cell b) {
    return PrivateCellUtil.compareKeyIgnoresMvcc(reader.getComparator(), a, b) > 0;
  }

  @Override
  public void block(long offset) {
    BlockCacheKey key = new BlockCacheKey(name, offset);
    int blockAccesses = cache.accesses(key);
    accesses = Math.max(accesses, Math.min(blockAccesses, HotBlockCache.MAX_ACCESSES));
    inL1 |= blockAccesses > 0 && cache.isInL1(key);
  }

  @Override
  public void unknown() {
    unknown = true;
  }

  @Override
  public BlockIndexEntries find(long offset, boolean leaf) {
    HFileBlock block = cache.peek(new BlockCacheKey(name, offset, true, typeOf(leaf)));
    if (block == null) {
      return null;
    }
    try {
      return BlockIndexEntries.below(block);
    } catch (IOException | RuntimeException e) {
      // This is no index block: without it, its range counts as not known.
      return null;
    } finally {
      block.release();
    }
  }

  /** Reads an index block through a file's reader, which caches it. */
  static BlockIndexEntries readIndexBlock(HFile.Reader reader, long offset, boolean leaf) {
    try {
      HFileBlock block = reader.readBlock(offset, -1, true, true, false, true, typeOf(leaf), null);
      try {
        return BlockIndexEntries.below(block);
      } finally {
        block.release();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static BlockType typeOf(boolean leaf) {
    return leaf ? BlockType.LEAF_INDEX : BlockType.INTERMEDIATE_INDEX;
  }
}
