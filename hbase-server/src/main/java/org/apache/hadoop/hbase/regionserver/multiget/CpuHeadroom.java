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
import java.lang.management.OperatingSystemMXBean;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Computes how many more threads the processors can run. The load of the rest of the JVM and of
 * other processes takes precedence: the remaining processor capacity is divided by the threads' CPU
 * share, which is 1 when they read from memory, and small when they wait for a device. As long as
 * the processors are not saturated, at least one thread may run: it does work that a handler would
 * otherwise do. While it is asked, it has the clocks sampled every {@value #PERIOD_MILLIS} ms, in
 * another thread: the JVM reads files for it, and event loops ask. Thread-safe.
 */
@InterfaceAudience.Private
final class CpuHeadroom {
  static final int PERIOD_MILLIS = 100;

  /** Maximum utilization of the processors; beyond it, additional work would have to wait. */
  private static final double FULL = 0.9;
  /**
   * Utilization below which one thread is allowed in any case; saturated processors may show only
   * 0.93.
   */
  private static final double NOT_FULL = 0.85;
  /** Weight of the latest sample: a collection or a compilation is over by the next one. */
  private static final double WEIGHT = 0.4;
  /** Minimum CPU share, so that the number of threads that mostly wait is limited. */
  private static final double MIN_SHARE = 0.005;
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS);

  /** Clocks and processor times, in nanoseconds. */
  interface Clocks {
    long now();

    /**
     * Returns the fraction of the processors' time that all processes have used since the last
     * call, 0 to 1, or a negative number if it is not known.
     */
    double systemLoad();

    /** Returns the processor time of the JVM, or a negative number if it is not known. */
    long processCpu();

    /** Returns the processor time of the threads, or a negative number if it is not known. */
    long threadsCpu();

    /** Returns the total time for which the threads had work. */
    long threadsBusy();
  }

  private final Clocks clocks;
  private final int processors;
  private final Executor sampler;
  private final AtomicLong due;
  private volatile int threads;

  // Guarded by this.
  private long lastTime;
  private long lastProcessCpu;
  private long lastThreadsCpu;
  private long lastThreadsBusy;
  /** Processors used by everything except the threads. */
  private double others;
  /** Processors used by the threads. */
  private double own;
  /** CPU share: the fraction of the threads' busy time in which they run; 1 until measured. */
  private double share = 1;

  /** @param sampler samples the clocks */
  CpuHeadroom(int processors, Clocks clocks, Executor sampler) {
    this.processors = processors;
    this.sampler = sampler;
    this.clocks = clocks;
    lastTime = clocks.now();
    lastProcessCpu = clocks.processCpu();
    lastThreadsCpu = clocks.threadsCpu();
    lastThreadsBusy = clocks.threadsBusy();
    due = new AtomicLong(lastTime + PERIOD_NANOS);
    threads = processors;
  }

  /** Returns the headroom of this JVM's processors for some threads. */
  static CpuHeadroom of(HandoffThreadPool threads) {
    OperatingSystemMXBean bean = ManagementFactory.getOperatingSystemMXBean();
    com.sun.management.OperatingSystemMXBean system =
      bean instanceof com.sun.management.OperatingSystemMXBean
        ? (com.sun.management.OperatingSystemMXBean) bean
        : null;
    return new CpuHeadroom(Runtime.getRuntime().availableProcessors(), new Clocks() {
      @Override
      public long now() {
        return System.nanoTime();
      }

      @Override
      public double systemLoad() {
        return system == null ? -1 : system.getSystemCpuLoad();
      }

      @Override
      public long processCpu() {
        return system == null ? -1 : system.getProcessCpuTime();
      }

      @Override
      public long threadsCpu() {
        return threads.cpuNanos();
      }

      @Override
      public long threadsBusy() {
        return threads.busyNanos();
      }
    }, ForkJoinPool.commonPool());
  }

  /**
   * Returns the number of threads that may work concurrently, including those that do already.
   * {@link Integer#MAX_VALUE} if the JVM does not report its processor time.
   */
  int threads() {
    long now = clocks.now();
    long time = due.get();
    if (now - time >= 0 && due.compareAndSet(time, now + PERIOD_NANOS)) {
      sampler.execute(() -> look(now));
    }
    return threads;
  }

  /**
   * Returns the number of threads that may work concurrently if they wait for a device:
   * {@link #threads}, but at least one per processor. So few add little load without headroom,
   * and their CPU share can be measured.
   */
  int threadsThatWait() {
    return Math.max(processors, threads());
  }

  private synchronized void look(long now) {
    long processCpu = clocks.processCpu();
    long threadsCpu = clocks.threadsCpu();
    if (processCpu < 0 || threadsCpu < 0) {
      threads = Integer.MAX_VALUE;
      return;
    }
    long threadsBusy = clocks.threadsBusy();
    double time = Math.max(1, now - lastTime);
    double cpu = Math.max(0, threadsCpu - lastThreadsCpu);
    double busy = Math.max(0, threadsBusy - lastThreadsBusy);
    // The load is NaN, which is treated as none, if the JVM could not determine it.
    double everyone = clocks.systemLoad() * processors * time;
    double used = Math.max(processCpu - lastProcessCpu, everyone > 0 ? everyone : 0);
    double latestOthers = Math.max(0, used - cpu) / time;
    others += (latestOthers - others) * WEIGHT;
    own += (cpu / time - own) * WEIGHT;
    // A share is measured only if the threads were busy for a hundredth of the time.
    if (busy > time / 100) {
      double latestShare = Math.max(MIN_SHARE, Math.min(1, cpu / busy));
      share += (latestShare - share) * WEIGHT;
    }
    long left = Math.round(Math.max(0, FULL * processors - others) / share);
    threads = (int) Math.max(left, others + own < NOT_FULL * processors ? 1 : 0);
    lastTime = now;
    lastProcessCpu = processCpu;
    lastThreadsCpu = threadsCpu;
    lastThreadsBusy = threadsBusy;
  }
}
