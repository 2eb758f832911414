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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;

/**
 * Devices in memory. What was written can be read at once, as from a page cache, but a crash loses
 * of what was not synced as much as it likes, sector by sector. Devices fail, block and halt on
 * cue.
 */
public final class SimulatedDevices implements SegmentDevice.Opener {
  private static final int SECTOR = 512;

  private final Map<String, Medium> media = new HashMap<>();
  private int writes;
  private int haltAt = Integer.MAX_VALUE;
  private boolean halted;

  /** What one device has. */
  public static final class Medium {
    private byte[] bytes = new byte[0];
    private final List<Write> unsynced = new ArrayList<>();
    private boolean failsToOpen;
    private boolean failsReads;
    private boolean failsWrites;
    /** The position from which on reads wait. */
    private long blockedReads = Long.MAX_VALUE;
    private boolean blocksWrites;
    private int allowedWrites;
    private int reads;
    private int opened;
    /** Where reads and writes fail: from, to, and so on. */
    private final List<int[]> badReads = new ArrayList<>();
    private final List<int[]> badWrites = new ArrayList<>();
    /** Where the next read ends with an error of the JVM. */
    private int[] errorAt;
    private int badReadCount;
    /** By sector, whether it has its space, and how much there is for others. */
    private final BitSet allocated = new BitSet();
    private long space = Long.MAX_VALUE;

    /** Has reads fail that touch any of these bytes. */
    synchronized void failReadsAt(long from, long to) {
      badReads.add(new int[] { (int) from, (int) to });
    }

    /** Has the next read that touches any of these bytes end with an {@link OutOfMemoryError}. */
    synchronized void throwErrorAt(long from, long to) {
      errorAt = new int[] { (int) from, (int) to };
    }

    /** Returns whether {@link #throwErrorAt} has had its effect. */
    synchronized boolean hasThrownError() {
      return errorAt == null;
    }

    /** Has writes fail that touch any of these bytes. */
    synchronized void failWritesAt(long from, long to) {
      badWrites.add(new int[] { (int) from, (int) to });
    }

    /** Returns how many reads have failed by {@link #failReadsAt}. */
    synchronized int badReads() {
      return badReadCount;
    }

    /** Has places that were never written no more than so many bytes, all together. */
    synchronized void setSpace(long bytes) {
      space = bytes;
    }

    synchronized long space() {
      return space;
    }

    private static boolean touches(List<int[]> bad, long position, int length) {
      return bad.stream().anyMatch(b -> position < b[1] && position + length > b[0]);
    }

    private void allocate(long position, int length) throws IOException {
      for (long at = position / SECTOR; at <= (position + length - 1) / SECTOR; at++) {
        if (!allocated.get((int) at)) {
          if (space < SECTOR) {
            throw new IOException("No space left on device");
          }
          space -= space == Long.MAX_VALUE ? 0 : SECTOR;
          allocated.set((int) at);
        }
      }
    }

    public synchronized void failReads(boolean fail) {
      failsReads = fail;
    }

    public synchronized void failWrites(boolean fail) {
      failsWrites = fail;
    }

    synchronized void failToOpen(boolean fail) {
      failsToOpen = fail;
    }

    /** Has writes wait until it is set to false. */
    public synchronized void blockWrites(boolean block) {
      blocksWrites = block;
      notifyAll();
    }

    /** Lets so many writes pass although writes are blocked. */
    synchronized void allowWrites(int count) {
      allowedWrites += count;
      notifyAll();
    }

    /** Has reads wait until it is set to false. */
    synchronized void blockReads(boolean block) {
      blockReadsFrom(block ? 0 : Long.MAX_VALUE);
    }

    /** Has reads from a position on wait until it is set to {@link Long#MAX_VALUE}. */
    public synchronized void blockReadsFrom(long position) {
      blockedReads = position;
      notifyAll();
    }

    /** Returns how often it was read. */
    synchronized int reads() {
      return reads;
    }

