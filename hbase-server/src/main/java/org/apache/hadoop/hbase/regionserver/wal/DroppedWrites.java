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

import java.util.Arrays;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The numbers of the writes that one WAL has dropped, as ranges. Once an append has failed the WAL
 * drops every write until it rolls, so that the writes that are dropped between two rolls are all
 * that were appended from the first of them to the last.
 * <p>
 * A number that was ever added is contained for good, since each roll only ends a range and none is
 * taken away; and a number between two ranges is not, since the thread that appends ends a range
 * before the first append to the next writer.
 * <p>
 * {@link #contains} is for any thread at any time, all else for one thread at a time.
 */
@InterfaceAudience.Private
final class DroppedWrites {
  /**
   * As many ranges as are kept apart; of more the oldest two become one. Whoever has written what
   * was in the WAL between these was told so that many failed rolls ago.
   */
  static final int MAX_RANGES = 64;

  /** First and last of each range, in order; replaced as a whole. */
  private volatile long[] ranges = {};
  /** Whether the last range goes on. */
  private boolean open;

  /** Adds the number of a write that was dropped, which is higher than all before. */
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

  /** To be called when the WAL drops no more: the next one that it drops begins another range. */
  void endRange() {
    open = false;
  }

  boolean contains(long txid) {
    long[] all = ranges;
    // From the last on, as the writes that are asked for are the latest.
    for (int i = all.length - 2; i >= 0 && txid <= all[i + 1]; i -= 2) {
      if (txid >= all[i]) {
        return true;
      }
    }
    return false;
  }
}
