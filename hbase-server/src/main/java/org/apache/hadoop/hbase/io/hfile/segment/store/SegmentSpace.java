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

import java.util.concurrent.TimeUnit;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Computes how much can be stored without an eviction. Each insertion needs the result, so it is
 * cached for a millisecond and costs one reading of the clock. Thread-safe.
 */
@InterfaceAudience.Private
final class SegmentSpace {
  private static final long LOOK_INTERVAL = TimeUnit.MILLISECONDS.toNanos(1);

  private final SegmentTable table;
  private final StoreMonitor monitor;
  private volatile long nextLook = System.nanoTime();
  private volatile boolean spare;
  private volatile int usable;

  SegmentSpace(SegmentTable table, StoreMonitor monitor) {
    this.table = table;
    this.monitor = monitor;
  }

  /**
   * Returns whether a device has segments that can be written without an eviction: more clean ones
   * than the cleaner keeps, or one without live blocks.
   */
  boolean hasSpare() {
    look();
    return spare;
  }

  /**
   * Returns the approximate number of segments that blocks can use without a reclaim. Segments that
   * are kept clean, are open, are retired, or have no space in the file system do not count; of a
   * device that gets no segments, its current segments count.
   */
  int usableSegments() {
    look();
    return usable;
  }

  private void look() {
    if (System.nanoTime() - nextLook < 0) {
      return;
    }
    boolean anySpare = false;
    int segments = 0;
    monitor.lock.lock();
    try {
      for (StoreDevice device : table.devices().all()) {
        if (device.isWritable()) {
          anySpare |= device.clean.size() > device.cleanTarget() || table.hasDead(device);
          // The two are the open segment and the next one.
          segments += Math.max(0, device.count() - device.cleanTarget() - 2
            - device.retired.size() - (device.hasNoSpace() ? device.unwritten.size() : 0));
        } else if (device.isWorking()) {
          segments += device.sealed.size();
        }
      }
    } finally {
      monitor.lock.unlock();
    }
    spare = anySpare;
    usable = segments;
    nextLook = System.nanoTime() + LOOK_INTERVAL;
  }
}
