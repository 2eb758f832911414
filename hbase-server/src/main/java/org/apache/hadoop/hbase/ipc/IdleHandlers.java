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
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
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
 * The handlers of an executor, or of its reads, writes or scans, and the calls that wait for one of
 * them. At most half as many handlers as there are processors are being woken at a time.
 * <p>
 * Without this class each call wakes a handler. On busy processors the handler waits for its turn
 * beside all others that were woken, and runs a single call when it has it. With this class
 * handlers that are awake take the calls, and one handler is woken for the calls that are left. It
 * wakes the next handler, if calls are still left, before it runs its own call. So a call that
 * waits for a disk delays no other call.
 * <p>
 * <b>Invariant.</b> If a call waits, accepted or in any call queue of the group, and a handler of
 * the group sleeps, then a wake-up is on its way to a handler of the group, and a handler that has
 * woken up looks at every call of the group.
 * <p>
 * Why it holds: a thread that made a call wait, that went to sleep, or that ended a wake-up calls
 * {@link #wakeOne} afterwards, which wakes a handler unless no call waits, no handler sleeps, or as
 * many wake-ups as allowed are on their way. A wake-up ends before its handler looks for a call. So
 * whichever of these threads comes last sees what the others did.
 * <p>
 * <b>Overtaking.</b> Accepted calls begin in the order in which they were accepted, and before
 * queued calls. An accepted call is overtaken by at most one call of each handler: the one that the
 * handler took from a queue after it had found no accepted call. A call is accepted only if the
 * call queues are empty and a handler is idle that no other accepted call counts on. All other
 * calls go to the call queues with their limits and order.
 * <p>
 * Thread-safe. The counters of all groups of the process are in JMX under
 * <code>Hadoop:service=HBase,name=RegionServer,sub=Handlers</code>.
 */
@InterfaceAudience.Private
final class IdleHandlers {
  private final boolean throttled;
  /** Handlers that sleep, the last one first: its caches are the warmest. */
  private final Deque<Handler> sleeping;
  private final Queue<CallRunner> accepted;
  private final IdleCount idleCount;
  /** A permit for each handler that may be woken beside those that are being woken. */
  private final Semaphore wakeUps;
  /** The call queues of the group, each once. */
  private final List<BlockingQueue<CallRunner>> queues = new CopyOnWriteArrayList<>();

  private IdleHandlers(boolean throttled, int maxWaking) {
    this(throttled, new ConcurrentLinkedDeque<>(), new ConcurrentLinkedQueue<>(), new IdleCount(),
      new Semaphore(maxWaking));
  }

  /** For tests, which control each access to the shared state. */
  IdleHandlers(boolean throttled, Deque<Handler> sleeping, Queue<CallRunner> accepted,
    IdleCount idleCount, Semaphore wakeUps) {
    this.throttled = throttled;
    this.sleeping = sleeping;
    this.accepted = accepted;
    this.idleCount = idleCount;
    this.wakeUps = wakeUps;
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

  /**
   * Returns a handler of this group, which takes accepted calls and those of all call queues of the
   * group.
   * @param queue the one that it looks at first
   */
  RpcHandler newHandler(String name, double failureThreshold, int handlerCount,
    BlockingQueue<CallRunner> queue, AtomicInteger active, AtomicInteger failed,
    Abortable abortable) {
    return newHandler(name, failureThreshold, handlerCount, queue, active, failed, abortable,
      new Semaphore(0));
  }

  /** For tests, which control each access to the shared state. */
  Handler newHandler(String name, double failureThreshold, int handlerCount,
    BlockingQueue<CallRunner> queue, AtomicInteger active, AtomicInteger failed,
    Abortable abortable, Semaphore awake) {
    // Queues are equal if they are the same.
    if (!queues.contains(queue)) {
      queues.add(queue);
      // Handlers that have started already did not look there.
      wakeOne();
    }
    return new Handler(name, failureThreshold, handlerCount, queue, active, failed, abortable,
      awake);
  }

  /**
   * Accepts a call for an idle handler.
   * @return false if the call has to go to a call queue
   */
  boolean run(CallRunner call) {
    if (idleCount.availablePermits() <= 0 || isCallQueued() || !idleCount.tryAcquire()) {
      return false;
    }
    accepted.add(call);
    Counters.INSTANCE.calls.increment();
    wakeOne();
    return true;
  }

  /**
   * Must be called after a call was offered to a call queue of the group.
   * @param isQueued whether the queue took it
   * @return isQueued
   */
  boolean queued(boolean isQueued) {
    if (isQueued) {
      wakeOne();
    }
    return isQueued;
  }

  private boolean isCallQueued() {
    for (BlockingQueue<CallRunner> queue : queues) {
      // CoDel's queue does not support isEmpty.
      if (queue.size() > 0) {
        return true;
      }
    }
    return false;
  }

  /** Wakes a handler if a call waits, unless as many as allowed are being woken. */
  private void wakeOne() {
    while (
      !sleeping.isEmpty() && (!accepted.isEmpty() || isCallQueued()) && wakeUps.tryAcquire()
    ) {
      Handler handler = sleeping.poll();
      if (handler != null) {
        handler.wake();
        return;
      }
      wakeUps.release();
      // A handler that went to sleep meanwhile may have relied on this wake-up: look again.
    }
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
   * Counts the idle handlers less the accepted calls that wait for one. Below zero while an idle
   * handler has taken a call from a queue that an accepted call counted on.
   */
  static class IdleCount extends Semaphore {
    private static final long serialVersionUID = 1L;

    IdleCount() {
      super(0);
    }

    /** Counts a handler out, whether or not an accepted call counts on it. */
    void countOut() {
      reducePermits(1);
    }
  }

  /** A thread of the group. */
  final class Handler extends RpcHandler {
    private final Semaphore awake;
    /** Whether this handler has no call and was counted. For its own thread. */
    private boolean idle;

    private Handler(String name, double failureThreshold, int handlerCount,
      BlockingQueue<CallRunner> queue, AtomicInteger active, AtomicInteger failed,
      Abortable abortable, Semaphore awake) {
      super(name, failureThreshold, handlerCount, queue, active, failed, abortable);
      this.awake = awake;
    }

    private void wake() {
      Counters.INSTANCE.wakeUps.increment();
      awake.release();
    }

    @Override
    protected CallRunner getCallRunner() throws InterruptedException {
      if (!idle) {
        CallRunner call = accepted.poll();
        if (call != null) {
          // The idle handler that this call counted on can take another one.
          idleCount.release();
          // What the last call was interrupted for does not concern this one.
          Thread.interrupted();
          return call;
        }
        call = pollQueues();
        if (call != null) {
          return call;
        }
        idle = true;
        idleCount.release();
        sleeping.push(this);
      }
      // A handler that was interrupted in its sleep comes here at once. It still is in the list of
      // those that sleep, or has a wake-up.
      while (true) {
        wakeOne();
        // Waits without a limit: whoever makes a call wait wakes a handler.
        awake.acquire();
        wakeUps.release();
        CallRunner call = accepted.poll();
        if (call == null) {
          call = pollQueues();
          if (call == null) {
            Counters.INSTANCE.vainWakeUps.increment();
            sleeping.push(this);
            continue;
          }
          idleCount.countOut();
        }
        idle = false;
        wakeOne();
        return call;
      }
    }

    /** Returns a call of a queue of the group, of its own first; null if all are empty. */
    private CallRunner pollQueues() {
      CallRunner call = q.poll();
      if (call == null) {
        for (BlockingQueue<CallRunner> queue : queues) {
          call = queue == q ? null : queue.poll();
          if (call != null) {
            return call;
          }
        }
      }
      return call;
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
