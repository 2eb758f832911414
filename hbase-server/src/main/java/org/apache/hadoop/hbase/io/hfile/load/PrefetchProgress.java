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

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchMetrics.Count;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Progress of prefetching since the start. It is logged once a minute while there is work, and once
 * more after the end. Thread-safe.
 */
@InterfaceAudience.Private
public final class PrefetchProgress {
  private static final Logger LOG = LoggerFactory.getLogger(PrefetchProgress.class);

  private static final long LOG_SECONDS = 60;

  private final ScheduledExecutorService clock;
  private final LongSupplier limit;
  private final Set<FilePrefetch> active = ConcurrentHashMap.newKeySet();
  /** The active files; of two with one path, the later. */
  private final Map<Path, FilePrefetch> byPath = new ConcurrentHashMap<>();
  private final LongAdder waitedNanos = new LongAdder();
  private final LongAdder overdueReads = new LongAdder();

  // Guarded by this.
  /** The counts of files that have ended. */
  private final Map<Count, Long> ended = new EnumMap<>(Count.class);
  /** Null once the first file is to be prefetched. */
  private Runnable firstFile = () -> {
  };
  /** Null while there is no work. */
  private ScheduledFuture<?> ticks;
  /** The bytes read when the progress was last logged. */
  private long readBefore;

  /** @param limit supplies the limit in bytes per second */
  PrefetchProgress(ScheduledExecutorService clock, LongSupplier limit) {
    this.clock = clock;
    this.limit = limit;
  }

  /** Sets the action that is performed once, before the first file is to be prefetched. */
  synchronized void onFirstFile(Runnable action) {
    firstFile = action;
  }

  /** Returns the prefetch of a file that is being prefetched, or waits; null if there is none. */
  FilePrefetch of(Path path) {
    return byPath.get(path);
  }

  synchronized void begun(FilePrefetch file) {
    active.add(file);
    byPath.put(file.path(), file);
    if (firstFile != null) {
      firstFile.run();
      firstFile = null;
    }
    if (ticks == null) {
      ticks = clock.scheduleAtFixedRate(this::tick, LOG_SECONDS, LOG_SECONDS, TimeUnit.SECONDS);
    }
  }

  synchronized void ended(FilePrefetch file, boolean cancelled) {
    if (active.remove(file)) {
      byPath.remove(file.path(), file);
      ended.merge(Count.PrefetchedBytes, file.prefetchedBytes(), Long::sum);
      ended.merge(Count.CachedBytes, file.cachedBytes(), Long::sum);
      ended.merge(outcomeOf(file, cancelled), 1L, Long::sum);
    }
  }

  private static Count outcomeOf(FilePrefetch file, boolean cancelled) {
    FilePrefetch.Outcome outcome = file.outcome();
    if (cancelled || outcome == null || outcome == FilePrefetch.Outcome.CANCELLED) {
      return Count.CancelledFileCount;
    } else if (outcome == FilePrefetch.Outcome.FAILED) {
      return Count.FailedFileCount;
    } else if (outcome == FilePrefetch.Outcome.NO_SPACE) {
      return Count.NoSpaceFileCount;
    }
    return file.prefetchedBlocks() == 0 ? Count.CachedFileCount : Count.PrefetchedFileCount;
  }

  /** Returns a count, as of now. Costs O(files to prefetch). */
  public synchronized long get(Count count) {
    long sum = ended.getOrDefault(count, 0L);
    for (FilePrefetch file : active) {
      sum += ofActive(file, count);
    }
    return sum;
  }

  private static long ofActive(FilePrefetch file, Count count) {
    switch (count) {
      case QueuedFileCount:
        return 1;
      case QueuedBytes:
        return Math.max(0, file.plannedBytes() - file.prefetchedBytes() - file.cachedBytes());
      case PrefetchedBytes:
        return file.prefetchedBytes();
      case CachedBytes:
        return file.cachedBytes();
      default:
        return 0;
    }
  }

  void waitedForWriters(long nanoseconds) {
    waitedNanos.add(nanoseconds);
  }

  /** Returns the total time that reads have waited for the writers of the cache. */
  long waitedMillis() {
    return TimeUnit.NANOSECONDS.toMillis(waitedNanos.sum());
  }

  void isReadOverdue() {
    overdueReads.increment();
  }

  /** Returns the number of files with an overdue read, for which others no longer waited. */
  long overdueReads() {
    return overdueReads.sum();
  }

  /** Returns the limit in bytes per second, 0 if there is none. */
  public long limit() {
    return limit.getAsLong();
  }

  /** Logs the progress if there is any. Returns the line. */
  synchronized String tick() {
    long read = get(Count.PrefetchedBytes);
    String line = String.format(Locale.ROOT,
      "Prefetch: %d files with %s left%s; read %s since the start, skipped %s as already cached",
      get(Count.QueuedFileCount), bytes(get(Count.QueuedBytes)),
      limit() == 0 ? "" : " (limit " + bytes(limit()) + "/s)", bytes(read),
      bytes(get(Count.CachedBytes)));
    if (!active.isEmpty() || read > readBefore) {
      LOG.info(line);
    }
    readBefore = read;
    if (active.isEmpty() && ticks != null) {
      ticks.cancel(false);
      ticks = null;
    }
    return line;
  }

  private static String bytes(long bytes) {
    return TraditionalBinaryPrefix.long2String(bytes, "B", 1);
  }
}
