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
import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides how a failed access to a device of a {@link SegmentStore} is handled. Readers, writers,
 * cleaners and recoveries report each failed read or write here.
 * <p>
 * A failed read is a cache miss of the entry; a failed write loses the segment. Only failures in
 * several segments without a success in between count against the device: after failed writes the
 * device gets no new segments and is read as before; after failed reads it is bypassed, as is a
 * device whose reads stall for long. Both states end with a successful probe, which accesses other
 * places than those that have failed.
 * <p>
 * <b>Invariants.</b> A device is probed and taken back only by the thread of its own cleaner. A
 * bypassed device is taken back when no segment of it is taken ({@link SegmentTable#isQuiet}) and
 * after the directory has forgotten all of its segments and no thread is about to forget more; it
 * gets a new identity, so that its former content is foreign. No lock is held during a probe,
 * except for the change of state at its end. Thread-safe.
 */
@InterfaceAudience.Private
final class DeviceOutages {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceOutages.class);
  private static final int PROBE_SIZE = 64 * 1024;
  /**
   * Number of segments in which a bypassed device is probed; more than half of the probes must
   * succeed.
   */
  private static final int PROBED_SEGMENTS = 5;

  private final SegmentTable table;
  private final SegmentInserter inserter;
  private final StoreMonitor monitor;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;

  DeviceOutages(SegmentTable table, SegmentInserter inserter, StoreMonitor monitor,
    SegmentDirectory directory, SegmentStoreMetrics metrics) {
    this.table = table;
    this.inserter = inserter;
    this.monitor = monitor;
    this.directory = directory;
    this.metrics = metrics;
  }

  /**
   * Reports a failed read. Ignored once the store is stopped.
   * @param term value of {@link StoreDevice#reads} before the read
   */
  void readFailed(StoreDevice device, int term, int segment, Exception cause) {
    metrics.readErrors.increment();
    if (monitor.isStopped()) {
      return;
    }
    LOG.debug("Read from {} failed", device, cause);
    if (device.reads().failed(term, segment)) {
      bypassed(device, "reads of several segments have failed and none has succeeded", cause);
    }
  }

  /**
   * Reports a failed write. Unlike {@link #readFailed}, also counted after the store is stopped.
   */
  void writeFailed(StoreDevice device, int term, int segment, Exception cause) {
    metrics.writeErrors.increment();
    LOG.debug("Write to {} failed", device, cause);
    if (device.writes().failed(term, segment)) {
      LOG.error("{} gets no new segments until a probe succeeds: writes of several "
        + "segments have failed and none has succeeded; its blocks are still read", device, cause);
      inserter.leave(device);
    }
  }

  /** Bypasses a device on which a read has stalled for long. */
  void readStalled(StoreDevice device) {
    if (!monitor.isStopped() && device.isReadStalledForLong() && device.reads().open()) {
      bypassed(device, "a read has stalled", null);
    }
  }

  private void bypassed(StoreDevice device, String why, Exception cause) {
    metrics.outages.increment();
    LOG.error("{} is bypassed until a probe succeeds: {}", device, why, cause);
    inserter.leave(device);
    forgetSoon(device);
  }

  /**
   * Forgets the blocks of a bypassed device, so that every lookup of them is a miss. Runs in a
   * thread of its own, because the device's cleaner may be blocked in a read that does not end.
   */
  private void forgetSoon(StoreDevice device) {
    device.setForgetting(true);
    boolean started = false;
    try {
      Thread thread = new Thread(() -> {
        try {
          forget(device);
        } finally {
          device.setForgetting(false);
        }
      }, "SegmentForget-" + device);
      thread.setDaemon(true);
      thread.start();
      started = true;
    } finally {
      if (!started) {
        device.setForgetting(false);
      }
    }
  }

  private void forget(StoreDevice device) {
    directory.forgetSegments(device.first(), device.end());
  }

  /** Probes a bypassed device and, on success, takes it back empty. */
  void probe(StoreDevice device) {
    SegmentDevice opened = null;
    boolean taken = false;
    try {
      if (!device.isForgetting() && table.isQuiet(device)) {
        opened = table.devices().reopen(device);
        if (works(device, opened)) {
          forget(device);
          takeBack(device, opened);
          taken = true;
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("{} still fails", device, e);
    } finally {
      if (!taken) {
        device.reads().probeFailed();
        close(device, opened);
      }
    }
  }

  private static void close(StoreDevice device, SegmentDevice opened) {
    if (opened != null && opened != device.device()) {
      try {
        opened.close();
      } catch (IOException e) {
        LOG.debug("{} cannot be closed", device, e);
      }
    }
  }

  /** Probes unused segments of a device, each in a different part of it. */
  private boolean works(StoreDevice device, SegmentDevice opened) throws IOException {
    int parts = Math.min(PROBED_SEGMENTS, device.count());
    int working = 0;
    for (int part = 0; part < parts; part++) {
      int from = (int) ((long) device.count() * part / parts);
      int to = (int) ((long) device.count() * (part + 1) / parts);
      try {
        working += works(opened, device.positionOf(
          device.first() + ThreadLocalRandom.current().nextInt(from, to))) ? 1 : 0;
      } catch (IOException | RuntimeException e) {
        LOG.debug("Probe of {} failed", device, e);
      }
    }
    return 2 * working > parts;
  }

  /** Writes random bytes, syncs, and reads them back. */
  private static boolean works(SegmentDevice device, long position) throws IOException {
    byte[] bytes = new byte[PROBE_SIZE];
    ThreadLocalRandom.current().nextBytes(bytes);
    device.write(ByteBuffer.wrap(bytes), position);
    device.sync();
    ByteBuffer back = ByteBuffer.allocate(PROBE_SIZE);
    device.read(back, position);
    back.clear();
    return back.equals(ByteBuffer.wrap(bytes));
  }

  /** Takes a device back, empty; the directory has no blocks of its segments. */
  private void takeBack(StoreDevice device, SegmentDevice opened) throws IOException {
    Superblock superblock =
      Superblock.anew(table.devices().segmentSize(), device.superblock().epoch());
    superblock.write(opened);
    SegmentDevice former;
    monitor.lock.lock();
    try {
      former = device.device();
      table.reset(device);
      device.useEmpty(opened, superblock);
      if (!device.writes().isClosed()) {
        table.unretireAll(device);
      }
      device.writes().close();
      device.reads().close();
      metrics.returns.increment();
    } finally {
      monitor.lock.unlock();
    }
    if (former != opened) {
      StoreDevices.close(former);
    }
    LOG.info("{} has recovered and is in use again, empty", device);
  }

  /** Probes whether a device that gets no new segments can be written again. */
  void probeWrites(StoreDevice device) {
    int segment = table.takeForProbe(device);
    if (segment >= 0 && worksAt(device, segment)) {
      table.unretireAll(device);
      device.writes().close();
      metrics.returns.increment();
      LOG.info("{} can be written again", device);
    } else {
      device.writes().probeFailed();
    }
  }

  private boolean worksAt(StoreDevice device, int segment) {
    try {
      return works(device.device(), device.positionOf(segment));
    } catch (IOException | RuntimeException e) {
      LOG.debug("{} cannot be written yet", device, e);
      return false;
    } finally {
      table.cleaned(device, segment);
    }
  }
}
