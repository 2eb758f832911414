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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.io.hfile.composite.OrphanFiles;
import org.apache.hadoop.hbase.io.hfile.composite.TierSettings;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link BucketCache} as one tier of a
 * {@link org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache}. It counts its blocks by
 * category, and its threads carry the tier's name.
 * <p>
 * A corrupt or failing device causes a miss, and is bypassed until it works again:
 * {@link DeviceAccess}. {@link LockFreeLookup} finds and reads blocks, {@link BlocksByHFileIndex}
 * has the keys of a file, {@link OrphanFiles} finds files that no region reads, and
 * {@link BucketCacheTierMetrics} counts. Only overrides of methods of the superclass and of
 * {@link CacheTier}, and what they share, are here. Thread-safe.
 */
@InterfaceAudience.Private
public class BucketCacheTier extends BucketCache implements CacheTier {
  private static final Logger LOG = LoggerFactory.getLogger(BucketCacheTier.class);

  private final String name;
  /** Bytes of the places in buckets, ascending. */
  private final int[] bucketSizes;
  private final BucketCacheTierMetrics metrics = new BucketCacheTierMetrics();
  private final LockFreeLookup lookup;
  private final InsertionSpace space = new InsertionSpace(this);
  private final DeviceAccess device;
  /** The clock of accesses: the number of blocks inserted into the map so far. */
  private final AtomicLong insertions;
  /** Null if files that no region reads are kept. */
  private final OnlineFiles online;
  /** Null in L1. */
  private final OrphanFiles orphans;
  private final LongAdder orphanFiles = new LongAdder();
  /** False while the constructor runs; the superclass starts threads before. */
  private volatile boolean constructed;

  /** Opens a tier that keeps files that no region reads. */
  BucketCacheTier(String name, TierSettings tier) throws IOException {
    this(name, tier, null, null);
  }

  /**
   * Opens an L2.
   * @param name   short name for logs and threads
   * @param tier   checked settings
   * @param online what the server's regions read; null to keep files that no region reads
   * @throws IOException if the engine cannot be opened
   */
  public BucketCacheTier(String name, TierSettings tier, OnlineFiles online) throws IOException {
    this(name, tier, online, new OrphanFiles(OrphanFiles.DEFAULT_GRACE_NANOS));
  }

