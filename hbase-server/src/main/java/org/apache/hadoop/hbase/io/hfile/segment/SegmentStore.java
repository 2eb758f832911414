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

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks in segments on devices, written one after the other and read one by one.
 * <p>
 * A block is copied into the open segment, in memory, by the thread that inserts it, and can be
 * read there at once. A full segment goes to the thread of its device, which writes it in large
 * sequential writes, and its memory is used for another. When too much waits to be written,
 * insertions are refused, by their {@link InsertionKind}, so that no thread ever waits that did not
 * offer to. {@link SegmentCleaner} reclaims segments ahead of the writers; what a segment costs
 * does not depend on how many there are.
 * <p>
 * A read takes no lock: the place that it was given may have been overwritten, and the entry's
 * {@link EntryTag} tells. So every race between readers, writers and the cleaner ends in a miss at
 * worst, and so does every torn, lost, misplaced or flipped byte on a device.
 * <p>
 * Where a block is, a {@link SegmentDirectory} knows. Here is only kept, for each segment, what
 * state it is in, its sequence number, and how many bytes of it live: 13 bytes a segment. One lock
 * guards the changes of state, of which a segment has a few in its life; it is not held during
 * I/O, and neither are calls of the directory.
 */
@InterfaceAudience.Private
final class SegmentStore {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentStore.class);

  /** Blocks from here on are not stored: the index has 40 bits for an offset. */
  static final long END_OF_OFFSETS = 1L << 40;
  /** What is written at once, but for the last piece: if it is all the same, and if smoothly. */
  static final int LARGEST_WRITE = 4 << 20;
  static final int LARGEST_PACED_WRITE = 1 << 20;

  private static final long STOP_WAIT_MS = 60_000;
  /** Ends a device's thread. */
  private static final SegmentBuffer NO_MORE =
    new SegmentBuffer(-1, 0, ByteBuffer.allocate(0), memory -> {
    });

  private final SegmentStoreSettings settings;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics = new SegmentStoreMetrics();
  private final WriteBudget budget;
  private final int segmentSize;
  private final StoreDevices devices;
  private final SegmentTable table;

  private final StoreMonitor monitor = new StoreMonitor();
  private final ReentrantLock lock = monitor.lock;
  private final InsertionControl control;
  private final SegmentInserter inserter;
  private final DeviceOutages outages;
  private final SegmentReader reader;
  private final SegmentCleaner cleaner;
  private final List<Thread> writers = new ArrayList<>();
  private Thread cleanerThread;
  private SegmentRecovery recovery;
  private Thread recoveryThread;

  private SegmentStore(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener, WriteBudget.Clock clock) throws IOException {
    this.settings = settings;
    this.directory = directory;
    this.segmentSize = settings.segmentSize();
    this.budget = new WriteBudget(settings.writeLimit(), clock);
    this.devices = StoreDevices.open(settings,
      (path, size) -> new CountedDevice(opener.open(path, size), metrics));
    this.table = new SegmentTable(devices, monitor, metrics);
    this.control = new InsertionControl(devices, monitor, settings);
    this.inserter =
      new SegmentInserter(settings, table, control, monitor, directory, metrics);
    this.outages =
      new DeviceOutages(settings, table, inserter, monitor, directory, metrics);
    this.reader = new SegmentReader(table, outages, directory, metrics);
    this.cleaner =
      new SegmentCleaner(settings, table, inserter, outages, monitor, directory, metrics);
  }

  /**
   * Opens a store. Nothing is read but the superblocks, and no thread runs before {@link #start}.
   * @throws IOException if no device can be opened; one of several is bypassed if it cannot
   */
  static SegmentStore open(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener) throws IOException {
    return open(settings, directory, opener, WriteBudget.Clock.SYSTEM);
  }

  /** As the other, with another clock for the limit of writes. */
  static SegmentStore open(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener, WriteBudget.Clock clock) throws IOException {
    return new SegmentStore(settings, directory, opener, clock);
  }

  /**
   * Takes over what {@link #writeTo} has written. To be called before {@link #start}.
   * @return whether it was; if not, the segments are found by their footers
   */
  boolean restore(DataInput in) throws IOException {
    return SegmentTableSnapshot.read(table, in);
  }

  /** Writes what is known of the segments, between {@link #stop} and {@link #close}. */
  void writeTo(DataOutput out) throws IOException {
    SegmentTableSnapshot.write(table, out);
  }

  /**
   * Starts the threads: one for each device, the cleaner, and one that brings to the directory what
   * is found in segments, if there are any that {@link #restore} has not told of. Blocks can be
   * inserted and read from now on.
   * @param name what the threads' names begin with
   */
  void start(String name) {
    recovery = new SegmentRecovery(table, outages, directory, metrics);
    for (StoreDevice device : devices.all()) {
      writers.add(daemon(name + "-SegmentWriter-" + writers.size(), () -> write(device)));
    }
    writers.forEach(Thread::start);
    recoveryThread = daemon(name + "-SegmentRecovery", recovery);
    recoveryThread.start();
    cleanerThread = daemon(name + "-SegmentCleaner", cleaner);
    cleanerThread.start();
  }

  private static Thread daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler(
      (t, e) -> LOG.error("{} has ended, which nothing but a defect explains", t.getName(), e));
    return thread;
  }

  /** As {@link SegmentInserter#accepts}. */
  boolean accepts(int dataLength) {
    return inserter.accepts(dataLength);
  }

  /** As {@link InsertionControl#hasRoom}. */
  boolean hasRoom(InsertionKind kind) {
    return control.hasRoom(kind);
  }

  /** As {@link InsertionControl#awaitRoom}. */
  boolean awaitRoom(InsertionKind kind, long nanos) throws InterruptedException {
    return control.awaitRoom(kind, nanos);
  }

  /** As {@link InsertionControl#isBehind}. */
  boolean isBehind() {
    return control.isBehind();
  }

  /** As {@link SegmentInserter#insert}. */
  boolean insert(CachedFile file, long blockOffset, Cacheable block, int category,
    InsertionKind kind, long waitNanos) throws InterruptedException {
    return inserter.insert(file, blockOffset, block, category, kind, waitNanos);
  }

  /** As {@link SegmentInserter#keep}. */
  void keep(CompleteFile file) {
    inserter.keep(file);
  }

  /** As {@link SegmentInserter#keepsAll}. */
  boolean keepsAll() {
    return inserter.keepsAll();
  }

  /** As {@link SegmentReader#read}. */
  Cacheable read(CachedFile file, long blockOffset, long location, ByteBuffAllocator allocator) {
    return reader.read(file, blockOffset, location, allocator);
  }

  /** As {@link SegmentReader#readWithNext}. */
  Cacheable readWithNext(CachedFile file, long blockOffset, long location,
    ByteBuffAllocator allocator, SegmentReader.Neighbours neighbours) {
    return reader.readWithNext(file, blockOffset, location, allocator, neighbours);
  }

  /** As {@link SegmentReader#readBlockSize}. */
  int readBlockSize(CachedFile file, long blockOffset, long location) {
    return reader.readBlockSize(file, blockOffset, location);
  }

  /** As {@link SegmentTable#freed}. */
  void freed(long location) {
    table.freed(location);
  }

  SegmentTable table() {
    return table;
  }

  /** Returns how many segments can be written. */
  int cleanSegments() {
    return table.cleanCount();
  }

  /** What a device's thread does: writes what there is to write, until the store is stopped. */
  private void write(StoreDevice device) {
    try {
      SegmentBuffer buffer;
      // Waits without a limit: for work of its own, which the stop puts an end to.
      while ((buffer = device.toWrite.take()) != NO_MORE) {
        buffer.awaitCopies();
        writtenOrNot(device, buffer, writeUntilTaken(device, buffer));
      }
    } catch (InterruptedException e) {
      // The device did not answer in the time that stopping may take.
      Thread.currentThread().interrupt();
    }
  }

  private boolean writeUntilTaken(StoreDevice device, SegmentBuffer buffer)
    throws InterruptedException {
    if (buffer.footer().count() == 0) {
      return false;
    }
    int start = buffer.footer().write(buffer.memory(), device.superblock(),
      buffer.segment() - device.first(), buffer.sequence(), directory::regionOf);
    while (device.isWorking()) {
      int term = device.term();
      try {
        int end = buffer.footer().dataEnd();
        if (start - end < LARGEST_PACED_WRITE) {
          write(device, buffer, 0, segmentSize, 0);
        } else {
          write(device, buffer, 0, end, LARGEST_PACED_WRITE);
          write(device, buffer, start, segmentSize, 0);
        }
        device.writeSucceeded();
        metrics.segmentsWritten.increment();
        return true;
      } catch (IOException | RuntimeException e) {
        outages.writeFailed(device, term, e);
      }
    }
    return false;
  }

  /**
   * Writes a part of a segment in pieces. None is small: the last one is the larger for it.
   * @param more how much larger the last one may be, to make up for a small write that follows
   */
  private void write(StoreDevice device, SegmentBuffer buffer, int from, int to, int more)
    throws IOException, InterruptedException {
    ByteBuffer bytes = buffer.memory();
    int position = from;
    while (position < to) {
      // With more behind this one, there may be those who wait for each write.
      int piece =
        budget.isLimited() || device.waiting > 1 ? LARGEST_PACED_WRITE : LARGEST_WRITE;
      int left = to - position;
      int length = left <= piece + LARGEST_PACED_WRITE + more ? left : piece;
      if (!monitor.isStopped()) {
        budget.acquire(length);
      }
      bytes.clear();
      bytes.limit(position + length);
      bytes.position(position);
      device.write(bytes, buffer.segment(), position);
      position += length;
      control.wrote(device, buffer.writtenTo(position));
    }
  }

  private void writtenOrNot(StoreDevice device, SegmentBuffer buffer, boolean written) {
    int segment = buffer.segment();
    SegmentFooter footer = buffer.footer();
    if (!written) {
      directory.removeAll(footer, segment);
      if (footer.count() > 0) {
        metrics.segmentsNotWritten.increment();
      }
    }
    lock.lock();
    try {
      table.written(device, buffer, written);
      control.dequeued(device, buffer.writtenTo(segmentSize));
      table.closed(buffer);
      monitor.work.signal();
      monitor.room.signalAll();
    } finally {
      lock.unlock();
    }
    buffer.release();
  }

  /**
   * Writes what is open and ends the threads; what is stored can still be read. Insertions are
   * refused from now on. The limit of writes does not apply any more.
   */
  void stop() {
    lock.lock();
    try {
      monitor.stop();
      inserter.stop();
      devices.all().forEach(device -> device.toWrite.add(NO_MORE));
    } finally {
      lock.unlock();
    }
    budget.setLimit(0);
    boolean interrupted = false;
    if (recovery != null) {
      cleanerThread.interrupt();
      recovery.stop();
      interrupted = join(cleanerThread) | join(recoveryThread);
    }
    for (Thread writer : writers) {
      interrupted |= join(writer);
    }
    devices.sync();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the end of a thread, though not for ever. Returns whether this was interrupted. */
  private static boolean join(Thread thread) {
    boolean interrupted = false;
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_WAIT_MS);
    while (thread.isAlive()) {
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left <= 0) {
        LOG.warn("{} does not end; it is left behind", thread.getName());
        thread.interrupt();
        break;
      }
      try {
        thread.join(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    return interrupted;
  }

  /** Closes the devices. Nothing can be read any more. */
  void close() {
    devices.close();
  }

  void setWriteLimit(long bytesPerSecond) {
    budget.setLimit(bytesPerSecond);
  }

  void setRewriteShare(double share) {
    cleaner.setRewriteShare(share);
  }

  SegmentStoreMetrics metrics() {
    return metrics;
  }

  /** What is to be brought to the directory and how much of it is; null before {@link #start}. */
  SegmentRecovery recovery() {
    return recovery;
  }

  List<StoreDevice> devices() {
    return devices.all();
  }

  int segmentSize() {
    return segmentSize;
  }

  int segmentCount() {
    return table.segmentCount();
  }

  /** Bytes that the segments have, the parts that no entry can use included. */
  long capacity() {
    return (long) table.segmentCount() * segmentSize;
  }

  /** Bytes that blocks can have without any of them being reclaimed, about. */
  long usableBytes() {
    long segments = table.segmentCount();
    for (StoreDevice device : devices.all()) {
      // Those that are kept clean, the open one and the one after it.
      segments -= device.cleanTarget() + 2;
    }
    return Math.max(0, segments) * segmentSize;
  }

  /** Bytes off the heap that segments in memory take. */
  long bufferBytes() {
    return (long) settings.bufferCount() * segmentSize;
  }

  /** Segments that wait to be written. */
  int pending() {
    return control.pending();
  }

  /** Devices that are bypassed. */
  int bypassedDevices() {
    return devices.bypassedCount();
  }
}
