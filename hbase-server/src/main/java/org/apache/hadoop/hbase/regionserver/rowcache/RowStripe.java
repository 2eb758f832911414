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

import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencySketch;
import org.apache.hadoop.hbase.util.ByteBufferUtils;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A part of the row cache, with its own memory, index and lock. Both memory and index are off the
 * heap; an entry takes {@value #HEADER} bytes beside its key and cells, and 4 to 8 of the index.
 * <p>
 * New rows enter a window, a tenth of the memory. The oldest row of a full window replaces
 * the oldest of the rest if it was read more often lately, and is evicted if not; the other one is
 * then the newest of the rest, so that the next row is compared with another. After G. Einziger,
 * R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission policy".
 * <p>
 * Thread-safe. The lock is held while a row is looked up and copied, and while room is made for
 * another, never for I/O.
 */
@InterfaceAudience.Private
final class RowStripe {

  /** Link, length, hash, region, read point, expiry, length of the key. */
  static final int HEADER = 32;
  private static final int HASH = 8;
  private static final int REGION = 12;
  private static final int READ_POINT = 16;
  private static final int EXPIRY = 24;
  private static final int KEY_LENGTH = 28;

  private static final int WINDOW_SHARE = 10;
  private static final int LEAST_INDEX = 64;
  private static final int NONE = 0;

  private final ReentrantLock lock = new ReentrantLock();
  private final ByteBuffer memory;
  private final RowRing window;
  private final RowRing main;
  private final FrequencySketch sketch;
  private final IntFunction<CachedRegion> regions;
  private final RowCacheMetrics metrics;
  /** Chains of entries with equal low bits of their hashes: position and 1, or {@link #NONE}. */
  private ByteBuffer index;
  private int rows;
  private byte[] moved = {};

  /**
   * @param memory  of the stripe alone, a multiple of {@link RowRing#UNIT} bytes
   * @param sketch  counts lookups, of all stripes
   * @param regions the open regions by number; null for one that is closed
   */
  RowStripe(ByteBuffer memory, FrequencySketch sketch, IntFunction<CachedRegion> regions,
    RowCacheMetrics metrics) {
    int size = memory.capacity();
    int windowSize = size / WINDOW_SHARE & -RowRing.UNIT;
    this.memory = memory;
    this.window = new RowRing(memory, 0, windowSize);
    this.main = new RowRing(memory, windowSize, size);
    this.sketch = sketch;
    this.regions = regions;
    this.metrics = metrics;
    this.index = ByteBuffer.allocateDirect(LEAST_INDEX * Integer.BYTES);
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
      if (entry < 0) {
        return null;
      }
      if (!isCurrent(entry, region, key.rowHash(), nowMs)) {
        unlink(entry);
        metrics.countStale();
        return null;
      }
      int from = entry + HEADER + key.length();
      // Without the padding, which the cells do not need to know.
      byte[] cells = new byte[memory.getInt(entry + RowRing.LENGTH) - HEADER - key.length()];
      ByteBufferUtils.copyFromBufferToArray(cells, memory, from, 0, cells.length);
      return cells;
    } finally {
      lock.unlock();
    }
  }

  private boolean isCurrent(int entry, CachedRegion region, int rowHash, long nowMs) {
    int expiry = memory.getInt(entry + EXPIRY);
    return (expiry == NONE || nowMs < RowCache.expiryMs(expiry))
      && region.versions().isCurrent(rowHash, memory.getLong(entry + READ_POINT));
  }

  /**
   * Inserts a row, in place of what is there for its key.
   * @param expiry as {@link RowCache#expiry}
   */
  void put(RowKey key, CachedRegion region, long readPoint, int expiry, byte[] cells,
    int cellsLength) {
    int length = (HEADER + key.length() + cellsLength + RowRing.UNIT - 1) & -RowRing.UNIT;
    if (length > window.capacity()) {
      return;
    }
    lock.lock();
    try {
      int old = find(key, region.number());
      if (old >= 0) {
        if (memory.getLong(old + READ_POINT) >= readPoint) {
          return;
        }
        unlink(old);
      }
      int entry = window.add(length);
      while (entry < 0) {
        evictFromWindow();
        entry = window.add(length);
      }
      memory.putInt(entry + HASH, key.hash());
      memory.putInt(entry + REGION, region.number());
      memory.putLong(entry + READ_POINT, readPoint);
      memory.putInt(entry + EXPIRY, expiry);
      memory.putInt(entry + KEY_LENGTH, key.length());
      ByteBufferUtils.copyFromArrayToBuffer(memory, entry + HEADER, key.bytes(), 0, key.length());
      ByteBufferUtils.copyFromArrayToBuffer(memory, entry + HEADER + key.length(), cells, 0,
        cellsLength);
      link(entry);
    } finally {
      lock.unlock();
    }
  }

  private int find(RowKey key, int region) {
    int entry = index.getInt(slot(key.hash())) - 1;
    while (entry >= 0) {
      if (
        memory.getInt(entry + HASH) == key.hash() && memory.getInt(entry + REGION) == region
          && memory.getInt(entry + KEY_LENGTH) == key.length()
          && ByteBufferUtils.equals(memory, entry + HEADER, key.length(), key.bytes(), 0,
            key.length())
      ) {
        return entry;
      }
      entry = memory.getInt(entry + RowRing.NEXT) - 1;
    }
    return -1;
  }

  private int slot(int hash) {
    return (hash & (index.capacity() / Integer.BYTES - 1)) * Integer.BYTES;
  }

  private void link(int entry) {
    if (rows >= index.capacity() / Integer.BYTES) {
      growIndex();
    }
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
    memory.putInt(entry + RowRing.NEXT, index.getInt(slot));
    index.putInt(slot, entry + 1);
  }

  private void growIndex() {
    ByteBuffer old = index;
    try {
      index = ByteBuffer.allocateDirect(old.capacity() * 2);
    } catch (OutOfMemoryError e) {
      // Of direct memory. Chains become longer.
      return;
    }
    for (int slot = 0; slot < old.capacity(); slot += Integer.BYTES) {
      int entry = old.getInt(slot) - 1;
      while (entry >= 0) {
        int next = memory.getInt(entry + RowRing.NEXT) - 1;
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
    int current = index.getInt(slot) - 1;
    if (current == entry) {
      index.putInt(slot, link);
      return;
    }
    while (memory.getInt(current + RowRing.NEXT) - 1 != entry) {
      current = memory.getInt(current + RowRing.NEXT) - 1;
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
    int place = main.add(length);
    while (place < 0) {
      int victim = main.oldest();
      if (!isDead(victim)) {
        if (isOpen(victim) && frequency(entry) <= frequency(victim)) {
          unlink(entry);
          metrics.countEvicted();
          renewOldest(victim);
          return;
        }
        unlink(victim);
        metrics.countEvicted();
      }
      main.removeOldest();
      place = main.add(length);
    }
    move(entry, place, length);
  }

  private int frequency(int entry) {
    return sketch.frequency(FrequencySketch.hash(memory.getInt(entry + HASH)));
  }

  /** Makes the oldest entry of the rest the newest. */
  private void renewOldest(int entry) {
    int length = memory.getInt(entry + RowRing.LENGTH);
    if (moved.length < length) {
      moved = new byte[length];
    }
    ByteBufferUtils.copyFromBufferToArray(moved, memory, entry, 0, length);
    main.removeOldest();
    int place = main.add(length);
    if (place < 0) {
      // It would not be contiguous at the end of the ring.
      unlink(entry);
      return;
    }
    replaceLink(entry, place + 1);
    ByteBufferUtils.copyFromArrayToBuffer(memory, place, moved, 0, length);
  }

  private void move(int entry, int place, int length) {
    replaceLink(entry, place + 1);
    if (moved.length < length) {
      moved = new byte[length];
    }
    ByteBufferUtils.copyFromBufferToArray(moved, memory, entry, 0, length);
    ByteBufferUtils.copyFromArrayToBuffer(memory, place, moved, 0, length);
  }

  /** Removes all rows. */
  void clear() {
    lock.lock();
    try {
      metrics.addRows(-rows);
      rows = 0;
      window.clear();
      main.clear();
      index = ByteBuffer.allocateDirect(LEAST_INDEX * Integer.BYTES);
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
