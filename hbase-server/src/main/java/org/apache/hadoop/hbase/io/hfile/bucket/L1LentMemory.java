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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.composite.GhostEntries;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier.LentMemory;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The memory that L1 has lent. A unit is a bucket, allocated as the blocks that fill it, so that
 * neither the allocator nor an eviction touches it until it is taken back; a page is the memory of
 * such a block, or the longer part of it if the engine has it in two buffers. Units count against
 * what data blocks may take. If meta blocks need more than data blocks leave, units are reclaimed.
 * Thread-safe.
 */
@InterfaceAudience.Private
final class L1LentMemory implements LendingTier {

  /** The number of blocks of the largest size that fill a bucket. */
  private static final int PAGES = BucketAllocator.FEWEST_ITEMS_IN_BUCKET;
  /** Other buckets may have some places of the largest size, which are allocated first. */
  private static final int MAX_ALLOCATIONS = 8 * PAGES;

  /** Gets at the memory of an allocation, as a block's entry does. */
  private static final class Allocation extends BucketEntry {
    private ByteBuffer[] memory;

    Allocation(long offset, int length) {
      super(offset, length, length, 0, false, entry -> ByteBuffAllocator.NONE,
        ByteBuffAllocator.HEAP);
    }

    @Override
    Cacheable wrapAsCacheable(ByteBuffer[] buffers) {
      memory = buffers;
      return null;
    }
  }

  private final BucketCacheTier cache;
  private final L1DataSpace space;
  private final long total;
  private final long bucketSize;
  private final AtomicLong lent = new AtomicLong();
  private volatile Borrower borrower;
  private volatile double share;
  private volatile boolean closed;

  L1LentMemory(BucketCacheTier cache, L1DataSpace space) {
    this.cache = cache;
    this.space = space;
    this.total = cache.getAllocator().getTotalSize();
    this.bucketSize = total / cache.getAllocator().getBuckets().length;
  }

  /** Returns whether the engine's memory can be lent. */
  boolean isPossible() {
    return cache.ioEngine instanceof ByteBufferIOEngine;
  }

  @Override
  public void setBorrower(double share, Borrower borrower) {
    this.borrower = borrower;
    this.share = share;
  }

  @Override
  public boolean isLending() {
    return !closed && cache.isCacheEnabled();
  }

  @Override
  public List<LentMemory> lend(int units) {
    List<LentMemory> all = new ArrayList<>();
    long lendable = Math.min(getMaxLent() - lent.get(), space.maxBytes());
    long wanted = Math.min(units, lendable / bucketSize);
    if (wanted <= 0 || !isLending()) {
      return all;
    }
    // This comes first, so that the least useful data blocks are evicted.
    lent.addAndGet(wanted * bucketSize);
    space.adapt(0);
    try {
      addAll(all, wanted);
      if (all.size() < wanted) {
        space.clearForLending((int) wanted - all.size());
        addAll(all, wanted);
      }
    } finally {
      lent.addAndGet((all.size() - wanted) * bucketSize);
      space.adapt(0);
    }
    return all;
  }

  private void addAll(List<LentMemory> all, long wanted) {
    boolean more = true;
    while (more && all.size() < wanted) {
      long[] offsets = allocate();
      more = offsets != null;
      if (more) {
        all.add(unit(offsets));
      }
    }
  }

  private LentMemory unit(long[] offsets) {
    ByteBuffer[] pages = null;
    try {
      pages = pages(offsets);
    } finally {
      if (pages == null) {
        free(offsets);
      }
    }
    return new LentMemory(pages, offsets);
  }

  private void free(long[] offsets) {
    for (long offset : offsets) {
      cache.getAllocator().freeBlock(offset, pageSize());
    }
  }

  /** Returns the offsets of a bucket's blocks; null if there is no free bucket. */
  private long[] allocate() {
    BucketAllocator allocator = cache.getAllocator();
    List<Long> others = new ArrayList<>();
    List<Long> ofBucket = new ArrayList<>();
    try {
      for (int i = 0; i < MAX_ALLOCATIONS && ofBucket.size() < PAGES; i++) {
        long offset = allocator.allocateBlock(pageSize());
        if (
          !ofBucket.isEmpty()
            && allocator.getBucketIndex(ofBucket.get(0)) != allocator.getBucketIndex(offset)
        ) {
          others.addAll(ofBucket);
          ofBucket.clear();
        }
        ofBucket.add(offset);
      }
    } catch (CacheFullException | BucketAllocatorException e) {
      // No place is left. What was allocated is freed below unless it is a whole bucket.
    }
    if (ofBucket.size() < PAGES) {
      others.addAll(ofBucket);
    }
    others.forEach(offset -> allocator.freeBlock(offset, pageSize()));
    return ofBucket.size() < PAGES ? null : ofBucket.stream().mapToLong(o -> o).toArray();
  }

  private int pageSize() {
    return cache.largestBucketSize();
  }

  private ByteBuffer[] pages(long[] offsets) {
    return Arrays.stream(offsets).mapToObj(this::page).toArray(ByteBuffer[]::new);
  }

  private ByteBuffer page(long offset) {
    Allocation allocation = new Allocation(offset, pageSize());
    try {
      cache.ioEngine.read(allocation);
    } catch (IOException e) {
      throw new IllegalStateException("Memory has no I/O", e);
    } finally {
      allocation.release();
    }
    return Arrays.stream(allocation.memory).max(Comparator.comparingInt(ByteBuffer::remaining))
      .get().slice();
  }

  @Override
  public void takeBack(LentMemory unit) {
    free(unit.offsets());
    lent.addAndGet(-bucketSize);
    space.onTakenBack();
  }

  /**
   * Has the borrower give back so many bytes or more, if there are any.
   * @return whether there were
   */
  boolean reclaim(long bytes) {
    long before = lent.get();
    Borrower current = borrower;
    if (before > 0 && current != null) {
      current.giveBack((int) ((Math.min(bytes, before) + bucketSize - 1) / bucketSize));
    }
    return lent.get() < before;
  }

  /** Has all units given back, and lends no more. */
  void close() {
    closed = true;
    reclaim(Long.MAX_VALUE);
  }

  @Override
  public long getSize() {
    return total;
  }

  @Override
  public long getUnitSize() {
    return bucketSize;
  }

  @Override
  public long getMaxLent() {
    return (long) (share * total) / bucketSize * bucketSize;
  }

  @Override
  public long getLent() {
    return lent.get();
  }

  @Override
  public GhostEntries getGhosts() {
    return space.policy().ghosts();
  }

  @Override
  public long getMeanBlockSize() {
    return Math.max(1, space.policy().getCapacity() / space.policy().blocksThatFit());
  }
}
