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
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
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
 * Bounds the acknowledged and unsynced writes of one WAL, by time and by bytes. See HBASE-16689. A
 * thread syncs the WAL when they are due, and waits for one sync before it starts the next. Each
 * WAL has its own thread because a sync waits for HDFS, and one pipeline must not delay another;
 * the thread starts with the first such write, and sleeps while there is none.
 * <p>
 * Invariant: a write that is acknowledged and not synced is in one of two batches, which are not
 * younger or smaller than their writes, and the thread wakes when the older batch is due. A sync
 * that covers a batch in part removes none of it, so the reported age and bytes are never too low,
 * and may be too high by what was acknowledged during the last few syncs.
 * <p>
 * Thread-safe. Each write takes the lock for a few additions, and reads the clock if its batch is
 * empty. The lock is never held while the WAL works.
 */
@InterfaceAudience.Private
public class AsyncWalBound {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncWalBound.class);
  private static final long NONE = Long.MIN_VALUE;

  /** The reason for a sync. */
  @InterfaceAudience.Private
  public enum Cause {
    TIME,
    BYTES,
    PRESSURE
  }

  /** Syncs a WAL at least up to the write with this txid, and returns when that is done. */
  interface Sync {
    void sync(long txid) throws IOException;
  }

  /** Writes that are removed together, once they are synced up to the highest txid of them. */
  private static final class Batch {
    private long since;
    private long bytes;
    /** 0 if there is no write. */
    private long txid;

    private long age(long now) {
      return txid == 0 ? 0 : Math.max(0, now - since);
    }

    private void add(long other, long size) {
      txid = Math.max(txid, other);
      bytes += size;
    }
  }

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
  final Lock lock;
  private final Condition due;
  final Condition space;
  // Guarded by the lock.
  private Batch older = new Batch();
  private Batch newer = new Batch();
  private long maxWindow;
  private int blockedWriters;
  private Thread syncer;
  /** Whether the last attempt to start it has failed, which is logged once. */
  private boolean syncerRefused;
  /** Whether it sleeps until it is woken, not only until the older batch is due. */
  private boolean idle;
  // Written under the lock.
  private volatile boolean closed;
  /** Start of the sync in progress. */
  private volatile long runningSince = NONE;

  /**
   * @param timeoutNanos maximum time that a writer waits for space
   * @param syncedTxid   supplies the txid up to which all writes are synced
   * @param clock        monotonic time in nanoseconds, with an arbitrary origin
   */
  AsyncWalBound(AsyncWalSettings settings, String name, long timeoutNanos, LongSupplier syncedTxid,
    Sync sync, LongSupplier clock, Lock lock) {
    this.name = name;
    // An eighth is reserved for scheduling the thread, which takes some milliseconds under load.
    this.dueNanos = settings.intervalNanos() / 8 * 7;
    this.syncBytes = settings.bytes();
    this.maxUnsynced = settings.maxUnsynced();
    // A sync that starts with half of the limit left may end before any writer has to wait.
    this.pressureBytes = maxUnsynced == Long.MAX_VALUE ? Long.MAX_VALUE : maxUnsynced / 2 + 1;
    this.timeoutNanos = timeoutNanos;
    this.syncedTxid = syncedTxid;
    this.sync = sync;
    this.clock = clock;
    this.lock = lock;
    this.due = lock.newCondition();
    this.space = lock.newCondition();
  }

  /** Returns the bound of {@code wal}, or null if none is configured. */
  static AsyncWalBound create(Configuration conf, AbstractFSWAL<?> wal, long timeoutNanos) {
    AsyncWalSettings settings = AsyncWalSettings.of(conf);
    return settings.isEnabled()
      ? new AsyncWalBound(settings, nameOf(wal), timeoutNanos, wal.highestSyncedTxid::get,
        wal::sync, System::nanoTime, new ReentrantLock())
      : null;
  }

  static String nameOf(AbstractFSWAL<?> wal) {
    return wal.implClassName + " " + wal.walFilePrefix + wal.walFileSuffix;
  }

  /**
   * Must be called when a write has been appended, has been synced if its durability requires it,
   * and is about to be applied and acknowledged. A write that exceeds
   * {@value AsyncWalSettings#MAX_UNSYNCED_KEY} waits where a SYNC_WAL write waits for its sync.
   * @param durability the durability of the write; USE_DEFAULT is treated as not synced
   * @throws WALSyncTimeoutIOException if there was no space within the timeout of a sync
   * @throws IOException               if the write must not be acknowledged, because the WAL is
   *                                   closed
   */
  public static void acknowledge(WAL wal, long txid, WALEdit edit, Durability durability)
    throws IOException {
    AsyncWalBound bound =
      wal instanceof AbstractFSWAL ? ((AbstractFSWAL<?>) wal).asyncBound : null;
    // The synced txid is not read here: AsyncFSWAL writes it frequently, so each read would fetch
    // the cache line from another processor.
    if (bound != null && durability.ordinal() <= Durability.ASYNC_WAL.ordinal()) {
      bound.acknowledge(txid, edit.estimatedSerializedSizeOf());
    }
  }

  void acknowledge(long txid, long size) throws IOException {
    lock.lock();
    try {
      check(txid);
      if (newer.txid == 0) {
        newer.since = clock.getAsLong();
      }
      newer.add(txid, size);
      if (syncer != null || startSyncer()) {
        long bytes = bytes();
        if (idle || cause(bytes - size) == null && cause(bytes) != null) {
          idle = false;
          due.signal();
        }
        if (bytes > maxUnsynced) {
          awaitSyncs(txid);
        }
        return;
      }
    } finally {
      lock.unlock();
    }
    sync.sync(txid);
    removeSynced();
  }

  /**
   * Called with the lock, before a write is counted and while it waits.
   * @throws IOException if the write must not be acknowledged
   */
  void check(long txid) throws IOException {
    if (closed) {
      throw new IOException(name + " has been closed");
    }
  }

  /** Returns false if there is no thread that will sync, and the writer must do so. */
  private boolean startSyncer() {
    metrics.opened(this);
    Thread thread = new Thread(this::syncWhenDue, "AsyncWalSyncer-" + name);
    try {
      start(thread);
      syncer = thread;
    } catch (OutOfMemoryError e) {
      if (!syncerRefused) {
        LOG.warn("No thread to sync {}: until one can be started, ASYNC_WAL writes are synced as "
          + "SYNC_WAL writes are", name, e);
      }
    }
    syncerRefused = syncer == null;
    return !syncerRefused;
  }

  void start(Thread thread) {
    Threads.setDaemonThreadRunning(thread, thread.getName());
  }

  private void awaitSyncs(long txid) throws IOException {
    removeSynced();
    if (isWithinLimit(txid)) {
      return;
    }
    metrics.blocked();
    blockedWriters++;
    try {
      for (long left = timeoutNanos; !isWithinLimit(txid); check(txid)) {
        if (left <= 0) {
          throw new WALSyncTimeoutIOException(
            new TimeoutIOException("No room for an unsynced write to " + name + " after "
              + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms: " + bytes()
              + " bytes wait for a sync"));
        }
        left = space.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("Interrupted while waiting for a sync")
        .initCause(e);
    } finally {
      blockedWriters--;
    }
  }

  private boolean isWithinLimit(long txid) {
    return bytes() <= maxUnsynced || txid <= syncedTxid.getAsLong();
  }

  private long bytes() {
    return older.bytes + newer.bytes;
  }

  /** Returns the highest txid of the writes in the batches, 0 if there are none. */
  final long highestTxid() {
    return Math.max(older.txid, newer.txid);
  }

  /** Must be called after each sync of the WAL, whichever thread started it. */
  void synced() {
    metrics.syncedByAnyone();
    removeSynced();
  }

  private void removeSynced() {
    withoutSynced(now -> now);
  }

  /** Removes batches that are synced, and returns what is computed from the rest and the time. */
  private long withoutSynced(LongUnaryOperator rest) {
    lock.lock();
    try {
      long now = clock.getAsLong();
      long txid = syncedTxid.getAsLong();
      while (highestTxid() > 0 && older.txid <= txid) {
        maxWindow = Math.max(maxWindow, older.age(now));
        older = newer;
        newer = new Batch();
      }
      if (blockedWriters > 0) {
        space.signalAll();
      }
      return rest.applyAsLong(now);
    } finally {
      lock.unlock();
    }
  }

  /** Returns why a sync is due because of this number of bytes, or null if it is not. */
  private Cause cause(long bytes) {
    return bytes >= pressureBytes ? Cause.PRESSURE : bytes >= syncBytes ? Cause.BYTES : null;
  }

  private void syncWhenDue() {
    try {
      int failures = 0;
      for (long txid = awaitDue(0); txid > 0; txid = awaitDue(failures)) {
        failures = syncNow(txid) ? 0 : Math.min(failures + 1, 10);
      }
    } finally {
      lock.lock();
      try {
        // However this thread has ended, the next write starts another one.
        syncer = null;
      } finally {
        lock.unlock();
      }
    }
  }

  /** Returns the txid up to which a sync is due; 0 if the WAL is closed. */
  private long awaitDue(int failures) {
    lock.lock();
    try {
      // The WAL is rolling, or the server is stopping: an immediate retry would not help.
      long pause = failures == 0 ? 0 : Math.min(TimeUnit.MILLISECONDS.toNanos(1) << failures,
        TimeUnit.SECONDS.toNanos(1));
      while (pause > 0 && !closed) {
        pause = sleep(pause);
      }
      while (!closed) {
        long age = withoutSynced(now -> older.age(now));
        Cause cause = age >= dueNanos ? Cause.TIME : cause(bytes());
        if (cause != null) {
          metrics.started(cause);
          // They are synced together, and what is acknowledged meanwhile is in the other batch.
          older.add(newer.txid, newer.bytes);
          newer = new Batch();
          return older.txid;
        }
        idle = older.txid == 0;
        sleep(idle ? Long.MAX_VALUE : dueNanos - age);
      }
      return 0;
    } finally {
      lock.unlock();
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

  private boolean syncNow(long txid) {
    boolean success = false;
    long start = clock.getAsLong();
    runningSince = start;
    try {
      sync.sync(txid);
      success = true;
    } catch (Throwable e) {
      // Errors are caught, too: were this thread to end, the last writes before a pause would stay
      // unsynced.
      LOG.warn("Sync of {} has failed and is retried; its writes remain unsynced", name, e);
    } finally {
      runningSince = NONE;
      metrics.ended(clock.getAsLong() - start, success);
    }
    return success;
  }

  /** Makes all waiting writers fail, and ends the thread. */
  void close() {
    lock.lock();
    try {
      closed = true;
      due.signalAll();
      space.signalAll();
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
    return withoutSynced(now -> bytes());
  }

  long oldestNanos() {
    return withoutSynced(now -> older.age(now));
  }

  /**
   * Returns the maximum time that an acknowledged write has waited, or is waiting, for its sync, in
   * nanoseconds.
   */
  long maxWindowNanos() {
    return withoutSynced(now -> Math.max(maxWindow, older.age(now)));
  }

  /** Returns the duration of the sync in progress in nanoseconds; 0 if there is none. */
  long runningSyncNanos() {
    long since = runningSince;
    return since == NONE ? 0 : Math.max(0, clock.getAsLong() - since);
  }

  long blockedWriters() {
    return withoutSynced(now -> blockedWriters);
  }

  /** Returns whether the WAL is closed and no acknowledged write is unsynced. */
  boolean isSettled() {
    return closed && unsyncedBytes() == 0;
  }

  String name() {
    return name;
  }
}
