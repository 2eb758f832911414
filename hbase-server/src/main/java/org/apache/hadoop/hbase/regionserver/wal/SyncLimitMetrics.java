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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.apache.hadoop.hbase.metrics.MetricKind.COUNTER;
import static org.apache.hadoop.hbase.metrics.MetricKind.GAUGE;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Metrics of the limits that WALs have chosen, registered with the first WAL whose limit is tuned.
 * Thread-safe.
 */
@InterfaceAudience.Private
final class SyncLimitMetrics {
  static final MetricRegistryInfo INFO = new MetricRegistryInfo("WALSyncLimit",
    "Syncs that WALs have in flight", "RegionServer,sub=WALSyncLimit", "regionserver", false);

  private static final class Holder {
    private static final SyncLimitMetrics INSTANCE = new SyncLimitMetrics();
  }

  /** Those of WALs that failed before they were closed go with the WALs. */
  private final Set<SyncLimitTuner> open = Collections.newSetFromMap(new WeakHashMap<>());
  /** Of closed WALs. */
  private final AtomicLong changes = new AtomicLong();

  private SyncLimitMetrics() {
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    GAUGE.register(registry, "MinSyncLimit", this::minLimit);
    GAUGE.register(registry, "SyncWaitMicros", this::maxWaitMicros);
    COUNTER.register(registry, "SyncLimitChangeCount", this::changes);
  }

  static SyncLimitMetrics get() {
    return Holder.INSTANCE;
  }

  void opened(SyncLimitTuner tuner) {
    synchronized (open) {
      open.add(tuner);
    }
  }

  void closed(SyncLimitTuner tuner) {
    synchronized (open) {
      if (open.remove(tuner)) {
        changes.addAndGet(tuner.changes());
      }
    }
  }

  private List<SyncLimitTuner> open() {
    synchronized (open) {
      return new ArrayList<>(open);
    }
  }

  /** Returns the smallest limit that a WAL has chosen, 0 if none has one. */
  long minLimit() {
    int min =
      open().stream().mapToInt(SyncLimitTuner::chosenLimit).min().orElse(SyncLimit.NONE);
    return min == SyncLimit.NONE ? 0 : min;
  }

  /** Returns the longest mean wait for a sync of any WAL lately, in microseconds. */
  long maxWaitMicros() {
    return open().stream().mapToLong(SyncLimitTuner::waitMicros).max().orElse(0);
  }

  long changes() {
    return changes.get() + open().stream().mapToLong(SyncLimitTuner::changes).sum();
  }
}
