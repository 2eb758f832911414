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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.hadoop.hbase.io.hfile.BlockCacheUtil;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Iterates over the blocks of live files, for the web pages and the JSON of the RegionServer. Holds
 * the blocks of one partition of the index at a time. Blocks that are inserted or evicted meanwhile
 * may be missing. Not thread-safe.
 */
@InterfaceAudience.Private
public final class IndexedBlockIterator implements Iterator<CachedBlock> {
  private final SegmentIndex index;
  private final CachedFiles files;
  private int partition;
  private Iterator<CachedBlock> some = Collections.emptyIterator();

  public IndexedBlockIterator(SegmentIndex index, CachedFiles files) {
    this.index = index;
    this.files = files;
  }

  @Override
  public boolean hasNext() {
    while (!some.hasNext() && partition < index.getPartitionCount()) {
      List<CachedBlock> next = new ArrayList<>();
      index.forEachIn(partition++, (id, offset, location) -> {
        CachedFile file = files.byId(id);
        if (file != null && file.isLive()) {
          next.add(new StoredBlock(file.name(), offset, location));
        }
      });
      some = next.iterator();
    }
    return some.hasNext();
  }

  @Override
  public CachedBlock next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return some.next();
  }

  /** A block, with the attributes that the index has. */
  private static final class StoredBlock implements CachedBlock {
    private final String hfileName;
    private final long offset;
    private final long location;

    StoredBlock(String hfileName, long offset, long location) {
      this.hfileName = hfileName;
      this.offset = offset;
      this.location = location;
    }

    @Override
    public BlockPriority getBlockPriority() {
      return Location.isInMemory(location) ? BlockPriority.MEMORY
        : Location.access(location) == 0 ? BlockPriority.SINGLE : BlockPriority.MULTI;
    }

    @Override
    public BlockType getBlockType() {
      return typeOf(location);
    }

    @Override
    public long getOffset() {
      return offset;
    }

    @Override
    public long getSize() {
      return Location.length(location);
    }

    /** Returns 0: the time is not recorded. */
    @Override
    public long getCachedTime() {
      return 0;
    }

    @Override
    public String getFilename() {
      return hfileName;
    }

    @Override
    public int compareTo(CachedBlock other) {
      int byName = hfileName.compareTo(other.getFilename());
      return byName != 0 ? byName : Long.compare(offset, other.getOffset());
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof CachedBlock && compareTo((CachedBlock) other) == 0;
    }

    @Override
    public int hashCode() {
      return hfileName.hashCode() * 127 + Long.hashCode(offset);
    }

    @Override
    public String toString() {
      return BlockCacheUtil.toString(this, System.nanoTime());
    }
  }

  /** Returns one block type of the block's category. */
  public static BlockType typeOf(long location) {
    switch (Location.categoryOf(Location.category(location))) {
      case DATA:
        return BlockType.DATA;
      case INDEX:
        return BlockType.LEAF_INDEX;
      case BLOOM:
        return BlockType.BLOOM_CHUNK;
      default:
        return BlockType.META;
    }
  }
}
