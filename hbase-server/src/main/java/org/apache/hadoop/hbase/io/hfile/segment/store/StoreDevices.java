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
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices of a {@link SegmentStore}: opens them, maps segments to them, and closes them. All
 * devices have the same number of segments, numbered in the order of their paths. The list is
 * fixed; whether a device is in use is the device's own state, see {@link StoreDevice#isWorking}.
 * <p>
 * Thread-safe.
 */
@InterfaceAudience.Private
final class StoreDevices {
  private static final Logger LOG = LoggerFactory.getLogger(StoreDevices.class);

  private final SegmentStoreSettings settings;
  private final SegmentDevice.Opener opener;
  private final List<StoreDevice> all;
  private final int segmentsPerDevice;
  private final long epoch;

  private StoreDevices(SegmentStoreSettings settings, SegmentDevice.Opener opener)
    throws IOException {
    this.settings = settings;
    this.opener = opener;
    this.segmentsPerDevice =
      Math.min(Superblock.segmentsOf(settings.sizePerDevice(), settings.segmentSize),
        Location.MAX_SEGMENTS / settings.paths.size());
    List<StoreDevice> made = new ArrayList<>();
    for (String path : settings.paths) {
      made.add(
        new StoreDevice(path, made.size() * segmentsPerDevice, segmentsPerDevice, settings));
    }
    this.all = Collections.unmodifiableList(made);
    this.epoch = openAll();
  }

  /**
   * Opens the devices, and writes the superblock of this opening to each.
   * @throws IOException if no device can be opened and written; if only some cannot, they are
   *                     bypassed
   */
  static StoreDevices open(SegmentStoreSettings settings, SegmentDevice.Opener opener)
    throws IOException {
    return new StoreDevices(settings, opener);
  }

  /** Returns the epoch of this opening, which is larger than that of any device before. */
  private long openAll() throws IOException {
    IOException failure = null;
    long newEpoch = 0;
    List<SegmentDevice> opened = new ArrayList<>();
    List<Superblock> superblocks = new ArrayList<>();
    try {
      for (StoreDevice device : all) {
        SegmentDevice of = null;
        Superblock superblock = null;
        try {
          of = open(device);
          superblock = Superblock.read(of);
          newEpoch = superblock == null ? newEpoch : Math.max(newEpoch, superblock.epoch());
        } catch (IOException e) {
          failure = e;
          close(of);
          of = null;
          LOG.warn("Cannot open {}: it is bypassed until a probe succeeds", device, e);
        }
        opened.add(of);
        superblocks.add(superblock);
      }
      newEpoch++;
      int working = 0;
      for (int i = 0; i < all.size(); i++) {
        working += begin(all.get(i), opened.get(i), superblocks.get(i), newEpoch) ? 1 : 0;
      }
      if (working == 0) {
        throw failure == null ? new IOException("No device can be written") : failure;
      }
      return newEpoch;
    } catch (IOException | RuntimeException e) {
      opened.forEach(StoreDevices::close);
      throw e;
    }
  }

  /** Writes the superblock of this opening. Returns whether the device works. */
  private boolean begin(StoreDevice device, SegmentDevice opened, Superblock found,
    long newEpoch) {
    int segmentSize = settings.segmentSize;
    boolean known = found != null && found.segmentSize() == segmentSize;
    Superblock superblock =
      known ? found.withEpoch(newEpoch) : Superblock.anew(segmentSize, newEpoch);
    boolean works = opened != null;
    if (found != null && !known) {
      LOG.info("{} has segments of {} bytes, configured are {}: starting empty", device,
        found.segmentSize(), segmentSize);
    } else if (works && found == null) {
      LOG.info("{} is new, or has a header of another version: starting empty", device);
    }
    try {
      if (works) {
        superblock.write(opened);
      }
    } catch (IOException e) {
      works = false;
      LOG.warn("Cannot write {}: it is bypassed until a probe succeeds", device, e);
    }
    device.begin(opened, superblock, known ? found.epoch() : StoreDevice.NO_EPOCH);
    if (!works) {
      device.reads().open();
    }
    return works;
  }

  private SegmentDevice open(StoreDevice device) throws IOException {
    return opener.open(device.path(), settings.sizePerDevice());
  }

  /**
   * Opens the path of a bypassed device. The caller closes the returned device.
   * @throws IOException if it cannot be opened, or if another device is found there
   */
  SegmentDevice reopen(StoreDevice device) throws IOException {
    SegmentDevice opened =
      opener.reopen(device.path(), settings.sizePerDevice(), device.device());
    boolean same = false;
    try {
      Superblock found = Superblock.read(opened);
      if (
        device.device() != null && !opened.isMade()
          && !device.superblock().isOfSameDevice(found)
      ) {
        throw new IOException("The device at " + device + " is not the one that has failed; "
          + "mount the former one again, or restart the server to use this one");
      }
      opened.restoreSize();
      same = true;
      return opened;
    } finally {
      if (!same && opened != device.device()) {
        close(opened);
      }
    }
  }

  /** Closes a device, if not null; a failure is logged. */
  static void close(SegmentDevice device) {
    if (device != null) {
      try {
        device.close();
      } catch (IOException e) {
        LOG.warn("Cannot close {}", device, e);
      }
    }
  }

  List<StoreDevice> all() {
    return all;
  }

  /** Returns the device of a segment. */
  StoreDevice of(int segment) {
    return all.get(segment / segmentsPerDevice);
  }

  /** Returns the size of a segment in bytes. */
  int segmentSize() {
    return settings.segmentSize;
  }

  int segmentCount() {
    return segmentsPerDevice * all.size();
  }

  /** Returns the epoch of this opening, which is the first sequence number. */
  long epoch() {
    return epoch;
  }

  int bypassedCount() {
    int bypassed = 0;
    for (StoreDevice device : all) {
      bypassed += device.isWorking() ? 0 : 1;
    }
    return bypassed;
  }

  /** Returns the number of devices that are read but get no new segments. */
  int readOnlyCount() {
    int readOnly = 0;
    for (StoreDevice device : all) {
      readOnly += device.isWorking() && !device.isWritable() ? 1 : 0;
    }
    return readOnly;
  }

  /** Returns a task per device, in order, that closes it. */
  List<Runnable> closing() {
    List<Runnable> closing = new ArrayList<>();
    all.forEach(device -> closing.add(() -> close(device.device())));
    return closing;
  }

  void close() {
    closing().forEach(Runnable::run);
  }
}
