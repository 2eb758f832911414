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

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.load.ByteRateLimiter;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.TombstoneLog;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores blocks in segments on devices. Blocks are written sequentially and read individually.
 * <p>
 * This class assembles the parts and owns their threads; the invariants of each part are in its
 * Javadoc:
 * <ul>
 * <li>{@link StoreDevices}, {@link StoreDevice}: the segments of each device, and its health</li>
 * <li>{@link SegmentTable}: states, sequence numbers and live bytes of the segments</li>
 * <li>{@link InsertionControl}: whether an insertion is admitted, waits, or is refused</li>
 * <li>{@link SegmentInserter}: the open segment, into which an insertion copies its block</li>
 * <li>{@link SegmentWriter}, one per device: large sequential writes of full segments</li>
 * <li>{@link SegmentReader}: reads, without a lock, from memory or device</li>
 * <li>{@link SegmentCleaner}, one per device: reclaims segments ahead of the writers</li>
 * <li>{@link SegmentRecovery}, one per device: inserts blocks of a former process into the
 * directory</li>
 * <li>{@link DroppedFiles}: files that a recovery must not restore, and the {@link TombstoneLog} of
 * each device</li>
 * <li>{@link DeviceOutages}: handling of device failures, bypass and return of devices</li>
 * <li>{@link StoreMonitor}: the lock and the lock order</li>
 * </ul>
 * A {@link SegmentDirectory} has the location of each block. The cost of an operation on a segment
 * does not depend on the number of segments. Every race between readers, writers and the cleaner
 * causes at worst a miss, and so does every torn, lost, misplaced or flipped byte on a device.
 */
