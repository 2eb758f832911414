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

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Whether blocks of a size find free places in a bucket cache, so that nothing is evicted for them.
 * A look at the allocator costs a step for each bucket, thus one serves for a quarter of the places
 * that it has found, or for {@value #RECHECK} questions if it has found few. Thread-safe.
 */
@InterfaceAudience.Private
final class SparePlaces {
  /**
   * The number of free places below which none is to spare, since concurrent writers may take them.
   */
  static final int MIN_FREE = 64;
  static final int RECHECK = 64;
  /**
   * The fraction of minfactor below which space is spare: an eviction frees space to a little below
   * minfactor, by extrafreefactor.
   */
  private static final double SPARE_BELOW = 0.85;

  private final BucketCache cache;
  /** By bucket size: how often to answer yes, or no if it is negative, without another look. */
  private int[] credits;

  SparePlaces(BucketCache cache) {
    this.cache = cache;
  }

  /** By the size of the whole cache: one bucket size may be exhausted nevertheless. */
  static boolean hasSpareSpace(BucketCache cache) {
    return cache.getAllocator().getUsedSize()
        < SPARE_BELOW * Math.min(cache.acceptableSize(), cache.getMinFactor() * cache.getMaxSize());
  }

  /** Returns whether a block of a serialized length finds a free place. */
  synchronized boolean areThereFor(int length) {
    BucketAllocator allocator = cache.getAllocator();
    BucketAllocator.BucketSizeInfo size = allocator.roundUpToBucketSizeInfo(length);
    if (size == null || !hasSpareSpace(cache)) {
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
    // Blocks that wait to be written take places as well, each about as large.
    long free = freePlaces(allocator, sizes, index) - cache.ramCache.delegate.size();
    credits[index] = free < MIN_FREE ? -RECHECK : (int) Math.min(Integer.MAX_VALUE, free / 4);
    return free >= MIN_FREE;
  }

  /**
   * Returns the free places in buckets of this size, and in free buckets of the other sizes, except
   * one bucket that each size keeps.
   */
  private static long freePlaces(BucketAllocator allocator,
    BucketAllocator.IndexStatistics[] sizes, int index) {
    long placesInBucket = allocator.getTotalSize() / allocator.getBuckets().length
      / sizes[index].itemSize();
    long free = sizes[index].freeCount();
    for (int i = 0; i < sizes.length; i++) {
      if (i != index) {
        free += Math.max(0, sizes[i].completelyFreeBuckets() - 1) * placesInBucket;
      }
    }
    return free;
  }
}
