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

import java.util.concurrent.atomic.LongAdder;
import org.apache.yetus.audience.InterfaceAudience;

/** Counts what a {@link SegmentStore} does. Thread-safe; nobody waits for a reader. */
@InterfaceAudience.Private
final class SegmentStoreMetrics {
  /** Blocks that were taken, and what their entries have, in bytes. */
  final LongAdder insertions = new LongAdder();
  final LongAdder insertedBytes = new LongAdder();
  /** Blocks that no segment could hold. */
  final LongAdder unfit = new LongAdder();
  private final LongAdder[] refusals =
    { new LongAdder(), new LongAdder(), new LongAdder() };

  /** Reads that returned a block, and those of them from a segment that is still in memory. */
  final LongAdder reads = new LongAdder();
  final LongAdder memoryReads = new LongAdder();
  /** Blocks that were read with the one before them, at once. */
  final LongAdder joinedReads = new LongAdder();
  /** Entries whose bytes were not those of the block that should be there. */
  final LongAdder badEntries = new LongAdder();
  /** Reads that came too late: the segment was reclaimed meanwhile. */
  final LongAdder staleReads = new LongAdder();
  final LongAdder readErrors = new LongAdder();
  /** Entries that were forgotten because their place could not be read. */
  final LongAdder unreadableEntries = new LongAdder();
  /** Reads that were not tried, because the device is bypassed or stalls. */
  final LongAdder bypassedReads = new LongAdder();

  /** Writes to devices, of all kinds, what they had in bytes, and the segments among them. */
  final LongAdder writes = new LongAdder();
  final LongAdder writtenBytes = new LongAdder();
  final LongAdder segmentsWritten = new LongAdder();
  final LongAdder writeErrors = new LongAdder();
  /** Segments whose blocks were lost because their device did not take them. */
  final LongAdder segmentsNotWritten = new LongAdder();

  final LongAdder segmentsReclaimed = new LongAdder();
  /** Blocks that went with the segments that were reclaimed. */
  final LongAdder blocksReclaimed = new LongAdder();
  /** Blocks that were written again at that, and what they had, in bytes. */
  final LongAdder blocksRewritten = new LongAdder();
  final LongAdder bytesRewritten = new LongAdder();
  /** Blocks that would have been worth it, but were beyond the share or found no room. */
  final LongAdder hotBlocksReclaimed = new LongAdder();

  /**
   * Times that a device was bypassed, that one got no new segments, and that either ended with a
   * probe that succeeded.
   */
  final LongAdder outages = new LongAdder();
  final LongAdder writeOutages = new LongAdder();
  final LongAdder returns = new LongAdder();

  /** Syncs of devices, and the time that they took in nanoseconds. */
  final LongAdder syncs = new LongAdder();
  final LongAdder syncNanos = new LongAdder();

  /** Files that were dropped because no region reads them. */
  final LongAdder orphanFiles = new LongAdder();

  /** Files that were dropped, and tombstones that were overwritten though they are needed. */
  final LongAdder tombstones = new LongAdder();
  final LongAdder overwrittenTombstones = new LongAdder();

  /** Segments that were found at the start, and those that are dealt with. */
  final LongAdder segmentsFound = new LongAdder();
  final LongAdder segmentsRecovered = new LongAdder();
  final LongAdder blocksRecovered = new LongAdder();
  /** Blocks that were found at the start in segments, and not recovered, as they were dropped. */
  final LongAdder deadBlocksFound = new LongAdder();
  /** Segments whose footer could not be read or was not whole. */
  final LongAdder badSegments = new LongAdder();

  /** Insertions of a kind that were refused, because too much waits to be written. */
  LongAdder refusals(InsertSource kind) {
    return refusals[kind.ordinal()];
  }

  /** Bytes that a write to a device had in the mean; 0 before the first. */
  long meanWriteBytes() {
    long count = writes.sum();
    return count == 0 ? 0 : writtenBytes.sum() / count;
  }

  /** Bytes written for each byte inserted; 0 before the first. */
  double writeAmplification() {
    long inserted = insertedBytes.sum();
    return inserted == 0 ? 0 : (double) writtenBytes.sum() / inserted;
  }
}