@InterfaceAudience.Private
public final class SegmentStore {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentStore.class);

  /** Burst of the write rate limit: a time too short to matter for a device without a limit. */
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
    this.segmentSize = settings.segmentSize;
    this.writeRate = new ByteRateLimiter(WRITE_BURST_MILLIS, clock);
    this.writeRate.setLimit(settings.writeLimit);
    this.devices = StoreDevices.open(settings, opener);
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
          settings.syncBytes));
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
   * Opens a store. Only superblocks are read, and no thread runs before {@link #start}.
   * @throws IOException if no device can be opened; if only some cannot, they are bypassed
   */
  public static SegmentStore open(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener) throws IOException {
    return open(settings, directory, opener, ByteRateLimiter.Clock.SYSTEM);
  }

  /** Opens a store whose write rate limit uses another clock. */
  static SegmentStore open(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener, ByteRateLimiter.Clock clock) throws IOException {
    return new SegmentStore(settings, directory, opener, clock);
  }

  /**
   * Restores the output of {@link #writeTo}. Must be called before {@link #start}.
   * @return whether it was restored; if not, the segments are found by their footers
   */
  public boolean restore(DataInput in) throws IOException {
    return SegmentTableSnapshot.read(table, in);
  }

  /** Writes the state of the segments. Must be called between {@link #stop} and {@link #close}. */
  public void writeTo(DataOutput out) throws IOException {
    SegmentTableSnapshot.write(table, out);
  }

  /**
   * Starts the threads of each device: its writer, its cleaner, and the recovery of segments that
   * {@link #restore} has not covered, if there are any. Blocks can be inserted and read from now
   * on.
   * @param name prefix of the thread names
   */
  public void start(String name) {
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
      (t, e) -> LOG.error("{} has ended unexpectedly", t.getName(), e));
    return thread;
  }

  /** Delegates to {@link SegmentInserter#fits}. */
  public boolean fits(int dataLength) {
    return inserter.fits(dataLength);
  }

  /** Delegates to {@link InsertionControl#hasSpace}. */
  public boolean hasSpace(InsertSource kind) {
    return control.hasSpace(kind);
  }

  /** Delegates to {@link InsertionControl#awaitSpace}. */
  public boolean awaitSpace(InsertSource kind, long nanos) throws InterruptedException {
    return control.awaitSpace(kind, nanos);
  }

  /** Delegates to {@link InsertionControl#isBehind}. */
  boolean isBehind() {
    return control.isBehind();
  }

  /** Delegates to {@link SegmentInserter#insert}. */
  public boolean insert(CachedFile file, long blockOffset, Cacheable block, int category,
    InsertSource kind, long waitNanos) throws InterruptedException {
    return inserter.insert(file, blockOffset, block, category, kind, waitNanos);
  }

  /** Delegates to {@link SegmentInserter#keep}. */
  public void keep(CompleteFile file) {
    inserter.keep(file);
  }

  /** Delegates to {@link SegmentInserter#keepsAll}. */
  boolean keepsAll() {
    return inserter.keepsAll();
  }

  /** Delegates to {@link SegmentReader#read}. */
  public Cacheable read(CachedFile file, long blockOffset, long location,
    ByteBuffAllocator allocator) {
    return reader.read(file, blockOffset, location, allocator);
  }

  /** Delegates to {@link SegmentReader#readWithNext}. */
  public Cacheable readWithNext(CachedFile file, long blockOffset, long location,
    ByteBuffAllocator allocator, SegmentReader.Neighbours neighbours) {
    return reader.readWithNext(file, blockOffset, location, allocator, neighbours);
  }

  /** Returns the record of dropped files. */
  public DroppedFiles dropped() {
    return dropped;
  }

  /** Delegates to {@link SegmentReader#isReadable}. */
  public boolean isReadable(long location) {
    return reader.isReadable(location);
  }

  /** Delegates to {@link SegmentTable#freed}. */
  public void freed(long location) {
    table.freed(location);
  }

  SegmentTable table() {
    return table;
  }

  /** Returns the number of clean segments. */
  int cleanSegments() {
    return table.cleanCount();
  }

  /**
   * Writes the open segment and stops the threads; stored blocks can still be read. Insertions are
   * refused from now on. The write rate limit no longer applies.
   */
  public void stop() {
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
   * Waits, until a deadline, for the directory to forget the blocks of bypassed devices, so that it
   * does not change while it is written.
   * @return whether the thread was interrupted
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
   * Waits, until a deadline, for the end of the devices' threads of one kind, but not for one whose
   * device does not answer. No thread is interrupted, since interrupting a thread in a file access
   * means waiting for the end of the access.
   * @return whether the calling thread was interrupted
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
        LOG.warn("{} does not stop: {} does not answer", thread.getName(), device);
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

  /**
   * Closes the devices. Blocks can no longer be read. A device that does not answer is left open.
   */
  public void close() {
    List<Thread> closing = new ArrayList<>();
    start("SegmentClose-", devices.closing(), closing);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_WAIT_MS);
    if (join(closing, end)) {
      Thread.currentThread().interrupt();
    }
  }

  public void setWriteLimit(long bytesPerSecond) {
    writeRate.setLimit(bytesPerSecond);
  }

  public void setRewriteShare(double share) {
    cleaners.forEach(cleaner -> cleaner.setRewriteShare(share));
  }

  public void setInMemoryShare(double share) {
    cleaners.forEach(cleaner -> cleaner.setInMemoryShare(share));
  }

  public SegmentStoreMetrics metrics() {
    return metrics;
  }

  /** Returns whether the recovery of blocks of a former process is finished. */
  public boolean isRecovered() {
    return recoveries.stream().allMatch(SegmentRecovery::isDone);
  }

  List<StoreDevice> devices() {
    return devices.all();
  }

  public int segmentSize() {
    return segmentSize;
  }

  public int segmentCount() {
    return table.segmentCount();
  }

  /** Returns the size of the segments in bytes, including the parts that no entry can use. */
  public long capacity() {
    return (long) table.segmentCount() * segmentSize;
  }

  /** Returns the approximate number of bytes that blocks can use without a reclaim. */
  public long usableBytes() {
    return (long) space.usableSegments() * segmentSize;
  }

  /** Returns whether insertions find segments without an eviction. */
  public boolean hasSpareSegments() {
    return space.hasSpare();
  }

  /** Returns the off-heap memory of segments in memory, in bytes. */
  long bufferBytes() {
    return (long) settings.bufferCount * segmentSize;
  }

  /** Returns the number of segments that wait to be written. */
  public int pending() {
    return control.pending();
  }

  /** Returns the number of bypassed devices. */
  int bypassedDevices() {
    return devices.bypassedCount();
  }

  /** Returns the number of devices that get no new segments but are read. */
  int readOnlyDevices() {
    return devices.readOnlyCount();
  }
}
