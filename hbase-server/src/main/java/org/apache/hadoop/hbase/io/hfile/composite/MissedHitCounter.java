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

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * How often data blocks of one size were accessed while all places of that size were taken in the
 * L1, so that they were read from L2. It tells what more places of that size
 * would be worth: the counts of the blocks that would fill them.
 * <p>
 * A table of {@value #SLOTS_PER_BLOCK} slots for each block that is of interest, 8 bytes each,
 * where a block that finds another in its slot takes one off the other's count, and the slot once
 * that is zero. So it holds those that are accessed most and tells no more than their true
 * counts; a caller keeps one-off requests away from it. Thread-safe without locks: a count that
 * races with another on the same slot may be lost.
 * <p>
 * After J. Misra and D. Gries, "Finding repeated elements". See HBASE-23296.
 */
@InterfaceAudience.Private
final class MissedHitCounter {

  static final int SLOTS_PER_BLOCK = 8;
  private static final int MIN_SLOTS = 1 << 12;
  private static final int COUNT_BITS = 20;
  /** The low bits of a hash are those of its slot, so that they need not be kept. */
  private static final int MAX_SLOTS = 1 << COUNT_BITS;
  private static final long MAX_COUNTED = (1L << COUNT_BITS) - 1;

  private final int size;
  private final AtomicLongArray slots;

  /**
   * @param size   bytes of a place
   * @param blocks how many blocks are of interest
   */
  MissedHitCounter(int size, int blocks) {
    this.size = size;
    long wanted = Math.min(MAX_SLOTS, (long) SLOTS_PER_BLOCK * Math.max(1, blocks));
    this.slots = new AtomicLongArray((int) Math.max(MIN_SLOTS, Long.highestOneBit(wanted)));
  }

  /** Returns the bytes of a place. */
  int size() {
    return size;
  }

  /** Counts a request for a block that is not in L1. */
  void count(long hash) {
    int slot = (int) hash & (slots.length() - 1);
    long there = slots.get(slot);
    long counted = there & MAX_COUNTED;
    if (counted > 0 && (there ^ hash) >>> COUNT_BITS == 0) {
      if (counted < MAX_COUNTED) {
        slots.lazySet(slot, there + 1);
      }
    } else if (counted > 1) {
      slots.lazySet(slot, there - 1);
    } else {
      slots.lazySet(slot, (hash & ~MAX_COUNTED) | 1);
    }
  }

  /** Returns how often each block in the table was accessed, the highest count first. */
  long[] counts() {
    long[] counts = new long[slots.length()];
    int blocks = 0;
    for (int i = 0; i < slots.length(); i++) {
      long counted = slots.get(i) & MAX_COUNTED;
      if (counted > 0) {
        // Negative, as there is only one order to sort numbers by.
        counts[blocks++] = -counted;
      }
    }
    Arrays.sort(counts, 0, blocks);
    return Arrays.stream(counts, 0, blocks).map(count -> -count).toArray();
  }
}
