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

  /** One file or block device each. */
  public final List<String> paths;
  /** Bytes of all paths together, which share it evenly. */
  public final long capacity;
  /** Bytes, a multiple of 4096, at most {@link Location#MAX_SEGMENT_BYTES}. */
  public final int segmentSize;
  /** Segments in memory, at least {@value #MIN_BUFFERS}. */
  public final int bufferCount;
  /** Maximum fraction of a reclaimed segment that is rewritten, 0 to 0.5. */
  public final double rewriteShare;
  /** Bytes per second, 0 for no limit. */
  public final long writeLimit;
  /** Bytes written after which a device is synced, 0 for never. */
  final long syncBytes;

  public SegmentStoreSettings(List<String> paths, long capacity, int segmentSize, int bufferCount,
    double rewriteShare, long writeLimit, long syncBytes) {
    this.paths = Collections.unmodifiableList(new ArrayList<>(paths));
    this.capacity = capacity;
    this.segmentSize = segmentSize;
    this.bufferCount = bufferCount;
    this.rewriteShare = rewriteShare;
    this.writeLimit = writeLimit;
    this.syncBytes = syncBytes;
  }

  /** Returns the bytes of one device. */
  long sizePerDevice() {
    return capacity / paths.size();
  }
}
