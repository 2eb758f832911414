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
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.TierBlockCounts;
import org.apache.hadoop.hbase.io.hfile.composite.TierSettings;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.io.netty.util.IllegalReferenceCountException;

/**
 * A {@link BucketCache} as one tier of a
 * {@link org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache}. It knows how many of its
 * blocks are meta blocks, its threads carry the tier's name, and evicting a file also takes the
 * blocks that still wait to be written, which would otherwise arrive after the file is gone and
 * stay.
 * <p>
 * A tier on a device expects it to lie and to fail. What is read must have the sum of what was
 * written ({@link EntryChecksum}), else the block is evicted and the lookup is a miss. A block
 * whose read fails is evicted as well, one whose write fails is dropped, and a device that fails
 * several times in a row is bypassed ({@link DeviceHealth}) until it works again
 * ({@link DeviceProber}): no lookup and no insertion then waits for it or throws.
 */
@InterfaceAudience.Private
public class BucketCacheTier extends BucketCache implements CacheTier {
  private static final Logger LOG = LoggerFactory.getLogger(BucketCacheTier.class);

  /** Of minfactor: an eviction frees somewhat more than that, by extrafreefactor. */
  private static final double SPARE_BELOW = 0.85;

  /** How long to sleep between two looks at a full writer queue. */
  private static final long QUEUE_POLL_NANOS = 200_000;
  private static final BlockType.BlockCategory[] CATEGORIES = BlockType.BlockCategory.values();

  /** How long to be silent after a warning of a block that is lost to the device. */
  private static final long ERROR_LOG_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final String name;
  /** What a block takes, ascending; the largest is the largest block that fits at all. */
  private final int[] bucketSizes;
  private final TierBlockCounts stored = new TierBlockCounts();
  /** What uses are dated by: the blocks put into the map so far. */
  private final AtomicLong insertions;
  private final LongAdder inserted = new LongAdder();
  private final LongAdder writtenBytes = new LongAdder();

