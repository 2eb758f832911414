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
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bypasses a device of a {@link SegmentStore} that fails, and takes it back when it works again.
 * Each failed read or write is reported here, by the reader, the writer, the cleaner or the
 * recovery.
 * <p>
 * <b>Invariants.</b> An access takes the device's {@link StoreDevice#term} before it begins, so
 * that a failure from before the device was taken back does not count. A device is taken back by
 * the cleaner's thread only, when no segment of it is taken ({@link SegmentTable#isQuiet}) and
 * after the directory has forgotten all of its segments; with a new identity, so that what is on it
 * is foreign. No lock is held during a probe, but for the change of state at its end. Thread-safe.
 */
@InterfaceAudience.Private
final class DeviceOutages {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceOutages.class);
  private static final int PROBE_SIZE = 64 * 1024;

  private final SegmentTable table;
  private final SegmentInserter inserter;
  private final StoreMonitor monitor;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;
  private final int failuresInARow;

  DeviceOutages(SegmentStoreSettings settings, SegmentTable table, SegmentInserter inserter,
    StoreMonitor monitor, SegmentDirectory directory, SegmentStoreMetrics metrics) {
    this.table = table;
    this.inserter = inserter;
    this.monitor = monitor;
    this.directory = directory;
    this.metrics = metrics;
    this.failuresInARow = settings.failuresInARow();
  }

  /**
   * A read of a device has failed. Does not count once the store is stopped.
   * @param term {@link StoreDevice#term} before the read
   */
  void readFailed(StoreDevice device, int term, Exception cause) {
    metrics.readErrors.increment();
    if (monitor.isStopped()) {
      return;
    }
    LOG.debug("Read from {} failed", device, cause);
    if (device.readFailed(term, System.nanoTime())) {
      bypassed(device, cause);
    }
  }

  /** As {@link #readFailed}, of a write; counts in any case. */
  void writeFailed(StoreDevice device, int term, Exception cause) {
    metrics.writeErrors.increment();
    LOG.debug("Write to {} failed", device, cause);
    if (device.writeFailed(term, System.nanoTime())) {
      bypassed(device, cause);
    }
  }

  private void bypassed(StoreDevice device, Exception cause) {
    metrics.outages.increment();
    LOG.error("{} is bypassed until it works again: {} failures in a row", device,
      failuresInARow, cause);
    inserter.leave(device);
  }

  /** Tests whether a device that is bypassed works again; if so, takes it back empty. */
  void probe(StoreDevice device) {
    SegmentDevice opened = null;
    boolean taken = false;
    try {
      if (table.isQuiet(device)) {
        opened = table.devices().open(device);
        if (works(opened)) {
          directory.forgetSegments(device.first(), device.end());
          takeBack(device, opened);
          taken = true;
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("{} does not work yet", device, e);
    } finally {
      if (!taken) {
        device.probeFailed(System.nanoTime());
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

  /** Writes random bytes where the first segment begins, syncs, and reads them back. */
  private static boolean works(SegmentDevice device) throws IOException {
    byte[] bytes = new byte[PROBE_SIZE];
    Random random = ThreadLocalRandom.current();
    random.nextBytes(bytes);
    device.write(ByteBuffer.wrap(bytes), Superblock.HEADER_SIZE);
    device.sync();
    ByteBuffer back = ByteBuffer.allocate(PROBE_SIZE);
    device.read(back, Superblock.HEADER_SIZE);
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
      device.use(opened, superblock);
      device.works();
      metrics.returns.increment();
    } finally {
      monitor.lock.unlock();
    }
    if (former != opened) {
      StoreDevices.close(former);
    }
    LOG.info("{} works again and is taken back, empty", device);
  }
}
