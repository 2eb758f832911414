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
 * Bounds the acknowledged and unsynced writes of one WAL, by time and by bytes. See HBASE-16689.
 * <p>
 * A write counts from the moment at which it may be acknowledged until the WAL reports that a sync
 * has covered it, whichever thread started that sync. A dedicated thread syncs the WAL when the
 * oldest write is due; it waits for one sync before it starts the next. There is one thread per WAL
 * because a sync waits for HDFS, and the WAL of one pipeline must not wait for that of another; the
 * thread starts with the first such write, and sleeps while there is none.
 * <p>
 * A write that exceeds {@value AsyncWalSettings#MAX_UNSYNCED_KEY} waits where a SYNC_WAL write
 * waits for its sync, before it is in the memstore, with the timeout of a sync, and fails as a
 * timed-out sync does.
 * <p>
 * Thread-safe. A writer takes the lock a few times per interval, if it is free, and otherwise only
 * to wake the thread or to wait for room; the lock is held for arithmetic only, never while the WAL
 * works.
 */
@InterfaceAudience.Private
public class AsyncWalBound {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncWalBound.class);

  /** The reason for a sync. */
  enum Cause {
    TIME,
    BYTES,
    PRESSURE
  }

  /** Syncs a WAL at least up to the write with this txid, and returns when that is done. */
  interface Sync {
    void sync(long txid) throws IOException;
  }

  private static final long NONE = Long.MIN_VALUE;
  private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final AsyncWalMetrics metrics = AsyncWalMetrics.get();
  private final String name;
  /** Age of the oldest write at which a sync is started, in nanoseconds. */
  private final long dueNanos;
  private final long syncBytes;
  private final long maxUnsynced;
  private final long pressureBytes;
  private final long timeoutNanos;
  private final LongSupplier syncedTxid;
  private final Sync sync;
  private final LongSupplier clock;

  final UnsyncedWrites writes;
  final ReentrantLock lock = new ReentrantLock();
  private final Condition due = lock.newCondition();
  final Condition room = lock.newCondition();
  // Guarded by the lock.
  private Thread syncer;
  /** Whether the last attempt to start it has failed, which is logged once. */
  private boolean syncerRefused;
  // Written under the lock, as are all fields below, and read without it by writers. Whether the
  // thread wakes up by itself when the current writes are due.
  private volatile boolean watching;
  // Whether the thread was notified of work since its last check.
  private volatile boolean notified;
  private volatile int blockedWriters;
  private volatile long maxWindow;
  // Start of the sync in progress.
  private volatile long runningSince = NONE;
  private volatile boolean closed;

  /**
   * @param timeoutNanos maximum time that a writer waits for room
   * @param syncedTxid   supplies the txid up to which all writes are synced
   * @param clock        monotonic time in nanoseconds, with an arbitrary origin
   */
  AsyncWalBound(AsyncWalSettings settings, String name, long timeoutNanos, LongSupplier syncedTxid,
    Sync sync, LongSupplier clock) {
    this.name = name;
    // An eighth is reserved for scheduling the thread, which takes some milliseconds under load.
    this.dueNanos = settings.intervalNanos() / 8 * 7;
    this.syncBytes = settings.bytes();
    this.maxUnsynced = settings.maxUnsynced();
    // With half of the room left a sync may end before any writer has to wait.
    this.pressureBytes = maxUnsynced == Long.MAX_VALUE ? Long.MAX_VALUE : maxUnsynced / 2 + 1;
    this.timeoutNanos = timeoutNanos;
    this.syncedTxid = syncedTxid;
    this.sync = sync;
    this.clock = clock;
    this.writes = new UnsyncedWrites(settings.intervalNanos(), Math.min(syncBytes, pressureBytes),
      clock.getAsLong());
  }

  /** Returns the bound of {@code wal}, or null if none is configured. */
  static AsyncWalBound create(Configuration conf, AbstractFSWAL<?> wal, long timeoutNanos) {
    AsyncWalSettings settings = AsyncWalSettings.of(conf);
    return settings.isEnabled()
      ? new AsyncWalBound(settings, nameOf(wal), timeoutNanos, wal.highestSyncedTxid::get,
        wal::sync, System::nanoTime)
      : null;
  }

  static String nameOf(AbstractFSWAL<?> wal) {
    return wal.implClassName + " " + wal.walFilePrefix + wal.walFileSuffix;
  }

  /**
   * Must be called when a write has been appended, has been synced if its durability requires it,
   * and is about to be applied and acknowledged. Waits for room if that is bounded.
   * @param durability the durability of the write; USE_DEFAULT is treated as not synced
   * @throws WALSyncTimeoutIOException if there was no room within the timeout of a sync
   * @throws IOException               if the write must not be acknowledged, because the WAL is
   *                                   closed
   */
  public static void acknowledge(WAL wal, long txid, WALEdit edit, Durability durability)
    throws IOException {
    AsyncWalBound bound =
      wal instanceof AbstractFSWAL ? ((AbstractFSWAL<?>) wal).asyncBound : null;
    if (bound == null) {
      return;
    }
    // The synced txid is not read here: AsyncFSWAL writes it frequently, so each read would fetch
    // the cache line from another processor.
    if (durability.ordinal() <= Durability.ASYNC_WAL.ordinal()) {
      bound.acknowledge(txid, edit.estimatedSerializedSizeOf());
    }
  }

  /** Returns whether a write that waits for room is synced, and need not wait. */
  boolean isSynced(long txid) {
    return txid <= syncedTxid.getAsLong();
  }

  void acknowledge(long txid, long size) throws IOException {
    check(txid);
    if (writes.isLookDue(size)) {
      markIfDue();
    }
    long bytes = writes.add(txid, size);
    // After it is counted: what makes a later check fail is recorded before the highest txid is
    // read, so that one of the two threads sees the other's write.
    check(txid);
    if ((!watching || !notified && (bytes >= syncBytes || bytes >= pressureBytes)) && !wake()) {
      sync.sync(txid);
      forgetSynced();
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

  /** Returns false if there is no thread that will sync, and the writer must do so. */
  private boolean wake() {
    lock.lock();
    try {
      if (closed) {
        return true;
      }
      if (syncer == null && !startSyncer()) {
        return false;
      }
      watching = true;
      notified = true;
      due.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The caller holds the lock. The next write tries again if this fails. */
  private boolean startSyncer() {
    metrics.opened(this);
    Thread thread = new Thread(this::syncWhenDue, "AsyncWalSyncer-" + name);
    try {
      start(thread);
    } catch (OutOfMemoryError e) {
      if (!syncerRefused) {
        LOG.warn("No thread to sync {}: until one can be started, ASYNC_WAL writes are synced as "
          + "SYNC_WAL writes are", name, e);
      }
      syncerRefused = true;
      return false;
    }
    syncerRefused = false;
    syncer = thread;
    return true;
  }

  void start(Thread thread) {
    Threads.setDaemonThreadRunning(thread, thread.getName());
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
            new TimeoutIOException("No room for an unsynced write to " + name + " after "
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

  /**
   * Checks a write before and after it is counted as unsynced.
   * @throws IOException if the write must not be acknowledged
   */
  void check(long txid) throws IOException {
    if (closed) {
      throw new IOException(name + " has been closed");
    }
  }

  /** Must be called after each sync of the WAL, whichever thread started it. */
  void synced() {
    metrics.syncedByAnyone();
    if (watching) {
      forgetSynced();
    }
  }

  private void forgetSynced() {
    lock.lock();
    try {
      forgetSynced(clock.getAsLong());
    } finally {
      lock.unlock();
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

  /** Returns the reason for which a sync is due now, or null if none is due. */
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
        notified = false;
        long now = clock.getAsLong();
        forgetSynced(now);
        Cause cause = cause(now);
        if (cause == null) {
          awaitWrites(now);
        } else if (syncAll(now, cause)) {
          failures = 0;
        } else {
          // The WAL is rolling, or the server is stopping: an immediate retry would not help.
          failures = Math.min(failures + 1, 10);
          pause(TimeUnit.MILLISECONDS.toNanos(1) << failures);
        }
      }
    } finally {
      // However this thread has ended, the next write starts another one.
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
    // A writer adds a write and then reads watching; here the order is reversed.
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
      // Only close() ends this thread.
      return nanos;
    }
  }

  /** Syncs all writes, and returns whether that succeeded. Releases the lock meanwhile. */
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
    } catch (Throwable e) {
      // An Error too: were this thread to end, the last writes before a pause would stay unsynced.
      LOG.warn("Sync of {} has failed and is retried; its writes remain unsynced", name, e);
    } finally {
      runningSince = NONE;
      metrics.ended(clock.getAsLong() - start, success);
      lock.lock();
    }
    return success;
  }

  /** Makes all waiting writers fail, and ends the thread. */
  void close() {
    lock.lock();
    try {
      closed = true;
      due.signalAll();
      room.signalAll();
      if (syncer != null) {
        // It may wait for a sync that is never completed.
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

  /**
   * Returns the maximum time that an acknowledged write has waited, or is waiting, for its sync, in
   * nanoseconds.
   */
  long maxWindowNanos() {
    return Math.max(oldestNanos(), maxWindow);
  }

  /** Returns the duration of the sync in progress in nanoseconds; 0 if there is none. */
  long runningSyncNanos() {
    long since = runningSince;
    return since == NONE ? 0 : Math.max(0, clock.getAsLong() - since);
  }

  int blockedWriters() {
    return blockedWriters;
  }

  /** Returns whether the WAL is closed and no acknowledged write is unsynced. */
  boolean isSettled() {
    return closed && unsyncedBytes() == 0;
  }

  String name() {
    return name;
  }
}
