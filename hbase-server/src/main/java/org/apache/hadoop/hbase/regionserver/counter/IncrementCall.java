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
package org.apache.hadoop.hbase.regionserver.counter;

import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.ObservedCallRunner;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.monitoring.MonitoredRPCHandlerImpl;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;

/**
 * The increment of a call that no handler has begun yet. If no increment of its row is in flight,
 * the call is dispatched without its increment being read; the first one that arrives meanwhile
 * makes it the leader of a queue. Any other call waits in a queue without a thread, until it is
 * dispatched as the leader or the thread that leads runs it nested in its own call. Thread-safe
 * where a method says so by synchronizing; the rest is for the thread that has the call.
 */
@InterfaceAudience.Private
public final class IncrementCall extends PendingIncrement implements ObservedCallRunner.Watcher {

  /** The call that the thread runs and whose increment it has not reached yet. */
  private static final ThreadLocal<IncrementCall> BEGUN = new ThreadLocal<>();

  private final IncrementCoalescer coalescer;
  private final IncrementRequest request;
  private CallRunner runner;
  private RpcScheduler scheduler;
  private int place;
  /** Its lane, until it has ended. */
  private InFlightIncrements.Lane lane;
  /** Whether it found its lane empty. */
  private boolean lone;
  /** Whether it is being applied outside of any queue. */
  private boolean alone;
  /** Whether it cannot lead any more. */
  private boolean over;
  /**
   * Null if it was not read, or is not to be merged. The key of a lone call is that of the
   * increment that waits for it.
   */
  private CounterKey key;
  /** The queue that it leads, or null. */
  private IncrementQueue queue;
  /** Whether it leads for certain: no thread that joins can take over. */
  private boolean holds;
  /** The chain that runs it, or null. */
  private NestedCalls chain;
  private IncrementCall outer;

  IncrementCall(IncrementCoalescer coalescer, IncrementRequest request) {
    super(null, request.nonceGroup(),
      request.mutation().hasNonce() ? request.mutation().getNonce() : HConstants.NO_NONCE, null);
    this.coalescer = coalescer;
    this.request = request;
  }

  void runBy(CallRunner runner, RpcScheduler scheduler) {
    this.runner = runner;
    this.scheduler = scheduler;
  }

  IncrementRequest request() {
    return request;
  }

  /** @return whether the lane was empty */
  boolean enter(InFlightIncrements lanes, int place) {
    this.place = place;
    lane = lanes.at(place);
    lone = lane.enter(this);
    return lone;
  }

  void leave() {
    if (lane != null) {
      lane.leave(this);
      lane = null;
    }
  }

  /** Returns the call in flight that found the lane of this one empty, or null. */
  IncrementCall ahead() {
    return lane.first(place);
  }

  int place() {
    return place;
  }

  boolean isLone() {
    return lone;
  }

  /** @param key null if it is not to be merged */
  synchronized void read(Increment increment, CounterKey key) {
    setIncrement(increment);
    this.key = key;
  }

  /** Returns the increment of a request, if this thread is about to apply it and it was read. */
  static Increment read(MutationProto mutation) {
    IncrementCall begun = BEGUN.get();
    return begun != null && begun.request.mutation() == mutation ? begun.increment() : null;
  }

  /**
   * Makes a lone call the leader of the queue in which the next increment is going to wait.
   * @param next    the key of that increment
   * @param unbegun whether that increment may also wait until a handler begins this call
   * @return the queue of that key, whichever increment leads it; null if the next increment is not
   *         to wait for this call
   */
  synchronized IncrementQueue queueOf(CounterKey next, boolean unbegun,
    ConcurrentMap<CounterKey, IncrementQueue> queues) {
    if (over || queue != null || !alone && !unbegun) {
      return null;
    }
    IncrementQueue own = alone ? new IncrementQueue() : new IncrementQueue(this);
    IncrementQueue others = queues.putIfAbsent(next, own);
    if (others != null) {
      return others;
    }
    key = next;
    queue = own;
    holds = alone;
    return own;
  }

  /** Marks a lone call as applied alone. Returns false if an increment waits for it already. */
  synchronized boolean leaveGroup() {
    alone = queue == null;
    return alone;
  }

  synchronized CounterKey key() {
    return key;
  }

  /** Returns the queue that it leads from now on for certain, or null if it leads none. */
  synchronized IncrementQueue hold() {
    holds = holds || queue != null && queue.begin(this);
    return holds ? queue : null;
  }

  NestedCalls chain() {
    return chain;
  }

  /** Returns the call whose increment this thread has reached, once for each call, or null. */
  static IncrementCall claim() {
    IncrementCall begun = BEGUN.get();
    if (begun != null) {
      BEGUN.remove();
    }
    return begun;
  }

  /** Dispatches the call to a handler. Returns false if there are too many calls already. */
  boolean dispatch() {
    return scheduler.dispatch(runner);
  }

  /** Dispatches the call to a handler, again and again until the scheduler accepts it. */
  void dispatchInTime() {
    boolean taken = false;
    try {
      taken = dispatch();
    } finally {
      if (!taken) {
        coalescer.refused(this);
      }
    }
  }

  /** Answers that there are too many calls, and passes the leadership on. */
  void drop() {
    runner.drop();
  }

  /** Dispatches the call as the leader of a queue. */
  boolean dispatch(IncrementQueue own) {
    give(own);
    return dispatch();
  }

  private void give(IncrementQueue own) {
    synchronized (this) {
      queue = own;
    }
    setState(State.LEADS);
  }

  @Override
  void wake(IncrementQueue own) {
    give(own);
    dispatchInTime();
  }

  /** Returns the queue whose leadership is to be passed on now, or null. */
  @Override
  synchronized IncrementQueue release() {
    IncrementQueue own = hold();
    queue = null;
    holds = false;
    over = true;
    return own;
  }

  /** Runs the call nested in another one that this thread runs. */
  void run(NestedCalls within) {
    boolean run = false;
    chain = within;
    try {
      runner.setStatus(new MonitoredRPCHandlerImpl("Call within another one"));
      run = true;
      runner.run();
    } finally {
      chain = null;
      if (!run) {
        runner.drop();
      }
    }
  }

  @Override
  public void begin() {
    setThread(Thread.currentThread());
    outer = BEGUN.get();
    BEGUN.set(this);
  }

  @Override
  public void end() {
    if (outer == null) {
      BEGUN.remove();
    } else {
      BEGUN.set(outer);
    }
    coalescer.over(this);
  }
}
