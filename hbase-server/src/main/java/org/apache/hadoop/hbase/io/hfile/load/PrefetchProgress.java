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

import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchMetrics.Count;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Progress of prefetching since the start, in total and per table. While there is work, it is
 * logged once a minute, and once more at the end. Thread-safe.
 */
@InterfaceAudience.Private
public final class PrefetchProgress {
  private static final Logger LOG = LoggerFactory.getLogger(PrefetchProgress.class);

  static final long LOG_SECONDS = 60;
  /** Time without work after which prefetching counts as finished: regions open one by one. */
  static final long SETTLE_SECONDS = 5;
  /** Period over which the rate is averaged. */
  private static final int RATE_SECONDS = 10;
  private static final long STAND_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Counts of files, in total or of one table. */
  public static final class Counts {
    private final long[] values = new long[Count.values().length];

    public long get(Count count) {
      return values[count.ordinal()];
    }

    private void add(Count count, long more) {
      values[count.ordinal()] += more;
    }

    private void add(Counts other) {
      for (Count count : Count.values()) {
        add(count, other.get(count));
      }
    }

    private void addActive(FilePrefetch file) {
      long prefetched = file.prefetchedBytes();
      long cached = file.cachedBytes();
      add(Count.QueuedFileCount, 1);
      add(Count.QueuedBytes, Math.max(0, file.plannedBytes() - prefetched - cached));
      add(Count.PrefetchedBytes, prefetched);
      add(Count.CachedBytes, cached);
    }

    private void addEnded(FilePrefetch file, boolean cancelled) {
      add(Count.PrefetchedBytes, file.prefetchedBytes());
      add(Count.CachedBytes, file.cachedBytes());
      FilePrefetch.Outcome outcome = file.outcome();
      if (cancelled || outcome == null || outcome == FilePrefetch.Outcome.CANCELLED) {
        add(Count.CancelledFileCount, 1);
      } else if (outcome == FilePrefetch.Outcome.FAILED) {
        add(Count.FailedFileCount, 1);
      } else if (outcome == FilePrefetch.Outcome.NO_SPACE) {
        add(Count.NoSpaceFileCount, 1);
      } else {
        add(file.prefetchedBlocks() == 0 ? Count.CachedFileCount : Count.PrefetchedFileCount, 1);
      }
    }
  }

  /** A consistent snapshot of the progress. */
  public static final class Snapshot {
    private final Counts total = new Counts();
    private final Map<String, Counts> tables = new TreeMap<>();
    private final long taken;
    private final long bytesPerSecond;
    private final long limit;
    private final long waitedMillis;
    private final long overdueReads;

    private Snapshot(long taken, long bytesPerSecond, long limit, long waitedMillis,
      long overdueReads) {
      this.taken = taken;
      this.bytesPerSecond = bytesPerSecond;
      this.limit = limit;
      this.waitedMillis = waitedMillis;
      this.overdueReads = overdueReads;
    }

    public Counts total() {
      return total;
    }

    /** Returns the counts per table, by name. */
    public Map<String, Counts> tables() {
      return Collections.unmodifiableMap(tables);
    }

    /** Returns the bytes read per second, over the last ten seconds. */
    public long bytesPerSecond() {
      return bytesPerSecond;
    }

    /** Returns the limit in bytes per second, 0 if there is none. */
    public long limit() {
      return limit;
    }

    /**
     * Returns the total time that reads have waited for the writers of the cache, in milliseconds.
     */
    public long waitedMillis() {
      return waitedMillis;
    }

    /**
     * Returns the number of files with an overdue read, for which files with the same blocks no
     * longer waited.
     */
    public long overdueReads() {
      return overdueReads;
    }

    /**
     * Returns the estimated remaining seconds at the current rate, 0 without work, -1 if unknown.
     */
    public long secondsToGo() {
      long queued = total.get(Count.QueuedBytes);
      if (queued == 0) {
        return 0;
      }
      return bytesPerSecond == 0 ? -1 : (queued + bytesPerSecond - 1) / bytesPerSecond;
    }
  }

