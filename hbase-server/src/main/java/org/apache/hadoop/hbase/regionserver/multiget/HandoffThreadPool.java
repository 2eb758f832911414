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
package org.apache.hadoop.hbase.regionserver.multiget;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads for work that is worth something only if it begins soon. One that sleeps is handed its
 * work directly, and the one that went to sleep last is taken first, since it wakes up soonest and
 * leaves the others to end; from an executor's queue they would wake one after the other, each
 * called by the one before. It may be woken up ahead, when work is expected. Thread-safe.
 */
@InterfaceAudience.Private
final class HandoffThreadPool {
  private static final Logger LOG = LoggerFactory.getLogger(HandoffThreadPool.class);

  /** For how long no thread is started after one could not be, as a failure takes time as well. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  /** How often a thread that is about to be handed work looks whether it has come. */
  private static final long HANDOVER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  /** Handed to a thread that is to look for work among what waits. */
  private static final Runnable LOOK = () -> {
  };

  private final ThreadFactory factory;
  private final long keepAliveNanos;
  private final long expectNanos;
  private final ThreadMXBean times = ManagementFactory.getThreadMXBean();
  private final ConcurrentLinkedDeque<Helper> idle = new ConcurrentLinkedDeque<>();
  private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final Set<Helper> alive = ConcurrentHashMap.newKeySet();
  private final AtomicInteger count = new AtomicInteger();
  private final LongAdder failures = new LongAdder();
  /** Those of threads that have ended. */
  private final LongAdder endedBusyNanos = new LongAdder();
  private final LongAdder endedCpuNanos = new LongAdder();
  private volatile int most;
  private volatile boolean stopped;
  private volatile boolean failing;
  private volatile long retryTime;

  /**
   * @param most           how many threads there may be; they are started when there is work
   * @param keepAliveNanos how long a thread without work stays
   * @param expectNanos    how long a thread stays awake for work that is expected
   */
  HandoffThreadPool(ThreadFactory factory, int most, long keepAliveNanos, long expectNanos) {
    this.factory = factory;
    this.most = most;
    this.keepAliveNanos = keepAliveNanos;
    this.expectNanos = expectNanos;
  }

  /** Changes how many threads there may be. Those that are too many end after their work. */
  void setMax(int most) {
    this.most = most;
    wakeAll();
  }

  /** Ends the threads, after the work that they have. */
  void stop() {
    stopped = true;
    wakeAll();
  }

  private void wakeAll() {
    for (Helper each : idle) {
      LockSupport.unpark(each.thread);
    }
  }

  /**
   * Has a thread do some work: at once, or after what it is at if all have something to do.
   * @param work that throws nothing; if it does, that is logged
   * @return false if no thread will do it, as these are stopped or the system has no more threads;
   *         nor will one if this throws anything
   */
  boolean call(Runnable work) {
    if (stopped) {
      return false;
    }
    if (handOver(work)) {
      return true;
    }
    if (count.get() < most) {
      return start(work);
    }
    waiting.add(work);
    // Threads that have ended, or have gone to sleep, since they were looked for.
    if ((stopped || count.get() < most) && waiting.remove(work)) {
      return start(work);
    }
    handOver(LOOK);
    return true;
  }

  /**
   * Wakes up the thread that would be handed work next, as some is expected.
   * @return false if no thread sleeps
   */
  boolean expectWork() {
    Helper helper = idle.peekFirst();
    if (helper == null) {
      return false;
    }
    helper.awakeUntil = System.nanoTime() + expectNanos;
    helper.wakeUp();
    return true;
  }

  private boolean handOver(Runnable work) {
    Helper helper = idle.pollFirst();
    if (helper == null) {
      return false;
    }
    helper.handed = work;
    helper.wakeUp();
    return true;
  }

  private boolean start(Runnable work) {
    if (stopped || failing && System.nanoTime() - retryTime < 0) {
      return false;
    }
    count.incrementAndGet();
    Helper helper = null;
    try {
      helper = new Helper(work);
      helper.thread = factory.newThread(helper);
      alive.add(helper);
      helper.thread.start();
    } catch (Throwable e) {
      // An OutOfMemoryError, most likely: so the JVM says that the system refuses it a thread.
      count.decrementAndGet();
      if (helper != null) {
        alive.remove(helper);
      }
      hasFailed(e);
      return false;
    }
    failing = false;
    return true;
  }

  private void hasFailed(Throwable cause) {
    failures.increment();
    retryTime = System.nanoTime() + RETRY_NANOS;
    if (!failing) {
      failing = true;
      LOG.warn("No thread could be started to help with multigets, handlers do without; see {} "
        + "and the system's limits of processes and threads", MultigetSettings.THREADS_KEY, cause);
    }
  }

