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

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The data blocks in the buckets of a {@link L1BucketCache} at one moment, and the buckets that
 * could be cleared for blocks of another size. It is made in one pass over all blocks. Allocations
 * go on meanwhile, so that it is nearly right. Not thread-safe.
 */
@InterfaceAudience.Private
final class BucketOccupancy {

  private final BucketCacheTier cache;
  private final BucketAllocator allocator;
  private final BucketAllocator.Bucket[] buckets;
  /** Data blocks in each bucket. */
  private final int[] data;
  /** The part of each bucket's places that data has. Kept, as an order needs numbers that stay. */
  private final double[] fullness;
  /** Buckets with a block that is to stay: a meta block, or one that is being read. */
  private final BitSet mixed = new BitSet();
  private final int[] bucketsOfSize;
  private final long[] freeOfSize;
  private final BitSet sizesWithData = new BitSet();

  BucketOccupancy(BucketCacheTier cache) {
    this.cache = cache;
    this.allocator = cache.getAllocator();
    this.buckets = allocator.getBuckets();
    this.data = new int[buckets.length];
    this.fullness = new double[buckets.length];
    cache.backingMap.forEach((key, entry) -> {
      int bucket = allocator.getBucketIndex(entry.offset());
      if (entry.metaBlock || entry.isRpcRef()) {
        mixed.set(bucket);
      } else {
        data[bucket]++;
      }
    });
    int sizes = allocator.getIndexStatistics().length;
    this.bucketsOfSize = new int[sizes];
    this.freeOfSize = new long[sizes];
    for (int i = 0; i < buckets.length; i++) {
      BucketAllocator.Bucket bucket = buckets[i];
      if (!bucket.isUninstantiated()) {
        bucketsOfSize[bucket.sizeIndex()]++;
        freeOfSize[bucket.sizeIndex()] += bucket.freeCount();
        fullness[i] = (double) data[i] / (bucket.usedCount() + bucket.freeCount());
        if (data[i] > 0) {
          sizesWithData.set(bucket.sizeIndex());
        }
      }
    }
  }

  /** Returns the bytes that data blocks could still take in buckets of the sizes they have. */
  long freeBytes() {
    return IntStream.range(0, buckets.length)
      .filter(i -> !buckets[i].isUninstantiated() && sizesWithData.get(buckets[i].sizeIndex()))
      .mapToLong(i -> buckets[i].getFreeBytes()).sum();
  }

  /** Returns the buckets of other sizes that hold only data, those with the fewest blocks first. */
  List<Integer> emptiest(int itemSize) {
    return clearable(itemSize, any -> true, Comparator.comparingDouble(bucket -> fullness[bucket]));
  }

  /**
   * Returns those of {@link #emptiest} whose blocks would all find a place in other buckets of
   * their size, so that clearing them loses little; up to a number.
   */
  List<Integer> spare(int itemSize, int limit) {
    List<Integer> spare = new ArrayList<>();
    for (int i : emptiest(itemSize)) {
      int size = buckets[i].sizeIndex();
      long elsewhere = freeOfSize[size] - buckets[i].freeCount();
      if (spare.size() < limit && elsewhere >= data[i]) {
        freeOfSize[size] = elsewhere - data[i];
        spare.add(i);
      }
    }
    return spare;
  }

  /**
   * Returns the buckets that hold nothing but data blocks and could be given to another size. Of
   * each size one is left out, which the allocator would keep.
   * @param itemSize bytes of an item in the buckets that are not wanted
   * @param suits    which buckets to consider
   * @param order    which to return first
   */
  List<Integer> clearable(int itemSize, IntPredicate suits, Comparator<Integer> order) {
    int[] left = bucketsOfSize.clone();
    // An item may be taken by a block that was evicted while it was read, or is being written.
    return IntStream.range(0, buckets.length)
      .filter(i -> data[i] > 0 && !mixed.get(i) && !buckets[i].isUninstantiated()
        && buckets[i].usedCount() == data[i] && itemSize(i) != itemSize)
      .filter(suits).boxed().sorted(order).filter(i -> --left[buckets[i].sizeIndex()] > 0)
      .collect(Collectors.toList());
  }

  /** Returns the buckets of a size that hold data, those with the fewest data blocks first. */
  List<Integer> ofSize(int itemSize) {
    return IntStream.range(0, buckets.length)
      .filter(i -> data[i] > 0 && !buckets[i].isUninstantiated() && itemSize(i) == itemSize).boxed()
      .sorted(Comparator.comparingDouble(bucket -> fullness[bucket])).collect(Collectors.toList());
  }

  /** Returns the bytes of a place in the bucket. */
  int itemSize(int bucket) {
    return buckets[bucket].getItemAllocationSize();
  }

  /** Evicts the data blocks of some buckets. Returns whether any went. */
  boolean evict(List<Integer> chosen) {
    BitSet cleared = new BitSet();
    chosen.forEach(cleared::set);
    // The entries are gathered first: the sooner all are gone, the fewer new ones get in between.
    List<Map.Entry<BlockCacheKey, BucketEntry>> going = new ArrayList<>();
    if (!chosen.isEmpty()) {
      cache.backingMap.entrySet().stream()
        .filter(block -> !block.getValue().metaBlock
          && cleared.get(allocator.getBucketIndex(block.getValue().offset())))
        .forEach(going::add);
    }
    boolean any = false;
    for (Map.Entry<BlockCacheKey, BucketEntry> block : going) {
      any |= cache.evictCopy(block.getKey(), block.getValue());
    }
    return any;
  }
}