  private final ScheduledExecutorService clock;
  private final LongSupplier nanos;
  private final LongSupplier limit;
  private final Set<FilePrefetch> active = ConcurrentHashMap.newKeySet();
  /** The active files; of two with one path, the later. */
  private final Map<Path, FilePrefetch> byPath = new ConcurrentHashMap<>();
  private final LongAdder waitedNanos = new LongAdder();
  private final LongAdder overdueReads = new LongAdder();
  private volatile boolean used;
  private volatile Snapshot last;

  // Guarded by this.
  private final Map<String, Counts> ended = new HashMap<>();
  private Runnable firstFile = () -> {
  };
  private Consumer<String> newTable = table -> {
  };
  private ScheduledFuture<?> ticks;
  private final long[] sampledBytes = new long[RATE_SECONDS + 1];
  private final long[] sampledAt = new long[RATE_SECONDS + 1];
  private int samples;
  private long rate;
  private long roundBegan;
  private long idleSince;
  private long logged;
  private Counts before;

  /** @param limit supplies the limit in bytes per second */
  PrefetchProgress(ScheduledExecutorService clock, LongSupplier nanos, LongSupplier limit) {
    this.clock = clock;
    this.nanos = nanos;
    this.limit = limit;
  }

  /** Returns whether any file was to be prefetched since the start. */
  public boolean isUsed() {
    return used;
  }

  /** Sets the action that is performed once, before the first file is to be prefetched. */
  synchronized void onFirstFile(Runnable action) {
    firstFile = action;
  }

  /** Sets the listener that receives the table of each file to be prefetched. */
  synchronized void onNewTable(Consumer<String> listener) {
    newTable = listener;
  }

  /** Returns the prefetch of a file that is being prefetched, or waits; null if there is none. */
  FilePrefetch of(Path path) {
    return byPath.get(path);
  }

  void begun(FilePrefetch file) {
    synchronized (this) {
      active.add(file);
      byPath.put(file.path(), file);
      if (!used) {
        used = true;
        firstFile.run();
      }
      newTable.accept(file.table());
      if (ticks == null) {
        before = take().total;
        roundBegan = nanos.getAsLong();
        logged = roundBegan;
        samples = 0;
        sample(roundBegan);
        ticks = clock.scheduleAtFixedRate(this::tickUnlessItFails, 1, 1, TimeUnit.SECONDS);
      }
      idleSince = 0;
    }
  }

  void ended(FilePrefetch file, boolean cancelled) {
    synchronized (this) {
      if (active.remove(file)) {
        byPath.remove(file.path(), file);
        ended.computeIfAbsent(file.table(), table -> new Counts()).addEnded(file, cancelled);
        idleSince = nanos.getAsLong();
      }
    }
  }

  void waitedForWriters(long nanoseconds) {
    waitedNanos.add(nanoseconds);
  }

  void isReadOverdue() {
    overdueReads.increment();
  }

  private void tickUnlessItFails() {
    try {
      tick();
    } catch (RuntimeException e) {
      // Otherwise the executor would cancel the task.
      LOG.warn("Cannot log the progress of prefetching", e);
    }
  }

  /**
   * Samples the rate, and logs the progress if it is due; called each second while there is work.
   * @return the logged line, or null
   */
  synchronized String tick() {
    long now = nanos.getAsLong();
    sample(now);
    if (!active.isEmpty()) {
      if (now - logged >= TimeUnit.SECONDS.toNanos(LOG_SECONDS)) {
        logged = now;
        String line = lineOfWork(take());
        LOG.info(line);
        return line;
      }
    } else if (now - idleSince >= TimeUnit.SECONDS.toNanos(SETTLE_SECONDS)) {
      rate = 0;
      Snapshot end = take();
      ticks.cancel(false);
      ticks = null;
      String line = lineOfEnd(end.total);
      if (end.total.get(Count.PrefetchedBytes) > before.get(Count.PrefetchedBytes)) {
        LOG.info(line);
        return line;
      }
      // This is usually a flush whose blocks are all cached.
      LOG.debug(line);
    }
    return null;
  }

