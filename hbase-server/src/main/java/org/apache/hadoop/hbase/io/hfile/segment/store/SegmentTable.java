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
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToIntFunction;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The segments of a {@link SegmentStore}: the state of each, its sequence number, its live bytes,
 * 13 bytes per segment, and its memory while it has any. Each change of state is a method of this
 * class.
 *
 * <pre>
 *   UNKNOWN -&gt; UNWRITTEN  it has no valid trailer         {@link #found}, {@link #foundNoMore}
 *   UNKNOWN -&gt; FOUND      its trailer is valid            {@link #found}
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
 *   BUSY    -&gt; CLEAN      reclaimed, or not valid         {@link #cleaned}
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
 * <li>A device keeps a few of its writable segments CLEAN; the others are UNWRITTEN until its file
 * system is known to have space, since a file may be sparse, or until it is found that they were
 * written before.</li>
 * <li>The sequence number of a segment is that of its content: larger with each {@link #open}, and
 * 0 while there is no content.</li>
 * <li>The memory of a segment is set before any of its blocks is in the directory, and removed
 * after the segment is on its device or its blocks are out of the directory.</li>
 * <li>Live bytes are an estimate. They are added before a block is in the directory and subtracted
 * after it was removed; a late subtraction may hit the segment's next content. A segment that is
 * considered dead by mistake is reclaimed by its footer like any other.</li>
 * </ul>
 * <p>
 * States are guarded by {@link StoreMonitor#lock}. Thread-safe; methods that require the lock are
 * documented as such.
 * <p>
 * Longer than 500 lines because every change of state is here, so that the invariants can be
 * checked in one class.
 */
@InterfaceAudience.Private
final class SegmentTable {
  /** The content is not known yet; no block of it is in the directory. */
  static final byte UNKNOWN = 0;
  /** The segment can be written. */
  static final byte CLEAN = 1;
  /** The segment is in memory, open or waiting to be written. */
  static final byte OPEN = 2;
  /** The segment is on the device, with its blocks in the directory. */
  static final byte SEALED = 3;
  /** The segment is on the device, with its blocks not yet in the directory. */
  static final byte FOUND = 4;
  /** Its blocks are being inserted into the directory, or removed from it. */
  static final byte BUSY = 5;
  /** Not written because its device failed. */
  static final byte LOST = 6;
  /** Could not be written or read, though its device works. */
  static final byte RETIRED = 7;
  /** Empty, and its device may have no space for it. */
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

  /** Sets the initial states of a device's segments, before any of them is read. */
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

  /** Returns the state of a segment. Must not be called concurrently with changes of states. */
  byte state(int segment) {
    return states[segment];
  }

  /** Returns the live bytes of a segment; after a race, 0 or less though a block is live. */
  int live(int segment) {
    return live.get(segment);
  }

  /** Restores states, sequence numbers and live bytes, by segment, before the store starts. */
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

  /** Returns whether there is a segment with this number. */
  boolean has(int segment) {
    return segment < segmentCount;
  }

  int segmentCount() {
    return segmentCount;
  }

  StoreDevices devices() {
    return devices;
  }

  /** Returns the device of a segment. */
  StoreDevice deviceOf(int segment) {
    return devices.of(segment);
  }

  /** Returns the sequence number of the next segment to be opened. */
  long nextSequence() {
    return nextSequence;
  }

  /** Returns the sequence number of a segment; 0 if it is empty. */
  long sequence(int segment) {
    return sequences.get(segment);
  }

  /** Returns the memory of a segment, null if its content is only on its device. */
  SegmentBuffer memory(int segment) {
    return memory.get(segment);
  }

  /** Adds live bytes of an entry that is about to be in the directory; negative to revert. */
  void lives(int segment, int length) {
    live.addAndGet(segment, length);
  }

  /** Subtracts live bytes of an entry that is no longer in the directory. Takes no lock. */
  void freed(long location) {
    int segment = Location.segment(location);
    if (has(segment) && live.addAndGet(segment, -Location.length(location)) <= 0) {
      deviceOf(segment).dead.add(segment);
    }
  }

  /**
   * Opens a clean segment of a device, which must have one. Requires the lock.
   * @return its number; it has a new sequence number
   */
  int open(StoreDevice device) {
    int segment = device.clean.poll();
    states[segment] = OPEN;
    sequences.set(segment, nextSequence++);
    live.set(segment, 0);
    return segment;
  }

  /** Sets the memory of an opened segment. Requires the lock. */
  void opened(SegmentBuffer buffer) {
    memory.set(buffer.segment(), buffer);
  }

  /**
   * Sets the state of a segment that is on its device, or that was not written and whose blocks
   * were removed from the directory. Requires the lock. The segment keeps its memory until
   * {@link #closed}.
   */
  void written(StoreDevice device, SegmentBuffer buffer, SegmentBuffer.Outcome outcome) {
    int segment = buffer.segment();
    if (outcome == SegmentBuffer.Outcome.WRITTEN) {
      states[segment] = SEALED;
      device.sealed.add(new StoreDevice.Sealed(segment, buffer.sequence()));
      if (device.sealed.size() > 2 * device.count()) {
        removeReclaimed(device);
      }
      if (live.get(segment) <= 0) {
        device.dead.add(segment);
      }
    } else {
      sequences.set(segment, 0);
      live.set(segment, 0);
      if (outcome == SegmentBuffer.Outcome.FAILED) {
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
   * Makes unwritten segments clean, as many as are wanted and as their device has space for. The
   * segments that are clean, open or waiting may not have their space allocated yet, so their space
   * is subtracted. Segments that were written before need none. Called without the lock, since the
   * device is accessed, by the thread of the device's cleaner, which alone removes unwritten
   * segments.
   * @return false if there is not enough space for all
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
      if (wanted <= left) {
        return true;
      }
    } finally {
      lock.unlock();
    }
    return prepareAllocated(device);
  }

  /**
   * Makes unwritten segments clean whose space is allocated. The others are moved to the end of the
   * queue, so that they are not read first the next time.
   * @return false if these are not enough
   */
  private boolean prepareAllocated(StoreDevice device) {
    for (int segment : unwritten(device)) {
      boolean allocated = device.isAllocated(segment);
      lock.lock();
      try {
        device.unwritten.poll();
        if (allocated) {
          becomeClean(device, segment);
        } else {
          device.unwritten.add(segment);
        }
        if (device.clean.size() >= device.preparedTarget()) {
          return true;
        }
      } finally {
        lock.unlock();
      }
    }
    return false;
  }

  private List<Integer> unwritten(StoreDevice device) {
    lock.lock();
    try {
      return new ArrayList<>(device.unwritten);
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

  /** Retires a reclaimed segment that could not be read: it is not written for some time. */
  void retire(StoreDevice device, int segment) {
    lock.lock();
    try {
      becomeRetired(device, segment);
    } finally {
      lock.unlock();
    }
  }

  /** Makes retired segments available again whose pause is over. */
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

  /**
   * Makes all retired segments of a device available again, since it was the device that had
   * failed.
   */
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

  /** Returns whether the pause of a retired segment is over. Requires the lock. */
  static boolean isRetirementOver(StoreDevice device) {
    return !device.retired.isEmpty() && System.nanoTime() - device.retired.peek().until >= 0;
  }

  /**
   * Takes a clean segment for a probe to write to, a different one each time.
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

  /** Returns the number of retired segments. */
  int retiredCount() {
    return count(device -> device.retired.size());
  }

  /** Returns the number of empty segments for which there may be no space. */
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

  /** Removes the memory of a segment. Requires the lock. */
  void closed(SegmentBuffer buffer) {
    memory.set(buffer.segment(), null);
  }

  /**
   * Takes the next segment to be reclaimed: one without live blocks, else the oldest. A segment
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
          // Its blocks are being recovered; it remains the oldest.
          device.sealed.addFirst(oldest);
          return -1;
        }
      }
      return -1;
    } finally {
      lock.unlock();
    }
  }

  /** Removes segments from the order that were reclaimed before they were the oldest. */
  private void removeReclaimed(StoreDevice device) {
    List<StoreDevice.Sealed> left = new ArrayList<>(device.count());
    for (StoreDevice.Sealed sealed : device.sealed) {
      if (sequences.get(sealed.segment) == sealed.sequence) {
        left.add(sealed);
      }
    }
    device.sealed.clear();
    device.sealed.addAll(left);
  }

  /** Returns a segment that was not reclaimed after all; it remains the next one. */
  void putBack(StoreDevice device, int segment) {
    lock.lock();
    try {
      states[segment] = SEALED;
      // One without live blocks was not taken from the order.
      device.sealed.removeIf(sealed -> sealed.segment == segment);
      device.sealed.addFirst(new StoreDevice.Sealed(segment, sequences.get(segment)));
    } finally {
      lock.unlock();
    }
  }

  /** Makes a segment writable, none of whose blocks is in the directory. */
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
    monitor.space.signalAll();
  }

  /**
   * Makes a segment unwritten: it can be written if there is space. The first few are made clean at
   * once.
   */
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
   * Empties all segments of a bypassed device. Requires the lock, no block of them in the
   * directory, and {@link #isQuiet}.
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

  /** Sets the state of a segment by its trailer; null if it has no valid trailer. */
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
   * Orders the segments of a device by age, ahead of those that were written since. Called when all
   * trailers have been read.
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

  /** Treats the segments of a device whose trailers were not read as empty. */
  void foundNoMore(StoreDevice device) {
    lock.lock();
    try {
      for (int i = device.first(); i < device.end(); i++) {
        if (states[i] == UNKNOWN) {
          becomeUnwritten(device, i);
        }
      }
      if (!device.ordered) {
        allFound(device);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes a found segment, to insert its blocks into the directory. */
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

  /** Seals a found segment whose blocks are in the directory. */
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

  /** Returns the found and not yet recovered segments of a device, newest first. */
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

  /** Returns whether no thread has taken a segment of this device, which is bypassed. */
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

  /** Returns whether every writable device has its target number of clean segments. */
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

  /** Returns the number of clean segments. */
  int cleanCount() {
    return count(device -> device.clean.size());
  }

  /**
   * Returns whether a written segment has no live blocks. A reclaimed segment stays among the dead
   * ones until it is skipped here. Requires the lock.
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

  /** Returns the bytes of the entries in the directory. O(segments). */
  long liveBytes() {
    long bytes = 0;
    for (int i = 0; i < segmentCount; i++) {
      bytes += Math.max(0, live.get(i));
    }
    return bytes;
  }
}
