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
package org.apache.hadoop.hbase.regionserver.wal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Tracks the acknowledged and unsynced writes of one WAL: their bytes and the age of the oldest. No
 * state is kept per write. A writer raises two totals, and from time to time a mark records their
 * values: once the WAL is synced up to the txid of a mark, all writes added before it are synced,
 * and the oldest unsynced write was added after it. The results are therefore never too low, and
 * too high by at most the writes between two marks. Times are of {@link System#nanoTime()}.
 * <p>
 * {@link #add}, {@link #isLookDue}, {@link #isMarkDue}, {@link #bytes} and {@link #highestTxid} are
 * thread-safe and take no lock. With a lock, sixteen writers on two processors would wait for each
 * other more than for the WAL, and even a single shared cache line is noticeable. The totals are
 * therefore striped, unless the bytes are limited, in which case each writer must know the sum. All
 * other methods require one common lock of the caller.
 */
@InterfaceAudience.Private
final class UnsyncedWrites {
  /** Number of marks per interval and per number of bytes after which a sync is due. */
  private static final int PARTS = 16;

  /** Maximum number of marks; when reached, none is added until a sync. */
  static final int MAX_MARKS = 1024;

  private static final class Mark {
    private final long nanos;
    private final long bytes;
    private final long txid;

    private Mark(long nanos, long bytes, long txid) {
      this.nanos = nanos;
      this.bytes = bytes;
      this.txid = txid;
    }
  }

  /**
   * Approximate number of bytes added to a stripe between two readings of the clock, as a power of
   * two. Reading the clock costs as much as all other processing of a write.
   */
  private static final int LOOK_SHIFT = 10;

  /** Number of stripes of the totals, a power of two. */
  private static final int STRIPES = 16;

  /** Number of longs in two cache lines: processors prefetch adjacent lines in pairs. */
  private static final int STRIDE = 16;

  private final long markNanos;
  private final long markBytes;
  private final boolean limitsBytes;
  /** For each stripe: the highest txid, and the bytes ever added. */
  private final AtomicLongArray totals;
  private final int mask;
  private final Deque<Mark> marks = new ArrayDeque<>();
  /** The latest mark up to which all writes are synced. */
  private volatile Mark synced;
  private volatile long nextMarkNanos;
  private volatile long nextMarkBytes;
  /** Whether all writes were synced and none was marked since. */
  private volatile boolean emptied = true;

  /**
   * @param intervalNanos age at which a write must be synced, in nanoseconds
   * @param syncBytes     number of unsynced bytes at which a sync is due; {@link Long#MAX_VALUE}
   *                      for no limit
   * @param now           current time, before the first write
   */
  UnsyncedWrites(long intervalNanos, long syncBytes, long now) {
    this.markNanos = intervalNanos / PARTS;
    this.markBytes = Math.max(1, syncBytes / PARTS);
    this.limitsBytes = syncBytes < Long.MAX_VALUE;
    this.mask = limitsBytes ? 0 : STRIPES - 1;
    // The first stride separates the stripes from the memory before the array.
    this.totals = new AtomicLongArray((mask + 2) * STRIDE);
    this.synced = new Mark(now, 0, 0);
    this.nextMarkNanos = now;
    this.nextMarkBytes = markBytes;
  }

  /**
   * Returns whether a writer should read the clock, and then call {@link #isMarkDue}, before it
   * adds a write. Fewer readings cause fewer marks, and so a higher reported age, never a lower
   * one.
   * @param size size of the write in bytes
   */
  boolean isLookDue(long size) {
    long before = totals.get(part() + 1);
    return emptied || (before ^ before + size) >>> LOOK_SHIFT != 0
      || limitsBytes && before >= nextMarkBytes;
  }

  /** Returns the offset of the calling thread's stripe. */
  private int part() {
    return (((int) Thread.currentThread().getId() & mask) + 1) * STRIDE;
  }

  /** Returns whether {@link #mark} should be called before a write is added at this time. */
  boolean isMarkDue(long now) {
    return emptied || now - nextMarkNanos >= 0 || limitsBytes && allBytes() >= nextMarkBytes;
  }

  /**
   * Adds a write, which must not have been acknowledged before.
   * @param txid the WAL's txid of the write; may arrive in any order
   * @param size in bytes
   * @return all unsynced bytes as of the last {@link #synced}, including these; 0 if bytes are not
   *         limited
   */
  long add(long txid, long size) {
    int number = part();
    // The txid first: a thread that sees the bytes also sees the txid.
    for (long highest = totals.get(number); highest < txid; highest = totals.get(number)) {
      if (totals.compareAndSet(number, highest, txid)) {
        break;
      }
    }
    long all = totals.addAndGet(number + 1, size);
    return limitsBytes ? all - synced.bytes : 0;
  }

  private long allBytes() {
    long all = 0;
    for (int i = 0; i <= mask; i++) {
      all += totals.get((i + 1) * STRIDE + 1);
    }
    return all;
  }

  /**
   * Returns a mark of the current totals. Bytes are read before the txid, so that the mark is
   * valid.
   */
  private Mark read(long now) {
    long all = allBytes();
    return new Mark(now, all, highestTxid());
  }

  /**
   * Adds a mark that separates earlier from later writes.
   * @param now the time, taken before this call
   */
  void mark(long now) {
    Mark mark = read(now);
    Mark last = marks.isEmpty() ? synced : marks.peekLast();
    if (last.txid < mark.txid) {
      if (marks.size() < MAX_MARKS) {
        marks.addLast(mark);
      }
    } else if (marks.isEmpty()) {
      // No higher txid was added since, so the mark is valid with the later time.
      synced = mark;
    } else {
      marks.removeLast();
      marks.addLast(mark);
    }
    emptied = false;
    nextMarkNanos = now + markNanos;
    nextMarkBytes = mark.bytes + markBytes;
  }

  /**
   * Removes synced writes.
   * @param txid txid up to which all writes are synced
   * @param now  the time, taken before this call
   * @return whether any write was removed
   */
  boolean synced(long txid, long now) {
    Mark before = synced;
    Mark all = read(now);
    if (all.txid <= txid) {
      marks.clear();
      synced = all;
      emptied = true;
    } else {
      while (!marks.isEmpty() && marks.peekFirst().txid <= txid) {
        synced = marks.removeFirst();
      }
    }
    return before.txid < synced.txid;
  }

  /** Returns whether all writes were synced as of the last {@link #synced}. */
  boolean isEmpty() {
    return highestTxid() <= synced.txid;
  }

  /** Returns the number of unsynced bytes as of the last {@link #synced}. */
  long bytes() {
    // Read first, because it grows: in the other order, the result might be too low.
    long forgotten = synced.bytes;
    return allBytes() - forgotten;
  }

  /** Returns the age of the oldest write at {@code now} in nanoseconds; 0 if there is none. */
  long oldestAge(long now) {
    return isEmpty() ? 0 : Math.max(0, now - synced.nanos);
  }

  /** Returns the highest txid ever added; 0 if there was none. */
  long highestTxid() {
    long highest = 0;
    for (int i = 0; i <= mask; i++) {
      highest = Math.max(highest, totals.get((i + 1) * STRIDE));
    }
    return highest;
  }
}
