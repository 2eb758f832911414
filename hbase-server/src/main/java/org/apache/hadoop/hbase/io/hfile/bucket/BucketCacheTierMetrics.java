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

import static org.apache.hadoop.hbase.metrics.MetricKind.COUNTER;
import static org.apache.hadoop.hbase.metrics.MetricKind.GAUGE;

import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.composite.TierBlockCounts;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The metrics of a {@link BucketCacheTier} but those of its device: the stored blocks by category
 * and file, and the insertions since the start. Thread-safe.
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
    // The entry has the category, since the block may be evicted by a key of another type.
    EntryAccesses.setCategory(entry, category.ordinal() + 1);
    stored.add(key.getHfileName(), category, entry.getLength());
  }

  /** Subtracts a block from the stored ones. */
  void onRemove(BlockCacheKey key, BucketEntry entry) {
    int category = EntryAccesses.category(entry);
    if (category > 0) {
      // It is 0 if a block of the persisted map was evicted before it was counted.
      stored.remove(key.getHfileName(), CATEGORIES[category - 1], entry.getLength());
    }
  }

  /** Counts an insertion; blocks of the persisted map are not inserted. */
  void countInsertion(BucketEntry entry) {
    inserted.increment();
    writtenBytes.add(entry.getLength());
  }

  /** Passes each metric to the visitor. */
  void forEach(BucketCache cache, MetricKind.Visitor visitor) {
    CacheStats stats = cache.getStats();
    visitor.visit(GAUGE, "Capacity", cache::getMaxSize);
    visitor.visit(GAUGE, "Used", cache::getCurrentSize);
    visitor.visit(GAUGE, "MetaBlockCount", stored::getMetaCount);
    visitor.visit(GAUGE, "MetaBlockSize", stored::getMetaBytes);
    accept(visitor, "Index", BlockType.BlockCategory.INDEX);
    accept(visitor, "Bloom", BlockType.BlockCategory.BLOOM);
    accept(visitor, "Data", BlockType.BlockCategory.DATA);
    visitor.visit(GAUGE, "WaitingBlockCount", cache.ramCache.delegate::size);
    visitor.visit(COUNTER, "HitCount", stats::getHitCount);
    visitor.visit(COUNTER, "MissCount", stats::getMissCount);
    visitor.visit(COUNTER, "InsertedBlockCount", inserted::sum);
    visitor.visit(COUNTER, "WrittenBytes", writtenBytes::sum);
    visitor.visit(COUNTER, "EvictedBlockCount", stats::getEvictedCount);
    visitor.visit(COUNTER, "RefusedInsertCount", stats::getFailedInserts);
  }

  private void accept(MetricKind.Visitor visitor, String type,
    BlockType.BlockCategory category) {
    visitor.visit(GAUGE, type + "BlockCount", () -> stored.getCount(category));
    visitor.visit(GAUGE, type + "BlockSize", () -> stored.getBytes(category));
  }
}
