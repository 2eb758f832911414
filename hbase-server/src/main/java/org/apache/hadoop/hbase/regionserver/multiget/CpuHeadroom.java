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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * How many threads the processors have room for. What the JVM does beside these threads comes
 * first, and what other processes do: what is left of the processors is divided by the part of
 * their time that the threads have a processor, which is all of it when they read from memory, and
 * little when they wait for a device. One thread has room as long as the processors are not full,
 * however little is left: it does what a handler would have to do. Looks at the clocks every
 * {@value #PERIOD_MILLIS} ms, on the thread that asks. Thread-safe.
 */
@InterfaceAudience.Private
final class CpuHeadroom {
  static final int PERIOD_MILLIS = 100;

  /** What the processors may be used by; to the last, whatever comes next would have to wait. */
  private static final double FULL = 0.9;
  /** With less in use one thread has room, whatever is left; busy ones may look like 0.93. */
  private static final double NOT_FULL = 0.85;
  /** What the latest look counts for: a collection or a compilation is over at the next one. */
  private static final double WEIGHT = 0.4;
  /** So that threads that wait nearly all the time are not without limit. */
  private static final double MIN_SHARE = 0.005;
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS);

  /** Clocks, in nanoseconds. */
  interface Clocks {
    long now();

    /**
     * Returns what part of the processors' time all processes have used since this was last asked,
     * 0 to 1, or a negative number if that is not known.
     */
    double systemLoad();

    /** Returns the processor time of the JVM, or a negative number if that is not known. */
    long processCpu();

    /** Returns the processor time of the threads, or a negative number if that is not known. */
    long threadsCpu();

    /** Returns for how long the threads had something to do, all together. */
    long threadsBusy();
  }

  private final Clocks clocks;
  private final int processors;
  private final AtomicLong due;
  private volatile int room;

  // Guarded by this.
  private long lastTime;
  private long lastProcessCpu;
  private long lastThreadsCpu;
  private long lastThreadsBusy;
  /** Processors in use by whatever else there is. */
  private double others;
  /** Processors that the threads use. */
  private double own;
  /** The part of their time that the threads have a processor; all of it until more is known. */
  private double share = 1;

  CpuHeadroom(int processors, Clocks clocks) {
    this.processors = processors;
    this.clocks = clocks;
    lastTime = clocks.now();
    lastProcessCpu = clocks.processCpu();
    lastThreadsCpu = clocks.threadsCpu();
    lastThreadsBusy = clocks.threadsBusy();
    due = new AtomicLong(lastTime + PERIOD_NANOS);
    room = processors;
  }

  /** The room that this JVM's processors have for some threads. */
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
    });
  }

  /**
   * Returns how many threads may be at work at a time, those that are included.
   * {@link Integer#MAX_VALUE} if the JVM does not say what it uses.
   */
  int threads() {
    long now = clocks.now();
    long time = due.get();
    if (now - time >= 0 && due.compareAndSet(time, now + PERIOD_NANOS)) {
      look(now);
    }
    return room;
  }

  /**
   * As {@link #threads} for threads that wait for a device: one for each processor, at least. So
   * few are no burden when there is no room, and show how much room they need.
   */
  int threadsThatWait() {
    return Math.max(processors, threads());
  }

  private synchronized void look(long now) {
    long processCpu = clocks.processCpu();
    long threadsCpu = clocks.threadsCpu();
    if (processCpu < 0 || threadsCpu < 0) {
      room = Integer.MAX_VALUE;
      return;
    }
    long threadsBusy = clocks.threadsBusy();
    double time = Math.max(1, now - lastTime);
    double cpu = Math.max(0, threadsCpu - lastThreadsCpu);
    double busy = Math.max(0, threadsBusy - lastThreadsBusy);
    // NaN if the JVM could not find out, which is no load.
    double everyone = clocks.systemLoad() * processors * time;
    double used = Math.max(processCpu - lastProcessCpu, everyone > 0 ? everyone : 0);
    double latestOthers = Math.max(0, used - cpu) / time;
    others += (latestOthers - others) * WEIGHT;
    own += (cpu / time - own) * WEIGHT;
    // A hundredth of the time says something about what they do.
    if (busy > time / 100) {
      double latestShare = Math.max(MIN_SHARE, Math.min(1, cpu / busy));
      share += (latestShare - share) * WEIGHT;
    }
    long left = Math.round(Math.max(0, FULL * processors - others) / share);
    room = (int) Math.max(left, others + own < NOT_FULL * processors ? 1 : 0);
    lastTime = now;
    lastProcessCpu = processCpu;
    lastThreadsCpu = threadsCpu;
    lastThreadsBusy = threadsBusy;
  }
}
