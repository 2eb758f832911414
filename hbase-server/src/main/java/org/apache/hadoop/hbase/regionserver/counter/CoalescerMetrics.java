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
package org.apache.hadoop.hbase.regionserver.counter;

import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.Histogram;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupMetrics;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * What an {@link IncrementCoalescer} does, as metrics. docs/metrics.md says what each of them
 * means.
 */
@InterfaceAudience.Private
final class CoalescerMetrics implements GroupMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("Counter",
    "Increments that are merged", "RegionServer,sub=Counter", "regionserver", false);

  private final Histogram groupSize;
  private final Counter merged;
  private final Counter queued;
  private final Counter single;
  private final Counter irregular;
  private final Counter hooked;
  private final Counter withoutWal;
  private final Counter repeated;
  private final Counter alone;
  private final Counter failedGroup;
  private final Counter refused;

  private CoalescerMetrics(MetricRegistry registry) {
    groupSize = registry.histogram("GroupSize");
    merged = registry.counter("MergedIncrementCount");
    queued = registry.counter("QueuedIncrementCount");
    single = registry.counter("SingleIncrementCount");
    irregular = registry.counter("UnmergeableIncrementCount");
    hooked = registry.counter("CoprocessorIncrementCount");
    withoutWal = registry.counter("WithoutWalIncrementCount");
    repeated = registry.counter("RepeatedIncrementCount");
    alone = registry.counter("UngroupedRetryCount");
    failedGroup = registry.counter("FailedGroupCount");
    refused = registry.counter("RefusedCallCount");
  }

  static CoalescerMetrics register() {
    return new CoalescerMetrics(MetricRegistries.global().create(INFO));
  }

  @Override
  public void group(int size, int withoutHandler) {
    groupSize.update(size);
    merged.increment(size);
    queued.increment(withoutHandler);
  }

  /** Returns how many groups there were, of one increment or more. */
  long groups() {
    return groupSize.getCount();
  }

  /** Returns how many increments were applied with no other of their row in flight. */
  long singles() {
    return single.getCount();
  }

  @Override
  public void single() {
    single.increment();
  }

  void irregular() {
    irregular.increment();
  }

  void hooked() {
    hooked.increment();
  }

  void withoutWal() {
    withoutWal.increment();
  }

  @Override
  public void repeated() {
    repeated.increment();
  }

  @Override
  public void alone() {
    alone.increment();
  }

  @Override
  public void failedGroup() {
    failedGroup.increment();
  }

  @Override
  public void refused() {
    refused.increment();
  }

  long refusedCalls() {
    return refused.getCount();
  }
}
