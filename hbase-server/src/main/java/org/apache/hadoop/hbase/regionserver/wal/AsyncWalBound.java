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
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.hadoop.hbase.util.Threads;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds what one WAL has acknowledged without a sync, by time and by bytes. See HBASE-16689.
 * <p>
 * A write counts from the moment at which it may be acknowledged until the WAL says that a sync has
 * covered it, whoever asked for that sync. A thread of its own syncs the WAL when the oldest is
 * due; it waits for one sync before it starts the next. It is one thread for each WAL because a
 * sync waits for HDFS, and the WAL of one pipeline must not wait for that of another; the thread
 * starts with the first such write, and sleeps while there is none.
 * <p>
 * A write that has no room within {@value AsyncWalSettings#MAX_UNSYNCED_KEY} waits where a SYNC_WAL
 * write waits for its sync, before it is in the memstore, as long as that would at most, and fails
 * as that would.
 * <p>
 * Thread-safe. A writer takes the lock a few times in an interval, if it is free, and else only to
 * wake the thread or to wait for room; it is held for the arithmetic only, never while the WAL
 * works.
 */
@InterfaceAudience.Private
public final class AsyncWalBound {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncWalBound.class);

  /** Why a sync was started. */
  enum Cause {
    TIME,
    BYTES,
    PRESSURE
  }

  /** Syncs a WAL up to the write of this number at least, and returns when that is done. */
  interface Sync {
    void sync(long txid) throws IOException;
  }

  private static final long NONE = Long.MIN_VALUE;
  private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final AsyncWalMetrics metrics = AsyncWalMetrics.get();
  private final String name;
  /** How old the oldest write is when a sync is started. */
  private final long dueNanos;
  private final long syncBytes;
  private final long maxUnsynced;
  private final long pressureBytes;
  private final long timeoutNanos;
  private final LongSupplier syncedTxid;
  private final Sync sync;
  private final LongSupplier clock;

  private final UnsyncedWrites writes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition due = lock.newCondition();
  private final Condition room = lock.newCondition();
  // Guarded by the lock.
  private Thread syncer;
  // Written under the lock, as all below, and read without it by writers. Whether the thread looks
  // again by itself when what there is now is due.
  private volatile boolean watching;
  // Whether the thread was told that there is work since it looked last.
  private volatile boolean told;
  private volatile int blockedWriters;
  private volatile long maxWindow;
  // When the sync was started that is on its way.
  private volatile long runningSince = NONE;
  private volatile boolean closed;
  private volatile Throwable lost;
  private final DroppedWrites dropped = new DroppedWrites();

  /**
   * @param timeoutNanos how long a writer waits for room at most
   * @param syncedTxid   up to which write all are synced
   * @param clock        the time in nanoseconds, from anywhere, never going back
   */
  AsyncWalBound(AsyncWalSettings settings, String name, long timeoutNanos, LongSupplier syncedTxid,
    Sync sync, LongSupplier clock) {
    this.name = name;
    // An eighth is for the thread to get a processor: under load that takes it some milliseconds.
    this.dueNanos = settings.intervalNanos() / 8 * 7;
    this.syncBytes = settings.bytes();
    this.maxUnsynced = settings.maxUnsynced();
    // With half of the room left a sync may end before anyone has to wait.
    this.pressureBytes = maxUnsynced == Long.MAX_VALUE ? Long.MAX_VALUE : maxUnsynced / 2 + 1;
    this.timeoutNanos = timeoutNanos;
    this.syncedTxid = syncedTxid;
    this.sync = sync;
    this.clock = clock;
    this.writes = new UnsyncedWrites(settings.intervalNanos(), Math.min(syncBytes, pressureBytes),
      clock.getAsLong());
  }

  /** Returns the bound of {@code wal}, or null if its settings ask for none. */
  static AsyncWalBound create(Configuration conf, AbstractFSWAL<?> wal, long timeoutNanos) {
    AsyncWalSettings settings = AsyncWalSettings.of(conf);
    return settings.isEnabled()
      ? new AsyncWalBound(settings, wal.implClassName + " " + wal.walFilePrefix + wal.walFileSuffix,
        timeoutNanos, wal.highestSyncedTxid::get, wal::sync, System::nanoTime)
      : null;
  }

  /**
   * To be called when a write has been appended, has been synced if its durability says so, and is
   * about to be applied and acknowledged. Waits for room if that is bounded.
   * @param durability what the write is done with; USE_DEFAULT is taken for one without a sync
   * @throws WALSyncTimeoutIOException if there was no room for as long as a sync may take
   * @throws IOException               if the write must not be acknowledged, as the WAL is closed
   *                                   or has dropped it
   */
  public static void acknowledge(WAL wal, long txid, WALEdit edit, Durability durability)
    throws IOException {
    AsyncWalBound bound =
      wal instanceof AbstractFSWAL ? ((AbstractFSWAL<?>) wal).asyncBound : null;
    if (bound == null) {
      return;
    }
    // Up to where all is synced is not looked at here: AsyncFSWAL writes that again and again, and
    // each look would fetch it from another processor.
    if (durability.ordinal() <= Durability.ASYNC_WAL.ordinal()) {
      bound.acknowledge(txid, edit.estimatedSerializedSizeOf());
    } else if (bound.hasLost() || bound.dropped.contains(txid)) {
      bound.check(txid);
    }
  }

  private boolean isSynced(long txid) {
    return txid <= syncedTxid.getAsLong() && lost == null;
  }

  void acknowledge(long txid, long size) throws IOException {
    check(txid);
    if (writes.isLookDue(size)) {
      markIfDue();
    }
    long bytes = writes.add(txid, size);
    // A drop is noted and then the highest number looked at, here it is the other way round: so one
    // of the two sees the other.
    check(txid);
    if (!watching || !told && (bytes >= syncBytes || bytes >= pressureBytes)) {
      wake();
    }
    if (bytes > maxUnsynced) {
      awaitRoom(txid);
    }
  }

  private void markIfDue() {
    long now = clock.getAsLong();
    if (writes.isMarkDue(now) && lock.tryLock()) {
      try {
        writes.mark(now);
      } finally {
        lock.unlock();
      }
    }
  }

  private void wake() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      if (syncer == null) {
        metrics.opened(this);
        syncer = new Thread(this::syncWhenDue, "AsyncWalSyncer-" + name);
        Threads.setDaemonThreadRunning(syncer, syncer.getName());
      }
      watching = true;
      told = true;
      due.signal();
    } finally {
      lock.unlock();
    }
  }

  private void awaitRoom(long txid) throws IOException {
    lock.lock();
    try {
      forgetSynced(clock.getAsLong());
      if (!hasRoom(txid)) {
        blockedWriters++;
        metrics.blocked();
        try {
          awaitRoomOrFail(txid);
        } finally {
          blockedWriters--;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean hasRoom(long txid) {
    return writes.bytes() <= maxUnsynced || isSynced(txid);
  }

  private void awaitRoomOrFail(long txid) throws IOException {
    try {
      for (long left = timeoutNanos; !hasRoom(txid); check(txid)) {
        if (left <= 0) {
          throw new WALSyncTimeoutIOException(
            new TimeoutIOException("No room for an unsynced write of " + name + " after "
              + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms: " + writes.bytes()
              + " bytes wait for a sync"));
        }
        left = room.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("Interrupted while waiting for a sync")
        .initCause(e);
    }
  }

  private void check(long txid) throws IOException {
    if (lost != null || dropped.contains(txid)) {
      throw new IOException("An append to " + name + " has failed", lost);
    }
    if (closed) {
      throw new IOException(name + " has been closed");
    }
  }

  /** To be called after each sync of the WAL, whoever asked for it. */
  void synced() {
    metrics.syncedByAnyone();
    if (watching) {
      lock.lock();
      try {
        forgetSynced(clock.getAsLong());
      } finally {
        lock.unlock();
      }
    }
  }

  private void forgetSynced(long now) {
    long age = writes.oldestAge(now);
    if (writes.synced(syncedTxid.getAsLong(), now)) {
      maxWindow = Math.max(maxWindow, age);
      if (blockedWriters > 0) {
        room.signalAll();
      }
    }
  }

  /**
   * To be called when the WAL drops a write, whose writer learns of it only if it waits for a sync.
   * One that has yet to be acknowledged fails then. If one was acknowledged already, those after it
   * must not survive without it: nothing may be appended or acknowledged any more, and the server
   * has to go down.
   */
  void dropped(long txid, Throwable cause) {
    lock.lock();
    try {
      dropped.add(txid);
      // All are dropped from the first on: so is the highest, if it is not before this one.
      if (lost == null && txid <= writes.highestTxid()) {
        LOG.error("A write to {} was dropped after it was acknowledged", name, cause);
        lost = cause;
      }
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * To be called when the WAL is about to roll, by the thread that appends, between the last append
   * to the old writer and the first to the new one. What was dropped remains so, whenever its
   * writer asks; what is appended from now on is judged by itself.
   * @param bound may be null
   * @return whether the WAL may append again, as nothing was dropped that had been acknowledged
   */
  static boolean mayAppendAgain(AsyncWalBound bound) {
    if (bound == null) {
      return true;
    }
    bound.lock.lock();
    try {
      bound.dropped.endRange();
      return !bound.hasLost();
    } finally {
      bound.lock.unlock();
    }
  }

  /** Returns whether a write was dropped that had been acknowledged. */
  boolean hasLost() {
    return lost != null;
  }

  /**
   * Stops a roll after a write was dropped that had been acknowledged.
   * @throws IOException if there was one
   */
  static void failIfLost(AsyncWalBound bound) throws IOException {
    if (bound != null && bound.hasLost()) {
      throw new IOException("An append to " + bound.name + " has failed after the write was "
        + "acknowledged; the server has to stop and its WAL to be replayed", bound.lost);
    }
  }

  /** Returns why a sync is due now, or null if none is. */
  private Cause cause(long now) {
    return writes.isEmpty() ? null
      : writes.oldestAge(now) >= dueNanos ? Cause.TIME
      : writes.bytes() >= pressureBytes ? Cause.PRESSURE
      : writes.bytes() >= syncBytes ? Cause.BYTES
      : null;
  }

  private void syncWhenDue() {
    lock.lock();
    try {
      int failures = 0;
      while (!closed) {
        told = false;
        long now = clock.getAsLong();
        forgetSynced(now);
        Cause cause = cause(now);
        if (cause == null) {
          awaitWrites(now);
        } else if (syncAll(now, cause)) {
          failures = 0;
        } else {
          // The WAL rolls, or the server goes down: to ask at once again would not help with it.
          failures = Math.min(failures + 1, 10);
          pause(TimeUnit.MILLISECONDS.toNanos(1) << failures);
        }
      }
    } finally {
      // Whatever has ended it, the next write starts another one.
      syncer = null;
      watching = false;
      lock.unlock();
    }
  }

  private void awaitWrites(long now) {
    if (!writes.isEmpty()) {
      sleep(dueNanos - writes.oldestAge(now));
      return;
    }
    watching = false;
    // A writer adds and then looks whether it is watched, here it is the other way round.
    if (writes.isEmpty()) {
      sleep(Long.MAX_VALUE);
    }
    watching = true;
  }

  private void pause(long nanos) {
    for (long left = Math.min(nanos, MAX_PAUSE_NANOS); left > 0 && !closed;) {
      left = sleep(left);
    }
  }

  private long sleep(long nanos) {
    try {
      return due.awaitNanos(nanos);
    } catch (InterruptedException e) {
      // Only closing it ends this thread.
      return nanos;
    }
  }

  /** Syncs what there is, and returns whether that has worked. The lock is given up meanwhile. */
  private boolean syncAll(long now, Cause cause) {
    writes.mark(now);
    long txid = writes.highestTxid();
    boolean success = false;
    metrics.started(cause);
    lock.unlock();
    long start = clock.getAsLong();
    runningSince = start;
    try {
      sync.sync(txid);
      success = true;
    } catch (IOException | RuntimeException e) {
      LOG.warn("Sync of {} has failed; what was not synced remains so, and is tried again", name,
        e);
    } finally {
      runningSince = NONE;
      metrics.ended(clock.getAsLong() - start, success);
      lock.lock();
    }
    return success;
  }

  /** Lets every writer that waits fail, and ends the thread. */
  void close() {
    lock.lock();
    try {
      closed = true;
      due.signalAll();
      room.signalAll();
      if (syncer != null) {
        // It may wait for a sync that nobody completes any more.
        syncer.interrupt();
      }
    } finally {
      lock.unlock();
    }
    metrics.closed();
  }

  long unsyncedBytes() {
    lock.lock();
    try {
      forgetSynced(clock.getAsLong());
      return writes.bytes();
    } finally {
      lock.unlock();
    }
  }

  long oldestNanos() {
    lock.lock();
    try {
      long now = clock.getAsLong();
      forgetSynced(now);
      return writes.oldestAge(now);
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many nanoseconds an acknowledged write has ever waited for its sync, or does. */
  long maxWindowNanos() {
    return Math.max(oldestNanos(), maxWindow);
  }

  /** Returns how many nanoseconds the sync has taken so far that is on its way; 0 if none is. */
  long runningSyncNanos() {
    long since = runningSince;
    return since == NONE ? 0 : Math.max(0, clock.getAsLong() - since);
  }

  int blockedWriters() {
    return blockedWriters;
  }

  /** Returns whether the WAL is closed and nothing that was acknowledged is unsynced. */
  boolean isSettled() {
    return closed && unsyncedBytes() == 0;
  }

  String name() {
    return name;
  }
}
