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

import java.util.concurrent.atomic.LongAdder;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Counters of a {@link SegmentStore}. Thread-safe; reading them blocks no writer.
 */
@InterfaceAudience.Private
public final class SegmentStoreMetrics {
  /** Inserted blocks, and the bytes of their entries. */
  final LongAdder insertions = new LongAdder();
  final LongAdder insertedBytes = new LongAdder();
  /** Blocks that do not fit in a segment. */
  final LongAdder unfit = new LongAdder();
  private final LongAdder[] refusals =
    { new LongAdder(), new LongAdder(), new LongAdder() };

  /** Reads that returned a block, and those among them from a segment in memory. */
  public final LongAdder reads = new LongAdder();
  final LongAdder memoryReads = new LongAdder();
  /** Blocks that were read together with the preceding block. */
  final LongAdder joinedReads = new LongAdder();
  /** Entries whose bytes were not those of the expected block. */
  public final LongAdder badEntries = new LongAdder();
  /** Reads of a segment that was reclaimed meanwhile. */
  final LongAdder staleReads = new LongAdder();
  final LongAdder readErrors = new LongAdder();
  /** Entries that were removed because their location could not be read. */
  final LongAdder unreadableEntries = new LongAdder();
  /** Reads that were skipped because the device is bypassed or stalled. */
  public final LongAdder bypassedReads = new LongAdder();

  /** Writes of segments in pieces, their bytes, and the segments that were written. */
  final LongAdder writes = new LongAdder();
  final LongAdder writtenBytes = new LongAdder();
  final LongAdder segmentsWritten = new LongAdder();
  final LongAdder writeErrors = new LongAdder();
  /** Segments whose blocks were lost because they could not be written. */
  final LongAdder segmentsNotWritten = new LongAdder();

  public final LongAdder segmentsReclaimed = new LongAdder();
  /** Blocks that were evicted because their segments were reclaimed. */
  public final LongAdder blocksReclaimed = new LongAdder();
  /** Blocks that were rewritten when their segments were reclaimed, and their bytes. */
  final LongAdder blocksRewritten = new LongAdder();
  final LongAdder bytesRewritten = new LongAdder();

  /**
   * Times that a device was bypassed, and that a device was taken back after a successful probe, or
   * got new segments again.
   */
  final LongAdder outages = new LongAdder();
  final LongAdder returns = new LongAdder();

  /** Syncs of devices, and their total time in nanoseconds. */
  final LongAdder syncs = new LongAdder();
  final LongAdder syncNanos = new LongAdder();

  /** Files that were dropped because no region reads them. */
  public final LongAdder orphanFiles = new LongAdder();

  /** Files that were dropped. */
  final LongAdder tombstones = new LongAdder();

  /** Segments that were found at startup, and those that were processed. */
  final LongAdder segmentsFound = new LongAdder();
  final LongAdder segmentsRecovered = new LongAdder();
  final LongAdder blocksRecovered = new LongAdder();
  /**
   * Blocks that were found in segments at startup and not recovered because their file was dropped.
   */
  public final LongAdder deadBlocksFound = new LongAdder();
  /** Segments whose footer could not be read or was damaged. */
  final LongAdder badSegments = new LongAdder();

  /** Insertions from this source that were refused because the backlog was too large. */
  LongAdder refusals(InsertSource kind) {
    return refusals[kind.ordinal()];
  }

  /** Returns the mean number of bytes per write to a device; 0 before the first. */
  long meanWriteBytes() {
    long count = writes.sum();
    return count == 0 ? 0 : writtenBytes.sum() / count;
  }

  /** Returns bytes written per byte inserted; 0 before the first. */
  double writeAmplification() {
    long inserted = insertedBytes.sum();
    return inserted == 0 ? 0 : (double) writtenBytes.sum() / inserted;
  }
}
