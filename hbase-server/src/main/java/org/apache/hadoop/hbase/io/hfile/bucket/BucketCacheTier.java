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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.CacheTier;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.StoredBlocks;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link BucketCache} as one tier of a
 * {@link org.apache.hadoop.hbase.io.hfile.CompositeBucketCache}. It knows how many of its blocks
 * are meta blocks, its threads carry the tier's name, and evicting a file also takes the blocks
 * that still wait to be written, which would otherwise arrive after the file is gone and stay.
 */
@InterfaceAudience.Private
public class BucketCacheTier extends BucketCache implements CacheTier {
  private static final Logger LOG = LoggerFactory.getLogger(BucketCacheTier.class);

  /** How long to sleep between two looks at a full writer queue. */
  private static final long QUEUE_POLL_NANOS = 200_000;
  private static final BlockType.BlockCategory[] CATEGORIES = BlockType.BlockCategory.values();

  private final String name;
  /** What a block takes, ascending; the largest is the largest block that fits at all. */
  private final int[] bucketSizes;
  private final StoredBlocks stored = new StoredBlocks();
  private final LongAdder inserted = new LongAdder();
  private final LongAdder writtenBytes = new LongAdder();

  /**
   * The keys in order of their files, always those of the map. The superclass changes the map first
   * and the index afterwards; if a block is evicted and another cached under the same key at that
   * time, the index could end up without a key that the map has, so that the block outlives its
   * file, or with one that is gone. Here a key is only taken out if the map does not have it, and
   * atomically so, and not left in if the map has lost it.
   */
  private static final class FileIndex extends ConcurrentSkipListSet<BlockCacheKey> {
    private static final long serialVersionUID = 1L;
    private final transient Map<BlockCacheKey, BucketEntry> blocks;

    FileIndex(Map<BlockCacheKey, BucketEntry> blocks) {
      super(Comparator.comparing(BlockCacheKey::getHfileName)
        .thenComparingLong(BlockCacheKey::getOffset));
      this.blocks = blocks;
      blocks.keySet().forEach(this::add);
    }

    @Override
    public boolean add(BlockCacheKey key) {
      boolean added = super.add(key);
      if (!blocks.containsKey(key)) {
        // Evicted already, by someone who did not find the key here.
        remove(key);
      }
      return added;
    }

    @Override
    public boolean remove(Object key) {
      return blocks.compute((BlockCacheKey) key, (k, entry) -> {
        if (entry == null) {
          super.remove(k);
        }
        return entry;
      }) == null;
    }
  }

