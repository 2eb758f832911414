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

import java.util.function.ToLongFunction;
import org.apache.hadoop.hbase.metrics.Gauge;
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
    register(registry, "ParallelBatchCount", MultigetPool::getParallelBatchCount, pool);
    register(registry, "SmallBatchCount", MultigetPool::getSmallBatchCount, pool);
    register(registry, "BusyBatchCount", MultigetPool::getBusyBatchCount, pool);
    register(registry, "CpuBoundBatchCount", MultigetPool::getCpuBoundBatchCount, pool);
    register(registry, "DeviceBatchCount", MultigetPool::getDeviceBatchCount, pool);
    register(registry, "WindowAdvanceCount", MultigetPool::getWindowAdvanceCount, pool);
    register(registry, "HandlerGetCount", MultigetPool::getHandlerGetCount, pool);
    register(registry, "HelperGetCount", MultigetPool::getHelperGetCount, pool);
    register(registry, "ExpectedCount", MultigetPool::getExpectedCount, pool);
    register(registry, "HandoffCount", MultigetPool::getHandoffCount, pool);
    register(registry, "SpuriousHandoffCount", MultigetPool::getSpuriousHandoffCount, pool);
    register(registry, "SharedBlockCount", MultigetPool::getSharedBlockCount, pool);
    register(registry, "HandoffWaitMicros", MultigetPool::getHandoffWaitMicros, pool);
    register(registry, "PendingHandoffCount", MultigetPool::getPendingHandoffCount, pool);
    register(registry, "ThreadCount", MultigetPool::getThreadCount, pool);
    register(registry, "FailedThreadCount", MultigetPool::getFailedThreadCount, pool);
    register(registry, "CpuHeadroomCount", MultigetPool::getCpuHeadroomCount, pool);
  }

  private static void register(MetricRegistry registry, String name,
    ToLongFunction<MultigetPool> value, MultigetPool pool) {
    registry.remove(name);
    registry.register(name, (Gauge<Long>) () -> value.applyAsLong(pool));
  }
}
