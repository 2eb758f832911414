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

import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gauges of a {@link SegmentCache}, and its periodic log line. Thread-safe.
 */
@InterfaceAudience.Private
final class SegmentCacheGauges {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCacheGauges.class);

  private final CachedFiles files;
  private final SegmentIndex index;
  private final SegmentStore store;
  private final SegmentStoreMetrics metrics;
  private final CacheStats stats;

  SegmentCacheGauges(CachedFiles files, SegmentIndex index, SegmentStore store,
    CacheStats stats) {
    this.files = files;
    this.index = index;
    this.store = store;
    this.metrics = store.metrics();
    this.stats = stats;
  }

  /** Visits the name of each gauge, without the prefix of the tier, and its value. */
  void forEach(BiConsumer<String, LongSupplier> gauges) {
    gauges.accept("Capacity", store::capacity);
    gauges.accept("Used", files::getByteCount);
    gauges.accept("MetaBlockCount",
      () -> files.getBlockCount() - files.getBlockCount(BlockCategory.DATA));
    gauges.accept("MetaBlockSize",
      () -> files.getByteCount() - files.getByteCount(BlockCategory.DATA));
    accept(gauges, "Index", BlockCategory.INDEX);
    accept(gauges, "Bloom", BlockCategory.BLOOM);
    accept(gauges, "Data", BlockCategory.DATA);
    gauges.accept("HitCount", stats::getHitCount);
    gauges.accept("MissCount", stats::getMissCount);
    gauges.accept("InsertedBlockCount", metrics.insertions::sum);
    gauges.accept("WrittenBytes", metrics.writtenBytes::sum);
    gauges.accept("EvictedBlockCount", metrics.blocksReclaimed::sum);
    gauges.accept("RefusedInsertCount", stats::getFailedInserts);
    gauges.accept("ChecksumFailureCount", metrics.badEntries::sum);
    gauges.accept("IoErrorCount", () -> metrics.readErrors.sum() + metrics.writeErrors.sum());
    gauges.accept("UnreadableEntryCount", metrics.unreadableEntries::sum);
    gauges.accept("BypassedReadCount", metrics.bypassedReads::sum);
    // For compatibility with single-device engines: 0 in use, 1 bypassed.
    gauges.accept("DeviceState", () -> store.bypassedDevices() == 0 ? 0 : 1);
    gauges.accept("BypassedDeviceCount", store::bypassedDevices);
    gauges.accept("ReadOnlyDeviceCount", store::readOnlyDevices);
    gauges.accept("FileCount", files::getFileCount);
    gauges.accept("DroppedBlockCount", files::getDroppedBlockCount);
    gauges.accept("IndexBytes", index::getOffHeapBytes);
    gauges.accept("IndexMaxBytes", index::getMaxOffHeapBytes);
    gauges.accept("IndexFullInsertCount", index::getRefusedCount);
    gauges.accept("BufferBytes", store::bufferBytes);
    gauges.accept("SegmentCount", store::segmentCount);
    gauges.accept("CleanSegmentCount", store::cleanSegments);
    gauges.accept("RetiredSegmentCount", () -> store.table().retiredCount());
    gauges.accept("UnwrittenSegmentCount", () -> store.table().unwrittenCount());
    gauges.accept("WaitingSegmentCount", store::pending);
    gauges.accept("InMemoryBytes", files::getInMemoryBytes);
    gauges.accept("InsertedBytes", metrics.insertedBytes::sum);
    gauges.accept("DeviceWriteCount", metrics.writes::sum);
    gauges.accept("DeviceWriteMeanBytes", metrics::meanWriteBytes);
    gauges.accept("DeviceSyncCount", metrics.syncs::sum);
    gauges.accept("DeviceSyncMs", () -> TimeUnit.NANOSECONDS.toMillis(metrics.syncNanos.sum()));
    gauges.accept("WriteAmplificationPercent",
      () -> Math.round(100 * metrics.writeAmplification()));
    gauges.accept("UnfitBlockCount", metrics.unfit::sum);
    gauges.accept("RefusedReadInsertCount", metrics.refusals(InsertSource.READ)::sum);
    gauges.accept("RefusedPrefetchInsertCount", metrics.refusals(InsertSource.PREFETCH)::sum);
    gauges.accept("RefusedWriteInsertCount", metrics.refusals(InsertSource.WRITE)::sum);
    gauges.accept("StaleReadCount", metrics.staleReads::sum);
    gauges.accept("MemoryReadCount", metrics.memoryReads::sum);
    gauges.accept("JoinedReadCount", metrics.joinedReads::sum);
    gauges.accept("ReclaimedSegmentCount", metrics.segmentsReclaimed::sum);
    gauges.accept("RewrittenBlockCount", metrics.blocksRewritten::sum);
    gauges.accept("RewrittenBytes", metrics.bytesRewritten::sum);
    gauges.accept("LostSegmentCount", metrics.segmentsNotWritten::sum);
    gauges.accept("FoundSegmentCount", metrics.segmentsFound::sum);
    gauges.accept("RecoveredSegmentCount", metrics.segmentsRecovered::sum);
    gauges.accept("RecoveredBlockCount", metrics.blocksRecovered::sum);
    gauges.accept("DeadBlockCount", metrics.deadBlocksFound::sum);
    gauges.accept("OrphanFileCount", metrics.orphanFiles::sum);
    gauges.accept("TombstoneCount", metrics.tombstones::sum);
    gauges.accept("OverwrittenTombstoneCount", metrics.overwrittenTombstones::sum);
    gauges.accept("BadSegmentCount", metrics.badSegments::sum);
  }

  private void accept(BiConsumer<String, LongSupplier> gauges, String type,
    BlockCategory category) {
    gauges.accept(type + "BlockCount", () -> files.getBlockCount(category));
    gauges.accept(type + "BlockSize", () -> files.getByteCount(category));
  }

  /** Logs the statistics of the tier since its start. */
  void log(String name, String engine) {
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
