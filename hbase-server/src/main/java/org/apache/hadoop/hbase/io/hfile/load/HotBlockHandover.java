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
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheAccesses;
import org.apache.hadoop.hbase.io.hfile.bucket.EntryAccesses;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.io.hfile.load.HandoverMetrics.Count;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hand-over of hot blocks of one compaction, or of one flush, whose inputs are the files that
 * the store has. When a data block of an output ends, the blocks of the inputs that cover its keys
 * are looked up in the cache. If one of them was accessed since it was cached, the output's block
 * is cached as one that was accessed as often as the hottest of them.
 * <p>
 * <b>Peak.</b> Inputs are evicted only after the commit, which may fail. Until then, the cached
 * blocks of the outputs take no more than the settings leave beside those of the inputs. Hot blocks
 * beyond that are noted; after the commit the inputs are evicted, and the noted blocks are read
 * from the outputs and cached. A flush leaves them out, as it replaces no file.
 * <p>
 * A compaction creates its writers, writes, commits and opens its files in one thread, which is the
 * only one that uses this object. Between {@link #begin} and {@link #end} it is the thread's
 * {@link #current}. No insertion waits.
 */
@InterfaceAudience.Private
public final class HotBlockHandover {
  private static final Logger LOG = LoggerFactory.getLogger(HotBlockHandover.class);

  /** How long a block waits after the commit for the cache's writers, which are slower. */
  private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);
  /** How long all blocks of a compaction wait for them, which other compactions wait for. */
  private static final long MAX_WAITS_NANOS = TimeUnit.MINUTES.toNanos(1);

  private static final ThreadLocal<HotBlockHandover> CURRENT = new ThreadLocal<>();

  private final Configuration conf;
  private final CacheConfig cacheConf;
  private final BlockCache blockCache;
  private final HotBlockCache cache;
  private final HandoverMetrics metrics = HandoverMetrics.get();
  private final List<InputFile> inputs = new ArrayList<>();
  private final Map<String, OutputFile> outputs = new LinkedHashMap<>();
  /** Whether the inputs are replaced, so that what does not fit beside them can follow. */
  private final boolean isCompaction;
  /** Bytes that the inputs' blocks take in the beginning. */
  private final long inputBytes;
  private final PeakLimit limit;
  private boolean expectationKnown;
  private boolean committed;
  private boolean failed;
  /** The files that a committed compaction wrote. */
  private Collection<HFile.Reader> newFiles = Collections.emptyList();
  private Predicate<HFile.Reader> replaced;
  private BooleanSupplier stopped;
  private long waitLeft = MAX_WAITS_NANOS;

  private HotBlockHandover(Configuration conf, CacheConfig cacheConf, HotBlockCache cache,
    double peakRatio, Collection<HFile.Reader> readers, RegionKeyRange range, long flushedBytes) {
    this.conf = conf;
    this.cacheConf = cacheConf;
    this.blockCache = cacheConf.getBlockCache().get();
    this.cache = cache;
    this.isCompaction = flushedBytes == 0;
    long bytes = 0;
    long length = 0;
    for (HFile.Reader reader : readers) {
      InputFile input = new InputFile(reader, range, cache);
      bytes += input.cachedBytes();
      length += isCompaction ? input.length() : 0;
      inputs.add(input);
    }
    inputBytes = bytes;
    limit = new PeakLimit(bytes, peakRatio, isCompaction ? length : flushedBytes);
  }

  /**
   * Begins the hand-over of a compaction or a flush by this thread, if the settings enable it, the
   * family's data is cached on reads, and the cache counts accesses. {@link #end} must follow in
   * any case.
   * @param conf         of the store
   * @param readers      of the files to be compacted; of all files of the store for a flush, as
   *                     their heat tells which of the flushed rows are read
   * @param range        of the region
   * @param flushedBytes about the length of the file that a flush writes, 0 for a compaction
   */
  public static void begin(Configuration conf, CacheConfig cacheConf,
    Collection<HFile.Reader> readers, RegionKeyRange range, long flushedBytes) {
    CURRENT.remove();
    HandoverSettings settings = HandoverSettings.of(conf);
    BlockCache blockCache = cacheConf.getBlockCache().orElse(null);
    if (!settings.isEnabled() || blockCache == null || !cacheConf.shouldCacheDataOnRead()) {
      return;
    }
    HotBlockCache cache = BucketCacheAccesses.of(blockCache);
    if (cache != null) {
      EntryAccesses.countReadMisses();
      CURRENT.set(new HotBlockHandover(conf, cacheConf, cache, settings.peakRatio(), readers, range,
        flushedBytes));
    }
  }

  /** Returns the hand-over of this thread's compaction or flush, null if there is none. */
  static HotBlockHandover current() {
    return CURRENT.get();
  }

  /** Returns whether this thread writes files, and hands hot blocks over to them. */
  public static boolean isCurrent() {
    return CURRENT.get() != null;
  }

  /**
   * The new files are in use: {@link #end} hands over the blocks that were left for after the
   * commit. Does nothing without a hand-over.
   * @param files    readers of the new files
   * @param replaced whether a file has been compacted to another one meanwhile
   * @param stopped  whether the hand-over is to end; both are called before each read
   */
  public static void committed(Collection<HFile.Reader> files, Predicate<HFile.Reader> replaced,
    BooleanSupplier stopped) {
    HotBlockHandover handover = CURRENT.get();
    if (handover != null) {
      handover.committed = true;
      handover.newFiles = files;
      handover.replaced = replaced;
      handover.stopped = stopped;
    }
  }

  /**
   * The files of a flush are complete. The blocks of others that this thread began to write, in
   * attempts that failed, are evicted. Does nothing without a hand-over.
   * @param names of the files that are complete
   */
  public static void flushed(Collection<String> names) {
    HotBlockHandover handover = CURRENT.get();
    if (handover != null) {
      handover.committed = true;
      handover.outputs.keySet().stream().filter(name -> !names.contains(name))
        .forEach(handover.blockCache::evictBlocksByHfileName);
    }
  }

  /**
   * Ends this thread's hand-over, after the blocks that were left for after the commit. Unless it
   * was committed, the outputs' blocks are evicted.
   */
  public static void end() {
    HotBlockHandover handover = CURRENT.get();
    if (handover == null) {
      return;
    }
    try {
      handover.handOverDeferred();
    } finally {
      CURRENT.remove();
    }
    handover.metrics.count(handover.ending());
    if (!handover.committed) {
      handover.outputs.keySet().forEach(handover.blockCache::evictBlocksByHfileName);
    }
  }

  private Count ending() {
    if (isCompaction) {
      return committed ? Count.CompactionCount : Count.AbortedCompactionCount;
    }
    return committed ? Count.FlushCount : Count.AbortedFlushCount;
  }

  /** Returns whether a block of the inputs was cached in the beginning. */
  boolean isAnythingCached() {
    return inputBytes > 0;
  }

  void addOutput(String name, OutputFile output) {
    outputs.put(name, output);
  }

  /**
   * Returns how often the hottest block of a range of keys was accessed. Counts the range if it is
   * cold.
   * @return 0 if it is cold, and if that failed once: then the compaction continues without a
   *         hand-over
   */
  int accesses(Cell first, Cell last) {
    if (failed) {
      return 0;
    }
    int accesses;
    try {
      accesses = InputFile.accesses(inputs, first, last, true);
    } catch (RuntimeException e) {
      LOG.warn("The rest of {} is written without a hand-over of hot blocks", outputs.keySet(), e);
      failed = true;
      return 0;
    }
    if (accesses == 0) {
      metrics.count(inputs.stream().anyMatch(InputFile::isUnknown)
        ? Count.UnknownIndexBlockCount
        : Count.ColdBlockCount);
    }
    return accesses;
  }

  /** Returns whether L1 has one of the blocks that {@link #accesses} has just found. */
  boolean isInL1() {
    return inputs.stream().anyMatch(InputFile::isInL1);
  }

  /** Notes that a data block was written, hot or not. */
  void onWritten(int onDiskSize, int length) {
    limit.onWritten(onDiskSize, cache.bytesFor(length));
  }

  /**
   * Returns whether a hot block of about this length in bytes is cached before the commit. Counts
   * it if it is not cached after it either.
   */
  boolean admits(int accesses, int length) {
    boolean admits = cache.hasSpareSpaceFor(length) || isWithinLimit(accesses, length);
    if (!admits && !isCompaction) {
      metrics.count(Count.LimitBlockCount);
    }
    return admits;
  }

  private boolean isWithinLimit(int accesses, int length) {
    // A flush is short beside the files that the store has, whose whole index that would cost.
    if (!expectationKnown && isCompaction) {
      expectationKnown = true;
      try {
        inputs.stream().max(Comparator.comparingLong(InputFile::length))
          .ifPresent(this::expectLike);
      } catch (RuntimeException e) {
        LOG.warn("It is not known how many blocks of {} are hot", outputs.keySet(), e);
      }
    }
    return limit.admits(accesses, cache.bytesFor(length));
  }

  /**
   * Expects an output block for each block of the largest input. A block of the output begins and
   * ends elsewhere, thus two of them are asked at a time, and what the other inputs have there.
   */
  private void expectLike(InputFile largest) {
    List<InputFile> all = inputs.stream().map(InputFile::startOver).collect(Collectors.toList());
    InputFile blocks = largest.startOver();
    blocks.forEachBlock(offset -> limit.expect(blocks.accessesOfBlock(all, true)));
  }

  /** Caches a hot block, or counts why not. Returns whether it is cached. */
  boolean cacheHot(BlockCacheKey key, HFileBlock block, boolean inMemory, int accesses,
    boolean inL1) {
    int bytes = cache.bytesFor(block.getSerializedLength());
    if (!cache.cacheHot(key, block, inMemory, accesses)) {
      metrics.count(Count.QueueFullBlockCount);
      return false;
    }
    limit.onCached(accesses, bytes);
    metrics.count(Count.L2BlockCount, Count.L2Bytes, bytes);
    if (inL1 && cache.copyToL1(key, block, accesses)) {
      metrics.count(Count.L1BlockCount, Count.L1Bytes, bytes);
    }
    return true;
  }

  /**
   * Returns the data blocks of a bulk-loaded file whose keys other files have hot blocks of. Reads
   * the block index of the loaded file, and caches it; of the others it takes what is in memory.
   * @param range  of the region
   * @param cache  that has the blocks of the other files
   * @param others the files that the store had before
   * @throws IOException if the index cannot be read, as when the region was closed
   */
  public static HotBlockMap hotBlocksOf(HFile.Reader loaded, RegionKeyRange range,
    HotBlockCache cache, Collection<HFile.Reader> others) throws IOException {
    HotBlockMap hot = new HotBlockMap(HotBlockMap.MIN_SHIFT);
    List<InputFile> inputs = others.stream().map(other -> new InputFile(other, range, cache))
      .collect(Collectors.toList());
    InputFile blocks = new InputFile(loaded, range, cache,
      (offset, leaf) -> InputFile.readIndexBlock(loaded, offset, leaf));
    try {
      blocks.forEachBlock(offset -> {
        if (blocks.accessesOfBlock(inputs, false) > 0) {
          hot.add(offset);
        }
      });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    return hot;
  }

  private void handOverDeferred() {
    if (
      newFiles.isEmpty()
        || outputs.values().stream().allMatch(output -> output.deferred().count() == 0)
    ) {
      return;
    }
    // New scanners do not read them any more. Their blocks go first, and would go anyway.
    for (InputFile input : inputs) {
      input.evictFrom(blockCache);
    }
    long[] deferred = new long[HotBlockCache.MAX_ACCESSES + 1];
    outputs.values().forEach(output -> output.deferred().addTo(deferred));
    limit.onInputsEvicted(deferred);
    for (HFile.Reader file : newFiles) {
      OutputFile output = outputs.get(file.getName());
      if (
        output != null
          && cacheConf.shouldCacheBlockOnRead(BlockCategory.DATA, file.getHFileInfo(), conf)
      ) {
        try {
          handOver(file, output.deferred());
        } catch (IOException e) {
          LOG.info("Cannot read the hot blocks of {}: {}", file.getName(), e.toString());
        } finally {
          file.unbufferStream();
        }
        if (replaced.test(file)) {
          // Its close may have been before some of the insertions.
          blockCache.evictBlocksByHfileName(file.getName());
        }
      }
    }
  }

  /** Reads the file in one sweep: a reader that needs a hot block sooner reads and caches it. */
  private void handOver(HFile.Reader file, DeferredBlocks blocks) throws IOException {
    for (int i = 0; i < blocks.count(); i++) {
      if (stopped.getAsBoolean() || replaced.test(file)) {
        return;
      }
      // The key has the path, so that the cache counts the block for its region.
      BlockCacheKey key =
        new BlockCacheKey(file.getPath(), blocks.offset(i), true, BlockType.DATA);
      if (cache.accesses(key) != HotBlockCache.NOT_CACHED) {
        continue;
      }
      // Its size in the cache is at least the one in the file, except for headers.
      if (
        limit.isTooCold(blocks.accesses(i)) && !cache.hasSpareSpaceFor(blocks.onDiskSize(i))
      ) {
        metrics.count(Count.LimitBlockCount);
        continue;
      }
      if (!awaitWriters(key)) {
        metrics.count(Count.QueueFullBlockCount, blocks.count() - i);
        return;
      }
      HFileBlock block = read(file, blocks.offset(i), blocks.onDiskSize(i));
      try {
        int bytes = cache.bytesFor(block.getSerializedLength());
        if (
          !limit.admits(blocks.accesses(i), bytes)
            && !cache.hasSpareSpaceFor(block.getSerializedLength())
        ) {
          metrics.count(Count.LimitBlockCount);
        } else if (
          cacheHot(key, block, cacheConf.isInMemory(), blocks.accesses(i), blocks.isInL1(i))
        ) {
          metrics.count(Count.DeferredBlockCount, Count.DeferredBytes, bytes);
        }
      } finally {
        block.release();
      }
    }
  }

  /** Returns false if the cache's writers are too slow or none, or this thread is to end. */
  private boolean awaitWriters(BlockCacheKey key) {
    long start = System.nanoTime();
    try {
      boolean room = cache.awaitInsertion(key, Math.min(MAX_WAIT_NANOS, Math.max(0, waitLeft)));
      waitLeft -= System.nanoTime() - start;
      return room;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Reads a block as it is cached, without looking it up or inserting it. Reads go forward through
   * the file as a stream, whereas each positional read would be a request to HDFS.
   */
  private static HFileBlock read(HFile.Reader file, long offset, int onDiskSize)
    throws IOException {
    return file.readBlock(offset, onDiskSize, false, false, true, false, BlockType.DATA, null,
      true);
  }
}
