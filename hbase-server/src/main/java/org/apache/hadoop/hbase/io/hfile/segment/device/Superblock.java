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
package org.apache.hadoop.hbase.io.hfile.segment.device;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.io.hfile.block.Crc32c;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The header of a device.
 *
 * <pre>
 *   0 magic          8      32 epoch             8
 *   8 version        4      40 unused            8
 *  12 segment size   4      48 CRC32C of these   4
 *  16 id             16
 * </pre>
 *
 * The id is new whenever a device is initialized anew, so that all of its former segments are
 * foreign to it. The epoch grows with each opening. Sequence numbers begin with it, so that they
 * always grow although the last one is not recorded. There are two copies of {@value #COPY_BYTES}
 * bytes, which are written alternately: a torn write leaves the other one intact.
 */
@InterfaceAudience.Private
public final class Superblock {
  /** Position of the first segment, in bytes. */
  public static final int HEADER_SIZE = 1 << 20;
  /** Start of {@link TombstoneLog}, which ends where segments begin. */
  public static final int LOG_START = 8192;

  private static final int COPY_BYTES = 4096;
  private static final long MAGIC = 0x5345474d43414348L;
  private static final int VERSION = 2;
  private static final int SUM = 48;

  private final int segmentSize;
  private final long idHigh;
  private final long idLow;
  private final long epoch;

  public Superblock(int segmentSize, long idHigh, long idLow, long epoch) {
    this.segmentSize = segmentSize;
    this.idHigh = idHigh;
    this.idLow = idLow;
    this.epoch = epoch;
  }

  /** Returns the superblock of a device without content. */
  public static Superblock anew(int segmentSize, long epoch) {
    UUID id = UUID.randomUUID();
    return new Superblock(segmentSize, id.getMostSignificantBits(), id.getLeastSignificantBits(),
      epoch);
  }

  public Superblock withEpoch(long newEpoch) {
    return new Superblock(segmentSize, idHigh, idLow, newEpoch);
  }

  public int segmentSize() {
    return segmentSize;
  }

  public long idHigh() {
    return idHigh;
  }

  public long idLow() {
    return idLow;
  }

  public long epoch() {
    return epoch;
  }

  /** Returns whether another superblock, which may be null, is of the same device. */
  public boolean isOfSameDevice(Superblock other) {
    return other != null && other.idHigh == idHigh && other.idLow == idLow;
  }

  /** Returns the number of segments that fit on a device. */
  public static int segmentsOf(long size, int segmentSize) {
    return (int) Math.min(Location.MAX_SEGMENTS, Math.max(0, size - HEADER_SIZE) / segmentSize);
  }

  /**
   * Reads the superblock of a device.
   * @return null if there is no valid one of this version
   * @throws IOException if a copy cannot be read and the other one is not valid
   */
  public static Superblock read(SegmentDevice device) throws IOException {
    Superblock newest = null;
    IOException failure = null;
    for (int position = 0; position < LOG_START; position += COPY_BYTES) {
      try {
        ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
        device.read(buffer, position);
        Superblock found = decode(buffer, 0);
        newest = newest == null || found != null && found.epoch > newest.epoch ? found : newest;
      } catch (IOException e) {
        failure = e;
      }
    }
    if (newest == null && failure != null) {
      throw failure;
    }
    return newest;
  }

  private static Superblock decode(ByteBuffer buffer, int at) {
    if (
      buffer.getLong(at) != MAGIC || buffer.getInt(at + 8) != VERSION
        || buffer.getInt(at + SUM) != sum(buffer, at)
    ) {
      return null;
    }
    return new Superblock(buffer.getInt(at + 12), buffer.getLong(at + 16),
      buffer.getLong(at + 24), buffer.getLong(at + 32));
  }

  /** Writes this superblock and syncs the device. */
  public void write(SegmentDevice device) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
    buffer.putLong(MAGIC).putInt(VERSION).putInt(segmentSize).putLong(idHigh).putLong(idLow)
      .putLong(epoch);
    buffer.putInt(SUM, sum(buffer, 0));
    buffer.clear();
    device.write(buffer, (epoch & 1) * COPY_BYTES);
    device.sync();
  }

  private static int sum(ByteBuffer buffer, int at) {
    Checksum sum = Crc32c.create();
    sum.update(buffer.array(), buffer.arrayOffset() + at, SUM);
    return (int) sum.getValue();
  }

  /** Returns the position of a segment on its device, in bytes. */
  public static long positionOf(int segmentOfDevice, int segmentSize) {
    return HEADER_SIZE + (long) segmentOfDevice * segmentSize;
  }
}
