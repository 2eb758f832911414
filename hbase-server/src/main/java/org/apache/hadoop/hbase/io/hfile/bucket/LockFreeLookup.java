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
import java.util.function.Consumer;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;

import org.apache.hbase.thirdparty.io.netty.util.IllegalReferenceCountException;

/**
 * The lookups of a {@link BucketCacheTier}: in the map, and in the queue of blocks that wait to be
 * written. Takes no lock, and allocates nothing before the block is read.
 * <p>
 * A reader retains the entry before it reads. That succeeds only while the bucket is still the
 * block's: it is freed, and can be given to another block, when the last reference is released, and
 * a reference count that was zero stays zero. So a reader with an entry of the map and a reference
 * to the entry reads the right bytes, whatever happens to the map meanwhile. No reader waits for an
 * eviction, and no eviction for a reader.
 * <p>
 * Thread-safe.
 */
@InterfaceAudience.Private
final class LockFreeLookup {
  /** The trace that a lookup leaves behind. */
  private enum Trace {
    NONE, USED, TIMED
  }

  private final BucketCache cache;
  private final String name;
  private final Consumer<BucketEntry> used;
  private final Logger log;

  /**
   * @param name of the tier, for logs
   * @param used receives the entry of each block that a lookup has found and read, except by
   *             {@link #peek}
   * @param log  of the tier, whose log level operators set
   */
  LockFreeLookup(BucketCache cache, String name, Consumer<BucketEntry> used, Logger log) {
    this.cache = cache;
    this.name = name;
    this.used = used;
    this.log = log;
  }

  /**
   * Finds a block; if there is none and the key is of a reference, the block of the referenced
   * file.
   * @param timed    whether the time of a read from a device is added to the statistics
   * @param accesses whether this counts as an access, see {@link EntryAccesses}
   * @return null if there is none, or it could not be read
   */
  Cacheable find(BlockCacheKey key, boolean timed, boolean accesses) {
    Trace trace = timed ? Trace.TIMED : Trace.USED;
    Cacheable block = findExact(key, trace, accesses);
    BlockCacheKey referredTo = block == null ? referredTo(key) : null;
    return referredTo == null ? block : findExact(referredTo, trace, accesses);
  }

  /** Finds a block like {@link #find}, but counts neither a use nor an access. */
  Cacheable peek(BlockCacheKey key) {
    Cacheable block = findExact(key, Trace.NONE, false);
    BlockCacheKey referredTo = block == null ? referredTo(key) : null;
    return referredTo == null ? block : findExact(referredTo, Trace.NONE, false);
  }

  /** Returns how often a block was accessed, as {@link HotBlockCache#accesses} says. */
  int accesses(BlockCacheKey key) {
    int accesses = accessesOfExact(key);
    BlockCacheKey referredTo = accesses == HotBlockCache.NOT_CACHED ? referredTo(key) : null;
    return referredTo == null ? accesses : accessesOfExact(referredTo);
  }

  private int accessesOfExact(BlockCacheKey key) {
    BucketEntry entry = cache.backingMap.get(key);
    if (entry == null && cache.ramCache.containsKey(key)) {
      // It waits to be written. If it was written since, it is in the map.
      entry = cache.backingMap.get(key);
      return entry == null ? 0 : EntryAccesses.of(entry);
    }
    return entry == null ? HotBlockCache.NOT_CACHED : EntryAccesses.of(entry);
  }

  /** Returns the key in the referenced file; null if the key is not of a reference. */
  static BlockCacheKey referredTo(BlockCacheKey key) {
    String name = ReferredFile.of(key.getHfileName());
    return name == null ? null : new BlockCacheKey(name, key.getOffset());
  }

  private Cacheable findExact(BlockCacheKey key, Trace trace, boolean accesses) {
    BucketEntry entry = cache.backingMap.get(key);
    if (entry == null && !cache.ramCache.isEmpty()) {
      BucketCache.RAMQueueEntry waiting = cache.ramCache.get(key);
      if (waiting != null) {
        return waiting.getData();
      }
      // A block is in the map before it leaves the queue.
      entry = cache.backingMap.get(key);
    }
    return entry == null ? null : read(key, entry, trace, accesses);
  }

  private Cacheable read(BlockCacheKey key, BucketEntry entry, Trace trace, boolean accesses) {
    if (!retainIfAlive(entry)) {
      return null;
    }
    IOEngine engine = cache.ioEngine;
    // A block in the memory of the process keeps the reference.
    boolean handedOver = false;
    boolean timed = trace == Trace.TIMED && !engine.usesSharedMemory();
    long start = timed ? System.nanoTime() : 0;
    try {
      Cacheable block = cache.readEntry(entry);
      handedOver = engine.usesSharedMemory();
      if (timed) {
        ((BucketCacheStats) cache.getStats()).ioHit(System.nanoTime() - start);
      }
      if (trace != Trace.NONE) {
        used.accept(entry);
        EntryAccesses.onHit(entry, accesses);
      }
      return block;
    } catch (HBaseIOException e) {
      log.debug("{} cannot be read from the {} tier and is evicted", key, name, e);
      if (cache.backingMap.remove(key, entry)) {
        cache.blockEvicted(key, entry, true, false);
      }
      return null;
    } catch (IOException e) {
      log.debug("{} was not read from the {} tier", key, name, e);
      return null;
    } finally {
      if (!handedOver) {
        entry.release();
      }
    }
  }

  /** Retains an entry, unless its bucket was freed. */
  static boolean retainIfAlive(BucketEntry entry) {
    if (entry.refCnt() <= 0) {
      return false;
    }
    try {
      entry.retain();
      return true;
    } catch (IllegalReferenceCountException e) {
      // It was freed in between; the added reference does not make it alive again.
      return false;
    }
  }
}
