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
package org.apache.hadoop.hbase.io.hfile.composite;

import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A block cache, or a tier of one, that knows how often its blocks were accessed, and that caches a
 * block as one that was accessed so often. With it, the blocks of a new file become as hot as those
 * of the files that it replaces.
 * <p>
 * Accesses are lookups of readers that cache what they read. Lookups of compactions, prefetches and
 * scans with <code>setCacheBlocks(false)</code> are none.
 * <p>
 * All methods are thread-safe. None of them counts a hit or a miss, or changes the order in which
 * other blocks are evicted; only {@link #awaitInsertion} waits.
 */
@InterfaceAudience.Private
public interface HotBlockCache {

  /** Returned by {@link #accesses} if there is no such block. */
  int NOT_CACHED = -1;

  /** No block counts as accessed more often. A power of two less 1. */
  int MAX_ACCESSES = 15;

  /**
   * Returns an estimate of how often a block was accessed, {@link #MAX_ACCESSES} at most; 0 if it
   * never was since it was inserted.
   * A key of a reference stands for the block of the referred file too.
   * @return {@link #NOT_CACHED} if it is not cached
   */
  int accesses(BlockCacheKey key);

  /**
   * Returns a block if it is in memory. The caller releases it.
   * @return null if it is not cached, or is on a device
   */
  HFileBlock peek(BlockCacheKey key);

  /** Returns the bytes that the blocks of a file take, those under this very name. */
  long cachedBytes(String hfileName);

  /** Returns the bytes, as of {@link #cachedBytes}, that a block of a serialized length takes. */
  default int bytesFor(int serializedLength) {
    return serializedLength;
  }

  /**
   * Returns whether blocks of about a serialized length evict nothing for a while, as there is
   * space that was never used, or that evicted files have left. Takes a short lock at most.
   */
  boolean hasSpareSpaceFor(int serializedLength);

  /**
   * Waits until an insertion under this key would not be refused because too many others wait to
   * be written.
   * @param timeoutNanos the longest wait, in nanoseconds; 0 asks without waiting
   * @return whether there was room when the wait ended
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  boolean awaitInsertion(BlockCacheKey key, long timeoutNanos) throws InterruptedException;

  /**
   * Caches a data block as one that was accessed.
   * @param accesses as of {@link #accesses}, at least 1
   * @return false if it is not cached, because too many blocks wait to be written or the cache
   *         cannot have it
   */
  boolean cacheHot(BlockCacheKey key, Cacheable block, boolean inMemory, int accesses);

  /** Returns whether a data block has a copy in a faster tier than that of data blocks. */
  default boolean isInL1(BlockCacheKey key) {
    return false;
  }

  /**
   * Copies a block that was just cached into the faster tier, if there is one and it has space.
   * @return whether it was copied
   */
  default boolean copyToL1(BlockCacheKey key, Cacheable block, int accesses) {
    return false;
  }
}
