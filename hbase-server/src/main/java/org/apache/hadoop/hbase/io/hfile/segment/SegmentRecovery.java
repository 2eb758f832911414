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
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings to the directory what is in segments that a former process has written, while the store is
 * in use: first reads the trailer of each segment, which says how old it is, then the footers,
 * newest first. The blocks' bytes are not read; each is checked when it is asked for. A segment
 * whose trailer or footer is not whole is clean, and that is all it costs.
 */
@InterfaceAudience.Private
final class SegmentRecovery implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentRecovery.class);
  private static final long REPORT_INTERVAL = TimeUnit.SECONDS.toNanos(10);

  private final SegmentTable table;
  private final DeviceOutages outages;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;
  private final long start = System.nanoTime();
  private long nextReport = start + REPORT_INTERVAL;
  /** The newest word of each file. */
  private final Map<String, CompleteFile> complete = new HashMap<>();
  private volatile boolean stopped;
  private volatile boolean done;

  SegmentRecovery(SegmentTable table, DeviceOutages outages, SegmentDirectory directory,
    SegmentStoreMetrics metrics) {
    this.table = table;
    this.outages = outages;
    this.directory = directory;
    this.metrics = metrics;
  }

  /** Ends before it is done, at the next segment. */
  void stop() {
    stopped = true;
  }

  /** Whether all that could be found has been. */
  boolean isDone() {
    return done;
  }

  @Override
  public void run() {
    for (StoreDevice device : table.devices().all()) {
      readTrailers(device);
    }
    List<StoreDevice.Sealed> found = table.inState(SegmentTable.FOUND);
    found.sort(Comparator.comparingLong((StoreDevice.Sealed s) -> s.sequence).reversed());
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
    done = true;
    if (!found.isEmpty()) {
      LOG.info("Found {} blocks in {} segments in {} ms, {} segments were not whole",
        metrics.blocksRecovered.sum(), found.size(),
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start), metrics.badSegments.sum());
    }
  }

  private void report(int segments) {
    if (System.nanoTime() - nextReport > 0) {
      nextReport += REPORT_INTERVAL;
      LOG.info("Found {} blocks so far, in {} of {} segments", metrics.blocksRecovered.sum(),
        metrics.segmentsRecovered.sum(), segments);
    }
  }

  private void readTrailers(StoreDevice device) {
    for (int segment = device.first(); segment < device.end(); segment++) {
      if (stopped || !device.isWorking()) {
        return;
      }
      if (table.isUnknown(segment)) {
        int term = device.term();
        SegmentFooter.Trailer trailer = null;
        try {
          trailer = device.readTrailer(segment);
          device.readSucceeded();
        } catch (IOException | RuntimeException e) {
          metrics.badSegments.increment();
          outages.readFailed(device, term, e);
        }
        table.found(device, segment, trailer);
      }
    }
    table.allFound(device);
  }

  private void recover(int segment) {
    StoreDevice device = table.deviceOf(segment);
    int term = device.term();
    SegmentFooter footer = null;
    try {
      footer = device.readFooter(segment);
      device.readSucceeded();
    } catch (IOException | RuntimeException e) {
      outages.readFailed(device, term, e);
    }
    if (footer == null) {
      metrics.badSegments.increment();
      table.cleaned(device, segment);
      return;
    }
    for (int i = 0; i < footer.count(); i++) {
      table.lives(segment, footer.length(i));
      if (
        directory.recovered(footer.name(i), footer.blockOffset(i), footer.location(segment, i))
      ) {
        metrics.blocksRecovered.increment();
      } else {
        table.lives(segment, -footer.length(i));
      }
    }
    for (int file = 0; file < footer.fileCount(); file++) {
      if (footer.region(file) != null) {
        directory.regionRecovered(footer.fileName(file), footer.region(file));
      }
    }
    footer.completeFiles().forEach(file -> complete.putIfAbsent(file.name(), file));
    table.recovered(device, segment);
  }
}
