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

import java.io.IOException;
import java.util.Arrays;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The txids of the appends that an FSHLog has dropped, as ranges. Once an append has failed, the
 * WAL drops every append until it rolls, so those dropped between two rolls are all from the first
 * to the last of them.
 * <p>
 * A later sync succeeds, of what was appended after the roll, and raises the WAL's synced txid
 * above those of the dropped appends: whoever waits for one of them has to ask here as well.
 * <p>
 * Invariant: a txid that was added is contained forever, since each roll only ends a range and none
 * is removed; a txid between two ranges is not contained, since the appending thread ends a range
 * before the first append to the next writer.
 * <p>
 * {@link #add} and {@link #endRange} are for the appending thread; the others are thread-safe.
 */
@InterfaceAudience.Private
final class DroppedAppends {
  /**
   * Maximum number of ranges; beyond it the oldest two are merged. The writers of the appends
   * between those were notified this many failed rolls ago.
   */
  static final int MAX_RANGES = 64;

  /** First and last txid of each range, ordered; replaced as a whole. */
  private volatile long[] ranges = {};
  /** Whether the last range may still grow. */
  private boolean open;

  /** Adds the txid of a dropped append, which is higher than all before. */
  void add(long txid) {
    long[] next;
    if (open) {
      next = ranges.clone();
    } else {
      long[] kept = ranges;
      if (kept.length == 2 * MAX_RANGES) {
        long first = kept[0];
        kept = Arrays.copyOfRange(kept, 2, kept.length);
        kept[0] = first;
      }
      next = Arrays.copyOf(kept, kept.length + 2);
      next[next.length - 2] = txid;
      open = true;
    }
    next[next.length - 1] = txid;
    ranges = next;
  }

  /** Ends the current range. Must be called when the WAL stops dropping writes. */
  void endRange() {
    open = false;
  }

  /** Returns whether the append with this txid was dropped. */
  boolean contains(long txid) {
    long[] all = ranges;
    // The search starts at the last range, because most lookups are for recent writes.
    for (int i = all.length - 2; i >= 0 && txid <= all[i + 1]; i -= 2) {
      if (txid >= all[i]) {
        return true;
      }
    }
    return false;
  }

  /**
   * Called when all appends up to a txid seem to be synced.
   * @throws IOException if that with this txid was dropped
   */
  void check(long txid) throws IOException {
    if (contains(txid)) {
      throw new IOException("The append of txid " + txid + " has failed, and is not in the WAL");
    }
  }
}
