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
import org.apache.hadoop.hbase.io.hfile.batch.BatchReadCoalescer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Reads blocks where the index says they are, once for all gets of a batch that want the same one.
 * Thread-safe. No lock is held while a device is read.
 */
@InterfaceAudience.Private
final class IndexedBlockReads
  implements BatchReadCoalescer.NeighbourReader<IndexedBlockReads.Place> {
  /** Says to those who share reads that there is nothing to share. */
  private static final IOException NOT_THERE = new NotThere();

  private final SegmentIndex index;
  private final SegmentStore store;
  private volatile ByteBuffAllocator allocator = ByteBuffAllocator.HEAP;

  /** Thrown in one thread only to be caught in it, and so without a trace. */
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

  /** Has blocks read into buffers of a pool, the first that has some. */
  void useAllocator(ByteBuffAllocator pool) {
    if (!allocator.isReservoirEnabled()) {
      allocator = pool;
    }
  }

  /**
   * Reads a block, again if it was moved meanwhile.
   * @param wanted whether the read counts for the block's being hot
   * @return null if it is not there, or cannot be read
   */
  Cacheable read(CachedFile file, long offset, boolean wanted) {
    long location = index.get(file.id(), offset);
    while (Location.isPresent(location)) {
      Cacheable block = readOnce(new Place(file, offset, location));
      if (block != null) {
        if (wanted) {
          index.touch(file.id(), offset, location);
        }
        return block;
      }
      long now = index.get(file.id(), offset);
      if (Location.isPresent(now) && Location.isSamePlace(now, location)) {
        return null;
      }
      // Written again elsewhere since.
      location = now;
    }
    return null;
  }

  /**
   * Where a block is, and equal for the same block: what is read is the same wherever it is, since
   * blocks of a file do not change.
   */
  static final class Place {
    private final CachedFile file;
    private final long offset;
    private final long location;

    Place(CachedFile file, long offset, long location) {
      this.file = file;
      this.offset = offset;
      this.location = location;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Place && ((Place) other).file == file
        && ((Place) other).offset == offset;
    }

    @Override
    public int hashCode() {
      return 31 * file.id() + Long.hashCode(offset);
    }
  }

  /** Reads a block, once for all gets of a batch that want it; null if it cannot be had. */
  private Cacheable readOnce(Place place) {
    try {
      return BatchReadCoalescer.read(place, this);
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public Cacheable read(Place place) throws IOException {
    return orNotThere(store.read(place.file, place.offset, place.location, allocator));
  }

  @Override
  public Cacheable readWithNext(Place place, BiConsumer<Place, Cacheable> others)
    throws IOException {
    CachedFile file = place.file;
    return orNotThere(store.readWithNext(file, place.offset, place.location, allocator,
      new SegmentReader.Neighbours() {
        @Override
        public long locate(long offset) {
          return index.get(file.id(), offset);
        }

        @Override
        public void accept(long offset, long location, Cacheable block) {
          others.accept(new Place(file, offset, location), block);
        }
      }));
  }

  /** Equal to where the next block is looked for, which knows the location. */
  @Override
  public Place next(Place place, Cacheable block) {
    return new Place(place.file,
      place.offset + ((HFileBlock) block).getOnDiskSizeWithHeader(), Location.ABSENT);
  }

  private Cacheable orNotThere(Cacheable block) throws IOException {
    if (block == null) {
      throw NOT_THERE;
    }
    return block;
  }
}
