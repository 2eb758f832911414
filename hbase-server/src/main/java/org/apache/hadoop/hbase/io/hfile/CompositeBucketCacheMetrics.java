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
package org.apache.hadoop.hbase.io.hfile;

import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * What {@link CompositeBucketCache} and its tiers have to tell, as gauges in JMX under
 * {@code Hadoop:service=HBase,name=RegionServer,sub=BlockCacheTiers}, and so at /jmx and
 * /prometheus. Reading a gauge reads counters; none walks the cache. Where one process has several
 * composites, as a test cluster has, the last one opened is shown.
 */
@InterfaceAudience.Private
final class CompositeBucketCacheMetrics {
  static final MetricRegistryInfo INFO = new MetricRegistryInfo("BlockCacheTiers",
    "The tiers of the block cache", "RegionServer,sub=BlockCacheTiers", "regionserver", false);

  private CompositeBucketCacheMetrics() {
  }

  /** Publishes the gauges; to be taken back once with {@link #unregister}. */
  static void register(CacheTier first, CacheTier second, LongSupplier returned) {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    first.forEachGauge(into(registry, "L1"));
    second.forEachGauge(into(registry, "L2"));
    into(registry, "L1").accept("ReturnedBlockCount", returned);
  }

  static void unregister() {
    MetricRegistries.global().remove(INFO);
  }

  private static BiConsumer<String, LongSupplier> into(MetricRegistry registry, String prefix) {
    return (name, value) -> {
      registry.remove(prefix + name);
      registry.register(prefix + name, (Gauge<Long>) value::getAsLong);
    };
  }
}
