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

import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencySketch;
import org.apache.hadoop.hbase.util.ByteBufferUtils;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A part of the row cache, with its own memory, index and lock. The memory is off the heap; an
 * entry takes {@value #HEADER} bytes of it beside its key and cells, and 4 to 8 bytes of the index,
 * an array on the heap.
 * <p>
 * New rows enter a window, about a tenth of the memory. The oldest row of a full window replaces
 * the oldest of the rest if it was read more often lately, and is evicted if not; the other one is
 * then the newest of the rest, so that the next row is compared with another. After G. Einziger,
 * R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission policy".
 * <p>
 * Thread-safe. The lock is held while a row is looked up and copied, and while room is made for
 * another, never for I/O.
 */
@InterfaceAudience.Private
final class RowStripe {

  /** Link, length, hash, region, read point, expiry, length of the key, first time. */
  static final int HEADER = 36;
  private static final int HASH = 8;
  private static final int REGION = 12;
  private static final int READ_POINT = 16;
  private static final int EXPIRY = 24;
  private static final int KEY_LENGTH = 28;
  private static final int SINCE = 32;
  /** Expiries are seconds since then, so that they are ints. */
  private static final long EPOCH_SECONDS = 1_577_836_800L;

  private static final int WINDOW_SHARE = 10;
  private static final int MIN_INDEX = 64;
  private static final int NONE = RowRing.NONE;

  private final ReentrantLock lock;
  private final ByteBuffer memory;
  private final RowRing window;
  private final RowRing main;
  /** No ring is smaller. */
  private final int maxEntry;
  private final FrequencySketch sketch;
  private final IntFunction<CachedRegion> regions;
  private final RowCacheMetrics metrics;
  /** The first entries of chains with equal low bits of their hashes; {@link #NONE} of none. */
  private int[] index = new int[MIN_INDEX];
  private int rows;
  private byte[] moved = {};

  /**
   * @param memory   of the stripe alone, a multiple of {@link RowRing#UNIT} bytes
   * @param maxEntry bytes of the largest entry that there may be
   * @param sketch   counts lookups, of all stripes
   * @param regions  the open regions by number; null for one that is closed
   */
  RowStripe(ByteBuffer memory, int maxEntry, FrequencySketch sketch,
    IntFunction<CachedRegion> regions, RowCacheMetrics metrics) {
    this(memory, maxEntry, sketch, regions, metrics, new ReentrantLock());
  }

  /** @param lock of the stripe alone, for tests */
  RowStripe(ByteBuffer memory, int maxEntry, FrequencySketch sketch,
    IntFunction<CachedRegion> regions, RowCacheMetrics metrics, ReentrantLock lock) {
    this.lock = lock;
    this.memory = memory;
    int windowEnd = memory.capacity() / WINDOW_SHARE & -RowRing.UNIT;
    window = new RowRing(memory, RowRing.UNIT, windowEnd);
    main = new RowRing(memory, windowEnd, memory.capacity());
    this.maxEntry = Math.min(maxEntry, Math.min(window.size(), main.size()));
    this.sketch = sketch;
    this.regions = regions;
    this.metrics = metrics;
  }

  /**
   * Returns the cells of a row, as they were put, if they are current.
   * @param waits whether to wait for the lock
   * @return null if there are none
   */
  byte[] get(RowKey key, CachedRegion region, long nowMs, boolean waits) {
    if (waits) {
      lock.lock();
    } else if (!lock.tryLock()) {
      return null;
    }
    try {
      int entry = find(key, region.number());
      if (entry == NONE) {
        return null;
      }
      if (!isCurrent(entry, region, key.rowHash(), nowMs)) {
        unlink(entry);
        metrics.countStale();
        return null;
      }
      int prefix = HEADER + key.length();
      // The copy includes the padding, which readers of the cells ignore.
      byte[] cells = new byte[memory.getInt(entry + RowRing.LENGTH) - prefix];
      ByteBufferUtils.copyFromBufferToArray(cells, memory, entry + prefix, 0, cells.length);
      return cells;
    } finally {
      lock.unlock();
    }
  }

  private boolean isCurrent(int entry, CachedRegion region, int rowHash, long nowMs) {
    int expiry = memory.getInt(entry + EXPIRY);
    return (expiry == 0 || nowMs < expiryMs(expiry))
      && nowMs >= expiryMs(memory.getInt(entry + SINCE))
      && region.versions().isCurrent(rowHash, readPoint(entry));
  }

  /** Returns an expiry as entries have it: rounded down to a second; 0 if there is none. */
  static int expiry(long expiresMs) {
    if (expiresMs == Long.MAX_VALUE) {
      return 0;
    }
    long seconds = expiresMs / 1000 - EPOCH_SECONDS;
    return seconds > Integer.MAX_VALUE ? 0 : (int) Math.max(1, seconds);
  }

  /** Returns a first time as entries have it: rounded up to a second. */
  static int since(long sinceMs) {
    return (int) Math.min((sinceMs + 999) / 1000 - EPOCH_SECONDS, Integer.MAX_VALUE);
  }

  static long expiryMs(int expiry) {
    return (expiry + EPOCH_SECONDS) * 1000;
  }

  private long readPoint(int entry) {
    return memory.getLong(entry + READ_POINT);
  }

  /**
   * Inserts a row, in place of what is there for its key.
   * @param since  as {@link #since}
   * @param expiry as {@link #expiry}
   * @param waits  whether to wait for the lock, and for the copy of a full index; if not, and the
   *               lock is held, the row is not inserted
   * @return false if the row was not inserted for lack of the lock
   */
  boolean put(RowKey key, CachedRegion region, long readPoint, int since, int expiry,
    byte[] cells, int cellsLength, boolean waits) {
    int length = (HEADER + key.length() + cellsLength + RowRing.UNIT - 1) & -RowRing.UNIT;
    if (length > maxEntry) {
      return true;
    }
    if (waits) {
      lock.lock();
    } else if (!lock.tryLock()) {
      return false;
    }
    try {
      int old = find(key, region.number());
      if (old != NONE) {
        if (readPoint(old) >= readPoint) {
          return true;
        }
        unlink(old);
      }
      int entry = window.add(length);
      while (entry == NONE) {
        evictFromWindow();
        entry = window.add(length);
      }
      memory.putInt(entry + HASH, key.hash());
      memory.putInt(entry + REGION, region.number());
      memory.putLong(entry + READ_POINT, readPoint);
      memory.putInt(entry + EXPIRY, expiry);
      memory.putInt(entry + KEY_LENGTH, key.length());
      memory.putInt(entry + SINCE, since);
      ByteBufferUtils.copyFromArrayToBuffer(memory, entry + HEADER, key.bytes(), 0, key.length());
      ByteBufferUtils.copyFromArrayToBuffer(memory, entry + HEADER + key.length(), cells, 0,
        cellsLength);
      if (waits && rows >= index.length) {
        growIndex();
      }
      link(entry);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private int find(RowKey key, int region) {
    int entry = index[slot(key.hash())];
    while (entry != NONE) {
      if (
        memory.getInt(entry + HASH) == key.hash() && memory.getInt(entry + REGION) == region
          && memory.getInt(entry + KEY_LENGTH) == key.length()
          && ByteBufferUtils.equals(memory, entry + HEADER, key.length(), key.bytes(), 0,
            key.length())
      ) {
        return entry;
      }
      entry = memory.getInt(entry + RowRing.NEXT);
    }
    return NONE;
  }

  private int slot(int hash) {
    return hash & (index.length - 1);
  }

  private void link(int entry) {
    push(entry);
    rows++;
    count(entry, 1);
  }

  private void count(int entry, int difference) {
    metrics.addRows(difference);
    CachedRegion region = regions.apply(memory.getInt(entry + REGION));
    if (region != null) {
      region.addRows(difference);
    }
  }

  private void push(int entry) {
    int slot = slot(memory.getInt(entry + HASH));
    memory.putInt(entry + RowRing.NEXT, index[slot]);
    index[slot] = entry;
  }

  private void growIndex() {
    int[] old = index;
    index = new int[old.length * 2];
    for (int first : old) {
      int entry = first;
      while (entry != NONE) {
        int next = memory.getInt(entry + RowRing.NEXT);
        push(entry);
        entry = next;
      }
    }
  }

  /** Takes an entry out of the index. Its memory is free when it is the oldest of its ring. */
  private void unlink(int entry) {
    replaceLink(entry, memory.getInt(entry + RowRing.NEXT));
    memory.putInt(entry + RowRing.NEXT, RowRing.DEAD);
    rows--;
    count(entry, -1);
  }

  private void replaceLink(int entry, int link) {
    int slot = slot(memory.getInt(entry + HASH));
    int current = index[slot];
    if (current == entry) {
      index[slot] = link;
      return;
    }
    while (memory.getInt(current + RowRing.NEXT) != entry) {
      current = memory.getInt(current + RowRing.NEXT);
    }
    memory.putInt(current + RowRing.NEXT, link);
  }

  private boolean isDead(int entry) {
    return memory.getInt(entry + RowRing.NEXT) == RowRing.DEAD;
  }

  /** Removes the oldest entry of the window, to the rest or for good. */
  private void evictFromWindow() {
    int entry = window.oldest();
    if (!isDead(entry)) {
      if (!isOpen(entry)) {
        unlink(entry);
      } else {
        admit(entry, memory.getInt(entry + RowRing.LENGTH));
      }
    }
    window.removeOldest();
  }

  private boolean isOpen(int entry) {
    return regions.apply(memory.getInt(entry + REGION)) != null;
  }

  private void admit(int entry, int length) {
    int address = main.add(length);
    while (address == NONE) {
      int victim = main.oldest();
      if (!isDead(victim)) {
        if (isOpen(victim) && frequency(entry) <= frequency(victim)) {
          evict(entry);
          renewOldest(victim);
          return;
        }
        evict(victim);
      }
      main.removeOldest();
      address = main.add(length);
    }
    copyOut(entry, length);
    replaceLink(entry, address);
    copyIn(address, length);
  }

  /** Evicts a row for lack of memory. */
  private void evict(int entry) {
    CachedRegion region = regions.apply(memory.getInt(entry + REGION));
    if (region != null) {
      region.versions().unregister(rowHash(entry));
    }
    unlink(entry);
    metrics.countEvicted();
  }

  /** Returns the hash of the row, with which the key begins. */
  private int rowHash(int entry) {
    return RowHash.of(memory, entry + HEADER + Integer.BYTES, memory.getInt(entry + HEADER));
  }

  private int frequency(int entry) {
    return sketch.frequency(FrequencySketch.hash(memory.getInt(entry + HASH)));
  }

  /** Makes the oldest entry of the rest the newest. */
  private void renewOldest(int entry) {
    int length = memory.getInt(entry + RowRing.LENGTH);
    copyOut(entry, length);
    main.removeOldest();
    int address = main.add(length);
    if (address == NONE) {
      // It would not be contiguous at the end of the ring.
      unlink(entry);
      return;
    }
    replaceLink(entry, address);
    copyIn(address, length);
  }

  private void copyOut(int entry, int length) {
    if (moved.length < length) {
      moved = new byte[length];
    }
    ByteBufferUtils.copyFromBufferToArray(moved, memory, entry, 0, length);
  }

  private void copyIn(int address, int length) {
    ByteBufferUtils.copyFromArrayToBuffer(memory, address, moved, 0, length);
  }

  /** Removes all rows. */
  void clear() {
    lock.lock();
    try {
      metrics.addRows(-rows);
      rows = 0;
      window.clear();
      main.clear();
      index = new int[MIN_INDEX];
    } finally {
      lock.unlock();
    }
  }

  /** Returns the bytes of the index, which are on the heap. */
  long indexBytes() {
    lock.lock();
    try {
      return (long) index.length * Integer.BYTES;
    } finally {
      lock.unlock();
    }
  }

  int rows() {
    lock.lock();
    try {
      return rows;
    } finally {
      lock.unlock();
    }
  }
}
