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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.io.hfile.bucket.RecoveredEntryAllocator;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.io.hfile.composite.OrphanFiles;
import org.apache.hadoop.hbase.io.hfile.segment.device.EntryTrailer;
import org.apache.hadoop.hbase.io.hfile.segment.device.FileSegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.IndexedBlockIterator;
import org.apache.hadoop.hbase.io.hfile.segment.index.IndexedBlocks;
import org.apache.hadoop.hbase.io.hfile.segment.index.PagePool;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentIndex;
import org.apache.hadoop.hbase.io.hfile.segment.recovery.FileSweeper;
import org.apache.hadoop.hbase.io.hfile.segment.recovery.SegmentSnapshot;
import org.apache.hadoop.hbase.io.hfile.segment.store.InsertSource;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentCacheGauges;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentStore;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentStoreMetrics;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cache tier on devices for hundreds of millions of blocks. Blocks are stored in large segments
 * ({@link SegmentStore}); the only memory that a block needs is its slot in an off-heap index
 * ({@link SegmentIndex}).
 * <p>
 * Differences from a bucket cache, for callers:
 * <ul>
 * <li>A block can be read as soon as {@link #cacheBlock} returns, and the caller's block is not
 * retained: there is no queue and no reference. A block that is read is a copy of its own, so an
 * eviction never waits for a reader.</li>
 * <li>A block that is stored already is not replaced: blocks of a file do not change.</li>
 * <li>Evicting a file removes its name; its space on the devices is freed in the background.</li>
 * <li>A restart keeps the blocks: by a snapshot after a clean stop, and otherwise by a recovery
 * from the segments, in the background. No request waits for either.</li>
 * <li>Only {@link HFileBlock}s are accepted.</li>
 * </ul>
 * Longer than 500 lines because of the two interfaces, most methods of which are a line here.
 * Thread-safe. A failing device or a damaged entry causes a miss; no lookup and no insertion
 * throws.
 */
@InterfaceAudience.Private
public final class SegmentCache implements CacheTier, RecoveredEntryAllocator.Reader {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCache.class);

  private static final int DEFAULT_WAIT_MS = 0;

  private final String name;
  private final String engine;
  private final CachedFiles files = new CachedFiles();
  private final SegmentIndex index;
  private final IndexedBlocks blocks;
  private final SegmentStore store;
  private final SegmentStoreMetrics metrics;
  /** Null if there is no path for it. */
  private final SegmentSnapshot snapshot;
  private final CacheStats stats = new Stats();
  /** Null if it is not known which files are read and which are hot. */
  private final OnlineFiles online;
  private final SegmentCacheGauges gauges;
  private final FileSweeper sweeper;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final boolean restored;
  private volatile long waitNanos;
  private final IndexedBlockReads reads;

  /** Counts the blocks of reclaimed segments as evicted. */
  private final class Stats extends CacheStats {
    Stats() {
      super("SegmentCache");
    }

    @Override
    public long getEvictedCount() {
      return metrics.blocksReclaimed.sum();
    }

    @Override
    public long getEvictionCount() {
      return metrics.segmentsReclaimed.sum();
    }
  }

  /**
   * @param tierName short name for logs and threads, such as L2
   * @param ioEngine the configured engine, for display to operators
   * @param settings checked settings
   * @param conf     for settings that may be changed at runtime
   * @throws IOException if none of the devices can be used
   */
  public SegmentCache(String tierName, String ioEngine, SegmentCacheSettings settings,
    Configuration conf) throws IOException {
    this(tierName, ioEngine, settings, conf, FileSegmentDevice.OPENER);
  }

  /**
   * @param online null if files that no region reads are kept
   * @throws IOException if none of the devices can be used
   */
  public SegmentCache(String tierName, String ioEngine, SegmentCacheSettings settings,
    Configuration conf, OnlineFiles online) throws IOException {
    this(tierName, ioEngine, settings, conf, online, FileSegmentDevice.OPENER);
  }

  public SegmentCache(String tierName, String ioEngine, SegmentCacheSettings settings,
    Configuration conf, SegmentDevice.Opener opener) throws IOException {
    this(tierName, ioEngine, settings, conf, null, opener);
  }

  SegmentCache(String tierName, String ioEngine, SegmentCacheSettings settings,
    Configuration conf, OnlineFiles online, SegmentDevice.Opener opener)
    throws IOException {
    name = tierName;
    engine = ioEngine;
    this.online = online;
    index = new SegmentIndex(settings.expectedBlocks(),
      PagePool.withReserve(settings.maxIndexBytes()));
    blocks = new IndexedBlocks(files, index);
    store = SegmentStore.open(settings.store(), blocks, opener);
    metrics = store.metrics();
    reads = new IndexedBlockReads(index, store);
    gauges = new SegmentCacheGauges(files, index, store, stats);
    blocks.onFreed(store::freed);
    snapshot = settings.snapshot() == null ? null : new SegmentSnapshot(settings.snapshot());
    restored = restore();
    waitNanos = waitNanos(conf);
    store.setInMemoryShare(SegmentCacheSettings.inMemoryShare(conf));
    sweeper = new FileSweeper(name, blocks, store, files,
      new OrphanFiles(settings.orphanGraceNanos()), online);
    blocks.onReclaim(sweeper::isFreeingOrphans);
    store.start(name);
    sweeper.start(() -> gauges.log(name, engine));
    LOG.info("{} tier: {} MB in {} segments of {} MB on {}; {}", name, store.capacity() >> 20,
      store.segmentCount(), store.segmentSize() >> 20, engine,
      restored ? files.getBlockCount() + " blocks in " + files.getFileCount() + " files restored"
        : "recovering blocks from the segments");
  }

  private boolean restore() {
    if (snapshot == null) {
      return false;
    }
    try {
      return snapshot.read(files, index, store);
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} tier: cannot use the snapshot of {}; recovering from the segments", name,
        engine, e);
      return false;
    }
  }

  private static long waitNanos(Configuration conf) {
    return TimeUnit.MILLISECONDS
      .toNanos(conf.getLong(BucketCache.QUEUE_ADDITION_WAIT_TIME, DEFAULT_WAIT_MS));
  }

  @Override
  public void useAllocator(ByteBuffAllocator pool) {
    reads.useAllocator(pool);
  }

  @Override
  public void cacheBlock(BlockCacheKey key, Cacheable block) {
    cacheBlock(key, block, false);
  }

  @Override
  public void cacheBlock(BlockCacheKey key, Cacheable block, boolean inMemory) {
    cacheBlock(key, block, inMemory, false);
  }

  @Override
  public void cacheBlock(BlockCacheKey key, Cacheable block, boolean inMemory,
    boolean waitWhenCache) {
    if (closed.get()) {
      return;
    }
    if (key.getBlockType() == null && block.getBlockType() != null) {
      key.setBlockType(block.getBlockType());
    }
    store(key, block, inMemory, kindOf(key, waitWhenCache), waitWhenCache ? waitNanos : 0, 0);
  }

  /**
   * Inserts a block unless it is stored.
   * @param accesses how many requests for it to count
   * @return whether it is stored
   */
  private boolean store(BlockCacheKey key, Cacheable block, boolean inMemory,
    InsertSource source, long nanos, int accesses) {
    CachedFile file =
      block instanceof HFileBlock ? files.acquire(key.getHfileName()) : null;
    boolean stored = false;
    if (file != null) {
      try {
        stored = isStored(file, key) || insert(file, key, block, inMemory, source, nanos);
        blocks.touch(file, key.getOffset(), accesses);
      } finally {
        file.release();
      }
    }
    if (!stored) {
      stats.failInsert();
    }
    return stored;
  }

  /** @param file may be null */
  private boolean isStored(CachedFile file, BlockCacheKey key) {
    long location = file == null ? Location.ABSENT : index.get(file.id(), key.getOffset());
    return Location.isPresent(location) && store.isReadable(location);
  }

  private boolean insert(CachedFile file, BlockCacheKey key, Cacheable block, boolean inMemory,
    InsertSource source, long nanos) {
    noteRegion(file, key);
    int kind =
      Location.categoryOf(block.getBlockType()) | (inMemory ? Location.IN_MEMORY : 0);
    try {
      return store.insert(file, key.getOffset(), block, kind, source, nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Returns the source of an insertion. The callers that accept a wait are a prefetch, which has
   * the path of the file, and the writer of a file, which has only its name.
   */
  private static InsertSource kindOf(BlockCacheKey key, boolean waits) {
    if (!waits) {
      return InsertSource.READ;
    }
    return key.getFilePath() == null ? InsertSource.WRITE : InsertSource.PREFETCH;
  }

  /**
   * Records the region of a file when a key with a path is seen: files recovered from segments have
   * no known region.
   */
  private static void noteRegion(CachedFile file, BlockCacheKey key) {
    if (file.getRegion() == null && key.getFilePath() != null) {
      file.setRegion(regionOf(key.getFilePath()));
    }
  }

  /** Returns the region of a file: the parent of its family's directory. */
  private static String regionOf(Path path) {
    Path family = path.getParent();
    Path region = family == null ? null : family.getParent();
    return region == null || region.getName().isEmpty() ? null : region.getName();
  }

  @Override
  public Cacheable getBlock(BlockCacheKey key, boolean caching, boolean repeat,
    boolean updateCacheMetrics) {
    if (closed.get()) {
      return null;
    }
    boolean wanted = caching && updateCacheMetrics;
    CachedFile file = files.get(key.getHfileName());
    Cacheable block = file == null ? null : reads.read(file, key.getOffset(), wanted);
    if (block == null) {
      file = referredTo(key);
      block = file == null ? null : reads.read(file, key.getOffset(), wanted);
    } else {
      noteRegion(file, key);
    }
    if (updateCacheMetrics) {
      if (block != null) {
        stats.hit(caching, key.isPrimary(), key.getBlockType());
      } else if (!repeat) {
        stats.miss(caching, key.isPrimary(), key.getBlockType());
      }
    }
    return block;
  }

  /**
   * Returns the file that a reference or a link points to; null if none or if no block of it is
   * stored.
   */
  private CachedFile referredTo(BlockCacheKey key) {
    String file = ReferredFile.of(key.getHfileName());
    return file == null ? null : files.get(file);
  }

  @Override
  public int accesses(BlockCacheKey key) {
    int accesses = blocks.accesses(key.getHfileName(), key.getOffset());
    String referredTo = accesses == NOT_CACHED ? ReferredFile.of(key.getHfileName()) : null;
    return referredTo == null ? accesses : blocks.accesses(referredTo, key.getOffset());
  }

  /** Returns null: all blocks are on devices. */
  @Override
  public HFileBlock peek(BlockCacheKey key) {
    return null;
  }

  @Override
  public long cachedBytes(String hfileName) {
    CachedFile file = files.get(hfileName);
    return file == null ? 0 : file.byteCount();
  }

  @Override
  public int bytesFor(int serializedLength) {
    return EntryTrailer.entryLength(serializedLength);
  }

  @Override
  public boolean cacheHot(BlockCacheKey key, Cacheable block, boolean inMemory, int accesses) {
    return !closed.get() && store(key, block, inMemory, InsertSource.WRITE, 0, accesses);
  }

  @Override
  public boolean evictBlock(BlockCacheKey key) {
    // After a stop, the stored blocks belong to the next process.
    return !closed.get() && blocks.evict(key.getHfileName(), key.getOffset());
  }

  @Override
  public int evictBlocksByHfileName(String hfileName) {
    return closed.get() ? 0 : (int) Math.min(Integer.MAX_VALUE, sweeper.drop(hfileName));
  }

  @Override
  public int evictBlocksRangeByHfileName(String hfileName, long initOffset, long endOffset) {
    return closed.get() ? 0 : blocks.evictRange(hfileName, initOffset, endOffset);
  }

  @Override
  public CacheStats getStats() {
    return stats;
  }

  /**
   * Writes the segments in memory to the devices, and a snapshot of the index beside them, and
   * closes the devices.
   */
  @Override
  public void shutdown() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    boolean interrupted = sweeper.stop();
    store.stop();
    if (snapshot != null) {
      try {
        snapshot.write(files, index, store);
      } catch (IOException | RuntimeException e) {
        LOG.warn("{} tier: cannot write a snapshot of {}; the next start reads the segments",
          name, engine, e);
      }
    }
    store.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public long size() {
    return store.capacity();
  }

  @Override
  public long getMaxSize() {
    return store.capacity();
  }

  @Override
  public long getFreeSize() {
    return Math.max(0, store.capacity() - files.getByteCount());
  }

  @Override
  public long getCurrentSize() {
    return files.getByteCount();
  }

  @Override
  public long getCurrentDataSize() {
    return files.getByteCount(BlockCategory.DATA);
  }

  @Override
  public long getBlockCount() {
    return files.getBlockCount();
  }

  @Override
  public long getDataBlockCount() {
    return files.getBlockCount(BlockCategory.DATA);
  }

  @Override
  public long getMetaBlockCount() {
    return files.getBlockCount() - files.getBlockCount(BlockCategory.DATA);
  }

  @Override
  public long getMetaBlockSize() {
    return files.getByteCount() - files.getByteCount(BlockCategory.DATA);
  }

  /** Returns an iterator over the blocks, which holds only a small part of the index at a time. */
  @Override
  public Iterator<CachedBlock> iterator() {
    return new IndexedBlockIterator(index, files);
  }

  @Override
  public BlockCache[] getBlockCaches() {
    return null;
  }

  @Override
  public void notifyFileCachingCompleted(Path fileName, int totalBlockCount, int dataBlockCount,
    long size) {
    CachedFile file = files.get(fileName.getName());
    if (file != null && file.fullyCached(dataBlockCount, regionOf(fileName), size)) {
      store.keep(new CompleteFile(file.name(), dataBlockCount, size));
    } else {
      LOG.info("{} tier: {} has {} data blocks, of which {} are stored", name, fileName,
        dataBlockCount, file == null ? 0 : file.dataBlockCount());
    }
  }

  /** Returns whether the block can be stored without an eviction. */
  @Override
  public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
    return Optional.of(!closed.get() && fits(block));
  }

  private boolean fits(Cacheable block) {
    int length = block.getSerializedLength();
    return store.fits(length) && files.getByteCount() + length <= store.usableBytes();
  }

  @Override
  public Optional<Boolean> shouldCacheFile(HFileInfo hFileInfo, Configuration conf) {
    return Optional.of((online == null || online.isHot(hFileInfo, conf))
      && !files.getFullyCached().containsKey(hFileInfo.getHFileContext().getHFileName()));
  }

  @Override
  public Optional<Boolean> shouldCacheBlock(BlockCacheKey key, long maxTimestamp,
    Configuration conf) {
    return Optional.of(online == null || online.isHot(maxTimestamp, conf));
  }

  @Override
  public Optional<Boolean> isAlreadyCached(BlockCacheKey key) {
    return Optional.of(containsBlock(key) || isStored(referredTo(key), key));
  }

  @Override
  public Optional<Map<String, Pair<String, Long>>> getFullyCachedFiles() {
    return Optional.of(files.getFullyCached());
  }

  @Override
  public Optional<Map<String, Long>> getRegionCachedInfo() {
    return Optional.of(files.getRegionBytes());
  }

  @Override
  public void checkConfiguration(Configuration conf) {
    SegmentCacheSettings.writeLimit(conf);
    SegmentCacheSettings.rewriteShare(conf);
    waitNanos(conf);
  }

  @Override
  public void onConfigurationChange(Configuration conf) {
    checkConfiguration(conf);
    store.setWriteLimit(SegmentCacheSettings.writeLimit(conf));
    store.setRewriteShare(SegmentCacheSettings.rewriteShare(conf));
    waitNanos = waitNanos(conf);
  }

  @Override
  public boolean containsBlock(BlockCacheKey key) {
    return isStored(files.get(key.getHfileName()), key);
  }

  @Override
  public boolean hasSpaceFor(Cacheable block) {
    return !closed.get() && fits(block) && store.hasSpace(InsertSource.READ);
  }

  @Override
  public boolean hasSpareSpace() {
    return !closed.get() && store.hasSpareSegments();
  }

  @Override
  public boolean hasSpareSpaceFor(int serializedLength) {
    return hasSpareSpace();
  }

  @Override
  public boolean awaitInsertion(BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    return store.awaitSpace(InsertSource.PREFETCH, timeoutNanos);
  }

  /** It is inserted as by a read, which is refused first. */
  @Override
  public boolean awaitVictimInsertion(BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    return store.awaitSpace(InsertSource.READ, timeoutNanos);
  }

  @Override
  public void forEachBlockOf(String hfileName, Consumer<BlockCacheKey> visitor) {
    CachedFile file = files.get(hfileName);
    if (file != null) {
      index.forEachOf(file.id(), 0, file.maxOffset(), (id, offset, location) -> visitor
        .accept(new BlockCacheKey(hfileName, offset, true, IndexedBlockIterator.typeOf(location))));
    }
  }

  /** Returns 0: a reader has a copy and holds no reference. */
  @Override
  public int getRpcRefCount(BlockCacheKey key) {
    return 0;
  }

  @Override
  public boolean isInMemory() {
    return false;
  }

  @Override
  public String getIoEngine() {
    return engine;
  }

  @Override
  public void forEachMetric(MetricKind.Visitor visitor) {
    gauges.forEach(visitor);
  }

  /** Returns whether the blocks of the former process were restored from a snapshot. */
  boolean isRestored() {
    return restored;
  }

  /** Returns whether the recovery of blocks of a former process is still running. */
  boolean isRecovering() {
    return !store.isRecovered();
  }

  /** Returns the number of segments that wait to be written. */
  int pending() {
    return store.pending();
  }

  FileSweeper sweeper() {
    return sweeper;
  }

  public SegmentStoreMetrics metrics() {
    return metrics;
  }

  SegmentIndex index() {
    return index;
  }

  CachedFiles files() {
    return files;
  }
}
