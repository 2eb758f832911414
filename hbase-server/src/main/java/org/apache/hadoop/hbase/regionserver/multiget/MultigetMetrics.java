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

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/** The metrics of a {@link MultigetPool}, which are described in docs/metrics.md. Thread-safe. */
@InterfaceAudience.Private
final class MultigetMetrics {
  static final MetricRegistryInfo INFO = new MetricRegistryInfo("Multiget",
    "Multigets served by several threads", "RegionServer,sub=Multiget", "regionserver", false);

  /** The counts, each under its name. */
  enum Count {
    /** Batches of gets that were offered to more than one thread. */
    ParallelBatchCount,
    /** Batches of two gets or more that were too small to be offered. */
    SmallBatchCount,
    /** Large enough batches that were refused because all threads were busy. */
    BusyBatchCount,
    /** Large enough batches that were refused for lack of processor headroom. */
    CpuBoundBatchCount,
    /** Batches that waited for a device. */
    DeviceBatchCount,
    /** How often more gets of a parallel batch were allowed to start. */
    WindowAdvanceCount,
    /** Gets of parallel batches served by their handlers, and by other threads. */
    HandlerGetCount,
    HelperGetCount,
    /** How often a thread was woken up in advance for a request. */
    ExpectedCount,
    /** Handoffs to a thread, and those among them after which no get was left to serve. */
    HandoffCount,
    SpuriousHandoffCount,
    /** Gets that shared a block that another get of the batch had read from a file. */
    SharedBlockCount
  }

  private final Map<Count, LongAdder> counts = new EnumMap<>(Count.class);
  /** The total time from a handoff until its thread started. */
  final LongAdder waitedNanos = new LongAdder();

  MultigetMetrics() {
    for (Count count : Count.values()) {
      counts.put(count, new LongAdder());
    }
  }

  LongAdder of(Count count) {
    return counts.get(count);
  }

  /** Publishes the metrics of a pool, and replaces those of a former one. */
  void register(MultigetPool pool) {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    counts.forEach((count, adder) -> COUNTER.register(registry, count.name(), adder::sum));
    COUNTER.register(registry, "HandoffWaitMicros",
      () -> TimeUnit.NANOSECONDS.toMicros(waitedNanos.sum()));
    GAUGE.register(registry, "PendingHandoffCount", pool::getPendingHandoffCount);
    GAUGE.register(registry, "ThreadCount", pool::getThreadCount);
    COUNTER.register(registry, "FailedThreadCount", pool::getFailedThreadCount);
    GAUGE.register(registry, "CpuHeadroomCount", pool::getCpuHeadroomCount);
  }
}
