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
import java.util.Collections;
import java.util.List;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The devices of a {@link SegmentStore}: opens them, maps segments to them, and closes them. The
 * devices have the same number of segments each, in the order of their paths. The list is fixed;
 * whether a device is in use is the device's own state, see {@link StoreDevice#isWorking}.
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
      Math.min(Superblock.segmentsOf(settings.sizePerDevice(), settings.segmentSize()),
        Location.MAX_SEGMENTS / settings.paths().size());
    List<StoreDevice> made = new ArrayList<>();
    for (String path : settings.paths()) {
      made.add(
        new StoreDevice(path, made.size() * segmentsPerDevice, segmentsPerDevice, settings));
    }
    this.all = Collections.unmodifiableList(made);
    this.epoch = openAll();
  }

  /**
   * Opens the devices, and writes the superblock of this opening to each.
   * @throws IOException if no device can be opened and written; one of several is bypassed
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
          LOG.warn("{} cannot be opened and is bypassed for the time being", device, e);
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
    int segmentSize = settings.segmentSize();
    boolean known = found != null && found.segmentSize() == segmentSize;
    Superblock superblock =
      known ? found.withEpoch(newEpoch) : Superblock.anew(segmentSize, newEpoch);
    if (found != null && !known) {
      LOG.info("{} has segments of {} bytes, now they have {}: it begins empty", device,
        found.segmentSize(), segmentSize);
    }
    boolean works = opened != null;
    try {
      if (works) {
        superblock.write(opened);
      }
    } catch (IOException e) {
      works = false;
      LOG.warn("{} cannot be written and is bypassed for the time being", device, e);
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
   * Opens the path of a device that is bypassed. The caller closes what is returned.
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
        throw new IOException("At " + device + " is another device than the one that has failed; "
          + "mount that one again, or restart the server if this one is to be used");
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

  /** Closes a device, if there is one; a failure is logged. */
  static void close(SegmentDevice device) {
    if (device != null) {
      try {
        device.close();
      } catch (IOException e) {
        LOG.warn("{} cannot be closed", device, e);
      }
    }
  }

  List<StoreDevice> all() {
    return all;
  }

  /** Returns the device that a segment is on. */
  StoreDevice of(int segment) {
    return all.get(segment / segmentsPerDevice);
  }

  /** Bytes of a segment. */
  int segmentSize() {
    return settings.segmentSize();
  }

  int segmentCount() {
    return segmentsPerDevice * all.size();
  }

  /** The epoch of this opening, with which sequence numbers begin. */
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

  /** Devices that are read and get no new segments. */
  int readOnlyCount() {
    int readOnly = 0;
    for (StoreDevice device : all) {
      readOnly += device.isWorking() && !device.isWritable() ? 1 : 0;
    }
    return readOnly;
  }

  /** Returns what closes the devices, in their order. */
  List<Runnable> closing() {
    List<Runnable> closing = new ArrayList<>();
    all.forEach(device -> closing.add(() -> close(device.device())));
    return closing;
  }

  void close() {
    closing().forEach(Runnable::run);
  }
}
