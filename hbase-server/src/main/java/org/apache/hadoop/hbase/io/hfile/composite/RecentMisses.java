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
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Remembers about as many of the blocks that reads have missed last as it is sized for, in two
 * bytes each: a set-associative table of fingerprints, first in, first out in each set.
 * <p>
 * <b>Layout.</b> A set is one long of four fingerprints of 16 bits, the newest in the lowest bits;
 * 0 is an empty place. Adding a block shifts its set, so that the oldest of the four is forgotten.
 * A lookup is one access to memory, and one compare-and-set if the block is not remembered. Nothing
 * is allocated.
 * <p>
 * <b>Ageing.</b> Age is counted in other blocks added, not in time: a block is forgotten after four
 * others of its set. With sets for N blocks in all, 86 of 100 blocks are remembered after N / 2
 * other blocks, 43 after N and 4 after 2 N. A block that is added while it is remembered changes
 * nothing, so that reads of the same few blocks make none of the others older.
 * <p>
 * <b>Errors.</b> A block that was never added is taken for one that is remembered with a
 * probability of 4 in 65535. A remembered block is never denied.
 * <p>
 * Thread-safe without a lock: if several threads add one block at a time, exactly one of them is
 * told that it is new.
 * <p>
 * After the ghost list of S. Huang, Q. Wei, D. Feng, J. Chen and C. Chen, "Improving flash-based
 * disk cache with lazy adaptive replacement" (LARC), and the fingerprints of B. Fan, D. Andersen,
 * M. Kaminsky and M. Mitzenmacher, "Cuckoo filter: practically better than Bloom".
 */
@InterfaceAudience.Private
final class RecentMisses {
  /** The most blocks that a table can be sized for. */
  static final long MAX_BLOCKS = 1L << 32;

  private static final int WAYS = 4;
  private static final int FINGERPRINT_BITS = 16;
  private static final int FINGERPRINT_MASK = (1 << FINGERPRINT_BITS) - 1;

  private final AtomicLongArray sets;

  /**
   * @param blocks how many blocks to remember, from 1 to 2^32, rounded up to a multiple of 4
   * @throws IllegalArgumentException if the number is out of range
   */
  RecentMisses(long blocks) {
    if (blocks < 1 || blocks > MAX_BLOCKS) {
      throw new IllegalArgumentException(
        "Recent misses are remembered of 1 to " + MAX_BLOCKS + " blocks, not of " + blocks);
    }
    sets = new AtomicLongArray((int) ((blocks + WAYS - 1) / WAYS));
  }

  /**
   * Adds a block unless it is remembered.
   * @param hash of the block, as {@link FrequencySketch#hash(BlockCacheKey)} returns it
   * @return whether the block was remembered before
   */
  boolean add(long hash) {
    int set = (int) (((hash >>> 32) * sets.length()) >>> 32);
    int fingerprint = fingerprint(hash);
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

  /** The upper half of the hash chooses the set, the lower half has the fingerprint. */
  private static int fingerprint(long hash) {
    int bits = (int) hash & FINGERPRINT_MASK;
    return bits == 0 ? 1 : bits;
  }

  private static boolean contains(long set, int fingerprint) {
    for (long rest = set; rest != 0; rest >>>= FINGERPRINT_BITS) {
      if ((rest & FINGERPRINT_MASK) == fingerprint) {
        return true;
      }
    }
    return false;
  }

  /** Returns the bytes that the table takes. */
  long sizeInBytes() {
    return (long) sets.length() * Long.BYTES;
  }
}
