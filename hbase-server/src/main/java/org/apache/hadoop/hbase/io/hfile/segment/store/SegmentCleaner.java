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
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.segment.device.EntryTrailer;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps clean segments available for the writer of one device, and runs the probes of the device
 * while it fails. Each device has its own thread, so that an unresponsive device does not delay the
 * others.
 * <p>
 * Segments that were never written are used first, as long as the device has space for them; then
 * segments are reclaimed. To reclaim a segment, the cleaner reads its footer, rewrites its hottest
 * blocks, as long as they fit in a share of the segment, and removes the others from the directory.
 * A block is hot if it was requested twice since it was inserted or last rewritten. The insertion
 * by a read counts as one request, an insertion by a prefetch or by cache-on-write as none. A
 * rewritten block must be requested once more to be hot again. Blocks of in-memory families are
 * rewritten before the hot ones, within a share of the tier.
 */
@InterfaceAudience.Private
final class SegmentCleaner implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCleaner.class);

  /** Minimum number of requests for which a block is hot. */
  static final int HOT = 2;

  /** Maximum time to wait for room per reclaimed segment, beyond reading and copying. */
  private static final long WAIT_PER_SEGMENT = TimeUnit.MILLISECONDS.toNanos(100);
  /** Segment number of a failed write to the log, for {@link DeviceOutages#writeFailed}. */
  private static final int NO_SEGMENT = -1;
  /** Interval between checks for conditions that are not signalled. */
  private static final long MAX_WAIT = TimeUnit.SECONDS.toNanos(1);
  /** Interval between checks for space in the file system after there was none. */
  private static final long SPACE_PAUSE = TimeUnit.MINUTES.toNanos(1);

  /** The tasks of a cleaner. */
  private enum Work {
    LOG_TOMBSTONES,
    PROBE,
    PROBE_WRITES,
    UNRETIRE,
    PREPARE,
    RECLAIM
  }

  private final StoreDevice device;
  private final SegmentTable table;
  private final SegmentInserter inserter;
  private final DeviceOutages outages;
  private final DroppedFiles dropped;
  private final StoreMonitor monitor;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;
  private volatile double rewriteShare;
  private volatile double inMemoryShare;
  private long nextPreparation = System.nanoTime();
  private long nextLogging = System.nanoTime();

  SegmentCleaner(StoreDevice device, SegmentStoreSettings settings, SegmentTable table,
    SegmentInserter inserter, DeviceOutages outages, DroppedFiles dropped, StoreMonitor monitor,
    SegmentDirectory directory, SegmentStoreMetrics metrics) {
    this.device = device;
    this.table = table;
    this.inserter = inserter;
    this.outages = outages;
    this.dropped = dropped;
    this.monitor = monitor;
    this.directory = directory;
    this.metrics = metrics;
    this.rewriteShare = settings.rewriteShare;
  }

  /** Sets the maximum fraction of a segment that is rewritten. */
  void setRewriteShare(double share) {
    rewriteShare = share;
  }

  /**
   * Sets the maximum fraction of the tier in which blocks of in-memory families are rewritten
   * first.
   */
  void setInMemoryShare(double share) {
    inMemoryShare = share;
  }

  @Override
  public void run() {
    try {
      Work work;
      while ((work = awaitWork()) != null) {
        try {
          perform(work);
        } catch (RuntimeException | Error e) {
          LOG.error("Cannot {} a segment of {}; retrying", work, device, e);
          TimeUnit.SECONDS.sleep(1);
        }
      }
      dropped.awaitLog(device);
      if (device.isWritable() && device.hasTombstones()) {
        // The log tells the next process which files were dropped last.
        logTombstones();
      }
    } catch (InterruptedException e) {
      // The store was stopped.
      Thread.currentThread().interrupt();
    }
  }

  private void perform(Work work) throws InterruptedException {
    switch (work) {
      case LOG_TOMBSTONES:
        logTombstones();
        break;
      case PROBE:
        outages.probe(device);
        break;
      case PROBE_WRITES:
        outages.probeWrites(device);
        break;
      case UNRETIRE:
        table.unretire(device);
        break;
      case PREPARE:
        prepare();
        break;
      default:
        reclaim();
    }
  }

  /**
   * Waits until there is a task for the device.
   * @return the task, null when the store is stopped
   */
  private Work awaitWork() throws InterruptedException {
    monitor.lock.lockInterruptibly();
    try {
      while (!monitor.isStopped()) {
        Work work = work();
        if (work != null) {
          return work;
        }
        monitor.work.awaitNanos(untilWork());
      }
      return null;
    } finally {
      monitor.lock.unlock();
    }
  }

  /** Returns the task to perform now, null if there is none. */
  private Work work() {
    if (!device.isWorking()) {
      return device.reads().untilProbe() <= 0 ? Work.PROBE : null;
    }
    if (!device.isWritable() && device.writes().untilProbe() <= 0) {
      return Work.PROBE_WRITES;
    }
    if (
      device.isWritable() && device.hasTombstones() && System.nanoTime() - nextLogging >= 0
    ) {
      return Work.LOG_TOMBSTONES;
    }
    if (SegmentTable.isRetirementOver(device)) {
      return Work.UNRETIRE;
    }
    if (!device.needsCleanSegments()) {
      return null;
    }
    if (!device.unwritten.isEmpty() && System.nanoTime() - nextPreparation >= 0) {
      return Work.PREPARE;
    }
    return device.ordered && device.clean.size() < device.cleanTarget()
      && !device.sealed.isEmpty() ? Work.RECLAIM : null;
  }

  /**
   * Returns the time until the next check for conditions that are not signalled, in nanoseconds.
   */
  private long untilWork() {
    long wait = MAX_WAIT;
    if (!device.isWorking()) {
      wait = Math.min(wait, device.reads().untilProbe());
    } else if (!device.isWritable()) {
      wait = Math.min(wait, device.writes().untilProbe());
    }
    if (!device.retired.isEmpty()) {
      wait = Math.min(wait, device.retired.peek().until - System.nanoTime());
    }
    return Math.max(1, wait);
  }

  /** Writes pending tombstones to the device's log. */
  private void logTombstones() {
    int term = device.writes().term();
    try {
      dropped.log(device);
      device.writes().succeeded();
    } catch (IOException | RuntimeException e) {
      nextLogging = System.nanoTime() + MAX_WAIT;
      outages.writeFailed(device, term, NO_SEGMENT, e);
    }
  }

  /** Makes unwritten segments clean, if there is space for them. */
  private void prepare() {
    boolean prepared = false;
    try {
      prepared = table.prepare(device);
    } catch (IOException | RuntimeException e) {
      LOG.debug("Cannot determine the usable space of {}", device, e);
    }
    device.setNoSpace(!prepared);
    if (!prepared) {
      nextPreparation = System.nanoTime() + SPACE_PAUSE;
      LOG.warn("The file system of {} has no space for {} more segments of it: the tier uses what "
        + "it has; free space there, or lower the size of the tier", device,
        device.unwritten.size());
    }
  }

  private void reclaim() throws InterruptedException {
    if (directory.isFreeingOrphans()) {
      TimeUnit.MILLISECONDS.sleep(10);
      return;
    }
    int segment = table.takeVictim(device);
    if (segment < 0) {
      // All candidates are currently in use by other threads.
      TimeUnit.MILLISECONDS.sleep(1);
      return;
    }
    boolean done = false;
    boolean readable = false;
    try {
      SegmentFooter footer = null;
      int term = device.reads().term();
      try {
        footer = device.readFooter(segment);
        device.reads().succeeded();
        readable = true;
      } catch (IOException | RuntimeException e) {
        outages.readFailed(device, term, segment, e);
      }
      if (footer == null) {
        // Its blocks can only be found by a scan of the index.
        metrics.badSegments.increment();
        directory.forgetSegments(segment, segment + 1);
      } else {
        rewriteHot(footer, segment);
        metrics.blocksReclaimed.add(footer.removeFrom(directory, segment));
        for (CompleteFile file : footer.completeFiles()) {
          if (directory.isComplete(file.name())) {
            inserter.keep(file);
          }
        }
      }
      metrics.segmentsReclaimed.increment();
      done = true;
    } finally {
      if (!done) {
        table.putBack(device, segment);
      } else if (readable) {
        table.cleaned(device, segment);
      } else {
        table.retire(device, segment);
      }
    }
  }

  private void rewriteHot(SegmentFooter footer, int segment) throws InterruptedException {
    byte[] accesses = new byte[footer.count()];
    int hot = 0;
    for (int i = 0; i < accesses.length; i++) {
      accesses[i] = (byte) directory.accesses(footer.name(i), footer.blockOffset(i),
        footer.location(segment, i));
      hot += accesses[i] >= HOT ? 1 : 0;
    }
    long end = System.nanoTime() + WAIT_PER_SEGMENT;
    rewriteInMemory(footer, segment, accesses, end);
    long share = (long) (rewriteShare * table.devices().segmentSize());
    int rewritten = 0;
    for (int heat = Location.MAX_ACCESS; heat >= HOT && rewritten < hot; heat--) {
      for (int i = 0; i < accesses.length; i++) {
        if (
          accesses[i] == heat && footer.length(i) <= share
            && rewrite(footer, segment, i, end - System.nanoTime())
        ) {
          share -= footer.length(i);
          rewritten++;
        }
      }
    }
  }

  /**
   * Rewrites the blocks of in-memory families, requested or not, as long as all of those take no
   * more than their share of the tier.
   * @param accesses access bits of the entries; set to {@link SegmentDirectory#NOT_HERE} for
   *                 rewritten ones
   */
  private void rewriteInMemory(SegmentFooter footer, int segment, byte[] accesses, long end)
    throws InterruptedException {
    long limit =
      (long) (inMemoryShare * table.segmentCount()) * table.devices().segmentSize();
    for (int i = 0; i < accesses.length; i++) {
      if (
        footer.isInMemory(i) && accesses[i] != SegmentDirectory.NOT_HERE
          && directory.inMemoryBytes() <= limit
          && rewrite(footer, segment, i, end - System.nanoTime())
      ) {
        accesses[i] = SegmentDirectory.NOT_HERE;
      }
    }
  }

  private boolean rewrite(SegmentFooter footer, int segment, int number, long waitNanos)
    throws InterruptedException {
    ByteBuffer entry = ByteBuffer.allocate(footer.length(number));
    int term = device.reads().term();
    try {
      device.read(entry, segment, footer.position(number));
      device.reads().succeeded();
    } catch (IOException | RuntimeException e) {
      outages.readFailed(device, term, segment, e);
      return false;
    }
    if (!EntryTrailer.local().check(entry, footer.blockOffset(number))) {
      metrics.badEntries.increment();
      return false;
    }
    boolean rewritten = inserter.rewrite(footer.name(number), footer.blockOffset(number), entry,
      footer.location(segment, number), waitNanos);
    if (rewritten) {
      metrics.blocksRewritten.increment();
      metrics.bytesRewritten.add(footer.length(number));
    }
    return rewritten;
  }
}
