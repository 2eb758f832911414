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

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.segment.device.EntryTrailer;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.IndexKey;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Inserts entries into the open segment of a {@link SegmentStore}, and opens the next one when it
 * is full. The inserting thread copies the block, which can be read from memory at once; the full
 * segment is enqueued for the writer of its device.
 * <p>
 * <b>Invariants.</b> At most one segment is open; only {@link #openNext}, {@link #leave} and
 * {@link #stop} replace it, under {@link StoreMonitor#lock}, and each seals it as it is enqueued
 * for the writer, so no entry is reserved in a segment after that. Every reserved entry is reported
 * to {@link SegmentBuffer#copied}, also if its copy fails, so that the writer's wait for the copies
 * ends. An entry is added to the directory after its bytes are in the segment and before the copy
 * is reported, so that a writer that fails finds all entries that it must remove. The last clean
 * segment is reserved for the cleaner, which needs space for rewritten entries. Thread-safe.
 */
@InterfaceAudience.Private
final class SegmentInserter {
  private final SegmentTable table;
  private final InsertionControl control;
  private final StoreMonitor monitor;
  private final ReentrantLock lock;
  private final Condition space;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;
  private final int maxData;
  /** Guarded by the lock, as is the next field. */
  private final ArrayDeque<ByteBuffer> freeMemory = new ArrayDeque<>();
  private int nextDevice;
  /** Complete files to be recorded in the next segment. */
  private final Queue<CompleteFile> toKeep = new ConcurrentLinkedQueue<>();
  /** Changed under the lock. */
  private volatile SegmentBuffer open;

  SegmentInserter(SegmentStoreSettings settings, SegmentTable table, InsertionControl control,
    StoreMonitor monitor, SegmentDirectory directory, SegmentStoreMetrics metrics) {
    this.table = table;
    this.control = control;
    this.monitor = monitor;
    this.lock = monitor.lock;
    this.space = monitor.space;
    this.directory = directory;
    this.metrics = metrics;
    this.maxData = Math.min(settings.segmentSize - SegmentFooter.MAX_BYTES_FOR_ONE,
      Location.MAX_ENTRY_BYTES) / Location.UNIT * Location.UNIT - EntryTrailer.SIZE;
    for (int i = 0; i < settings.bufferCount; i++) {
      freeMemory.add(ByteBuffer.allocateDirect(settings.segmentSize));
    }
  }

  /** Returns whether a block of this serialized length fits in a segment. */
  boolean fits(int dataLength) {
    return dataLength > 0 && dataLength <= maxData;
  }

  /**
   * Stores a copy of a block, and adds it to the directory. The caller keeps its reference.
   * Failures of a device are counted and never thrown.
   * @param category  a value of {@link Location#categoryOf}, with {@link Location#IN_MEMORY} for a
   *                  block of an in-memory family
   * @param waitNanos maximum time to wait for space, 0 to be refused at once if there is none
   * @return whether it is stored
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  boolean insert(CachedFile file, long blockOffset, Cacheable block, int category,
    InsertSource kind, long waitNanos) throws InterruptedException {
    int dataLength = block.getSerializedLength();
    if (
      !fits(dataLength) || blockOffset < 0 || blockOffset > IndexKey.MAX_OFFSET
        || file.name().length() > SegmentFooter.MAX_NAME_LENGTH
    ) {
      metrics.unfit.increment();
      return false;
    }
    int length = EntryTrailer.entryLength(dataLength);
    long left = control.awaitProgress(waitNanos);
    while (true) {
      SegmentBuffer current = open;
      if (control.hasSpace(kind)) {
        long reserved = current == null
          ? SegmentBuffer.NO_SPACE
          : reserve(current, file.name(), blockOffset, length, category);
        if (reserved != SegmentBuffer.NO_SPACE) {
          return copy(current, reserved, file, blockOffset, block, dataLength, category, kind);
        }
        if (openNext(current, false)) {
          continue;
        }
      }
      if (left > 0 && !monitor.isStopped()) {
        left = awaitChange(current, kind, left);
      } else {
        metrics.refusals(kind).increment();
        return false;
      }
    }
  }

  /** Returns the size of a block in its file, with its header, in bytes. */
  static int onDiskSize(Cacheable block) {
    return block instanceof HFileBlock
      ? ((HFileBlock) block).getOnDiskSizeWithHeader()
      : block.getSerializedLength();
  }

  private long reserve(SegmentBuffer in, String fileName, long blockOffset, int length,
    int category) {
    long reserved = in.reserve(fileName, blockOffset, length, category);
    if (reserved != SegmentBuffer.NO_SPACE) {
      table.deviceOf(in.segment()).backlog.addAndGet(length);
    }
    return reserved;
  }

  /**
   * Records for the next process that a file is complete. The record takes effect when the open
   * segment, or the next one, is written.
   */
  void keep(CompleteFile file) {
    SegmentBuffer current = open;
    if (current == null || !current.keep(file)) {
      toKeep.add(file);
    }
  }

  /** Returns whether all pending records of complete files are in a segment. */
  boolean keepsAll() {
    return toKeep.isEmpty();
  }

  private boolean copy(SegmentBuffer to, long reserved, CachedFile file, long blockOffset,
    Cacheable block, int dataLength, int category, InsertSource kind) {
    int length = EntryTrailer.entryLength(dataLength);
    boolean stored = false;
    try {
      ByteBuffer entry = to.entry(SegmentBuffer.position(reserved), length);
      block.serialize(entry, true);
      EntryTrailer.local().write(entry, to.sequence(), file.hashHigh(), file.hashLow(), blockOffset,
        category, dataLength);
      long location = Location.of(to.segment(), SegmentBuffer.position(reserved), length,
        kind == InsertSource.READ ? 1 : 0, category);
      table.lives(to.segment(), length);
      stored = directory.stored(file, blockOffset, location);
      if (stored) {
        metrics.insertions.increment();
        metrics.insertedBytes.add(length);
      } else {
        table.lives(to.segment(), -length);
      }
    } finally {
      to.copied(SegmentBuffer.number(reserved), stored);
    }
    return stored;
  }

  /**
   * Stores a copy of an entry that was read from a segment that is about to be overwritten.
   * @param entry     all of it, checked
   * @param waitNanos maximum time to wait for space
   * @return whether the copy has replaced the entry
   */
  boolean rewrite(String fileName, long blockOffset, ByteBuffer entry, long from, long waitNanos)
    throws InterruptedException {
    int length = entry.capacity();
    long left = waitNanos;
    while (true) {
      SegmentBuffer current = open;
      if (control.hasSpace(InsertSource.PREFETCH)) {
        long reserved = current == null
          ? SegmentBuffer.NO_SPACE
          : reserve(current, fileName, blockOffset, length, Location.kind(from));
        if (reserved != SegmentBuffer.NO_SPACE) {
          return move(current, reserved, fileName, blockOffset, entry, from);
        }
        if (openNext(current, true)) {
          continue;
        }
      }
      if (left <= 0 || monitor.isStopped()) {
        return false;
      }
      left = awaitChange(current, InsertSource.PREFETCH, left);
    }
  }

  private boolean move(SegmentBuffer to, long reserved, String fileName, long blockOffset,
    ByteBuffer entry, long from) {
    int length = entry.capacity();
    boolean moved = false;
    try {
      ByteBuffer copy = to.entry(SegmentBuffer.position(reserved), length);
      entry.clear();
      copy.put(entry);
      EntryTrailer.local().rewrite(copy, to.sequence());
      table.lives(to.segment(), length);
      // One more request makes it hot again.
      moved = directory.moved(fileName, blockOffset, from, Location.of(to.segment(),
        SegmentBuffer.position(reserved), length, 1, Location.kind(from)));
      if (!moved) {
        table.lives(to.segment(), -length);
      }
    } finally {
      to.copied(SegmentBuffer.number(reserved), moved);
    }
    return moved;
  }

  /**
   * Replaces the open segment when it has no space.
   * @param full     the former open segment
   * @param cleaning whether the caller is the cleaner, which may use the last clean segment
   * @return whether a segment is open
   */
  private boolean openNext(SegmentBuffer full, boolean cleaning) {
    lock.lock();
    try {
      if (open != full) {
        return open != null;
      }
      StoreDevice device =
        monitor.isStopped() || freeMemory.isEmpty() ? null : deviceToOpenOn(cleaning);
      if (device == null) {
        monitor.work.signalAll();
        return false;
      }
      if (full != null) {
        control.enqueue(full);
      }
      int segment = table.open(device);
      SegmentBuffer next =
        new SegmentBuffer(segment, table.sequence(segment), freeMemory.poll(), this::giveBack);
      table.opened(next);
      CompleteFile complete = toKeep.peek();
      while (complete != null && next.keep(complete)) {
        toKeep.remove();
        complete = toKeep.peek();
      }
      open = next;
      nextDevice = (table.devices().all().indexOf(device) + 1) % table.devices().all().size();
      if (device.needsCleanSegments()) {
        monitor.work.signalAll();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns a writable device that has a clean segment: the one with the fewest waiting segments,
   * round-robin among equals; a stalled one only if all of them stall.
   */
  private StoreDevice deviceToOpenOn(boolean cleaning) {
    int clean = 0;
    StoreDevice next = null;
    boolean allStall = !control.isAnyGettingOn();
    List<StoreDevice> all = table.devices().all();
    for (int i = 0; i < all.size(); i++) {
      StoreDevice device = all.get((nextDevice + i) % all.size());
      if (
        device.isWritable() && !device.clean.isEmpty() && (allStall || !device.isStalled())
      ) {
        clean += device.clean.size();
        next = next == null || device.waiting < next.waiting ? device : next;
      }
    }
    // The cleaner needs a segment for rewritten entries.
    return clean > (cleaning ? 0 : 1) ? next : null;
  }

  private long awaitChange(SegmentBuffer seen, InsertSource kind, long nanos)
    throws InterruptedException {
    lock.lockInterruptibly();
    try {
      boolean canOpen = !freeMemory.isEmpty() && deviceToOpenOn(false) != null;
      return monitor.isStopped() || open != seen || canOpen && control.hasSpace(kind)
        ? nanos
        : space.awaitNanos(nanos);
    } finally {
      lock.unlock();
    }
  }

  private void giveBack(ByteBuffer free) {
    lock.lock();
    try {
      free.clear();
      freeMemory.add(free);
      space.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Enqueues the open segment for its writer if it is on this device, which gets no new segments.
   */
  void leave(StoreDevice device) {
    lock.lock();
    try {
      if (open != null && table.deviceOf(open.segment()) == device) {
        closeOpen();
      }
      monitor.work.signalAll();
      space.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Enqueues the open segment for its writer, if there is one. Requires the lock. */
  void stop() {
    if (open != null) {
      closeOpen();
    }
  }

  private void closeOpen() {
    control.enqueue(open);
    open = null;
  }
}
