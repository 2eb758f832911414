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
import java.util.List;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.io.hfile.block.Crc32c;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The tombstones on a device, so that files dropped before a process is killed are not recovered by
 * the next one: a ring of {@value #SLOTS} records of {@value #RECORD} bytes between superblocks and
 * segments.
 *
 * <pre>
 *   0 magic            4      16 sequence             8
 *   4 counter          4      24 unused               4
 *   8 hash of the name 8      28 CRC32C of these and of the device's id  4
 * </pre>
 *
 * A record lies within a sector, so it is never torn. The counter determines where the ring
 * continues after a start. A tombstone is needed as long as its device has a segment that was
 * opened before its sequence. If one that is needed is overwritten, the blocks of its file may be
 * recovered after a kill, as those of a file that no region reads.
 * <p>
 * Not thread-safe: first {@link #read} by the recovery of the device, then {@link #append} by its
 * cleaner.
 */
@InterfaceAudience.Private
public final class TombstoneLog {
  static final int RECORD = 32;
  public static final int SLOTS = (Superblock.HEADER_SIZE - Superblock.LOG_START) / RECORD;

  private static final int MAGIC = 0x53454754;
  private static final int SUM = 28;

  private final Superblock superblock;
  private int next;
  private int counter;
  private volatile boolean open;

  /** Receives the records found by {@link #read}. */
  @InterfaceAudience.Private
  public interface Visitor {
    void visit(long nameHash, long sequence);
  }

  /** @param superblock of the device, whose id its records have */
  public TombstoneLog(Superblock superblock) {
    this.superblock = superblock;
  }

  /** Returns whether the end of the log is known, so that records can be appended. */
  public boolean isOpen() {
    return open;
  }

  /** Begins an empty log, on a device that was initialized anew. */
  public void begin() {
    open = true;
  }

  /**
   * Reads all tombstones, and determines the end of the log.
   * @throws IOException if the device fails; the log is empty then
   */
  public void read(SegmentDevice device, Visitor visitor) throws IOException {
    try {
      ByteBuffer bytes = ByteBuffer.allocate(SLOTS * RECORD);
      device.read(bytes, Superblock.LOG_START);
      boolean any = false;
      for (int slot = 0; slot < SLOTS; slot++) {
        int at = slot * RECORD;
        if (isRecord(bytes, at)) {
          visitor.visit(bytes.getLong(at + 8), bytes.getLong(at + 16));
          if (!any || bytes.getInt(at + 4) - counter >= 0) {
            counter = bytes.getInt(at + 4);
            next = (slot + 1) % SLOTS;
            any = true;
          }
        }
      }
    } finally {
      open = true;
    }
  }

  private boolean isRecord(ByteBuffer bytes, int at) {
    return bytes.getInt(at) == MAGIC && bytes.getInt(at + SUM) == sum(bytes, at);
  }

  private int sum(ByteBuffer bytes, int at) {
    Checksum sum = Crc32c.create();
    sum.update(bytes.array(), bytes.arrayOffset() + at, SUM);
    ByteBuffer id = ByteBuffer.allocate(2 * Long.BYTES);
    id.putLong(superblock.idHigh()).putLong(superblock.idLow());
    sum.update(id.array(), 0, id.capacity());
    return (int) sum.getValue();
  }

  /**
   * Appends tombstones, in as few writes as possible.
   * @throws IOException if the device fails; none of them counts as written then
   */
  public void append(SegmentDevice device, List<Tombstone> tombstones) throws IOException {
    int done = 0;
    int slot = next;
    int count = counter;
    while (done < tombstones.size()) {
      int batch = Math.min(tombstones.size() - done, SLOTS - slot);
      ByteBuffer bytes = ByteBuffer.allocate(batch * RECORD);
      for (int i = 0; i < batch; i++) {
        Tombstone tombstone = tombstones.get(done + i);
        int at = i * RECORD;
        bytes.putInt(at, MAGIC).putInt(at + 4, ++count).putLong(at + 8, tombstone.nameHash())
          .putLong(at + 16, tombstone.sequence());
        bytes.putInt(at + SUM, sum(bytes, at));
      }
      device.write(bytes, positionOf(slot));
      done += batch;
      slot = (slot + batch) % SLOTS;
    }
    next = slot;
    counter = count;
  }

  private static long positionOf(int slot) {
    return Superblock.LOG_START + (long) slot * RECORD;
  }
}
