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
 * How many syncs of an AsyncFSWAL are on their way to HDFS, and whether one more should be.
 * <p>
 * AsyncFSWAL sends what it has as soon as a writer waits for a sync, so with many writers each sync
 * takes a few of them along, and what a sync costs (a packet through each DataNode and its
 * acknowledgement) is paid once for those. With a limit the next one waits until one has ended and
 * takes along all who have come meanwhile. A full batch is sent in any case.
 * <p>
 * Only the thread that consumes the WAL's entries may call this.
 */
@InterfaceAudience.Private
final class SyncsInFlight {
  private final int max;
  private long writer;
  private int count;
  private boolean held;

  SyncsInFlight(Configuration conf) {
    this.max = SyncsInFlightSettings.of(conf).max();
  }

  /**
   * Returns whether a sync may be started; if not, {@link #ended} tells when to ask again.
   * @param writer tells the files of the WAL apart; with a new one there is none on its way
   */
  boolean mayStart(long writer) {
    held = writer == this.writer && count >= max;
    return !held;
  }

  /** To be called when a sync is started. */
  void started(long writer) {
    if (writer != this.writer) {
      this.writer = writer;
      count = 0;
    }
    count++;
  }

  /**
   * To be called when a sync has ended or failed.
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
