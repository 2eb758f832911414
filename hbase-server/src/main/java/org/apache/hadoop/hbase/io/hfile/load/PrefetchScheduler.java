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

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.bucket.WriterQueues;
import org.apache.hadoop.hbase.trace.TraceUtil;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.ThreadFactoryBuilder;

/**
 * Schedules the files that the threads of {@link PrefetchExecutor} prefetch, and limits their read
 * rate. There is one instance per process, as of {@link PrefetchExecutor}. Thread-safe.
 * <p>
 * A thread performs one phase of one file and then takes the file that is first in the order. Under
 * {@link PrefetchSettings.Order#NEWEST} a thread that prefetches data checks before each read
 * whether index and bloom blocks of another file are to be prefetched, and prefetches those first;
 * it holds no block at that moment. Data that is being read is not postponed for newer data.
 * <p>
 * Files whose blocks have the same keys in one cache are prefetched one after the other, so that
 * the later ones find the blocks read for the first: the two daughters of a split, links to one
 * file in several clones, a region and its replica. They stop waiting for a file if one of its
 * reads has been in progress for {@value #OVERDUE_SECONDS} s: it may hang in HDFS, and is counted
 * and logged.
 */
@InterfaceAudience.Private
public final class PrefetchScheduler {
  private static final Logger LOG = LoggerFactory.getLogger(PrefetchScheduler.class);

  /** How long a read in progress may continue after its cancellation, in milliseconds. */
  static final long GRACE_MILLIS = 50;
  /** Poll interval while a writer queue is full, in milliseconds. */
  private static final long QUEUE_POLL_MILLIS = 5;
  /** Maximum time that a read waits for the writers, in seconds: they may be stuck. */
  static final long QUEUE_WAIT_SECONDS = 10;
  /**
   * Duration in seconds after which a read no longer blocks other files. HDFS waits as long for an
   * unresponsive DataNode before it reads from another.
   */
  static final long OVERDUE_SECONDS = 60;
  /** Number of checks, within that time, whether a file is still blocked. */
  private static final int LOOKS = 4;

  private static final PrefetchScheduler INSTANCE = new PrefetchScheduler();
  /** Burst of the rate limit in milliseconds, to compensate for waits that end late. */
  private static final long BURST_MILLIS = 20;

  private final Object lock = new Object();
  /** Files whose delay is over and that no thread is prefetching; guarded by {@link #lock}. */
  private PriorityQueue<ScheduledPrefetch> ready =
    new PriorityQueue<>(inOrder(PrefetchSettings.NONE));
  /** Files that threads are prefetching; guarded by {@link #lock}. */
  private final List<ScheduledPrefetch> running = new ArrayList<>();
  private long nextPosition;
  /** Whether a check of blocked files is scheduled; guarded by {@link #lock}. */
  private boolean lookDue;
  private final long overdueNanos;
  private final long graceMillis;
  private volatile PrefetchSettings settings = PrefetchSettings.NONE;
  private final ByteRateLimiter rate = new ByteRateLimiter(BURST_MILLIS);
  private final ScheduledThreadPoolExecutor clock;
  private final PrefetchProgress progress;

  PrefetchScheduler() {
    this(TimeUnit.SECONDS.toNanos(OVERDUE_SECONDS), GRACE_MILLIS);
  }

  PrefetchScheduler(long overdueNanos, long graceMillis) {
    this.overdueNanos = overdueNanos;
    this.graceMillis = graceMillis;
    clock = new ScheduledThreadPoolExecutor(1,
      new ThreadFactoryBuilder().setNameFormat("hfile-prefetch-clock").setDaemon(true).build());
    clock.setRemoveOnCancelPolicy(true);
    clock.setKeepAliveTime(1, TimeUnit.MINUTES);
    clock.allowCoreThreadTimeOut(true);
    progress = new PrefetchProgress(clock, rate::getLimit);
    progress.onFirstFile(() -> PrefetchMetrics.register(progress));
  }

  /** Returns the instance of the process. */
  public static PrefetchScheduler get() {
    return INSTANCE;
  }

  /** Returns the progress of prefetching. */
  public PrefetchProgress progress() {
    return progress;
  }

  public PrefetchSettings settings() {
    return settings;
  }

