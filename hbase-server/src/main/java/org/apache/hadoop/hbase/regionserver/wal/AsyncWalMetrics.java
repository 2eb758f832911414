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

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.metrics.Histogram;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Metrics of the writes that a crash of this process would lose, and of the syncs that bound them,
 * for all of its WALs together; in JMX under
 * <code>Hadoop:service=HBase,name=RegionServer,sub=AsyncWAL</code>, and so at /jmx and /prometheus.
 * They are registered with the first WAL that has a bound. Thread-safe.
 */
@InterfaceAudience.Private
public final class AsyncWalMetrics {
  static final MetricRegistryInfo INFO = new MetricRegistryInfo("AsyncWAL",
    "Writes acknowledged before they are synced", "RegionServer,sub=AsyncWAL", "regionserver",
    false);

  private static final class Holder {
    private static final AsyncWalMetrics INSTANCE = new AsyncWalMetrics();
  }

  private final Set<AsyncWalBound> bounds = ConcurrentHashMap.newKeySet();
  private final LongAdder[] started = new LongAdder[AsyncWalBound.Cause.values().length];
  private final LongAdder allSyncs = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder blocked = new LongAdder();
  // It remembers the loss windows of the WALs that were closed.
  private final AtomicLong maxWindowNanos = new AtomicLong();
  private final Histogram syncTime;

  private AsyncWalMetrics() {
    for (int i = 0; i < started.length; i++) {
      started[i] = new LongAdder();
    }
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    GAUGE.register(registry, "UnsyncedBytes", this::unsyncedBytes);
    GAUGE.register(registry, "OldestUnsyncedMillis", () -> millis(oldestNanos()));
    GAUGE.register(registry, "MaxWindowMillis", () -> millis(maxWindowNanos()));
    COUNTER.register(registry, "TimeSyncCount", () -> startedCount(AsyncWalBound.Cause.TIME));
    COUNTER.register(registry, "BytesSyncCount", () -> startedCount(AsyncWalBound.Cause.BYTES));
    COUNTER.register(registry, "PressureSyncCount",
      () -> startedCount(AsyncWalBound.Cause.PRESSURE));
    COUNTER.register(registry, "OtherSyncCount", this::otherSyncCount);
    COUNTER.register(registry, "FailedSyncCount", failed::sum);
    COUNTER.register(registry, "BlockedWriterCount", blocked::sum);
    GAUGE.register(registry, "BlockedWriters", this::blockedWriters);
    GAUGE.register(registry, "RunningSyncMillis", () -> millis(runningSyncNanos()));
    syncTime = registry.histogram("SyncTimeMillis");
  }

  public static AsyncWalMetrics get() {
    return Holder.INSTANCE;
  }

  /** Rounds up, so that the loss window is never underestimated. */
  static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos + TimeUnit.MILLISECONDS.toNanos(1) - 1);
  }

  void opened(AsyncWalBound bound) {
    forgetSettled();
    bounds.add(bound);
  }

  void closed() {
    forgetSettled();
  }

  /**
   * Removes settled WALs. A WAL closed with unsynced writes, because its server had to abort,
   * stays.
   */
  private void forgetSettled() {
    for (AsyncWalBound bound : bounds) {
      if (bound.isSettled()) {
        maxWindowNanos.accumulateAndGet(bound.maxWindowNanos(), Math::max);
        bounds.remove(bound);
      }
    }
  }

  /** Returns the bounds of WALs with counted writes, and of open WALs that had such writes. */
  Set<AsyncWalBound> open() {
    return bounds;
  }

  void started(AsyncWalBound.Cause cause) {
    started[cause.ordinal()].increment();
  }

  void ended(long nanos, boolean success) {
    syncTime.update(millis(nanos));
    if (!success) {
      failed.increment();
    }
  }

  /** Counts a sync of a WAL, whichever thread started it. */
  void syncedByAnyone() {
    allSyncs.increment();
  }

  void blocked() {
    blocked.increment();
  }

  long unsyncedBytes() {
    return bounds.stream().mapToLong(AsyncWalBound::unsyncedBytes).sum();
  }

  long oldestNanos() {
    return bounds.stream().mapToLong(AsyncWalBound::oldestNanos).max().orElse(0);
  }

  /** Returns the maximum age of an acknowledged write before its sync, or now, in nanoseconds. */
  long maxWindowNanos() {
    return Math.max(maxWindowNanos.get(),
      bounds.stream().mapToLong(AsyncWalBound::maxWindowNanos).max().orElse(0));
  }

  long startedCount(AsyncWalBound.Cause cause) {
    return started[cause.ordinal()].sum();
  }

  /** Returns the number of syncs for waiting writers, flushes and full batches. */
  long otherSyncCount() {
    long own = 0;
    for (LongAdder count : started) {
      own += count.sum();
    }
    return Math.max(0, allSyncs.sum() - own);
  }

  long failedCount() {
    return failed.sum();
  }

  long blockedCount() {
    return blocked.sum();
  }

  long blockedWriters() {
    return bounds.stream().mapToLong(AsyncWalBound::blockedWriters).sum();
  }

  /** Returns the duration of the bound's longest sync in progress, in nanoseconds. */
  long runningSyncNanos() {
    return bounds.stream().mapToLong(AsyncWalBound::runningSyncNanos).max().orElse(0);
  }

  /** Returns the duration of the bound's longest sync since the last call, in milliseconds. */
  long maxSyncMillis() {
    return syncTime.snapshot().getMax();
  }

  /** Returns the number of the bound's finished syncs. */
  long endedCount() {
    return syncTime.getCount();
  }
}
