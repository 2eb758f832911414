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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.ByteRateLimiter;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks in segments on devices, written one after the other and read one by one.
 * <p>
 * This class assembles the parts and has their threads; each part has its invariants in its
 * Javadoc:
 * <ul>
 * <li>{@link StoreDevices}, {@link StoreDevice}: what is on which device, and whether it works</li>
 * <li>{@link SegmentTable}: states, sequence numbers and live bytes of the segments</li>
 * <li>{@link InsertionControl}: whether an insertion is admitted, waits, or is refused</li>
 * <li>{@link SegmentInserter}: the open segment, into which an insertion copies its block</li>
 * <li>{@link SegmentWriter}, one per device: large sequential writes of full segments</li>
 * <li>{@link SegmentReader}: reads, without a lock, from memory or device</li>
 * <li>{@link SegmentCleaner}, one per device: reclaims segments ahead of the writers</li>
 * <li>{@link SegmentRecovery}, one per device: inserts what a former process has written into the
 * directory</li>
 * <li>{@link DroppedFiles}: what is not to come back, and the {@link TombstoneLog} of each device
 * </li>
 * <li>{@link DeviceOutages}: what failures of devices cost, their bypass and their return</li>
 * <li>{@link StoreMonitor}: the lock and the lock order</li>
 * </ul>
 * Where a block is, a {@link SegmentDirectory} knows. What a segment costs does not depend on how
 * many there are. Every race between readers, writers and the cleaner ends in a miss at worst, and
 * so does every torn, lost, misplaced or flipped byte on a device.
 */
