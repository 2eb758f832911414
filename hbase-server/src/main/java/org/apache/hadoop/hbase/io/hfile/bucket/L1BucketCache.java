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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.FirstLevelBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.FileEvictionGuard;
import org.apache.hadoop.hbase.io.hfile.composite.PromotionPolicy;
import org.apache.hadoop.hbase.io.hfile.composite.PromotionTier;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link BucketCache} as L1: what it evicts for lack of space, or cannot take in
 * because too much waits to be written, goes to the victim cache.
 * <p>
 * A victim is copied before it is handed on. A block of a memory engine shares the reference count
 * of its place, so handing over the block itself would keep that place taken, which is the very
 * thing the eviction is to free, until the victim cache has written it. Copies come from the pool
 * that the block's reader used, and there are never more of them than the victim cache lets wait;
 * the evicting thread, which is never a reader, waits for it at most {@value #VICTIM_WAIT_MS} ms at
 * a time, and not at all while it does not get on.
 * <p>
 * Data blocks in L1 are copies admitted by the {@link PromotionPolicy}. The reader that found one
 * in L2 copies it to its place here by itself: no queue, no other thread, and no lock
 * but the allocator's, which is held for a moment at a time. Guests are not handed on, and go
 * before any meta block does. The policy hears of the end of each copy's stay exactly once: from
 * {@link #blockEvicted} if the copy got into the map, else from {@link #promote}.
 */
@InterfaceAudience.Private
public class L1BucketCache extends BucketCacheTier
  implements FirstLevelBlockCache, PromotionTier {
  private static final Logger LOG = LoggerFactory.getLogger(L1BucketCache.class);

  static final long VICTIM_WAIT_MS = 200;

  /**
   * How long {@link #hasRoomFor} says no after an eviction that was due to one bucket size being
   * full while there was space elsewhere: which size that was is not worth knowing, but copies must
   * not bring about evictions one after the other.
   */
  private static final long FRAGMENTED_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final FileEvictionGuard guard;
  private final LongAdder spilled = new LongAdder();
  private final LongAdder spilledBytes = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final LongAdder rejected = new LongAdder();

  private final int blockSize;
  /** Bytes taken by meta blocks in the map, the rest of their buckets' items included. */
  private final LongAdder metaPlaces;
  /** What copies take of the engine, as the superclass counts it for its own insertions. */
  private final LongAdder guestBytes;
  /** Writer threads that found no place for a meta block, nor a copy that could go. */
  private final Set<Thread> withoutPlace = ConcurrentHashMap.newKeySet();

  private volatile L1DataSpace guests;
  /** Null as long as there are no copies. */
  private volatile IdleMetaBlocks idleMeta;
  private long metaIdleMs;
  private volatile CacheTier victimCache;
  private volatile long lastFragmented = System.nanoTime() - FRAGMENTED_PAUSE_NANOS;
  /** For threads that evict, of which there are two at most. */
  private volatile boolean victimGetsOn = true;

  /**
   * @param name  short name for logs and threads, as L1
   * @param tier  checked settings
   * @param guard knows of files that are evicted while a victim moves
   * @throws IOException if the engine cannot be opened
   */
  public L1BucketCache(String name, CompositeBucketCacheSettings.Tier tier,
    FileEvictionGuard guard) throws IOException {
    super(name, tier);
    this.guard = guard;
    Configuration conf = tier.getConfiguration();
    this.blockSize =
      conf.getInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY, HConstants.DEFAULT_BLOCKSIZE);
    this.metaPlaces = new LongAdder();
    this.guestBytes = new LongAdder();
  }

  @Override
  public synchronized PromotionPolicy setPromotedShare(double share) {
    if (share > 0 && guests == null) {
      guests = new L1DataSpace(this, blockSize);
      idleMeta = new IdleMetaBlocks(this, guests);
      idleMeta.setIdleMs(metaIdleMs);
    }
    if (guests != null) {
      guests.setShare(share);
    }
    return share > 0 ? guests.policy() : null;
  }

  @Override
  public synchronized void setMetaIdleMs(long ms) {
    metaIdleMs = ms;
    if (idleMeta != null) {
      idleMeta.setIdleMs(ms);
    }
  }

  @Override
  public int placeFor(Cacheable block) {
    return bucketSizeFor(block);
  }

  /** Only meta blocks go in the order of their last use; data has its policy. */
  @Override
  void used(BucketEntry entry) {
    if (entry.metaBlock) {
      super.used(entry);
      return;
    }
    L1DataSpace promoted = guests;
    if (promoted != null) {
      promoted.used(entry);
    }
  }

  @Override
  Cacheable readFrom(IOEngine engine, BucketEntry entry) throws IOException {
    return ((L1Entry) entry).read(engine);
  }

  @Override
  public void promote(BlockCacheKey key, Cacheable block) {
    boolean arrived = false;
    try {
      arrived = block instanceof HFileBlock && isCacheEnabled() && !containsBlock(key)
        && insert(key, (HFileBlock) block);
    } catch (IOException e) {
      LOG.debug("Could not promote block {}", key, e);
    } finally {
      if (!arrived) {
        forget(key);
      }
    }
  }

  /** Returns whether the block got into the map, however soon it left it again. */
  private boolean insert(BlockCacheKey key, HFileBlock block) throws IOException {
    int length = block.getSerializedLength();
    int term = device().term();
    L1Entry entry;
    try {
      entry = write(block, length, getAllocator().allocateBlock(length));
    } catch (CacheFullException e) {
      L1DataSpace promoted = guests;
      if (promoted != null) {
        promoted.onNoPlace(bucketSizeFor(length));
      }
      return false;
    }
    boolean arrived = false;
    try {
      arrived = putCopyIntoBackingMap(key, entry);
    } finally {
      if (!arrived) {
        entry.markAsEvicted();
      }
    }
    if (arrived && (!isCacheEnabled() || device().term() != term)) {
      // Shut down or disabled meanwhile, and the map may have been cleared before.
      evictPromoted(key, entry);
    }
    return arrived;
  }

  private L1Entry write(HFileBlock block, int length, long offset) throws IOException {
    L1Entry entry = null;
    int term = device().term();
    try {
      ioEngine.write(block.getBufferReadOnly(), offset);
      ByteBuffer metadata =
        block.getMetaData(ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE));
      ioEngine.write(metadata, offset + length - HFileBlock.BLOCK_METADATA_SPACE);
      int checksum = device().checksumOf(block, metadata);
      // The first to go if the superclass looks for what was not used for the longest time.
      entry = new L1Entry(offset, length, block.getOnDiskSizeWithHeader(), Long.MIN_VALUE,
        false, this::recyclerOfGuest, block.getByteBuffAllocator());
      entry.setDeserializerReference(block.getDeserializer());
      entry.checksum = checksum;
      guestBytes.add(length);
      return entry;
    } catch (IOException | RuntimeException | InternalError e) {
      throw device().writeFailed(e, term);
    } finally {
      if (entry == null) {
        getAllocator().freeBlock(offset, length);
      }
    }
  }

  private ByteBuffAllocator.Recycler recyclerOfGuest(BucketEntry entry) {
    return () -> {
      getAllocator().freeBlock(entry.offset(), entry.getLength());
      guestBytes.add(-entry.getLength());
    };
  }

  @Override
  public long getRealCacheSize() {
    return super.getRealCacheSize() + guestBytes.sum();
  }

  @Override
  public long size() {
    return getRealCacheSize();
  }

  private void forget(BlockCacheKey key) {
    L1DataSpace promoted = guests;
    if (promoted != null) {
      promoted.policy().onRemoved(key);
    }
  }

  /** Evicts a data block unless it is being read. */
  boolean evictPromoted(BlockCacheKey key) {
    BucketEntry entry = backingMap.get(key);
    return entry != null && evictPromoted(key, entry);
  }

  /** Who takes it out of the map evicts it, and nobody else, so that this needs no lock. */
  boolean evictPromoted(BlockCacheKey key, BucketEntry entry) {
    if (entry.metaBlock || entry.isRpcRef() || !backingMap.remove(key, entry)) {
      return false;
    }
    blockEvicted(key, entry, false, true);
    return true;
  }

  long getMetaPlaces() {
    return metaPlaces.sum();
  }

  @Override
  protected void putIntoBackingMap(BlockCacheKey key, BucketEntry bucketEntry) {
    if (isMetaBlock(key.getBlockType())) {
      metaPlaces.add(bucketSizeFor(bucketEntry.getLength()));
    }
    super.putIntoBackingMap(key, bucketEntry);
  }

  @Override
  void blockEvicted(BlockCacheKey key, BucketEntry bucketEntry, boolean fileIncomplete,
    boolean evictedByEvictionProcess) {
    super.blockEvicted(key, bucketEntry, fileIncomplete, evictedByEvictionProcess);
    if (bucketEntry.metaBlock) {
      metaPlaces.add(-bucketSizeFor(bucketEntry.getLength()));
    } else {
      forget(key);
    }
  }

  @Override
  void write(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
    L1DataSpace promoted = guests;
    List<RAMQueueEntry> arrivals = new ArrayList<>(entries.size());
    long bytes = 0;
    for (RAMQueueEntry entry : entries) {
      arrivals.add(new Arrival(entry));
      bytes += bucketSizeFor(entry.getData());
    }
    if (promoted != null) {
      promoted.adapt(bytes);
    }
    super.write(arrivals, metaBuff);
  }

  /** A block that is being written by a writer thread. */
  private final class Arrival extends RAMQueueEntry {
    private final RAMQueueEntry entry;

    Arrival(RAMQueueEntry entry) {
      super(entry.getKey(), entry.getData(), 0, false, false);
      this.entry = entry;
    }

    @Override
    public BucketEntry writeToCache(IOEngine engine, BucketAllocator allocator,
      LongAdder realSize, Function<BucketEntry, ByteBuffAllocator.Recycler> createRecycler,
      ByteBuffer metaBuff) throws IOException {
      while (true) {
        try {
          // Only one of the two entries owns the place, and is watched for leaks.
          BucketEntry written = entry.writeToCache(engine, allocator, realSize,
            unowned -> ByteBuffAllocator.NONE, metaBuff);
          return written == null ? null : owner(written, createRecycler);
        } catch (CacheFullException e) {
          L1DataSpace promoted = guests;
          if (promoted == null || !promoted.makePlaceForMeta(bucketSizeFor(entry.getData()))) {
            withoutPlace.add(Thread.currentThread());
            throw e;
          }
        }
      }
    }

    private L1Entry owner(BucketEntry written,
      Function<BucketEntry, ByteBuffAllocator.Recycler> createRecycler) {
      L1Entry owner = new L1Entry(written.offset(), written.getLength(),
        written.getOnDiskSizeWithHeader(), 0,
        written.getPriority() == BlockPriority.MEMORY, createRecycler, written.allocator);
      owner.deserializerIndex = written.deserializerIndex;
      return owner;
    }
  }

  /**
   * @param victimCache where meta blocks go that are evicted for lack of space or find no place in
   *                    the writer queue; a {@link CacheTier}
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
  public boolean hasRoomFor(Cacheable block) {
    return super.hasRoomFor(block) && System.nanoTime() - lastFragmented >= FRAGMENTED_PAUSE_NANOS;
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
    boolean placeWanted = withoutPlace.remove(Thread.currentThread());
    long acceptable = acceptableSize();
    long over = getAllocator().getUsedSize() - acceptable;
    L1DataSpace promoted = guests;
    if (promoted != null && over > 0) {
      long freed = promoted.policy().makeRoom(over);
      if (!placeWanted && (freed >= over || getMetaPlaces() <= acceptable)) {
        return;
      }
    }
    if (over <= 0 && isOneSizeFull()) {
      lastFragmented = System.nanoTime();
    }
    super.freeSpace(why);
    adaptGuests();
  }

  /**
   * Whether some bucket size has no place left although there is space elsewhere. Asked by a thread
   * that found the tier full: if all sizes have places by now, another thread has just made them.
   */
  private boolean isOneSizeFull() {
    return Stream.of(getAllocator().getIndexStatistics()).anyMatch(size -> size.freeCount() == 0);
  }

  private void adaptGuests() {
    L1DataSpace promoted = guests;
    if (promoted != null) {
      promoted.adapt(0);
    }
  }

  @Override
  public boolean evictBlock(BlockCacheKey key) {
    boolean evicted = super.evictBlock(key);
    if (evicted) {
      // What a meta block leaves is room for data.
      adaptGuests();
    }
    return evicted;
  }

  @Override
  public void onConfigurationChange(Configuration conf) {
    super.onConfigurationChange(conf);
    adaptGuests();
  }

  @Override
  long getPressingSize() {
    L1DataSpace promoted = guests;
    long used = super.getPressingSize();
    return promoted == null ? used : Math.max(0, used - promoted.policy().getUsedBytes());
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
    Cacheable copy = stamp == FileEvictionGuard.BUSY ? null : copyOf(key);
    if (copy == null) {
      return super.evictBucketEntryIfNoRpcReferenced(key, entry);
    }
    try {
      // Into the victim cache before it is out of this one, so that no lookup misses it between.
      boolean moved = spill(victims, key, copy);
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
   * Evicts without handing on. The superclass calls it for blocks of files that data tiering has
   * found cold, which are to go from everywhere.
   */
  @Override
  public boolean evictBlockIfNoRpcReferenced(BlockCacheKey key) {
    BucketEntry entry = backingMap.get(key);
    return entry != null && super.evictBucketEntryIfNoRpcReferenced(key, entry);
  }

  private boolean spill(CacheTier victims, BlockCacheKey key, Cacheable copy) {
    try {
      victimGetsOn = victims.awaitInsertion(key,
        victimGetsOn ? TimeUnit.MILLISECONDS.toNanos(VICTIM_WAIT_MS) : 0);
    } catch (InterruptedException e) {
      // This cache shuts down, and the flag tells the writer thread, who evicts, to end.
      Thread.currentThread().interrupt();
      victimGetsOn = false;
    }
    if (victimGetsOn) {
      victims.cacheBlock(key, copy);
      if (victims.containsBlock(key)) {
        spilled.increment();
        spilledBytes.add(copy.getSerializedLength());
        return true;
      }
    }
    dropped.increment();
    return false;
  }

  /** Returns a copy that the caller is to release, or null if the block is gone or unreadable. */
  private Cacheable copyOf(BlockCacheKey key) {
    Cacheable block = getBlock(key, false, true, false);
    if (block == null) {
      return null;
    }
    if (!ioEngine.usesSharedMemory()) {
      // What such an engine reads is a copy already.
      return block;
    }
    try {
      return block instanceof HFileBlock ? copyOf((HFileBlock) block) : null;
    } catch (IOException e) {
      LOG.warn("Could not copy block {}, it is dropped", key, e);
      return null;
    } finally {
      block.release();
    }
  }

  private static HFileBlock copyOf(HFileBlock block) throws IOException {
    ByteBuffAllocator allocator = block.getByteBuffAllocator();
    ByteBuff source = block.getBufferReadOnly();
    int length = source.limit();
    ByteBuff target = allocator.allocate(length + HFileBlock.BLOCK_METADATA_SPACE);
    boolean done = false;
    try {
      target.put(0, source, 0, length);
      target.position(length);
      byte[] metadata =
        block.getMetaData(ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE)).array();
      target.put(metadata);
      target.rewind();
      HFileBlock copy = (HFileBlock) block.getDeserializer().deserialize(target, allocator);
      done = true;
      return copy;
    } finally {
      if (!done) {
        target.release();
      }
    }
  }

  @Override
  public void forEachGauge(BiConsumer<String, LongSupplier> gauges) {
    super.forEachGauge(gauges);
    gauges.accept("SpilledBlockCount", this::getSpilledCount);
    gauges.accept("SpilledBytes", this::getSpilledBytes);
    gauges.accept("DroppedBlockCount", this::getDroppedCount);
    gauges.accept("RejectedBlockCount", this::getRejectedCount);
    gauges.accept("IdleMetaEvictedCount", this::getIdleMetaEvictedCount);
    gauges.accept("PromotedBlockCount", ofPolicy(PromotionPolicy::getPromotedCount));
    gauges.accept("RejectedPromotionCount", ofPolicy(PromotionPolicy::getRejectedCount));
    gauges.accept("DemotedBlockCount", ofPolicy(PromotionPolicy::getDemotedCount));
    gauges.accept("DataCapacity", ofPolicy(PromotionPolicy::getCapacity));
    gauges.accept("UnplacedPromotionCount", ofGuests(L1DataSpace::getUnplacedCount));
    gauges.accept("ReassignedBucketCount", ofGuests(L1DataSpace::getReassignedCount));
  }

  private LongSupplier ofPolicy(ToLongFunction<PromotionPolicy> value) {
    return ofGuests(promoted -> value.applyAsLong(promoted.policy()));
  }

  private LongSupplier ofGuests(ToLongFunction<L1DataSpace> value) {
    return () -> {
      L1DataSpace promoted = guests;
      return promoted == null ? 0 : value.applyAsLong(promoted);
    };
  }

  /**
   * Stops the threads first that may be handing a victim on, and would else give up blocks that the
   * superclass gives up as well.
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
    // What readers put into the queue meanwhile.
    ramCache.delegate.keySet().forEach(this::removeFromRamCache);
  }

  /** Returns how many meta blocks went to the victim cache when their place was needed. */
  public long getSpilledCount() {
    return spilled.sum();
  }

  /** Returns the bytes of the blocks that {@link #getSpilledCount} counts. */
  public long getSpilledBytes() {
    return spilledBytes.sum();
  }

  /** Returns how many meta blocks were dropped because the victim cache did not take them. */
  public long getDroppedCount() {
    return dropped.sum();
  }

  /** Returns how many meta blocks were evicted for data because they were idle. */
  public long getIdleMetaEvictedCount() {
    IdleMetaBlocks blocks = idleMeta;
    return blocks == null ? 0 : blocks.getEvictedCount();
  }

  /** Returns how many blocks found the writer queue full and went to the victim cache at once. */
  public long getRejectedCount() {
    return rejected.sum();
  }
}
