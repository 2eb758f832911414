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
package org.apache.hadoop.hbase.regionserver.read.cache;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The numbers of the last writes to the rows of an open region that are cached, by which they are
 * known to be stale. A row is registered before it is cached; writes of other rows change nothing.
 * Registered rows are in buckets of {@value #WAYS} slots: one more replaces one that was not found
 * of late (CLOCK), which is stale then. The floor has the number of the last change of the region's
 * files.
 * <p>
 * Invariant: the slot of a registered row has a number that is at least that of each write to it
 * that a reader can see, whether it began before or after the registration; so a row that was read
 * at a read point is the current one as long as it is registered and neither its slot nor the floor
 * is above that read point.
 * <p>
 * Numbers of two regions are never compared. Thread-safe; nothing here blocks, allocates or throws
 * on the way of a write.
 */
@InterfaceAudience.Private
public class RowVersions {

  static final int WAYS = 8;
  static final int MIN_SLOTS = 1 << 10;
  static final int MAX_SLOTS = 1 << 24;
  /** What {@link #register} returns for a row that cannot be registered now. */
  static final long NOT_REGISTERED = Long.MAX_VALUE;

  /**
   * A slot has the upper bits of a row's hash, which tell all but the first buckets, two flags, and
   * the number above the base. If the first flag is not set, the slot is empty, or its row about to
   * be registered.
   */
  private static final int TAG_SHIFT = 39;
  private static final long REGISTERED = 1L << 38;
  private static final long FOUND = 1L << 37;
  /** Also stands for all numbers that do not fit in: such a row is not current. */
  static final long MAX_NUMBER = FOUND - 1;
  /** {@link #MIN_SLOTS} are as many buckets as the bits of a hash that no tag has can tell. */
  private static final int HASH_SHIFT = 7;

  /** Slots, and what is added to their numbers. */
  private static final class Table {
    private final long base;
    private final AtomicLongArray slots;

    private Table(long base, int length) {
      this.base = base;
      this.slots = new AtomicLongArray(length);
    }

    private long relative(long number) {
      return Math.max(0, Math.min(number - base, MAX_NUMBER));
    }

    private int bucket(int rowHash) {
      return (rowHash & slots.length() / WAYS - 1) * WAYS;
    }

    /** Returns the number of a slot's row, that of no write if it is not registered. */
    private long number(long word) {
      long number = word & MAX_NUMBER;
      return (word & REGISTERED) == 0 || number == MAX_NUMBER ? NOT_REGISTERED : base + number;
    }
  }

  private final AtomicLong floor = new AtomicLong();
  private volatile Table table;
  /** What the slots are copied to; null if they do not grow. */
  private volatile Table larger;
  /** Held by the thread that registers a row, or has the slots grow. */
  private final AtomicBoolean changing = new AtomicBoolean();
  /** The slot of a full bucket that is examined next. */
  private int hand;

  /** @param base no write has a number below that */
  RowVersions(long base) {
    table = new Table(base, MIN_SLOTS);
  }

  /** Called before each access to what threads share, for tests. */
  void step() {
  }

  /** Raises the number of a row, if it is registered, before the write is visible. */
  public final void raise(int rowHash, long number) {
    Table seen;
    do {
      step();
      seen = table;
      raise(seen, rowHash, number);
      // The table is raised before the copy is read. If the copy is not seen here, it was made from
      // what was raised above, or it is the table already.
      step();
      Table copy = larger;
      if (copy != null) {
        raise(copy, rowHash, number);
      }
      step();
    } while (seen != table);
  }

  private void raise(Table to, int rowHash, long number) {
    int bucket = to.bucket(rowHash);
    for (int slot = bucket; slot < bucket + WAYS; slot++) {
      raise(to.slots, slot, tag(rowHash), to.relative(number));
    }
  }

  /** Raises the number of a slot as long as it has the tag. */
  private void raise(AtomicLongArray slots, int slot, long tag, long number) {
    step();
    long word = slots.get(slot);
    while (word >>> TAG_SHIFT == tag && (word & MAX_NUMBER) < number) {
      step();
      if (slots.compareAndSet(slot, word, word & ~MAX_NUMBER | number)) {
        return;
      }
      word = slots.get(slot);
    }
  }

  private static long tag(int rowHash) {
    return rowHash >>> HASH_SHIFT;
  }

  /** Raises the floor to the number of a change of the region's files. */
  public final void raiseFloor(long number) {
    step();
    floor.accumulateAndGet(number, Math::max);
  }

  /** Returns whether a row that was read at a read point is the current one. */
  final boolean isCurrent(int rowHash, long readPoint) {
    step();
    Table seen = table;
    int slot = find(seen, rowHash);
    if (slot < 0) {
      return false;
    }
    step();
    long word = seen.slots.get(slot);
    if (word >>> TAG_SHIFT != tag(rowHash) || seen.number(word) > readPoint) {
      return false;
    }
    step();
    if (floor.get() > readPoint) {
      return false;
    }
    if ((word & FOUND) == 0) {
      seen.slots.compareAndSet(slot, word, word | FOUND);
    }
    return true;
  }

  /** Returns the slot of a row, below 0 if it is not registered. */
  private int find(Table in, int rowHash) {
    int bucket = in.bucket(rowHash);
    for (int slot = bucket; slot < bucket + WAYS; slot++) {
      step();
      long word = in.slots.get(slot);
      if (word >>> TAG_SHIFT == tag(rowHash) && (word & REGISTERED) != 0) {
        return slot;
      }
    }
    return -1;
  }

  /**
   * Registers a row, unless it is. Does not wait: while another thread registers one, or the slots
   * grow, it fails.
   * @param last the number of the last write of the region that has begun
   * @return the number below which a read point is too old for the row to be current;
   *         {@link #NOT_REGISTERED} if it is not registered
   */
  final long register(int rowHash, LongSupplier last) {
    step();
    if (!changing.compareAndSet(false, true)) {
      return NOT_REGISTERED;
    }
    try {
      int slot = find(table, rowHash);
      if (slot < 0) {
        slot = slotFor(rowHash, last);
        AtomicLongArray slots = table.slots;
        slots.set(slot, tag(rowHash) << TAG_SHIFT);
        // A write that begins from here on raises the slot. All others are counted here.
        step();
        raise(slots, slot, tag(rowHash), table.relative(last.getAsLong()));
        step();
        slots.getAndAccumulate(slot, REGISTERED, (word, flag) -> word | flag);
      }
      return table.number(table.slots.get(slot));
    } finally {
      changing.set(false);
    }
  }

  /**
   * Makes room for another row, which need not succeed. To be called when a row is evicted; other
   * entries of it, which have other columns, are stale then.
   */
  final void unregister(int rowHash) {
    step();
    // Else a copy might have the row, and not what a write did not find to raise.
    if (changing.compareAndSet(false, true)) {
      try {
        int slot = find(table, rowHash);
        if (slot >= 0) {
          table.slots.set(slot, 0);
        }
      } finally {
        changing.set(false);
      }
    }
  }

  /** Returns an empty slot for a row, or else that of one which was not found of late. */
  private int slotFor(int rowHash, LongSupplier last) {
    if (table.relative(last.getAsLong()) > MAX_NUMBER / 2) {
      // This happens once in months. All rows are registered anew.
      table = new Table(last.getAsLong(), table.slots.length());
    }
    AtomicLongArray slots = table.slots;
    int bucket = table.bucket(rowHash);
    for (int slot = bucket; slot < bucket + WAYS; slot++) {
      if ((slots.get(slot) & REGISTERED) == 0) {
        return slot;
      }
    }
    for (int i = 0; i < WAYS; i++) {
      int slot = bucket + (hand++ & WAYS - 1);
      long word = slots.get(slot);
      if ((word & FOUND) == 0) {
        return slot;
      }
      slots.compareAndSet(slot, word, word & ~FOUND);
    }
    return bucket + (hand++ & WAYS - 1);
  }

  /** Doubles the slots if they are few for so many rows, and nothing else changes them. */
  final void growFor(int rows) {
    if (areMany(rows) && changing.compareAndSet(false, true)) {
      try {
        if (areMany(rows)) {
          grow();
        }
      } finally {
        larger = null;
        changing.set(false);
      }
    }
  }

  private boolean areMany(int rows) {
    return rows > slotCount() / 2 && slotCount() < MAX_SLOTS;
  }

  private void grow() {
    Table old = table;
    Table more = new Table(old.base, 2 * old.slots.length());
    step();
    larger = more;
    for (int slot = 0; slot < old.slots.length(); slot++) {
      if (old.slots.get(slot) != 0) {
        copy(old.slots, slot, more.slots);
      }
    }
    step();
    table = more;
  }

  private void copy(AtomicLongArray from, int slot, AtomicLongArray to) {
    long word = from.get(slot);
    long tag = word >>> TAG_SHIFT;
    // The bit of the hash that tells the new bucket is in the tag.
    boolean isUpper = (tag << HASH_SHIFT & from.length() / WAYS) != 0;
    int target = isUpper ? slot + from.length() : slot;
    step();
    to.set(target, word);
    // What a write has raised before it could find the copy.
    step();
    raise(to, target, tag, from.get(slot) & MAX_NUMBER);
  }

  final int slotCount() {
    return table.slots.length();
  }
}