@InterfaceAudience.Private
final class SegmentStore {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentStore.class);

  /** Blocks from here on are not stored: the index has 40 bits for an offset. */
  static final long END_OF_OFFSETS = 1L << 40;
  /** So much a device without a limit would hardly notice. */
  private static final long WRITE_BURST_MILLIS = 100;
  private static final long STOP_WAIT_MS = 60_000;
  private static final long STOP_LOOK_MS = 100;
  private static final long FORGET_LOOK_MS = 5;

  private final SegmentStoreSettings settings;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics = new SegmentStoreMetrics();
  private final ByteRateLimiter writeRate;
  private final int segmentSize;
  private final StoreDevices devices;
  private final StoreMonitor monitor = new StoreMonitor();
  private final SegmentTable table;
  private final SegmentSpace space;
  private final InsertionControl control;
  private final SegmentInserter inserter;
  private final DeviceOutages outages;
  private final DroppedFiles dropped;
  private final SegmentReader reader;
  private final List<SegmentWriter> writers = new ArrayList<>();
  private final List<SegmentCleaner> cleaners = new ArrayList<>();
  private final List<SegmentRecovery> recoveries = new ArrayList<>();
  private final List<Thread> writerThreads = new ArrayList<>();
  private final List<Thread> cleanerThreads = new ArrayList<>();
  private final List<Thread> recoveryThreads = new ArrayList<>();

  private SegmentStore(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener, ByteRateLimiter.Clock clock) throws IOException {
    this.settings = settings;
    this.directory = directory;
    this.segmentSize = settings.segmentSize();
    this.writeRate = new ByteRateLimiter(WRITE_BURST_MILLIS, clock);
    this.writeRate.setLimit(settings.writeLimit());
    this.devices = StoreDevices.open(settings, CountedDevice.counting(opener, metrics));
    this.table = new SegmentTable(devices, monitor, metrics);
    this.space = new SegmentSpace(table, monitor);
    this.control = new InsertionControl(devices, monitor, settings);
    this.inserter = newInserter();
    this.outages = new DeviceOutages(table, inserter, monitor, directory, metrics);
    this.dropped = new DroppedFiles(table, monitor, metrics);
    this.reader = new SegmentReader(table, outages, directory, metrics);
    ConcurrentMap<String, CompleteFile> complete = new ConcurrentHashMap<>();
    for (StoreDevice device : devices.all()) {
      writers.add(
        new SegmentWriter(device, table, control, outages, monitor, directory, metrics, writeRate,
          settings.syncBytes()));
      cleaners.add(new SegmentCleaner(device, settings, table, inserter, outages, dropped, monitor,
        directory, metrics));
      recoveries.add(
        new SegmentRecovery(device, table, outages, dropped, directory, metrics, complete));
    }
  }

  private SegmentInserter newInserter() {
    boolean made = false;
    try {
      SegmentInserter of =
        new SegmentInserter(settings, table, control, monitor, directory, metrics);
      made = true;
      return of;
    } finally {
      if (!made) {
        // There is no memory for the buffers.
        devices.close();
      }
    }
  }

  /**
   * Opens a store. Nothing is read but the superblocks, and no thread runs before {@link #start}.
   * @throws IOException if no device can be opened; one of several is bypassed if it cannot
   */
  static SegmentStore open(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener) throws IOException {
    return open(settings, directory, opener, ByteRateLimiter.Clock.SYSTEM);
  }

  /** As the other, with another clock for the limit of writes. */
  static SegmentStore open(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener, ByteRateLimiter.Clock clock) throws IOException {
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
   * Starts the threads of each device: its writer, its cleaner, and one that brings to the
   * directory what is found in segments, if there are any that {@link #restore} has not told of.
   * Blocks can be inserted and read from now on.
   * @param name what the threads' names begin with
   */
  void start(String name) {
    start(name + "-SegmentWriter-", writers, writerThreads);
    start(name + "-SegmentRecovery-", recoveries, recoveryThreads);
    start(name + "-SegmentCleaner-", cleaners, cleanerThreads);
  }

  private static void start(String name, List<? extends Runnable> tasks, List<Thread> threads) {
    for (Runnable task : tasks) {
      threads.add(daemon(name + threads.size(), task));
    }
    threads.forEach(Thread::start);
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
  boolean hasRoom(InsertSource kind) {
    return control.hasRoom(kind);
  }

  /** As {@link InsertionControl#awaitRoom}. */
  boolean awaitRoom(InsertSource kind, long nanos) throws InterruptedException {
    return control.awaitRoom(kind, nanos);
  }

  /** As {@link InsertionControl#isBehind}. */
  boolean isBehind() {
    return control.isBehind();
  }

  /** As {@link SegmentInserter#insert}. */
  boolean insert(CachedFile file, long blockOffset, Cacheable block, int category,
    InsertSource kind, long waitNanos) throws InterruptedException {
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

  /** Files that are dropped, for those who drop them. */
  DroppedFiles dropped() {
    return dropped;
  }

  /** As {@link SegmentReader#isReadable}. */
  boolean isReadable(long location) {
    return reader.isReadable(location);
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

  /**
   * Writes what is open and ends the threads; what is stored can still be read. Insertions are
   * refused from now on. The limit of writes does not apply any more.
   */
  void stop() {
    monitor.lock.lock();
    try {
      monitor.stop();
      inserter.stop();
      writers.forEach(SegmentWriter::end);
    } finally {
      monitor.lock.unlock();
    }
    writeRate.setLimit(0);
    recoveries.forEach(SegmentRecovery::stop);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_WAIT_MS);
    boolean interrupted = join(cleanerThreads, end) | join(recoveryThreads, end)
      | join(writerThreads, end) | awaitForgotten(end);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits until the directory has forgotten the devices that were bypassed, so that it does not
   * change when it is written, or until a time.
   * @return whether this was interrupted
   */
  private boolean awaitForgotten(long end) {
    boolean interrupted = false;
    while (
      devices.all().stream().anyMatch(StoreDevice::isForgetting) && System.nanoTime() - end < 0
    ) {
      try {
        TimeUnit.MILLISECONDS.sleep(FORGET_LOOK_MS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    return interrupted;
  }

  /**
   * Waits for the ends of the devices' threads of a kind until a time, and no longer for one whose
   * device does not answer. None is interrupted: to interrupt a thread in an access to a file is to
   * wait for the end of the access.
   * @return whether this was interrupted
   */
  private boolean join(List<Thread> threads, long end) {
    boolean interrupted = false;
    for (int i = 0; i < threads.size(); i++) {
      interrupted |= join(threads.get(i), devices.all().get(i), end);
    }
    return interrupted;
  }

  private static boolean join(Thread thread, StoreDevice device, long end) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left <= 0 || device.isStalledForLong()) {
        LOG.warn("{} does not end: {} does not answer", thread.getName(), device);
        break;
      }
      try {
        thread.join(Math.min(left, STOP_LOOK_MS));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    return interrupted;
  }

  /** Closes the devices. Nothing can be read any more. One that does not answer is left open. */
  void close() {
    List<Thread> closing = new ArrayList<>();
    start("SegmentClose-", devices.closing(), closing);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_WAIT_MS);
    if (join(closing, end)) {
      Thread.currentThread().interrupt();
    }
  }

  void setWriteLimit(long bytesPerSecond) {
    writeRate.setLimit(bytesPerSecond);
  }

  void setRewriteShare(double share) {
    cleaners.forEach(cleaner -> cleaner.setRewriteShare(share));
  }

  void setInMemoryShare(double share) {
    cleaners.forEach(cleaner -> cleaner.setInMemoryShare(share));
  }

  SegmentStoreMetrics metrics() {
    return metrics;
  }

  /** Whether all that a former process has written and that could be found is in the directory. */
  boolean isRecovered() {
    return recoveries.stream().allMatch(SegmentRecovery::isDone);
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
    return (long) space.usableSegments() * segmentSize;
  }

  /** Whether insertions find segments for which no block has to go. */
  boolean hasSpareSegments() {
    return space.hasSpare();
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

  /** Devices that get no new segments, and are read. */
  int readOnlyDevices() {
    return devices.readOnlyCount();
  }
}
