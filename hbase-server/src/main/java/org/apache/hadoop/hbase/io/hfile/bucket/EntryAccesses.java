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

import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Counts accesses to the block of a {@link BucketEntry} since it was inserted, up to {@value #MAX},
 * in bits of the entry that have no other use. Concurrent accesses may count as one. Thread-safe.
 * <p>
 * The bits tell for certain whether a block was accessed at all, which a
 * {@link org.apache.hadoop.hbase.io.hfile.composite.FrequencySketch} cannot, as it ages and
 * overestimates, and they are there without promotion, too. They take no heap, where a sketch of
 * all blocks of L2 would take 8 bytes for each; and a hit writes to an entry that it has at hand,
 * where a sketch has four counters elsewhere.
 */
@InterfaceAudience.Private
public final class EntryAccesses {
  /** The count does not rise above it. */
  static final int MAX = HotBlockCache.MAX_ACCESSES;

  /** Position of the lowest bit of the accesses, above those of the category. */
  private static final int SHIFT = 3;
  private static final int CATEGORY_MASK = (1 << SHIFT) - 1;

  private static volatile boolean countsReadMisses;

  private EntryAccesses() {
  }

  /**
   * Counts from now on also the read miss that inserts a block. Hits are always counted, as that
   * costs nothing.
   */
  public static void countReadMisses() {
    countsReadMisses = true;
  }

  /** Returns the count, 0 to {@link #MAX}. */
  static int of(BucketEntry entry) {
    return entry.category >>> SHIFT & MAX;
  }

  /**
   * Counts a lookup that has found the block.
   * @param accesses whether the reader caches what it reads, and is no prefetch
   */
  public static void onHit(BucketEntry entry, boolean accesses) {
    int bits = entry.category;
    if (accesses && (bits >>> SHIFT & MAX) < MAX) {
      entry.category = (byte) (bits + (1 << SHIFT));
    }
  }

  /**
   * Returns the key under which a block is inserted.
   * @param waits whether the caller offers to wait, which a read miss never does
   */
  public static BlockCacheKey keyOf(BlockCacheKey key, Cacheable block, boolean waits) {
    if (waits || !countsReadMisses || key instanceof AccessedBlockKey) {
      return key;
    }
    BlockType type = block.getBlockType();
    return type == null || !type.isData() ? key : new AccessedBlockKey(key, 1, false);
  }

  /** Inserts a block as {@link HotBlockCache#cacheHot} says. Returns whether it is cached. */
  static boolean cacheHot(BucketCache cache, BlockCacheKey key, Cacheable block,
    boolean inMemory, int accesses) {
    BlockCacheKey accessed =
      new AccessedBlockKey(key, Math.max(1, Math.min(accesses, MAX)), true);
    cache.cacheBlock(accessed, block, inMemory, false);
    // The order matters: a block is in the map before it leaves the queue.
    return cache.ramCache.containsKey(key) || cache.backingMap.containsKey(key);
  }

  /** Sets the count of a block that is inserted under this key. */
  public static void onInsert(BlockCacheKey key, BucketEntry entry) {
    if (key instanceof AccessedBlockKey) {
      AccessedBlockKey accessed = (AccessedBlockKey) key;
      entry.category = (byte) (entry.category & CATEGORY_MASK | accessed.accesses() << SHIFT);
      if (accessed.isHot()) {
        entry.access(entry.getAccessCounter());
      }
    }
  }

  /** Returns 1 + the ordinal of the category of the block, 0 for none. */
  static int category(BucketEntry entry) {
    return entry.category & CATEGORY_MASK;
  }

  /** Sets the category of a block that is about to be inserted, and no accesses. */
  static void setCategory(BucketEntry entry, int category) {
    entry.category = (byte) category;
  }
}
