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
package org.apache.hadoop.hbase.io.hfile.load;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockPositions;
import org.apache.hadoop.hbase.io.hfile.BlockPositions.Blocks;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prefetches the blocks of one open file that are not in the block cache: first index and bloom
 * blocks, then data, unless the file is above {@link PrefetchLimit}; of data those blocks first
 * that are known to be hot, or only these.
 * <p>
 * Cached blocks are never read. {@link BlockPositions} has the offset of each block, so a block
 * that is cached, or in a writer queue of the cache, costs one lookup, and a fully cached file
 * costs no read and no open. Index and bloom blocks are read through the file's own reader; a
 * stream is opened only for adjacent data blocks.
 * <p>
 * The unit of scheduling is a phase: {@link #runPhase} performs one and returns whether another is
 * left. {@link #run} performs all. Only one thread at a time may run it; {@link #cancel} and the
 * methods that return its progress are thread-safe. See HBASE-23355.
 */
@InterfaceAudience.Private
public final class FilePrefetch implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(FilePrefetch.class);

  /** Decides when a prefetch may read its next block. Thread-safe: several files have one. */
  @FunctionalInterface
  public interface Pace {
    /**
     * Called before each read from the file system, but not for cached blocks. May wait, but not
     * after {@link FilePrefetch#isCancelled} is true.
     * @param bytes number of bytes to be read, at least 1
     * @throws InterruptedException if the thread is interrupted, which ends its prefetch
     */
    void beforeRead(FilePrefetch file, int bytes) throws InterruptedException;
  }

  private static final Pace NO_LIMIT = (file, bytes) -> {
  };

  /** The phase to be performed next. */
  public enum Phase {
    /** Index, bloom and other meta blocks. */
    META,
    /** Data blocks, and a second check of all blocks. */
    DATA,
    /** None, see {@link #outcome}. */
    DONE
  }

  /** The outcome of a prefetch. */
  public enum Outcome {
    /** All blocks that were to be cached are cached or in a writer queue. */
    COMPLETE,
    /** The cache has no space for all of the data. */
    NO_SPACE,
    /** It was cancelled, or its thread interrupted. */
    CANCELLED,
    /** The file could not be read. */
    FAILED
  }

  private final Path path;
  private final long length;
  private final HFileInfo fileInfo;
  private final CacheConfig cacheConf;
  private final Configuration conf;
  private final BlockCache cache;
  private final BlockPositions positions;
  private final boolean whole;
  /** Whether of the data only hot blocks are prefetched. */
  private final boolean onlyHot;
  private final CachedFileBlocks cached;
  private final PrefetchBlockReader blockReader;

  private final LongAdder plannedBytes = new LongAdder();
  private final LongAdder prefetchedBytes = new LongAdder();
  private final LongAdder prefetchedBlocks = new LongAdder();
  private final LongAdder cachedBytes = new LongAdder();
  private final LongAdder cachedBlocks = new LongAdder();
  private volatile Pace pace = NO_LIMIT;
  private volatile Phase phase = Phase.META;
  private volatile Outcome outcome;
  private volatile boolean cancelled;
  /** The data blocks that come first; null if it is not known. */
  private volatile HotBlockMap hot;

  // Accessed by the thread that runs this prefetch.
  private boolean checking;
  /** The hot blocks of the current pass over the data, null in a pass over all. */
  private HotBlockMap known;
  private boolean hotPass;
  private boolean full;
  private int metaBlocks;
  private int dataBlocks;

  private FilePrefetch(HFile.Reader reader, BlockPositions positions, CacheConfig cacheConf,
    Configuration conf, HotBlockMap onlyThese) {
    this.path = reader.getPath();
    this.fileInfo = reader.getHFileInfo();
    this.length = reader.getContext().getFileSize();
    this.positions = positions;
    this.cacheConf = cacheConf;
    this.conf = conf;
    this.cache = cacheConf.getBlockCache().get();
    this.hot = onlyThese;
    this.onlyHot = onlyThese != null;
    this.whole = !onlyHot && length <= PrefetchLimit.of(conf);
    this.cached = new CachedFileBlocks(cache, reader, cacheConf.isInMemory());
    this.blockReader = new PrefetchBlockReader(reader, cacheConf, conf);
    plannedBytes.add(whole
      ? positions.end()
      : positions.generalBloom().size() + positions.deleteFamilyBloom().size()
        + (positions.indexLevels() > 1 ? positions.root().size() : 0));
    if (onlyHot) {
      plannedBytes.add((long) onlyThese.count() * fileInfo.getHFileContext().getBlocksize());
    }
  }

  /**
   * Plans the prefetch of a file; reads nothing.
   * @param reader    of a file whose load-on-open section has been read; must stay open until the
   *                  prefetch has ended or is cancelled
   * @param cacheConf with a block cache
   * @param conf      of the store
   * @return null if the offsets of the blocks cannot be determined, which is logged
   */
  public static FilePrefetch of(HFile.Reader reader, CacheConfig cacheConf, Configuration conf) {
    return ofHotBlocks(reader, cacheConf, conf, null);
  }

  /**
   * Returns a prefetch like {@link #of} that reads only hot data blocks, however large the file is,
   * and also if others are evicted for them.
   * @param hot null for all data blocks
   */
  public static FilePrefetch ofHotBlocks(HFile.Reader reader, CacheConfig cacheConf,
    Configuration conf, HotBlockMap hot) {
    try {
      return new FilePrefetch(reader, BlockPositions.of(reader), cacheConf, conf, hot);
    } catch (IOException e) {
      LOG.warn("Not prefetched, as its block offsets cannot be determined: {}", reader.getPath(),
        e);
      return null;
    }
  }

  /** Performs all phases from the beginning, and notifies {@link PrefetchExecutor} at the end. */
  @Override
  public void run() {
    phase = Phase.META;
    outcome = null;
    try {
      while (runPhase()) {
        LOG.trace("Next phase of {} is {}", path, phase);
      }
    } finally {
      PrefetchExecutor.complete(path);
    }
  }

  /**
   * Performs the next phase.
   * @return whether there is another one
   */
  public boolean runPhase() {
    Phase next = Phase.DONE;
    Outcome end = Outcome.COMPLETE;
    try {
      if (phase == Phase.META) {
        checking = false;
        prefetchMeta();
        if (wantsData()) {
          next = Phase.DATA;
        }
      } else if (phase == Phase.DATA) {
        prefetchData();
        end = full ? Outcome.NO_SPACE : Outcome.COMPLETE;
      }
    } catch (InterruptedException | InterruptedIOException e) {
      end = Outcome.CANCELLED;
      LOG.debug("Prefetch of {} was cancelled after {} bytes", path, prefetchedBytes);
    } catch (IOException e) {
      // The region was probably closed.
      end = cancelled ? Outcome.CANCELLED : Outcome.FAILED;
      LOG.debug("Prefetch of {} ended after {} bytes", path, prefetchedBytes, e);
    } catch (RuntimeException e) {
      // The cache wraps the interruption of its wait for the writers.
      end = cancelled || e.getCause() instanceof InterruptedException
        ? Outcome.CANCELLED
        : Outcome.FAILED;
      if (end == Outcome.FAILED) {
        LOG.warn("Prefetch of {} ended after {} bytes", path, prefetchedBytes, e);
      }
    } finally {
      if (next == Phase.DONE) {
        blockReader.closeStream();
        outcome = end;
      }
      phase = next;
    }
    return next != Phase.DONE;
  }

  /**
   * Returns whether data blocks must be checked. They need not if the file is known to be fully
   * cached.
   */
  private boolean wantsData() {
    if (!whole && hot == null || positions.root().count() == 0) {
      return false;
    }
    if (cached.isFullyCached(false)) {
      cachedBytes.add(Math.max(0, positions.end() - prefetchedBytes.sum() - cachedBytes.sum()));
      return false;
    }
    return cacheConf.shouldCacheBlockOnRead(BlockCategory.DATA, fileInfo, conf);
  }

  private void prefetchMeta() throws IOException, InterruptedException {
    metaBlocks = 0;
    prefetchIndex(positions.root(), positions.indexLevels() - 1);
    prefetchAll(positions.generalBloom(), BlockType.BLOOM_CHUNK);
    prefetchAll(positions.deleteFamilyBloom(), BlockType.BLOOM_CHUNK);
    if (whole) {
      prefetchAll(positions.meta(), BlockType.META);
    }
  }

  /**
   * @param levels the number of levels of index blocks from these on; with 0 these are data blocks
   */
  private void prefetchIndex(Blocks blocks, int levels) throws IOException, InterruptedException {
    if (levels == 1) {
      prefetchAll(blocks, BlockType.LEAF_INDEX);
    } else if (levels > 1) {
      prefetchAll(blocks, BlockType.INTERMEDIATE_INDEX);
      for (int i = 0; i < blocks.count(); i++) {
        Blocks next = below(blocks, i, BlockType.INTERMEDIATE_INDEX);
        if (!whole) {
          plannedBytes.add(next.size());
        }
        prefetchIndex(next, levels - 1);
      }
    }
  }

  private void prefetchAll(Blocks blocks, BlockType type) throws IOException, InterruptedException {
    metaBlocks += blocks.count();
    for (int i = 0; i < blocks.count(); i++) {
      checkCancelled();
      long offset = blocks.offset(i);
      int size = blocks.size(i);
      if (cached.contains(offset, type) || takeOver(offset, type)) {
        countCached(size);
        continue;
      }
      pace.beforeRead(this, size);
      // The read goes through the cache, so that a concurrent get of the block does not read it
      // again.
      blockReader.readMeta(offset, size, type).release();
      takeBackIfCancelled(offset, type);
      countPrefetched(size);
    }
  }

  /** Returns the blocks below an index block, which is cached unless it was evicted meanwhile. */
  private Blocks below(Blocks blocks, int i, BlockType type)
    throws IOException, InterruptedException {
    checkCancelled();
    HFileBlock block = blockReader.readMeta(blocks.offset(i), blocks.size(i), type);
    try {
      takeBackIfCancelled(blocks.offset(i), type);
      return BlockPositions.below(block);
    } finally {
      block.release();
    }
  }

  /** Returns whether the cache has a block now since it had that of the referenced file. */
  private boolean takeOver(long offset, BlockType type) {
    if (!cached.insertReferenced(offset, type)) {
      return false;
    }
    takeBackIfCancelled(offset, type);
    return cached.contains(offset, type);
  }

  private void prefetchData() throws IOException, InterruptedException {
    full = false;
    blockReader.startDataScan();
    // The statistics are those of the tier for data blocks, since L1 may evict all the time.
    CacheStats stats = BucketCache.getBucketCacheFromCacheConfig(cacheConf)
      .map(BucketCache::getStats).orElseGet(cache::getStats);
    long evicted = stats.getEvictedCount();
    long refused = stats.getFailedInserts();
    known = hot;
    if (known != null) {
      hotPass = true;
      prefetchDataOnce();
      if (refused != stats.getFailedInserts()) {
        checking = true;
        prefetchDataOnce();
        checking = false;
      }
      hotPass = false;
    }
    if (!whole) {
      return;
    }
    prefetchDataOnce();
    known = null;
    if (
      !full && !isKnownWhole() && evicted == stats.getEvictedCount()
        && refused != stats.getFailedInserts()
    ) {
      // Blocks were refused by a full queue. If any were evicted instead, there is no space, and
      // caching some again would evict others, or they were evicted deliberately. A block that its
      // writer could not write is not retried: it is too large, or the device fails.
      checking = true;
      prefetchMeta();
      if (prefetchDataOnce() > 0 && !full) {
        isKnownWhole();
      }
    }
  }

  /** Returns the number of data blocks that were not cached. */
  private int prefetchDataOnce() throws IOException, InterruptedException {
    dataBlocks = 0;
    return prefetchData(positions.root(), positions.indexLevels() - 1);
  }

  private int prefetchData(Blocks blocks, int levels) throws IOException, InterruptedException {
    int read = 0;
    for (int i = 0; i < blocks.count() && !full; i++) {
      if (levels > 0) {
        BlockType type = levels == 1 ? BlockType.LEAF_INDEX : BlockType.INTERMEDIATE_INDEX;
        read += prefetchData(below(blocks, i, type), levels - 1);
        continue;
      }
      checkCancelled();
      dataBlocks++;
      if (known != null && known.isHot(blocks.offset(i)) != hotPass) {
        continue;
      }
      if (
        cached.contains(blocks.offset(i), BlockType.DATA)
          || takeOver(blocks.offset(i), BlockType.DATA)
      ) {
        countCached(blocks.size(i));
      } else {
        pace.beforeRead(this, blocks.size(i));
        readData(blocks.offset(i), blocks.size(i));
        read++;
      }
    }
    return read;
  }

  private void readData(long offset, int size) throws IOException {
    HFileBlock block = blockReader.readData(offset, size);
    try {
      // The block itself may still have been cached, as in upstream.
      full = !hotPass && !cacheConf.isInMemory()
        && !cache.blockFitsIntoTheCache(block).orElse(true);
    } finally {
      block.release();
    }
    if (full) {
      LOG.warn("Prefetch of {} stops at offset {}: the cache has no space for {} more bytes", path,
        offset, size);
    }
    takeBackIfCancelled(offset, BlockType.DATA);
    countPrefetched(size);
  }

  /** Returns the duration of the read in progress in nanoseconds; 0 if there is none. */
  long readNanos() {
    return blockReader.readNanos();
  }

  /**
   * Notifies the cache that the prefetch is complete. Returns whether the cache has all data
   * blocks, or cannot determine it.
   */
  private boolean isKnownWhole() {
    cache.notifyFileCachingCompleted(path, metaBlocks + dataBlocks, dataBlocks, positions.end());
    return cached.isFullyCached(true);
  }

  private void checkCancelled() throws InterruptedException {
    if (cancelled || Thread.interrupted()) {
      throw new InterruptedException("Prefetch of " + path + " was cancelled");
    }
  }

  /**
   * Evicts a block inserted by this prefetch if it was cancelled meanwhile. Closing a file first
   * cancels its prefetch and then evicts its blocks: a block inserted before the eviction was
   * evicted with the others, and one inserted after it is found here.
   */
  private void takeBackIfCancelled(long offset, BlockType type) {
    if (cancelled || Thread.currentThread().isInterrupted()) {
      cached.evict(offset, type);
    }
  }

  private void countCached(int size) {
    if (!checking) {
      cachedBytes.add(size);
      cachedBlocks.increment();
    }
  }

  private void countPrefetched(int size) {
    prefetchedBytes.add(size);
    prefetchedBlocks.increment();
  }

  /** Stops the prefetch before the next block. It cannot be run again. */
  public void cancel() {
    cancelled = true;
  }

  public boolean isCancelled() {
    return cancelled;
  }

  /**
   * Prefetches hot blocks before the others, if the data is not being prefetched yet. Of a file
   * that is too large to be prefetched as a whole, it prefetches these alone.
   */
  public void setFirst(HotBlockMap first) {
    if (!onlyHot) {
      hot = first;
      if (!whole) {
        plannedBytes.add((long) first.count() * fileInfo.getHFileContext().getBlocksize());
      }
    }
  }

  /** Makes each read wait for this pace from now on. */
  public void setPace(Pace pace) {
    this.pace = pace;
  }

  public Phase phase() {
    return phase;
  }

  /** Returns the outcome, or null if the prefetch has not ended. */
  public Outcome outcome() {
    return outcome;
  }

  public Path path() {
    return path;
  }

  /** Returns the size of the file in bytes; of a reference, that of the file referred to. */
  public long length() {
    return length;
  }

  /** Returns the creation time of the file, in milliseconds since 1970. */
  public long created() {
    return fileInfo.getHFileContext().getFileCreateTime();
  }

  /** Returns the cache into which the file is prefetched. */
  public BlockCache blockCache() {
    return cache;
  }

  /**
   * Returns whether the other file's blocks have the same keys as those of this one, in the same
   * cache.
   */
  boolean hasBlocksOf(FilePrefetch other) {
    return cache == other.cache && path.getName().equals(other.path.getName());
  }

  /** Returns whether data blocks are prefetched, too. */
  public boolean isWhole() {
    return whole;
  }

  /**
   * Returns the number of bytes that should be cached at the end, including those cached already.
   * If data is not prefetched, it grows while an index of more than two levels is read.
   */
  public long plannedBytes() {
    return plannedBytes.sum();
  }

  /** Returns the on-disk bytes of blocks that were read because they were not cached. */
  public long prefetchedBytes() {
    return prefetchedBytes.sum();
  }

  public long prefetchedBlocks() {
    return prefetchedBlocks.sum();
  }

  /** Returns the on-disk bytes of blocks that were cached or in a writer queue already. */
  public long cachedBytes() {
    return cachedBytes.sum();
  }

  public long cachedBlocks() {
    return cachedBlocks.sum();
  }

  @Override
  public String toString() {
    return path + ": " + (outcome == null ? phase : outcome) + ", " + prefetchedBytes
      + " bytes prefetched, " + cachedBytes + " cached, of " + plannedBytes;
  }
}
