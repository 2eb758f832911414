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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Detects device accesses that take so long that they may never end. Each access records its start
 * in a slot and clears it at its end. All slots are scanned a few times per stall limit, by the
 * thread that calls {@link #isStalled} or {@link #maxNanos}.
 * <p>
 * <b>Invariant.</b> A slot is written by the thread that has claimed it, from its claim to its end;
 * so an access that hangs keeps its slot, however many others begin and end. An access that finds
 * no free slot within a few attempts is not watched; there are then enough concurrent accesses that
 * are. Thread-safe; an access costs two readings of the clock and two writes of a slot.
 */
@InterfaceAudience.Private
class StallWatch {
  private static final int SLOTS = 64;
  /** One cache line per slot. */
  private static final int STRIDE = 8;
  private static final int MAX_TRIES = 4;
  private static final int NOT_WATCHED = -1;
  private static final int LOOKS_PER_STALL = 8;

  private final AtomicLongArray starts = new AtomicLongArray(SLOTS * STRIDE);
  private final LongSupplier clock;
  private volatile long limit;
  private volatile long nextLook;
  private volatile long longest;

  /** @param limitNanos duration beyond which an access is stalled */
  StallWatch(long limitNanos) {
    this(limitNanos, System::nanoTime);
  }

  /** @param nanoClock equivalent to {@link System#nanoTime()} */
  StallWatch(long limitNanos, LongSupplier nanoClock) {
    this.clock = nanoClock;
    this.limit = limitNanos;
    this.nextLook = nanoClock.getAsLong();
  }

  /** Sets the duration beyond which an access is stalled, in nanoseconds. */
  void setLimit(long limitNanos) {
    limit = limitNanos;
    nextLook = clock.getAsLong();
  }

  /** Records the start of an access. Returns the argument for {@link #end}. */
  int begin() {
    long now = clock.getAsLong() | 1;
    int slot = firstSlot();
    for (int i = 0; i < MAX_TRIES; i++) {
      int at = (slot + i) % SLOTS * STRIDE;
      if (claim(at, now)) {
        return at;
      }
    }
    return NOT_WATCHED;
  }

  /** Returns the slot that an access of this thread tries first. */
  int firstSlot() {
    return (int) (Thread.currentThread().getId() * 0x9E3779B97F4A7C15L >>> 58);
  }

  boolean claim(int at, long start) {
    return starts.get(at) == 0 && starts.compareAndSet(at, 0, start);
  }

  long read(int at) {
    return starts.get(at);
  }

  /** Records the end of an access. */
  void end(int slot) {
    if (slot != NOT_WATCHED) {
      starts.set(slot, 0);
    }
  }

  /** Returns whether an access is stalled. */
  boolean isStalled() {
    return maxNanos() > limit;
  }

  /**
   * Returns the duration of the oldest access in progress, in nanoseconds, as of the last scan of
   * the slots, which is recent compared with the stall limit.
   */
  long maxNanos() {
    long now = clock.getAsLong();
    if (now - nextLook >= 0) {
      nextLook = now + limit / LOOKS_PER_STALL;
      long found = 0;
      for (int i = 0; i < SLOTS; i++) {
        long start = read(i * STRIDE);
        if (start != 0) {
          found = Math.max(found, now - start);
        }
      }
      longest = found;
    }
    return longest;
  }
}
