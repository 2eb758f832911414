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

import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencyPromotionPolicy;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The data blocks in a {@link L1BucketCache}: how much of it they may take, how they make
 * way for meta blocks, and how blocks of one size get the buckets of another.
 * <p>
 * A bucket holds blocks of one size only, so that there may be space without an item for a block.
 * A meta block gets its item by clearing buckets that hold nothing but data, those with the fewest
 * blocks first, or the data blocks between meta blocks of its size.
 * <p>
 * A data block without an item is turned away, and for some seconds blocks of its size come in only
 * by displacing one of their own, the space for data being taken to be what data has. Meanwhile a
 * thread of its own finds a bucket for them. Without more ado it clears one whose blocks have free
 * items in other buckets of their size. Else it counts what each bucket serves, and how often each
 * block was missed that wants such an item; it clears the bucket that serves least if as
 * many of those as fit would have served more, by a margin that is worth the copies. So buckets go
 * where they are of use, also from blocks that are not accessed any more, and a scan gets none.
 * When the seconds are over, items may be free again, and it begins anew. Thread-safe.
 */
@InterfaceAudience.Private
final class L1DataSpace {

  /** How long to count before a bucket can change its size for what was counted. */
  private static final long SHORT_RETRY_WAIT_MS = TimeUnit.SECONDS.toMillis(1);
  /** How long if that was not enough; after that an item is looked for in the ordinary way. */
  private static final long RETRY_WAIT_MS = TimeUnit.SECONDS.toMillis(10);
  /** How long a bucket is left to those it was cleared for, at least: they come one by one. */
  private static final long TENURE_NANOS = TimeUnit.SECONDS.toNanos(20);
  /** One bucket in so many is cleared at a time for meta, as each time all blocks are looked at. */
  private static final int BUCKETS_PER_CLEARING = 512;
  /** One in so many at most changes its size at a time, which is once in two seconds. */
  private static final int BUCKETS_PER_REASSIGNMENT = 16;
  /** How many more requests other blocks must serve than those that lose their bucket. */
  private static final double ADVANTAGE = 1.25;
  /** What copying a block costs, in requests served; twice that of a promotion, as all are cold. */
  private static final double COPY_COST = 1;
  /** One part in so many of what data may take, or a bucket, may be free while it wants more. */
  private static final int NEARLY_NONE = 10;
  /** Bytes of sketch for a block: blocks are often smaller than the configuration says. */
  private static final int SKETCH_ENTRIES_PER_BLOCK = 4;
  private static final long MAX_SKETCH_ENTRIES = 1 << 30;
  /** Counters of so few buckets get a cache line each. */
  private static final int FEW_BUCKETS = 1 << 12;
  private static final int INTS_PER_LINE = 16;

  private final BucketCacheTier cache;
  private final LongSupplier metaItemBytes;
  private final long total;
  private final int buckets;
  private final int maxReassigned;
  /** The distance between the counters of two adjacent buckets. */
  private final int stride;
  private final FrequencyPromotionPolicy policy;
  private volatile double share;
  private volatile long found = Long.MAX_VALUE;
  private final AtomicBoolean looking = new AtomicBoolean();
  /** Requests that each bucket served, while they are counted; else null. */
  private volatile AtomicIntegerArray hits;
  /** When a bucket was last cleared for blocks of another size. Only one thread uses it. */
  private final Map<Integer, Long> cleared = new HashMap<>();
  private final LongAdder unplaced = new LongAdder();
  private final LongAdder reassigned = new LongAdder();

  /**
   * @param cache         the tier that they are in
   * @param blockSize     bytes of a data block, as far as is known beforehand
   * @param metaItemBytes supplies the bytes that meta blocks take
   */
  L1DataSpace(BucketCacheTier cache, int blockSize, LongSupplier metaItemBytes) {
    this.cache = cache;
    this.metaItemBytes = metaItemBytes;
    this.total = cache.getAllocator().getTotalSize();
    this.buckets = cache.getAllocator().getBuckets().length;
    this.maxReassigned = Math.max(1, buckets / BUCKETS_PER_REASSIGNMENT);
    this.stride = buckets <= FEW_BUCKETS ? INTS_PER_LINE : 1;
    long entries = SKETCH_ENTRIES_PER_BLOCK * Math.max(1, total / blockSize);
    this.policy = new FrequencyPromotionPolicy(total, total, blockSize,
      Math.min(MAX_SKETCH_ENTRIES, entries), cache::evictCopy, System.nanoTime());
  }

  FrequencyPromotionPolicy policy() {
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
    long max = Math.min(maxBytes() - arriving, found);
    policy.onMetaPressure(total - Math.max(0, max));
  }

  /** Returns what data blocks may take. */
  private long maxBytes() {
    return Math.min((long) (share * total), cache.acceptableSize() - metaItemBytes.getAsLong());
  }

  /** Returns whether data could take more if there were fewer meta blocks. */
  boolean isBoundByMeta() {
    return share * total > cache.acceptableSize() - metaItemBytes.getAsLong();
  }

  /** Returns whether data takes nearly all that it may. */
  boolean isFull() {
    long capacity = policy.getCapacity();
    long bucket = total / buckets;
    return capacity - policy.getUsedBytes() < Math.max(bucket, capacity / NEARLY_NONE);
  }

