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

import static org.apache.hadoop.hbase.metrics.MetricKind.COUNTER;
import static org.apache.hadoop.hbase.metrics.MetricKind.GAUGE;

import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Publishes {@link PrefetchProgress} as metrics, which are described in docs/metrics.md.
 */
@InterfaceAudience.Private
public final class PrefetchMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("Prefetch",
    "Prefetch into the block cache", "RegionServer,sub=Prefetch", "regionserver", false);

  /** What is counted; these are the names of the metrics. */
  public enum Count {
    /** Files that are being prefetched or wait, and their bytes that are not cached, as known. */
    QueuedFileCount(GAUGE),
    QueuedBytes(GAUGE),
    /** Files of which a block was read, and the bytes read, of files in progress as well. */
    PrefetchedFileCount(COUNTER),
    PrefetchedBytes(COUNTER),
    /** Files that were fully cached already, and the bytes that were skipped as cached. */
    CachedFileCount(COUNTER),
    CachedBytes(COUNTER),
    /** Files that were not fully prefetched because the cache had no space. */
    NoSpaceFileCount(COUNTER),
    /** Files that could not be read. */
    FailedFileCount(COUNTER),
    /** Files that were closed, or whose region was, before their prefetch ended. */
    CancelledFileCount(COUNTER);

    final MetricKind kind;

    Count(MetricKind kind) {
      this.kind = kind;
    }
  }

  private PrefetchMetrics() {
  }

  /** Publishes the metrics. */
  static void register(PrefetchProgress progress) {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    for (Count count : Count.values()) {
      count.kind.register(registry, count.name(), () -> progress.get(count));
    }
    GAUGE.register(registry, "LimitBytesPerSecond", progress::limit);
    COUNTER.register(registry, "WaitedForWritersMillis", progress::waitedMillis);
    COUNTER.register(registry, "OverdueReadCount", progress::overdueReads);
  }
}
