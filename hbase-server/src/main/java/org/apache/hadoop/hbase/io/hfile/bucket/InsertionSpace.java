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

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The space for insertions into a bucket cache: free items of buckets, for which nothing is
 * evicted, and the queues of writers. A look at the allocator costs a step for each bucket, thus
 * one serves for a quarter of the items that it has found, or for {@value #RECHECK} questions if it
 * has found few. Thread-safe.
 */
@InterfaceAudience.Private
final class InsertionSpace {
  /** The number of free items below which none is to spare, as concurrent writers may take them. */
  static final int MIN_FREE = 64;
  static final int RECHECK = 64;
  /**
   * The fraction of minfactor below which space is spare: an eviction frees space to a little below
   * minfactor, by extrafreefactor.
   */
  private static final double SPARE_BELOW = 0.85;
  /** The interval between two checks of a full queue: the writers signal to no one. */
  private static final long POLL_NANOS = 200_000;

  private final BucketCache cache;
  /** By bucket size: how often to answer yes, or no if it is negative, without another look. */
  private int[] credits;

  InsertionSpace(BucketCache cache) {
    this.cache = cache;
  }

  /** Returns whether the cache has spare space; one bucket size may be exhausted nevertheless. */
  boolean isSpare() {
    return cache.getAllocator().getUsedSize()
        < SPARE_BELOW * Math.min(cache.acceptableSize(), cache.getMinFactor() * cache.getMaxSize());
  }

  /** Returns whether a block of a serialized length finds a free item. */
  synchronized boolean isSpareFor(int length) {
    BucketAllocator allocator = cache.getAllocator();
    BucketAllocator.BucketSizeInfo size = allocator.roundUpToBucketSizeInfo(length);
    if (size == null || !isSpare()) {
      return false;
    }
    int index = size.sizeIndex();
    if (credits != null && credits[index] > 0) {
      credits[index]--;
      return true;
    }
    if (credits != null && credits[index] < 0) {
      credits[index]++;
      return false;
    }
    BucketAllocator.IndexStatistics[] sizes = allocator.getIndexStatistics();
    if (credits == null) {
      credits = new int[sizes.length];
    }
    // Blocks that wait to be written take items as well, each about as large.
    long free = freeItems(allocator, sizes, index) - cache.ramCache.delegate.size();
    credits[index] = free < MIN_FREE ? -RECHECK : (int) Math.min(Integer.MAX_VALUE, free / 4);
    return free >= MIN_FREE;
  }

  /**
   * Waits until the queue of a key has space.
   * @param name of the cache, for the message
   * @return false if it has none when the time is over, or the cache is disabled or bypassed
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  boolean awaitQueue(String name, BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    // The cache chooses this queue for the key.
    BlockingQueue<?> queue =
      cache.writerQueues.get((key.hashCode() & 0x7FFFFFFF) % cache.writerQueues.size());
    long deadline = System.nanoTime() + timeoutNanos;
    while (queue.remainingCapacity() == 0) {
      if (!cache.isCacheEnabled() || System.nanoTime() >= deadline) {
        return false;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException("Interrupted while waiting for a writer of " + name);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return cache.isCacheEnabled();
  }

  /**
   * Returns the free items in buckets of this size, and in free buckets of the other sizes, except
   * one bucket that each size keeps.
   */
  private static long freeItems(BucketAllocator allocator,
    BucketAllocator.IndexStatistics[] sizes, int index) {
    long itemsInBucket = allocator.getTotalSize() / allocator.getBuckets().length
      / sizes[index].itemSize();
    long free = sizes[index].freeCount();
    for (int i = 0; i < sizes.length; i++) {
      if (i != index) {
        free += Math.max(0, sizes[i].completelyFreeBuckets() - 1) * itemsInBucket;
      }
    }
    return free;
  }
}
