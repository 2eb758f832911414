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
import org.apache.hadoop.hbase.io.hfile.composite.CircuitBreaker;
import org.apache.hadoop.hbase.io.hfile.segment.device.EntryTrailer;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.device.Tombstone;
import org.apache.hadoop.hbase.io.hfile.segment.device.TombstoneLog;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A device of a {@link SegmentStore}, its segments, and its health. Reads and writes have a
 * {@link CircuitBreaker} each: if that of reads is open the device is bypassed; if that of writes
 * is open it gets no new segments but is still read. A device with a stalled access gets no new
 * segments either, and is not read, until the access ends. Segment numbers are those of the store.
 * <p>
 * Thread-safe, except for the collections of segments, which are guarded by the store's lock.
 */
@InterfaceAudience.Private
final class StoreDevice {
  /** Value of {@link #formerEpoch} for a device that was initialized anew. */
  static final long NO_EPOCH = -1;

  private static final long STALL = TimeUnit.SECONDS.toNanos(1);
  /** A device is bypassed when an access takes this many times {@link #STALL}. */
  private static final int STALLS_OF_AN_OUTAGE = 10;
  private static final long RETIREMENT = TimeUnit.MINUTES.toNanos(10);

  private final String path;
  private final int first;
  private final int count;
  private final int segmentSize;
  private final int bufferCount;

  /** Segments that can be written. Guarded by the store's lock, as are the next four fields. */
  final ArrayDeque<Integer> clean = new ArrayDeque<>();
  /**
   * Segments that can be written if there is space: segments of a sparse file whose space is not
   * allocated yet.
   */
  final ArrayDeque<Integer> unwritten = new ArrayDeque<>();
  /**
   * Segments in the order in which they were written; entries no longer valid are skipped. At most
   * twice as many as there are segments.
   */
  final ArrayDeque<Sealed> sealed = new ArrayDeque<>();
  /** Segments that could not be written, in the order in which they failed. */
  final ArrayDeque<Retired> retired = new ArrayDeque<>();
  /** Whether {@link #sealed} is complete: the age of all segments is known. */
  boolean ordered;
  /** Segments that may be without live blocks; verified before use. */
  final Queue<Integer> dead = new ConcurrentLinkedQueue<>();
  /** Number of segments waiting or being written; changed under the store's lock. */
  volatile int waiting;
  /** Segments to be written by the device's thread. */
  final BlockingQueue<SegmentBuffer> toWrite = new LinkedBlockingQueue<>();

  /** Bytes of entries in segments in memory that are not written yet. */
  final AtomicLong backlog = new AtomicLong();

  /** Tombstones that are not in the log yet, ordered by number. */
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

  /** A segment with its sequence number when it was written. */
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
    /** When it is tried again, in terms of {@link System#nanoTime()}. */
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
    this.segmentSize = settings.segmentSize;
    this.bufferCount = settings.bufferCount;
    this.reads = new CircuitBreaker(CircuitBreaker.FAILURES_IN_A_ROW, System::nanoTime);
    this.writes = new CircuitBreaker(CircuitBreaker.FAILURES_IN_A_ROW, System::nanoTime);
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

  /** Returns the number after that of its last segment. */
  int end() {
    return first + count;
  }

  Superblock superblock() {
    return superblock;
  }

  /** Returns the underlying device, null if it could not be opened yet. */
  SegmentDevice device() {
    return device;
  }

  /** Returns the epoch of the preceding opening, {@link #NO_EPOCH} if it is not known. */
  long formerEpoch() {
    return formerEpoch;
  }

  /** Returns the target number of clean segments. */
  int cleanTarget() {
    return Math.max(2, Math.min(4, count / 64));
  }

  /** Returns the target number of clean segments while there are unwritten ones. */
  int preparedTarget() {
    return cleanTarget() + bufferCount;
  }

  /** Returns whether the cleaner must provide clean segments. Requires the store's lock. */
  boolean needsCleanSegments() {
    return clean.size() < cleanTarget()
      || !unwritten.isEmpty() && clean.size() < preparedTarget();
  }

  /**
   * Sets the underlying device at startup.
   * @param newFormerEpoch the value of {@link #formerEpoch}
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

  /** Sets an underlying device that is empty. */
  void useEmpty(SegmentDevice newDevice, Superblock newSuperblock) {
    use(newDevice, newSuperblock);
    while (tombstones.poll() != null) {
      tombstoneCount.decrementAndGet();
    }
    log.begin();
  }

  /** Returns the position of a segment on the device, in bytes. */
  long positionOf(int segment) {
    return Superblock.positionOf(segment - first, segmentSize);
  }

  void read(ByteBuffer to, int segment, int position) throws IOException {
    int watched = readWatch.begin();
    try {
      device.read(to, positionOf(segment) + position);
    } finally {
      readWatch.end(watched);
    }
  }

  /**
   * Adds the tombstone of a dropped file. A bypassed device needs no tombstone, since it is taken
   * back empty; on a read-only one, the oldest are discarded when there are more than fit in its
   * log.
   */
  void addTombstone(Tombstone tombstone) {
    if (isWorking()) {
      tombstones.add(tombstone);
      if (tombstoneCount.incrementAndGet() > TombstoneLog.SLOTS && tombstones.poll() != null) {
        tombstoneCount.decrementAndGet();
      }
    }
  }

  /** Returns whether there are tombstones to log, and the log can be written. */
  boolean hasTombstones() {
    return !tombstones.isEmpty() && log.isOpen();
  }

