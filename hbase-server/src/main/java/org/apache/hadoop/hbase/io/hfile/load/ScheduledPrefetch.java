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

import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A file in the queue of {@link PrefetchScheduler}, and the future that {@link PrefetchExecutor}
 * holds. It completes when the prefetch of the file ends, and cancelling it cancels the prefetch,
 * whichever thread runs it. Thread-safe.
 */
@InterfaceAudience.Private
final class ScheduledPrefetch implements ScheduledFuture<Void>, FilePrefetch.Pace {

  private final PrefetchScheduler scheduler;
  private final FilePrefetch file;
  private final ScheduledExecutorService pool;
  private final long created;
  private final CountDownLatch end = new CountDownLatch(1);
  private ScheduledFuture<?> delay;
  /** Position among the files whose delay is over; guarded by the queue's lock. */
  long position;
  /** Whether one of its reads was found to be overdue; guarded by the queue's lock. */
  boolean overdue;

  private volatile boolean cancelled;
  private Thread runner;
  private boolean ended;

  ScheduledPrefetch(PrefetchScheduler scheduler, FilePrefetch file, ScheduledExecutorService pool) {
    this.scheduler = scheduler;
    this.file = file;
    this.pool = pool;
    this.created = file.created();
  }

  void setDelay(ScheduledFuture<?> delay) {
    this.delay = delay;
  }

  FilePrefetch file() {
    return file;
  }

  ScheduledExecutorService pool() {
    return pool;
  }

  /** Returns the creation time of the file, in milliseconds since 1970. */
  long created() {
    return created;
  }

  @Override
  public void beforeRead(FilePrefetch prefetch, int bytes) throws InterruptedException {
    scheduler.beforeRead(this, bytes);
  }

  /** Performs the next phase in this thread. Returns whether another is left. */
  boolean runPhase() {
    if (!enter()) {
      return false;
    }
    boolean more = false;
    try {
      more = file.runPhase();
    } finally {
      leave();
      // An interrupt that was meant for this file must not affect the next.
      Thread.interrupted();
      if (!more || cancelled) {
        more = false;
        end();
      }
    }
    return more;
  }

  /** Sets this thread as the one to interrupt. Returns false if it was cancelled before. */
  synchronized boolean enter() {
    if (!cancelled) {
      runner = Thread.currentThread();
    }
    return !cancelled;
  }

  synchronized void leave() {
    runner = null;
  }

  private void end() {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
    }
    scheduler.ended(this);
    end.countDown();
    if (!cancelled) {
      PrefetchExecutor.complete(file.path());
    }
  }

  /**
   * Stops the prefetch before the next block; immediately if it waits to read. A read in progress
   * may continue for {@link PrefetchScheduler#GRACE_MILLIS}: interrupting it closes channels that
   * other readers may share.
   */
  @Override
  public boolean cancel(boolean mayInterrupt) {
    boolean running;
    synchronized (this) {
      if (cancelled || ended) {
        return false;
      }
      cancelled = true;
      running = runner != null;
    }
    file.cancel();
    delay.cancel(false);
    scheduler.cancelled(this, running && mayInterrupt);
    if (!running) {
      end();
    }
    return true;
  }

  /** Interrupts the thread that runs it, if any. */
  synchronized void interrupt() {
    if (runner != null) {
      runner.interrupt();
    }
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public boolean isDone() {
    return cancelled || end.getCount() == 0;
  }

  /** Waits for the end of the read in progress. Returns whether no thread reads for it any more. */
  boolean awaitEnd(long millis) throws InterruptedException {
    return end.await(millis, TimeUnit.MILLISECONDS);
  }

  @Override
  public Void get() throws InterruptedException {
    if (!cancelled) {
      // Waits without a limit: as Future specifies. The other get() has a limit.
      end.await();
    }
    return result();
  }

  @Override
  public Void get(long timeout, TimeUnit unit) throws InterruptedException, TimeoutException {
    if (!cancelled && !end.await(timeout, unit)) {
      throw new TimeoutException("Prefetch of " + file.path() + " has not ended");
    }
    return result();
  }

  private Void result() {
    if (cancelled) {
      throw new CancellationException("Prefetch of " + file.path() + " was cancelled");
    }
    return null;
  }

  @Override
  public long getDelay(TimeUnit unit) {
    return delay.getDelay(unit);
  }

  @Override
  public int compareTo(Delayed other) {
    return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
  }
}
