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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.hbase.io.hfile.FrequencyPromotionPolicy;
import org.apache.hadoop.hbase.io.hfile.PromotionPolicy;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The data blocks in a {@link FirstLevelBucketCache}: how much of it they may take, and how they
 * make way for meta blocks.
 * <p>
 * A bucket holds blocks of one size only, so that there may be space without a place for a block.
 * A meta block gets its place by clearing buckets that hold nothing but data, those with the fewest
 * blocks first, or the data blocks between meta blocks of its size. A data block without a place is
 * turned away. The next ones may find one if a bucket could be cleared that was half empty, which a
 * thread of its own looks for, and seldom enough that looking does not count. If there is none, the
 * room for data is taken to be what data has by then, so that a block has to displace another; the
 * same thread gives the room back some seconds later. Thread-safe.
 */
@InterfaceAudience.Private
final class PromotedBlocks {

  /** How long the room that was found to be there stands for the room that should be there. */
  private static final long TRY_AGAIN_MS = TimeUnit.SECONDS.toMillis(10);
  /** The same if data has too little by then to find what to displace, or a bucket was cleared. */
  private static final long TRY_SOON_MS = TimeUnit.SECONDS.toMillis(1);
  /** A bucket that is fuller is not cleared for a block that is as good as those in it. */
  private static final double HALF_EMPTY = 0.6;
  /** One bucket in so many is cleared at a time, as each time all blocks are looked at. */
  private static final int BUCKETS_PER_CLEARING = 512;
  /** Bytes of sketch for a block: blocks are often smaller than the configuration says. */
  private static final int SKETCH_ENTRIES_PER_BLOCK = 4;
  private static final long MOST_SKETCH_ENTRIES = 1 << 30;

  private final FirstLevelBucketCache cache;
  private final long total;
  private final PromotionPolicy policy;
  private volatile double share;
  private volatile long found = Long.MAX_VALUE;
  private final AtomicBoolean looking = new AtomicBoolean();

  /**
   * @param cache     the tier that they are in
   * @param blockSize bytes of a data block, as far as is known beforehand
   */
  PromotedBlocks(FirstLevelBucketCache cache, int blockSize) {
    this.cache = cache;
    this.total = cache.getAllocator().getTotalSize();
    long entries = SKETCH_ENTRIES_PER_BLOCK * Math.max(1, total / blockSize);
    this.policy = new FrequencyPromotionPolicy(total, total, blockSize,
      Math.min(MOST_SKETCH_ENTRIES, entries), cache::evictPromoted, System.nanoTime());
  }

  PromotionPolicy policy() {
    return policy;
  }

  void setShare(double share) {
    this.share = share;
    adapt(0);
  }

  /**
   * Gives data what meta blocks leave.
   * @param arriving bytes that meta blocks are about to take
   */
  void adapt(long arriving) {
    long room = Math.min(room() - arriving, found);
    policy.onMetaPressure(total - Math.max(0, room));
  }

  private long room() {
    return Math.min((long) (share * total), cache.acceptableSize() - cache.getMetaPlaces());
  }

  /**
   * Makes a place for a meta block.
   * @param sizeIndex the index of its bucket size
   * @return whether anything was evicted, so that trying again makes sense
   */
  boolean makePlaceForMeta(int sizeIndex) {
    return policy.getBlockCount() > 0 && clear(sizeIndex, 1, true);
  }

  /**
   * There was no place for a data block, for all the room there should be. Does not wait.
   * @param sizeIndex the index of its bucket size
   * @param place     the bytes that it takes
   */
  void onNoPlace(int sizeIndex, int place) {
    if (looking.compareAndSet(false, true)) {
      Thread thread = new Thread(() -> look(sizeIndex, place),
        cache.getName() + "-BucketCachePlaces");
      thread.setDaemon(true);
      thread.start();
    } else if (found == Long.MAX_VALUE) {
      // Not yet, or what was cleared is taken.
      full(place);
    }
  }

  private void look(int sizeIndex, int place) {
    try {
      boolean cleared = clear(sizeIndex, HALF_EMPTY, false);
      if (!cleared) {
        full(place);
      }
      Thread.sleep(cleared || found < room() / 2 ? TRY_SOON_MS : TRY_AGAIN_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      found = Long.MAX_VALUE;
      looking.set(false);
      adapt(0);
    }
  }

  private void full(int place) {
    found = Math.max(0, policy.getUsedBytes() - place);
    adapt(0);
  }

  /** Evicts the data blocks of some buckets. Returns whether any went. */
  private synchronized boolean clear(int sizeIndex, double fullest, boolean forMeta) {
    BucketAllocator allocator = cache.getAllocator();
    BucketAllocator.Bucket[] buckets = allocator.getBuckets();
    int[] data = new int[buckets.length];
    BitSet mixed = new BitSet();
    cache.backingMap.forEach((key, entry) -> {
      int bucket = allocator.getBucketIndex(entry.offset());
      if (entry.metaBlock || entry.isRpcRef()) {
        mixed.set(bucket);
      } else {
        data[bucket]++;
      }
    });
    int[] bucketsOfSize = new int[allocator.getIndexStatistics().length];
    for (BucketAllocator.Bucket bucket : buckets) {
      if (!bucket.isUninstantiated()) {
        bucketsOfSize[bucket.sizeIndex()]++;
      }
    }
    List<Integer> whole = new ArrayList<>();
    List<Integer> parts = new ArrayList<>();
    for (int i = 0; i < buckets.length; i++) {
      BucketAllocator.Bucket bucket = buckets[i];
      if (data[i] == 0 || bucket.isUninstantiated()) {
        continue;
      }
      boolean ofSize = bucket.sizeIndex() == sizeIndex;
      // The allocator leaves each size its last bucket, and a place may be taken by a block that
      // was evicted while it was read, or is just being written.
      boolean frees = !mixed.get(i) && bucket.usedCount() == data[i]
        && data[i] <= fullest * (bucket.usedCount() + bucket.freeCount());
      if (frees && !ofSize && bucketsOfSize[bucket.sizeIndex()] > 1) {
        whole.add(i);
      } else if (ofSize && forMeta) {
        parts.add(i);
      }
    }
    List<Integer> chosen = whole.isEmpty() ? parts : whole;
    chosen.sort(Comparator.comparingDouble(
      i -> (double) data[i] / (buckets[i].usedCount() + buckets[i].freeCount())));
    BitSet cleared = new BitSet();
    chosen.stream().limit(Math.max(1, buckets.length / BUCKETS_PER_CLEARING))
      .forEach(cleared::set);
    boolean[] any = new boolean[1];
    cache.backingMap.forEach((key, entry) -> {
      if (!entry.metaBlock && cleared.get(allocator.getBucketIndex(entry.offset()))) {
        any[0] |= cache.evictPromoted(key, entry);
      }
    });
    return any[0];
  }
}
