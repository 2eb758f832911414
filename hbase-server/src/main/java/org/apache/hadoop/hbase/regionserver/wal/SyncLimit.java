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

import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The maximum number of syncs that a WAL has in flight: a fixed number for AsyncFSWAL, the threads
 * that sync for FSHLog, or a number that is tuned. Thread-safe.
 */
@InterfaceAudience.Private
final class SyncLimit {
  /** The limit of a WAL that has none. */
  static final int NONE = Integer.MAX_VALUE;

  /** FSHLog's key of its threads that sync, and its default. */
  private static final String SYNCERS_KEY = "hbase.regionserver.hlog.syncer.count";
  private static final int DEFAULT_SYNCERS = 5;

  private final int max;
  /** Null if the limit is fixed. */
  private final SyncLimitTuner tuner;

  private SyncLimit(int max, SyncLimitTuner tuner) {
    this.max = max;
    this.tuner = tuner;
  }

  /**
   * Creates the limit of a WAL that is opened.
   * @throws IllegalArgumentException naming the key, its value and the remedy
   */
  static SyncLimit of(Configuration conf, AbstractFSWAL<?> wal) {
    return of(conf, wal instanceof FSHLog ? conf.getInt(SYNCERS_KEY, DEFAULT_SYNCERS) : NONE);
  }

  /** @param syncers how many threads sync, {@link #NONE} for an AsyncFSWAL */
  static SyncLimit of(Configuration conf, int syncers) {
    SyncsInFlightSettings settings = SyncsInFlightSettings.of(conf);
    if (!settings.isAuto()) {
      return new SyncLimit(syncers == NONE ? settings.max() : syncers, null);
    }
    SyncLimitTuner tuner = new SyncLimitTuner(syncers, System.nanoTime());
    SyncLimitMetrics.get().opened(tuner);
    return new SyncLimit(syncers, tuner);
  }

  /** Returns the maximum number now, 1 at least. */
  int get() {
    return tuner == null ? max : tuner.limit();
  }

  /** Waits for a sync, as {@link SyncFuture#get(long)}. */
  void await(SyncFuture sync, long timeoutNs)
    throws InterruptedException, ExecutionException, TimeoutIOException {
    if (tuner == null) {
      sync.get(timeoutNs);
      return;
    }
    long start = System.nanoTime();
    sync.get(timeoutNs);
    tuner.waited(start, System.nanoTime());
  }

  /** Called when the WAL is closed. */
  void close() {
    if (tuner != null) {
      SyncLimitMetrics.get().closed(tuner);
    }
  }
}