  /**
   * Applies the settings; they take effect at once, also for waiting reads.
   * @throws IllegalArgumentException if one is invalid, with a message for the operator; none is
   *                                  changed
   */
  public void configure(Configuration conf) {
    PrefetchSettings next = PrefetchSettings.of(conf);
    synchronized (lock) {
      PriorityQueue<ScheduledPrefetch> sorted = new PriorityQueue<>(inOrder(next));
      sorted.addAll(ready);
      ready = sorted;
      settings = next;
    }
    rate.setLimit(next.bytesPerSecond());
  }

  /** Applies changed settings; if one is invalid, logs it and changes none. */
  public void onConfigurationChange(Configuration conf) {
    PrefetchSettings before = settings;
    try {
      configure(conf);
      if (!before.toString().equals(settings.toString())) {
        LOG.info("Prefetch settings changed to {}", settings);
      }
    } catch (IllegalArgumentException e) {
      LOG.error("{} Until then prefetch keeps {}.", e.getMessage(), before);
    }
  }

  private static Comparator<ScheduledPrefetch> inOrder(PrefetchSettings settings) {
    Comparator<ScheduledPrefetch> byPosition =
      Comparator.comparingLong(prefetch -> prefetch.position);
    if (settings.order() == PrefetchSettings.Order.REQUEST) {
      return byPosition;
    }
    // The phase of a queued file does not change.
    return Comparator.comparing((ScheduledPrefetch prefetch) -> prefetch.file().phase())
      .thenComparing(Comparator.comparingLong(ScheduledPrefetch::created).reversed())
      .thenComparing(byPosition);
  }

  /**
   * Schedules the prefetch of a file by the threads of a pool.
   * @param delay time until the file is queued, in milliseconds
   * @return completes with the prefetch of the file; cancelling it cancels the prefetch of this
   *         file only
   */
  public Future<?> schedule(ScheduledExecutorService pool, FilePrefetch file, long delay) {
    ScheduledPrefetch prefetch = new ScheduledPrefetch(this, file, pool);
    file.setPace(prefetch);
    progress.begun(file);
    Runnable next = TraceUtil.tracedRunnable(() -> runNext(pool), "PrefetchExecutor.request");
    try {
      // The lock keeps it from running before the delay of its future is set.
      synchronized (lock) {
        // The clock adds the file: even while all threads are busy, the queue must contain all
        // waiting files.
        prefetch.setDelay(clock.schedule(() -> {
          synchronized (lock) {
            prefetch.position = nextPosition++;
            ready.add(prefetch);
          }
          execute(pool, next);
        }, delay, TimeUnit.MILLISECONDS));
      }
    } catch (RuntimeException e) {
      progress.ended(file, false);
      throw e;
    }
    return prefetch;
  }

  /** Returns whether a future was returned by {@link #schedule}. */
  public static boolean isScheduled(Future<?> future) {
    return future instanceof ScheduledPrefetch;
  }

  /** Performs one phase of the next file. */
  private void runNext(ScheduledExecutorService pool) {
    ScheduledPrefetch next = take(FilePrefetch.Phase.DATA);
    if (next != null) {
      runPhase(next);
    }
  }

  /**
   * Takes the next file whose blocks no other thread is prefetching.
   * @param last the last acceptable phase
   * @return null if there is none
   */
  private ScheduledPrefetch take(FilePrefetch.Phase last) {
    synchronized (lock) {
      List<ScheduledPrefetch> passed = new ArrayList<>();
      ScheduledPrefetch next = ready.poll();
      while (next != null && isHeldUp(next)) {
        lookAgainFor(next);
        passed.add(next);
        next = ready.poll();
      }
      if (next != null && next.file().phase().compareTo(last) > 0) {
        passed.add(next);
        next = null;
      }
      ready.addAll(passed);
      if (next != null) {
        running.add(next);
      }
      return next;
    }
  }

  private boolean isHeldUp(ScheduledPrefetch prefetch) {
    for (ScheduledPrefetch other : running) {
      if (other.file().hasBlocksOf(prefetch.file()) && !isOverdue(other)) {
        return true;
      }
    }
    return false;
  }

