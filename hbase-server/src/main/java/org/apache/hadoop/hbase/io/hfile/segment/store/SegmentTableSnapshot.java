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

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The part of a {@code SegmentSnapshot} for a {@link SegmentTable}: identity and epoch of each
 * device, then state, sequence number and live bytes of each segment. Only for a store whose
 * threads are not running.
 */
@InterfaceAudience.Private
final class SegmentTableSnapshot {
  private static final int VERSION = 1;

  private SegmentTableSnapshot() {
  }

  /** Writes a table, to be restored when the same devices are opened next. */
  static void write(SegmentTable table, DataOutput out) throws IOException {
    StoreDevices devices = table.devices();
    out.writeInt(VERSION);
    out.writeInt(devices.segmentSize());
    out.writeInt(devices.all().size());
    for (StoreDevice device : devices.all()) {
      Superblock superblock = device.superblock();
      out.writeLong(superblock.idHigh());
      out.writeLong(superblock.idLow());
      out.writeLong(superblock.epoch());
      out.writeInt(device.count());
    }
    for (int i = 0; i < table.segmentCount(); i++) {
      byte state = table.state(i);
      // Segments that could not be written, or have no space yet, are checked by the next process.
      out.writeByte(state == SegmentTable.RETIRED || state == SegmentTable.UNWRITTEN
        ? SegmentTable.CLEAN
        : state);
      out.writeLong(table.sequence(i));
      out.writeInt(table.live(i));
    }
  }

  /**
   * Reads the output of {@link #write} into a table.
   * @return false if it is of other devices, or of an earlier opening; the table is not changed
   *         then, and the segments are found by their footers
   */
  static boolean read(SegmentTable table, DataInput in) throws IOException {
    if (!isOf(table.devices(), in)) {
      return false;
    }
    int count = table.segmentCount();
    byte[] states = new byte[count];
    long[] sequences = new long[count];
    int[] live = new int[count];
    for (int i = 0; i < count; i++) {
      states[i] = in.readByte();
      sequences[i] = in.readLong();
      live[i] = in.readInt();
      if (
        states[i] != SegmentTable.UNKNOWN && states[i] != SegmentTable.CLEAN
          && states[i] != SegmentTable.SEALED && states[i] != SegmentTable.FOUND
      ) {
        return false;
      }
    }
    table.restore(states, sequences, live);
    return true;
  }

  private static boolean isOf(StoreDevices devices, DataInput in) throws IOException {
    if (
      in.readInt() != VERSION || in.readInt() != devices.segmentSize()
        || in.readInt() != devices.all().size()
    ) {
      return false;
    }
    for (StoreDevice device : devices.all()) {
      Superblock superblock = device.superblock();
      if (
        in.readLong() != superblock.idHigh() || in.readLong() != superblock.idLow()
          || in.readLong() != device.formerEpoch() || in.readInt() != device.count()
          || !device.isWorking()
      ) {
        return false;
      }
    }
    return true;
  }
}
