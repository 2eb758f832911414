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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Promotes a block if it is accessed more often than the blocks that would have to make room for
 * it, taken together, by a margin that a copy is worth. So one scan of cold data promotes next to
 * nothing, and a large block has to be worth the many small ones that it displaces.
 * <p>
 * How often blocks are accessed is a {@link FrequencySketch}'s estimate, over cached and uncached
 * blocks alike; a hit is an increment there and no more. The blocks that would make room are found
 * by {@link VictimSampler}, the least frequent of a few looked at. A candidate that ties with them
 * at more than {@value #WARM} is promoted once in {@value #TIES_PER_PROMOTION} times nevertheless:
 * a frequency has an upper end, and blocks that got there and then fell out of use must not hold
 * their place against new ones that got there too.
 * <p>
 * <b>Shortages.</b> Where items come in sizes, those of one size may all be taken while others are
 * not. A block of that size then has to displace one of its own size, whatever room there is, as
 * nothing else would give it a place; and {@link GhostEntries} of that size count how often such
 * blocks are missed, for the tier, which can reassign buckets from one size to another.
 * <p>
 * <b>Bursts.</b> Several rows of one block are often accessed one after the other. That says
 * nothing about the block's future, so a block accessed again within as many reads as about one
 * in {@value #BLOCKS_PER_RECENT} of the blocks that fit is counted, and considered, only each
 * {@value #REPEATS_PER_COUNT}th time; a block that is the only one accessed is promoted by that.
 * <p>
 * <b>Memory.</b> If the same blocks stay hot, a sketch with a long memory serves best; if the hot
 * blocks change, a short one does. {@link MiniatureSimulations} choose it, and with it the margin:
 * if much is remembered, a candidate is one ahead by chance; if little is, one is all that tells
 * the new from the old. So if all blocks are accessed equally often, few are promoted.
 * <p>
 * Thread-safe. No lock is taken for a hit, nor, once the tier is full, for all but a few of the
 * blocks that are turned away, save that one in some hundreds of blocks is also looked up in the
 * miniatures. Beside the sketch, the policy takes about 30 bytes for each block in L1.
 * <p>
 * After G. Einziger, R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission
 * policy"; G. Einziger, O. Eytan, R. Friedman and B. Manes, "Lightweight robust size aware cache
 * management" (comparing with all victims together); C. Waldspurger, T. Saemundsson, I. Ahmad and
 * N. Park, "Cache modeling and optimization using miniature simulations". See HBASE-23296.
 */
@InterfaceAudience.Private
public final class FrequencyPromotionPolicy implements PromotionPolicy {

  /** What a promotion costs, in hits: what it takes to copy, by what a hit saves. */
  static final double PROMOTION_COST = 0.5;

  /** Memories to choose from: increments, for each block that fits, between two halvings. */
  static final double[] MEMORIES = { 1.25, 2.5, 5, 20 };
  /** What a candidate has to be counted above its victims to be worth a copy, for each memory. */
  static final int[] MARGINS = { 0, 0, 1, 2 };
  /**
   * The index of the memory that is in use until the miniature simulations have found a better one.
   */
  static final int DEFAULT_MEMORY = 2;

  /** Above this frequency a tie may be promoted. */
  private static final int WARM = 5;
  private static final int TIES_PER_PROMOTION = 128;

  /** No candidate displaces more blocks than it has been counted, a tie excepted. */
  private static final int MAX_VICTIMS = 64;

  /** One slot for so many blocks that fit remembers which block was accessed last. */
  private static final int BLOCKS_PER_RECENT = 64;
  private static final int MAX_RECENT = 1 << 14;
  private static final int REPEAT_BITS = 3;
  private static final long REPEATS_PER_COUNT = 1 << REPEAT_BITS;

  private final FrequencySketch sketch;
  /**
   * Hashes of blocks accessed just now, each where its hash says until another takes the slot, and
   * in the lowest bits how often it was accessed since it counted.
   */
  private final AtomicLongArray recent;
  private final VictimSampler hot;
  private final Predicate<BlockCacheKey> eviction;
  private final MiniatureSimulations miniatures;
  private final long usable;
  private final long dataMax;
  private final int averageBlockSize;

  private volatile double memory = MEMORIES[DEFAULT_MEMORY];
  private volatile int margin = MARGINS[DEFAULT_MEMORY];
  private volatile long capacity;
  private final AtomicLong used = new AtomicLong();
  private final AtomicBoolean shrinking = new AtomicBoolean();
  private final AtomicInteger nextPart = new AtomicInteger();
  /** The sizes of which all items are taken. */
  private final Map<Integer, GhostEntries> shortages = new ConcurrentHashMap<>();
  /** Races lose a step now and then, which harms nothing. */
  private long random;

  private final LongAdder promoted = new LongAdder();
  private final LongAdder rejected = new LongAdder();
  private final LongAdder demoted = new LongAdder();

  /**
   * @param usable           bytes of L1 that blocks can take, meta blocks included
   * @param dataMax          the most of them that data blocks may take
   * @param averageBlockSize what a data block takes, in bytes, as far as is known beforehand
   * @param sketchBlocks     how many blocks to size the sketch for, at 8 bytes each: twice the
   *                         blocks that fit into L1 is enough, however large the slow
   *                         one (four times gains 0.3 hits per hundred at best, once loses 0.3)
   * @param eviction         evicts a block from L1, unless it is being read, and returns whether it
   *                         did; {@link #onRemoved} is called for it before it returns true.
   *                         Null in a simulation, which evicts from nothing
   * @param seed             of the random choices; any number
   * @throws IllegalArgumentException if the sketch cannot be of that size
   */
  public FrequencyPromotionPolicy(long usable, long dataMax, int averageBlockSize,
    long sketchBlocks, Predicate<BlockCacheKey> eviction, long seed) {
    this.usable = usable;
    this.dataMax = Math.min(dataMax, usable);
    this.averageBlockSize = averageBlockSize;
    this.capacity = this.dataMax;
    this.eviction = eviction != null ? eviction : key -> {
      onRemoved(key);
      return true;
    };
    this.sketch = new FrequencySketch(sketchBlocks);
    this.hot = new VictimSampler(sketch, this.dataMax / averageBlockSize, seed);
    this.random = FrequencySketch.hash(seed);
    int blocks = (int) Math.min(Integer.MAX_VALUE, this.dataMax / averageBlockSize);
    this.recent = new AtomicLongArray(Integer.highestOneBit(
      Math.max(1, Math.min(MAX_RECENT, blocks / BLOCKS_PER_RECENT))));
    this.miniatures =
      eviction != null && blocks >= MiniatureSimulations.MIN_BLOCKS
        ? new MiniatureSimulations(this, this.dataMax, averageBlockSize, seed)
        : null;
    setPeriod();
  }

  @Override
  public void onHit(BlockCacheKey key, int size) {
    long hash = FrequencySketch.hash(key);
    if (isRepeat(hash)) {
      return;
    }
    sketch.increment(hash);
    if (miniatures != null) {
      miniatures.access(key, hash, size);
    }
  }

  /** Counts an access to a block of L1 in a simulation; false if it is not there. */
  boolean simulateHit(BlockCacheKey key, long hash) {
    boolean hit = hot.contains(key, hash);
    if (hit) {
      sketch.increment(hash);
    }
    return hit;
  }

  @Override
  public boolean onSlowHit(BlockCacheKey key, int size) {
    long hash = FrequencySketch.hash(key);
    if (!isRepeat(hash)) {
      if (miniatures != null) {
        miniatures.access(key, hash, size);
      }
      if (promotes(key, hash, size)) {
        return true;
      }
    }
    rejected.increment();
    return false;
  }

  /** Returns whether a block that was accessed in L2 is promoted. */
  boolean promotes(BlockCacheKey key, long hash, int size) {
    if (!isLargeEnough(key, hash, sketch.increment(hash), size)) {
      return false;
    }
    promoted.increment();
    return true;
  }

  @Override
  public int frequency(BlockCacheKey key) {
    return sketch.frequency(FrequencySketch.hash(key));
  }

  @Override
  public void onReplacement(BlockCacheKey key, int accesses) {
    long hash = FrequencySketch.hash(key);
    for (int missing = accesses - sketch.frequency(hash); missing > 0; missing--) {
      sketch.increment(hash);
    }
  }

  @Override
  public boolean admitsReplacement(BlockCacheKey key, int size) {
    if (size <= 0 || shortageOf(size) != null || used.get() + size > capacity) {
      return false;
    }
    long hash = FrequencySketch.hash(key);
    if (!hot.add(key, hash, size)) {
      return false;
    }
    if (used.addAndGet(size) > capacity) {
      onRemoved(key, hash);
      return false;
    }
    promoted.increment();
    return true;
  }

  /** Returns whether the block was accessed just now; a second access says little about it. */
  private boolean isRepeat(long hash) {
    int slot = (int) (hash >>> 24) & (recent.length() - 1);
    long last = recent.get(slot);
    if ((last ^ hash) >>> REPEAT_BITS != 0) {
      recent.lazySet(slot, hash & -REPEATS_PER_COUNT);
      return false;
    }
    recent.lazySet(slot, (last & -REPEATS_PER_COUNT) | ((last + 1) & (REPEATS_PER_COUNT - 1)));
    return ((last + 1) & (REPEATS_PER_COUNT - 1)) != 0;
  }

  private boolean isLargeEnough(BlockCacheKey key, long hash, int frequency, int size) {
    GhostEntries shortage = shortageOf(size);
    if (shortage != null) {
      shortage.onMiss(hash);
    }
    if (size <= 0 || size > capacity) {
      return false;
    }
    int victims = shortage == null ? VictimSampler.ANY_SIZE : size;
    int weight = frequency;
    if (
      (shortage != null || used.get() + size > capacity)
        && hot.rejects(hash, frequency, margin, victims)
    ) {
      if (frequency <= WARM || !isLucky()) {
        return false;
      }
      weight = Integer.MAX_VALUE;
    }
    if (!hot.add(key, hash, size)) {
      // It is there, or somebody else is about to put it there.
      return false;
    }
    boolean fits = false;
    try {
      long over = used.addAndGet(size) - capacity;
      if (shortage != null) {
        fits = replace(key, hash, weight, victims, size);
      } else {
        fits = over <= 0 || replace(key, hash, weight, victims, Math.min(over, size));
      }
    } finally {
      if (!fits) {
        onRemoved(key, hash);
      }
    }
    return fits;
  }

  private boolean isLucky() {
    random = random * 0x5851_F42D_4C95_7F2DL + 1;
    return (random >>> 40) % TIES_PER_PROMOTION == 0;
  }

  private boolean replace(BlockCacheKey key, long hash, int weight, int size, long bytes) {
    VictimSampler.Victim[] victims = new VictimSampler.Victim[Math.min(weight, MAX_VICTIMS)];
    int taken = hot.takeFor(key, hash, weight, margin, size, bytes, victims);
    if (taken == 0) {
      return false;
    }
    long freed = 0;
    int asked = 0;
    try {
      while (asked < taken) {
        freed += evict(victims[asked++]);
      }
    } finally {
      // An eviction that failed leaves some who were not asked.
      while (asked < taken) {
        hot.stays(victims[asked++]);
      }
    }
    if (size != VictimSampler.ANY_SIZE) {
      return freed >= bytes;
    }
    return freed >= bytes || freed + evict(bytes - freed) >= bytes;
  }

  private GhostEntries shortageOf(int size) {
    return shortages.isEmpty() ? null : shortages.get(size);
  }

  /**
   * All items of one size are taken in L1, though there may be space: from now on a block of that
   * size is promoted only if another of that size makes way, and requests for those that stay in L2
   * are counted. Does nothing if there is such a shortage already.
   * @param size   the bytes that a block of that size takes in L1
   * @param blocks how many blocks {@link #missedHits} is to tell of, about
   */
  public void bucketSizeExhausted(int size, int blocks) {
    shortages.computeIfAbsent(size, missing -> new GhostEntries(sketch, blocks));
  }

  /**
   * Returns how often the blocks of a size that has a shortage were found in L2 since it began,
   * first requests for a block left out; the highest count first. No shortage, no counts.
   */
  public long[] missedHits(int size) {
    GhostEntries shortage = shortageOf(size);
    return shortage == null ? new long[0] : shortage.counts();
  }

  /** There are items of that size again, or may be. */
  public void bucketSizeAvailable(int size) {
    shortages.remove(size);
  }

  /** Returns the sizes that have a shortage. */
  public int[] shortages() {
    return shortages.keySet().stream().mapToInt(Integer::intValue).toArray();
  }

  /** Returns the bytes freed. */
  private long evict(VictimSampler.Victim victim) {
    boolean gone = false;
    try {
      gone = eviction.test(victim.key);
    } finally {
      if (!gone) {
        hot.stays(victim);
      }
    }
    if (!gone) {
      return 0;
    }
    demoted.increment();
    return victim.size;
  }

  @Override
  public void onRemoved(BlockCacheKey key) {
    onRemoved(key, FrequencySketch.hash(key));
  }

  private void onRemoved(BlockCacheKey key, long hash) {
    int size = hot.remove(key, hash);
    if (size > 0) {
      used.addAndGet(-size);
    }
  }

  /**
   * Limits data blocks to what others leave of L1, and evicts what exceeds that.
   * @param metaBytes the bytes of index, bloom and other meta blocks, those just arriving included
   */
  public void onMetaPressure(long metaBytes) {
    setCapacity(Math.max(0, Math.min(dataMax, usable - metaBytes)));
  }

  void setCapacity(long bytes) {
    capacity = bytes;
    // One thread evicts for all; what it cannot free, the next call tries again.
    while (used.get() > capacity && shrinking.compareAndSet(false, true)) {
      long freed;
      try {
        freed = evict(used.get() - capacity);
      } finally {
        shrinking.set(false);
      }
      if (freed == 0) {
        return;
      }
    }
  }

  /**
   * Evicts data blocks, the least useful that can be found quickly first.
   * @param bytes how much is to be freed
   * @return how much was freed; less if too many blocks are being read, or there are no more
   */
  public long evict(long bytes) {
    long freed = 0;
    int failures = 0;
    // Each part failed twice: the remaining blocks are being read.
    while (freed < bytes && failures < 2 * hot.parts()) {
      VictimSampler.Victim victim = hot.take(nextPart.getAndIncrement());
      long size = victim == null ? 0 : evict(victim);
      freed += size;
      failures = size == 0 ? failures + 1 : 0;
    }
    return freed;
  }

  /** Returns how often a block was promoted. */
  public long getPromotedCount() {
    return promoted.sum();
  }

  /** Returns how often a block found in L2 was not worth a promotion. */
  public long getRejectedCount() {
    return rejected.sum();
  }

  /** Returns how many blocks were evicted from L1 for this policy's sake. */
  public long getDemotedCount() {
    return demoted.sum();
  }

  /** Returns the number of data blocks in L1. */
  public long getBlockCount() {
    return hot.count();
  }

  /** Returns the bytes of data blocks in L1, those on their way included. */
  public long getUsedBytes() {
    return used.get();
  }

  /** Returns the bytes that data blocks may take in L1 now. */
  public long getCapacity() {
    return capacity;
  }

  void setMemory(double increments, int least) {
    memory = increments;
    margin = least;
    setPeriod();
  }

  /** Adapts the period of the sketch to the memory and the blocks that fit. */
  void setPeriod() {
    sketch.setPeriod((long) (memory * blocksThatFit()));
  }

  /** Returns about how many blocks fill the capacity, by the mean size of cached ones. */
  public long blocksThatFit() {
    long bytes = used.get();
    long size = bytes < capacity / 2 ? averageBlockSize : bytes / Math.max(1, hot.count());
    return Math.max(1, capacity / Math.max(1, size));
  }
}
