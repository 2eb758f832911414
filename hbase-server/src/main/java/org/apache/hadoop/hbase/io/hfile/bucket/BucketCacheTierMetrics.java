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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.composite.TierBlockCounts;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The metrics of a {@link BucketCacheTier}: the stored blocks by category and file, and the
 * insertions since the start. Thread-safe.
 */
@InterfaceAudience.Private
final class BucketCacheTierMetrics {
  private static final BlockType.BlockCategory[] CATEGORIES = BlockType.BlockCategory.values();

  private final TierBlockCounts stored = new TierBlockCounts();
  private final LongAdder inserted = new LongAdder();
  private final LongAdder writtenBytes = new LongAdder();

  /** Returns the blocks in the map of the tier. */
  TierBlockCounts stored() {
    return stored;
  }

  /** Adds a block to the stored ones, before an eviction can find it in the map. */
  void onInsert(BlockCacheKey key, BucketEntry entry) {
    BlockType.BlockCategory category = TierBlockCounts.categoryOf(key.getBlockType());
    // Into the entry, since the block may be evicted by a key of another type.
    entry.category = (byte) (category.ordinal() + 1);
    stored.add(key.getHfileName(), category, entry.getLength());
  }

  /** Subtracts a block from the stored ones. */
  void onRemove(BlockCacheKey key, BucketEntry entry) {
    if (entry.category > 0) {
      // It is 0 if a block of the persisted map was evicted before it was counted.
      stored.remove(key.getHfileName(), CATEGORIES[entry.category - 1], entry.getLength());
    }
  }

  /** Counts an insertion; blocks of the persisted map are not inserted. */
  void countInsertion(BucketEntry entry) {
    inserted.increment();
    writtenBytes.add(entry.getLength());
  }

  /** Passes each gauge to the consumer, by name. */
  void forEachGauge(BucketCacheTier tier, DeviceAccess device,
    BiConsumer<String, LongSupplier> gauges) {
    CacheStats stats = tier.getStats();
    gauges.accept("Capacity", tier::getMaxSize);
    gauges.accept("Used", tier::getCurrentSize);
    gauges.accept("MetaBlockCount", stored::getMetaCount);
    gauges.accept("MetaBlockSize", stored::getMetaBytes);
    accept(gauges, "Index", BlockType.BlockCategory.INDEX);
    accept(gauges, "Bloom", BlockType.BlockCategory.BLOOM);
    accept(gauges, "Data", BlockType.BlockCategory.DATA);
    gauges.accept("WaitingBlockCount", tier.ramCache.delegate::size);
    gauges.accept("HitCount", stats::getHitCount);
    gauges.accept("MissCount", stats::getMissCount);
    gauges.accept("InsertedBlockCount", inserted::sum);
    gauges.accept("WrittenBytes", writtenBytes::sum);
    gauges.accept("EvictedBlockCount", stats::getEvictedCount);
    gauges.accept("RefusedInsertCount", stats::getFailedInserts);
    gauges.accept("ChecksumFailureCount", device::getChecksumFailureCount);
    gauges.accept("IoErrorCount", device::getIoErrorCount);
    gauges.accept("BypassedReadCount", device::getBypassedReadCount);
    gauges.accept("BypassedInsertCount", device::getBypassedInsertCount);
    gauges.accept("DeviceState", device::getStateNumber);
  }

  private void accept(BiConsumer<String, LongSupplier> gauges, String type,
    BlockType.BlockCategory category) {
    gauges.accept(type + "BlockCount", () -> stored.getCount(category));
    gauges.accept(type + "BlockSize", () -> stored.getBytes(category));
  }
}
