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

import static org.apache.hadoop.hbase.metrics.MetricKind.COUNTER;
import static org.apache.hadoop.hbase.metrics.MetricKind.GAUGE;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentIndex;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gauges of a {@code SegmentCache}, and its periodic log line. Thread-safe.
 */
@InterfaceAudience.Private
public final class SegmentCacheGauges {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCacheGauges.class);

  private final CachedFiles files;
  private final SegmentIndex index;
  private final SegmentStore store;
  private final SegmentStoreMetrics metrics;
  private final CacheStats stats;

  public SegmentCacheGauges(CachedFiles files, SegmentIndex index, SegmentStore store,
    CacheStats stats) {
    this.files = files;
    this.index = index;
    this.store = store;
    this.metrics = store.metrics();
    this.stats = stats;
  }

  /** Visits the name of each gauge, without the prefix of the tier, and its value. */
  public void forEach(MetricKind.Visitor visitor) {
    visitor.visit(GAUGE, "Capacity", store::capacity);
    visitor.visit(GAUGE, "Used", files::getByteCount);
    visitor.visit(GAUGE, "MetaBlockCount",
      () -> files.getBlockCount() - files.getBlockCount(BlockCategory.DATA));
    visitor.visit(GAUGE, "MetaBlockSize",
      () -> files.getByteCount() - files.getByteCount(BlockCategory.DATA));
    accept(visitor, "Index", BlockCategory.INDEX);
    accept(visitor, "Bloom", BlockCategory.BLOOM);
    accept(visitor, "Data", BlockCategory.DATA);
    visitor.visit(COUNTER, "HitCount", stats::getHitCount);
    visitor.visit(COUNTER, "MissCount", stats::getMissCount);
    visitor.visit(COUNTER, "InsertedBlockCount", metrics.insertions::sum);
    visitor.visit(COUNTER, "WrittenBytes", metrics.writtenBytes::sum);
    visitor.visit(COUNTER, "EvictedBlockCount", metrics.blocksReclaimed::sum);
    visitor.visit(COUNTER, "RefusedInsertCount", stats::getFailedInserts);
    visitor.visit(COUNTER, "ChecksumFailureCount", metrics.badEntries::sum);
    visitor.visit(COUNTER, "IoErrorCount",
      () -> metrics.readErrors.sum() + metrics.writeErrors.sum());
    visitor.visit(COUNTER, "UnreadableEntryCount", metrics.unreadableEntries::sum);
    visitor.visit(COUNTER, "BypassedReadCount", metrics.bypassedReads::sum);
    // This gauge is compatible with single-device engines: 0 in use, 1 bypassed.
    visitor.visit(GAUGE, "DeviceState", () -> store.bypassedDevices() == 0 ? 0 : 1);
    visitor.visit(GAUGE, "BypassedDeviceCount", store::bypassedDevices);
    visitor.visit(GAUGE, "ReadOnlyDeviceCount", store::readOnlyDevices);
    visitor.visit(GAUGE, "FileCount", files::getFileCount);
    visitor.visit(GAUGE, "DroppedBlockCount", files::getDroppedBlockCount);
    visitor.visit(GAUGE, "IndexBytes", index::getOffHeapBytes);
    visitor.visit(GAUGE, "IndexMaxBytes", index::getMaxOffHeapBytes);
    visitor.visit(COUNTER, "IndexFullInsertCount", index::getRefusedCount);
    visitor.visit(GAUGE, "BufferBytes", store::bufferBytes);
    visitor.visit(GAUGE, "SegmentCount", store::segmentCount);
    visitor.visit(GAUGE, "CleanSegmentCount", store::cleanSegments);
    visitor.visit(GAUGE, "RetiredSegmentCount", () -> store.table().retiredCount());
    visitor.visit(GAUGE, "UnwrittenSegmentCount", () -> store.table().unwrittenCount());
    visitor.visit(GAUGE, "WaitingSegmentCount", store::pending);
    visitor.visit(GAUGE, "InMemoryBytes", files::getInMemoryBytes);
    visitor.visit(COUNTER, "InsertedBytes", metrics.insertedBytes::sum);
    visitor.visit(COUNTER, "DeviceWriteCount", metrics.writes::sum);
    visitor.visit(GAUGE, "DeviceWriteMeanBytes", metrics::meanWriteBytes);
    visitor.visit(COUNTER, "DeviceSyncCount", metrics.syncs::sum);
    visitor.visit(COUNTER, "DeviceSyncMs",
      () -> TimeUnit.NANOSECONDS.toMillis(metrics.syncNanos.sum()));
    visitor.visit(GAUGE, "WriteAmplificationPercent",
      () -> Math.round(100 * metrics.writeAmplification()));
    visitor.visit(COUNTER, "UnfitBlockCount", metrics.unfit::sum);
    visitor.visit(COUNTER, "RefusedReadInsertCount", metrics.refusals(InsertSource.READ)::sum);
    visitor.visit(COUNTER, "RefusedPrefetchInsertCount",
      metrics.refusals(InsertSource.PREFETCH)::sum);
    visitor.visit(COUNTER, "RefusedWriteInsertCount", metrics.refusals(InsertSource.WRITE)::sum);
    visitor.visit(COUNTER, "StaleReadCount", metrics.staleReads::sum);
    visitor.visit(COUNTER, "MemoryReadCount", metrics.memoryReads::sum);
    visitor.visit(COUNTER, "JoinedReadCount", metrics.joinedReads::sum);
    visitor.visit(COUNTER, "ReclaimedSegmentCount", metrics.segmentsReclaimed::sum);
    visitor.visit(COUNTER, "RewrittenBlockCount", metrics.blocksRewritten::sum);
    visitor.visit(COUNTER, "RewrittenBytes", metrics.bytesRewritten::sum);
    visitor.visit(COUNTER, "LostSegmentCount", metrics.segmentsNotWritten::sum);
    visitor.visit(COUNTER, "FoundSegmentCount", metrics.segmentsFound::sum);
    visitor.visit(COUNTER, "RecoveredSegmentCount", metrics.segmentsRecovered::sum);
    visitor.visit(COUNTER, "RecoveredBlockCount", metrics.blocksRecovered::sum);
    visitor.visit(COUNTER, "DeadBlockCount", metrics.deadBlocksFound::sum);
    visitor.visit(COUNTER, "OrphanFileCount", metrics.orphanFiles::sum);
    visitor.visit(COUNTER, "TombstoneCount", metrics.tombstones::sum);
    visitor.visit(COUNTER, "BadSegmentCount", metrics.badSegments::sum);
  }

  private void accept(MetricKind.Visitor visitor, String type,
    BlockCategory category) {
    visitor.visit(GAUGE, type + "BlockCount", () -> files.getBlockCount(category));
    visitor.visit(GAUGE, type + "BlockSize", () -> files.getByteCount(category));
  }

  /** Logs the statistics of the tier since its start. */
  public void log(String name, String engine) {
    LOG.info(
      "{} tier ({}): {} blocks of {} files, {} of {} MB, hits={}, misses={}, insertions={}, "
        + "refused={}, index={} of {} MB, refused by index={}, written={} MB, "
        + "write amplification={}, reclaimed blocks={}, rewritten={}, "
        + "bad entries={}, bypassed devices={}",
      name, engine, files.getBlockCount(), files.getFileCount(), files.getByteCount() >> 20,
      store.capacity() >> 20, stats.getHitCount(), stats.getMissCount(), metrics.insertions,
      stats.getFailedInserts(), index.getOffHeapBytes() >> 20, index.getMaxOffHeapBytes() >> 20,
      index.getRefusedCount(), metrics.writtenBytes.sum() >> 20,
      String.format("%.2f", metrics.writeAmplification()), metrics.blocksReclaimed,
      metrics.blocksRewritten, metrics.badEntries, store.bypassedDevices());
  }
}