  private void sample(long now) {
    long bytes = 0;
    for (Counts counts : ended.values()) {
      bytes += counts.get(Count.PrefetchedBytes);
    }
    for (FilePrefetch file : active) {
      bytes += file.prefetchedBytes();
    }
    int next = samples % sampledAt.length;
    sampledBytes[next] = bytes;
    sampledAt[next] = now;
    samples++;
    int oldest = samples <= sampledAt.length ? 0 : samples % sampledAt.length;
    double seconds = (now - sampledAt[oldest]) / NANOS;
    rate = seconds <= 0 ? 0 : Math.max(0, Math.round((bytes - sampledBytes[oldest]) / seconds));
  }

  private synchronized Snapshot take() {
    Snapshot snapshot = new Snapshot(nanos.getAsLong(), rate, limit.getAsLong(),
      TimeUnit.NANOSECONDS.toMillis(waitedNanos.sum()), overdueReads.sum());
    ended.forEach((table, counts) -> {
      snapshot.total.add(counts);
      snapshot.tables.computeIfAbsent(table, name -> new Counts()).add(counts);
    });
    for (FilePrefetch file : active) {
      snapshot.total.addActive(file);
      snapshot.tables.computeIfAbsent(file.table(), name -> new Counts()).addActive(file);
    }
    return snapshot;
  }

  /** Returns a snapshot that is at most a second old. Costs O(files to prefetch) once a second. */
  public Snapshot snapshot() {
    Snapshot snapshot = last;
    if (snapshot == null || nanos.getAsLong() - snapshot.taken >= STAND_NANOS) {
      snapshot = take();
      last = snapshot;
    }
    return snapshot;
  }

  /** Returns the line that is logged each minute. */
  static String lineOfWork(Snapshot now) {
    return String.format(Locale.ROOT,
      "Prefetch: %d files with %s left at %s/s%s, %s; read %s, skipped %s as already cached",
      now.total.get(Count.QueuedFileCount), bytes(now.total.get(Count.QueuedBytes)),
      bytes(now.bytesPerSecond),
      now.limit == 0 ? "" : " (limit " + bytes(now.limit) + "/s)",
      now.secondsToGo() < 0 ? "time left unknown" : "about " + time(now.secondsToGo()),
      bytes(now.total.get(Count.PrefetchedBytes)), bytes(now.total.get(Count.CachedBytes)));
  }

  private String lineOfEnd(Counts now) {
    ToLongFunction<Count> since = count -> now.get(count) - before.get(count);
    return String.format(Locale.ROOT,
      "Prefetch finished after %s: read %s of %d files, skipped %s as already cached, %d files "
        + "were fully cached, %d found no space, %d failed, %d were cancelled",
      time(TimeUnit.NANOSECONDS.toSeconds(Math.max(0, idleSince - roundBegan))),
      bytes(since.applyAsLong(Count.PrefetchedBytes)),
      since.applyAsLong(Count.PrefetchedFileCount), bytes(since.applyAsLong(Count.CachedBytes)),
      since.applyAsLong(Count.CachedFileCount), since.applyAsLong(Count.NoSpaceFileCount),
      since.applyAsLong(Count.FailedFileCount), since.applyAsLong(Count.CancelledFileCount));
  }

  /** Formats a number of bytes for an operator. */
  public static String bytes(long bytes) {
    return TraditionalBinaryPrefix.long2String(bytes, "B", 1);
  }

  /** Formats a time in seconds for an operator. */
  public static String time(long seconds) {
    if (seconds < 60) {
      return seconds + " s";
    }
    return seconds < 3600
      ? seconds / 60 + " min " + seconds % 60 + " s"
      : seconds / 3600 + " h " + seconds % 3600 / 60 + " min";
  }
}
