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
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A device of a {@link SegmentStore}, its segments, and whether it is to be asked at all: after a
 * number of failures in a row, of reads or of writes, it is bypassed until a probe has shown that
 * it works. Numbers of segments are those of the store.
 * <p>
 * Thread-safe, but for the collections of segments, which the store's lock guards.
 */
@InterfaceAudience.Private
final class StoreDevice {
  /** Says of {@link #formerEpoch} that the device was begun anew. */
  static final long NO_EPOCH = -1;

  private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(10);
  private static final long STALL = TimeUnit.SECONDS.toNanos(1);

  private volatile long stall = STALL;

  private final String path;
  private final int first;
  private final int count;
  private final int segmentSize;
  private final int failuresInARow;

  /** Segments that can be written. Guarded by the store's lock, as the next two are. */
  final ArrayDeque<Integer> clean = new ArrayDeque<>();
  /** Segments in the order they were written; those that are not used any more are passed over. */
  final ArrayDeque<Sealed> sealed = new ArrayDeque<>();
  /** Whether {@link #sealed} is complete: it is known of all segments how old they are. */
  boolean ordered;
  /** Segments that may be without a block that lives; to be made sure of. */
  final Queue<Integer> dead = new ConcurrentLinkedQueue<>();
  /** Segments that are to be written or are being written; changed under the store's lock. */
  volatile int waiting;
  /** What the device's thread is to write. */
  final BlockingQueue<SegmentBuffer> toWrite = new LinkedBlockingQueue<>();

  /** Bytes of entries that are in its segments in memory and not yet written. */
  final AtomicLong backlog = new AtomicLong();

  private final AtomicInteger readFailures = new AtomicInteger();
  private final AtomicInteger writeFailures = new AtomicInteger();
  private volatile SegmentDevice device;
  private volatile Superblock superblock;
  private volatile long formerEpoch = NO_EPOCH;
  private volatile boolean working = true;
  private volatile int term;
  private long pause = FIRST_PAUSE;
  private volatile long nextProbe;
  private volatile boolean writing;
  private volatile long writeStart;

  /** A segment as it was when it was written. */
  @InterfaceAudience.Private
  static final class Sealed {
    final int segment;
    final long sequence;

    Sealed(int segment, long sequence) {
      this.segment = segment;
      this.sequence = sequence;
    }
  }

  /** @param first the number of its first segment */
  StoreDevice(String path, int first, int count, SegmentStoreSettings settings) {
    this.path = path;
    this.first = first;
    this.count = count;
    this.segmentSize = settings.segmentSize();
    this.failuresInARow = settings.failuresInARow();
  }

  String path() {
    return path;
  }

  int first() {
    return first;
  }

  int count() {
    return count;
  }

  /** The number behind its last segment. */
  int end() {
    return first + count;
  }

  Superblock superblock() {
    return superblock;
  }

  /** Returns what is behind it, null if that could not be opened yet. */
  SegmentDevice device() {
    return device;
  }

  /** The epoch of the opening before this one, {@link #NO_EPOCH} if nothing is known of it. */
  long formerEpoch() {
    return formerEpoch;
  }

  /** Returns how many clean segments the device should have. */
  int cleanTarget() {
    return Math.max(2, Math.min(4, count / 64));
  }

  /**
   * As {@link #use}, at the start.
   * @param newFormerEpoch as {@link #formerEpoch}
   */
  void begin(SegmentDevice newDevice, Superblock newSuperblock, long newFormerEpoch) {
    formerEpoch = newFormerEpoch;
    use(newDevice, newSuperblock);
  }

  void use(SegmentDevice newDevice, Superblock newSuperblock) {
    superblock = newSuperblock;
    device = newDevice;
  }

  private long position(int segment) {
    return Superblock.positionOf(segment - first, segmentSize);
  }

  void read(ByteBuffer to, int segment, int place) throws IOException {
    device.read(to, position(segment) + place);
  }

  /**
   * Reads what is in a segment.
   * @return null if it is not what was written
   * @throws IOException if the device fails
   */
  SegmentFooter readFooter(int segment) throws IOException {
    SegmentFooter.Trailer trailer = readTrailer(segment);
    if (trailer == null) {
      return null;
    }
    ByteBuffer footer =
      ByteBuffer.allocate(segmentSize - SegmentFooter.TRAILER_SIZE - trailer.start());
    read(footer, segment, trailer.start());
    return SegmentFooter.read(footer, trailer);
  }

  /** As {@link #readFooter}, of the trailer alone. */
  SegmentFooter.Trailer readTrailer(int segment) throws IOException {
    ByteBuffer trailer = ByteBuffer.allocate(SegmentFooter.TRAILER_SIZE);
    read(trailer, segment, segmentSize - SegmentFooter.TRAILER_SIZE);
    return SegmentFooter.trailer(trailer, superblock, segment - first);
  }

  /** Only for the device's own thread. */
  void write(ByteBuffer from, int segment, int place) throws IOException {
    writeStart = System.nanoTime();
    writing = true;
    try {
      device.write(from, position(segment) + place);
    } finally {
      writing = false;
    }
  }

  /**
   * Whether a write takes so long that it may never end. Nothing more is given to the device until
   * it does, and what waits for it is nothing that another device could be waited for.
   */
  boolean isStalled() {
    return writing && System.nanoTime() - writeStart > stall;
  }

  /** For tests whose devices take their time. */
  void stallsAfter(long nanos) {
    stall = nanos;
  }

  boolean isWorking() {
    return working;
  }

  /** Returns what is to be said to {@link #failed}; to be taken before an access. */
  int term() {
    return term;
  }

  void readSucceeded() {
    if (readFailures.get() != 0) {
      readFailures.set(0);
    }
  }

  void writeSucceeded() {
    if (writeFailures.get() != 0) {
      writeFailures.set(0);
    }
  }

  /** @return whether the device is bypassed because of this failure */
  boolean readFailed(int termAtStart, long now) {
    return failed(readFailures, termAtStart, now);
  }

  /** @return whether the device is bypassed because of this failure */
  boolean writeFailed(int termAtStart, long now) {
    return failed(writeFailures, termAtStart, now);
  }

  private synchronized boolean failed(AtomicInteger failures, int termAtStart, long now) {
    return working && termAtStart == term && failures.incrementAndGet() >= failuresInARow
      && bypass(now);
  }

  /** Stops using the device. Returns true. */
  synchronized boolean bypass(long now) {
    working = false;
    nextProbe = now + pause;
    return true;
  }

  /** Returns how long a bypassed device is not to be tried, in nanoseconds, 0 or less if it is. */
  long untilProbe(long now) {
    return nextProbe - now;
  }

  synchronized void probeFailed(long now) {
    pause = Math.min(2 * pause, LONGEST_PAUSE);
    nextProbe = now + pause;
  }

  /** A probe has succeeded. What fails from now on and began before does not count. */
  synchronized void works() {
    term++;
    readFailures.set(0);
    writeFailures.set(0);
    pause = FIRST_PAUSE;
    working = true;
  }

  @Override
  public String toString() {
    return path;
  }
}
