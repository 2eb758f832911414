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
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.nio.ByteBuff;
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

  /** What is read at once of blocks one behind the other: so many, and so many bytes. */
  static final int MOST_JOINED = 4;
  static final int LARGEST_JOINED_READ = 256 << 10;
  /** So many such reads at a time; more are not joined. */
  private static final int JOINED_READS = 8;

  private static final long STOP_WAIT_MS = 60_000;
  private static final int TAG_READ = EntryTag.SIZE;
  /** Segments whose footers are kept for those who ask for the sizes of blocks. */
  private static final int KEPT_FOOTERS = 8;

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
  /** By segment; for {@link #readBlockSize}. */
  private final AtomicReferenceArray<KeptFooter> footers =
    new AtomicReferenceArray<>(KEPT_FOOTERS);
  /** Direct memory for reads of several blocks, made when it is wanted. */
  private final Queue<ByteBuffer> joinedReads = new ArrayBlockingQueue<>(JOINED_READS);
  private final AtomicInteger joinedReadsMade = new AtomicInteger();
  private volatile double rewriteShare;

  private final List<Thread> writers = new ArrayList<>();
  private SegmentCleaner cleaner;
  private Thread cleanerThread;
  private SegmentRecovery recovery;
  private Thread recoveryThread;

  private SegmentStore(SegmentStoreSettings settings, SegmentDirectory directory,
    SegmentDevice.Opener opener, WriteBudget.Clock clock) throws IOException {
    this.settings = settings;
    this.directory = directory;
    this.segmentSize = settings.segmentSize();
    this.rewriteShare = settings.rewriteShare();
    this.budget = new WriteBudget(settings.writeLimit(), clock);
    this.devices = StoreDevices.open(settings,
      (path, size) -> new CountedDevice(opener.open(path, size), metrics));
    this.table = new SegmentTable(devices, monitor, metrics);
    this.control = new InsertionControl(devices, monitor, settings);
    this.inserter =
      new SegmentInserter(settings, table, control, monitor, directory, metrics);
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
    recovery = new SegmentRecovery(this, directory);
    for (StoreDevice device : devices.all()) {
      writers.add(daemon(name + "-SegmentWriter-" + writers.size(), () -> write(device)));
    }
    writers.forEach(Thread::start);
    recoveryThread = daemon(name + "-SegmentRecovery", recovery);
    recoveryThread.start();
    cleaner = new SegmentCleaner(this, directory);
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

  /** As {@link SegmentInserter#rewrite}. */
  boolean rewrite(String fileName, long blockOffset, ByteBuffer entry, int onDiskSize, long from,
    long waitNanos) throws InterruptedException {
    return inserter.rewrite(fileName, blockOffset, entry, onDiskSize, from, waitNanos);
  }

  /** As {@link SegmentInserter#keep}. */
  void keep(CompleteFile file) {
    inserter.keep(file);
  }

  /** As {@link SegmentInserter#keepsAll}. */
  boolean keepsAll() {
    return inserter.keepsAll();
  }

  /**
   * Reads a block.
   * @param location what the directory has for it
   * @return the block, with a reference for the caller; null if it cannot be had. If that is so
   *         because its bytes are not there, the directory was told. The directory may have
   *         another place for it by then, if the entry was moved meanwhile.
   */
  Cacheable read(CachedFile file, long blockOffset, long location, ByteBuffAllocator allocator) {
    int segment = Location.segment(location);
    if (!table.has(segment)) {
      return null;
    }
    ByteBuff entry = allocator.allocate(Location.length(location));
    boolean returned = false;
    try {
      if (fetch(entry, segment, Location.offset(location))) {
        if (
          EntryTag.local().check(entry, file.hashHigh(), file.hashLow(), blockOffset)
        ) {
          Cacheable block = HFileBlock.BLOCK_DESERIALIZER.deserialize(entry, allocator);
          returned = true;
          metrics.reads.increment();
          return block;
        }
        bad(file.name(), blockOffset, location);
      }
    } catch (IOException | RuntimeException e) {
      // The sum is right, yet it is no block: it was none when it was written.
      LOG.warn("What is stored of {} at {} is not a block", file.name(), blockOffset, e);
      bad(file.name(), blockOffset, location);
    } finally {
      if (!returned) {
        entry.release();
      }
    }
    return null;
  }

  /** Whoever wants the blocks behind one that is read. */
  @InterfaceAudience.Private
  interface Neighbours {
    /** Returns where the directory has a block of the same file. */
    long locate(long blockOffset);

    /** Takes a block, with the caller's reference, also if this throws. */
    void accept(long blockOffset, long location, Cacheable block);
  }

  /**
   * As {@link #read}, and reads those behind the block in its file with it, if they lie behind it
   * in its segment too. Each is checked for itself: one that was overwritten or is damaged, and
   * those behind it, are just not among them.
   * @param neighbours takes up to {@value #MOST_JOINED} - 1 of them
   */
  Cacheable readWithNext(CachedFile file, long blockOffset, long location,
    ByteBuffAllocator allocator, Neighbours neighbours) {
    int segment = Location.segment(location);
    int length = Location.length(location);
    // What is in memory is copied, one by one.
    ByteBuffer joined = !table.has(segment) || table.memory(segment) != null
      || 2 * length > LARGEST_JOINED_READ ? null : takeJoined();
    if (joined == null) {
      return read(file, blockOffset, location, allocator);
    }
    try {
      int place = Location.offset(location);
      joined.clear();
      joined.limit(Math.min(segmentSize - place,
        Math.min(LARGEST_JOINED_READ, MOST_JOINED * length)));
      Cacheable first = fetch(ByteBuff.wrap(joined), segment, place)
        ? copyOut(joined, 0, file, blockOffset, location, allocator)
        : null;
      if (first == null) {
        // Perhaps because of what is behind it.
        return read(file, blockOffset, location, allocator);
      }
      boolean returned = false;
      try {
        readNext(joined, file, blockOffset, location, first, allocator, neighbours);
        returned = true;
        return first;
      } finally {
        if (!returned) {
          first.release();
        }
      }
    } finally {
      joinedReads.offer(joined);
    }
  }

  private ByteBuffer takeJoined() {
    ByteBuffer joined = joinedReads.poll();
    if (
      joined == null && joinedReadsMade.get() < JOINED_READS
        && joinedReadsMade.getAndIncrement() < JOINED_READS
    ) {
      try {
        joined = ByteBuffer.allocateDirect(LARGEST_JOINED_READ);
      } catch (OutOfMemoryError e) {
        LOG.warn("No direct memory to read several blocks at once; they are read one by one", e);
      }
    }
    return joined;
  }

  private void readNext(ByteBuffer joined, CachedFile file, long blockOffset, long location,
    Cacheable first, ByteBuffAllocator allocator, Neighbours neighbours) {
    long offset = blockOffset + SegmentInserter.onDiskSize(first);
    int at = Location.length(location);
    while (true) {
      long next = neighbours.locate(offset);
      Cacheable block =
        Location.isPresent(next) && Location.segment(next) == Location.segment(location)
          && Location.offset(next) == Location.offset(location) + at
          && at + Location.length(next) <= joined.limit()
            ? copyOut(joined, at, file, offset, next, allocator)
            : null;
      if (block == null) {
        return;
      }
      metrics.joinedReads.increment();
      long behind = offset + SegmentInserter.onDiskSize(block);
      neighbours.accept(offset, next, block);
      offset = behind;
      at += Location.length(next);
    }
  }

  /** Returns the block of an entry that was read among others, null if that is not the block's. */
  private Cacheable copyOut(ByteBuffer joined, int at, CachedFile file, long blockOffset,
    long location, ByteBuffAllocator allocator) {
    ByteBuffer bytes = joined.duplicate();
    bytes.limit(at + Location.length(location));
    bytes.position(at);
    bytes = bytes.slice();
    EntryTag tag = EntryTag.local();
    if (!tag.check(ByteBuff.wrap(bytes), file.hashHigh(), file.hashLow(), blockOffset)) {
      return null;
    }
    bytes.clear();
    ByteBuff data = allocator.allocate(tag.dataLength());
    boolean returned = false;
    try {
      for (ByteBuffer item : data.nioByteBuffers()) {
        bytes.limit(bytes.position() + item.remaining());
        item.put(bytes);
      }
      data.rewind();
      Cacheable block = HFileBlock.BLOCK_DESERIALIZER.deserialize(data, allocator);
      returned = true;
      metrics.reads.increment();
      return block;
    } catch (IOException | RuntimeException e) {
      LOG.debug("What is stored of {} at {} is not a block", file.name(), blockOffset, e);
      return null;
    } finally {
      if (!returned) {
        data.release();
      }
    }
  }

  /** A segment somebody wants to know the sizes of blocks of. */
  private static final class KeptFooter {
    private final int segment;
    private final long sequence;
    /** Null until it is asked for a second time. */
    private final SegmentFooter footer;

    KeptFooter(int segment, long sequence, SegmentFooter footer) {
      this.segment = segment;
      this.sequence = sequence;
      this.footer = footer;
    }

    boolean isOf(int otherSegment, long otherSequence) {
      return segment == otherSegment && sequence == otherSequence;
    }
  }

  /**
   * Returns the size of a block in its file with its header, in bytes, or -1 if it cannot be had.
   * It is read from the end of its entry, or, as a prefetch asks for the sizes of all blocks of a
   * file, which are neighbours, from the segment's footer, once for all of them. Either is trusted
   * that the rest is there.
   */
  int readBlockSize(CachedFile file, long blockOffset, long location) {
    int segment = Location.segment(location);
    if (!table.has(segment)) {
      return -1;
    }
    int size = sizeInFooter(file, blockOffset, location);
    if (size > 0) {
      return size;
    }
    ByteBuff tag = ByteBuff.wrap(ByteBuffer.allocate(TAG_READ));
    if (
      !fetch(tag, segment, Location.offset(location) + Location.length(location) - TAG_READ)
    ) {
      return -1;
    }
    tag.rewind();
    EntryTag local = EntryTag.local();
    if (!local.load(tag, TAG_READ, file.hashHigh(), file.hashLow(), blockOffset)) {
      bad(file.name(), blockOffset, location);
      return -1;
    }
    return local.onDiskSize();
  }

  /** Returns a block's size by its segment's footer, 0 if it is not to be had there. */
  private int sizeInFooter(CachedFile file, long blockOffset, long location) {
    int segment = Location.segment(location);
    long sequence = table.sequence(segment);
    if (table.memory(segment) != null || sequence == 0) {
      return 0;
    }
    KeptFooter kept = footers.get(segment % KEPT_FOOTERS);
    boolean again = kept != null && kept.isOf(segment, sequence);
    if (!again || kept.footer == null) {
      kept = new KeptFooter(segment, sequence, again ? footerOrNothing(segment) : null);
      footers.set(segment % KEPT_FOOTERS, kept);
    }
    SegmentFooter footer = kept.footer;
    int entry = footer == null ? -1 : footer.entryAt(Location.offset(location));
    return entry >= 0 && footer.blockOffset(entry) == blockOffset
      && footer.length(entry) == Location.length(location)
      && footer.name(entry).equals(file.name()) ? footer.onDiskSize(entry) : 0;
  }

  /** Returns a segment's footer, one without entries if it cannot be had. */
  private SegmentFooter footerOrNothing(int segment) {
    StoreDevice device = table.deviceOf(segment);
    SegmentFooter footer = null;
    if (device.isWorking()) {
      int term = device.term();
      try {
        footer = device.readFooter(segment);
        device.readSucceeded();
      } catch (IOException | RuntimeException e) {
        readFailed(device, term, e);
      }
    }
    return footer == null ? new SegmentFooter() : footer;
  }

  /** Fills a buffer, from memory or from the device. Returns false, and counts it, if it cannot. */
  private boolean fetch(ByteBuff to, int segment, int place) {
    SegmentBuffer buffer = table.memory(segment);
    if (buffer != null && buffer.retain()) {
      try {
        buffer.read(to, place);
      } finally {
        buffer.release();
      }
      metrics.memoryReads.increment();
      return true;
    }
    StoreDevice device = table.deviceOf(segment);
    if (!device.isWorking()) {
      metrics.bypassedReads.increment();
      return false;
    }
    int term = device.term();
    try {
      int at = place;
      for (ByteBuffer item : to.nioByteBuffers()) {
        int length = item.remaining();
        device.read(item, segment, at);
        at += length;
      }
      device.readSucceeded();
      return true;
    } catch (IOException | RuntimeException e) {
      readFailed(device, term, e);
      return false;
    }
  }

  private void bad(String fileName, long blockOffset, long location) {
    if (directory.removed(fileName, blockOffset, location) == SegmentDirectory.NOT_HERE) {
      metrics.staleReads.increment();
    } else {
      metrics.badEntries.increment();
      table.freed(location);
    }
  }

  void readFailed(StoreDevice device, int term, Exception cause) {
    metrics.readErrors.increment();
    if (monitor.isStopped()) {
      return;
    }
    LOG.debug("Read from {} failed", device, cause);
    if (device.readFailed(term, System.nanoTime())) {
      bypassed(device, cause);
    }
  }

  private void bypassed(StoreDevice device, Exception cause) {
    metrics.outages.increment();
    LOG.error("{} is bypassed until it works again: {} failures in a row", device,
      settings.failuresInARow(), cause);
    inserter.leave(device);
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
        metrics.writeErrors.increment();
        LOG.debug("Write to {} failed", device, e);
        if (device.writeFailed(term, System.nanoTime())) {
          bypassed(device, e);
        }
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
      removeAll(footer, segment);
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

  /** Takes the blocks of a segment out of the directory. Returns how many there were. */
  int removeAll(SegmentFooter footer, int segment) {
    int removed = 0;
    for (int i = 0; i < footer.count(); i++) {
      if (
        footer.length(i) > 0 && directory.removed(footer.name(i), footer.blockOffset(i),
          footer.location(segment, i)) != SegmentDirectory.NOT_HERE
      ) {
        removed++;
      }
    }
    return removed;
  }

  /**
   * Waits until a device needs the cleaner: it has too few clean segments and some to reclaim, or
   * it is bypassed and can be tried.
   * @return null when the store is stopped
   */
  StoreDevice awaitWork() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!monitor.isStopped()) {
        long wait = TimeUnit.SECONDS.toNanos(1);
        for (StoreDevice device : devices.all()) {
          if (!device.isWorking()) {
            long untilTrial = device.untilTrial(System.nanoTime());
            if (untilTrial <= 0) {
              return device;
            }
            wait = Math.min(wait, untilTrial);
          } else if (
            device.ordered && device.clean.size() < device.cleanTarget()
              && !device.sealed.isEmpty()
          ) {
            return device;
          }
        }
        monitor.work.awaitNanos(wait);
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** Takes a device back, with nothing in it; the directory knows none of its segments. */
  void takeBack(StoreDevice device, SegmentDevice opened) throws IOException {
    Superblock superblock = Superblock.anew(segmentSize, device.superblock().epoch());
    superblock.write(opened);
    lock.lock();
    SegmentDevice former = device.device();
    try {
      table.reset(device);
      device.use(opened, superblock);
      device.works();
      metrics.returns.increment();
    } finally {
      lock.unlock();
    }
    if (former != opened) {
      StoreDevices.close(former);
    }
    LOG.info("{} works again and is taken back, empty", device);
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
    rewriteShare = share;
  }

  double rewriteShare() {
    return rewriteShare;
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

  /** Opens a device's path once more. */
  SegmentDevice reopen(StoreDevice device) throws IOException {
    return devices.open(device);
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
