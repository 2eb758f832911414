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
package org.apache.hadoop.hbase.io.hfile.prefetch;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.FSDataInputStreamWrapper;
import org.apache.hadoop.hbase.io.HFileLink;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockPositions;
import org.apache.hadoop.hbase.io.hfile.BlockPositions.Blocks;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.HFileStreamReader;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.ReaderContext;
import org.apache.hadoop.hbase.io.hfile.ReaderContextBuilder;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the blocks of one open file into the block cache that are not in it: first index and bloom
 * blocks, then data, unless the file is above {@link PrefetchLimit}.
 * <p>
 * What is cached is never read. {@link BlockPositions} tells where each block is, so a block found
 * in the cache, or on its way into it, costs a look-up and nothing else, and a file of which all is
 * there costs no read and no open. Index and bloom blocks are read through the file's own reader;
 * a stream is opened only for data blocks that lie together.
 * <p>
 * The unit of scheduling is a phase: {@link #runPhase} does one and says whether another is left.
 * {@link #run} does all. One thread at a time may run it; {@link #cancel} and all that it tells of
 * its progress are for any thread. See HBASE-23355.
 */
@InterfaceAudience.Private
public final class FilePrefetch implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(FilePrefetch.class);

  /** What is to be done next. */
  public enum Phase {
    /** Index, bloom and other meta blocks. */
    META,
    /** Data blocks, and a second look at all. */
    DATA,
    /** Nothing, see {@link #outcome}. */
    DONE
  }

  /** How it ended. */
  public enum Outcome {
    /** All that was to be cached is, or went into a writer queue. */
    COMPLETE,
    /** The cache has no space for all of the data. */
    NO_SPACE,
    /** It was cancelled, or its thread interrupted. */
    CANCELLED,
    /** The file could not be read. */
    FAILED
  }

  /** Up to which gap between two data blocks, in bytes, they are read from one stream. */
  private static final long STREAM_GAP = 1 << 20;

  private final Path path;
  private final long length;
  private final HFile.Reader reader;
  private final HFileInfo fileInfo;
  private final CacheConfig cacheConf;
  private final Configuration conf;
  private final BlockCache cache;
  private final BlockPositions positions;
  private final boolean whole;
  /** The name under which blocks of the file that this refers to are cached, or null. */
  private final String referredTo;

  private final LongAdder plannedBytes = new LongAdder();
  private final LongAdder prefetchedBytes = new LongAdder();
  private final LongAdder prefetchedBlocks = new LongAdder();
  private final LongAdder cachedBytes = new LongAdder();
  private final LongAdder cachedBlocks = new LongAdder();
  private volatile PrefetchPace pace = PrefetchPace.UNLIMITED;
  private volatile Phase phase = Phase.META;
  private volatile Outcome outcome;
  private volatile boolean cancelled;
  private volatile boolean reading;
  /** When the read that is under way has begun. */
  private volatile long readStart;

  // Of the thread that runs it.
  private HFile.Reader stream;
  private long endOfLastRead;
  private boolean checking;
  private boolean full;
  private int metaBlocks;
  private int dataBlocks;

  private FilePrefetch(HFile.Reader reader, BlockPositions positions, CacheConfig cacheConf,
    Configuration conf) {
    this.reader = reader;
    this.path = reader.getPath();
    this.fileInfo = reader.getHFileInfo();
    this.length = reader.getContext().getFileSize();
    this.positions = positions;
    this.cacheConf = cacheConf;
    this.conf = conf;
    this.cache = cacheConf.getBlockCache().get();
    this.whole = length <= PrefetchLimit.of(conf);
    this.referredTo = referredTo(path.getName());
    plannedBytes.add(whole
      ? positions.end()
      : positions.generalBloom().size() + positions.deleteFamilyBloom().size()
        + (positions.indexLevels() > 1 ? positions.root().size() : 0));
  }

  /**
   * Plans the warm-up of a file; reads nothing.
   * @param reader    of a file whose load-on-open section has been read; to stay open until the
   *                  warm-up is over or cancelled
   * @param cacheConf with a block cache
   * @param conf      of the store
   * @return null if only a walk through the whole file would tell where its blocks are
   */
  public static FilePrefetch of(HFile.Reader reader, CacheConfig cacheConf, Configuration conf) {
    try {
      BlockPositions positions = BlockPositions.of(reader);
      if (positions != null) {
        return new FilePrefetch(reader, positions, cacheConf, conf);
      }
    } catch (IOException e) {
      LOG.warn("Cannot tell where the blocks of {} are; all of it will be read to warm it",
        reader.getPath(), e);
    }
    return null;
  }

  private static String referredTo(String name) {
    if (!StoreFileInfo.isReference(name)) {
      return null;
    }
    String file = StoreFileInfo.getReferredToRegionAndFile(name).getSecond();
    return HFileLink.isHFileLink(file) ? HFileLink.getReferencedHFileName(file) : file;
  }

  /** Does all from the beginning, and tells {@link PrefetchExecutor} when it is over. */
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
   * Does the next phase.
   * @return whether there is one more to do
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
      LOG.debug("Warm-up of {} was cancelled after {} bytes", path, prefetchedBytes);
    } catch (IOException e) {
      // Probably because the region was closed.
      end = cancelled ? Outcome.CANCELLED : Outcome.FAILED;
      LOG.debug("Warm-up of {} ended after {} bytes", path, prefetchedBytes, e);
    } catch (RuntimeException e) {
      // The cache wraps the interruption of its wait for the writers.
      end = cancelled || e.getCause() instanceof InterruptedException
        ? Outcome.CANCELLED
        : Outcome.FAILED;
      if (end == Outcome.FAILED) {
        LOG.warn("Warm-up of {} ended after {} bytes", path, prefetchedBytes, e);
      }
    } finally {
      if (next == Phase.DONE) {
        closeStream();
        outcome = end;
      }
      phase = next;
    }
    return next != Phase.DONE;
  }

  /** Whether data is to be looked at. That of a file known to be cached wholly is not. */
  private boolean wantsData() {
    if (!whole || positions.root().count() == 0) {
      return false;
    }
    if (cache.getFullyCachedFiles().map(files -> files.containsKey(path.getName())).orElse(false)) {
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
   * @param levels how many levels of index blocks there are from these on; with 0 these are data
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
      if (isCached(offset, type) || takeOver(offset, type)) {
        countCached(size);
        continue;
      }
      pace.beforeRead(this, size);
      // Through the cache, so that a get that wants the block at this moment does not read it too.
      readMeta(offset, size, type).release();
      takeBackIfCancelled(offset, type);
      countPrefetched(size);
    }
  }

  /** Looks into an index block, which is cached unless it has been dropped since. */
  private Blocks below(Blocks blocks, int i, BlockType type)
    throws IOException, InterruptedException {
    checkCancelled();
    HFileBlock block = readMeta(blocks.offset(i), blocks.size(i), type);
    try {
      takeBackIfCancelled(blocks.offset(i), type);
      return BlockPositions.below(block);
    } finally {
      block.release();
    }
  }

  /**
   * Shares a block that a cache which knows nothing of references has of the file referred to.
   * @return whether there was one
   */
  private boolean takeOver(long offset, BlockType type) {
    if (referredTo == null) {
      return false;
    }
    boolean primary = reader.isPrimaryReplicaReader();
    Cacheable block =
      cache.getBlock(new BlockCacheKey(referredTo, offset, primary, type), true, true, false);
    if (block == null) {
      return false;
    }
    try {
      cache.cacheBlock(new BlockCacheKey(path, offset, primary, type), block,
        cacheConf.isInMemory());
    } finally {
      block.release();
    }
    takeBackIfCancelled(offset, type);
    return isCached(offset, type);
  }

  private boolean isCached(long offset, BlockType type) {
    return cache.isAlreadyCached(
      new BlockCacheKey(path, offset, reader.isPrimaryReplicaReader(), type)).orElse(false);
  }

  private void prefetchData() throws IOException, InterruptedException {
    full = false;
    endOfLastRead = Long.MIN_VALUE / 2;
    // Of the level that data goes to: a first level may have to evict all the time.
    CacheStats stats = BucketCache.getBucketCacheFromCacheConfig(cacheConf)
      .map(BucketCache::getStats).orElseGet(cache::getStats);
    long evicted = stats.getEvictedCount();
    long refused = stats.getFailedInserts();
    prefetchDataOnce();
    if (
      !full && !isKnownWhole() && evicted == stats.getEvictedCount()
        && refused != stats.getFailedInserts()
    ) {
      // Blocks were refused by a full queue. If any were evicted instead, there is no room, and
      // bringing some back would drive out others; or somebody wanted them to go. One that its
      // writer could not write is not tried again: it is too large, or the device fails.
      checking = true;
      prefetchMeta();
      if (prefetchDataOnce() > 0 && !full) {
        isKnownWhole();
      }
    }
  }

  /** Returns how many data blocks were not cached. */
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
      if (
        isCached(blocks.offset(i), BlockType.DATA) || takeOver(blocks.offset(i), BlockType.DATA)
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
    HFileBlock block = readData(sourceOf(offset), offset, size);
    try {
      // The block itself may still have found a place, as in stock.
      full = !cacheConf.isInMemory() && !cache.blockFitsIntoTheCache(block).orElse(true);
    } finally {
      block.release();
    }
    if (full) {
      LOG.warn("Warm-up of {} ends at offset {}: the cache has no space for {} bytes more", path,
        offset, size);
    }
    takeBackIfCancelled(offset, BlockType.DATA);
    endOfLastRead = offset + size;
    countPrefetched(size);
  }

  private HFileBlock readMeta(long offset, int size, BlockType type) throws IOException {
    beginRead();
    try {
      return reader.readBlock(offset, size, true, true, false, false, type, null);
    } finally {
      reading = false;
    }
  }

  private HFileBlock readData(HFile.Reader source, long offset, int size) throws IOException {
    beginRead();
    try {
      return source.readBlock(offset, size, true, source == reader, false, false, BlockType.DATA,
        null, true);
    } finally {
      reading = false;
    }
  }

  private void beginRead() {
    readStart = System.nanoTime();
    reading = true;
  }

  /** Returns for how long the read that is under way has been, in nanoseconds; 0 without one. */
  long readNanos() {
    return reading ? Math.max(0, System.nanoTime() - readStart) : 0;
  }

  /** The file's own reader for single blocks, a stream once they lie together. */
  private HFile.Reader sourceOf(long offset) throws IOException {
    if (stream == null) {
      if (offset - endOfLastRead > STREAM_GAP) {
        return reader;
      }
      ReaderContext context = reader.getContext();
      stream = new HFileStreamReader(ReaderContextBuilder.newBuilder(context)
        .withReaderType(ReaderContext.ReaderType.STREAM)
        .withInputStreamWrapper(new FSDataInputStreamWrapper(context.getFileSystem(),
          context.getInputStreamWrapper().getReaderPath()))
        .build(), fileInfo, cacheConf, conf);
    }
    return stream;
  }

  private void closeStream() {
    if (stream == null) {
      return;
    }
    try {
      stream.close(false);
    } catch (IOException e) {
      LOG.warn("Cannot close the stream that {} was warmed from", path, e);
    }
    stream = null;
  }

  /** Tells the cache that all was done. Returns whether it now has all data, or cannot tell. */
  private boolean isKnownWhole() {
    cache.notifyFileCachingCompleted(path, metaBlocks + dataBlocks, dataBlocks, positions.end());
    return cache.getFullyCachedFiles().map(files -> files.containsKey(path.getName()))
      .orElse(true);
  }

  private void checkCancelled() throws InterruptedException {
    if (cancelled || Thread.interrupted()) {
      throw new InterruptedException("Warm-up of " + path + " was cancelled");
    }
  }

  /**
   * Evicts a block that it has inserted if it was cancelled meanwhile. Whoever closes a file first
   * cancels its warm-up and then evicts its blocks: a block that came in between was evicted with
   * the others, and one that came later is found here.
   */
  private void takeBackIfCancelled(long offset, BlockType type) {
    if (cancelled || Thread.currentThread().isInterrupted()) {
      cache.evictBlock(new BlockCacheKey(path, offset, reader.isPrimaryReplicaReader(), type));
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

  /** Ends it before the next block. It cannot be run again. */
  public void cancel() {
    cancelled = true;
  }

  public boolean isCancelled() {
    return cancelled;
  }

  /** Has each read wait for this from now on. */
  public void setPace(PrefetchPace pace) {
    this.pace = pace;
  }

  public Phase phase() {
    return phase;
  }

  /** Returns how it ended, or null if it has not. */
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

  /** Returns when the file was made, in milliseconds since 1970. */
  public long created() {
    return fileInfo.getHFileContext().getFileCreateTime();
  }

  /** Returns the cache that it is warmed into. */
  public BlockCache blockCache() {
    return cache;
  }

  /** Whether the other's blocks have the same keys as those of this one, in the same cache. */
  boolean hasBlocksOf(FilePrefetch other) {
    return cache == other.cache && path.getName().equals(other.path.getName());
  }

  /** Whether data is to be warmed too. */
  public boolean isWhole() {
    return whole;
  }

  /** Returns the name of the table as its folder gives it, with a namespace other than default. */
  public String table() {
    String name = folder(3);
    String namespace = folder(4);
    return namespace.isEmpty() || namespace.equals(NamespaceDescriptor.DEFAULT_NAMESPACE_NAME_STR)
      ? name
      : namespace + TableName.NAMESPACE_DELIM + name;
  }

  /** Returns the encoded name of the region. */
  public String region() {
    return folder(2);
  }

  public String family() {
    return folder(1);
  }

  private String folder(int above) {
    Path folder = path;
    for (int i = 0; i < above && folder != null; i++) {
      folder = folder.getParent();
    }
    return folder == null ? "" : folder.getName();
  }

  /**
   * Returns how many bytes are to be cached after it, whether they are already or not. Grows while
   * an index of more than two levels is walked, if data is not to be warmed.
   */
  public long plannedBytes() {
    return plannedBytes.sum();
  }

  /** Returns the bytes read, on disk, of blocks that were not cached. */
  public long prefetchedBytes() {
    return prefetchedBytes.sum();
  }

  public long prefetchedBlocks() {
    return prefetchedBlocks.sum();
  }

  /** Returns the bytes, on disk, of blocks that were found cached or on their way there. */
  public long cachedBytes() {
    return cachedBytes.sum();
  }

  public long cachedBlocks() {
    return cachedBlocks.sum();
  }

  @Override
  public String toString() {
    return path + ": " + (outcome == null ? phase : outcome) + ", " + prefetchedBytes
      + " bytes warmed, " + cachedBytes + " cached, of " + plannedBytes;
  }
}
