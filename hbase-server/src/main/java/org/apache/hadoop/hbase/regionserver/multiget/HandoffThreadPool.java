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
 * A thread pool for work that is useful only if it starts soon. A sleeping thread is handed its
 * work directly, and the thread that went to sleep last is used first, since it wakes up soonest
 * and lets the others reach their keep-alive time. With an executor's queue, the threads would wake
 * one after the other, each signalled by the previous one. A thread can be woken up in advance when
 * work is expected. Thread-safe.
 */
@InterfaceAudience.Private
final class HandoffThreadPool {
  private static final Logger LOG = LoggerFactory.getLogger(HandoffThreadPool.class);

  /** Pause after a thread could not be started, since a failed start takes time as well. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  /** Poll interval of a thread that is about to be handed work. */
  private static final long HANDOVER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  /** Handed to a thread to make it poll the queue. */
  private static final Runnable LOOK = () -> {
  };

  private final ThreadFactory factory;
  private final long keepAliveNanos;
  private final long expectNanos;
  private final ThreadMXBean times = ManagementFactory.getThreadMXBean();
  private final ConcurrentLinkedDeque<Worker> idle = new ConcurrentLinkedDeque<>();
  private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final Set<Worker> alive = ConcurrentHashMap.newKeySet();
  private final AtomicInteger count = new AtomicInteger();
  private final LongAdder failures = new LongAdder();
  /** Busy time of threads that have ended. */
  private final LongAdder endedBusyNanos = new LongAdder();
  private final LongAdder endedCpuNanos = new LongAdder();
  private volatile int most;
  private volatile boolean stopped;
  private volatile boolean failing;
  private volatile long retryTime;

  /**
   * @param most           maximum number of threads, which are started on demand
   * @param keepAliveNanos idle time after which a thread ends
   * @param expectNanos    how long a thread stays awake for expected work
   */
  HandoffThreadPool(ThreadFactory factory, int most, long keepAliveNanos, long expectNanos) {
    this.factory = factory;
    this.most = most;
    this.keepAliveNanos = keepAliveNanos;
    this.expectNanos = expectNanos;
  }

  /** Changes the maximum number of threads. Excess threads end after their work. */
  void setMax(int most) {
    this.most = most;
    wakeAll();
  }

  /** Stops the threads after their current work. */
  void stop() {
    stopped = true;
    wakeAll();
  }

  private void wakeAll() {
    for (Worker each : idle) {
      LockSupport.unpark(each.thread);
    }
  }

  /**
   * Executes work in a thread: immediately, or after its current work if all threads are busy.
   * @param work must not throw; if it does, the exception is logged
   * @return false if no thread will execute it, because the pool is stopped or the system has no
   *         more threads; no thread will either if this method throws
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
    // Threads that have ended, or have become idle, since the check above.
    if ((stopped || count.get() < most) && waiting.remove(work)) {
      return start(work);
    }
    handOver(LOOK);
    return true;
  }

  /**
   * Wakes up the thread that would be handed the next work, in advance.
   * @return false if no thread sleeps
   */
  boolean expectWork() {
    Worker worker = idle.peekFirst();
    if (worker == null) {
      return false;
    }
    worker.awakeUntil = System.nanoTime() + expectNanos;
    worker.wakeUp();
    return true;
  }

  private boolean handOver(Runnable work) {
    Worker worker = idle.pollFirst();
    if (worker == null) {
      return false;
    }
    worker.handed = work;
    worker.wakeUp();
    return true;
  }

