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

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The settings of a {@link SegmentStore}. The values were checked by {@code SegmentCacheSettings}.
 */
@InterfaceAudience.Private
public final class SegmentStoreSettings {
  /** Minimum number of segments of a device. */
  public static final int MIN_SEGMENTS = 8;
  /** Minimum number of buffers: one open, one being written, one free. */
  public static final int MIN_BUFFERS = 3;

  private final List<String> paths;
  private final long capacity;
  private final int segmentSize;
  private final int bufferCount;
  private final double rewriteShare;
  private final long writeLimit;
  private final int failuresInARow;
  private final long syncBytes;

  /**
   * @param paths          one file or block device each
   * @param capacity       bytes of all paths together, which share it evenly
   * @param segmentSize    bytes, a multiple of 4096, at most {@link Location#MAX_SEGMENT_BYTES}
   * @param bufferCount    segments in memory, at least {@value #MIN_BUFFERS}
   * @param rewriteShare   maximum fraction of a reclaimed segment that is rewritten, 0 to 0.5
   * @param writeLimit     bytes per second, 0 for no limit
   * @param failuresInARow number of failures after which a device is bypassed, at least 1
   */
  SegmentStoreSettings(List<String> paths, long capacity, int segmentSize, int bufferCount,
    double rewriteShare, long writeLimit, int failuresInARow) {
    this(paths, capacity, segmentSize, bufferCount, rewriteShare, writeLimit, failuresInARow, 0);
  }

  /**
   * Additionally sets when devices are synced.
   * @param syncBytes bytes written after which a device is synced, 0 for never
   */
  public SegmentStoreSettings(List<String> paths, long capacity, int segmentSize, int bufferCount,
    double rewriteShare, long writeLimit, int failuresInARow, long syncBytes) {
    this.paths = Collections.unmodifiableList(new ArrayList<>(paths));
    this.capacity = capacity;
    this.segmentSize = segmentSize;
    this.bufferCount = bufferCount;
    this.rewriteShare = rewriteShare;
    this.writeLimit = writeLimit;
    this.failuresInARow = failuresInARow;
    this.syncBytes = syncBytes;
  }

  public List<String> paths() {
    return paths;
  }

  public long capacity() {
    return capacity;
  }

  /** Returns the bytes of one device. */
  long sizePerDevice() {
    return capacity / paths.size();
  }

  public int segmentSize() {
    return segmentSize;
  }

  public int bufferCount() {
    return bufferCount;
  }

  public double rewriteShare() {
    return rewriteShare;
  }

  public long writeLimit() {
    return writeLimit;
  }

  int failuresInARow() {
    return failuresInARow;
  }

  long syncBytes() {
    return syncBytes;
  }
}
