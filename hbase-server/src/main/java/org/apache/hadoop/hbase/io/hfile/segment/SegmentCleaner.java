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
import java.util.concurrent.TimeUnit;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps clean segments ahead of the writers, and has devices that are bypassed probed.
 * <p>
 * To reclaim a segment is to read its footer, to write its hottest blocks again, as long as they
 * fit in a share of the segment, and to take the others out of the directory. Hot is what was asked
 * for twice since it came or was last written again; a block that came with a read has been asked
 * for once by that, one from a prefetch or from cache-on-write not at all. A block that is written
 * again must be asked for once more before its turn comes again.
 */
@InterfaceAudience.Private
final class SegmentCleaner implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCleaner.class);

  /** How often a block was asked for that is written again. */
  static final int HOT = 2;

  /** How long reclaiming a segment may take beyond what it takes to read and copy. */
  private static final long WAIT_PER_SEGMENT = TimeUnit.MILLISECONDS.toNanos(100);

  private final SegmentTable table;
  private final SegmentInserter inserter;
  private final DeviceOutages outages;
  private final StoreMonitor monitor;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;
  private volatile double rewriteShare;

  SegmentCleaner(SegmentStoreSettings settings, SegmentTable table, SegmentInserter inserter,
    DeviceOutages outages, StoreMonitor monitor, SegmentDirectory directory,
    SegmentStoreMetrics metrics) {
    this.table = table;
    this.inserter = inserter;
    this.outages = outages;
    this.monitor = monitor;
    this.directory = directory;
    this.metrics = metrics;
    this.rewriteShare = settings.rewriteShare();
  }

  /** Sets how much of a segment is written again at most. */
  void setRewriteShare(double share) {
    rewriteShare = share;
  }

  @Override
  public void run() {
    try {
      StoreDevice device;
      while ((device = awaitWork()) != null) {
        try {
          if (device.isWorking()) {
            reclaim(device);
          } else {
            outages.probe(device);
          }
        } catch (RuntimeException e) {
          LOG.error("Cannot reclaim a segment of {}; trying again", device, e);
          TimeUnit.SECONDS.sleep(1);
        }
      }
    } catch (InterruptedException e) {
      // The store is stopped.
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits until a device needs the cleaner: it has too few clean segments and some to reclaim, or
   * it is bypassed and can be probed.
   * @return null when the store is stopped
   */
  private StoreDevice awaitWork() throws InterruptedException {
    monitor.lock.lockInterruptibly();
    try {
      while (!monitor.isStopped()) {
        long wait = TimeUnit.SECONDS.toNanos(1);
        for (StoreDevice device : table.devices().all()) {
          if (!device.isWorking()) {
            long untilProbe = device.untilProbe(System.nanoTime());
            if (untilProbe <= 0) {
              return device;
            }
            wait = Math.min(wait, untilProbe);
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
      monitor.lock.unlock();
    }
  }

  private void reclaim(StoreDevice device) throws InterruptedException {
    int segment = table.takeVictim(device);
    if (segment < 0) {
      // Those that could be have something done to them at this moment.
      TimeUnit.MILLISECONDS.sleep(1);
      return;
    }
    boolean done = false;
    try {
      SegmentFooter footer = footer(device, segment);
      if (footer == null) {
        // Its blocks can only be found by looking at them all
        metrics.badSegments.increment();
        directory.forgetSegments(segment, segment + 1);
      } else {
        rewriteHot(device, footer, segment);
        metrics.blocksReclaimed.add(directory.removeAll(footer, segment));
        for (CompleteFile file : footer.completeFiles()) {
          if (directory.isComplete(file.name())) {
            inserter.keep(file);
          }
        }
      }
      metrics.segmentsReclaimed.increment();
      done = true;
    } finally {
      if (done) {
        table.cleaned(device, segment);
      } else {
        table.putBack(device, segment);
      }
    }
  }

  private SegmentFooter footer(StoreDevice device, int segment) {
    int term = device.term();
    try {
      SegmentFooter footer = device.readFooter(segment);
      device.readSucceeded();
      return footer;
    } catch (IOException | RuntimeException e) {
      outages.readFailed(device, term, e);
      return null;
    }
  }

  private void rewriteHot(StoreDevice device, SegmentFooter footer, int segment)
    throws InterruptedException {
    byte[] accesses = new byte[footer.count()];
    int hot = 0;
    for (int i = 0; i < accesses.length; i++) {
      accesses[i] = (byte) directory.accesses(footer.name(i), footer.blockOffset(i),
        footer.location(segment, i));
      hot += accesses[i] >= HOT ? 1 : 0;
    }
    long share = (long) (rewriteShare * table.devices().segmentSize());
    long end = System.nanoTime() + WAIT_PER_SEGMENT;
    int rewritten = 0;
    for (int heat = Location.MAX_ACCESS; heat >= HOT && rewritten < hot; heat--) {
      for (int i = 0; i < accesses.length; i++) {
        if (
          accesses[i] == heat && footer.length(i) <= share
            && rewrite(device, footer, segment, i, end - System.nanoTime())
        ) {
          share -= footer.length(i);
          rewritten++;
          metrics.blocksRewritten.increment();
          metrics.bytesRewritten.add(footer.length(i));
        }
      }
    }
    metrics.hotBlocksReclaimed.add(hot - rewritten);
  }

  private boolean rewrite(StoreDevice device, SegmentFooter footer, int segment, int number,
    long waitNanos) throws InterruptedException {
    ByteBuffer entry = ByteBuffer.allocate(footer.length(number));
    int term = device.term();
    try {
      device.read(entry, segment, footer.place(number));
      device.readSucceeded();
    } catch (IOException | RuntimeException e) {
      outages.readFailed(device, term, e);
      return false;
    }
    if (!EntryTag.local().check(entry, footer.blockOffset(number))) {
      metrics.badEntries.increment();
      return false;
    }
    return inserter.rewrite(footer.name(number), footer.blockOffset(number), entry,
      EntryTag.local().onDiskSize(), footer.location(segment, number), waitNanos);
  }
}
