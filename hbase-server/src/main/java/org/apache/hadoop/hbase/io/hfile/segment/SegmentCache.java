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
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockCacheUtil;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.CacheTier;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.StoredBlocks;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.io.hfile.bucket.RecoveredEntryAllocator;
import org.apache.hadoop.hbase.regionserver.DataTieringManager;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.multiget.SharedReads;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cache tier on devices for hundreds of millions of blocks: what is stored lies in large segments
 * ({@link SegmentStore}), and a block costs its slot in an index outside the heap
 * ({@link SegmentIndex}) and nothing else.
 * <p>
 * What differs from a bucket cache, for those who use it:
 * <ul>
 * <li>A block can be read when {@link #cacheBlock} returns, and nothing of the caller's is kept: no
 * queue, no reference. A block that is read is a copy of its own, so an eviction never waits for a
 * reader.</li>
 * <li>A block that is there already is not replaced: blocks of a file do not change.</li>
 * <li>Evicting a file takes its name out; what it had on the devices is freed in the background.
 * </li>
 * <li>A restart keeps the blocks: by a snapshot after a stop in good order, and else by what the
 * segments themselves say, in the background. Nobody waits for either.</li>
 * <li>Only {@link HFileBlock}s are taken.</li>
 * </ul>
 * Thread-safe. A failing device or an entry that is not what was written is a miss; no lookup and
 * no insertion throws.
 */
@InterfaceAudience.Private
public final class SegmentCache implements CacheTier, RecoveredEntryAllocator.Reader {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCache.class);

  private static final long SWEEP_RETRY_MS = 100;
  /** How long what a dropped file has left waits for a device to log that. */
  private static final long MAX_LOG_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final long ORPHANS_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int DEFAULT_WAIT_MS = 0;

  /** Says to those who share reads that there is nothing to share. */
  private static final IOException NOT_THERE = new NotThere();

  private final String name;
  private final String engine;
  private final CachedFiles files = new CachedFiles();
  /** Null if files of no region are kept. */
  private final Map<String, HRegion> onlineRegions;
  private final OrphanFiles orphans;
  private final SegmentIndex index;
  private final IndexedBlocks blocks;
  private final SegmentStore store;
  private final SegmentStoreMetrics metrics;
  /** Null if there is no place for it. */
  private final SegmentSnapshot snapshot;
  private final CacheStats stats = new Stats();
  private final BlockingQueue<Sweep> dropped = new LinkedBlockingQueue<>();
  private final Thread sweeper;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final boolean restored;
  private volatile ByteBuffAllocator allocator = ByteBuffAllocator.HEAP;
  private volatile long waitNanos;
  private final SharedReads.BlockReader<Place> reader = new BatchReader();

  /** Thrown in one thread only to be caught in it, and so without a trace. */
  private static final class NotThere extends IOException {
    private static final long serialVersionUID = 1L;

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }

  /** Counts as evicted what went because its segment was reclaimed. */
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
   * @param tierName short name for logs and threads, as L2
   * @param ioEngine the engine as it was configured, for an operator
   * @param settings checked settings
   * @param conf     for what may be changed later
   * @throws IOException if none of the devices can be used
   */
  public SegmentCache(String tierName, String ioEngine, SegmentCacheSettings settings,
    Configuration conf) throws IOException {
    this(tierName, ioEngine, settings, conf, FileSegmentDevice.OPENER);
  }

  /**
   * As the other.
   * @param onlineRegions by encoded name, as they change; if null, files of no region are kept
   */
  public SegmentCache(String tierName, String ioEngine, SegmentCacheSettings settings,
    Configuration conf, Map<String, HRegion> onlineRegions) throws IOException {
    this(tierName, ioEngine, settings, conf, onlineRegions, FileSegmentDevice.OPENER);
  }

  SegmentCache(String tierName, String ioEngine, SegmentCacheSettings settings,
    Configuration conf, SegmentDevice.Opener opener) throws IOException {
    this(tierName, ioEngine, settings, conf, null, opener);
  }

  private SegmentCache(String tierName, String ioEngine, SegmentCacheSettings settings,
    Configuration conf, Map<String, HRegion> regions, SegmentDevice.Opener opener)
    throws IOException {
    onlineRegions = regions;
    orphans = new OrphanFiles(settings.orphanGraceNanos());
    name = tierName;
    engine = ioEngine;
    index = new SegmentIndex(settings.expectedBlocks(),
      PagePool.withReserve(settings.maxIndexBytes()));
    blocks = new IndexedBlocks(files, index);
    store = SegmentStore.open(settings.store(), blocks, opener);
    metrics = store.metrics();
    blocks.onFreed(store::freed);
    snapshot = settings.snapshot() == null ? null : new SegmentSnapshot(settings.snapshot());
    restored = restore();
    waitNanos = waitNanos(conf);
    store.setInMemoryShare(SegmentCacheSettings.inMemoryShare(conf));
    files.dropped().forEach(file -> dropped.add(new Sweep(file, null)));
    store.start(name);
    sweeper = daemon(this::sweep, name + "-SegmentSweeper");
    sweeper.start();
    LOG.info("{} tier: {} MB in {} segments of {} MB on {}; {}", name, store.capacity() >> 20,
      store.segmentCount(), store.segmentSize() >> 20, engine,
      restored ? files.getBlockCount() + " blocks in " + files.getFileCount() + " files are back"
        : "looking for blocks in the segments");
  }

  private static Thread daemon(Runnable task, String threadName) {
    Thread thread = new Thread(task, threadName);
    thread.setDaemon(true);
    return thread;
  }

  private boolean restore() {
    if (snapshot == null) {
      return false;
    }
    try {
      return snapshot.read(files, index, store);
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} tier: the snapshot of {} cannot be used; the segments are read instead", name,
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
    if (!allocator.isReservoirEnabled()) {
      allocator = pool;
    }
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
    CachedFile file =
      block instanceof HFileBlock ? files.acquire(key.getHfileName()) : null;
    boolean stored = false;
    if (file != null) {
      try {
        stored = isStored(file, key) || insert(file, key, block, inMemory, waitWhenCache);
      } finally {
        file.release();
      }
    }
    if (!stored) {
      stats.failInsert();
    }
  }

  private boolean isStored(CachedFile file, BlockCacheKey key) {
    long location = index.get(file.id(), key.getOffset());
    return Location.isPresent(location) && store.isReadable(location);
  }

  private boolean insert(CachedFile file, BlockCacheKey key, Cacheable block, boolean inMemory,
    boolean waits) {
    noteRegion(file, key);
    int kind =
      Location.categoryOf(block.getBlockType()) | (inMemory ? Location.IN_MEMORY : 0);
    try {
      return store.insert(file, key.getOffset(), block, kind, kindOf(key, waits),
        waits ? waitNanos : 0);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Those who offer to wait are a prefetch, which reads the block by its file's path, and the
   * writer of a file, which only says its name.
   */
  private static InsertionKind kindOf(BlockCacheKey key, boolean waits) {
    if (!waits) {
      return InsertionKind.READ;
    }
    return key.getFilePath() == null ? InsertionKind.WRITE : InsertionKind.PREFETCH;
  }

  /** What is recovered from segments is of no region until somebody comes with a path. */
  private static void noteRegion(CachedFile file, BlockCacheKey key) {
    if (file.getRegion() == null && key.getFilePath() != null) {
      file.setRegion(regionOf(key.getFilePath()));
    }
  }

  /** A file is in the directory of its family, and that in the region's. */
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
    Cacheable block = file == null ? null : read(file, key, wanted);
    if (block == null) {
      file = referredTo(key);
      block = file == null ? null : read(file, key, wanted);
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

  /** The file that a reference or a link stands for, null if none or if nothing of it is stored. */
  private CachedFile referredTo(BlockCacheKey key) {
    String hfileName = key.getHfileName();
    // A look at the name spares nearly all keys the regular expression.
    return hfileName.indexOf('.') < 0 || !StoreFileInfo.isReference(hfileName)
      ? null
      : files.get(StoreFileInfo.getReferredToRegionAndFile(hfileName).getSecond());
  }

  private Cacheable read(CachedFile file, BlockCacheKey key, boolean wanted) {
    long offset = key.getOffset();
    long location = index.get(file.id(), offset);
    while (Location.isPresent(location)) {
      Cacheable block = readOnce(new Place(file, offset, location));
      if (block != null) {
        if (wanted) {
          index.touch(file.id(), offset, location);
        }
        return block;
      }
      long now = index.get(file.id(), offset);
      if (Location.isPresent(now) && Location.isSamePlace(now, location)) {
        return null;
      }
      // Written again elsewhere since.
      location = now;
    }
    return null;
  }

  /**
   * Where a block is, and equal for the same block: what is read is the same wherever it is, since
   * blocks of a file do not change.
   */
  private static final class Place {
    private final CachedFile file;
    private final long offset;
    private final long location;

    Place(CachedFile file, long offset, long location) {
      this.file = file;
      this.offset = offset;
      this.location = location;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Place && ((Place) other).file == file
        && ((Place) other).offset == offset;
    }

    @Override
    public int hashCode() {
      return 31 * file.id() + Long.hashCode(offset);
    }
  }

  /** Reads a block, once for all gets of a batch that want it; null if it cannot be had. */
  private Cacheable readOnce(Place place) {
    try {
      return SharedReads.read(place, reader);
    } catch (IOException e) {
      return null;
    }
  }

  /** Reads for the gets of a batch. */
  private final class BatchReader implements SharedReads.NeighbourReader<Place> {
    @Override
    public Cacheable read(Place place) throws IOException {
      return orNotThere(store.read(place.file, place.offset, place.location, allocator));
    }

    @Override
    public Cacheable readWithNext(Place place, BiConsumer<Place, Cacheable> others)
      throws IOException {
      CachedFile file = place.file;
      return orNotThere(store.readWithNext(file, place.offset, place.location, allocator,
        new SegmentReader.Neighbours() {
          @Override
          public long locate(long offset) {
            return index.get(file.id(), offset);
          }

          @Override
          public void accept(long offset, long location, Cacheable block) {
            others.accept(new Place(file, offset, location), block);
          }
        }));
    }

    /** Equal to where the next block is looked for, which knows the location. */
    @Override
    public Place next(Place place, Cacheable block) {
      return new Place(place.file,
        place.offset + ((HFileBlock) block).getOnDiskSizeWithHeader(), Location.ABSENT);
    }

    private Cacheable orNotThere(Cacheable block) throws IOException {
      if (block == null) {
        throw NOT_THERE;
      }
      return block;
    }
  }

  @Override
  public boolean evictBlock(BlockCacheKey key) {
    // What a stop leaves is for the next process.
    return !closed.get() && blocks.evict(key.getHfileName(), key.getOffset());
  }

  @Override
  public int evictBlocksByHfileName(String hfileName) {
    if (closed.get()) {
      return 0;
    }
    Tombstone tombstone = store.dropped().dropping(hfileName);
    CachedFile file;
    try {
      file = blocks.drop(hfileName);
    } finally {
      store.dropped().dropped(tombstone);
    }
    if (file == null) {
      return 0;
    }
    dropped.add(new Sweep(file, tombstone));
    return (int) Math.min(Integer.MAX_VALUE, file.droppedBlockCount());
  }

  @Override
  public int evictBlocksRangeByHfileName(String hfileName, long initOffset, long endOffset) {
    return closed.get() ? 0 : blocks.evictRange(hfileName, initOffset, endOffset);
  }

  /** A file that was dropped, and what has its devices know that. */
  private static final class Sweep {
    private final CachedFile file;
    /** Null if a former process has logged it. */
    private final Tombstone tombstone;
    private final long start = System.nanoTime();

    Sweep(CachedFile file, Tombstone tombstone) {
      this.file = file;
      this.tombstone = tombstone;
    }
  }

  /** Whether what a file has left can be freed: the devices know that it was dropped. */
  private boolean isDue(Sweep sweep) {
    return sweep.tombstone == null || store.dropped().isLogged(sweep.tombstone)
      || System.nanoTime() - sweep.start > MAX_LOG_WAIT_NANOS;
  }

  /** Drops the files that no region reads any more, those of regions elsewhere when it is full. */
  synchronized void dropOrphans(long nowNanos) {
    if (onlineRegions == null) {
      return;
    }
    try {
      List<CachedFile> due = orphans.look(files.live(), OnlineFiles.of(onlineRegions.values()),
        !store.hasSpareSegments(), nowNanos);
      long blockCount = 0;
      for (CachedFile file : due) {
        blockCount += evictBlocksByHfileName(file.name());
      }
      if (!due.isEmpty()) {
        metrics.orphanFiles.add(due.size());
        LOG.info("{} tier: dropped {} files that no region reads, with {} blocks", name,
          due.size(), blockCount);
      }
    } catch (RuntimeException e) {
      // Of a region that is being closed, for instance; the next look is soon.
      LOG.warn("{} tier: files of no region could not be looked for", name, e);
    }
  }

  /** What the background thread does: frees what dropped files have left. */
  private void sweep() {
    long nextOrphans = System.nanoTime() + ORPHANS_INTERVAL_NANOS;
    long nextLog = System.nanoTime() + LOG_INTERVAL_NANOS;
    try {
      while (!closed.get()) {
        Sweep sweep = dropped.poll(10, TimeUnit.SECONDS);
        if (sweep != null && !(isDue(sweep) && blocks.sweep(sweep.file))) {
          // Somebody is inserting a block of it, or a device logs it, and will have done so soon.
          TimeUnit.MILLISECONDS.sleep(SWEEP_RETRY_MS);
          dropped.add(sweep);
        }
        if (System.nanoTime() - nextOrphans > 0) {
          dropOrphans(System.nanoTime());
          nextOrphans = System.nanoTime() + ORPHANS_INTERVAL_NANOS;
        }
        if (System.nanoTime() - nextLog > 0) {
          nextLog += LOG_INTERVAL_NANOS;
          logStats();
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("{} tier: the sweeper ends", name);
    }
  }

  @Override
  public CacheStats getStats() {
    return stats;
  }

  /**
   * Writes what is in memory to the devices, and a snapshot of the index beside them, and closes
   * them.
   */
  @Override
  public void shutdown() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    sweeper.interrupt();
    boolean interrupted = false;
    try {
      sweeper.join(TimeUnit.SECONDS.toMillis(10));
    } catch (InterruptedException e) {
      interrupted = true;
    }
    store.stop();
    if (snapshot != null) {
      try {
        snapshot.write(files, index, store);
      } catch (IOException | RuntimeException e) {
        LOG.warn("{} tier: no snapshot of {} could be written; the next start reads the segments",
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

  /** A block of the index, as far as it knows. */
  private static final class StoredBlock implements CachedBlock {
    private final String hfileName;
    private final long offset;
    private final long location;

    StoredBlock(String hfileName, long offset, long location) {
      this.hfileName = hfileName;
      this.offset = offset;
      this.location = location;
    }

    @Override
    public BlockPriority getBlockPriority() {
      return Location.isInMemory(location) ? BlockPriority.MEMORY
        : Location.access(location) == 0 ? BlockPriority.SINGLE : BlockPriority.MULTI;
    }

    @Override
    public BlockType getBlockType() {
      return typeOf(location);
    }

    @Override
    public long getOffset() {
      return offset;
    }

    @Override
    public long getSize() {
      return Location.length(location);
    }

    /** Not known. */
    @Override
    public long getCachedTime() {
      return 0;
    }

    @Override
    public String getFilename() {
      return hfileName;
    }

    @Override
    public int compareTo(CachedBlock other) {
      int byName = hfileName.compareTo(other.getFilename());
      return byName != 0 ? byName : Long.compare(offset, other.getOffset());
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof CachedBlock && compareTo((CachedBlock) other) == 0;
    }

    @Override
    public int hashCode() {
      return hfileName.hashCode() * 127 + Long.hashCode(offset);
    }

    @Override
    public String toString() {
      return BlockCacheUtil.toString(this, System.nanoTime());
    }
  }

  /** One type of those that count as what the block does. */
  private static BlockType typeOf(long location) {
    switch (Location.categoryOf(Location.category(location))) {
      case DATA:
        return BlockType.DATA;
      case INDEX:
        return BlockType.LEAF_INDEX;
      case BLOOM:
        return BlockType.BLOOM_CHUNK;
      default:
        return BlockType.META;
    }
  }

  /** Returns the blocks, of which no more are held at a time than a small part of the index has. */
  @Override
  public Iterator<CachedBlock> iterator() {
    return new Iterator<CachedBlock>() {
      private int partition;
      private Iterator<CachedBlock> some = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        while (!some.hasNext() && partition < index.getPartitionCount()) {
          List<CachedBlock> next = new ArrayList<>();
          index.forEachIn(partition++, (id, offset, location) -> {
            CachedFile file = files.byId(id);
            if (file != null && file.isLive()) {
              next.add(new StoredBlock(file.name(), offset, location));
            }
          });
          some = next.iterator();
        }
        return some.hasNext();
      }

      @Override
      public CachedBlock next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return some.next();
      }
    };
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

  /** Whether the block can be stored for which no other has to go. */
  @Override
  public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
    return Optional.of(!closed.get() && fits(block));
  }

  private boolean fits(Cacheable block) {
    int length = block.getSerializedLength();
    return store.accepts(length) && files.getByteCount() + length <= store.usableBytes();
  }

  @Override
  public Optional<Boolean> shouldCacheFile(HFileInfo hFileInfo, Configuration conf) {
    DataTieringManager tiering = DataTieringManager.getInstance();
    return Optional.of((tiering == null || tiering.isHotData(hFileInfo, conf))
      && !files.getFullyCached().containsKey(hFileInfo.getHFileContext().getHFileName()));
  }

  @Override
  public Optional<Boolean> shouldCacheBlock(BlockCacheKey key, long maxTimestamp,
    Configuration conf) {
    DataTieringManager tiering = DataTieringManager.getInstance();
    return Optional.of(tiering == null || tiering.isHotData(maxTimestamp, conf));
  }

  @Override
  public Optional<Boolean> isAlreadyCached(BlockCacheKey key) {
    return Optional.of(fileOf(key) != null);
  }

  /** Returns the file under which a block is stored, the one it refers to if not its own. */
  private CachedFile fileOf(BlockCacheKey key) {
    CachedFile file = files.get(key.getHfileName());
    if (file != null && isStored(file, key)) {
      return file;
    }
    file = referredTo(key);
    return file != null && isStored(file, key) ? file : null;
  }

  /** Reads from the device, if not the block. */
  @Override
  public Optional<Integer> getBlockSize(BlockCacheKey key) {
    CachedFile file = closed.get() ? null : fileOf(key);
    if (file == null) {
      return Optional.empty();
    }
    long location = index.get(file.id(), key.getOffset());
    int size = Location.isPresent(location)
      ? store.readBlockSize(file, key.getOffset(), location)
      : -1;
    return size < 0 ? Optional.empty() : Optional.of(size);
  }

  @Override
  public Optional<Map<String, Pair<String, Long>>> getFullyCachedFiles() {
    return Optional.of(files.getFullyCached());
  }

  @Override
  public Optional<Map<String, Long>> getRegionCachedInfo() {
    return Optional.of(files.getRegionBytes());
  }

  /** Refuses bad settings before it changes anything. */
  @Override
  public void onConfigurationChange(Configuration conf) {
    long writeLimit = SegmentCacheSettings.writeLimit(conf);
    double rewriteShare = SegmentCacheSettings.rewriteShare(conf);
    store.setWriteLimit(writeLimit);
    store.setRewriteShare(rewriteShare);
    waitNanos = waitNanos(conf);
  }

  @Override
  public boolean containsBlock(BlockCacheKey key) {
    CachedFile file = files.get(key.getHfileName());
    return file != null && isStored(file, key);
  }

  @Override
  public boolean accepts(Cacheable block) {
    return block instanceof HFileBlock && store.accepts(block.getSerializedLength());
  }

  @Override
  public boolean hasRoomFor(Cacheable block) {
    return !closed.get() && fits(block) && store.hasRoom(InsertionKind.READ);
  }

  @Override
  public boolean hasSpareSpace() {
    return !closed.get() && store.hasSpareSegments();
  }

  @Override
  public boolean awaitInsertion(BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    return store.awaitRoom(InsertionKind.PREFETCH, timeoutNanos);
  }

  @Override
  public void forEachBlockOf(String hfileName, Consumer<BlockCacheKey> visitor) {
    CachedFile file = files.get(hfileName);
    if (file != null) {
      index.forEachOf(file.id(), 0, file.largestOffset(), (id, offset, location) -> visitor
        .accept(new BlockCacheKey(hfileName, offset, true, typeOf(location))));
    }
  }

  /** A reader has a copy and holds nothing. */
  @Override
  public int getRpcRefCount(BlockCacheKey key) {
    return 0;
  }

  @Override
  public void forEachFile(StoredBlocks.FileVisitor visitor) {
    files.forEachFile(visitor);
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
  public void forEachGauge(BiConsumer<String, LongSupplier> gauges) {
    gauges.accept("Capacity", this::getMaxSize);
    gauges.accept("Used", this::getCurrentSize);
    gauges.accept("MetaBlockCount", this::getMetaBlockCount);
    gauges.accept("MetaBlockSize", this::getMetaBlockSize);
    accept(gauges, "Index", BlockCategory.INDEX);
    accept(gauges, "Bloom", BlockCategory.BLOOM);
    accept(gauges, "Data", BlockCategory.DATA);
    gauges.accept("HitCount", stats::getHitCount);
    gauges.accept("MissCount", stats::getMissCount);
    gauges.accept("InsertedBlockCount", metrics.insertions::sum);
    gauges.accept("WrittenBytes", metrics.writtenBytes::sum);
    gauges.accept("EvictedBlockCount", metrics.blocksReclaimed::sum);
    gauges.accept("RefusedInsertCount", stats::getFailedInserts);
    gauges.accept("ChecksumFailureCount", metrics.badEntries::sum);
    gauges.accept("IoErrorCount", () -> metrics.readErrors.sum() + metrics.writeErrors.sum());
    gauges.accept("UnreadableEntryCount", metrics.unreadableEntries::sum);
    gauges.accept("BypassedReadCount", metrics.bypassedReads::sum);
    // As for one device: in use, or left alone; here by how many of them.
    gauges.accept("DeviceState", () -> store.bypassedDevices() == 0 ? 0 : 1);
    gauges.accept("BypassedDeviceCount", store::bypassedDevices);
    gauges.accept("ReadOnlyDeviceCount", store::readOnlyDevices);
    gauges.accept("FileCount", files::getFileCount);
    gauges.accept("DroppedBlockCount", files::getDroppedBlockCount);
    gauges.accept("IndexBytes", index::getOffHeapBytes);
    gauges.accept("IndexMaxBytes", index::getMaxOffHeapBytes);
    gauges.accept("IndexFullInsertCount", index::getRefusedCount);
    gauges.accept("BufferBytes", store::bufferBytes);
    gauges.accept("SegmentCount", store::segmentCount);
    gauges.accept("CleanSegmentCount", store::cleanSegments);
    gauges.accept("RetiredSegmentCount", () -> store.table().retiredCount());
    gauges.accept("UnwrittenSegmentCount", () -> store.table().unwrittenCount());
    gauges.accept("WaitingSegmentCount", store::pending);
    gauges.accept("InMemoryBytes", files::getInMemoryBytes);
    gauges.accept("InsertedBytes", metrics.insertedBytes::sum);
    gauges.accept("DeviceWriteCount", metrics.writes::sum);
    gauges.accept("DeviceWriteMeanBytes", metrics::meanWriteBytes);
    gauges.accept("DeviceSyncCount", metrics.syncs::sum);
    gauges.accept("DeviceSyncMs", () -> TimeUnit.NANOSECONDS.toMillis(metrics.syncNanos.sum()));
    gauges.accept("WriteAmplificationPercent",
      () -> Math.round(100 * metrics.writeAmplification()));
    gauges.accept("UnfitBlockCount", metrics.unfit::sum);
    gauges.accept("RefusedReadInsertCount", metrics.refusals(InsertionKind.READ)::sum);
    gauges.accept("RefusedPrefetchInsertCount", metrics.refusals(InsertionKind.PREFETCH)::sum);
    gauges.accept("RefusedWriteInsertCount", metrics.refusals(InsertionKind.WRITE)::sum);
    gauges.accept("StaleReadCount", metrics.staleReads::sum);
    gauges.accept("MemoryReadCount", metrics.memoryReads::sum);
    gauges.accept("JoinedReadCount", metrics.joinedReads::sum);
    gauges.accept("ReclaimedSegmentCount", metrics.segmentsReclaimed::sum);
    gauges.accept("RewrittenBlockCount", metrics.blocksRewritten::sum);
    gauges.accept("RewrittenBytes", metrics.bytesRewritten::sum);
    gauges.accept("LostSegmentCount", metrics.segmentsNotWritten::sum);
    gauges.accept("FoundSegmentCount", metrics.segmentsFound::sum);
    gauges.accept("RecoveredSegmentCount", metrics.segmentsRecovered::sum);
    gauges.accept("RecoveredBlockCount", metrics.blocksRecovered::sum);
    gauges.accept("DeadBlockCount", metrics.deadBlocksFound::sum);
    gauges.accept("OrphanFileCount", metrics.orphanFiles::sum);
    gauges.accept("TombstoneCount", metrics.tombstones::sum);
    gauges.accept("OverwrittenTombstoneCount", metrics.overwrittenTombstones::sum);
    gauges.accept("BadSegmentCount", metrics.badSegments::sum);
  }

  private void accept(BiConsumer<String, LongSupplier> gauges, String type,
    BlockCategory category) {
    gauges.accept(type + "BlockCount", () -> files.getBlockCount(category));
    gauges.accept(type + "BlockSize", () -> files.getByteCount(category));
  }

  private void logStats() {
    LOG.info(
      "{} tier ({}): {} blocks of {} files, {} of {} MB, hits={}, misses={}, insertions={}, "
        + "refused={}, index={} of {} MB, refused by index={}, written={} MB, "
        + "write amplification={}, reclaimed blocks={}, rewritten={}, "
        + "bad entries={}, bypassed devices={}",
      name, engine, getBlockCount(), files.getFileCount(), getCurrentSize() >> 20,
      getMaxSize() >> 20, stats.getHitCount(), stats.getMissCount(), metrics.insertions,
      stats.getFailedInserts(), index.getOffHeapBytes() >> 20, index.getMaxOffHeapBytes() >> 20,
      index.getRefusedCount(), metrics.writtenBytes.sum() >> 20,
      String.format("%.2f", metrics.writeAmplification()), metrics.blocksReclaimed,
      metrics.blocksRewritten, metrics.badEntries, store.bypassedDevices());
  }

  /** Whether the blocks of the former process were known at once, by a snapshot. */
  boolean isRestored() {
    return restored;
  }

  /** Whether blocks of a former process may still be found in the segments. */
  boolean isRecovering() {
    return !store.isRecovered();
  }

  /** Returns how many segments wait to be written. */
  int pending() {
    return store.pending();
  }

  SegmentStoreMetrics metrics() {
    return metrics;
  }

  SegmentIndex index() {
    return index;
  }

  CachedFiles files() {
    return files;
  }
}
