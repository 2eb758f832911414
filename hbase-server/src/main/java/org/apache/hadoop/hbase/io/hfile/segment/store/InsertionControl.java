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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Admits insertions. Limits, by {@link InsertSource}, how many full segments and how many bytes may
 * wait to be written before an insertion is refused or waits; only a thread that accepts a wait
 * ever waits. The backlog of a stalled device does not count.
 * <p>
 * <b>Invariants.</b> The count of waiting segments is the sum of {@link StoreDevice#waiting}; both
 * change together, under {@link StoreMonitor#lock}: {@link #enqueue} adds a segment, and
 * {@link #dequeued} removes it whatever its outcome. The bytes in {@link StoreDevice#backlog} are
 * added when space in a segment is reserved and subtracted by the device's writer alone, exactly
 * once each. A thread that waits for {@link StoreMonitor#space} counts itself among the waiters
 * before it reads the backlog, and the writer subtracts bytes before it reads the waiters, so that
 * no signal is lost. A stall is not signalled, hence each wait has a limit. Thread-safe.
 */
@InterfaceAudience.Private
final class InsertionControl {
  private static final long MAX_PROGRESS_WAIT = TimeUnit.MILLISECONDS.toNanos(100);

  private final StoreDevices devices;
  private final StoreMonitor monitor;
  private final ReentrantLock lock;
  private final Condition space;
  private final int bufferCount;
  /** Maximum backlog in bytes before an insertion that accepts a wait has to wait. */
  private final long smoothBacklog;
  /** Number of segments waiting to be written; changed under the lock. */
  private volatile int pending;
  /** Number of threads waiting for progress of the writers; changed under the lock. */
  private volatile int waiters;

  InsertionControl(StoreDevices devices, StoreMonitor monitor, SegmentStoreSettings settings) {
    this.devices = devices;
    this.monitor = monitor;
    this.lock = monitor.lock;
    this.space = monitor.space;
    this.bufferCount = settings.bufferCount;
    // Each device may have one nearly written segment, and one more must be free to be opened.
    this.smoothBacklog =
      (long) settings.segmentSize * Math.max(1, bufferCount - 1 - devices.all().size());
  }

  /** Returns whether an insertion from this source would currently be accepted. */
  boolean hasSpace(InsertSource kind) {
    return !monitor.isStopped() && isPendingBelow(pendingLimit(kind));
  }

  /** Returns whether fewer than this many segments wait for devices that do not stall. */
  private boolean isPendingBelow(int limit) {
    if (pending < limit) {
      return true;
    }
    int stalled = 0;
    boolean others = false;
    for (StoreDevice device : devices.all()) {
      boolean stalls = device.isWriteStalled();
      stalled += stalls ? device.waiting : 0;
      others |= device.isWritable() && !stalls;
    }
    return others && pending - stalled < limit;
  }

  /** Returns whether any device is writable and does not stall. */
  boolean isAnyGettingOn() {
    for (StoreDevice device : devices.all()) {
      if (device.isWritable() && !device.isStalled()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Waits for {@link #hasSpace}.
   * @param nanos maximum time to wait
   * @return whether there is space
   */
  boolean awaitSpace(InsertSource kind, long nanos) throws InterruptedException {
    if (hasSpace(kind) || nanos <= 0) {
      return hasSpace(kind);
    }
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (!hasSpace(kind) && !monitor.isStopped() && left > 0) {
        left = space.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
    return hasSpace(kind);
  }

  /** Returns the number of waiting segments from which an insertion is refused. */
  private int pendingLimit(InsertSource kind) {
    switch (kind) {
      case READ:
        return Math.max(1, bufferCount / 2);
      case PREFETCH:
        return bufferCount - 1;
      default:
        return Integer.MAX_VALUE;
    }
  }

  /** Returns whether the backlog is so large that an insertion that accepts a wait should wait. */
  boolean isBehind() {
    long backlog = 0;
    for (StoreDevice device : devices.all()) {
      // The open segment counts, too. A stalled device may never recover.
      backlog += device.isWritable() && !device.isWriteStalled() ? device.backlog.get() : 0;
    }
    return backlog > smoothBacklog;
  }

  /**
   * Makes an insertion that accepts a wait wait briefly and often, once per write to a device,
   * instead of once for a whole segment.
   * @return the remaining time of the accepted wait
   */
  long awaitProgress(long nanos) throws InterruptedException {
    if (nanos <= 0 || !isBehind()) {
      return nanos;
    }
    lock.lockInterruptibly();
    try {
      waiters++;
      long end = System.nanoTime() + nanos;
      long left = nanos;
      while (left > 0 && !monitor.isStopped() && isBehind()) {
        // A stall, after which the device no longer counts, is not signalled.
        space.awaitNanos(Math.min(left, MAX_PROGRESS_WAIT));
        left = end - System.nanoTime();
      }
      return left;
    } finally {
      waiters--;
      lock.unlock();
    }
  }

  /** Enqueues a full segment for the writer of its device. Requires the lock. */
  void enqueue(SegmentBuffer full) {
    full.seal();
    pending++;
    StoreDevice device = devices.of(full.segment());
    device.waiting++;
    device.toWrite.add(full);
  }

  /** Uncounts a segment that no longer waits, written or not. Requires the lock. */
  void dequeued(StoreDevice device, long unwrittenBytes) {
    pending--;
    device.waiting--;
    device.backlog.addAndGet(-unwrittenBytes);
  }

  /** Subtracts bytes of entries from the backlog of a device. */
  void wrote(StoreDevice device, long bytes) {
    device.backlog.addAndGet(-bytes);
    if (waiters > 0) {
      lock.lock();
      try {
        space.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Returns the number of segments that wait to be written. */
  int pending() {
    return pending;
  }
}
