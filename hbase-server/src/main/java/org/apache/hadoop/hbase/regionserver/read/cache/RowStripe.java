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
import org.apache.hadoop.hbase.io.hfile.composite.GhostEntries;
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
 * Memory is in pages, which can be added and removed at any time.
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
  private static final int NONE = RowPages.NONE;

  private final ReentrantLock lock;
  private final RowPages pages = new RowPages();
  private final RowRing window = new RowRing();
  private final RowRing main = new RowRing();
  /** No page is smaller. */
  private final int maxEntry;
  private final FrequencySketch sketch;
  private final IntFunction<CachedRegion> regions;
  private final RowCacheMetrics metrics;
  /** The first entries of chains with equal low bits of their hashes; {@link #NONE} of none. */
  private int[] index = new int[MIN_INDEX];
  private int rows;
  private byte[] moved = {};
  /** The rows that more memory would hold; null if memory is not borrowed. */
  private volatile GhostEntries ghosts;

  /**
   * @param memory   of the stripe alone, a multiple of {@link RowPages#UNIT} bytes
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
    int size = memory.capacity();
    int windowSize = size / WINDOW_SHARE & -RowPages.UNIT;
    pages.addAll(memory, 0, windowSize, window);
    pages.addAll(memory, windowSize, size, main);
    this.maxEntry = Math.min(maxEntry, Math.min(window.minPage(), main.minPage()));
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
      ByteBuffer memory = pages.memory(entry);
      int from = RowPages.offset(entry);
      int prefix = HEADER + key.length();
      // The copy includes the padding, which readers of the cells ignore.
      byte[] cells = new byte[memory.getInt(from + RowRing.LENGTH) - prefix];
      ByteBufferUtils.copyFromBufferToArray(cells, memory, from + prefix, 0, cells.length);
      return cells;
    } finally {
      lock.unlock();
    }
  }

  private boolean isCurrent(int entry, CachedRegion region, int rowHash, long nowMs) {
    int expiry = pages.getInt(entry, EXPIRY);
    return (expiry == 0 || nowMs < expiryMs(expiry))
      && nowMs >= expiryMs(pages.getInt(entry, SINCE))
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
    return pages.memory(entry).getLong(RowPages.offset(entry) + READ_POINT);
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
    int length = (HEADER + key.length() + cellsLength + RowPages.UNIT - 1) & -RowPages.UNIT;
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
      ByteBuffer memory = pages.memory(entry);
      int at = RowPages.offset(entry);
      memory.putInt(at + HASH, key.hash());
      memory.putInt(at + REGION, region.number());
      memory.putLong(at + READ_POINT, readPoint);
      memory.putInt(at + EXPIRY, expiry);
      memory.putInt(at + KEY_LENGTH, key.length());
      memory.putInt(at + SINCE, since);
      ByteBufferUtils.copyFromArrayToBuffer(memory, at + HEADER, key.bytes(), 0, key.length());
      ByteBufferUtils.copyFromArrayToBuffer(memory, at + HEADER + key.length(), cells, 0,
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
      ByteBuffer memory = pages.memory(entry);
      int at = RowPages.offset(entry);
      if (
        memory.getInt(at + HASH) == key.hash() && memory.getInt(at + REGION) == region
          && memory.getInt(at + KEY_LENGTH) == key.length()
          && ByteBufferUtils.equals(memory, at + HEADER, key.length(), key.bytes(), 0,
            key.length())
      ) {
        return entry;
      }
      entry = memory.getInt(at + RowRing.NEXT);
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
    CachedRegion region = regions.apply(pages.getInt(entry, REGION));
    if (region != null) {
      region.addRows(difference);
    }
  }

  private void push(int entry) {
    int slot = slot(pages.getInt(entry, HASH));
    pages.putInt(entry, RowRing.NEXT, index[slot]);
    index[slot] = entry;
  }

  private void growIndex() {
    int[] old = index;
    index = new int[old.length * 2];
    for (int first : old) {
      int entry = first;
      while (entry != NONE) {
        int next = pages.getInt(entry, RowRing.NEXT);
        push(entry);
        entry = next;
      }
    }
  }

  /** Takes an entry out of the index. Its memory is free when it is the oldest of its ring. */
  private void unlink(int entry) {
    replaceLink(entry, pages.getInt(entry, RowRing.NEXT));
    pages.putInt(entry, RowRing.NEXT, RowRing.DEAD);
    rows--;
    count(entry, -1);
  }

  private void replaceLink(int entry, int link) {
    int slot = slot(pages.getInt(entry, HASH));
    int current = index[slot];
    if (current == entry) {
      index[slot] = link;
      return;
    }
    while (pages.getInt(current, RowRing.NEXT) != entry) {
      current = pages.getInt(current, RowRing.NEXT);
    }
    pages.putInt(current, RowRing.NEXT, link);
  }

  private boolean isDead(int entry) {
    return pages.getInt(entry, RowRing.NEXT) == RowRing.DEAD;
  }

  /** Removes the oldest entry of the window, to the rest or for good. */
  private void evictFromWindow() {
    int entry = window.oldest();
    if (!isDead(entry)) {
      if (!isOpen(entry)) {
        unlink(entry);
      } else {
        admit(entry, pages.getInt(entry, RowRing.LENGTH));
      }
    }
    window.removeOldest();
  }

  private boolean isOpen(int entry) {
    return regions.apply(pages.getInt(entry, REGION)) != null;
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
    CachedRegion region = regions.apply(pages.getInt(entry, REGION));
    if (region != null) {
      region.versions().unregister(rowHash(entry));
    }
    GhostEntries evicted = ghosts;
    if (evicted != null && region != null) {
      evicted.onEvicted(sketchHash(entry));
    }
    unlink(entry);
    metrics.countEvicted();
  }

  /** Returns the hash of the row, with which the key begins. */
  private int rowHash(int entry) {
    int row = RowPages.offset(entry) + HEADER + Integer.BYTES;
    return RowHash.of(pages.memory(entry), row, pages.getInt(entry, HEADER));
  }

  private int frequency(int entry) {
    return sketch.frequency(sketchHash(entry));
  }

  private long sketchHash(int entry) {
    return FrequencySketch.hash(pages.getInt(entry, HASH));
  }

  void setGhosts(GhostEntries ghosts) {
    this.ghosts = ghosts;
  }

  /** Makes the oldest entry of the rest the newest. */
  private void renewOldest(int entry) {
    int length = pages.getInt(entry, RowRing.LENGTH);
    copyOut(entry, length);
    main.removeOldest();
    int address = main.add(length);
    if (address == NONE) {
      // It would not be contiguous at the end of the page.
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
    ByteBufferUtils.copyFromBufferToArray(moved, pages.memory(entry), RowPages.offset(entry), 0,
      length);
  }

  private void copyIn(int address, int length) {
    ByteBufferUtils.copyFromArrayToBuffer(pages.memory(address), RowPages.offset(address), moved, 0,
      length);
  }

  /**
   * Adds a page, for as long as it is not removed.
   * @param memory all of a buffer, that nothing else uses; of more than
   *               {@link RowPages#MAX_PAGE} bytes the first are used
   * @return null if it is too small, or there are too many
   */
  RowPage add(ByteBuffer memory) {
    if (memory.capacity() < maxEntry) {
      return null;
    }
    lock.lock();
    try {
      ByteBuffer part = memory.duplicate();
      part.position(0).limit(Math.min(memory.capacity(), RowPages.MAX_PAGE) & -RowPages.UNIT);
      RowPage page = pages.add(part.slice());
      if (page != null) {
        long size = window.capacity() + main.capacity() + page.size();
        boolean toWindow = (window.capacity() + page.size()) * WINDOW_SHARE <= size;
        (toWindow ? window : main).add(page);
      }
      return page;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes a page that was added, and evicts its rows. No thread accesses its memory after this
   * method has returned, as lookups copy a row under the lock under which the page is removed.
   */
  void remove(RowPage page) {
    lock.lock();
    try {
      page.ring().remove(page, entry -> {
        if (!isDead(entry)) {
          evict(entry);
        }
      });
      pages.remove(page);
    } finally {
      lock.unlock();
    }
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
