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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.segment.device.Tombstone;
import org.apache.hadoop.hbase.io.hfile.segment.device.TombstoneLog;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files that were dropped from a {@link SegmentStore}, as long as segments may have blocks of
 * them. Each device keeps a {@link TombstoneLog} of all of them, and no recovery restores any of
 * them.
 * <p>
 * <b>Invariant.</b> While a recovery is running, a file is among the {@link #dead} before the
 * directory drops it. A block that a recovery inserts is therefore either found dead by the check
 * after its insertion, or inserted before the drop, which removes it.
 * <p>
 * A store that is stopped logs all tombstones of files that it has dropped, on each device that
 * answers: its cleaner ends after the log was read, and after it has written them.
 * <p>
 * A device does not record tombstones while it fails. Each recovery therefore reads the logs of all
 * devices, but does not wait for a device that does not answer. Thread-safe; no other lock is taken
 * with this object's monitor held.
 */
@InterfaceAudience.Private
public final class DroppedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(DroppedFiles.class);

  /** How long a recovery waits for the logs of other devices, and a cleaner for that of its own. */
  private static final long MAX_WAIT_MS = 2_000;

  private final SegmentTable table;
  private final StoreMonitor monitor;
  private final SegmentStoreMetrics metrics;
  /**
   * By hash of the name: the first sequence number whose segments have no dropped block of the
   * file.
   */
  private final ConcurrentMap<Long, Long> dead = new ConcurrentHashMap<>();
  private final CountDownLatch unread;
  private int recoveries;
  private long lastNumber;

  DroppedFiles(SegmentTable table, StoreMonitor monitor, SegmentStoreMetrics metrics) {
    this(table, monitor, metrics, new CountDownLatch(table.devices().all().size()));
  }

  /**
   * @param unread counts the devices whose logs were not read yet
   */
  DroppedFiles(SegmentTable table, StoreMonitor monitor, SegmentStoreMetrics metrics,
    CountDownLatch unread) {
    this.table = table;
    this.monitor = monitor;
    this.metrics = metrics;
    this.recoveries = table.devices().all().size();
    this.unread = unread;
  }

  /**
   * Announces that a file is about to be dropped.
   * @return the tombstone for {@link #dropped}, which must be called in any case
   */
  public Tombstone dropping(String fileName) {
    Tombstone tombstone = new Tombstone(CachedFile.hashHigh(fileName));
    synchronized (this) {
      if (recoveries > 0) {
        dead.put(tombstone.nameHash(), Tombstone.ALL);
      }
    }
    return tombstone;
  }

  /** Completes the tombstone of a file that the directory has dropped. */
  public void dropped(Tombstone tombstone) {
    synchronized (this) {
      tombstone.complete(table.nextSequence(), ++lastNumber);
      table.devices().all().forEach(device -> device.addTombstone(tombstone));
    }
    metrics.tombstones.increment();
    monitor.lock.lock();
    try {
      monitor.work.signalAll();
    } finally {
      monitor.lock.unlock();
    }
  }

  /** Returns whether each writable device that answers has logged a tombstone. */
  public boolean isLogged(Tombstone tombstone) {
    for (StoreDevice device : table.devices().all()) {
      if (
        device.isWritable() && !device.isStalled() && device.lastTombstone() < tombstone.number()
      ) {
        return false;
      }
    }
    return true;
  }

  /**
   * Begins the recovery of a device: reads its log, and waits for the logs of the other devices for
   * a limited time.
   */
  void recovering(StoreDevice device) throws IOException {
    try {
      if (!device.isWorking()) {
        return;
      }
      device.readTombstones((nameHash, sequence) -> dead.merge(nameHash, sequence, Math::max));
    } finally {
      unread.countDown();
      try {
        if (!unread.await(MAX_WAIT_MS, TimeUnit.MILLISECONDS)) {
          LOG.info("{}: continuing recovery without the tombstones of an unresponsive device",
            device);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Waits for a limited time until the log of a device was read, if there is something to add to
   * it. A store that is stopped soon after its start may still read it.
   */
  void awaitLog(StoreDevice device) throws InterruptedException {
    if (
      device.isWritable() && device.awaitsLog()
        && !unread.await(MAX_WAIT_MS, TimeUnit.MILLISECONDS)
    ) {
      LOG.warn("{} does not answer: the next start may restore files that were dropped since the "
        + "last one", device);
    }
  }

  /** Returns whether the blocks of a file in a segment with this sequence number were dropped. */
  boolean isDead(long nameHash, long sequence) {
    Long first = dead.get(nameHash);
    return first != null && sequence < first;
  }

  /** Ends the recovery of a device, successful or not. */
  synchronized void recovered() {
    if (--recoveries == 0) {
      dead.clear();
    }
  }

  /** Writes a device's pending tombstones to its log. Called by the device's cleaner. */
  void log(StoreDevice device) throws IOException {
    List<Tombstone> tombstones = new ArrayList<>();
    device.forEachTombstone(tombstones::add);
    if (!tombstones.isEmpty()) {
      device.logTombstones(tombstones);
    }
  }
}
