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

import java.io.IOException;
import java.util.function.BiConsumer;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.load.BatchReadCoalescer;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentIndex;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentReader;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentStore;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Reads blocks at the locations in the index, once for all gets of a batch that need the same
 * block. Thread-safe. No lock is held during device reads.
 */
@InterfaceAudience.Private
final class IndexedBlockReads
  implements BatchReadCoalescer.NeighbourReader<IndexedBlockReads.Position> {
  /** Signals to the other gets of a batch that there is no block to share. */
  private static final IOException NOT_THERE = new NotThere();

  private final SegmentIndex index;
  private final SegmentStore store;
  private volatile ByteBuffAllocator allocator = ByteBuffAllocator.HEAP;

  /** Thrown and caught in the same thread, hence without a stack trace. */
  private static final class NotThere extends IOException {
    private static final long serialVersionUID = 1L;

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }

  IndexedBlockReads(SegmentIndex index, SegmentStore store) {
    this.index = index;
    this.store = store;
  }

  /** Sets the pool for buffers of blocks; the first call with a pool wins. */
  void useAllocator(ByteBuffAllocator pool) {
    if (!allocator.isReservoirEnabled()) {
      allocator = pool;
    }
  }

  /**
   * Reads a block; retries if it was moved meanwhile.
   * @param wanted whether the read counts as a request when hot blocks are determined
   * @return null if the block is absent or cannot be read
   */
  Cacheable read(CachedFile file, long offset, boolean wanted) {
    long location = index.get(file.id(), offset);
    while (Location.isPresent(location)) {
      Cacheable block = readOnce(new Position(file, offset, location));
      if (block != null) {
        if (wanted) {
          index.touch(file.id(), offset, location);
        }
        return block;
      }
      long now = index.get(file.id(), offset);
      if (Location.isPresent(now) && Location.isSame(now, location)) {
        return null;
      }
      // The block was rewritten to another location meanwhile.
      location = now;
    }
    return null;
  }

  /**
   * The identity and location of a block. Equal for the same block at any location, because blocks
   * of a file do not change.
   */
  static final class Position {
    private final CachedFile file;
    private final long offset;
    private final long location;

    Position(CachedFile file, long offset, long location) {
      this.file = file;
      this.offset = offset;
      this.location = location;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Position && ((Position) other).file == file
        && ((Position) other).offset == offset;
    }

    @Override
    public int hashCode() {
      return 31 * file.id() + Long.hashCode(offset);
    }
  }

  /**
   * Reads a block, once for all gets of a batch that need it. Returns null if it cannot be read.
   */
  private Cacheable readOnce(Position position) {
    try {
      return BatchReadCoalescer.read(position, this);
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public Cacheable read(Position position) throws IOException {
    return orNotThere(store.read(position.file, position.offset, position.location, allocator));
  }

  @Override
  public Cacheable readWithNext(Position position, BiConsumer<Position, Cacheable> others)
    throws IOException {
    CachedFile file = position.file;
    return orNotThere(store.readWithNext(file, position.offset, position.location, allocator,
      new SegmentReader.Neighbours() {
        @Override
        public long locate(long offset) {
          return index.get(file.id(), offset);
        }

        @Override
        public void accept(long offset, long location, Cacheable block) {
          others.accept(new Position(file, offset, location), block);
        }
      }));
  }

  /** Returns a position equal to that of the next block's lookup, without its location. */
  @Override
  public Position next(Position position, Cacheable block) {
    return new Position(position.file,
      position.offset + ((HFileBlock) block).getOnDiskSizeWithHeader(), Location.ABSENT);
  }

  private Cacheable orNotThere(Cacheable block) throws IOException {
    if (block == null) {
      throw NOT_THERE;
    }
    return block;
  }
}
