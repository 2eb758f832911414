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
 * The writes of one WAL that were acknowledged and are not synced yet: how many bytes they are and
 * how old the oldest is. Nothing is kept of a single write. A writer raises two totals, and now and
 * then a mark is made of where they stand: once the WAL is synced up to the number of a mark, all
 * that was added before it is synced, and the oldest that is not came after it. So what is told is
 * never less than the truth, and more by what comes between two marks. Times are of
 * {@link System#nanoTime()}.
 * <p>
 * {@link #add}, {@link #isLookDue}, {@link #isMarkDue}, {@link #bytes} and {@link #highestTxid}
 * may be called by any thread at any time; a lock there would make sixteen writers on two
 * processors wait for each other more than for the WAL, and even one line of memory that all of
 * them write to can be noticed. So the totals are kept in parts, unless the bytes are limited, when
 * each writer has to know them all. All other methods need one lock of the caller's.
 */
@InterfaceAudience.Private
final class UnsyncedWrites {
  /** So many marks fit into the interval and into the bytes after which a sync is due. */
  private static final int PARTS = 16;

  /** As many as are kept while nothing is synced; then there are no more until something is. */
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
   * About how many bytes are added to one part of the totals from one look at the time to the next,
   * as a power of two. To read the clock costs as much as all else that is done for a write.
   */
  private static final int LOOK_SHIFT = 10;

  /** Parts of the totals, a power of two. */
  private static final int STRIPES = 16;

  /** So many longs are on two lines of memory: processors fetch them in pairs. */
  private static final int STRIDE = 16;

  private final long markNanos;
  private final long markBytes;
  private final boolean limitsBytes;
  /** For each part the highest number and the bytes of all that were ever added. */
  private final AtomicLongArray totals;
  private final int mask;
  private final Deque<Mark> marks = new ArrayDeque<>();
  /** The last one up to which all is synced. */
  private volatile Mark synced;
  private volatile long nextMarkNanos;
  private volatile long nextMarkBytes;
  /** Whether all were synced and nothing was marked since. */
  private volatile boolean emptied = true;

  /**
   * @param intervalNanos after how many nanoseconds a write is to be synced
   * @param syncBytes     from how many bytes on writes are to be synced; {@link Long#MAX_VALUE}
   *                      if that does not matter
   * @param now           when there was none yet
   */
  UnsyncedWrites(long intervalNanos, long syncBytes, long now) {
    this.markNanos = intervalNanos / PARTS;
    this.markBytes = Math.max(1, syncBytes / PARTS);
    this.limitsBytes = syncBytes < Long.MAX_VALUE;
    this.mask = limitsBytes ? 0 : STRIPES - 1;
    // The first stride keeps them away from what is in front of the array.
    this.totals = new AtomicLongArray((mask + 2) * STRIDE);
    this.synced = new Mark(now, 0, 0);
    this.nextMarkNanos = now;
    this.nextMarkBytes = markBytes;
  }

  /**
   * Returns whether a writer should look at the time, and then at {@link #isMarkDue}, before it
   * adds a write. To look more seldom makes marks fewer, and so what is told older, never younger.
   * @param size of the write in bytes
   */
  boolean isLookDue(long size) {
    long before = totals.get(part() + 1);
    return emptied || (before ^ before + size) >>> LOOK_SHIFT != 0
      || limitsBytes && before >= nextMarkBytes;
  }

  /** Where the calling thread's part of the totals begins. */
  private int part() {
    return (((int) Thread.currentThread().getId() & mask) + 1) * STRIDE;
  }

  /** Returns whether {@link #mark} should be called before a write of this time is added. */
  boolean isMarkDue(long now) {
    return emptied || now - nextMarkNanos >= 0 || limitsBytes && allBytes() >= nextMarkBytes;
  }

  /**
   * Adds a write, which must not have been acknowledged before.
   * @param txid the WAL's number of the write; they may come in any order
   * @param size in bytes
   * @return all bytes that were not synced when that was looked at last, with these; 0 if bytes do
   *         not matter
   */
  long add(long txid, long size) {
    int number = part();
    // The number first: who sees the bytes knows the number.
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

  /** Returns where the totals stand. The order of reading is what makes a mark true. */
  private Mark read(long now) {
    long all = allBytes();
    return new Mark(now, all, highestTxid());
  }

  /**
   * Separates what was added from what will be.
   * @param now the time, taken before this is called
   */
  void mark(long now) {
    Mark mark = read(now);
    Mark last = marks.isEmpty() ? synced : marks.peekLast();
    if (last.txid < mark.txid) {
      if (marks.size() < MAX_MARKS) {
        marks.addLast(mark);
      }
    } else if (marks.isEmpty()) {
      // None of a higher number has come since, so this says the same of later.
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
   * Forgets what is synced.
   * @param txid up to which write all are synced
   * @param now  the time, taken before this is called
   * @return whether there was any
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

  /** Returns whether all that were added were synced when that was looked at last. */
  boolean isEmpty() {
    return highestTxid() <= synced.txid;
  }

  /** Returns how many bytes were not synced when that was looked at last. */
  long bytes() {
    // This one first, as it grows: the other way round what is told might be less than the truth.
    long forgotten = synced.bytes;
    return allBytes() - forgotten;
  }

  /** Returns how many nanoseconds the oldest has waited until {@code now}; 0 if there is none. */
  long oldestAge(long now) {
    return isEmpty() ? 0 : Math.max(0, now - synced.nanos);
  }

  /** Returns the highest number that was ever added; 0 if there was none. */
  long highestTxid() {
    long highest = 0;
    for (int i = 0; i <= mask; i++) {
      highest = Math.max(highest, totals.get((i + 1) * STRIDE));
    }
    return highest;
  }
}
