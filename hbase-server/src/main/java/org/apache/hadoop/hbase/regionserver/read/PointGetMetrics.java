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
package org.apache.hadoop.hbase.regionserver.read;

import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Counts how gets are served, for all regions of a process. docs/metrics.md says what each metric
 * means. Thread-safe.
 */
@InterfaceAudience.Private
public final class PointGetMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("PointGet",
    "Gets that are served without scanners", "RegionServer,sub=PointGet", "regionserver", false);

  private final Counter pointGets;
  private final Counter prepared;
  private final Counter notPrepared;
  /** The scans by reason, in the order of {@link ScanReason}. */
  private final Counter[] scans;

  private PointGetMetrics(MetricRegistry registry) {
    pointGets = registry.counter("PointGetCount");
    prepared = registry.counter("ConnectionThreadGetCount");
    notPrepared = registry.counter("ConnectionThreadMissCount");
    scans = new Counter[] { registry.counter("CoprocessorScanCount"),
      registry.counter("FilterScanCount"), registry.counter("OptionScanCount"),
      registry.counter("FamilyScanCount") };
  }

  /** Publishes the metrics, once for all callers. */
  public static PointGetMetrics register() {
    return new PointGetMetrics(MetricRegistries.global().create(INFO));
  }

  /** Counts a get that was served without scanners. */
  public void countPointGet() {
    pointGets.increment();
  }

  /** Counts a try of a connection's thread to read a row without waiting. */
  public void countPrepared(boolean success) {
    (success ? prepared : notPrepared).increment();
  }

  /** Counts a get that is served with scanners. */
  public void countScan(ScanReason reason) {
    scans[reason.ordinal()].increment();
  }
}