  private boolean isOverdue(ScheduledPrefetch prefetch) {
    long nanos = prefetch.file().readNanos();
    if (nanos < overdueNanos) {
      return false;
    }
    if (!prefetch.overdue) {
      prefetch.overdue = true;
      progress.isReadOverdue();
      LOG.warn("A read of {} has been in progress for {} ms; files with the same blocks no longer "
        + "wait for it", prefetch.file().path(), TimeUnit.NANOSECONDS.toMillis(nanos));
    }
    return true;
  }

  /**
   * Schedules another check for a blocked file: the thread meant for it is gone, and a hanging read
   * wakes no thread.
   */
  private void lookAgainFor(ScheduledPrefetch prefetch) {
    if (!lookDue) {
      lookDue = true;
      clock.schedule(() -> {
        synchronized (lock) {
          lookDue = false;
        }
        execute(prefetch.pool(), () -> runNext(prefetch.pool()));
      }, overdueNanos / LOOKS, TimeUnit.NANOSECONDS);
    }
  }

  private void runPhase(ScheduledPrefetch prefetch) {
    boolean more = false;
    try {
      more = prefetch.runPhase();
    } finally {
      boolean any;
      synchronized (lock) {
        running.remove(prefetch);
        if (more) {
          ready.add(prefetch);
        }
        any = !ready.isEmpty();
      }
      if (any) {
        // A file that was blocked needs this, too: the thread meant for it found no work.
        execute(prefetch.pool(), () -> runNext(prefetch.pool()));
      }
    }
  }

  private void execute(ScheduledExecutorService pool, Runnable runnable) {
    try {
      pool.execute(runnable);
    } catch (RejectedExecutionException e) {
      LOG.warn("No more files are prefetched: the prefetch threads have been shut down");
    }
  }

  /** Waits as configured. The thread holds no block and no lock. */
  void beforeRead(ScheduledPrefetch prefetch, int bytes) throws InterruptedException {
    if (prefetch.file().phase() == FilePrefetch.Phase.DATA) {
      prefetchMetaOfOthers(prefetch);
    }
    awaitWriters(prefetch);
    rate.acquire(bytes, prefetch::isCancelled);
  }

  private void prefetchMetaOfOthers(ScheduledPrefetch prefetch) throws InterruptedException {
    while (settings.order() == PrefetchSettings.Order.NEWEST) {
      ScheduledPrefetch other = take(FilePrefetch.Phase.META);
      if (other == null) {
        return;
      }
      prefetch.leave();
      // The interrupt may be for a read that has ended; it is not meant for the other file.
      boolean interrupted = Thread.interrupted();
      try {
        runPhase(other);
      } finally {
        if (!prefetch.enter() || interrupted) {
          throw new InterruptedException("Prefetch was cancelled");
        }
      }
    }
  }

  private void awaitWriters(ScheduledPrefetch prefetch) throws InterruptedException {
    BlockCache cache = prefetch.file().blockCache();
    if (!isBehind(cache)) {
      return;
    }
    long start = System.nanoTime();
    long waited = 0;
    do {
      Thread.sleep(QUEUE_POLL_MILLIS);
      if (prefetch.isCancelled()) {
        throw new InterruptedException("Cancelled while waiting for the writers of the cache");
      }
      waited = System.nanoTime() - start;
    } while (isBehind(cache) && waited < TimeUnit.SECONDS.toNanos(QUEUE_WAIT_SECONDS));
    progress.waitedForWriters(waited);
  }

  private boolean isBehind(BlockCache cache) {
    double max = settings.queueMax();
    return max < 1 && WriterQueues.fill(cache) > max;
  }

  void cancelled(ScheduledPrefetch prefetch, boolean running) {
    synchronized (lock) {
      ready.remove(prefetch);
    }
    rate.wake();
    if (running) {
      clock.schedule(prefetch::interrupt, graceMillis, TimeUnit.MILLISECONDS);
    }
  }

  void ended(ScheduledPrefetch prefetch) {
    progress.ended(prefetch.file(), prefetch.isCancelled());
  }

  /** Returns the files whose delay is over and that no thread is prefetching, in order. */
  List<FilePrefetch> waiting() {
    List<FilePrefetch> files = new ArrayList<>();
    synchronized (lock) {
      PriorityQueue<ScheduledPrefetch> copy = new PriorityQueue<>(ready);
      while (!copy.isEmpty()) {
        files.add(copy.poll().file());
      }
    }
    return files;
  }
}
