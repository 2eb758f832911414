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
package org.apache.hadoop.hbase.io.hfile.handover;

import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Metrics of the hand-overs of a process. docs/metrics.md says what each means. Thread-safe.
 */
@InterfaceAudience.Private
final class HandoverMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("CacheHandover",
    "Hot blocks that compactions hand over", "RegionServer,sub=CacheHandover", "regionserver",
    false);

  /** Why a data block of an output is not cached, with the names of the metrics. */
  enum LeftOut {
    /** No block of the inputs that covers its keys is cached and was accessed. */
    ColdBlockCount,
    /** As before, as far as is known: an index block is not in memory. */
    UnknownIndexBlockCount,
    /** It is hot, but does not fit beside what is cached already. */
    LimitBlockCount,
    /** It is hot, but the cache could not take it without a wait. */
    QueueFullBlockCount
  }

  /** Created with the first hand-over. */
  private static final class Holder {
    private static final HandoverMetrics METRICS = new HandoverMetrics();
  }

  private final Counter[] leftOut = new Counter[LeftOut.values().length];
  private final Counter l1Blocks;
  private final Counter l1Bytes;
  private final Counter l2Blocks;
  private final Counter l2Bytes;
  private final Counter deferredBlocks;
  private final Counter deferredBytes;
  private final Counter compactions;
  private final Counter aborted;

  private HandoverMetrics() {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    for (LeftOut reason : LeftOut.values()) {
      leftOut[reason.ordinal()] = registry.counter(reason.name());
    }
    l1Blocks = registry.counter("L1BlockCount");
    l1Bytes = registry.counter("L1Bytes");
    l2Blocks = registry.counter("L2BlockCount");
    l2Bytes = registry.counter("L2Bytes");
    deferredBlocks = registry.counter("DeferredBlockCount");
    deferredBytes = registry.counter("DeferredBytes");
    compactions = registry.counter("CompactionCount");
    aborted = registry.counter("AbortedCompactionCount");
  }

  static HandoverMetrics get() {
    return Holder.METRICS;
  }

  void countLeftOut(LeftOut reason) {
    leftOut[reason.ordinal()].increment();
  }

  void countL1(long bytes) {
    l1Blocks.increment();
    l1Bytes.increment(bytes);
  }

  void countL2(long bytes) {
    l2Blocks.increment();
    l2Bytes.increment(bytes);
  }

  /** Counts a block that was handed over after the commit, which {@link #countL2} counts too. */
  void countDeferred(long bytes) {
    deferredBlocks.increment();
    deferredBytes.increment(bytes);
  }

  void countCompaction(boolean committed) {
    (committed ? compactions : aborted).increment();
  }
}
