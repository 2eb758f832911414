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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files that were dropped from a {@link SegmentStore}, as far as segments may have blocks of
 * them: each device keeps a {@link TombstoneLog} of all, and the recoveries bring none of them
 * back.
 * <p>
 * <b>Invariant.</b> As long as a recovery is under way, a file is among the {@link #dead} from
 * before the directory drops it; so a block that a recovery inserts is either found dead by the
 * look after its insertion, or inserted before the drop, which takes it out.
 * <p>
 * A device that fails misses the tombstones of that time. Each recovery therefore goes by the logs
 * of all devices, but does not wait for one that does not answer. Thread-safe; no other lock is
 * taken with this object's monitor.
 */
@InterfaceAudience.Private
final class DroppedFiles {
  private static final Logger LOG = LoggerFactory.getLogger(DroppedFiles.class);

  /** How long a recovery waits for the logs of other devices. */
  private static final long MAX_WAIT_MS = 2_000;

  private final SegmentTable table;
  private final StoreMonitor monitor;
  private final SegmentStoreMetrics metrics;
  /** By the hash of a name, the first sequence number of which nothing was dropped. */
  private final ConcurrentMap<Long, Long> dead = new ConcurrentHashMap<>();
  private final CountDownLatch unread;
  private int recoveries;
  private long lastNumber;

  DroppedFiles(SegmentTable table, StoreMonitor monitor, SegmentStoreMetrics metrics) {
    this.table = table;
    this.monitor = monitor;
    this.metrics = metrics;
    this.recoveries = table.devices().all().size();
    this.unread = new CountDownLatch(recoveries);
  }

  /**
   * A file is about to be dropped.
   * @return for {@link #dropped}, which is to be called in any case
   */
  Tombstone dropping(String fileName) {
    Tombstone tombstone = new Tombstone(CachedFile.hashHigh(fileName));
    synchronized (this) {
      if (recoveries > 0) {
        dead.put(tombstone.nameHash(), Tombstone.ALL);
      }
    }
    return tombstone;
  }

  /** The directory has dropped the file. */
  void dropped(Tombstone tombstone) {
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

  /** Whether each device that can be written, and answers, has logged a tombstone. */
  boolean isLogged(Tombstone tombstone) {
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
   * The recovery of a device begins: reads its log, and waits for those of the others, though not
   * for long.
   * @throws IOException if the device fails
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
          LOG.info("{}: recovery goes on without the tombstones of a device that does not answer",
            device);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whether what a segment of this sequence number has of a file was dropped. */
  boolean isDead(long nameHash, long sequence) {
    Long first = dead.get(nameHash);
    return first != null && sequence < first;
  }

  /** The recovery of a device has ended, however it did. */
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
      metrics.overwrittenTombstones
        .add(device.logTombstones(tombstones, table.oldestSequence(device)));
    }
  }
}
