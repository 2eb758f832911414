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
package org.apache.hadoop.hbase.ipc;

import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Handlers that have nothing to do, and the calls that wait for one of them to wake up. No more are
 * being woken at a time than half as many as there are processors.
 * <p>
 * Without this each call wakes a handler of its own. Where processors are busy such a handler waits
 * for one beside all others that were woken, and each takes its turn for a single call. Here
 * handlers that are awake take the calls, and one is woken for those that none took by then: it
 * wakes the next if more calls are left, before it begins with its own. So a call that waits for a
 * disk holds up no other: as long as calls are here and handlers sleep, one is waking up.
 * <p>
 * A call is accepted only if there is a handler without a call that no other call counts on. Those
 * accepted begin in the order in which they came. Thread-safe. What it did is in JMX under
 * <code>Hadoop:service=HBase,name=RegionServer,sub=Handlers</code>, of all executors of the
 * process.
 */
@InterfaceAudience.Private
final class IdleHandlers {
  private final boolean throttled;
  private final int maxWaking;
  /** Asleep, the last one first: its caches are the warmest. */
  private final Deque<Handler> sleeping = new ConcurrentLinkedDeque<>();
  private final Queue<CallRunner> calls = new ConcurrentLinkedQueue<>();
  /** Handlers without a call, less calls that wait for one. Below zero for a moment at most. */
  private final AtomicInteger free = new AtomicInteger();
  /** Handlers that were woken and have not looked for a call yet. */
  private final AtomicInteger waking = new AtomicInteger();

  private IdleHandlers(boolean throttled, int maxWaking) {
    this.throttled = throttled;
    this.maxWaking = maxWaking;
  }

  /** @throws IllegalArgumentException if a setting cannot work */
  static IdleHandlers of(Configuration conf) {
    return new IdleHandlers(WakeupThrottlingSettings.of(conf).isEnabled(),
      Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
  }

  /** Whether handlers are to be made by this class, and calls given to it. */
  boolean areThrottled() {
    return throttled;
  }

  /** A handler that takes calls from here and from its queue. */
  RpcHandler newHandler(String name, double failureThreshold, int handlerCount,
    BlockingQueue<CallRunner> queue, AtomicInteger active, AtomicInteger failed,
    Abortable abortable) {
    return new Handler(name, failureThreshold, handlerCount, queue, active, failed, abortable);
  }

  /**
   * Has an idle handler run a call.
   * @return false, if there is none
   */
  boolean run(CallRunner call) {
    int idle;
    do {
      idle = free.get();
      if (idle <= 0) {
        return false;
      }
    } while (!free.compareAndSet(idle, idle - 1));
    calls.add(call);
    Counters.INSTANCE.calls.increment();
    wakeOne();
    return true;
  }

  /** Wakes a handler, unless as many as may are on their way. */
  private void wakeOne() {
    do {
      int on = waking.get();
      if (on >= maxWaking) {
        return;
      }
      if (waking.compareAndSet(on, on + 1)) {
        Handler handler = sleeping.poll();
        if (handler != null) {
          handler.wake();
          return;
        }
        // Who has gone to sleep since, and relied on this one to wake somebody, is seen below.
        waking.decrementAndGet();
      }
    } while (!calls.isEmpty() && !sleeping.isEmpty());
  }

  static long calls() {
    return Counters.INSTANCE.calls.sum();
  }

  static long wakeUps() {
    return Counters.INSTANCE.wakeUps.sum();
  }

  static long vainWakeUps() {
    return Counters.INSTANCE.vainWakeUps.sum();
  }

  /**
   * To be called when no handler took a call and it was put into a queue: wakes the handler of that
   * queue that went to sleep meanwhile.
   * @return whether the call was put into the queue
   */
  boolean queued(boolean accepted) {
    if (accepted && free.get() > 0) {
      for (Handler handler : sleeping) {
        if (!handler.q.isEmpty() && sleeping.remove(handler)) {
          waking.incrementAndGet();
          handler.wake();
        }
      }
    }
    return accepted;
  }

  private final class Handler extends RpcHandler {
    private final Semaphore awake = new Semaphore(0);
    /** Whether this one sleeps, or was woken and has no call yet. For its own thread. */
    private boolean idle;

    Handler(String name, double failureThreshold, int handlerCount, BlockingQueue<CallRunner> queue,
      AtomicInteger active, AtomicInteger failed, Abortable abortable) {
      super(name, failureThreshold, handlerCount, queue, active, failed, abortable);
    }

    void wake() {
      Counters.INSTANCE.wakeUps.increment();
      awake.release();
    }

    @Override
    protected CallRunner getCallRunner() throws InterruptedException {
      // One that was interrupted in its sleep is idle already, and must not be counted twice.
      if (!idle) {
        CallRunner call = q.poll();
        if (call != null) {
          return call;
        }
        call = calls.poll();
        if (call != null) {
          // The handler that this call was to have is free again.
          free.incrementAndGet();
          // What the last call was interrupted for is none of this one's.
          Thread.interrupted();
          return call;
        }
        idle = true;
        sleeping.push(this);
        free.incrementAndGet();
      }
      while (true) {
        // Calls may have come since this one last looked, and have found nobody to wake.
        if (!calls.isEmpty()) {
          wakeOne();
        }
        if (q.isEmpty() || !sleeping.remove(this)) {
          awake.acquire();
          waking.decrementAndGet();
        }
        CallRunner call = q.poll();
        if (call != null) {
          free.decrementAndGet();
        } else {
          call = calls.poll();
        }
        if (call != null) {
          idle = false;
          if (!calls.isEmpty()) {
            wakeOne();
          }
          return call;
        }
        Counters.INSTANCE.vainWakeUps.increment();
        sleeping.push(this);
      }
    }
  }

  /** Of all executors. */
  private static final class Counters {
    static final Counters INSTANCE = new Counters();

    private final LongAdder calls = new LongAdder();
    private final LongAdder wakeUps = new LongAdder();
    private final LongAdder vainWakeUps = new LongAdder();

    Counters() {
      MetricRegistry registry = MetricRegistries.global()
        .create(new MetricRegistryInfo("Handlers", "Handlers that were woken for calls",
          "RegionServer,sub=Handlers", "regionserver", false));
      registry.register("IdleHandlerCallCount", (Gauge<Long>) calls::sum);
      registry.register("HandlerWakeUpCount", (Gauge<Long>) wakeUps::sum);
      registry.register("VainHandlerWakeUpCount", (Gauge<Long>) vainWakeUps::sum);
    }
  }
}
