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

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Decides which of the blocks that reads have missed are inserted into L2: with
 * {@link #setSecondMissOnly}, those that were missed before, within about as many other missed
 * blocks as the tier holds. A block that is read once, as by a scan, is not written to the device
 * and evicts nothing. While the tier has space to spare, every block is admitted, so that an empty
 * tier becomes warm as fast as without the filter.
 * <p>
 * It decides about nothing else: prefetched blocks, cache-on-write and meta blocks are not shown to
 * it. Admits everything unless told otherwise.
 * <p>
 * <b>Layout.</b> A set is one long of four fingerprints of 16 bits, the newest in the lowest bits;
 * 0 is an empty place. Adding a block shifts its set, so that the oldest of the four is forgotten.
 * A decision is one access to memory, and one compare-and-set if the block is not remembered. It
 * takes no lock and allocates nothing.
 * <p>
 * <b>Ageing.</b> Age is counted in other blocks missed, not in time: a block is forgotten after
 * four others of its set. With sets for N blocks in all, 86 of 100 blocks are remembered after N /
 * 2 other blocks, 43 after N and 4 after 2 N. A block that is missed while it is remembered changes
 * nothing, so that reads of the same few blocks make none of the others older.
 * <p>
 * <b>Errors.</b> A block that was never missed is taken for one that is remembered with a
 * probability of 4 in 65535. A remembered block is never denied.
 * <p>
 * <b>Why no {@link FrequencySketch}.</b> In as much memory, a sketch that is halved after N misses
 * takes 7 of 100 blocks that are read once for missed before, and forgets half of the others after
 * N / 2. The sketch of L1 is too small: it is halved after about as many requests as L1 has blocks.
 * <p>
 * Thread-safe: if several threads miss one block at a time, exactly one of them is told that it is
 * new.
 * <p>
 * After the ghost list of S. Huang, Q. Wei, D. Feng, J. Chen and C. Chen, "Improving flash-based
 * disk cache with lazy adaptive replacement" (LARC), the reject-first policy of CacheLib and the
 * second-hit admission of RocksDB's secondary cache; and the fingerprints of B. Fan, D. Andersen,
 * M. Kaminsky and M. Mitzenmacher, "Cuckoo filter: practically better than Bloom".
 */
@InterfaceAudience.Private
final class ReadMissAdmission {
  /** The most blocks that are remembered. */
  static final long MAX_BLOCKS = 1L << 32;

  private static final int WAYS = 4;
  private static final int FINGERPRINT_BITS = 16;
  private static final int FINGERPRINT_MASK = (1 << FINGERPRINT_BITS) - 1;

  private final int setCount;
  private final BooleanSupplier hasSpareSpace;
  private final LongAdder admitted = new LongAdder();
  private final LongAdder rejected = new LongAdder();
  /** Null if every block is admitted. */
  private volatile AtomicLongArray sets;

  /**
   * @param blocks        how many blocks the tier holds, about, from 1 on; so many are remembered,
   *                      rounded up to a multiple of 4, {@link #MAX_BLOCKS} at most
   * @param hasSpareSpace whether the tier could take blocks now without evicting any
   */
  ReadMissAdmission(long blocks, BooleanSupplier hasSpareSpace) {
    this.setCount = setsFor(blocks);
    this.hasSpareSpace = hasSpareSpace;
  }

  static int setsFor(long blocks) {
    return (int) ((Math.min(blocks, MAX_BLOCKS) + WAYS - 1) / WAYS);
  }

  /**
   * Sets which blocks are admitted, from now on. What was missed is remembered only while the
   * filter is on.
   * @param secondMissOnly true for blocks that were missed before, false for all
   */
  synchronized void setSecondMissOnly(boolean secondMissOnly) {
    if (!secondMissOnly) {
      sets = null;
    } else if (sets == null) {
      sets = new AtomicLongArray(setCount);
    }
  }

  /** Returns whether {@link #admits} has to be asked; false if every block is admitted. */
  boolean isFilter() {
    return sets != null;
  }

  /**
   * Decides about a block that a read has missed and that neither tier has, and remembers the miss.
   * To be called once for each such insertion.
   * @param key of the block
   * @return whether to insert it
   */
  boolean admits(BlockCacheKey key) {
    AtomicLongArray remembered = sets;
    if (remembered == null) {
      return true;
    }
    boolean admits =
      wasMissed(remembered, FrequencySketch.hash(key)) || hasSpareSpace.getAsBoolean();
    (admits ? admitted : rejected).increment();
    return admits;
  }

  /**
   * Returns whether a block is remembered, and remembers it.
   * @param hash of the block, as {@link FrequencySketch#hash(BlockCacheKey)} returns it
   */
  static boolean wasMissed(AtomicLongArray sets, long hash) {
    // The upper half of the hash chooses the set, the lower half has the fingerprint.
    int set = (int) (((hash >>> 32) * sets.length()) >>> 32);
    int fingerprint = Math.max(1, (int) hash & FINGERPRINT_MASK);
    while (true) {
      long known = sets.get(set);
      if (contains(known, fingerprint)) {
        return true;
      }
      if (sets.compareAndSet(set, known, known << FINGERPRINT_BITS | fingerprint)) {
        return false;
      }
    }
  }

  private static boolean contains(long set, int fingerprint) {
    for (long rest = set; rest != 0; rest >>>= FINGERPRINT_BITS) {
      if ((rest & FINGERPRINT_MASK) == fingerprint) {
        return true;
      }
    }
    return false;
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
