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
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.io.hfile.BlockIndexEntries;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HotBlockCache;
import org.apache.hadoop.hbase.io.hfile.HotBlockMap;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A file that was bulk loaded beside others, whose rows readers get from it from now on. Not
 * thread-safe.
 */
@InterfaceAudience.Private
public final class LoadedFile implements BlockIndexCursor.IndexBlocks {
  private final HFile.Reader reader;
  private final RegionKeyRange range;
  private final HotBlockCache cache;

  /**
   * @param range of the region
   * @param cache that has the blocks of the other files
   */
  public LoadedFile(HFile.Reader reader, RegionKeyRange range, HotBlockCache cache) {
    this.reader = reader;
    this.range = range;
    this.cache = cache;
  }

  /**
   * Returns the data blocks whose keys other files have hot blocks of. Reads the block index of
   * this file, and caches it; of the others it takes what is in memory.
   * @param others the files that the store had before
   * @throws IOException if the index cannot be read, as when the region was closed
   */
  public HotBlockMap hotBlocks(Collection<HFile.Reader> others) throws IOException {
    HotBlockMap hot = new HotBlockMap(HotBlockHint.MIN_SHIFT);
    Cell first = reader.getFirstKey().orElse(null);
    Cell last = reader.getLastKey().orElse(null);
    BlockIndexEntries root = BlockIndexEntries.root(reader);
    if (first == null || last == null || root == null) {
      return hot;
    }
    RangeHeat heat = new RangeHeat();
    List<InputFile> inputs = others.stream()
      .map(other -> new InputFile(other, range, cache, heat)).collect(Collectors.toList());
    BlockIndexCursor cursor = new BlockIndexCursor(root,
      reader.getTrailer().getNumDataIndexLevels(), reader.getComparator(), this);
    try {
      cursor.visit(first, last, new BlockIndexCursor.Visitor() {
        @Override
        public void block(long offset) {
          // The next block has its own first key.
          Cell next = cursor.nextKey();
          heat.clear();
          inputs.forEach(
            input -> input.addTo(cursor.key(), next == null ? last : next, next == null));
          if (heat.isHot()) {
            hot.add(offset);
          }
        }

        @Override
        public void unknown() {
          // Index blocks are read.
        }
      });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    return hot;
  }

  @Override
  public BlockIndexEntries find(long offset, boolean leaf) {
    try {
      HFileBlock block = reader.readBlock(offset, -1, true, true, false, true,
        leaf ? BlockType.LEAF_INDEX : BlockType.INTERMEDIATE_INDEX, null);
      try {
        return BlockIndexEntries.below(block);
      } finally {
        block.release();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
