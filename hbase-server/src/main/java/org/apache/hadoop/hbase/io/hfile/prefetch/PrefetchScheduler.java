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
package org.apache.hadoop.hbase.io.hfile.prefetch;

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
import org.apache.hadoop.hbase.io.hfile.ByteRateLimiter;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.bucket.WriterQueues;
import org.apache.hadoop.hbase.trace.TraceUtil;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.ThreadFactoryBuilder;

/**
 * Which file the threads of {@link PrefetchExecutor} warm next, and how fast they may read. There
 * is one of it in a process, as of that. Thread-safe.
 * <p>
 * A thread does one phase of one file and then whatever comes first. Under
 * {@link PrefetchSettings.Order#NEWEST} a thread that warms data looks before each read whether a
 * file has come whose index and bloom blocks are wanted, and does those in between: at that moment
 * it holds no block. Data is not put off for newer data once it is being read.
 * <p>
 * Files that have their blocks under the same keys of one cache are warmed one after the other, so
 * that the later ones find what the first has read: the two daughters of a split, links to one file
 * in several clones, a region and its replica. They wait no longer for a file of which one read has
 * been under way for {@value #OVERDUE_SECONDS} s: it may hang in HDFS, and is counted and logged.
 */
@InterfaceAudience.Private
public final class PrefetchScheduler {
  private static final Logger LOG = LoggerFactory.getLogger(PrefetchScheduler.class);

  /** How long a read that is under way may go on after it was cancelled, in milliseconds. */
  static final long GRACE_MILLIS = 50;
  /** How often a full writer queue is looked at, in milliseconds. */
  private static final long QUEUE_POLL_MILLIS = 5;
  /** How long a read waits for the writers at most, in seconds: they may be stuck. */
  static final long QUEUE_WAIT_SECONDS = 10;
  /**
   * From when on a read holds up no other file, in seconds: HDFS waits as long for a DataNode that
   * does not answer before it reads from another.
   */
  static final long OVERDUE_SECONDS = 60;
  /** How often it is looked within that time whether a file is held up no longer. */
  private static final int LOOKS = 4;

  private static final PrefetchScheduler INSTANCE = new PrefetchScheduler();
  /** What makes up for waits that end late, in milliseconds of the limit. */
  private static final long BURST_MILLIS = 20;

  private final Object lock = new Object();
  /** Files whose delay is over and that no thread works on; guarded by {@link #lock}. */
  private PriorityQueue<ScheduledPrefetch> ready =
    new PriorityQueue<>(inOrder(PrefetchSettings.NONE));
  /** What threads work on; guarded by {@link #lock}. */
  private final List<ScheduledPrefetch> running = new ArrayList<>();
  private long turns;
  /** Whether it will be looked again who is held up; guarded by {@link #lock}. */
  private boolean lookDue;
  private final long overdueNanos;
  private volatile PrefetchSettings settings = PrefetchSettings.NONE;
  private final ByteRateLimiter rate = new ByteRateLimiter(BURST_MILLIS);
  private final ScheduledThreadPoolExecutor clock;
  private final PrefetchProgress progress;

  PrefetchScheduler() {
    this(TimeUnit.SECONDS.toNanos(OVERDUE_SECONDS));
  }

  PrefetchScheduler(long overdueNanos) {
    this.overdueNanos = overdueNanos;
    clock = new ScheduledThreadPoolExecutor(1,
      new ThreadFactoryBuilder().setNameFormat("hfile-prefetch-clock").setDaemon(true).build());
    clock.setRemoveOnCancelPolicy(true);
    clock.setKeepAliveTime(1, TimeUnit.MINUTES);
    clock.allowCoreThreadTimeOut(true);
    progress = new PrefetchProgress(clock, System::nanoTime, rate::getLimit);
  }

  /** Returns that of the process. */
  public static PrefetchScheduler get() {
    return INSTANCE;
  }

  /** Returns what has been done and is left to do. */
  public PrefetchProgress progress() {
    return progress;
  }

  public PrefetchSettings settings() {
    return settings;
  }

  /**
   * Takes the settings over; they hold at once, for reads that wait too.
   * @throws IllegalArgumentException if one is wrong, in words for an operator; none is changed
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

  /** Takes changed settings over; says so, and leaves all as it was, if one is wrong. */
  public void onConfigurationChange(Configuration conf) {
    PrefetchSettings before = settings;
    try {
      configure(conf);
      if (!before.toString().equals(settings.toString())) {
        LOG.info("Warm-up goes on with {}", settings);
      }
    } catch (IllegalArgumentException e) {
      LOG.error("{} Until then warm-up goes on with {}.", e.getMessage(), before);
    }
  }

  private static Comparator<ScheduledPrefetch> inOrder(PrefetchSettings settings) {
    Comparator<ScheduledPrefetch> byTurn = Comparator.comparingLong(warmUp -> warmUp.turn);
    if (settings.order() == PrefetchSettings.Order.REQUEST) {
      return byTurn;
    }
    // The phase of a file that is in the queue does not change.
    return Comparator.comparing((ScheduledPrefetch warmUp) -> warmUp.file().phase())
      .thenComparing(Comparator.comparingLong(ScheduledPrefetch::created).reversed())
      .thenComparing(byTurn);
  }

