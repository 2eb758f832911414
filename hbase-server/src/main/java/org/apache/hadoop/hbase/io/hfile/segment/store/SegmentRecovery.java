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
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Recovers into the directory what a former process has written to the segments of one device,
 * while the store is in use, in a thread of its own. First reads the trailer of each segment, which
 * has its sequence number, then the footers, newest first. The blocks' bytes are not read; each is
 * verified when it is requested. A segment with a damaged trailer or footer is treated as empty,
 * which is the only loss. So is a segment that was being overwritten when the process ended; its
 * first entry no longer matches its footer. If the thread ends with an error, what it has not read
 * is treated as empty.
 */
@InterfaceAudience.Private
final class SegmentRecovery implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentRecovery.class);
  private static final long REPORT_INTERVAL = TimeUnit.SECONDS.toNanos(10);

  private final StoreDevice device;
  private final SegmentTable table;
  private final DeviceOutages outages;
  private final DroppedFiles dropped;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;
  /**
   * Files that are complete according to a footer. Shared by all devices, since the blocks of a
   * file may be on several.
   */
  private final ConcurrentMap<String, CompleteFile> complete;
  private final long start = System.nanoTime();
  private long nextReport = start + REPORT_INTERVAL;
  private volatile boolean stopped;
  private volatile boolean done;

  /** @param complete shared by the recoveries of all devices */
  SegmentRecovery(StoreDevice device, SegmentTable table, DeviceOutages outages,
    DroppedFiles dropped, SegmentDirectory directory, SegmentStoreMetrics metrics,
    ConcurrentMap<String, CompleteFile> complete) {
    this.device = device;
    this.table = table;
    this.outages = outages;
    this.dropped = dropped;
    this.directory = directory;
    this.metrics = metrics;
    this.complete = complete;
  }

  /** Stops the recovery at the next segment. */
  void stop() {
    stopped = true;
  }

  /** Returns whether the recovery is finished. */
  boolean isDone() {
    return done;
  }

  @Override
  public void run() {
    try {
      readTombstones();
      readTrailers();
      List<StoreDevice.Sealed> found = table.found(device);
      long before = metrics.blocksRecovered.sum();
      for (StoreDevice.Sealed segment : found) {
        if (stopped) {
          return;
        }
        if (table.takeFound(segment)) {
          recover(segment.segment);
        }
        metrics.segmentsRecovered.increment();
        report(found.size());
      }
      complete.values().forEach(directory::completeRecovered);
      if (!found.isEmpty()) {
        LOG.info("{}: read {} segments in {} ms, {} blocks recovered on all devices since startup",
          device, found.size(), TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start),
          metrics.blocksRecovered.sum() - before);
      }
    } catch (RuntimeException | Error e) {
      table.foundNoMore(device);
      LOG.error("{}: recovery of blocks of a former process failed", device, e);
    } finally {
      done = !stopped;
      dropped.recovered();
    }
  }

  private void readTombstones() {
    int term = device.reads().term();
    try {
      dropped.recovering(device);
    } catch (IOException | RuntimeException e) {
      outages.readFailed(device, term, device.first(), e);
    }
  }

  private void report(int segments) {
    if (System.nanoTime() - nextReport > 0) {
      nextReport += REPORT_INTERVAL;
      LOG.info("{}: recovery continues, {} segments in all; {} blocks recovered on all devices",
        device, segments, metrics.blocksRecovered.sum());
    }
  }

  private void readTrailers() {
    for (int segment = device.first(); segment < device.end(); segment++) {
      if (stopped || !device.isWorking()) {
        return;
      }
      if (table.isUnknown(segment)) {
        int term = device.reads().term();
        SegmentFooter.Trailer trailer = null;
        try {
          trailer = device.readTrailer(segment);
          device.reads().succeeded();
        } catch (IOException | RuntimeException e) {
          metrics.badSegments.increment();
          outages.readFailed(device, term, segment, e);
        }
        table.found(device, segment, trailer);
      }
    }
    table.allFound(device);
  }

  private void recover(int segment) {
    boolean isContent = true;
    try {
      SegmentFooter footer = readFooter(segment);
      isContent = footer != null;
      if (isContent) {
        recover(segment, footer);
      }
    } finally {
      if (isContent) {
        // This is done after an error, too: the segment is reclaimed by its footer.
        table.recovered(device, segment);
      } else {
        metrics.badSegments.increment();
        table.cleaned(device, segment);
      }
    }
  }

  private void recover(int segment, SegmentFooter footer) {
    long[] hashes = new long[footer.fileCount()];
    for (int file = 0; file < hashes.length; file++) {
      hashes[file] = CachedFile.hashHigh(footer.fileName(file));
    }
    try {
      insert(segment, footer, hashes);
    } finally {
      removeDead(segment, footer, hashes);
    }
    for (int file = 0; file < footer.fileCount(); file++) {
      if (footer.region(file) != null) {
        directory.regionRecovered(footer.fileName(file), footer.region(file));
      }
    }
    footer.completeFiles().forEach(file -> complete.putIfAbsent(file.name(), file));
  }

  private void insert(int segment, SegmentFooter footer, long[] hashes) {
    for (int i = 0; i < footer.count(); i++) {
      if (dropped.isDead(hashes[footer.file(i)], footer.sequence())) {
        metrics.deadBlocksFound.increment();
        continue;
      }
      table.lives(segment, footer.length(i));
      if (
        directory.recovered(footer.name(i), footer.blockOffset(i), footer.location(segment, i))
      ) {
        metrics.blocksRecovered.increment();
      } else {
        table.lives(segment, -footer.length(i));
      }
    }
  }

  /** Removes blocks of files that were dropped since they were checked. */
  private void removeDead(int segment, SegmentFooter footer, long[] hashes) {
    for (int i = 0; i < footer.count(); i++) {
      long location = footer.location(segment, i);
      if (
        dropped.isDead(hashes[footer.file(i)], footer.sequence())
          && directory.removed(footer.name(i), footer.blockOffset(i), location)
              != SegmentDirectory.NOT_HERE
      ) {
        table.lives(segment, -footer.length(i));
      }
    }
  }

  /** Returns the footer of a segment, null if the segment has no valid content. */
  private SegmentFooter readFooter(int segment) {
    int term = device.reads().term();
    try {
      SegmentFooter footer = device.readFooter(segment);
      boolean isContent = footer != null && device.hasFirstEntry(segment, footer);
      device.reads().succeeded();
      return isContent ? footer : null;
    } catch (IOException | RuntimeException e) {
      outages.readFailed(device, term, segment, e);
      return null;
    }
  }
}
