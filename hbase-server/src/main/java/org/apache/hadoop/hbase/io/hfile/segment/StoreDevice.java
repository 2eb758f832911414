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
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.hadoop.hbase.io.hfile.CircuitBreaker;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A device of a {@link SegmentStore}, its segments, and whether it is accessed. Reads and writes
 * have a {@link CircuitBreaker} each: with that of reads open the device is bypassed, with that of
 * writes open it gets no new segment, and what is on it is read as before. A device with an access
 * that stalls gets no new segment either, and is not read, until the access ends. Numbers of
 * segments are those of the store.
 * <p>
 * Thread-safe, but for the collections of segments, which the store's lock guards.
 */
@InterfaceAudience.Private
final class StoreDevice {
  /** Says of {@link #formerEpoch} that the device was begun anew. */
  static final long NO_EPOCH = -1;

  private static final long STALL = TimeUnit.SECONDS.toNanos(1);
  /** A device with an access that has stalled for so many times {@link #STALL} is bypassed. */
  private static final int STALLS_OF_AN_OUTAGE = 10;
  private static final long RETIREMENT = TimeUnit.MINUTES.toNanos(10);

  private final String path;
  private final int first;
  private final int count;
  private final int segmentSize;
  private final int bufferCount;

  /** Segments that can be written. Guarded by the store's lock, as the next four are. */
  final ArrayDeque<Integer> clean = new ArrayDeque<>();
  /**
   * Segments that can be written if there is space: those of a file that has not got the space of
   * its own yet.
   */
  final ArrayDeque<Integer> unwritten = new ArrayDeque<>();
  /** Segments in the order they were written; those that are not used any more are passed over. */
  final ArrayDeque<Sealed> sealed = new ArrayDeque<>();
  /** Segments that could not be written, in the order in which that was found. */
  final ArrayDeque<Retired> retired = new ArrayDeque<>();
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

  /** Tombstones that are not in the log yet, in the order of their numbers. */
  private final Queue<Tombstone> tombstones = new ConcurrentLinkedQueue<>();
  private final AtomicInteger tombstoneCount = new AtomicInteger();
  private volatile TombstoneLog log;
  private volatile long lastTombstone;

  private final CircuitBreaker reads;
  private final CircuitBreaker writes;
  private final StallWatch readWatch = new StallWatch(STALL);
  private final StallWatch writeWatch = new StallWatch(STALL);
  private volatile long outageAfter = STALLS_OF_AN_OUTAGE * STALL;
  private volatile long retirement = RETIREMENT;
  private volatile SegmentDevice device;
  private volatile Superblock superblock;
  private volatile long formerEpoch = NO_EPOCH;
  private volatile boolean forgetting;
  private volatile boolean noSpace;

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

  /** A segment that could not be written. */
  @InterfaceAudience.Private
  static final class Retired {
    final int segment;
    /** When it is tried again, as {@link System#nanoTime()}. */
    final long until;

    Retired(int segment, long until) {
      this.segment = segment;
      this.until = until;
    }
  }