    private void await() throws IOException {
      try {
        wait();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    public synchronized void flipBit(long bit) {
      bytes[(int) (bit / Byte.SIZE)] ^= 1 << bit % Byte.SIZE;
    }

    /** Has other bytes in a place than were written there. */
    synchronized void fill(long from, long to, int value) {
      Arrays.fill(bytes, (int) from, (int) to, (byte) value);
    }

    synchronized byte[] bytes() {
      return bytes;
    }

    synchronized int timesOpened() {
      return opened;
    }
  }

  /** A write that is not on the medium for certain, and what was there before. */
  private static final class Write {
    private final int position;
    private final byte[] before;
    private final byte[] after;

    Write(int position, byte[] before, byte[] after) {
      this.position = position;
      this.before = before;
      this.after = after;
    }
  }

  public synchronized Medium medium(String path) {
    return media.computeIfAbsent(path, p -> new Medium());
  }

  /** Has all devices stop for good at the write of this number, from 1 on, which is torn. */
  synchronized void haltAtWrite(int number) {
    haltAt = number;
  }

  synchronized boolean isHalted() {
    return halted;
  }

  synchronized int writes() {
    return writes;
  }

  /** Returns what would be found if the process were killed now: all that was written. */
  public synchronized SimulatedDevices afterKill() {
    SimulatedDevices copy = new SimulatedDevices();
    media.forEach((path, medium) -> {
      synchronized (medium) {
        copy.medium(path).bytes = medium.bytes.clone();
      }
    });
    return copy;
  }

  /**
   * Returns what would be found if the machine lost its power now: of each write that was not
   * synced any of its sectors, in whatever order they were written.
   */
  synchronized SimulatedDevices afterPowerLoss(Random random) {
    SimulatedDevices copy = new SimulatedDevices();
    media.forEach((path, medium) -> {
      synchronized (medium) {
        byte[] bytes = medium.bytes.clone();
        for (int i = medium.unsynced.size() - 1; i >= 0; i--) {
          Write write = medium.unsynced.get(i);
          System.arraycopy(write.before, 0, bytes, write.position, write.before.length);
        }
        for (Write write : medium.unsynced) {
          int kind = random.nextInt(4);
          for (int at = 0; at < write.after.length; at += SECTOR) {
            if (kind == 0 || kind > 1 && random.nextInt(16) < 16 - kind) {
              System.arraycopy(write.after, at, bytes, write.position + at,
                Math.min(SECTOR, write.after.length - at));
            }
          }
        }
        copy.medium(path).bytes = bytes;
      }
    });
    return copy;
  }

  @Override
  public SegmentDevice open(String path, long size) throws IOException {
    Medium medium = medium(path);
    synchronized (medium) {
      if (medium.failsToOpen) {
        throw new IOException("Cannot be opened, as was asked for");
      }
      medium.opened++;
      if (medium.bytes.length != size) {
        medium.bytes = Arrays.copyOf(medium.bytes, (int) size);
      }
    }
    return new Device(medium);
  }

  private final class Device implements SegmentDevice {
    private final Medium medium;
    private boolean closed;

    Device(Medium medium) {
      this.medium = medium;
    }

    @Override
    public long size() {
      return medium.bytes().length;
    }

    @Override
    public void read(ByteBuffer to, long position) throws IOException {
      synchronized (medium) {
        while (position >= medium.blockedReads) {
          medium.await();
        }
        medium.reads++;
        check(medium.failsReads);
        if (
          medium.errorAt != null && Medium.touches(Collections.singletonList(medium.errorAt),
            position, to.remaining())
        ) {
          medium.errorAt = null;
          throw new OutOfMemoryError("As was requested");
        }
        if (Medium.touches(medium.badReads, position, to.remaining())) {
          medium.badReadCount++;
          throw new IOException("Bad sector");
        }
        to.put(medium.bytes, (int) position, to.remaining());
      }
    }

    @Override
    public void write(ByteBuffer from, long position) throws IOException {
      synchronized (SimulatedDevices.this) {
        check(false);
        if (++writes >= haltAt) {
          halted = true;
        }
      }
      synchronized (medium) {
        while (medium.blocksWrites && medium.allowedWrites == 0) {
          medium.await();
        }
        medium.allowedWrites = Math.max(0, medium.allowedWrites - 1);
        if (medium.failsWrites) {
          throw new IOException("Cannot be written, as was asked for");
        }
        if (Medium.touches(medium.badWrites, position, from.remaining())) {
          throw new IOException("Bad sector");
        }
        medium.allocate(position, from.remaining());
        byte[] after = new byte[from.remaining()];
        from.get(after);
        int at = (int) position;
        byte[] before = Arrays.copyOfRange(medium.bytes, at, at + after.length);
        if (halted) {
          after = Arrays.copyOf(after, new Random(position).nextInt(after.length));
          before = Arrays.copyOf(before, after.length);
        }
        System.arraycopy(after, 0, medium.bytes, at, after.length);
        medium.unsynced.add(new Write(at, before, after));
      }
      synchronized (SimulatedDevices.this) {
        check(false);
      }
    }

    @Override
    public void sync() throws IOException {
      synchronized (SimulatedDevices.this) {
        check(false);
      }
      synchronized (medium) {
        if (medium.failsWrites) {
          throw new IOException("Cannot be synced, as was asked for");
        }
        medium.unsynced.clear();
      }
    }

    @Override
    public long usableSpace() {
      return medium.space();
    }

    private void check(boolean fails) throws IOException {
      if (closed || fails || halted) {
        throw new IOException(closed ? "Closed" : halted ? "Halted" : "Failed as was asked for");
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