  /** Whether there is work that no thread has begun. */
  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Returns how many threads there are. */
  int count() {
    return count.get();
  }

  /** Returns how often a thread could not be started. */
  long failures() {
    return failures.sum();
  }

  /** Returns for how long the threads have been at work, all together, in nanoseconds. */
  long busyNanos() {
    long now = System.nanoTime();
    long sum = endedBusyNanos.sum();
    for (Helper each : alive) {
      sum += each.busyNanos(now);
    }
    return sum;
  }

  /** Returns the processor time that the threads have had, in nanoseconds; -1 if unknown. */
  long cpuNanos() {
    if (!times.isThreadCpuTimeSupported() || !times.isThreadCpuTimeEnabled()) {
      return -1;
    }
    long sum = endedCpuNanos.sum();
    for (Helper each : alive) {
      // Negative for a thread that has just ended.
      sum += Math.max(0, times.getThreadCpuTime(each.thread.getId()));
    }
    return sum;
  }

  private final class Helper implements Runnable {
    private volatile Thread thread;
    /** What it is to do next; null while it sleeps. */
    private volatile Runnable handed;
    /** Until when it does not sleep. */
    private volatile long awakeUntil = System.nanoTime();
    /** Whether it sleeps or is about to, so that it has to be woken up. */
    private volatile boolean asleep;
    private volatile boolean busy;
    private volatile long busySince;
    /** Written by its thread only. */
    private volatile long busyNanos;

    Helper(Runnable work) {
      handed = work;
    }

    @Override
    public void run() {
      boolean counted = true;
      try {
        for (Runnable work = handed; work != null; work = next()) {
          perform(work);
        }
        counted = false;
      } finally {
        if (counted) {
          // There was no memory to say that its work has failed.
          count.decrementAndGet();
        }
        alive.remove(this);
        endedBusyNanos.add(busyNanos);
        if (times.isThreadCpuTimeSupported()) {
          endedCpuNanos.add(times.getCurrentThreadCpuTime());
        }
      }
    }

    /** A failure is the work's: a thread that ended with it would be counted for good. */
    private void perform(Runnable work) {
      busySince = System.nanoTime();
      busy = true;
      try {
        work.run();
      } catch (Throwable e) {
        LOG.error("A thread has failed to help with a multiget; it goes on with the next", e);
      } finally {
        busy = false;
        busyNanos = busyNanos + System.nanoTime() - busySince;
      }
    }

    /** Returns null if this thread is to end, and is not counted any more. */
    private Runnable next() {
      while (true) {
        Runnable work = waiting.poll();
        if (work != null) {
          return work;
        }
        if (isTooMany()) {
          return null;
        }
        handed = null;
        if (becomeIdle()) {
          // What came since, from a caller that has not seen this thread idle.
          if (!waiting.isEmpty() && idle.remove(this)) {
            continue;
          }
          work = sleep();
        }
        if (work == null) {
          count.decrementAndGet();
          if (waiting.isEmpty()) {
            return null;
          }
          count.incrementAndGet();
        } else if (work != LOOK) {
          return work;
        }
      }
    }

    /** Returns false if there is no memory for it, so that this thread has to end. */
    private boolean becomeIdle() {
      try {
        idle.addFirst(this);
        return true;
      } catch (OutOfMemoryError e) {
        return false;
      }
    }

    private boolean isTooMany() {
      while (true) {
        int current = count.get();
        if (current <= most && !stopped) {
          return false;
        }
        if (count.compareAndSet(current, current - 1)) {
          return true;
        }
      }
    }

    /** Returns null if nothing came for a long time, and nothing will come. */
    private Runnable sleep() {
      long end = System.nanoTime() + keepAliveNanos;
      while (true) {
        Runnable work = handed;
        if (work != null) {
          return work;
        }
        long now = System.nanoTime();
        boolean unwanted = stopped || count.get() > most;
        if (!unwanted && now - awakeUntil < 0) {
          // Whoever has something to do comes first. Waits without a limit: until awakeUntil.
          Thread.yield();
          continue;
        }
        long left = end - now;
        if (unwanted || left <= 0) {
          if (idle.remove(this)) {
            return unwanted ? LOOK : null;
          }
          // Taken: it is about to be handed something.
          left = HANDOVER_NANOS;
        }
        asleep = true;
        // After it has said so, as it is not woken up otherwise.
        if (handed == null && now - awakeUntil >= 0) {
          LockSupport.parkNanos(this, left);
          // What the close of a region has left of its last get, which would keep it from sleeping.
          Thread.interrupted();
        }
        asleep = false;
      }
    }

    void wakeUp() {
      if (asleep) {
        LockSupport.unpark(thread);
      }
    }

    private long busyNanos(long now) {
      long sum = busyNanos;
      return busy ? sum + Math.max(0, now - busySince) : sum;
    }
  }
}
