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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.ThreadFactoryBuilder;

/**
 * The metrics of {@link CompositeBucketCache} and its tiers, in JMX under
 * {@code Hadoop:service=HBase,name=RegionServer,sub=BlockCacheTiers}, and so at /jmx and
 * /prometheus, and to the page of the tiers. Reading any of it reads counters; none walks the
 * cache. A daemon thread takes a sample every {@value #SAMPLE_SECONDS} seconds, for as long as the
 * cache is open. Where one process has several composites, as a test cluster has, JMX shows the
 * last one opened. Thread-safe.
 */
@InterfaceAudience.Private
public final class CompositeBucketCacheMetrics {
  private static final Logger LOG = LoggerFactory.getLogger(CompositeBucketCacheMetrics.class);

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("BlockCacheTiers",
    "The tiers of the block cache", "RegionServer,sub=BlockCacheTiers", "regionserver", false);

  /** How long a sample of {@link #getHistory} is. */
  public static final int SAMPLE_SECONDS = 10;
  private static final int SAMPLES = 3600 / SAMPLE_SECONDS;
  private static final int LATENCY_SAMPLES = 60 / SAMPLE_SECONDS;
  /** A read from memory takes about as long as timing it, which so is 2 ns of each. */
  private static final int IN_MEMORY_TIMED_ONE_IN = 32;

  private final Tier first;
  private final Tier second;
  private final TierHistory history = new TierHistory(SAMPLES);
  private final ScheduledExecutorService sampler;

  /** A metric of a tier. */
  private static final class Value {
    private final MetricKind kind;
    private final LongSupplier supplier;

    Value(MetricKind kind, LongSupplier supplier) {
      this.kind = kind;
      this.supplier = supplier;
    }
  }

  /** One tier's figures. */
  @InterfaceAudience.Private
  public static final class Tier {
    private final String name;
    private final CacheTier cache;
    private final ReadLatencyHistogram readLatencies;
    private final Map<String, Value> values = new LinkedHashMap<>();

    private Tier(String name, CacheTier cache) {
      this.name = name;
      this.cache = cache;
      this.readLatencies = new ReadLatencyHistogram(cache.isInMemory() ? IN_MEMORY_TIMED_ONE_IN : 1,
        LATENCY_SAMPLES);
      cache.forEachMetric(this::add);
    }

    private void add(MetricKind kind, String metric, LongSupplier value) {
      values.put(metric, new Value(kind, value));
    }

    /** Returns L1 or L2. */
    public String getName() {
      return name;
    }

    /** Returns the storage behind the tier, in words for an operator. */
    public String getIoEngine() {
      return cache.getIoEngine();
    }

    /** Returns how long lookups took that found their block here. */
    public ReadLatencyHistogram getReadLatencies() {
      return readLatencies;
    }

    /** Returns a metric's value, 0 if the tier has no such metric. */
    public long get(String metric) {
      Value value = values.get(metric);
      return value == null ? 0 : value.supplier.getAsLong();
    }

    /** Returns all metrics as they are now, under their names without the tier's. */
    public Map<String, Long> getValues() {
      Map<String, Long> now = new LinkedHashMap<>();
      values.forEach((metric, value) -> now.put(metric, value.supplier.getAsLong()));
      return now;
    }

    /** Visits each file of which the tier stores blocks. Costs O(files). */
    public void forEachFile(TierBlockCounts.FileVisitor visitor) {
      cache.forEachFile(visitor);
    }

    private void register(MetricRegistry registry) {
      values.forEach(
        (metric, value) -> value.kind.register(registry, name + metric, value.supplier));
      // HBase names the values of its own histograms like this.
      MetricKind.COUNTER.register(registry, name + "ReadNanos_num_ops",
        () -> readLatencies.getSummary().getTotal());
      register(registry, "ReadNanos_median", () -> readLatencies.getSummary().getMedian());
      register(registry, "ReadNanos_95th_percentile", () -> readLatencies.getSummary().getP95());
      register(registry, "ReadNanos_99th_percentile", () -> readLatencies.getSummary().getP99());
      register(registry, "ReadNanos_99.9th_percentile", () -> readLatencies.getSummary().getP999());
      register(registry, "ReadNanos_max", () -> readLatencies.getSummary().getMax());
    }

    private void register(MetricRegistry registry, String gauge, LongSupplier value) {
      MetricKind.GAUGE.register(registry, name + gauge, value);
    }
  }

  /**
   * Publishes the gauges and begins to take samples; {@link #close} ends both.
   * @param returned  how often a meta block came back into L1
   * @param admission what decides about blocks that reads have missed
   */
  CompositeBucketCacheMetrics(CacheTier first, CacheTier second, LongSupplier returned,
    ReadMissAdmission admission) {
    this.first = new Tier("L1", first);
    this.second = new Tier("L2", second);
    this.first.add(MetricKind.COUNTER, "ReturnedBlockCount", returned);
    this.second.add(MetricKind.COUNTER, "AdmittedReadInsertCount", admission::getAdmittedCount);
    this.second.add(MetricKind.COUNTER, "RejectedReadInsertCount", admission::getRejectedCount);
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    this.first.register(registry);
    this.second.register(registry);
    sampler = Executors.newSingleThreadScheduledExecutor(
      new ThreadFactoryBuilder().setNameFormat("BlockCacheTiersSampler").setDaemon(true).build());
    sampler.scheduleAtFixedRate(this::sampleUnlessItFails, 0, SAMPLE_SECONDS, TimeUnit.SECONDS);
  }

  /** Takes the gauges back and ends the samples. To be called once. */
  void close() {
    sampler.shutdownNow();
    MetricRegistries.global().remove(INFO);
  }

  private void sampleUnlessItFails() {
    try {
      sample(System.currentTimeMillis(), System.nanoTime());
    } catch (RuntimeException e) {
      // The executor would call no more.
      LOG.warn("Could not take a sample of the block cache's tiers", e);
    }
  }

  /**
   * Takes a sample, as the daemon thread does.
   * @param time     milliseconds since 1970
   * @param nanoTime the same moment on a clock that is never set
   */
  public void sample(long time, long nanoTime) {
    first.readLatencies.roll();
    second.readLatencies.roll();
    history.add(time, nanoTime, getTotals());
  }

  private long[] getTotals() {
    long[] totals = new long[TierHistory.Count.values().length];
    totals[TierHistory.Count.FIRST_HITS.ordinal()] = first.get("HitCount");
    totals[TierHistory.Count.SECOND_HITS.ordinal()] = second.get("HitCount");
    // A lookup misses in one of the two, by what it is for.
    totals[TierHistory.Count.MISSES.ordinal()] = first.get("MissCount") + second.get("MissCount");
    totals[TierHistory.Count.PROMOTIONS.ordinal()] = first.get("PromotedBlockCount");
    totals[TierHistory.Count.REJECTED_PROMOTIONS.ordinal()] =
      first.get("RejectedPromotionCount");
    totals[TierHistory.Count.DEMOTIONS.ordinal()] = first.get("DemotedBlockCount");
    return totals;
  }

  /** Returns both tiers, the first first. */
  public List<Tier> getTiers() {
    return Collections.unmodifiableList(new ArrayList<>(Arrays.asList(first, second)));
  }

  /** Returns the last hour. */
  public TierHistory getHistory() {
    return history;
  }
}
