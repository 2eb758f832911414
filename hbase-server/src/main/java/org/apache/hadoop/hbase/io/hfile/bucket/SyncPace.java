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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * When a device whose entries have checksums is synced: once {@value #MAX_MEGABYTES} MB were
 * written since the last sync, and otherwise once a second while blocks are written.
 * <p>
 * {@link BucketCache} syncs all files of its engine after each batch of a writer, which often is
 * one block, so that nothing is read before it is on the device. With checksums that is not needed:
 * what a crash of the operating system takes away fails its check. A sync is needed for two
 * reasons: the device reports there that it could not keep what was written, and without syncs the
 * operating system collects writes of many seconds and lets all processes wait for them.
 * <p>
 * Thread-safe. Invariant: bytes that were written and are not counted are covered by a sync that
 * begins after they were written. Of several writers mostly one is told to sync, and the others go
 * on; two that are told cost a sync more. Nothing waits, nothing throws.
 */
@InterfaceAudience.Private
class SyncPace {
  static final int MAX_MEGABYTES = 16;
  static final long MAX_BYTES = MAX_MEGABYTES << 20;
  static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LongSupplier nanoTime;
  private final AtomicLong unsynced = new AtomicLong();
  /** When the last sync began. */
  private final AtomicLong last;

  SyncPace(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.last = new AtomicLong(nanoTime.getAsLong() - INTERVAL_NANOS);
  }

  /**
   * A block was written.
   * @param bytes at least 0
   */
  void written(int bytes) {
    unsynced.addAndGet(bytes);
  }

  /** Returns whether the caller is to sync now. */
  final boolean isDue() {
    long before = last.get();
    long now = nanoTime.getAsLong();
    if (counted() < MAX_BYTES && now - before < INTERVAL_NANOS) {
      return false;
    }
    if (!claim(before, now)) {
      // Another writer syncs, and its sync begins later than the caller's write.
      return false;
    }
    // Before the sync begins: what is written during it is counted.
    clear();
    return true;
  }

  /** Returns whether the caller is the one of several that syncs. */
  boolean claim(long before, long now) {
    return last.compareAndSet(before, now);
  }

  long counted() {
    return unsynced.get();
  }

  void clear() {
    unsynced.set(0);
  }

  /** The next batch is synced again: a device that fails is not to be found out once a second. */
  void syncFailed() {
    unsynced.set(MAX_BYTES);
  }
}
