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

import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Decides which of the blocks that reads have missed are inserted into L2: with
 * {@link #setSecondMissOnly}, those that were missed before, within about as many other missed
 * blocks as the tier holds ({@link RecentMisses}). A block that is read once, as by a scan, is not
 * written to the device and evicts nothing. While the tier has space to spare, every block is
 * admitted, so that an empty tier becomes warm as fast as without the filter.
 * <p>
 * It decides about nothing else: prefetched blocks, cache-on-write and meta blocks are not shown to
 * it. Admits everything unless told otherwise. Thread-safe; no decision takes a lock of its own or
 * allocates.
 * <p>
 * After LARC (Huang et al.), the reject-first policy of CacheLib and the second-hit admission of
 * RocksDB's secondary cache; by idea only.
 */
@InterfaceAudience.Private
final class ReadMissAdmission {
  private final long blocks;
  private final BooleanSupplier hasSpareSpace;
  private final LongAdder admitted = new LongAdder();
  private final LongAdder rejected = new LongAdder();
  /** Null if every block is admitted. */
  private volatile RecentMisses misses;

  /**
   * @param blocks        how many blocks the tier holds, about, from 1 on
   * @param hasSpareSpace whether the tier could take blocks now without evicting any
   */
  ReadMissAdmission(long blocks, BooleanSupplier hasSpareSpace) {
    this.blocks = Math.min(blocks, RecentMisses.MAX_BLOCKS);
    this.hasSpareSpace = hasSpareSpace;
  }

  /**
   * Sets which blocks are admitted, from now on. What was missed is remembered only while the
   * filter is on.
   * @param secondMissOnly true for blocks that were missed before, false for all
   */
  synchronized void setSecondMissOnly(boolean secondMissOnly) {
    if (!secondMissOnly) {
      misses = null;
    } else if (misses == null) {
      misses = new RecentMisses(blocks);
    }
  }

  /** Whether there is anything to ask {@link #admits} for; false if it admits every block. */
  boolean isFilter() {
    return misses != null;
  }

  /**
   * Decides about a block that a read has missed and that neither tier has, and remembers the miss.
   * To be called once for each such insertion.
   * @param key of the block
   * @return whether to insert it
   */
  boolean admits(BlockCacheKey key) {
    RecentMisses recent = misses;
    if (recent == null) {
      return true;
    }
    boolean admits = recent.add(FrequencySketch.hash(key)) || hasSpareSpace.getAsBoolean();
    (admits ? admitted : rejected).increment();
    return admits;
  }

  /** Returns how many blocks the filter has admitted. */
  long getAdmittedCount() {
    return admitted.sum();
  }

  /** Returns how many blocks the filter has rejected. */
  long getRejectedCount() {
    return rejected.sum();
  }
}
