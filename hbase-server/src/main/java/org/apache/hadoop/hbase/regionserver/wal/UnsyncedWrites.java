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
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The writes of one WAL that were acknowledged and are not synced yet: how many bytes they are and
 * how old the oldest is. Neighbours share a group, so that the memory does not grow with the writes
 * and one more write costs no object: what is told is never less than the truth, and more by one
 * group at most. Not thread-safe; times are of {@link System#nanoTime()}.
 */
@InterfaceAudience.Private
final class UnsyncedWrites {
  /** So many groups fit into the interval and into the bytes after which a sync is due. */
  private static final int PARTS = 16;

  /** As many as are kept while nothing is synced; the last one takes what comes then. */
  static final int MAX_GROUPS = 1024;

  private static final class Group {
    private final long firstNanos;
    private long highestTxid;
    private long bytes;

    private Group(long firstNanos) {
      this.firstNanos = firstNanos;
    }
  }

  private final long groupNanos;
  private final long groupBytes;
  private final Deque<Group> groups = new ArrayDeque<>();
  private long bytes;

  /**
   * @param intervalNanos after how many nanoseconds a write is to be synced
   * @param syncBytes     from how many bytes on writes are to be synced
   */
  UnsyncedWrites(long intervalNanos, long syncBytes) {
    this.groupNanos = intervalNanos / PARTS;
    this.groupBytes = syncBytes / PARTS;
  }

  /**
   * @param txid  the WAL's number of the write; they may come in any order
   * @param size  in bytes
   * @param nanos when it was appended, or later; not before the time of any other that was added
   */
  void add(long txid, long size, long nanos) {
    Group last = groups.peekLast();
    if (
      last == null || groups.size() < MAX_GROUPS
        && (nanos - last.firstNanos > groupNanos || last.bytes > groupBytes)
    ) {
      last = new Group(nanos);
      // A group is given up when its highest is synced: so that this order is that of the highest,
      // a straggler of a lower number counts as if it were the last of those before.
      last.highestTxid = groups.isEmpty() ? txid : groups.peekLast().highestTxid;
      groups.addLast(last);
    }
    last.highestTxid = Math.max(last.highestTxid, txid);
    last.bytes += size;
    bytes += size;
  }

  /**
   * Forgets what is synced.
   * @param txid up to which write all are synced
   * @return whether there was any
   */
  boolean synced(long txid) {
    boolean any = false;
    for (Group first; (first = groups.peekFirst()) != null && first.highestTxid <= txid;) {
      bytes -= first.bytes;
      groups.removeFirst();
      any = true;
    }
    return any;
  }

  boolean isEmpty() {
    return groups.isEmpty();
  }

  long bytes() {
    return bytes;
  }

  /** Returns how many nanoseconds the oldest has waited until {@code now}; 0 if there is none. */
  long oldestAge(long now) {
    return groups.isEmpty() ? 0 : Math.max(0, now - groups.peekFirst().firstNanos);
  }

  /** Returns the highest number of those that wait; not to be called if there is none. */
  long highestTxid() {
    return groups.peekLast().highestTxid;
  }
}