  private boolean start(Runnable work) {
    if (stopped || failing && System.nanoTime() - retryTime < 0) {
      return false;
    }
    count.incrementAndGet();
    Worker worker = null;
    try {
      worker = new Worker(work);
      worker.thread = factory.newThread(worker);
      alive.add(worker);
      worker.thread.start();
    } catch (Throwable e) {
      // The JVM reports with an OutOfMemoryError that the system refuses a thread.
      count.decrementAndGet();
      if (worker != null) {
        alive.remove(worker);
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
      LOG.warn("Cannot start a multiget thread; handlers serve the gets alone. Check {} "
        + "and the system's limits of processes and threads", MultigetSettings.THREADS_KEY, cause);
    }
  }

  /** Returns whether there is work that no thread has started. */
  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Returns the number of threads. */
  int count() {
    return count.get();
  }

  /** Returns the number of failed attempts to start a thread. */
  long failures() {
    return failures.sum();
  }

  /** Returns the total busy time of the threads, in nanoseconds. */
  long busyNanos() {
    long now = System.nanoTime();
    long sum = endedBusyNanos.sum();
    for (Worker each : alive) {
      sum += each.busyNanos(now);
    }
    return sum;
  }

  /** Returns the total processor time of the threads, in nanoseconds; -1 if unknown. */
  long cpuNanos() {
    if (!times.isThreadCpuTimeSupported() || !times.isThreadCpuTimeEnabled()) {
      return -1;
    }
    long sum = endedCpuNanos.sum();
    for (Worker each : alive) {
      // The time is negative for a thread that has just ended.
      sum += Math.max(0, times.getThreadCpuTime(each.thread.getId()));
    }
    return sum;
  }

  private final class Worker implements Runnable {
    private volatile Thread thread;
    /** The next work; null while the thread sleeps. */
    private volatile Runnable handed;
    /** Time until which the thread stays awake. */
    private volatile long awakeUntil = System.nanoTime();
    /** Whether the thread sleeps or is about to, so that it must be woken up. */
    private volatile boolean blocked;
    private volatile boolean busy;
    private volatile long busySince;
    /** Written only by its own thread. */
    private volatile long busyNanos;

    Worker(Runnable work) {
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
          // There was no memory to log the failure of its work.
          count.decrementAndGet();
        }
        alive.remove(this);
        endedBusyNanos.add(busyNanos);
        if (times.isThreadCpuTimeSupported()) {
          endedCpuNanos.add(times.getCurrentThreadCpuTime());
        }
      }
    }

    /** Performs work and catches its failures: a thread that ended with one would stay counted. */
    private void perform(Runnable work) {
      busySince = System.nanoTime();
      busy = true;
      try {
        work.run();
      } catch (Throwable e) {
        LOG.error("A multiget task has failed; its thread continues with the next", e);
      } finally {
        busy = false;
        busyNanos = busyNanos + System.nanoTime() - busySince;
      }
    }

    /**
     * Returns the next work; null if this thread must end, in which case it is no longer counted.
     */
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
          // A caller that has not seen this thread idle may have queued work.
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

    /**
     * Adds this thread to the idle ones. Returns false if there is no memory for that, so that it
     * must end.
     */
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

    /**
     * Sleeps until work is handed over. Returns null after the keep-alive time, when none will be.
     */
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
          // This yields to threads with work. Waits without a limit: until awakeUntil.
          Thread.yield();
          continue;
        }
        long left = end - now;
        if (unwanted || left <= 0) {
          if (idle.remove(this)) {
            return unwanted ? LOOK : null;
          }
          // A caller has removed this thread from the idle ones and is about to hand over work.
          left = HANDOVER_NANOS;
        }
        blocked = true;
        // These are checked after blocked is set; before that, the thread is not woken up.
        if (handed == null && now - awakeUntil >= 0) {
          LockSupport.parkNanos(this, left);
          // The close of a region may have interrupted the last get, which would prevent sleeping.
          Thread.interrupted();
        }
        blocked = false;
      }
    }

    void wakeUp() {
      if (blocked) {
        LockSupport.unpark(thread);
      }
    }

    private long busyNanos(long now) {
      long sum = busyNanos;
      return busy ? sum + Math.max(0, now - busySince) : sum;
    }
  }
}