  private BucketCacheTier(String name, TierSettings tier, OnlineFiles online,
    OrphanFiles orphans) throws IOException {
    super(tier.getIoEngine(), tier.getCapacity(),
      tier.getConfiguration().getInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY,
        HConstants.DEFAULT_BLOCKSIZE),
      tier.getBucketSizes(), tier.getWriterThreads(), tier.getWriterQueueLength(),
      // The superclass would disable itself for good.
      tier.getPersistentPath(), Integer.MAX_VALUE, tier.getConfiguration(), null);
    this.name = name;
    this.online = online;
    this.orphans = orphans;
    this.bucketSizes = Stream.of(getAllocator().getIndexStatistics())
      .mapToInt(size -> (int) size.itemSize()).toArray();
    this.lookup = new LockFreeLookup(this, name, this::used, LOG);
    this.device = new DeviceAccess(this, tier.isChecksumEnabled(), LOG);
    for (WriterThread thread : writerThreads) {
      thread.setName(thread.getName().replace("BucketCacheWriter", name + "-BucketCacheWriter"));
    }
    this.blocksByHFile = new BlocksByHFileIndex(backingMap);
    this.insertions = new AtomicLong(
      backingMap.values().stream().mapToLong(BucketEntry::getAccessCounter).max().orElse(0));
    backingMap.forEach(this::restored);
    LOG.info("{} tier: {} on {}, {}", name, getClass().getSimpleName(), getIoEngine(),
      device.hasChecksums() ? "with checksums" : "without checksums");
    constructed = true;
  }

  /** Counts a block of the persisted map, unless the thread that validates the map evicted it. */
  private void restored(BlockCacheKey key, BucketEntry entry) {
    entry.withWriteLock(offsetLock, () -> {
      if (backingMap.get(key) == entry) {
        onInsert(key, entry);
      }
      return null;
    });
    if (!device.hasChecksums()) {
      entry.checksum = EntryChecksum.NONE;
    } else if (entry.checksum == EntryChecksum.NONE) {
      // A server without checksums has written it: its bytes cannot be verified.
      LOG.debug("{} has no checksum and is dropped", key);
      evictBlock(key);
    }
  }

  @Override
  boolean isCacheEnabled() {
    return super.isCacheEnabled() && device.isWritable();
  }

  @Override
  public Cacheable getBlock(BlockCacheKey key, boolean caching, boolean repeat,
    boolean updateCacheMetrics) {
    if (!super.isCacheEnabled()) {
      return null;
    }
    Cacheable block = null;
    if (device.isReadable()) {
      block = lookup.find(key, updateCacheMetrics, caching && updateCacheMetrics);
    } else {
      device.bypassedReads.increment();
    }
    if (updateCacheMetrics) {
      if (block != null) {
        getStats().hit(caching, key.isPrimary(), key.getBlockType());
      } else if (!repeat) {
        getStats().miss(caching, key.isPrimary(), key.getBlockType());
      }
    }
    return block;
  }

  /**
   * Notes an access to a block, as of the last insertion. Without insertions there are no
   * evictions either, so the clock does not advance, and many accesses to a hot block write to
   * memory once.
   */
  void used(BucketEntry entry) {
    long now = insertions.get();
    if (entry.getAccessCounter() != now || entry.getPriority() == BlockPriority.SINGLE) {
      entry.access(now);
    }
  }

  /** Advances the clock, so that later accesses can be told from earlier ones, and returns it. */
  long advanceClock() {
    return insertions.incrementAndGet();
  }

  @Override
  protected void cacheBlockWithWaitInternal(BlockCacheKey key, Cacheable block, boolean inMemory,
    boolean wait) {
    if (device.isWritable()) {
      super.cacheBlockWithWaitInternal(key, block, inMemory, wait);
    } else {
      device.bypassedInserts.increment();
      blockRejected(key, block, inMemory);
    }
  }

  /**
   * Reads the block of an entry.
   * @throws HBaseIOException if the block must be evicted
   */
  @Override
  Cacheable readEntry(BucketEntry entry) throws IOException {
    return device.read(entry);
  }

  /** Reads the block of an entry, which the caller has retained, from the engine. */
  Cacheable readFrom(IOEngine engine, BucketEntry entry) throws IOException {
    return engine.read(entry);
  }

  /** Returns null if it failed: the superclass drops the block; an exception it would retry. */
  @Override
  BucketEntry writeEntry(RAMQueueEntry re, ByteBuffer metaBuff) throws IOException {
    return device.write(re, metaBuff);
  }

  /** Writes a block to the engine. Returns null if there is nothing to write. */
  BucketEntry store(RAMQueueEntry re, ByteBuffer metaBuff) throws IOException {
    return super.writeEntry(re, metaBuff);
  }

  @Override
  void syncEngine() throws IOException {
    device.batchWritten();
  }

  @Override
  public void checkConfiguration(Configuration conf) {
    EvictionFactors.check(conf);
  }

  /** Invalid settings are refused before anything is changed. Also called by the superclass. */
  @Override
  public void onConfigurationChange(Configuration conf) {
    checkConfiguration(conf);
    super.onConfigurationChange(conf);
  }

  /**
   * The map may outlive the machine's memory, so what it names is brought to the device first. At
   * shutdown, when the engine is closed, that has been done.
   * @throws IOException also if the tier is still being opened: its map may not be complete
   */
  @Override
  void persistToFile() throws IOException {
    if (!constructed) {
      throw new IOException("The map is not persisted while the tier is being opened");
    }
    if (isCacheEnabled()) {
      device.sync();
    }
    super.persistToFile();
  }

  /** Returns the time of the device's clock, which tests replace. */
  long nanoTime() {
    return System.nanoTime();
  }

  void syncDevice() throws IOException {
    super.syncEngine();
  }

  final DeviceAccess device() {
    return device;
  }

  @Override
  public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
    return isCacheEnabled() ? super.blockFitsIntoTheCache(block) : Optional.of(false);
  }

  @Override
  public void shutdown() {
    if (isCacheEnabled() && isCachePersistent()) {
      try {
        device.sync();
      } catch (IOException e) {
        LOG.info("{} tier: some blocks may be lost in a crash of the operating system", name, e);
      }
    }
    super.shutdown();
  }

  @Override
  public boolean containsBlock(BlockCacheKey key) {
    // The order matters: a block is in the map before it leaves the queue.
    return ramCache.containsKey(key) || backingMap.containsKey(key);
  }

  @Override
  public int accesses(BlockCacheKey key) {
    return lookup.accesses(key);
  }

  @Override
  public HFileBlock peek(BlockCacheKey key) {
    return isInMemory() && isCacheEnabled() ? (HFileBlock) lookup.peek(key) : null;
  }

  @Override
  public long cachedBytes(String hfileName) {
    return metrics.stored().getBytes(hfileName);
  }

  @Override
  public boolean cacheHot(BlockCacheKey key, Cacheable block, boolean inMemory, int accesses) {
    return EntryAccesses.cacheHot(this, key, block, inMemory, accesses);
  }

  @Override
  public boolean isInMemory() {
    return ioEngine.usesSharedMemory();
  }

  @Override
  public boolean hasSpaceFor(Cacheable block) {
    int size = bucketSizeFor(block);
    // Blocks that wait to be written take buckets as well, each about as large.
    return size > 0 && isCacheEnabled()
      && getPressingSize() + (ramCache.delegate.size() + 1L) * size <= acceptableSize();
  }

  @Override
  public boolean hasSpareSpace() {
    return space.isSpare();
  }

  @Override
  public boolean hasSpareSpaceFor(int serializedLength) {
    return space.isSpareFor(serializedLength);
  }

  /** Returns the bytes of blocks that are not evicted for others. */
  long getPressingSize() {
    return getAllocator().getUsedSize();
  }

  /** Returns the bucket size of a block, in bytes; 0 if it exceeds the largest. */
  final int bucketSizeFor(Cacheable block) {
    // A persistent cache stores the time of caching after each block.
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
    return space.awaitQueue(name, key, timeoutNanos);
  }

  @Override
  public boolean awaitVictimInsertion(BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    return awaitInsertion(key, timeoutNanos);
  }

  @Override
  public void forEachBlockOf(String hfileName, Consumer<BlockCacheKey> visitor) {
    // The queue is read first: a block is in the map before it leaves the queue.
    for (BlockCacheKey key : ramCache.delegate.keySet()) {
      if (key.getHfileName().equals(hfileName)) {
        visitor.accept(key);
      }
    }
    blocksByHFile.subSet(new BlockCacheKey(hfileName, 0), true,
      new BlockCacheKey(hfileName, Long.MAX_VALUE), true).forEach(visitor);
  }

  /**
   * Skips blocks that were evicted while they waited, and retains the others until they are
   * written: the eviction of a waiting block releases its buffer. The superclass does not expect
   * that, and would leave all blocks that it was to write with it in the map of the queue for good.
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
          // The block was evicted and cached anew; the new one has its own entry in the queue.
          waiting.getData().release();
        }
      }
      if (device.isWritable()) {
        write(held, metaBuff);
      } else {
        held.forEach(this::drop);
      }
    } finally {
      held.forEach(entry -> entry.getData().release());
    }
  }

  private void drop(RAMQueueEntry entry) {
    device.bypassedInserts.increment();
    removeFromRamCache(entry.getKey());
  }

  /** Evicts files first that no region has read for a day. */
  @Override
  void freeSpace(String why) {
    if (online != null) {
      evictOrphans(System.nanoTime());
    }
    super.freeSpace(why);
  }

  void evictOrphans(long nowNanos) {
    List<OrphanFiles.File> files = new ArrayList<>();
    metrics.stored().files().forEach(file -> files.add(() -> file));
    orphanFiles.add(orphans.drop(name, files, online, true, nowNanos,
      file -> evictBlocksByHfileName(file.name())));
  }

  /** Writes blocks and puts them into the map. */
  void write(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
    super.doDrain(entries, metaBuff);
  }

  @Override
  protected void putIntoBackingMap(BlockCacheKey key, BucketEntry bucketEntry) {
    // This has to be done before the entry can be evicted.
    onInsert(key, bucketEntry);
    bucketEntry.access(insertions.incrementAndGet());
    // Until a block is read from this tier, it may displace only other cold blocks: see freeSpace.
    bucketEntry.enterCold();
    EntryAccesses.onInsert(key, bucketEntry);
    metrics.countInsertion(bucketEntry);
    super.putIntoBackingMap(key, bucketEntry);
  }

  /**
   * Puts a copy of a block into the map that another tier has counted already. The superclass is
   * not called, since it would count the block for its region again.
   * @return false if the key is in the map already; the caller frees the entry then
   */
  final boolean putCopyIntoBackingMap(BlockCacheKey key, BucketEntry entry) {
    onInsert(key, entry);
    boolean absent = false;
    try {
      absent = backingMap.putIfAbsent(key, entry) == null;
    } finally {
      if (!absent) {
        metrics.onRemove(key, entry);
      }
    }
    if (absent) {
      blocksByHFile.add(key);
      metrics.countInsertion(entry);
    }
    return absent;
  }

  /** Evicts a copy of a data block unless it is being read, or is not in the map any more. */
  final boolean evictCopy(BlockCacheKey key) {
    BucketEntry entry = backingMap.get(key);
    return entry != null && evictCopy(key, entry);
  }

  /** Evicts a copy. The thread that removes it from the map does so, hence without a lock. */
  final boolean evictCopy(BlockCacheKey key, BucketEntry entry) {
    if (entry.metaBlock || entry.isRpcRef() || !backingMap.remove(key, entry)) {
      return false;
    }
    blockEvicted(key, entry, false, true);
    return true;
  }

  private void onInsert(BlockCacheKey key, BucketEntry entry) {
    // The entry has the type, since the block may be evicted by a key of another type.
    entry.metaBlock = isMetaBlock(key.getBlockType());
    metrics.onInsert(key, entry);
  }

  @Override
  void blockEvicted(BlockCacheKey key, BucketEntry bucketEntry, boolean fileIncomplete,
    boolean evictedByEvictionProcess) {
    super.blockEvicted(key, bucketEntry, fileIncomplete, evictedByEvictionProcess);
    // The superclass's constructor validates the persisted map; its blocks are counted later.
    if (metrics != null) {
      metrics.onRemove(key, bucketEntry);
    }
  }

  @Override
  public long getMetaBlockCount() {
    return metrics.stored().getMetaCount();
  }

  @Override
  public long getMetaBlockSize() {
    return metrics.stored().getMetaBytes();
  }

  /** Returns the blocks stored, and those that still wait to be written. */
  @Override
  public long getBlockCount() {
    // The counter of the superclass is wrong after a block was evicted while another was cached
    // under its key.
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
  public void forEachMetric(MetricKind.Visitor visitor) {
    metrics.forEach(this, visitor);
    device.forEachMetric(visitor);
    if (orphans != null) {
      visitor.visit(MetricKind.COUNTER, "OrphanFileCount", orphanFiles::sum);
    }
  }

  /**
   * The superclass has one flag for all caches of the process, which tells the persister of each
   * that there is something to write. A tier that is not persisted does not set it.
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
