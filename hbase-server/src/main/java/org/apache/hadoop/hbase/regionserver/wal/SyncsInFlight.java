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

import org.apache.hadoop.conf.Configuration;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Limits the number of syncs that an AsyncFSWAL has in flight to HDFS.
 * <p>
 * AsyncFSWAL sends its buffered entries as soon as a writer waits for a sync. With many writers,
 * each sync covers only a few of them, and the cost of a sync (a packet through each DataNode and
 * its acknowledgement) is shared by those few. With a limit, the next sync waits until one has
 * ended and covers all writers that have arrived meanwhile. A full batch is sent in any case.
 * <p>
 * Not thread-safe: called only by the thread that consumes the WAL's entries.
 */
@InterfaceAudience.Private
final class SyncsInFlight {
  private final int max;
  private long writer;
  private int count;
  private boolean held;

  /** @throws IllegalArgumentException naming the key, its value and the remedy */
  SyncsInFlight(Configuration conf) {
    max = SyncsInFlightSettings.of(conf).max();
  }

  /**
   * Returns whether a sync may be started; if not, the result of {@link #ended} shows when to try
   * again.
   * @param writer identifies the WAL file; a new one has no syncs in flight
   */
  boolean mayStart(long writer) {
    held = writer == this.writer && count >= max;
    return !held;
  }

  /** Records the start of a sync. */
  void started(long writer) {
    if (writer != this.writer) {
      this.writer = writer;
      count = 0;
    }
    count++;
  }

  /**
   * Records the end or failure of a sync.
   * @return whether another one waits for that
   */
  boolean ended(long writer) {
    if (writer == this.writer) {
      count--;
    }
    boolean waits = held;
    held = false;
    return waits;
  }
}