  /**
   * Has a file warmed by the threads of a pool.
   * @param delay until it takes part in the order, in milliseconds
   * @return done when the file is; cancelling it ends the warm-up of this file only
   */
  public Future<?> schedule(ScheduledExecutorService pool, FilePrefetch file, long delay) {
    ScheduledPrefetch warmUp = new ScheduledPrefetch(this, file, pool);
    file.setPace(warmUp);
    progress.begun(warmUp);
    Runnable next = TraceUtil.tracedRunnable(() -> runNext(pool), "PrefetchExecutor.request");
    try {
      // Under the lock, so that it does not run before its future knows its delay.
      synchronized (lock) {
        // By the clock: while all threads are busy the order has to know who waits.
        warmUp.setDelay(clock.schedule(() -> {
          synchronized (lock) {
            warmUp.turn = turns++;
            ready.add(warmUp);
          }
          execute(pool, next);
        }, delay, TimeUnit.MILLISECONDS));
      }
    } catch (RuntimeException e) {
      progress.ended(warmUp);
      throw e;
    }
    return warmUp;
  }

  /** Whether a future is of {@link #schedule}. */
  public static boolean isScheduled(Future<?> future) {
    return future instanceof ScheduledPrefetch;
  }

  /** Does one phase of whatever comes first. */
  private void runNext(ScheduledExecutorService pool) {
    ScheduledPrefetch next = take(FilePrefetch.Phase.DATA);
    if (next != null) {
      runPhase(next);
    }
  }

  /**
   * Takes over what comes first of those whose blocks nobody is warming.
   * @param last the last phase that is wanted
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

  private boolean isHeldUp(ScheduledPrefetch warmUp) {
    for (ScheduledPrefetch other : running) {
      if (other.file().hasBlocksOf(warmUp.file()) && !isOverdue(other)) {
        return true;
      }
    }
    return false;
  }

  private boolean isOverdue(ScheduledPrefetch warmUp) {
    long nanos = warmUp.file().readNanos();
    if (nanos < overdueNanos) {
      return false;
    }
    if (!warmUp.overdue) {
      warmUp.overdue = true;
      progress.isReadOverdue();
      LOG.warn("A read of {} has been under way for {} ms; files with the same blocks do not wait "
        + "for it any more", warmUp.file().path(), TimeUnit.NANOSECONDS.toMillis(nanos));
    }
    return true;
  }

  /** The thread meant for a file that is held up has gone, and a read that hangs wakes nobody. */
  private void lookAgainFor(ScheduledPrefetch warmUp) {
    if (!lookDue) {
      lookDue = true;
      clock.schedule(() -> {
        synchronized (lock) {
          lookDue = false;
        }
        execute(warmUp.pool(), () -> runNext(warmUp.pool()));
      }, overdueNanos / LOOKS, TimeUnit.NANOSECONDS);
    }
  }

  private void runPhase(ScheduledPrefetch warmUp) {
    boolean more = false;
    try {
      more = warmUp.runPhase();
    } finally {
      boolean any;
      synchronized (lock) {
        running.remove(warmUp);
        if (more) {
          ready.add(warmUp);
        }
        any = !ready.isEmpty();
      }
      if (any) {
        // Also for one that was held up: the thread meant for it has found nothing to do.
        execute(warmUp.pool(), () -> runNext(warmUp.pool()));
      }
    }
  }

  private void execute(ScheduledExecutorService pool, Runnable runnable) {
    try {
      pool.execute(runnable);
    } catch (RejectedExecutionException e) {
      LOG.warn("No more files are warmed: the threads for it have been shut down");
    }
  }

  /** Waits as the settings say. The thread holds no block and no lock. */
  void beforeRead(ScheduledPrefetch warmUp, int bytes) throws InterruptedException {
    if (warmUp.file().phase() == FilePrefetch.Phase.DATA) {
      prefetchMetaOfOthers(warmUp);
    }
    awaitWriters(warmUp);
    rate.acquire(bytes, warmUp::isCancelled);
  }

  private void prefetchMetaOfOthers(ScheduledPrefetch warmUp) throws InterruptedException {
    while (settings.order() == PrefetchSettings.Order.NEWEST) {
      ScheduledPrefetch other = take(FilePrefetch.Phase.META);
      if (other == null) {
        return;
      }
      warmUp.leave();
      // That of a read which has ended nevertheless; it is not for the other file.
      boolean interrupted = Thread.interrupted();
      try {
        runPhase(other);
      } finally {
        if (!warmUp.enter() || interrupted) {
          throw new InterruptedException("Warm-up was cancelled");
        }
      }
    }
  }

  private void awaitWriters(ScheduledPrefetch warmUp) throws InterruptedException {
    BlockCache cache = warmUp.file().blockCache();
    if (!isBehind(cache)) {
      return;
    }
    long start = System.nanoTime();
    long waited = 0;
    do {
      Thread.sleep(QUEUE_POLL_MILLIS);
      if (warmUp.isCancelled()) {
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

  void cancelled(ScheduledPrefetch warmUp, boolean running) {
    synchronized (lock) {
      ready.remove(warmUp);
    }
    rate.wake();
    if (running) {
      clock.schedule(warmUp::interrupt, GRACE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  void ended(ScheduledPrefetch warmUp) {
    progress.ended(warmUp);
  }

  /** Returns the files whose delay is over and that no thread works on, the next one first. */
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