  /** @param first the number of its first segment */
  StoreDevice(String path, int first, int count, SegmentStoreSettings settings) {
    this.path = path;
    this.first = first;
    this.count = count;
    this.segmentSize = settings.segmentSize();
    this.bufferCount = settings.bufferCount();
    this.reads = new CircuitBreaker(settings.failuresInARow(), System::nanoTime);
    this.writes = new CircuitBreaker(settings.failuresInARow(), System::nanoTime);
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

  /** Returns how many segments the device should have clean while there are unwritten ones. */
  int preparedTarget() {
    return cleanTarget() + bufferCount;
  }

  /** Whether the cleaner is to see to clean segments. Called with the store's lock held. */
  boolean needsCleanSegments() {
    return clean.size() < cleanTarget()
      || !unwritten.isEmpty() && clean.size() < preparedTarget();
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
    log = new TombstoneLog(newSuperblock);
    device = newDevice;
  }

  /** As {@link #use}, of a device that has nothing on it. */
  void useEmpty(SegmentDevice newDevice, Superblock newSuperblock) {
    use(newDevice, newSuperblock);
    while (tombstones.poll() != null) {
      tombstoneCount.decrementAndGet();
    }
    log.begin();
  }

  /** Returns where a segment begins, in bytes. */
  long positionOf(int segment) {
    return Superblock.positionOf(segment - first, segmentSize);
  }

  void read(ByteBuffer to, int segment, int place) throws IOException {
    int watched = readWatch.begin();
    try {
      device.read(to, positionOf(segment) + place);
    } finally {
      readWatch.end(watched);
    }
  }

  /**
   * A file was dropped. A device that is bypassed is taken back empty, and needs no tombstone; of
   * one that is read-only the oldest are forgotten when there are more than its log has room for.
   */
  void addTombstone(Tombstone tombstone) {
    if (isWorking()) {
      tombstones.add(tombstone);
      if (tombstoneCount.incrementAndGet() > TombstoneLog.SLOTS && tombstones.poll() != null) {
        tombstoneCount.decrementAndGet();
      }
    }
  }

  /** Whether there are tombstones to be logged, and they can be. */
  boolean hasTombstones() {
    return !tombstones.isEmpty() && log.isOpen();
  }

  /** Visits the tombstones that are not in the log yet. */
  void forEachTombstone(Consumer<Tombstone> visitor) {
    tombstones.forEach(visitor);
  }

  /** Returns the number of the last tombstone that is in the log. */
  long lastTombstone() {
    return lastTombstone;
  }

  /** Reads the log, after which tombstones can be logged. */
  void readTombstones(TombstoneLog.Visitor visitor) throws IOException {
    log.read(device, visitor);
  }

  /**
   * Logs the oldest of the tombstones that are not in the log yet. Only for the device's cleaner.
   * @return as {@link TombstoneLog#append}
   */
  int logTombstones(List<Tombstone> oldest, long oldestSequence) throws IOException {
    int watched = writeWatch.begin();
    try {
      int overwritten = log.append(device, oldest, oldestSequence);
      oldest.forEach(tombstone -> {
        if (tombstones.remove(tombstone)) {
          tombstoneCount.decrementAndGet();
        }
      });
      lastTombstone = oldest.get(oldest.size() - 1).number();
      return overwritten;
    } finally {
      writeWatch.end(watched);
    }
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

  /**
   * Whether the first entry of a footer is in the segment. A segment is overwritten from its
   * beginning, and its footer goes last; so a footer may be what is left of the former content.
   */
  boolean hasFirstEntry(int segment, SegmentFooter footer) throws IOException {
    if (footer.count() == 0) {
      return true;
    }
    ByteBuffer tag = ByteBuffer.allocate(EntryTrailer.SIZE);
    read(tag, segment, footer.place(0) + footer.length(0) - EntryTrailer.SIZE);
    return EntryTrailer.local().isOf(tag, footer.sequence(), footer.blockOffset(0));
  }

  /** As {@link #readFooter}, of the trailer alone. */
  SegmentFooter.Trailer readTrailer(int segment) throws IOException {
    ByteBuffer trailer = ByteBuffer.allocate(SegmentFooter.TRAILER_SIZE);
    read(trailer, segment, segmentSize - SegmentFooter.TRAILER_SIZE);
    return SegmentFooter.trailer(trailer, superblock, segment - first);
  }

  void write(ByteBuffer from, int segment, int place) throws IOException {
    int watched = writeWatch.begin();
    try {
      device.write(from, positionOf(segment) + place);
    } finally {
      writeWatch.end(watched);
    }
  }

  /** Brings to the device what was written. */
  void sync() throws IOException {
    int watched = writeWatch.begin();
    try {
      device.sync();
    } finally {
      writeWatch.end(watched);
    }
  }

  /**
   * Whether a write takes so long that it may never end. Nothing more is given to the device until
   * it does, and what waits for it is nothing that another device could be waited for.
   */
  boolean isWriteStalled() {
    return writeWatch.isStalled();
  }

  /** Whether a read or a write takes so long that it may never end. */
  boolean isStalled() {
    return readWatch.isStalled() || writeWatch.isStalled();
  }

  /** Whether a read has stalled for so long that the device is to be bypassed. */
  boolean isReadStalledForLong() {
    return readWatch.maxNanos() > outageAfter;
  }

  /** Whether an access has stalled for so long that nobody is to wait for its end. */
  boolean isStalledForLong() {
    return isReadStalledForLong() || writeWatch.maxNanos() > outageAfter;
  }

  /** For tests whose devices take their time. */
  void stallsAfter(long nanos) {
    readWatch.setLimit(nanos);
    writeWatch.setLimit(nanos);
    outageAfter = STALLS_OF_AN_OUTAGE * nanos;
  }

  /** Returns for how long a segment that cannot be written is left alone, in nanoseconds. */
  long retirement() {
    return retirement;
  }

  /** For tests that do not wait. */
  void retiresFor(long nanos) {
    retirement = nanos;
  }

  /** Whether the device is in use; else it is bypassed. */
  boolean isWorking() {
    return reads.isClosed();
  }

  /** Whether the file system had no space for unwritten segments at the last check. */
  boolean hasNoSpace() {
    return noSpace;
  }

  void setNoSpace(boolean hasNone) {
    noSpace = hasNone;
  }

  /** Whether the directory is being told to forget what is on the device. */
  boolean isForgetting() {
    return forgetting;
  }

  void setForgetting(boolean is) {
    forgetting = is;
  }

  /** Whether a block on the device can be had now. */
  boolean isReadable() {
    return reads.isClosed() && !readWatch.isStalled();
  }

  /** Whether the device gets new segments. */
  boolean isWritable() {
    return reads.isClosed() && writes.isClosed();
  }

  /** As {@link SegmentDevice#usableSpace}. */
  long usableSpace() throws IOException {
    return device.usableSpace();
  }

  CircuitBreaker reads() {
    return reads;
  }

  CircuitBreaker writes() {
    return writes;
  }

  @Override
  public String toString() {
    return path;
  }
}
