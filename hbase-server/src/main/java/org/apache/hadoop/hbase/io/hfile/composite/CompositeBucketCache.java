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

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.FirstLevelBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.MemoryReads;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two tiers behind one block cache, neither of them on the heap: index, bloom and other meta blocks
 * live in the first (memory), data blocks in the second (usually a device).
 * <ul>
 * <li>The tier of a block depends on the type of the block; the type in its key is a guess of the
 * caller's and is corrected on insertion.</li>
 * <li>A lookup asks both tiers, whatever the key's type: the first one first, unless data is wanted
 * and none is promoted. A hit counts where it was found; a miss counts once, in the tier the key's
 * type would have it in.</li>
 * <li>A meta block that L1 refuses (too large for its buckets, too many waiting to be
 * written) or evicts for lack of space is inserted into L2 instead of being dropped.</li>
 * <li>A meta block found in L2 is copied back up if, and only if, L1 has room
 * to spare. So coming back never evicts, which is what keeps two working sets that do not fit from
 * chasing each other; L2 keeps its copy, so that leaving again costs no device write.
 * </li>
 * <li>A data block found in L2 is copied into L1 if a {@link PromotionPolicy}
 * finds it worth more than what it would displace there, and if its place is not needed for meta
 * blocks. It leaves again without being written anywhere.</li>
 * <li>A data block that a read has missed is inserted into L2 if {@link ReadMissAdmission} admits
 * it; every other insertion is admitted.</li>
 * <li>A meta block in L1 that was not accessed for some minutes is moved to the
 * second while data wants its place.</li>
 * <li>An eviction reaches both tiers, and {@link FileEvictionGuard} sees to the blocks that move at
 * that moment.</li>
 * </ul>
 * It is a {@link CombinedBlockCache}, whose L1 and L2 are the tiers. L1 cannot be resized and takes
 * nothing of the heap's share for block cache.
 * Thread-safe. See HBASE-23296.
 */
