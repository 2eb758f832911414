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
package org.apache.hadoop.hbase.regionserver.read.cache;

import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Metrics of the row cache of a process. docs/metrics.md says what each means. Thread-safe.
 */
@InterfaceAudience.Private
public final class RowCacheMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("RowCache",
    "Rows that are cached off the heap", "RegionServer,sub=RowCache", "regionserver", false);

  private final Counter hits;
  private final Counter misses;
  private final Counter stale;
  private final Counter bypassed;
  private final Counter inserted;
  private final Counter evicted;
  private final Counter filesChanged;
  private final LongAdder rows = new LongAdder();

  /** @param bytes memory of the cache */
  RowCacheMetrics(long bytes) {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    hits = registry.counter("HitCount");
    misses = registry.counter("MissCount");
    stale = registry.counter("StaleCount");
    bypassed = registry.counter("BypassedCount");
    inserted = registry.counter("InsertedCount");
    evicted = registry.counter("EvictedCount");
    filesChanged = registry.counter("FileChangeCount");
    MetricKind.GAUGE.register(registry, "RowCount", rows::sum);
    MetricKind.GAUGE.register(registry, "SizeBytes", () -> bytes);
  }

  void countLookup(boolean hit) {
    (hit ? hits : misses).increment();
  }

  void countStale() {
    stale.increment();
  }

  /** Counts a get that may be answered from cached rows neither now nor later. */
  public void countBypassed() {
    bypassed.increment();
  }

  void countInserted() {
    inserted.increment();
  }

  void countEvicted() {
    evicted.increment();
  }

  /** Counts a change of files after which no row of the region is current. */
  public void countFilesChanged() {
    filesChanged.increment();
  }

  void addRows(int difference) {
    rows.add(difference);
  }
}
