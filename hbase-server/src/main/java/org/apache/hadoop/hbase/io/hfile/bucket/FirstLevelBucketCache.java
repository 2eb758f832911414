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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheTier;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.FileEvictionGuard;
import org.apache.hadoop.hbase.io.hfile.FirstLevelBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link BucketCache} as first level: what it has to give up for want of space, or cannot take in
 * because too much waits to be written, goes to the victim cache.
 * <p>
 * A victim is copied before it is handed on. A block of a memory engine shares the reference count
 * of its place, so handing over the block itself would keep that place taken, which is the very
 * thing the eviction is to free, until the victim cache has written it. Copies come from the pool
 * that the block's reader used, and there are never more of them than the victim cache lets wait;
 * the evicting thread, which is never a reader, waits for it at most {@value #VICTIM_WAIT_MS} ms at
 * a time, and not at all while it does not get on.
 */
@InterfaceAudience.Private
public class FirstLevelBucketCache extends BucketCacheTier implements FirstLevelBlockCache {
  private static final Logger LOG = LoggerFactory.getLogger(FirstLevelBucketCache.class);

  static final long VICTIM_WAIT_MS = 200;

  /**
   * How long {@link #hasRoomFor} says no after an eviction that was due to one bucket size being
   * full while there was space elsewhere: which size that was is not worth knowing, but guests must
   * not bring about evictions one after the other.
   */
  private static final long FRAGMENTED_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final FileEvictionGuard guard;
  private final LongAdder spilled = new LongAdder();
  private final LongAdder spilledBytes = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final LongAdder rejected = new LongAdder();

  private volatile CacheTier victimCache;
  private volatile long lastFragmented = System.nanoTime() - FRAGMENTED_PAUSE_NANOS;
  /** Only the thread that evicts uses it, and there is one at a time. */
  private volatile boolean victimGetsOn = true;

  /**
   * @param name  short name for logs and threads, as L1
   * @param tier  checked settings
   * @param guard knows of files that are evicted while a victim moves
   * @throws IOException if the engine cannot be opened
   */
  public FirstLevelBucketCache(String name, CompositeBucketCacheSettings.Tier tier,
    FileEvictionGuard guard) throws IOException {
    super(name, tier, null);
    this.guard = guard;
  }

  /**
   * @param victimCache where meta blocks go that are evicted for want of space or find no place in
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
    rejected.increment();
    CacheTier victims = victimCache;
    if (victims != null) {
      victims.cacheBlock(key, block, inMemory);
    }
  }

  @Override
  void freeSpace(String why) {
    if (getAllocator().getUsedSize() <= acceptableSize()) {
      lastFragmented = System.nanoTime();
    }
    super.freeSpace(why);
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
  }

  /** Also waits for the writer threads, who may be handing a victim on. */
  @Override
  public void shutdown() {
    super.shutdown();
    try {
      for (WriterThread thread : writerThreads) {
        thread.join(TimeUnit.SECONDS.toMillis(5));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
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

  /** Returns how many blocks found the writer queue full and went to the victim cache at once. */
  public long getRejectedCount() {
    return rejected.sum();
  }
}
