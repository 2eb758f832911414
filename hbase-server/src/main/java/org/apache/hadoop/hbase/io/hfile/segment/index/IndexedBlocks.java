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

import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Combines {@link SegmentIndex} and {@link CachedFiles}: a block is counted with its file before it
 * is added to the index, and uncounted after it is removed. Each slot of the index is therefore
 * counted with its file exactly once, whichever thread removes it. Thread-safe.
 */
@InterfaceAudience.Private
public final class IndexedBlocks implements SegmentDirectory {
  private final CachedFiles files;
  private final SegmentIndex index;
  /**
   * Notified of each location that no longer has a block, except for those that the store removed
   * itself.
   */
  private volatile BooleanSupplier freeingOrphans = () -> false;
  private volatile LongConsumer freed = location -> {
  };

  public IndexedBlocks(CachedFiles files, SegmentIndex index) {
    this.files = files;
    this.index = index;
  }

  /** Sets the consumer of locations that no longer have a block. */
  public void onFreed(LongConsumer consumer) {
    freed = consumer;
  }

  /** Sets the supplier for {@link #isFreeingOrphans}. */
  public void onReclaim(BooleanSupplier freesOrphans) {
    freeingOrphans = freesOrphans;
  }

  @Override
  public boolean isFreeingOrphans() {
    return freeingOrphans.getAsBoolean();
  }

  @Override
  public boolean stored(CachedFile file, long blockOffset, long location) {
    file.insertedInto();
    if (!file.onInsert(blockOffset, location)) {
      return false;
    }
    long former = index.put(file.id(), blockOffset, location);
    if (former == Location.REFUSED) {
      file.undoInsert(location);
      return false;
    }
    if (Location.isPresent(former)) {
      file.undoInsert(former);
      freed.accept(former);
    }
    return true;
  }

  @Override
  public boolean recovered(String fileName, long blockOffset, long location) {
    CachedFile file = files.acquire(fileName);
    if (file == null) {
      return false;
    }
    try {
      if (!file.onInsert(blockOffset, location)) {
        return false;
      }
      if (index.putIfAbsent(file.id(), blockOffset, location) != Location.ABSENT) {
        file.undoInsert(location);
        return false;
      }
      return true;
    } finally {
      file.release();
    }
  }

  @Override
  public String regionOf(String fileName) {
    CachedFile file = files.get(fileName);
    return file == null ? null : file.getRegion();
  }

  @Override
  public void regionRecovered(String fileName, String region) {
    CachedFile file = files.get(fileName);
    if (file != null && file.getRegion() == null) {
      file.setRegion(region);
    }
  }

  @Override
  public void completeRecovered(CompleteFile complete) {
    CachedFile file = files.get(complete.name());
    if (file != null) {
      file.fullyCached(complete.dataBlocks(), file.getRegion(), complete.size());
    }
  }

  @Override
  public boolean isComplete(String fileName) {
    CachedFile file = files.get(fileName);
    return file != null && file.isFullyCached();
  }

  @Override
  public int accesses(String fileName, long blockOffset, long location) {
    CachedFile file = files.get(fileName);
    long now = file == null ? Location.ABSENT : index.get(file.id(), blockOffset);
    return Location.isPresent(now) && Location.isSame(now, location)
      ? Location.access(now)
      : NOT_HERE;
  }

  @Override
  public boolean moved(String fileName, long blockOffset, long from, long to) {
    CachedFile file = files.get(fileName);
    return file != null && index.replace(file.id(), blockOffset, from, to);
  }

  @Override
  public int removed(String fileName, long blockOffset, long location) {
    CachedFile file = files.get(fileName);
    int accesses = file == null ? NOT_HERE : remove(file, blockOffset, location);
    if (accesses == NOT_HERE) {
      for (CachedFile dropped : files.dropped(fileName)) {
        accesses = Math.max(accesses, remove(dropped, blockOffset, location));
      }
    }
    return accesses;
  }

  private int remove(CachedFile file, long blockOffset, long expected) {
    long location = index.remove(file.id(), blockOffset, expected);
    if (!Location.isPresent(location)) {
      return NOT_HERE;
    }
    file.onRemove(location);
    return Location.access(location);
  }

  @Override
  public long inMemoryBytes() {
    return files.getInMemoryBytes();
  }

  @Override
  public void forgetSegments(int first, int end) {
    for (int partition = 0; partition < index.getPartitionCount(); partition++) {
      index.removeIn(partition, (id, offset, location) -> Location.segment(location) >= first
        && Location.segment(location) < end,
        (id, offset, location) -> files.byId(id).onRemove(location));
    }
  }

  /**
   * Returns the location of a block of a live file, {@link Location#ABSENT} if it is not stored.
   */
  public long find(String fileName, long blockOffset) {
    CachedFile file = files.get(fileName);
    return file == null ? Location.ABSENT : index.get(file.id(), blockOffset);
  }

  /** Returns the number of requests for a block, as of {@link HotBlockCache#accesses}. */
  public int accesses(String fileName, long blockOffset) {
    long location = find(fileName, blockOffset);
    return Location.isPresent(location) ? Location.access(location) : HotBlockCache.NOT_CACHED;
  }

  /** Counts requests for a block of a file, up to {@link Location#MAX_ACCESS}. */
  public void touch(CachedFile file, long blockOffset, int requests) {
    for (int i = Math.min(requests, Location.MAX_ACCESS); i > 0; i--) {
      index.touch(file.id(), blockOffset, index.get(file.id(), blockOffset));
    }
  }

  /** Evicts a block of a live file. Returns false if it was not stored. */
  public boolean evict(String fileName, long blockOffset) {
    CachedFile file = files.get(fileName);
    if (file == null) {
      return false;
    }
    long location = index.remove(file.id(), blockOffset);
    if (!Location.isPresent(location)) {
      return false;
    }
    went(file, location);
    return true;
  }

  /** Evicts the blocks of a live file between two offsets, both inclusive. Returns their number. */
  public int evictRange(String fileName, long from, long to) {
    CachedFile file = files.get(fileName);
    return file == null
      ? 0
      : index.removeOf(file.id(), from, Math.min(to, file.maxOffset()),
        (id, offset, location) -> went(file, location));
  }

  private void went(CachedFile file, long location) {
    file.onRemove(location);
    freed.accept(location);
  }

  /**
   * Drops a file, so that none of its blocks is found any more. O(1).
   * @return the file, for {@link #sweep}; null if no block of it was stored
   */
  public CachedFile drop(String fileName) {
    return files.drop(fileName);
  }

  /**
   * Removes the remaining index entries of a dropped file.
   * @return whether none is left; false if another thread is about to insert a block of it
   */
  public boolean sweep(CachedFile file) {
    if (!file.pinDropped()) {
      // The store has reclaimed its last block.
      return true;
    }
    try {
      index.removeOf(file.id(), 0, file.maxOffset(),
        (id, offset, location) -> went(file, location));
      return file.blockCount() == 0;
    } finally {
      file.release();
    }
  }

  /** Removes all blocks and files. Only for an object that no other thread uses yet. */
  void clear() {
    index.clear();
    files.clear();
  }
}
