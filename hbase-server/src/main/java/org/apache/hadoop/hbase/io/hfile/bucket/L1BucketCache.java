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

import static org.apache.hadoop.hbase.metrics.MetricKind.COUNTER;
import static org.apache.hadoop.hbase.metrics.MetricKind.GAUGE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.FirstLevelBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.FileEvictionGuard;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencyPromotionPolicy;
import org.apache.hadoop.hbase.io.hfile.composite.PromotionTier;
import org.apache.hadoop.hbase.io.hfile.composite.TierSettings;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link BucketCache} as L1. Meta blocks that it evicts for lack of space, or that find the
 * writer queue full, are inserted into the victim cache ({@link VictimTransfer}).
 * <p>
 * Data blocks in L1 are copies admitted by the {@link FrequencyPromotionPolicy}, inserted by the
 * reader that found the block in L2 ({@link PromotedBlockInserter}). They are not moved to the
 * victim cache, and are evicted before any meta block. The policy is notified exactly once that a
 * copy has left: by {@link #blockEvicted} if the copy was inserted into the map, else by
 * {@link #promote}.
 * <p>
 * Thread-safe.
 */
@InterfaceAudience.Private
public class L1BucketCache extends BucketCacheTier
  implements FirstLevelBlockCache, PromotionTier {
  private static final Logger LOG = LoggerFactory.getLogger(L1BucketCache.class);

  /**
   * How long {@link #hasSpaceFor} returns false after an eviction because of one exhausted bucket
   * size while there was other space. It does not matter which size it was, but copies must not
   * cause one eviction after another.
   */
  private static final long FRAGMENTED_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final FileEvictionGuard guard;
  private final LongAdder rejected = new LongAdder();

  private final int blockSize;
  /** Bytes taken by meta blocks in the map, the rest of their buckets' items included. */
  private final LongAdder metaItemBytes = new LongAdder();
  private final VictimTransfer transfer = new VictimTransfer(LOG);
  private final PromotedBlockInserter inserter;
  /** Writer threads that found no space for a meta block, nor a copy to evict. */
  private final Set<Thread> withoutSpace = ConcurrentHashMap.newKeySet();

  private volatile L1DataSpace dataSpace;
  /** Null as long as there are no copies. */
  private volatile IdleMetaBlocks idleMeta;
  private long metaIdleMs;
  private volatile CacheTier victimCache;
  private volatile long lastFragmented = System.nanoTime() - FRAGMENTED_PAUSE_NANOS;

  /**
   * @param name  short name for logs and threads, as L1
   * @param tier  checked settings
   * @param guard records the files that are evicted while a victim moves
   * @throws IOException if the engine cannot be opened
   */
  public L1BucketCache(String name, TierSettings tier,
    FileEvictionGuard guard) throws IOException {
    super(name, tier);
    this.guard = guard;
    Configuration conf = tier.getConfiguration();
    this.blockSize =
      conf.getInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY, HConstants.DEFAULT_BLOCKSIZE);
    this.inserter = new PromotedBlockInserter(this, this::onSizeExhausted);
  }

  @Override
  public synchronized FrequencyPromotionPolicy setPromotedShare(double share) {
    if (share > 0 && dataSpace == null) {
      dataSpace = new L1DataSpace(this, blockSize, this::getMetaItemBytes);
      idleMeta = new IdleMetaBlocks(this, dataSpace);
      idleMeta.setIdleMs(metaIdleMs);
    }
    if (dataSpace != null) {
      dataSpace.setShare(share);
    }
    return share > 0 ? dataSpace.policy() : null;
  }

  @Override
  public synchronized void setMetaIdleMs(long ms) {
    metaIdleMs = ms;
    if (idleMeta != null) {
      idleMeta.setIdleMs(ms);
    }
  }

  /** Returns null as long as there are no copies. */
  IdleMetaBlocks idleMeta() {
    return idleMeta;
  }

  @Override
  public int sizeOf(Cacheable block) {
    return bucketSizeFor(block);
  }

  /** Only meta blocks are evicted in the order of their last access; data has its policy. */
  @Override
  void used(BucketEntry entry) {
    if (entry.metaBlock) {
      super.used(entry);
      return;
    }
    L1DataSpace space = dataSpace;
    if (space != null) {
      space.used(entry);
    }
  }

  @Override
  Cacheable readFrom(IOEngine engine, BucketEntry entry) throws IOException {
    return ((L1Entry) entry).read(engine);
  }

  @Override
  public void promote(BlockCacheKey key, Cacheable block) {
    boolean inserted = false;
    try {
      inserted = block instanceof HFileBlock && isCacheEnabled() && !containsBlock(key)
        && inserter.insert(key, (HFileBlock) block);
    } catch (IOException e) {
      LOG.debug("Could not promote block {}", key, e);
    } finally {
      if (!inserted) {
        forget(key);
      }
    }
  }

  @Override
  public long getRealCacheSize() {
    return super.getRealCacheSize() + inserter.getUsedBytes();
  }

  @Override
  public long size() {
    return getRealCacheSize();
  }

  private void forget(BlockCacheKey key) {
    L1DataSpace space = dataSpace;
    if (space != null) {
      space.policy().onRemoved(key);
    }
  }

  /** Returns null as long as there are no copies. */
  L1DataSpace dataSpace() {
    return dataSpace;
  }

  private void onSizeExhausted(int itemSize) {
    L1DataSpace space = dataSpace;
    if (space != null) {
      space.onSizeExhausted(itemSize);
    }
  }

  long getMetaItemBytes() {
    return metaItemBytes.sum();
  }

  @Override
  protected void putIntoBackingMap(BlockCacheKey key, BucketEntry bucketEntry) {
    if (isMetaBlock(key.getBlockType())) {
      metaItemBytes.add(bucketSizeFor(bucketEntry.getLength()));
    }
    super.putIntoBackingMap(key, bucketEntry);
  }

  @Override
  void blockEvicted(BlockCacheKey key, BucketEntry bucketEntry, boolean fileIncomplete,
    boolean evictedByEvictionProcess) {
    super.blockEvicted(key, bucketEntry, fileIncomplete, evictedByEvictionProcess);
    if (bucketEntry.metaBlock) {
      metaItemBytes.add(-bucketSizeFor(bucketEntry.getLength()));
    } else {
      forget(key);
    }
  }

  @Override
  void write(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
    L1DataSpace space = dataSpace;
    Predicate<Cacheable> evictData = this::evictForMeta;
    List<RAMQueueEntry> queued = new ArrayList<>(entries.size());
    long bytes = 0;
    for (RAMQueueEntry entry : entries) {
      queued.add(new L1QueueEntry(evictData, entry));
      bytes += bucketSizeFor(entry.getData());
    }
    if (space != null) {
      space.adapt(bytes);
    }
    super.write(queued, metaBuff);
  }

  /**
   * Evicts data blocks for a meta block that found no space. If there are none to evict, the
   * {@link #freeSpace} that the calling writer thread requests next evicts meta blocks.
   * @return whether anything was evicted
   */
  private boolean evictForMeta(Cacheable block) {
    L1DataSpace space = dataSpace;
    boolean made = space != null && space.evictForMeta(bucketSizeFor(block));
    if (!made) {
      withoutSpace.add(Thread.currentThread());
    }
    return made;
  }

  /**
   * @param victimCache receives the meta blocks that are evicted for lack of space or find the
   *                    writer queue full; a {@link CacheTier}
   * @throws IllegalArgumentException if it is no tier, or there is one already
   */
  @Override
  public void setVictimCache(BlockCache victimCache) {
    if (this.victimCache != null || !(victimCache instanceof CacheTier)) {
      throw new IllegalArgumentException("The victim cache is set once, to a CacheTier");
    }
    this.victimCache = (CacheTier) victimCache;
  }

  /** Does nothing: the engine's size is fixed when it is opened. */
  @Override
  public void setMaxSize(long size) {
    LOG.debug("{} keeps its size; a request for {} bytes is ignored", getName(), size);
  }

  @Override
  public boolean hasSpaceFor(Cacheable block) {
    return super.hasSpaceFor(block) && System.nanoTime() - lastFragmented >= FRAGMENTED_PAUSE_NANOS;
  }

  @Override
  protected void blockRejected(BlockCacheKey key, Cacheable block, boolean inMemory) {
    if (!isMetaBlock(block.getBlockType())) {
      return;
    }
    rejected.increment();
    CacheTier victims = victimCache;
    if (victims != null) {
      victims.cacheBlock(key, block, inMemory);
    }
  }

  @Override
  void freeSpace(String why) {
    boolean spaceWanted = withoutSpace.remove(Thread.currentThread());
    long acceptable = acceptableSize();
    long over = getAllocator().getUsedSize() - acceptable;
    L1DataSpace space = dataSpace;
    if (space != null && over > 0) {
      long freed = space.policy().evict(over);
      if (!spaceWanted && (freed >= over || getMetaItemBytes() <= acceptable)) {
        return;
      }
    }
    if (over <= 0 && isOneSizeFull()) {
      lastFragmented = System.nanoTime();
    }
    super.freeSpace(why);
    adaptDataSpace();
  }

  /**
   * Returns whether a bucket size is exhausted. Called by a thread that found the tier full: if all
   * sizes have free items by now, another thread has just evicted blocks.
   */
  private boolean isOneSizeFull() {
    return Stream.of(getAllocator().getIndexStatistics()).anyMatch(size -> size.freeCount() == 0);
  }

  private void adaptDataSpace() {
    L1DataSpace space = dataSpace;
    if (space != null) {
      space.adapt(0);
    }
  }

  @Override
  public boolean evictBlock(BlockCacheKey key) {
    boolean evicted = super.evictBlock(key);
    if (evicted) {
      // Data may use the space of a meta block.
      adaptDataSpace();
    }
    return evicted;
  }

  @Override
  public void onConfigurationChange(Configuration conf) {
    super.onConfigurationChange(conf);
    adaptDataSpace();
  }

  @Override
  long getPressingSize() {
    L1DataSpace space = dataSpace;
    long used = super.getPressingSize();
    return space == null ? used : Math.max(0, used - space.policy().getUsedBytes());
  }

  @Override
  public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
    return Optional.of(getPressingSize() + block.getOnDiskSizeWithHeader() < acceptableSize());
  }

  @Override
  boolean evictBucketEntryIfNoRpcReferenced(BlockCacheKey key, BucketEntry entry) {
    if (entry.isRpcRef()) {
      return false;
    }
    CacheTier victims = victimCache;
    if (victims == null || !entry.metaBlock || victims.containsBlock(key)) {
      return super.evictBucketEntryIfNoRpcReferenced(key, entry);
    }
    String hfileName = key.getHfileName();
    long stamp = guard.moveStarts(hfileName);
    Cacheable copy = stamp == FileEvictionGuard.BUSY ? null : transfer.copyOf(this, key);
    if (copy == null) {
      return super.evictBucketEntryIfNoRpcReferenced(key, entry);
    }
    try {
      // The block is inserted there before it is removed here, so that no lookup misses it in
      // between.
      boolean moved = transfer.insert(victims, key, copy);
      boolean evicted = super.evictBucketEntryIfNoRpcReferenced(key, entry);
      if (moved && !guard.undisturbed(hfileName, stamp)) {
        victims.evictBlock(key);
      }
      return evicted;
    } finally {
      copy.release();
    }
  }

  /**
   * Evicts without the victim cache. The superclass calls it for blocks of files that data tiering
   * has found cold, which no tier is to keep.
   */
  @Override
  public boolean evictBlockIfNoRpcReferenced(BlockCacheKey key) {
    BucketEntry entry = backingMap.get(key);
    return entry != null && super.evictBucketEntryIfNoRpcReferenced(key, entry);
  }

  @Override
  public void forEachMetric(MetricKind.Visitor visitor) {
    super.forEachMetric(visitor);
    visitor.visit(COUNTER, "SpilledBlockCount", this::getSpilledCount);
    visitor.visit(COUNTER, "SpilledBytes", this::getSpilledBytes);
    visitor.visit(COUNTER, "DroppedBlockCount", this::getDroppedCount);
    visitor.visit(COUNTER, "RejectedBlockCount", this::getRejectedCount);
    visitor.visit(COUNTER, "IdleMetaEvictedCount", this::getIdleMetaEvictedCount);
    visitor.visit(COUNTER, "PromotedBlockCount", ofPolicy(policy -> policy.getPromotedCount()));
    visitor.visit(COUNTER, "RejectedPromotionCount", ofPolicy(policy -> policy.getRejectedCount()));
    visitor.visit(COUNTER, "DemotedBlockCount", ofPolicy(policy -> policy.getDemotedCount()));
    visitor.visit(GAUGE, "DataCapacity", ofPolicy(policy -> policy.getCapacity()));
    visitor.visit(COUNTER, "UnplacedPromotionCount", ofDataSpace(L1DataSpace::getUnplacedCount));
    visitor.visit(COUNTER, "ReassignedBucketCount", ofDataSpace(L1DataSpace::getReassignedCount));
  }

  private LongSupplier ofPolicy(ToLongFunction<FrequencyPromotionPolicy> value) {
    return ofDataSpace(space -> value.applyAsLong(space.policy()));
  }

  private LongSupplier ofDataSpace(ToLongFunction<L1DataSpace> value) {
    return () -> {
      L1DataSpace space = dataSpace;
      return space == null ? 0 : value.applyAsLong(space);
    };
  }

  /**
   * Stops the threads first that may be moving a victim, and would otherwise release blocks that
   * the superclass releases as well.
   */
  @Override
  public void shutdown() {
    IdleMetaBlocks blocks = idleMeta;
    try {
      if (blocks != null) {
        blocks.stop();
      }
      for (WriterThread thread : writerThreads) {
        thread.disableWriter();
        thread.interrupt();
      }
      for (WriterThread thread : writerThreads) {
        thread.join(TimeUnit.SECONDS.toMillis(5));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    super.shutdown();
    // Blocks that readers have queued meanwhile.
    ramCache.delegate.keySet().forEach(this::removeFromRamCache);
  }

  /** Returns how many meta blocks were moved to the victim cache for lack of space. */
  public long getSpilledCount() {
    return transfer.getSpilledCount();
  }

  /** Returns the bytes of the blocks that {@link #getSpilledCount} counts. */
  public long getSpilledBytes() {
    return transfer.getSpilledBytes();
  }

  /** Returns how many meta blocks were dropped because the victim cache did not accept them. */
  public long getDroppedCount() {
    return transfer.getDroppedCount();
  }

  /** Returns how many meta blocks were evicted for data because they were idle. */
  public long getIdleMetaEvictedCount() {
    IdleMetaBlocks blocks = idleMeta;
    return blocks == null ? 0 : blocks.getEvictedCount();
  }

  /** Returns how many blocks found the writer queue full and were passed to the victim cache. */
  public long getRejectedCount() {
    return rejected.sum();
  }
}
