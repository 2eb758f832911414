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

import java.util.HashSet;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchProgress.Counts;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchProgress.Snapshot;
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

  /** What is counted, in total and per table; these are the names of the metrics. */
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

  private static final Counts NOTHING = new Counts();

  private PrefetchMetrics() {
  }

  /** Publishes the metrics, and those of each table once a file of it is to be prefetched. */
  static void register(PrefetchProgress progress) {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    for (Count count : Count.values()) {
      register(count.kind, registry, count.name(),
        snapshot -> snapshot.total().get(count), progress);
    }
    register(GAUGE, registry, "BytesPerSecond", Snapshot::bytesPerSecond, progress);
    register(GAUGE, registry, "LimitBytesPerSecond", Snapshot::limit, progress);
    register(GAUGE, registry, "SecondsToGo", Snapshot::secondsToGo, progress);
    register(COUNTER, registry, "WaitedForWritersMillis", Snapshot::waitedMillis, progress);
    register(COUNTER, registry, "OverdueReadCount", Snapshot::overdueReads, progress);
    Tables tables = new Tables(registry, progress);
    progress.onNewTable(tables::add);
  }

  private static void register(MetricKind kind, MetricRegistry registry, String name,
    ToLongFunction<Snapshot> value, PrefetchProgress progress) {
    kind.register(registry, name, () -> value.applyAsLong(progress.snapshot()));
  }

  /** The tables that have metrics. */
  private static final class Tables {
    private final MetricRegistry registry;
    private final PrefetchProgress progress;
    private final Set<String> known = new HashSet<>();

    Tables(MetricRegistry registry, PrefetchProgress progress) {
      this.registry = registry;
      this.progress = progress;
    }

    synchronized void add(String table) {
      if (!known.add(table)) {
        return;
      }
      int colon = table.indexOf(TableName.NAMESPACE_DELIM);
      // HBase uses this prefix for metrics of a table.
      String prefix = "Namespace_" + (colon < 0 ? "default" : table.substring(0, colon))
        + "_table_" + table.substring(colon + 1) + "_metric_";
      for (Count count : Count.values()) {
        register(count.kind, registry, prefix + count.name(), snapshot -> snapshot
          .tables().getOrDefault(table, NOTHING).get(count), progress);
      }
    }
  }
}