  /**
   * Evicts data blocks for a meta block.
   * @param itemSize the bytes that it takes
   * @return whether anything was evicted, so that trying again makes sense
   */
  synchronized boolean evictForMeta(int itemSize) {
    if (policy.getBlockCount() == 0) {
      return false;
    }
    BucketOccupancy census = new BucketOccupancy(cache);
    List<Integer> chosen = census.emptiest(itemSize);
    if (chosen.isEmpty()) {
      chosen = census.ofSize(itemSize);
    }
    int most = Math.max(1, buckets / BUCKETS_PER_CLEARING);
    return census.evict(chosen.subList(0, Math.min(chosen.size(), most)));
  }

  /** A data block in the tier was accessed. */
  void used(BucketEntry entry) {
    AtomicIntegerArray counts = hits;
    if (counts != null) {
      // A lost count harms nothing, and this is the hottest path there is.
      int counter = cache.getAllocator().getBucketIndex(entry.offset()) * stride;
      counts.lazySet(counter, counts.get(counter) + 1);
    }
  }

  /**
   * There was no item for a data block, for all the space there should be. Does not wait.
   * @param itemSize the bytes that it takes
   */
  void onSizeExhausted(int itemSize) {
    unplaced.increment();
    policy.bucketSizeExhausted(itemSize, itemsOf(itemSize) * maxReassigned);
    startLooking();
  }

  private int itemsOf(int itemSize) {
    return (int) (total / buckets / itemSize);
  }

  private void startLooking() {
    if (looking.compareAndSet(false, true)) {
      Thread thread = new Thread(this::look, cache.getName() + "-BucketCacheReassign");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void look() {
    try {
      if (reassign(this::spare)) {
        Thread.sleep(SHORT_RETRY_WAIT_MS);
        return;
      }
      hits = new AtomicIntegerArray(buckets * stride);
      Thread.sleep(SHORT_RETRY_WAIT_MS);
      if (reassign(this::leastWorth)) {
        hits = null;
        Thread.sleep(SHORT_RETRY_WAIT_MS);
        return;
      }
      Thread.sleep(RETRY_WAIT_MS - SHORT_RETRY_WAIT_MS);
      reassign(this::leastWorth);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      hits = null;
      found = Long.MAX_VALUE;
      for (int itemSize : policy.shortages()) {
        policy.bucketSizeAvailable(itemSize);
      }
      adapt(0);
      looking.set(false);
      if (policy.shortages().length > 0) {
        // It began after those were ended, and found this thread still looking.
        startLooking();
      }
    }
  }

  /** Finds buckets of other sizes for blocks that take so many bytes. */
  private interface Finder {
    List<Integer> find(BucketOccupancy census, int itemSize);
  }

  private List<Integer> spare(BucketOccupancy census, int itemSize) {
    return census.spare(itemSize, maxReassigned);
  }

  private List<Integer> leastWorth(BucketOccupancy census, int itemSize) {
    AtomicIntegerArray counting = hits;
    // They go on growing, and one order is wanted.
    int[] served = IntStream.range(0, buckets).map(i -> counting.get(i * stride)).toArray();
    long now = System.nanoTime();
    cleared.values().removeIf(since -> now - since >= TENURE_NANOS);
    List<Integer> candidates = census.clearable(itemSize, bucket -> !cleared.containsKey(bucket),
      Comparator.comparingInt(bucket -> served[bucket]));
    long[] missed = policy.missedHits(itemSize);
    int items = itemsOf(itemSize);
    int worthLess = 0;
    while (worthLess < Math.min(candidates.size(), maxReassigned)) {
      int from = Math.min(missed.length, worthLess * items);
      int to = Math.min(missed.length, from + items);
      long gained = Arrays.stream(missed, from, to).sum();
      int lost = served[candidates.get(worthLess)];
      if (gained <= ADVANTAGE * lost + COPY_COST * (to - from)) {
        break;
      }
      worthLess++;
    }
    return candidates.subList(0, worthLess);
  }

  /**
   * Clears buckets for the first size with a shortage that there are any for. Returns whether any
   * blocks went; if not, the space for data is what data has.
   */
  private synchronized boolean reassign(Finder finder) {
    BucketOccupancy census = new BucketOccupancy(cache);
    for (int itemSize : policy.shortages()) {
      List<Integer> chosen = finder.find(census, itemSize);
      // The blocks that lose them, or others of their size, are not to take them back at once.
      chosen.stream().mapToInt(census::itemSize).distinct()
        .forEach(loser -> policy.bucketSizeExhausted(loser, itemsOf(loser) * maxReassigned));
      if (census.evict(chosen)) {
        policy.bucketSizeAvailable(itemSize);
        reassigned.add(chosen.size());
        long now = System.nanoTime();
        chosen.forEach(bucket -> cleared.put(bucket, now));
        found = Long.MAX_VALUE;
        adapt(0);
        return true;
      }
    }
    found = policy.getUsedBytes() + census.freeBytes();
    adapt(0);
    return false;
  }

  /** Returns how often a data block that was to be promoted found no item of its size. */
  long getUnplacedCount() {
    return unplaced.sum();
  }

  /** Returns how many buckets were cleared of data for data of another size. */
  long getReassignedCount() {
    return reassigned.sum();
  }
}
