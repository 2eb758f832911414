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

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.Histogram;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * What a crash of this process would lose now, and what is done against it, of all its WALs
 * together; in JMX under <code>Hadoop:service=HBase,name=RegionServer,sub=AsyncWAL</code>, and so
 * at /jmx and /prometheus. There is nothing before the first WAL with a bound. Thread-safe.
 */
@InterfaceAudience.Private
final class AsyncWalMetrics {
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
  // Of the WALs that are closed.
  private final AtomicLong maxWindowNanos = new AtomicLong();
  private final Histogram syncTime;

  private AsyncWalMetrics() {
    for (int i = 0; i < started.length; i++) {
      started[i] = new LongAdder();
    }
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    gauge(registry, "UnsyncedBytes", this::unsyncedBytes);
    gauge(registry, "OldestUnsyncedMillis", () -> millis(oldestNanos()));
    gauge(registry, "MaxWindowMillis", () -> millis(maxWindowNanos()));
    gauge(registry, "TimeSyncCount", () -> startedCount(AsyncWalBound.Cause.TIME));
    gauge(registry, "BytesSyncCount", () -> startedCount(AsyncWalBound.Cause.BYTES));
    gauge(registry, "PressureSyncCount", () -> startedCount(AsyncWalBound.Cause.PRESSURE));
    gauge(registry, "OtherSyncCount", this::otherSyncCount);
    gauge(registry, "FailedSyncCount", failed::sum);
    gauge(registry, "BlockedWriterCount", blocked::sum);
    gauge(registry, "BlockedWriters", this::blockedWriters);
    gauge(registry, "RunningSyncMillis", () -> millis(runningSyncNanos()));
    syncTime = registry.histogram("SyncTimeMillis");
  }

  static AsyncWalMetrics get() {
    return Holder.INSTANCE;
  }

  private static void gauge(MetricRegistry registry, String name, LongSupplier value) {
    registry.register(name, (Gauge<Long>) value::getAsLong);
  }

  /** Rounds up, so that what is at risk is never told as less. */
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

  /** A WAL that was closed with unsynced writes, as its server had to stop, is told of on. */
  private void forgetSettled() {
    for (AsyncWalBound bound : bounds) {
      if (bound.isSettled()) {
        maxWindowNanos.accumulateAndGet(bound.maxWindowNanos(), Math::max);
        bounds.remove(bound);
      }
    }
  }

  /** Returns the bounds of the WALs that have writes that count, or had and are open, by name. */
  List<AsyncWalBound> open() {
    List<AsyncWalBound> open = new ArrayList<>(bounds);
    open.sort(Comparator.comparing(AsyncWalBound::name));
    return open;
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

  /** Counts a sync that a WAL has done, whoever asked for it. */
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

  /** Returns how old an acknowledged write has ever become before it was synced, or is now. */
  long maxWindowNanos() {
    return Math.max(maxWindowNanos.get(),
      bounds.stream().mapToLong(AsyncWalBound::maxWindowNanos).max().orElse(0));
  }

  long startedCount(AsyncWalBound.Cause cause) {
    return started[cause.ordinal()].sum();
  }

  /** Returns how many syncs were done for writers that wait for them, flushes, full batches. */
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

  /** Returns how long the sync of the bound has taken so far that has been on its way longest. */
  long runningSyncNanos() {
    return bounds.stream().mapToLong(AsyncWalBound::runningSyncNanos).max().orElse(0);
  }

  /** Returns how many milliseconds the longest sync of the bound took since this was asked last. */
  long maxSyncMillis() {
    return syncTime.snapshot().getMax();
  }

  /** Returns how many syncs of the bound have ended. */
  long endedCount() {
    return syncTime.getCount();
  }
}
