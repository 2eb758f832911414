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
import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what a failed access to a device of a {@link SegmentStore} costs. Each failed read or
 * write is reported here, by the reader, the writer, the cleaner or the recovery.
 * <p>
 * A failed read is a miss of the entry, a failed write costs the segment. Only failures in several
 * segments with no success between them are the device's: if they are writes it gets no new
 * segments and is read as before, if they are reads it is bypassed, as is one whose reads stall for
 * long. Both end with a probe that succeeds, in a place of its own: the places that have failed are
 * not asked again.
 * <p>
 * <b>Invariants.</b> A device is probed and taken back by its own cleaner's thread only. A bypassed
 * device is taken back when no segment of it is taken ({@link SegmentTable#isQuiet}) and after the
 * directory has forgotten all of its segments and nobody is about to forget more; with a new
 * identity, so that what is on it is foreign. No lock is held during a probe, but for the change of
 * state at its end. Thread-safe.
 */
@InterfaceAudience.Private
final class DeviceOutages {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceOutages.class);
  private static final int PROBE_SIZE = 64 * 1024;
  /** A bypassed device is probed in so many segments, more than half of which must work. */
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
   * A read of a device has failed. Does not count once the store is stopped.
   * @param term of {@link StoreDevice#reads} before the read
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

  /** As {@link #readFailed}, of a write; counts in any case. */
  void writeFailed(StoreDevice device, int term, int segment, Exception cause) {
    metrics.writeErrors.increment();
    LOG.debug("Write to {} failed", device, cause);
    if (device.writes().failed(term, segment)) {
      metrics.writeOutages.increment();
      LOG.error("{} gets no new segments until a probe succeeds: several of them could not be "
        + "written and none could; what is on it is read as before", device, cause);
      inserter.leave(device);
    }
  }

  /** Bypasses a device one of whose reads has stalled for long. */
  void readStalled(StoreDevice device) {
    if (!monitor.isStopped() && device.isReadStalledForLong() && device.reads().open()) {
      bypassed(device, "a read does not end", null);
    }
  }

  private void bypassed(StoreDevice device, String why, Exception cause) {
    metrics.outages.increment();
    LOG.error("{} is bypassed until a probe succeeds: {}", device, why, cause);
    inserter.leave(device);
    forgetSoon(device);
  }

  /**
   * Forgets the blocks of a device that was bypassed, so that it is absent in every answer: in a
   * thread of its own, as the device's cleaner may be in a read that does not end.
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

  /** Tests whether a device that is bypassed works again; if so, takes it back empty. */
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
      LOG.debug("{} does not work yet", device, e);
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

  /** Probes segments of a device that nothing is in any more, each in another part of it. */
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
        LOG.debug("A probe of {} has failed", device, e);
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

  /** Takes a device back, with nothing in it; the directory knows none of its segments. */
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
      device.writes().close();
      device.reads().close();
      metrics.returns.increment();
    } finally {
      monitor.lock.unlock();
    }
    if (former != opened) {
      StoreDevices.close(former);
    }
    LOG.info("{} works again and is taken back, empty", device);
  }

  /** Tests whether a device can be written again that gets no new segments. */
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
