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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.apache.hadoop.hbase.metrics.MetricKind.COUNTER;
import static org.apache.hadoop.hbase.metrics.MetricKind.GAUGE;

import java.util.function.ToLongFunction;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Publishes the metrics of a {@link MultigetPool}, which are described in docs/metrics.md.
 */
@InterfaceAudience.Private
final class MultigetMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("Multiget",
    "Multigets served by several threads", "RegionServer,sub=Multiget", "regionserver", false);

  private MultigetMetrics() {
  }

  /** Publishes the metrics of a pool, and replaces those of a former one. */
  static void register(MultigetPool pool) {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    register(COUNTER, registry, "ParallelBatchCount", MultigetPool::getParallelBatchCount, pool);
    register(COUNTER, registry, "SmallBatchCount", MultigetPool::getSmallBatchCount, pool);
    register(COUNTER, registry, "BusyBatchCount", MultigetPool::getBusyBatchCount, pool);
    register(COUNTER, registry, "CpuBoundBatchCount", MultigetPool::getCpuBoundBatchCount, pool);
    register(COUNTER, registry, "DeviceBatchCount", MultigetPool::getDeviceBatchCount, pool);
    register(COUNTER, registry, "WindowAdvanceCount", MultigetPool::getWindowAdvanceCount, pool);
    register(COUNTER, registry, "HandlerGetCount", MultigetPool::getHandlerGetCount, pool);
    register(COUNTER, registry, "HelperGetCount", MultigetPool::getWorkerGetCount, pool);
    register(COUNTER, registry, "ExpectedCount", MultigetPool::getExpectedCount, pool);
    register(COUNTER, registry, "HandoffCount", MultigetPool::getHandoffCount, pool);
    register(COUNTER, registry, "SpuriousHandoffCount",
      MultigetPool::getSpuriousHandoffCount, pool);
    register(COUNTER, registry, "SharedBlockCount", MultigetPool::getSharedBlockCount, pool);
    register(COUNTER, registry, "HandoffWaitMicros", MultigetPool::getHandoffWaitMicros, pool);
    register(GAUGE, registry, "PendingHandoffCount", MultigetPool::getPendingHandoffCount, pool);
    register(GAUGE, registry, "ThreadCount", MultigetPool::getThreadCount, pool);
    register(COUNTER, registry, "FailedThreadCount", MultigetPool::getFailedThreadCount, pool);
    register(GAUGE, registry, "CpuHeadroomCount", MultigetPool::getCpuHeadroomCount, pool);
  }

  private static void register(MetricKind kind, MetricRegistry registry, String name,
    ToLongFunction<MultigetPool> value, MultigetPool pool) {
    kind.register(registry, name, () -> value.applyAsLong(pool));
  }
}