@InterfaceAudience.Private
public class CompositeBucketCache extends CombinedBlockCache
  implements MemoryReads.HitCounter, HotBlockCache {
  private static final Logger LOG = LoggerFactory.getLogger(CompositeBucketCache.class);

  /** The mean size of a block that the admission of read misses expects. */
  private static final int EXPECTED_BLOCK_BYTES = 32 << 10;

  private final PromotionTier first;
  private final CacheTier second;
  private final FileEvictionGuard guard;
  private final LongAdder returned = new LongAdder();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final ReadMissAdmission admission;
  private final CompositeBucketCacheMetrics metrics;
  private final ReadLatencyHistogram firstReads;
  private final ReadLatencyHistogram secondReads;
  /** Null if data blocks stay in L2. */
  private volatile PromotionPolicy promotion;

  /**
   * @param first  where meta blocks live
   * @param second where data blocks live, and what the first has no place for
   * @param guard  the guard that L1 uses when it hands blocks to L2
   */
  public <T extends FirstLevelBlockCache & PromotionTier> CompositeBucketCache(T first,
    CacheTier second, FileEvictionGuard guard) {
    super(first, second);
    this.first = first;
    this.second = second;
    this.guard = guard;
    first.setVictimCache(second);
    this.admission = new ReadMissAdmission(
      Math.max(1, second.getMaxSize() / EXPECTED_BLOCK_BYTES), second::hasSpareSpace);
    this.metrics =
      new CompositeBucketCacheMetrics(first, second, this::getReturnedBlockCount, admission);
    this.firstReads = metrics.firstReads();
    this.secondReads = metrics.secondReads();
  }

  /** Returns whether blocks are in a composite cache, neither tier of which is on the heap. */
  public static boolean isUsed(CacheConfig cacheConf) {
    return cacheConf.getBlockCache().orElse(null) instanceof CompositeBucketCache;
  }

  @Override
  public void shutdown() {
    promotion = null;
    if (closed.compareAndSet(false, true)) {
      metrics.close();
    }
    // L1 is shut down before L2, which takes what L1 still hands on.
    super.shutdown();
  }

  @Override
  public void cacheBlock(BlockCacheKey key, Cacheable block, boolean inMemory,
    boolean waitWhenCache) {
    BlockType type = block.getBlockType();
    boolean meta = isMetaBlock(type);
    if (type != null && (key.getBlockType() == null || meta != isMetaBlock(key.getBlockType()))) {
      key.setBlockType(type);
    }
    if (!meta && isReadMiss(inMemory, waitWhenCache) && isRejected(key)) {
      return;
    }
    CacheTier tier = meta && first.sizeOf(block) > 0 ? first : second;
    tier.cacheBlock(key, block, inMemory, waitWhenCache);
  }

  /**
   * Returns whether an insertion is due to a read miss and may be rejected. Prefetch and
   * cache-on-write offer to wait. Blocks with in-memory priority, as of hbase:meta, are few and are
   * always admitted.
   */
  private static boolean isReadMiss(boolean inMemory, boolean waitWhenCache) {
    return !inMemory && !waitWhenCache;
  }

  /** Returns whether a policy rejects the block; one that either tier has is not decided about. */
  private boolean isRejected(BlockCacheKey key) {
    return admission.isFilter() && !second.containsBlock(key) && !first.containsBlock(key)
      && !admission.admits(key);
  }

  @Override
  public Cacheable getBlock(BlockCacheKey key, boolean caching, boolean repeat,
    boolean updateCacheMetrics) {
    if (MemoryReads.isCurrent()) {
      return first.getBlock(key, caching, true, false);
    }
    PromotionPolicy policy = promotion;
    boolean metaWanted = isMetaBlock(key.getBlockType());
    Cacheable block;
    if (metaWanted || policy != null) {
      block = lookUpInFirst(policy, key, caching, updateCacheMetrics);
      if (block == null) {
        block = lookUpInSecond(policy, key, caching, updateCacheMetrics);
      }
    } else {
      // Without promotion, a block in L1 is a meta block, even if the key says that it is data.
      block = lookUpInSecond(null, key, caching, updateCacheMetrics);
      if (block == null) {
        block = lookUpInFirst(null, key, caching, updateCacheMetrics);
      }
    }
    if (block == null && !repeat && updateCacheMetrics) {
      CacheTier home = metaWanted ? first : second;
      home.getStats().miss(caching, key.isPrimary(), key.getBlockType());
    }
    return block;
  }

  private Cacheable lookUpInFirst(PromotionPolicy policy, BlockCacheKey key, boolean caching,
    boolean counts) {
    long start = counts ? firstReads.start() : ReadLatencyHistogram.NOT_TIMED;
    // A repeated lookup counts a hit but no miss, since L2 may have the block.
    Cacheable block = first.getBlock(key, caching, true, counts);
    if (block != null) {
      firstReads.end(start);
      if (
        policy != null && isRequested(key, caching, counts) && !isMetaBlock(block.getBlockType())
      ) {
        policy.onHit(key, first.sizeOf(block));
      }
    }
    return block;
  }

  /** Only L1 is read from memory: see {@link #getBlock}. */
  @Override
  public Runnable hit(BlockCacheKey key, Cacheable block, boolean caching) {
    PromotionPolicy policy = promotion;
    int size = policy != null && isRequested(key, caching, true)
      && !isMetaBlock(block.getBlockType()) ? first.sizeOf(block) : 0;
    return () -> {
      first.getStats().hit(caching, key.isPrimary(), key.getBlockType());
      if (size > 0) {
        policy.onHit(key, size);
      }
    };
  }

  private Cacheable lookUpInSecond(PromotionPolicy policy, BlockCacheKey key, boolean caching,
    boolean counts) {
    long start = counts ? secondReads.start() : ReadLatencyHistogram.NOT_TIMED;
    Cacheable block = second.getBlock(key, caching, true, counts);
    if (block != null) {
      secondReads.end(start);
      if (isMetaBlock(block.getBlockType())) {
        restoreToL1(key, block);
      } else if (policy != null && isRequested(key, caching, counts)) {
        promote(policy, key, block);
      }
    }
    return block;
  }

  /**
   * Returns whether a lookup says that the block is wanted. Prefetch looks without counting;
   * compactions, and scans that are not to cache, say so. A reference's block belongs to another
   * file, and references are short-lived; only their names have a dot.
   */
  private static boolean isRequested(BlockCacheKey key, boolean caching, boolean counts) {
    return caching && counts && key.getHfileName().indexOf('.') < 0;
  }

  private void promote(PromotionPolicy policy, BlockCacheKey key, Cacheable block) {
    int size = first.sizeOf(block);
    if (size > 0 && policy.onSlowHit(key, size)) {
      promoteAdmitted(policy, key, block);
    }
  }

  /** Returns whether the block, which the policy has admitted, was inserted and may stay. */
  private boolean promoteAdmitted(PromotionPolicy policy, BlockCacheKey key, Cacheable block) {
    String hfileName = key.getHfileName();
    long stamp = guard.moveStarts(hfileName);
    if (stamp == FileEvictionGuard.BUSY) {
      policy.onRemoved(key);
      return false;
    }
    if (key.getBlockType() == null || isMetaBlock(key.getBlockType())) {
      key.setBlockType(block.getBlockType());
    }
    first.promote(key, block);
    if (!isStillWanted(key, stamp)) {
      first.evictBlock(key);
      return false;
    }
    return first.containsBlock(key);
  }

  /**
   * Returns the number of accesses; with promotion, the frequency estimated by the policy, at least
   * 1 if the block was accessed.
   */
  @Override
  public int accesses(BlockCacheKey key) {
    int accesses = second.accesses(key);
    PromotionPolicy policy = promotion;
    if (policy != null && (accesses > 0 || isInL1(key))) {
      return Math.max(1, policy.frequency(key));
    }
    return accesses;
  }

  /** Data in L1 are copies of blocks that were accessed. */
  @Override
  public boolean isInL1(BlockCacheKey key) {
    return first.containsBlock(key);
  }

  @Override
  public HFileBlock peek(BlockCacheKey key) {
    HFileBlock block = first.peek(key);
    return block == null ? second.peek(key) : block;
  }

  /** Returns the bytes in L2: blocks in L1 are copies, for the most part. */
  @Override
  public long cachedBytes(String hfileName) {
    return second.cachedBytes(hfileName);
  }

  @Override
  public int bytesFor(int serializedLength) {
    return second.bytesFor(serializedLength);
  }

  @Override
  public boolean hasSpareSpaceFor(int serializedLength) {
    return second.hasSpareSpaceFor(serializedLength);
  }

  @Override
  public boolean awaitInsertion(BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    return second.awaitInsertion(key, timeoutNanos);
  }

  @Override
  public boolean cacheHot(BlockCacheKey key, Cacheable block, boolean inMemory, int accesses) {
    PromotionPolicy policy = promotion;
    if (policy != null) {
      policy.onReplacement(key, accesses);
    }
    return second.cacheHot(key, block, inMemory, accesses);
  }

  @Override
  public boolean copyToL1(BlockCacheKey key, Cacheable block, int accesses) {
    PromotionPolicy policy = promotion;
    return policy != null && second.containsBlock(key)
      && policy.admitsReplacement(key, first.sizeOf(block))
      && promoteAdmitted(policy, key, block);
  }

  /** Returns whether a copy that was just put into L1 may stay. */
  private boolean isStillWanted(BlockCacheKey key, long stamp) {
    return guard.undisturbed(key.getHfileName(), stamp) && second.containsBlock(key);
  }

  /**
   * Sets how much of L1 data blocks may take.
   * @param share of its capacity, 0 to 1; 0 if they are to stay in L2
   */
  void setPromotedShare(double share) {
    if (!closed.get()) {
      promotion = first.setPromotedShare(share);
    }
  }

  /**
   * Sets how long a meta block in L1 may be idle before it may be evicted for data.
   * @param ms above 0; 0 if it never does
   */
  void setMetaIdleMs(long ms) {
    if (!closed.get()) {
      first.setMetaIdleMs(ms);
    }
  }

  /**
   * Sets which of the data blocks that reads have missed are inserted into L2.
   * @param secondMissOnly true for those that were missed before, false for all
   */
  void setSecondMissOnly(boolean secondMissOnly) {
    admission.setSecondMissOnly(secondMissOnly);
  }

  private void restoreToL1(BlockCacheKey key, Cacheable block) {
    String hfileName = key.getHfileName();
    if (
      !first.hasSpaceFor(block) || first.containsBlock(key) || ReferredFile.of(hfileName) != null
    ) {
      // Blocks found through a reference belong to another file, and references are short-lived.
      return;
    }
    long stamp = guard.moveStarts(hfileName);
    if (stamp == FileEvictionGuard.BUSY || !second.containsBlock(key)) {
      // An eviction that was over before the stamp was taken has left nothing in L2.
      return;
    }
    if (!isMetaBlock(key.getBlockType())) {
      key.setBlockType(block.getBlockType());
    }
    first.cacheBlock(key, block);
    if (!guard.undisturbed(hfileName, stamp)) {
      first.evictBlock(key);
      // L1 hands on what it has no place in the queue for.
      second.evictBlock(key);
    } else if (second.containsBlock(key)) {
      returned.increment();
    } else {
      first.evictBlock(key);
    }
  }

  @Override
  public boolean evictBlock(BlockCacheKey key) {
    guard.evictionStarts(key.getHfileName());
    try {
      boolean inFirst = first.evictBlock(key);
      boolean inSecond = second.evictBlock(key);
      return inFirst || inSecond;
    } finally {
      guard.evictionEnds(key.getHfileName());
    }
  }

  /** Returns the number of copies evicted; a block that was in both tiers counts twice. */
  @Override
  public int evictBlocksByHfileName(String hfileName) {
    guard.evictionStarts(hfileName);
    try {
      return first.evictBlocksByHfileName(hfileName) + second.evictBlocksByHfileName(hfileName);
    } finally {
      guard.evictionEnds(hfileName);
    }
  }

  /** Returns the number of copies evicted; a block that was in both tiers counts twice. */
  @Override
  public int evictBlocksRangeByHfileName(String hfileName, long initOffset, long endOffset) {
    guard.evictionStarts(hfileName);
    try {
      return first.evictBlocksRangeByHfileName(hfileName, initOffset, endOffset)
        + second.evictBlocksRangeByHfileName(hfileName, initOffset, endOffset);
    } finally {
      guard.evictionEnds(hfileName);
    }
  }

  @Override
  public Optional<Boolean> isAlreadyCached(BlockCacheKey key) {
    return Optional.of(
      first.isAlreadyCached(key).orElse(false) || second.isAlreadyCached(key).orElse(false));
  }

  /** A meta block fits if either tier has the space: what the first lacks, the second lends. */
  @Override
  public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
    if (
      isMetaBlock(block.getBlockType()) && first.sizeOf(block) > 0
        && first.blockFitsIntoTheCache(block).orElse(true)
    ) {
      return Optional.of(true);
    }
    return second.blockFitsIntoTheCache(block);
  }

  /** Only L2 knows which files it has whole; L1 holds copies. */
  @Override
  public Optional<Boolean> shouldCacheFile(HFileInfo hFileInfo, Configuration conf) {
    return second.shouldCacheFile(hFileInfo, conf);
  }

  @Override
  public Optional<Boolean> shouldCacheBlock(BlockCacheKey key, long maxTimeStamp,
    Configuration conf) {
    return second.shouldCacheBlock(key, maxTimeStamp, conf);
  }

  /** Notifies L2, which checks that it holds as many data blocks as the file has. */
  @Override
  public void notifyFileCachingCompleted(Path fileName, int totalBlockCount, int dataBlockCount,
    long size) {
    second.notifyFileCachingCompleted(fileName, totalBlockCount, dataBlockCount, size);
  }

  /** Returns how many readers hold the block, in both tiers together. */
  @Override
  public int getRpcRefCount(BlockCacheKey key) {
    return first.getRpcRefCount(key) + second.getRpcRefCount(key);
  }

  /** Does nothing: L1's size is fixed, and none of it is heap to tune. */
  @Override
  public void setMaxSize(long size) {
    LOG.debug("L1 keeps its size; a request for {} bytes is ignored", size);
  }

  /** Each tier sees its own keys over the common ones. */
  @Override
  public void onConfigurationChange(Configuration conf) {
    // Invalid values are rejected before anything is changed in either tier.
    double share = CompositeBucketCacheSettings.promotedShare(conf);
    long metaIdleMs = CompositeBucketCacheSettings.metaIdleMs(conf);
    boolean secondMissOnly = CompositeBucketCacheSettings.isSecondMissOnly(conf);
    Configuration ofFirst = TierSettings.ofTier(conf, CompositeBucketCacheSettings.L1_PREFIX);
    Configuration ofSecond = TierSettings.ofTier(conf, CompositeBucketCacheSettings.L2_PREFIX);
    first.checkConfiguration(ofFirst);
    second.checkConfiguration(ofSecond);
    first.onConfigurationChange(ofFirst);
    second.onConfigurationChange(ofSecond);
    setMetaIdleMs(metaIdleMs);
    setPromotedShare(share);
    setSecondMissOnly(secondMissOnly);
  }

  /** Returns how often a meta block was copied from L2 back into L1. */
  public long getReturnedBlockCount() {
    return returned.sum();
  }
}
