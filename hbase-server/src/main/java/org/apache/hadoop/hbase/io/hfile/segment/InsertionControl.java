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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Admits insertions: how many full segments, and how many bytes, may wait to be written before an
 * insertion is refused or waits, by its {@link InsertSource}, so that only a thread that offered
 * to wait ever does. A device that stalls is left out: what waits for it is not waited for.
 * <p>
 * <b>Invariants.</b> The count of waiting segments is the sum of {@link StoreDevice#waiting}; both
 * change together, under {@link StoreMonitor#lock}: {@link #enqueue} adds a segment, and
 * {@link #dequeued} takes it away whatever has become of it. The bytes in
 * {@link StoreDevice#backlog} are added when a place in a segment is reserved and taken away by the
 * device's writer alone, exactly once each. A thread that waits for {@link StoreMonitor#room}
 * counts itself among the waiters before it looks at the backlog, and the writer takes bytes away
 * before it looks at the waiters, so that no signal is lost; a stall is not signalled, hence the
 * limit of each wait. Thread-safe.
 */
@InterfaceAudience.Private
final class InsertionControl {
  private static final long MAX_PROGRESS_WAIT = TimeUnit.MILLISECONDS.toNanos(100);

  private final StoreDevices devices;
  private final StoreMonitor monitor;
  private final ReentrantLock lock;
  private final Condition room;
  private final int bufferCount;
  /** Bytes that may wait to be written before an insertion waits that offered to. */
  private final long smoothBacklog;
  /** Segments that wait to be written; changed under the lock. */
  private volatile int pending;
  /** Threads that wait until something is written; changed under the lock. */
  private volatile int waiters;

  InsertionControl(StoreDevices devices, StoreMonitor monitor, SegmentStoreSettings settings) {
    this.devices = devices;
    this.monitor = monitor;
    this.lock = monitor.lock;
    this.room = monitor.room;
    this.bufferCount = settings.bufferCount();
    // Each device may have one that is nearly written, and one more is to be free to be opened.
    this.smoothBacklog =
      (long) settings.segmentSize() * Math.max(1, bufferCount - 1 - devices.all().size());
  }

  /** Whether an insertion of this kind would not be refused, as far as is known now. */
  boolean hasRoom(InsertSource kind) {
    return !monitor.isStopped() && isPendingBelow(pendingLimit(kind));
  }

  /** Whether fewer segments than this wait for devices that do not stall. */
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

  /** Whether there is a device that can be written and does not stall. */
  boolean isAnyGettingOn() {
    for (StoreDevice device : devices.all()) {
      if (device.isWritable() && !device.isStalled()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Waits for {@link #hasRoom}.
   * @param nanos the longest wait
   * @return whether there is room
   */
  boolean awaitRoom(InsertSource kind, long nanos) throws InterruptedException {
    if (hasRoom(kind) || nanos <= 0) {
      return hasRoom(kind);
    }
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (!hasRoom(kind) && !monitor.isStopped() && left > 0) {
        left = room.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
    return hasRoom(kind);
  }

  /** Returns how many segments may wait to be written for an insertion to be taken. */
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

  /** Whether so much waits to be written that an insertion that can wait should. */
  boolean isBehind() {
    long backlog = 0;
    for (StoreDevice device : devices.all()) {
      // The open segment counts, too. A device that stalls may do so for ever.
      backlog += device.isWritable() && !device.isWriteStalled() ? device.backlog.get() : 0;
    }
    return backlog > smoothBacklog;
  }

  /**
   * Has an insertion that offered to wait do so many times for a short time, one for each write to
   * a device, instead of once for a long time for each segment.
   * @return how much longer to wait, of the time that was offered
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
        // A stall, after which the device does not count, is not signalled.
        room.awaitNanos(Math.min(left, MAX_PROGRESS_WAIT));
        left = end - System.nanoTime();
      }
      return left;
    } finally {
      waiters--;
      lock.unlock();
    }
  }

  /** Gives a full segment to the writer of its device. Called with the lock held. */
  void enqueue(SegmentBuffer full) {
    full.seal();
    pending++;
    StoreDevice device = devices.of(full.segment());
    device.waiting++;
    device.toWrite.add(full);
  }

  /** A segment waits no more, written or not. Called with the lock held. */
  void dequeued(StoreDevice device, long unwrittenBytes) {
    pending--;
    device.waiting--;
    device.backlog.addAndGet(-unwrittenBytes);
  }

  /** So many bytes of entries wait no more to be written to a device. */
  void wrote(StoreDevice device, long bytes) {
    device.backlog.addAndGet(-bytes);
    if (waiters > 0) {
      lock.lock();
      try {
        room.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Segments that wait to be written. */
  int pending() {
    return pending;
  }
}
