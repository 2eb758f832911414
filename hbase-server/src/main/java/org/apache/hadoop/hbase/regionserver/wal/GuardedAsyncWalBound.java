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
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bound of a WAL that drops an append that fails and the following ones until it has rolled.
 * Related to HBASE-27231.
 * <p>
 * Invariant: a write that was dropped is not acknowledged, or the WAL appends nothing more and does
 * not roll, so that the server aborts and the WAL has no hole. The WAL first adds the write to
 * {@link DroppedAppends} and then calls {@link #dropped}, which takes the lock under which a writer
 * looks there and counts its write: one of the two threads learns of the other.
 * <p>
 * Thread-safe.
 */
@InterfaceAudience.Private
class GuardedAsyncWalBound extends AsyncWalBound {
  private static final Logger LOG = LoggerFactory.getLogger(GuardedAsyncWalBound.class);

  // Written under the lock, and read without it by the threads of the WAL.
  private volatile Throwable lost;
  private final DroppedAppends dropped;

  GuardedAsyncWalBound(AsyncWalSettings settings, String name, long timeoutNanos,
    LongSupplier syncedTxid, Sync sync, LongSupplier clock, Lock lock, DroppedAppends dropped) {
    super(settings, name, timeoutNanos, syncedTxid, sync, clock, lock);
    this.dropped = dropped;
  }

  /** Returns the bound of {@code wal}, guarded if it may drop writes; null if none is set. */
  static AsyncWalBound create(Configuration conf, AbstractFSWAL<?> wal, long timeoutNanos) {
    AsyncWalSettings settings = AsyncWalSettings.of(conf);
    return settings.isEnabled() && wal instanceof FSHLog
      ? new GuardedAsyncWalBound(settings, nameOf(wal), timeoutNanos, wal.highestSyncedTxid::get,
        wal::sync, System::nanoTime, new ReentrantLock(), wal.droppedAppends)
      : AsyncWalBound.create(conf, wal, timeoutNanos);
  }

  @Override
  void check(long txid) throws IOException {
    if (lost != null || dropped.contains(txid)) {
      throw new IOException("An append to " + name() + " has failed", lost);
    }
    super.check(txid);
  }

  /**
   * Must be called when the WAL has dropped a write, whose writer is notified only if it waits for
   * a sync. A write that is not acknowledged yet then fails. If one was acknowledged already, later
   * ones must not survive without it: nothing may be appended or acknowledged any more, and the
   * server must abort.
   * @param bound may be null
   */
  static void dropped(AsyncWalBound bound, long txid, Throwable cause) {
    if (bound != null) {
      ((GuardedAsyncWalBound) bound).failWriters(txid, cause);
    }
  }

  private void failWriters(long txid, Throwable cause) {
    lock.lock();
    try {
      // All later writes are dropped, too: so is the highest, if it is not before this one.
      if (lost == null && txid <= highestTxid()) {
        LOG.error("A write to {} was dropped after it was acknowledged", name(), cause);
        lost = cause;
      }
      space.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Must be called when the WAL is about to roll, by the appending thread, between the last append
   * to the old writer and the first to the new one.
   * @param bound may be null
   * @return whether the WAL may append again, because no acknowledged write was dropped
   */
  static boolean mayAppendAgain(AsyncWalBound bound) {
    return bound == null || ((GuardedAsyncWalBound) bound).lost == null;
  }

  /**
   * Prevents a roll after an acknowledged write was dropped.
   * @param bound may be null
   * @throws IOException if one was dropped
   */
  static void failIfLost(AsyncWalBound bound) throws IOException {
    if (!mayAppendAgain(bound)) {
      throw new IOException("An append to " + bound.name() + " has failed after the write was "
        + "acknowledged; the server must abort and its WAL must be replayed",
        ((GuardedAsyncWalBound) bound).lost);
    }
  }
}
