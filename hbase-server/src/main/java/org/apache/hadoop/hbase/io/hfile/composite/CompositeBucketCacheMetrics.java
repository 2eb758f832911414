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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.ThreadFactoryBuilder;

/**
 * The metrics of {@link CompositeBucketCache} and its tiers, in JMX under
 * {@code Hadoop:service=HBase,name=RegionServer,sub=BlockCacheTiers}, and so at /jmx and
 * /prometheus. Reading any of it reads counters; none walks the cache. A daemon thread sums up the
 * read latencies every {@value #INTERVAL_SECONDS} seconds, for as long as the cache is open. Where
 * one process has several composites, as a test cluster has, JMX shows the last one opened.
 * Thread-safe.
 */
@InterfaceAudience.Private
final class CompositeBucketCacheMetrics {
  static final MetricRegistryInfo INFO = new MetricRegistryInfo("BlockCacheTiers",
    "The tiers of the block cache", "RegionServer,sub=BlockCacheTiers", "regionserver", false);

  private static final int INTERVAL_SECONDS = 10;
  private static final int INTERVALS = 60 / INTERVAL_SECONDS;
  /** A read from memory takes about as long as timing it, which so is 2 ns of each. */
  private static final int IN_MEMORY_TIMED_ONE_IN = 32;

  private final ReadLatencyHistogram firstReads;
  private final ReadLatencyHistogram secondReads;
  private final ScheduledExecutorService clock;

  /**
   * Publishes the metrics and begins to sum up read latencies; {@link #close} ends both.
   * @param returned  how often a meta block came back into L1
   * @param admission what decides about blocks that reads have missed
   */
  CompositeBucketCacheMetrics(CacheTier first, CacheTier second, LongSupplier returned,
    ReadMissAdmission admission) {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    firstReads = register(registry, "L1", first);
    secondReads = register(registry, "L2", second);
    MetricKind.COUNTER.register(registry, "L1ReturnedBlockCount", returned);
    MetricKind.COUNTER.register(registry, "L2AdmittedReadInsertCount",
      admission::getAdmittedCount);
    MetricKind.COUNTER.register(registry, "L2RejectedReadInsertCount",
      admission::getRejectedCount);
    clock = Executors.newSingleThreadScheduledExecutor(
      new ThreadFactoryBuilder().setNameFormat("BlockCacheTiersClock").setDaemon(true).build());
    clock.scheduleAtFixedRate(this::roll, 0, INTERVAL_SECONDS, TimeUnit.SECONDS);
  }

  private static ReadLatencyHistogram register(MetricRegistry registry, String name,
    CacheTier tier) {
    tier.forEachMetric((kind, metric, value) -> kind.register(registry, name + metric, value));
    ReadLatencyHistogram reads =
      new ReadLatencyHistogram(tier.isInMemory() ? IN_MEMORY_TIMED_ONE_IN : 1, INTERVALS);
    // HBase names the values of its own histograms like this.
    String prefix = name + "ReadNanos_";
    MetricKind.COUNTER.register(registry, prefix + "num_ops", () -> reads.getSummary().total);
    MetricKind.GAUGE.register(registry, prefix + "median", () -> reads.getSummary().median);
    MetricKind.GAUGE.register(registry, prefix + "95th_percentile", () -> reads.getSummary().p95);
    MetricKind.GAUGE.register(registry, prefix + "99th_percentile", () -> reads.getSummary().p99);
    MetricKind.GAUGE.register(registry, prefix + "99.9th_percentile",
      () -> reads.getSummary().p999);
    MetricKind.GAUGE.register(registry, prefix + "max", () -> reads.getSummary().max);
    return reads;
  }

  /** Takes the metrics back, and ends the thread. To be called once. */
  void close() {
    clock.shutdownNow();
    MetricRegistries.global().remove(INFO);
  }

  /** Sums up the read latencies, as the daemon thread does. */
  private void roll() {
    firstReads.roll();
    secondReads.roll();
  }

  /** Returns how long lookups took that found their block in L1. */
  ReadLatencyHistogram firstReads() {
    return firstReads;
  }

  /** Returns how long lookups took that found their block in L2. */
  ReadLatencyHistogram secondReads() {
    return secondReads;
  }
}
