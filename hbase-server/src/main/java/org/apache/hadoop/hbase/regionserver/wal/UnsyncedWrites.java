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
import java.util.concurrent.atomic.AtomicLong;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The writes of one WAL that were acknowledged and are not synced yet: how many bytes they are and
 * how old the oldest is. Neighbours share a group, so that the memory does not grow with the writes
 * and one more write costs no object: what is told is never less than the truth, and more by one
 * group at most, or two of which one was given up while a write came. Times are of
 * {@link System#nanoTime()}.
 * <p>
 * {@link #tryAdd} and {@link #bytes} may be called by any thread at any time; a lock there made
 * sixteen writers on two processors wait for each other more than for the WAL. All others need one
 * lock of the caller's.
 */
@InterfaceAudience.Private
final class UnsyncedWrites {
  /** So many groups fit into the interval and into the bytes after which a sync is due. */
  private static final int PARTS = 16;

  /** As many as are kept while nothing is synced; the last one takes what comes then. */
  static final int MAX_GROUPS = 1024;

  private static final class Group {
    private final long firstNanos;
    private final AtomicLong highestTxid;
    /** The bytes; once it is closed, what is left if they are taken from -1. */
    private final AtomicLong bytes = new AtomicLong();

    private Group(long firstNanos, long highestTxid) {
      this.firstNanos = firstNanos;
      this.highestTxid = new AtomicLong(highestTxid);
    }

    /**
     * The number first, then the bytes: who closes the group and looks at the number afterwards
     * knows the numbers of all whose bytes are in it.
     */
    private boolean add(long txid, long size) {
      if (highestTxid.get() < txid) {
        highestTxid.accumulateAndGet(txid, Math::max);
      }
      for (long now = bytes.get(); now >= 0; now = bytes.get()) {
        if (bytes.compareAndSet(now, now + size)) {
          return true;
        }
      }
      return false;
    }

    /** Lets nobody add any more and returns the bytes. */
    private long close() {
      return -1 - bytes.updateAndGet(now -> now < 0 ? now : -1 - now);
    }
  }

  private final long groupNanos;
  private final long groupBytes;
  private final Deque<Group> groups = new ArrayDeque<>();
  private final AtomicLong bytes = new AtomicLong();
  private volatile Group last;

  /**
   * @param intervalNanos after how many nanoseconds a write is to be synced
   * @param syncBytes     from how many bytes on writes are to be synced
   */
  UnsyncedWrites(long intervalNanos, long syncBytes) {
    this.groupNanos = intervalNanos / PARTS;
    this.groupBytes = syncBytes / PARTS;
  }

  /**
   * Adds a write if there is a group for it, without a lock.
   * @return all bytes, with these, or -1 if {@link #add} has to be called
   */
  long tryAdd(long txid, long size, long nanos) {
    Group group = last;
    return group != null && nanos - group.firstNanos <= groupNanos
      && group.bytes.get() <= groupBytes && group.add(txid, size) ? bytes.addAndGet(size) : -1;
  }

  /**
   * @param txid  the WAL's number of the write; they may come in any order
   * @param size  in bytes
   * @param nanos when it was appended, or later
   * @return all bytes, with these
   */
  long add(long txid, long size, long nanos) {
    Group group = groups.peekLast();
    boolean full = group == null || groups.size() < MAX_GROUPS
      && (nanos - group.firstNanos > groupNanos || group.bytes.get() > groupBytes);
    if (full || !group.add(txid, size)) {
      // A group is given up when its highest is synced: so that this order is that of the highest,
      // a straggler of a lower number counts as if it were the last of those before.
      Group next =
        new Group(nanos, group == null ? txid : Math.max(txid, group.highestTxid.get()));
      next.add(txid, size);
      groups.addLast(next);
      last = next;
    }
    return bytes.addAndGet(size);
  }

  /**
   * Forgets what is synced.
   * @param txid up to which write all are synced
   * @return whether there was any
   */
  boolean synced(long txid) {
    boolean any = false;
    for (Group first; (first = groups.peekFirst()) != null && first.highestTxid.get() <= txid;) {
      long size = first.close();
      if (first.highestTxid.get() > txid) {
        // One more had come.
        break;
      }
      groups.removeFirst();
      if (groups.isEmpty()) {
        last = null;
      }
      bytes.addAndGet(-size);
      any = true;
    }
    return any;
  }

  boolean isEmpty() {
    return groups.isEmpty();
  }

  long bytes() {
    return bytes.get();
  }

  /** Returns how many nanoseconds the oldest has waited until {@code now}; 0 if there is none. */
  long oldestAge(long now) {
    return groups.isEmpty() ? 0 : Math.max(0, now - groups.peekFirst().firstNanos);
  }

  /** Returns the highest number of those that wait; not to be called if there is none. */
  long highestTxid() {
    long highest = 0;
    for (Group group : groups) {
      highest = Math.max(highest, group.highestTxid.get());
    }
    return highest;
  }
}
