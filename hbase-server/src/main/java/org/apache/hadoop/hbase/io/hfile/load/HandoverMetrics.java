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
package org.apache.hadoop.hbase.io.hfile.load;

import java.util.EnumMap;
import java.util.Map;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Metrics of the hand-overs of a process. docs/metrics.md says what each means. Thread-safe.
 */
@InterfaceAudience.Private
public final class HandoverMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("CacheHandover",
    "Hot blocks that compactions hand over", "RegionServer,sub=CacheHandover", "regionserver",
    false);

  /** The counts, each under its name. */
  public enum Count {
    /** Compactions that were committed, and those that were not. */
    CompactionCount,
    AbortedCompactionCount,
    /** The same of flushes. */
    FlushCount,
    AbortedFlushCount,
    /** Blocks that were copied into L1. */
    L1BlockCount,
    L1Bytes,
    /** Blocks that were cached in L2. */
    L2BlockCount,
    L2Bytes,
    /** The blocks in L2 that were cached after the commit. */
    DeferredBlockCount,
    DeferredBytes,
    /** Not cached: no block of the inputs that covers the keys is cached and was accessed. */
    ColdBlockCount,
    /** Not cached: as before, as far as is known, as an index block is not in memory. */
    UnknownIndexBlockCount,
    /** Not cached: the block is hot, but does not fit beside what is cached already. */
    LimitBlockCount,
    /** Not cached: the block is hot, but the cache could not take it without a wait. */
    QueueFullBlockCount,
    /** Hints that closed regions left, and those that were not written in time. */
    HintCount,
    LateHintCount,
    /** Hints that opened regions found, and the hot blocks of their files. */
    FollowedHintCount,
    FollowedBlockCount,
    /** Bulk-loaded files with ranges that were hot, and the blocks that cover these. */
    LoadedFileCount,
    LoadedBlockCount
  }

  /** Created with the first hand-over. */
  private static final class Holder {
    private static final HandoverMetrics METRICS = new HandoverMetrics();
  }

  private final Map<Count, Counter> counters = new EnumMap<>(Count.class);

  private HandoverMetrics() {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    for (Count count : Count.values()) {
      counters.put(count, registry.counter(count.name()));
    }
  }

  public static HandoverMetrics get() {
    return Holder.METRICS;
  }

  public void count(Count count) {
    counters.get(count).increment();
  }

  public void count(Count count, long many) {
    counters.get(count).increment(many);
  }

  /** Counts a block and its bytes. */
  void count(Count blocks, Count bytes, long length) {
    counters.get(blocks).increment();
    counters.get(bytes).increment(length);
  }
}
