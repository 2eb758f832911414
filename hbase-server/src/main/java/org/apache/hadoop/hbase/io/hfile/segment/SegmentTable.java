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
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToIntFunction;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The segments of a {@link SegmentStore}: the state of each, its sequence number, its live bytes,
 * 13 bytes a segment, and its memory while it has one. Each change of state is a method here.
 *
 * <pre>
 *   UNKNOWN -&gt; UNWRITTEN  nothing whole is in it          {@link #found}
 *   UNKNOWN -&gt; FOUND      its trailer is whole            {@link #found}
 *   FOUND   -&gt; BUSY       its footer is read              {@link #takeFound}
 *   FOUND   -&gt; CLEAN      reclaimed before that           {@link #takeVictim}
 *   UNWRITTEN -&gt; CLEAN    there is space for it           {@link #prepare}
 *   CLEAN   -&gt; OPEN       to be filled in memory          {@link #open}
 *   OPEN    -&gt; SEALED     written                         {@link #written}
 *   OPEN    -&gt; CLEAN      not tried, its device works     {@link #written}
 *   OPEN    -&gt; LOST       not tried, its device fails     {@link #written}
 *   OPEN    -&gt; RETIRED    could not be written            {@link #written}
 *   RETIRED -&gt; UNWRITTEN  its pause is over               {@link #unretire}
 *   CLEAN   -&gt; BUSY       a probe writes to it            {@link #takeForProbe}
 *   SEALED  -&gt; BUSY       to be reclaimed                 {@link #takeVictim}
 *   BUSY    -&gt; SEALED     recovered, or not reclaimed     {@link #recovered}, {@link #putBack}
 *   BUSY    -&gt; CLEAN      reclaimed, or not whole         {@link #cleaned}
 *   BUSY    -&gt; RETIRED    reclaimed, but not readable     {@link #retire}
 *   any but OPEN, BUSY and RETIRED -&gt; UNWRITTEN  its device is taken back  {@link #reset}
 * </pre>
 *
 * <b>Invariants.</b>
 * <ul>
 * <li>A segment that is OPEN belongs to the writer of its device, one that is BUSY to the thread
 * that has taken it; no other thread changes its state.</li>
 * <li>A segment is written only after it was CLEAN, and becomes CLEAN only when none of its blocks
 * is in the directory.</li>
 * <li>Of the segments that can be written a device keeps a few CLEAN; the others are UNWRITTEN
 * until its file system has shown that there is space, since a file may be sparse.</li>
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
  /** Could not be written or read, though its device works. */
  static final byte RETIRED = 7;
  /** Nothing is in it, and there may be no space for it on its device. */
  static final byte UNWRITTEN = 8;

  private static final int SEQUENCES_OF_EPOCH = 32;

  private final StoreDevices devices;
  private final StoreMonitor monitor;
  private final ReentrantLock lock;
  private final SegmentStoreMetrics metrics;
  private final int segmentCount;

  private final byte[] states;
  /** Changed under the lock. */
  private volatile long nextSequence;
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
    lock.lock();
    try {
      devices.all().forEach(this::begin);
    } finally {
      lock.unlock();
    }
  }

  /** Gives a device's segments the states that they have before any of them is read. */
  private void begin(StoreDevice device) {
    if (!device.isWorking()) {
      Arrays.fill(states, device.first(), device.end(), LOST);
    } else if (device.formerEpoch() == StoreDevice.NO_EPOCH) {
      for (int segment = device.first(); segment < device.end(); segment++) {
        becomeUnwritten(device, segment);
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
    device.unwritten.clear();
    List<StoreDevice.Sealed> sealed = new ArrayList<>();
    for (int i = device.first(); i < device.end(); i++) {
      if (states[i] == CLEAN) {
        becomeUnwritten(device, i);
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

  /** The sequence number that the next segment gets that is opened. */
  long nextSequence() {
    return nextSequence;
  }

  /** The smallest sequence number of a device's segments; the next one if they have no content. */
  long oldestSequence(StoreDevice device) {
    long oldest = nextSequence;
    for (int i = device.first(); i < device.end(); i++) {
      long sequence = sequences.get(i);
      oldest = sequence == 0 ? oldest : Math.min(oldest, sequence);
    }
    return oldest;
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
  void written(StoreDevice device, SegmentBuffer buffer, SegmentWriter.Outcome outcome) {
    int segment = buffer.segment();
    if (outcome == SegmentWriter.Outcome.WRITTEN) {
      states[segment] = SEALED;
      device.sealed.add(new StoreDevice.Sealed(segment, buffer.sequence()));
      if (live.get(segment) <= 0) {
        device.dead.add(segment);
      }
    } else {
      sequences.set(segment, 0);
      live.set(segment, 0);
      if (outcome == SegmentWriter.Outcome.FAILED) {
        becomeRetired(device, segment);
      } else if (device.isWorking()) {
        states[segment] = CLEAN;
        device.clean.add(segment);
      } else {
        states[segment] = LOST;
      }
    }
  }

  /**
   * Makes as many unwritten segments clean as are wanted and as their device has space for, beside
   * those that are clean, open or waiting, none of which may have its space yet. Called without the
   * lock, since the device is asked.
   * @return false if there is not the space for all
   */
  boolean prepare(StoreDevice device) throws IOException {
    long space = device.usableSpace() / devices.segmentSize();
    lock.lock();
    try {
      int wanted = device.preparedTarget() - device.clean.size();
      long left = space - 1 - device.clean.size() - device.waiting;
      for (int i = 0; i < wanted && i < left && !device.unwritten.isEmpty(); i++) {
        becomeClean(device, device.unwritten.poll());
      }
      return wanted <= left;
    } finally {
      lock.unlock();
    }
  }

  private void becomeRetired(StoreDevice device, int segment) {
    states[segment] = RETIRED;
    sequences.set(segment, 0);
    live.set(segment, 0);
    device.retired
      .add(new StoreDevice.Retired(segment, System.nanoTime() + device.retirement()));
  }

  /** A segment was reclaimed that could not be read: it is not written for some time. */
  void retire(StoreDevice device, int segment) {
    lock.lock();
    try {
      becomeRetired(device, segment);
    } finally {
      lock.unlock();
    }
  }

  /** Has the segments tried again whose pause is over. */
  void unretire(StoreDevice device) {
    lock.lock();
    try {
      while (isRetirementOver(device)) {
        becomeUnwritten(device, device.retired.poll().segment);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Has all segments of a device tried again, since it was the device that had failed. */
  void unretireAll(StoreDevice device) {
    lock.lock();
    try {
      while (!device.retired.isEmpty()) {
        becomeUnwritten(device, device.retired.poll().segment);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether a segment can be tried again that could not be written. Called with the lock held. */
  static boolean isRetirementOver(StoreDevice device) {
    return !device.retired.isEmpty() && System.nanoTime() - device.retired.peek().until >= 0;
  }

  /**
   * Takes a clean segment for a probe to write to, another one each time.
   * @return its number, for {@link #cleaned}; -1 if there is none
   */
  int takeForProbe(StoreDevice device) {
    lock.lock();
    try {
      if (device.clean.isEmpty()) {
        return -1;
      }
      int segment = device.clean.poll();
      states[segment] = BUSY;
      return segment;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many segments failed and are not used for the time being. */
  int retiredCount() {
    return count(device -> device.retired.size());
  }

  /** Returns how many segments nothing is in for which there may be no space. */
  int unwrittenCount() {
    return count(device -> device.unwritten.size());
  }

  private int count(ToIntFunction<StoreDevice> counter) {
    lock.lock();
    try {
      return devices.all().stream().mapToInt(counter).sum();
    } finally {
      lock.unlock();
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

  /** A segment can be written if there is space. The first few are made clean at once. */
  private void becomeUnwritten(StoreDevice device, int segment) {
    if (device.clean.size() < device.preparedTarget()) {
      becomeClean(device, segment);
    } else {
      states[segment] = UNWRITTEN;
      sequences.set(segment, 0);
      live.set(segment, 0);
      device.unwritten.add(segment);
    }
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
    device.unwritten.clear();
    for (int i = device.first(); i < device.end(); i++) {
      if (states[i] != RETIRED) {
        becomeUnwritten(device, i);
      }
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
        becomeUnwritten(device, segment);
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
      monitor.work.signalAll();
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
      monitor.work.signalAll();
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

  /** Returns the segments of a device that were found and are not recovered, the newest first. */
  List<StoreDevice.Sealed> found(StoreDevice device) {
    List<StoreDevice.Sealed> found = new ArrayList<>();
    for (StoreDevice.Sealed segment : inState(FOUND)) {
      if (deviceOf(segment.segment) == device) {
        found.add(segment);
      }
    }
    found.sort(Comparator.comparingLong((StoreDevice.Sealed s) -> s.sequence).reversed());
    return found;
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

  /** Whether every device that can be written has as many clean segments as it should have. */
  boolean isClean() {
    lock.lock();
    try {
      for (StoreDevice device : devices.all()) {
        if (device.isWritable() && device.clean.size() < device.cleanTarget()) {
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
    return count(device -> device.clean.size());
  }

  /**
   * Whether a segment that was written has no block that lives. One that was reclaimed is among the
   * dead ones, too, until it is passed over. Called with the lock held.
   */
  boolean hasDead(StoreDevice device) {
    Integer dead;
    while ((dead = device.dead.peek()) != null) {
      if (states[dead] == SEALED && live.get(dead) <= 0) {
        return true;
      }
      device.dead.remove(dead);
    }
    return false;
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