  /**
   * @param name          short name for logs and threads, as L1
   * @param tier          checked settings
   * @param onlineRegions the regions whose files' blocks are worth keeping; may be null
   * @throws IOException if the engine cannot be opened
   */
  public BucketCacheTier(String name, CompositeBucketCacheSettings.Tier tier,
    Map<String, HRegion> onlineRegions) throws IOException {
    super(tier.getIoEngine(), tier.getCapacity(),
      tier.getConfiguration().getInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY,
        HConstants.DEFAULT_BLOCKSIZE),
      tier.getBucketSizes(), tier.getWriterThreads(), tier.getWriterQueueLength(),
      tier.getPersistentPath(),
      tier.getConfiguration().getInt("hbase.bucketcache.ioengine.errors.tolerated.duration",
        DEFAULT_ERROR_TOLERATION_DURATION),
      tier.getConfiguration(), onlineRegions);
    this.name = name;
    this.bucketSizes = Stream.of(getAllocator().getIndexStatistics())
      .mapToInt(size -> (int) size.itemSize()).toArray();
    for (WriterThread thread : writerThreads) {
      thread.setName(thread.getName().replace("BucketCacheWriter", name + "-BucketCacheWriter"));
    }
    this.blocksByHFile = new FileIndex(backingMap);
    backingMap.forEach(this::comes);
    LOG.info("{} tier: {} on {}", name, getClass().getSimpleName(), getIoEngine());
  }

  @Override
  public boolean containsBlock(BlockCacheKey key) {
    // In this order: a block is in the map before it leaves the queue.
    return ramCache.containsKey(key) || backingMap.containsKey(key);
  }

  @Override
  public boolean accepts(Cacheable block) {
    return bucketSizeFor(block) > 0;
  }

  @Override
  public boolean hasRoomFor(Cacheable block) {
    int size = bucketSizeFor(block);
    // Those that wait to be written will take their places as well, each about as large.
    return size > 0 && isCacheEnabled()
      && getPressingSize() + (ramCache.delegate.size() + 1L) * size <= acceptableSize();
  }

  /** Returns the bytes taken by blocks that are not to go for the sake of others. */
  long getPressingSize() {
    return getAllocator().getUsedSize();
  }

  /** Returns what the block would take, in bytes, or 0 if it is larger than any bucket. */
  final int bucketSizeFor(Cacheable block) {
    // With persistence a block is kept together with the time it was cached.
    return bucketSizeFor(block.getSerializedLength() + (isCachePersistent() ? Long.BYTES : 0));
  }

  final int bucketSizeFor(int length) {
    for (int size : bucketSizes) {
      if (length <= size) {
        return size;
      }
    }
    return 0;
  }

  @Override
  public boolean awaitInsertion(BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    // The queue that the superclass will choose for this key.
    BlockingQueue<RAMQueueEntry> queue =
      writerQueues.get((key.hashCode() & 0x7FFFFFFF) % writerQueues.size());
    if (queue.remainingCapacity() > 0) {
      return true;
    }
    long deadline = System.nanoTime() + timeoutNanos;
    while (isCacheEnabled() && System.nanoTime() < deadline) {
      if (Thread.interrupted()) {
        throw new InterruptedException("Interrupted while waiting for a writer of " + name);
      }
      LockSupport.parkNanos(QUEUE_POLL_NANOS);
      if (queue.remainingCapacity() > 0) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void forEachBlockOf(String hfileName, Consumer<BlockCacheKey> visitor) {
    // The queue first: a block is in the map before it leaves the queue.
    for (BlockCacheKey key : ramCache.delegate.keySet()) {
      if (key.getHfileName().equals(hfileName)) {
        visitor.accept(key);
      }
    }
    blocksByHFile.subSet(new BlockCacheKey(hfileName, 0), true,
      new BlockCacheKey(hfileName, Long.MAX_VALUE), true).forEach(visitor);
  }

  @Override
  public int evictBlocksRangeByHfileName(String hfileName, long initOffset, long endOffset) {
    int evicted = 0;
    // The queue first: a block is in the map before it leaves the queue.
    for (BlockCacheKey key : ramCache.delegate.keySet()) {
      if (
        key.getOffset() >= initOffset && key.getOffset() <= endOffset
          && key.getHfileName().equals(hfileName) && evictBlock(key)
      ) {
        evicted++;
      }
    }
    return evicted + super.evictBlocksRangeByHfileName(hfileName, initOffset, endOffset);
  }

  /**
   * Passes over blocks that were evicted while they waited, and holds on to the others until they
   * are written: the eviction of a waiting block releases its buffer, and the superclass, which
   * does not expect that, would leave all that it was to write with that block in the queue's map
   * for good.
   */
  @Override
  void doDrain(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
    List<RAMQueueEntry> held = new ArrayList<>(entries.size());
    try {
      for (RAMQueueEntry entry : entries) {
        RAMQueueEntry waiting = ramCache.get(entry.getKey());
        if (waiting == entry) {
          held.add(entry);
        } else if (waiting != null) {
          // Evicted and cached anew; the new one has its own place in the queue.
          waiting.getData().release();
        }
      }
      write(held, metaBuff);
    } finally {
      held.forEach(entry -> entry.getData().release());
    }
  }

  /** Writes blocks and puts them into the map. */
  void write(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
    super.doDrain(entries, metaBuff);
  }

  @Override
  protected void putIntoBackingMap(BlockCacheKey key, BucketEntry bucketEntry) {
    // Before it can be evicted.
    comes(key, bucketEntry);
    inserted.increment();
    writtenBytes.add(bucketEntry.getLength());
    super.putIntoBackingMap(key, bucketEntry);
  }

  /**
   * Puts a block into the map without the superclass, which would count it for its region too: a
   * copy of a block that another tier has counted already.
   * @return false if there is another under this key, and this one is to be given up
   */
  final boolean putCopyIntoBackingMap(BlockCacheKey key, BucketEntry entry) {
    comes(key, entry);
    boolean absent = false;
    try {
      absent = backingMap.putIfAbsent(key, entry) == null;
    } finally {
      if (!absent) {
        goes(key, entry);
      }
    }
    if (absent) {
      blocksByHFile.add(key);
      inserted.increment();
      writtenBytes.add(entry.getLength());
    }
    return absent;
  }

  private void comes(BlockCacheKey key, BucketEntry entry) {
    BlockType.BlockCategory category = StoredBlocks.categoryOf(key.getBlockType());
    // Into the entry, since the key it is evicted by may say otherwise.
    entry.metaBlock = isMetaBlock(key.getBlockType());
    entry.category = (byte) category.ordinal();
    stored.add(key.getHfileName(), category, entry.getLength());
  }

  private void goes(BlockCacheKey key, BucketEntry entry) {
    stored.remove(key.getHfileName(), CATEGORIES[entry.category], entry.getLength());
  }

  @Override
  void blockEvicted(BlockCacheKey key, BucketEntry bucketEntry, boolean decrementBlockNumber,
    boolean evictedByEvictionProcess) {
    super.blockEvicted(key, bucketEntry, decrementBlockNumber, evictedByEvictionProcess);
    goes(key, bucketEntry);
  }

  @Override
  public long getMetaBlockCount() {
    return stored.getMetaCount();
  }

  @Override
  public long getMetaBlockSize() {
    return stored.getMetaBytes();
  }

  /** Returns the blocks stored, and those that still wait to be written. */
  @Override
  public long getBlockCount() {
    // The superclass counts up and down, and loses count where a block is evicted while another is
    // cached under its key.
    return (long) backingMap.size() + ramCache.delegate.size();
  }

  /** Returns the blocks stored that are data, and those that still wait to be written. */
  @Override
  public long getDataBlockCount() {
    return Math.max(0, getBlockCount() - getMetaBlockCount());
  }

  @Override
  public long getCurrentDataSize() {
    return Math.max(0, super.getCurrentDataSize() - getMetaBlockSize());
  }

  @Override
  public void forEachGauge(BiConsumer<String, LongSupplier> gauges) {
    CacheStats stats = getStats();
    gauges.accept("Capacity", this::getMaxSize);
    gauges.accept("Used", this::getCurrentSize);
    gauges.accept("MetaBlockCount", this::getMetaBlockCount);
    gauges.accept("MetaBlockSize", this::getMetaBlockSize);
    accept(gauges, "Index", BlockType.BlockCategory.INDEX);
    accept(gauges, "Bloom", BlockType.BlockCategory.BLOOM);
    accept(gauges, "Data", BlockType.BlockCategory.DATA);
    gauges.accept("WaitingBlockCount", ramCache.delegate::size);
    gauges.accept("HitCount", stats::getHitCount);
    gauges.accept("MissCount", stats::getMissCount);
    gauges.accept("InsertedBlockCount", inserted::sum);
    gauges.accept("WrittenBytes", writtenBytes::sum);
    gauges.accept("EvictedBlockCount", stats::getEvictedCount);
    gauges.accept("RefusedInsertCount", stats::getFailedInserts);
  }

  private void accept(BiConsumer<String, LongSupplier> gauges, String type,
    BlockType.BlockCategory category) {
    gauges.accept(type + "BlockCount", () -> stored.getCount(category));
    gauges.accept(type + "BlockSize", () -> stored.getBytes(category));
  }

  @Override
  public void forEachFile(StoredBlocks.FileVisitor visitor) {
    stored.forEachFile(visitor);
  }

  /**
   * The superclass keeps one flag for all caches of the process, which tells the persister of any
   * of them that there is something to write. A tier that is not persisted stays out of it.
   */
  @Override
  public void setCacheInconsistent(boolean inconsistent) {
    if (isCachePersistenceEnabled()) {
      super.setCacheInconsistent(inconsistent);
    }
  }

  @Override
  public void logStats() {
    LOG.info("{} tier ({}): metaBlocks={}, dataBlocks={}", name, getIoEngine(),
      getMetaBlockCount(), getDataBlockCount());
    super.logStats();
  }

  final String getName() {
    return name;
  }
}
