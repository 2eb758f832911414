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
package org.apache.hadoop.hbase.regionserver.rowcache;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The numbers of the last writes to the rows of an open region, by which cached rows are known to
 * be stale. Rows share slots: a slot has the largest number of a write to any of its rows, and the
 * floor that of the last change of the region's files.
 * <p>
 * Invariant: a write number is in the slot of its row, or in the floor, before a reader can see
 * what was written; so a row that was read at a read point is the current one as long as neither is
 * above that read point.
 * <p>
 * Numbers of two regions are never compared. Thread-safe; nothing here blocks, allocates or throws
 * on the way of a write.
 */
@InterfaceAudience.Private
public class RowVersions {

  static final int LEAST_SLOTS = 1 << 10;
  static final int MOST_SLOTS = 1 << 20;

  private final AtomicLong floor = new AtomicLong();
  private volatile AtomicLongArray slots;
  private volatile boolean growing;
  /** Held by the thread that makes the slots grow. */
  private final AtomicBoolean growth = new AtomicBoolean();

  RowVersions() {
    this(LEAST_SLOTS);
  }

  /** @param slots a power of two */
  RowVersions(int slots) {
    this.slots = new AtomicLongArray(slots);
  }

  /** Called before each access to what threads share, for tests. */
  void step() {
  }

  private AtomicLongArray slots() {
    step();
    return slots;
  }

  /** Raises the slot of a row to the number of a write to it, before the write is visible. */
  public final void raise(int rowHash, long number) {
    AtomicLongArray seen;
    do {
      seen = slots();
      raiseTo(seen, rowHash & (seen.length() - 1), number);
      // If they were replaced meanwhile, the number may have been missed by the copy.
    } while (seen != slots());
  }

  private void raiseTo(AtomicLongArray array, int slot, long number) {
    step();
    long current = array.get(slot);
    while (current < number) {
      step();
      if (array.compareAndSet(slot, current, number)) {
        return;
      }
      current = array.get(slot);
    }
  }

  /** Raises the floor to the number of a change of the region's files. */
  public final void raiseFloor(long number) {
    step();
    floor.accumulateAndGet(number, Math::max);
  }

  /** Returns whether a row that was read at a read point is the current one. */
  final boolean isCurrent(int rowHash, long readPoint) {
    step();
    if (growing) {
      return false;
    }
    AtomicLongArray seen = slots();
    step();
    boolean current = seen.get(rowHash & (seen.length() - 1)) <= readPoint;
    step();
    return current && floor.get() <= readPoint;
  }

  final int slotCount() {
    return slots.length();
  }

  /**
   * Doubles the slots, so that fewer rows share one. While that lasts, no row is current: the new
   * slots may lack numbers that were raised in the old ones during the copy, until these are copied
   * again. A lookup that began before has no such number to see: its write was not over by then.
   * @param from number of slots that are too few; nothing is done if there are not so many, or if
   *             another thread is at it
   */
  final void grow(int from) {
    AtomicLongArray old = slots;
    if (old.length() != from || from >= MOST_SLOTS || !growth.compareAndSet(false, true)) {
      return;
    }
    try {
      if (old == slots) {
        grow(old, new AtomicLongArray(from * 2));
      }
    } finally {
      growth.set(false);
    }
  }

  private void grow(AtomicLongArray old, AtomicLongArray more) {
    step();
    growing = true;
    copy(old, more);
    step();
    slots = more;
    copy(old, more);
    step();
    growing = false;
  }

  private void copy(AtomicLongArray from, AtomicLongArray to) {
    for (int i = 0; i < to.length(); i++) {
      step();
      raiseTo(to, i, from.get(i & (from.length() - 1)));
    }
  }
}