  /** Returns whether there are tombstones to log, and the log was not read yet. */
  boolean awaitsLog() {
    return !tombstones.isEmpty() && !log.isOpen();
  }

  /** Visits the tombstones that are not in the log yet. */
  void forEachTombstone(Consumer<Tombstone> visitor) {
    tombstones.forEach(visitor);
  }

  /** Returns the number of the last tombstone in the log. */
  long lastTombstone() {
    return lastTombstone;
  }

  /** Reads the log. Tombstones can be logged afterwards. */
  void readTombstones(TombstoneLog.Visitor visitor) throws IOException {
    log.read(device, visitor);
  }

  /** Writes the oldest pending tombstones to the log. Called only by the device's cleaner. */
  void logTombstones(List<Tombstone> oldest) throws IOException {
    int watched = writeWatch.begin();
    try {
      log.append(device, oldest);
      oldest.forEach(tombstone -> {
        if (tombstones.remove(tombstone)) {
          tombstoneCount.decrementAndGet();
        }
      });
      lastTombstone = oldest.get(oldest.size() - 1).number();
    } finally {
      writeWatch.end(watched);
    }
  }

  /**
   * Reads the footer of a segment.
   * @return null if the segment has no valid content
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
   * Returns whether the first entry of a footer is in the segment. A segment is overwritten from
   * its beginning, and its footer last, so a footer may be left over from the former content.
   */
  boolean hasFirstEntry(int segment, SegmentFooter footer) throws IOException {
    if (footer.count() == 0) {
      return true;
    }
    ByteBuffer tag = ByteBuffer.allocate(EntryTrailer.SIZE);
    read(tag, segment, footer.position(0) + footer.length(0) - EntryTrailer.SIZE);
    return EntryTrailer.local().isOf(tag, footer.sequence(), footer.blockOffset(0));
  }

  /**
   * Reads the trailer of a segment.
   * @return null if it is not valid
   * @throws IOException if the device fails
   */
  SegmentFooter.Trailer readTrailer(int segment) throws IOException {
    ByteBuffer trailer = ByteBuffer.allocate(SegmentFooter.TRAILER_SIZE);
    read(trailer, segment, segmentSize - SegmentFooter.TRAILER_SIZE);
    return SegmentFooter.trailer(trailer, superblock, segment - first);
  }

  /**
   * Returns whether a segment was written before, by whichever process, and so has its space: a
   * position of a sparse file that never was consists of zeros. False if it cannot be read.
   */
  boolean isAllocated(int segment) {
    ByteBuffer trailer = ByteBuffer.allocate(SegmentFooter.TRAILER_SIZE);
    try {
      read(trailer, segment, segmentSize - SegmentFooter.TRAILER_SIZE);
    } catch (IOException | RuntimeException e) {
      return false;
    }
    for (byte value : trailer.array()) {
      if (value != 0) {
        return true;
      }
    }
    return false;
  }

  void write(ByteBuffer from, int segment, int position) throws IOException {
    int watched = writeWatch.begin();
    try {
      device.write(from, positionOf(segment) + position);
    } finally {
      writeWatch.end(watched);
    }
  }

  /** Forces written data to the device. */
  void sync() throws IOException {
    int watched = writeWatch.begin();
    try {
      device.sync();
    } finally {
      writeWatch.end(watched);
    }
  }

  /**
   * Returns whether a write takes so long that it may never end. Until it ends, the device gets no
   * more segments, and no insertion waits for its backlog.
   */
  boolean isWriteStalled() {
    return writeWatch.isStalled();
  }

  /** Returns whether a read or a write takes so long that it may never end. */
  boolean isStalled() {
    return readWatch.isStalled() || writeWatch.isStalled();
  }

  /** Returns whether a read has stalled for so long that the device must be bypassed. */
  boolean isReadStalledForLong() {
    return readWatch.maxNanos() > outageAfter;
  }

  /** Returns whether an access has stalled for so long that no thread should wait for its end. */
  boolean isStalledForLong() {
    return isReadStalledForLong() || writeWatch.maxNanos() > outageAfter;
  }

  /** Sets the stall limit, for tests with slow devices. */
  void stallsAfter(long nanos) {
    readWatch.setLimit(nanos);
    writeWatch.setLimit(nanos);
    outageAfter = STALLS_OF_AN_OUTAGE * nanos;
  }

  /** Returns how long a segment that cannot be written is unused, in nanoseconds. */
  long retirement() {
    return retirement;
  }

  /** Sets how long a failed segment is unused, for tests. */
  void retiresFor(long nanos) {
    retirement = nanos;
  }

  /** Returns whether the device is in use, that is, not bypassed. */
  boolean isWorking() {
    return reads.isClosed();
  }

  /** Returns whether the file system had no space for unwritten segments at the last check. */
  boolean hasNoSpace() {
    return noSpace;
  }

  void setNoSpace(boolean hasNone) {
    noSpace = hasNone;
  }

  /** Returns whether the directory is removing the blocks of the device. */
  boolean isForgetting() {
    return forgetting;
  }

  void setForgetting(boolean is) {
    forgetting = is;
  }

  /** Returns whether blocks on the device can be read now. */
  boolean isReadable() {
    return reads.isClosed() && !readWatch.isStalled();
  }

  /** Returns whether the device gets new segments. */
  boolean isWritable() {
    return reads.isClosed() && writes.isClosed();
  }

  /** Returns the result of {@link SegmentDevice#usableSpace}. */
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