  private final String engineName;
  /** Whether entries have sums; not those in the process's own memory. */
  private final boolean summed;
  private final DeviceHealth health;
  private final DeviceProber watch;
  /** Writer threads that may be writing. */
  private final AtomicInteger writing = new AtomicInteger();
  private final LongAdder checksumFailures = new LongAdder();
  private final LongAdder ioErrors = new LongAdder();
  private final LongAdder bypassedReads = new LongAdder();
  private final LongAdder bypassedInserts = new LongAdder();
  private volatile long lastErrorLogged = System.nanoTime() - ERROR_LOG_PAUSE_NANOS;

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
   * @param name short name for logs and threads, as L1
   * @param tier checked settings
   * @throws IOException if the engine cannot be opened
   */
  public BucketCacheTier(String name, TierSettings tier)
    throws IOException {
    super(tier.getIoEngine(), tier.getCapacity(),
      tier.getConfiguration().getInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY,
        HConstants.DEFAULT_BLOCKSIZE),
      tier.getBucketSizes(), tier.getWriterThreads(), tier.getWriterQueueLength(),
      // The superclass would disable itself for good.
      tier.getPersistentPath(), Integer.MAX_VALUE, tier.getConfiguration(), null);
    this.name = name;
    this.engineName = tier.getIoEngine();
    this.summed = tier.isChecksumEnabled() && ioEngine instanceof PersistentIOEngine;
    this.health = new DeviceHealth(tier.getConfiguration().getInt(
      "hbase.bucketcache.ioengine.errors.tolerated.duration", DEFAULT_ERROR_TOLERATION_DURATION),
      System::nanoTime);
    this.watch = new DeviceProber(this, health, tier.getRetryIntervalMs());
    this.bucketSizes = Stream.of(getAllocator().getIndexStatistics())
      .mapToInt(size -> (int) size.itemSize()).toArray();
    for (WriterThread thread : writerThreads) {
      thread.setName(thread.getName().replace("BucketCacheWriter", name + "-BucketCacheWriter"));
    }
    this.blocksByHFile = new FileIndex(backingMap);
    this.insertions = new AtomicLong(
      backingMap.values().stream().mapToLong(BucketEntry::getAccessCounter).max().orElse(0));
    backingMap.forEach(this::restored);
    LOG.info("{} tier: {} on {}, {}", name, getClass().getSimpleName(), getIoEngine(),
      summed ? "with checksums" : "without checksums");
  }

  /** Takes over a block of the persisted map; the thread that validates it may evict it already. */
  private void restored(BlockCacheKey key, BucketEntry entry) {
    entry.withWriteLock(offsetLock, () -> {
      if (backingMap.get(key) == entry) {
        onInsert(key, entry);
      }
      return null;
    });
    if (!summed) {
      entry.checksum = EntryChecksum.NONE;
    } else if (entry.checksum == EntryChecksum.NONE) {
      // Written by a server without sums: nobody can say what its bytes were.
      LOG.debug("{} has no checksum and is dropped", key);
      evictBlock(key);
    }
  }

  @Override
  boolean isCacheEnabled() {
    return super.isCacheEnabled() && health.isWorking();
  }

  @Override
  public Cacheable getBlock(BlockCacheKey key, boolean caching, boolean repeat,
    boolean updateCacheMetrics) {
    if (!super.isCacheEnabled()) {
      return null;
    }
    Cacheable block = null;
    if (health.isWorking()) {
      block = find(key, updateCacheMetrics);
      BlockCacheKey referredTo = block == null ? referredTo(key) : null;
      if (referredTo != null) {
        block = find(referredTo, updateCacheMetrics);
      }
    } else {
      bypassedReads.increment();
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

  /** The key of the block that a reference file's key stands for; null if it stands for itself. */
  private static BlockCacheKey referredTo(BlockCacheKey key) {
    String name = key.getHfileName();
    // A look at the name spares nearly all keys the regular expression.
    return name.indexOf('.') < 0 || !StoreFileInfo.isReference(name)
      ? null
      : new BlockCacheKey(StoreFileInfo.getReferredToRegionAndFile(name).getSecond(),
        key.getOffset());
  }

  private Cacheable find(BlockCacheKey key, boolean counts) {
    BucketEntry entry = backingMap.get(key);
    if (entry == null && !ramCache.isEmpty()) {
      RAMQueueEntry waiting = ramCache.get(key);
      if (waiting != null) {
        return waiting.getData();
      }
      // A block is in the map before it leaves the queue.
      entry = backingMap.get(key);
    }
    return entry == null ? null : read(key, entry, counts);
  }

  /**
   * Reads without a lock. A reader takes a reference to the entry first, which only works while the
   * place is still the block's: it is freed, and can be given to another block, when the last
   * reference is gone, and a count that was zero once stays zero. So whoever got an entry from the
   * map and a reference from the entry reads the right bytes, whatever became of the map meanwhile;
   * and it is not the reader who waits for an eviction, nor the eviction for the reader.
   */
  private Cacheable read(BlockCacheKey key, BucketEntry entry, boolean counts) {
    if (!retainIfAlive(entry)) {
      return null;
    }
    // A block in the process's own memory keeps the reference.
    boolean handedOver = false;
    boolean timed = counts && !ioEngine.usesSharedMemory();
    long start = timed ? System.nanoTime() : 0;
    try {
      Cacheable block = readEntry(entry);
      handedOver = ioEngine.usesSharedMemory();
      if (timed) {
        ((BucketCacheStats) getStats()).ioHit(System.nanoTime() - start);
      }
      used(entry);
      return block;
    } catch (HBaseIOException e) {
      LOG.debug("{} cannot be read from the {} tier and is evicted", key, name, e);
      if (backingMap.remove(key, entry)) {
        blockEvicted(key, entry, true, false);
      }
      return null;
    } catch (IOException e) {
      LOG.debug("{} was not read from the {} tier", key, name, e);
      return null;
    } finally {
      if (!handedOver) {
        entry.release();
      }
    }
  }

  /** Takes a reference to an entry, unless its space was freed. */
  static boolean retainIfAlive(BucketEntry entry) {
    if (entry.refCnt() <= 0) {
      return false;
    }
    try {
      entry.retain();
      return true;
    } catch (IllegalReferenceCountException e) {
      // It died between the two; what was added to the count does not bring it back.
      return false;
    }
  }

  /**
   * Notes that a block was used since the last insertion. The clock stands still while nothing
   * comes, for then nothing has to go either, and the many uses of a hot block write to memory
   * once.
   */
  void used(BucketEntry entry) {
    long now = insertions.get();
    if (entry.getAccessCounter() != now || entry.getPriority() == BlockPriority.SINGLE) {
      entry.access(now);
    }
  }

  /** Moves the clock on, so that blocks used from now on can be told from others. Returns it. */
  long advanceClock() {
    return insertions.incrementAndGet();
  }

  @Override
  protected void cacheBlockWithWaitInternal(BlockCacheKey key, Cacheable block, boolean inMemory,
    boolean wait) {
    if (health.isWorking()) {
      super.cacheBlockWithWaitInternal(key, block, inMemory, wait);
    } else {
      bypassedInserts.increment();
      blockRejected(key, block, inMemory);
    }
  }

  /**
   * Reads what an entry stands for.
   * @throws HBaseIOException if the entry is not worth keeping
   */
  @Override
  Cacheable readEntry(BucketEntry entry) throws IOException {
    int term = health.term();
    IOEngine engine = ioEngine;
    Cacheable block = null;
    boolean read = false;
    try {
      block = readChecked(engine, entry);
      health.readSucceeded();
      read = true;
      return block;
    } catch (ClosedByInterruptException e) {
      // It is the reader who is interrupted; neither device nor block are to blame.
      throw e;
    } catch (IOException | RuntimeException | InternalError e) {
      throw unreadable(e, term);
    } finally {
      if (!read && block != null && !engine.usesSharedMemory()) {
        // A fault of mapped memory that came late.
        block.release();
      }
    }
  }

  /**
   * Reads what an entry stands for; what it throws is the last of it. Bytes that are wrong because
   * mapped memory is not there make for a failure of their own before the JVM tells of the fault,
   * which it does at any call after that: here, and not while the failure is dealt with.
   * @throws InternalError if there was such a fault
   */
  private Cacheable readChecked(IOEngine engine, BucketEntry entry) throws IOException {
    try {
      return readFrom(engine, entry);
    } catch (HBaseIOException | RuntimeException e) {
      if (engine instanceof FileMmapIOEngine) {
        EntryChecksum.throwPendingFault();
      }
      throw e;
    }
  }

  /** Reads what an entry stands for, of which the caller holds a reference. */
  Cacheable readFrom(IOEngine engine, BucketEntry entry) throws IOException {
    return engine.read(entry);
  }

  private HBaseIOException unreadable(Throwable failure, int term) {
    if (failure instanceof HBaseIOException || failure instanceof RuntimeException) {
      checksumFailures.increment();
      if (mayLog()) {
        LOG.warn("{} tier: {} returned other bytes than were written, in {} reads by now; such a "
          + "block is evicted", name, getIoEngine(), checksumFailures, failure);
      } else {
        LOG.debug("{} tier: an entry does not hold what was written", name, failure);
      }
      return new HBaseIOException(failure);
    }
    ioFailed("read", failure, health.readFailed(term));
    return new HBaseIOException(failure);
  }

  /** Returns null, for the superclass to drop the block, where it would try again for ever. */
  @Override
  BucketEntry writeEntry(RAMQueueEntry re, ByteBuffer metaBuff) throws IOException {
    if (!health.isWorking()) {
      return null;
    }
    int term = health.term();
    try {
      BucketEntry entry = store(re, metaBuff);
      health.writeSucceeded();
      return entry;
    } catch (CacheFullException | BucketAllocatorException e) {
      throw e;
    } catch (IOException | RuntimeException | InternalError e) {
      LOG.trace("{} is dropped", re.getKey(), writeFailed(e, term));
      return null;
    }
  }

  /** To be told of a write that failed; returns what to throw. */
  final IOException writeFailed(Throwable cause, int term) {
    // Nor is a device to blame for a thread that is to end.
    if (!(cause instanceof ClosedByInterruptException)) {
      ioFailed("write", cause, health.writeFailed(term));
    }
    return new IOException(cause);
  }

  /** Returns a number that changes when the device has been bypassed. */
  final int deviceTerm() {
    return health.term();
  }

  /** Writes a block, whatever the device's state. */
  BucketEntry store(RAMQueueEntry re, ByteBuffer metaBuff) throws IOException {
    BucketEntry entry = super.writeEntry(re, metaBuff);
    if (entry == null) {
      return null;
    }
    try {
      if (re.getData() instanceof HFileBlock) {
        entry.checksum = checksumOf((HFileBlock) re.getData(), metaBuff);
      }
      return entry;
    } catch (RuntimeException | InternalError e) {
      entry.markAsEvicted();
      throw e;
    }
  }

  /**
   * Returns the sum for the entry of a block that was just written.
   * @param metadata what was written of the block's metadata, from 0 to its limit
   * @throws InternalError if the memory that it was written to is not there
   */
  final int checksumOf(HFileBlock block, ByteBuffer metadata) {
    if (ioEngine instanceof FileMmapIOEngine) {
      // Later, it would end the writer thread.
      EntryChecksum.throwPendingFault();
    }
    return summed ? EntryChecksum.of(block, metadata) : EntryChecksum.NONE;
  }

  @Override
  void syncEngine() throws IOException {
    if (!health.isWorking()) {
      return;
    }
    int term = health.term();
    try {
      super.syncEngine();
      health.syncSucceeded();
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException | RuntimeException | InternalError e) {
      ioFailed("sync", e, health.syncFailed(term));
      throw new IOException(e);
    }
  }

  private void ioFailed(String what, Throwable cause, boolean bypass) {
    ioErrors.increment();
    if (bypass) {
      LOG.warn("{} tier is bypassed: {} accesses to {} failed in a row, the last was a {}", name,
        DeviceHealth.FAILURES_IN_A_ROW, getIoEngine(), what, cause);
      watch.start(cause);
    } else if (mayLog()) {
      LOG.warn("{} tier: a {} of {} failed", name, what, getIoEngine(), cause);
    } else {
      LOG.debug("{} tier: a {} of {} failed", name, what, getIoEngine(), cause);
    }
  }

  /** All is counted; what can happen for each block is logged now and then. */
  private boolean mayLog() {
    long now = System.nanoTime();
    if (now - lastErrorLogged < ERROR_LOG_PAUSE_NANOS) {
      return false;
    }
    lastErrorLogged = now;
    return true;
  }

  void countIoError() {
    ioErrors.increment();
  }

  /** Opens the engine as the constructor did. */
  IOEngine openEngine() throws IOException {
    return getIOEngineFromName(engineName, getMaxSize(), getPersistencePath());
  }

  /** Waits until no writer thread is writing that began before the device was disabled. */
  void awaitWriters() throws InterruptedException {
    // Waits without a limit: nothing may be taken away from under a write, and the thread is there
    // for this device alone, and is interrupted when the tier shuts down.
    while (writing.get() > 0) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** Evicts every block. A place that is read at this moment is freed when its reader is done. */
  void evictAll() {
    // The queue first: a block is in the map before it leaves the queue.
    ramCache.delegate.keySet().forEach(this::evictBlock);
    backingMap.keySet().forEach(this::evictBlock);
    fullyCachedFiles.clear();
    regionCachedSize.clear();
  }

  /** Whether no place is taken, not even by a reader of a block that is evicted. */
  boolean isEmpty() {
    return getAllocator().getUsedSize() == 0;
  }

  /**
   * Evicts a block that nobody reads.
   * @return the bytes it had, for which there is a place now; those of the smallest place if there
   *         is no such block
   */
  int makePlace() {
    for (Map.Entry<BlockCacheKey, BucketEntry> candidate : backingMap.entrySet()) {
      if (!candidate.getValue().isRpcRef() && evictBlock(candidate.getKey())) {
        return candidate.getValue().getLength();
      }
    }
    return bucketSizes[0];
  }

  int maxBucketSize() {
    return bucketSizes[bucketSizes.length - 1];
  }

  /** Returns whether the device is in use, bypassed, or disabled. */
  DeviceHealth.State getDeviceState() {
    return health.state();
  }

  /** Returns how many blocks were evicted because a read found other bytes than were written. */
  public long getChecksumFailureCount() {
    return checksumFailures.sum();
  }

  /** Returns how many reads, writes and syncs the device has failed, probes included. */
  public long getIoErrorCount() {
    return ioErrors.sum();
  }

  /** Returns how many lookups were misses because the device was bypassed. */
  public long getBypassedReadCount() {
    return bypassedReads.sum();
  }

  /** Returns how many blocks were not taken because the device was bypassed. */
  public long getBypassedInsertCount() {
    return bypassedInserts.sum();
  }

  /** Returns 0 while the device is in use, 1 while it is bypassed, 2 if it is disabled. */
  public long getDeviceStateNumber() {
    return health.state().ordinal();
  }

  @Override
  public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
    return isCacheEnabled() ? super.blockFitsIntoTheCache(block) : Optional.of(false);
  }

  @Override
  public void shutdown() {
    watch.stop();
    super.shutdown();
  }

  @Override
  public boolean containsBlock(BlockCacheKey key) {
    // In this order: a block is in the map before it leaves the queue.
    return ramCache.containsKey(key) || backingMap.containsKey(key);
  }

  @Override
  public boolean isInMemory() {
    return ioEngine.usesSharedMemory();
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

  /** By the size of the whole tier; it does not ask whether one bucket size is used up. */
  @Override
  public boolean hasSpareSpace() {
    return getAllocator().getUsedSize()
        < SPARE_BELOW * Math.min(acceptableSize(), getMinFactor() * getMaxSize());
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
    writing.incrementAndGet();
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
      if (health.isWorking()) {
        write(held, metaBuff);
      } else {
        held.forEach(this::drop);
      }
    } finally {
      writing.decrementAndGet();
      held.forEach(entry -> entry.getData().release());
    }
  }

  private void drop(RAMQueueEntry entry) {
    bypassedInserts.increment();
    removeFromRamCache(entry.getKey());
  }

  /** Writes blocks and puts them into the map. */
  void write(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
    super.doDrain(entries, metaBuff);
  }

  @Override
  protected void putIntoBackingMap(BlockCacheKey key, BucketEntry bucketEntry) {
    // Before it can be evicted.
    onInsert(key, bucketEntry);
    bucketEntry.access(insertions.incrementAndGet());
    // Until it is read here, it may displace no more than others like it: see freeSpace.
    bucketEntry.enterCold();
    inserted.increment();
    writtenBytes.add(bucketEntry.getLength());
    super.putIntoBackingMap(key, bucketEntry);
  }

  /**
   * Puts a block into the map without the superclass, which would count it for its region too: a
   * copy of a block that another tier has counted already.
   * @return false if there is another under this key, and this one is to be freed
   */
  final boolean putCopyIntoBackingMap(BlockCacheKey key, BucketEntry entry) {
    onInsert(key, entry);
    boolean absent = false;
    try {
      absent = backingMap.putIfAbsent(key, entry) == null;
    } finally {
      if (!absent) {
        onRemove(key, entry);
      }
    }
    if (absent) {
      blocksByHFile.add(key);
      inserted.increment();
      writtenBytes.add(entry.getLength());
    }
    return absent;
  }

  private void onInsert(BlockCacheKey key, BucketEntry entry) {
    BlockType.BlockCategory category = TierBlockCounts.categoryOf(key.getBlockType());
    // Into the entry, since the key it is evicted by may say otherwise.
    entry.metaBlock = isMetaBlock(key.getBlockType());
    entry.category = (byte) (category.ordinal() + 1);
    stored.add(key.getHfileName(), category, entry.getLength());
  }

  private void onRemove(BlockCacheKey key, BucketEntry entry) {
    if (entry.category > 0) {
      // Not so if it was in the persisted map, and went before it was taken over.
      stored.remove(key.getHfileName(), CATEGORIES[entry.category - 1], entry.getLength());
    }
  }

  @Override
  void blockEvicted(BlockCacheKey key, BucketEntry bucketEntry, boolean fileIncomplete,
    boolean evictedByEvictionProcess) {
    super.blockEvicted(key, bucketEntry, fileIncomplete, evictedByEvictionProcess);
    onRemove(key, bucketEntry);
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
    gauges.accept("ChecksumFailureCount", this::getChecksumFailureCount);
    gauges.accept("IoErrorCount", this::getIoErrorCount);
    gauges.accept("BypassedReadCount", this::getBypassedReadCount);
    gauges.accept("BypassedInsertCount", this::getBypassedInsertCount);
    gauges.accept("DeviceState", this::getDeviceStateNumber);
  }

  private void accept(BiConsumer<String, LongSupplier> gauges, String type,
    BlockType.BlockCategory category) {
    gauges.accept(type + "BlockCount", () -> stored.getCount(category));
    gauges.accept(type + "BlockSize", () -> stored.getBytes(category));
  }

  @Override
  public void forEachFile(TierBlockCounts.FileVisitor visitor) {
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
