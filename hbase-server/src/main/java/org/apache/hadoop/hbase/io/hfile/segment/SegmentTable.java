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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The segments of a {@link SegmentStore}: the state of each, its sequence number, its live bytes,
 * 13 bytes a segment, and its memory while it has one. Each change of state is a method here.
 *
 * <pre>
 *   UNKNOWN -&gt; CLEAN      nothing whole is in it          {@link #found}
 *   UNKNOWN -&gt; FOUND      its trailer is whole            {@link #found}
 *   FOUND   -&gt; BUSY       its footer is read              {@link #takeFound}
 *   FOUND   -&gt; CLEAN      reclaimed before that           {@link #takeVictim}
 *   CLEAN   -&gt; OPEN       to be filled in memory          {@link #open}
 *   OPEN    -&gt; SEALED     written                         {@link #written}
 *   OPEN    -&gt; CLEAN      not written, its device works   {@link #written}
 *   OPEN    -&gt; LOST       not written, its device fails   {@link #written}
 *   SEALED  -&gt; BUSY       to be reclaimed                 {@link #takeVictim}
 *   BUSY    -&gt; SEALED     recovered, or not reclaimed     {@link #recovered}, {@link #putBack}
 *   BUSY    -&gt; CLEAN      reclaimed, or not whole         {@link #cleaned}
 *   any but OPEN and BUSY -&gt; CLEAN  its device is taken back  {@link #reset}
 * </pre>
 *
 * <b>Invariants.</b>
 * <ul>
 * <li>A segment that is OPEN belongs to the writer of its device, one that is BUSY to the thread
 * that has taken it; no other thread changes its state.</li>
 * <li>A segment is written only after it was CLEAN, and becomes CLEAN only when none of its blocks
 * is in the directory.</li>
 * <li>The sequence number of a segment is that of its content: larger with each {@link #open}, and
 * 0 while there is no content.</li>
 * <li>The memory of a segment is set before any of its blocks is in the directory, and removed
 * after the segment is on its device or its blocks are out of the directory.</li>
 * <li>Live bytes are an estimate. They are added before a block is in the directory and subtracted
 * after it was taken out; a late subtraction may hit the segment's next content. A segment that is
 * dead by mistake is reclaimed by its footer like any other.</li>
 * </ul>
 * <p>
 * States are guarded by {@link StoreMonitor#lock}. Thread-safe; what requires the lock to be held
 * says so.
 */
@InterfaceAudience.Private
final class SegmentTable {
  /** It is not known yet what is in a segment; no block of it is in the directory. */
  static final byte UNKNOWN = 0;
  /** Can be written. */
  static final byte CLEAN = 1;
  /** In memory, open or waiting to be written. */
  static final byte OPEN = 2;
  /** On the device, and its blocks in the directory. */
  static final byte SEALED = 3;
  /** On the device, and its blocks not in the directory yet. */
  static final byte FOUND = 4;
  /** Its blocks are being inserted into the directory, or taken out of it. */
  static final byte BUSY = 5;
  /** Was to be written to a device that failed. */
  static final byte LOST = 6;

  private static final int SEQUENCES_OF_EPOCH = 32;

  private final StoreDevices devices;
  private final StoreMonitor monitor;
  private final ReentrantLock lock;
  private final SegmentStoreMetrics metrics;
  private final int segmentCount;

  private final byte[] states;
  private long nextSequence;
  private final AtomicLongArray sequences;
  private final AtomicIntegerArray live;
  private final AtomicReferenceArray<SegmentBuffer> memory;

  SegmentTable(StoreDevices devices, StoreMonitor monitor, SegmentStoreMetrics metrics) {
    this.devices = devices;
    this.monitor = monitor;
    this.lock = monitor.lock;
    this.metrics = metrics;
    this.segmentCount = devices.segmentCount();
    this.states = new byte[segmentCount];
    this.sequences = new AtomicLongArray(segmentCount);
    this.live = new AtomicIntegerArray(segmentCount);
    this.memory = new AtomicReferenceArray<>(segmentCount);
    this.nextSequence = devices.epoch() << SEQUENCES_OF_EPOCH;
    devices.all().forEach(this::begin);
  }

  /** Gives a device's segments the states that they have before any of them is read. */
  private void begin(StoreDevice device) {
    if (!device.isWorking()) {
      Arrays.fill(states, device.first(), device.end(), LOST);
    } else if (device.formerEpoch() == StoreDevice.NO_EPOCH) {
      for (int segment = device.first(); segment < device.end(); segment++) {
        states[segment] = CLEAN;
        device.clean.add(segment);
      }
      device.ordered = true;
    }
  }

  /** Returns the state of a segment. To be called while nobody changes any. */
  byte state(int segment) {
    return states[segment];
  }

  /** Returns the live bytes of a segment; after a race, 0 or less though a block lives. */
  int live(int segment) {
    return live.get(segment);
  }

  /** Takes over states, sequence numbers and live bytes, by segment, before the store starts. */
  void restore(byte[] newStates, long[] newSequences, int[] newLive) {
    lock.lock();
    try {
      for (int i = 0; i < segmentCount; i++) {
        states[i] = newStates[i];
        sequences.set(i, newSequences[i]);
        live.set(i, newLive[i]);
      }
      for (StoreDevice device : devices.all()) {
        restore(device);
      }
    } finally {
      lock.unlock();
    }
  }

  private void restore(StoreDevice device) {
    device.clean.clear();
    List<StoreDevice.Sealed> sealed = new ArrayList<>();
    for (int i = device.first(); i < device.end(); i++) {
      if (states[i] == CLEAN) {
        device.clean.add(i);
      } else if (states[i] == SEALED) {
        sealed.add(new StoreDevice.Sealed(i, sequences.get(i)));
        if (live.get(i) <= 0) {
          device.dead.add(i);
        }
      }
    }
    sealed.sort(Comparator.comparingLong(s -> s.sequence));
    device.sealed.addAll(sealed);
  }

  /** Whether there is a segment of this number. */
  boolean has(int segment) {
    return segment < segmentCount;
  }

  int segmentCount() {
    return segmentCount;
  }

  StoreDevices devices() {
    return devices;
  }

  /** Returns the device that a segment is on. */
  StoreDevice deviceOf(int segment) {
    return devices.of(segment);
  }

  /** The number that says when a segment was opened; 0 if nothing is in it. */
  long sequence(int segment) {
    return sequences.get(segment);
  }

  /** Returns the memory of a segment, null if its content is only on its device. */
  SegmentBuffer memory(int segment) {
    return memory.get(segment);
  }

  /** So many bytes are about to be in the directory; negative if they are not after all. */
  void lives(int segment, int length) {
    live.addAndGet(segment, length);
  }

  /** The place is no block's in the directory any more. Takes no lock. */
  void freed(long location) {
    int segment = Location.segment(location);
    if (has(segment) && live.addAndGet(segment, -Location.length(location)) <= 0) {
      deviceOf(segment).dead.add(segment);
    }
  }

  /**
   * Takes a clean segment of a device, which has one, to be filled in memory. Called with the lock
   * held.
   * @return its number; it has a new sequence number
   */
  int open(StoreDevice device) {
    int segment = device.clean.poll();
    states[segment] = OPEN;
    sequences.set(segment, nextSequence++);
    live.set(segment, 0);
    return segment;
  }

  /** A segment that was opened has memory. Called with the lock held. */
  void opened(SegmentBuffer buffer) {
    memory.set(buffer.segment(), buffer);
  }

  /**
   * A segment is on its device, or was not written, and its blocks were taken out of the directory.
   * Called with the lock held. The segment has its memory until {@link #closed}.
   */
  void written(StoreDevice device, SegmentBuffer buffer, boolean written) {
    int segment = buffer.segment();
    if (written) {
      states[segment] = SEALED;
      device.sealed.add(new StoreDevice.Sealed(segment, buffer.sequence()));
      if (live.get(segment) <= 0) {
        device.dead.add(segment);
      }
    } else {
      sequences.set(segment, 0);
      live.set(segment, 0);
      states[segment] = device.isWorking() ? CLEAN : LOST;
      if (device.isWorking()) {
        device.clean.add(segment);
      }
    }
  }

  /** A segment has no memory any more. Called with the lock held. */
  void closed(SegmentBuffer buffer) {
    memory.set(buffer.segment(), null);
  }

  /**
   * Takes the segment that is to be reclaimed next: one without live blocks, else the oldest. One
   * whose blocks are not in the directory yet becomes clean at once.
   * @return its number, or -1 if there is nothing to reclaim now
   */
  int takeVictim(StoreDevice device) {
    lock.lock();
    try {
      Integer dead;
      while ((dead = device.dead.poll()) != null) {
        if (states[dead] == SEALED && live.get(dead) <= 0) {
          states[dead] = BUSY;
          return dead;
        }
      }
      StoreDevice.Sealed oldest;
      while ((oldest = device.sealed.poll()) != null) {
        if (sequences.get(oldest.segment) != oldest.sequence) {
          continue;
        }
        byte state = states[oldest.segment];
        if (state == SEALED) {
          states[oldest.segment] = BUSY;
          return oldest.segment;
        } else if (state == FOUND) {
          becomeClean(device, oldest.segment);
          return -1;
        } else if (state == BUSY) {
          // Its blocks are being found at this moment; it remains the oldest.
          device.sealed.addFirst(oldest);
          return -1;
        }
      }
      return -1;
    } finally {
      lock.unlock();
    }
  }

  /** A segment was not reclaimed after all; it remains the next one. */
  void putBack(StoreDevice device, int segment) {
    lock.lock();
    try {
      states[segment] = SEALED;
      device.sealed.addFirst(new StoreDevice.Sealed(segment, sequences.get(segment)));
    } finally {
      lock.unlock();
    }
  }

  /** A segment can be written: none of its blocks is in the directory. */
  void cleaned(StoreDevice device, int segment) {
    lock.lock();
    try {
      becomeClean(device, segment);
    } finally {
      lock.unlock();
    }
  }

  private void becomeClean(StoreDevice device, int segment) {
    states[segment] = CLEAN;
    sequences.set(segment, 0);
    live.set(segment, 0);
    device.clean.add(segment);
    monitor.room.signalAll();
  }

  /**
   * No segment of a device that was bypassed has content any more. Called with the lock held, when
   * the directory knows no block of them and {@link #isQuiet}.
   */
  void reset(StoreDevice device) {
    device.sealed.clear();
    device.ordered = true;
    device.dead.clear();
    device.clean.clear();
    for (int i = device.first(); i < device.end(); i++) {
      becomeClean(device, i);
    }
  }

  /** A trailer was read; null if there is none that is whole. */
  void found(StoreDevice device, int segment, SegmentFooter.Trailer trailer) {
    lock.lock();
    try {
      if (states[segment] != UNKNOWN) {
        return;
      }
      if (trailer == null) {
        becomeClean(device, segment);
      } else {
        states[segment] = FOUND;
        sequences.set(segment, trailer.sequence());
        metrics.segmentsFound.increment();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * All trailers of a device have been read: puts its segments in order, ahead of those that were
   * written since.
   */
  void allFound(StoreDevice device) {
    lock.lock();
    try {
      List<StoreDevice.Sealed> found = new ArrayList<>();
      for (int i = device.first(); i < device.end(); i++) {
        if (states[i] == FOUND) {
          found.add(new StoreDevice.Sealed(i, sequences.get(i)));
        }
      }
      found.addAll(device.sealed);
      found.sort(Comparator.comparingLong(s -> s.sequence));
      device.sealed.clear();
      device.sealed.addAll(found);
      device.ordered = true;
      monitor.work.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Takes a segment that was found, to insert its blocks into the directory. */
  boolean takeFound(StoreDevice.Sealed segment) {
    lock.lock();
    try {
      boolean taken = states[segment.segment] == FOUND
        && sequences.get(segment.segment) == segment.sequence
        && deviceOf(segment.segment).isWorking();
      if (taken) {
        states[segment.segment] = BUSY;
      }
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** The blocks of a segment that was found are in the directory. */
  void recovered(StoreDevice device, int segment) {
    lock.lock();
    try {
      states[segment] = SEALED;
      if (live.get(segment) <= 0) {
        device.dead.add(segment);
      }
      monitor.work.signal();
    } finally {
      lock.unlock();
    }
  }

  boolean isUnknown(int segment) {
    lock.lock();
    try {
      return states[segment] == UNKNOWN;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the segments in this state. */
  List<StoreDevice.Sealed> inState(byte state) {
    lock.lock();
    try {
      List<StoreDevice.Sealed> all = new ArrayList<>();
      for (int i = 0; i < segmentCount; i++) {
        if (states[i] == state) {
          all.add(new StoreDevice.Sealed(i, sequences.get(i)));
        }
      }
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Whether nobody has taken a segment of this device, which is bypassed. */
  boolean isQuiet(StoreDevice device) {
    lock.lock();
    try {
      for (int i = device.first(); i < device.end(); i++) {
        if (states[i] == OPEN || states[i] == BUSY) {
          return false;
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether every device that works has as many clean segments as it should have. */
  boolean isClean() {
    lock.lock();
    try {
      for (StoreDevice device : devices.all()) {
        if (device.isWorking() && device.clean.size() < device.cleanTarget()) {
          return false;
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many segments can be written. */
  int cleanCount() {
    lock.lock();
    try {
      int clean = 0;
      for (StoreDevice device : devices.all()) {
        clean += device.clean.size();
      }
      return clean;
    } finally {
      lock.unlock();
    }
  }

  /** Bytes of the entries that are in the directory. Costs O(segments). */
  long liveBytes() {
    long bytes = 0;
    for (int i = 0; i < segmentCount; i++) {
      bytes += Math.max(0, live.get(i));
    }
    return bytes;
  }
}
