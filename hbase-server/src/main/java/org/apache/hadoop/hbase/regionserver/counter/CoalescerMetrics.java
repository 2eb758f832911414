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
final class CoalescerMetrics extends GroupMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("Counter",
    "Increments that are merged", "RegionServer,sub=Counter", "regionserver", false);

  private final Counter irregular;
  private final Counter hooked;
  private final Counter withoutWal;
  private final Counter repeated;

  private CoalescerMetrics(MetricRegistry registry) {
    super(registry, "MergedIncrementCount", "QueuedIncrementCount", "SingleIncrementCount",
      null);
    irregular = registry.counter("UnmergeableIncrementCount");
    hooked = registry.counter("CoprocessorIncrementCount");
    withoutWal = registry.counter("WithoutWalIncrementCount");
    repeated = registry.counter("RepeatedIncrementCount");
  }

  static CoalescerMetrics register() {
    return new CoalescerMetrics(MetricRegistries.global().create(INFO));
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
  protected void repeated() {
    repeated.increment();
  }
}
