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

import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.ipc.WatchedCallRunner;
import org.apache.hadoop.hbase.monitoring.MonitoredRPCHandlerImpl;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * An increment whose call no handler has begun yet. It waits for its turn without a thread; then
 * either a handler is given the call, which leads, or the thread that leads already runs it, inside
 * of its own.
 */
@InterfaceAudience.Private
public final class IncrementCall extends PendingIncrement implements WatchedCallRunner.Watcher {

  /** The one that the thread runs, and has not come to the increment of. */
  private static final ThreadLocal<IncrementCall> BEGUN = new ThreadLocal<>();

  private final IncrementCoalescer coalescer;
  private final CounterKey key;
  private CallRunner runner;
  private RpcScheduler scheduler;
  /** What it was given, if anything. */
  private CounterTurn turn;
  /** Whether it has the turn still, and nobody can take it. */
  private boolean holds;
  /** What runs it, if anything. */
  private CallChain chain;
  private IncrementCall outer;

  IncrementCall(IncrementCoalescer coalescer, CounterKey key, Increment increment, long nonceGroup,
    long nonce) {
    super(increment, key.amounts(increment), nonceGroup, nonce, null);
    this.coalescer = coalescer;
    this.key = key;
  }

  void runBy(CallRunner runner, RpcScheduler scheduler) {
    this.runner = runner;
    this.scheduler = scheduler;
  }

  CounterKey key() {
    return key;
  }

  /** Returns the turn, for itself alone from now on, or null if it has none or another took it. */
  CounterTurn hold() {
    holds = holds || turn != null && turn.begin(this);
    return holds ? turn : null;
  }

  CallChain chain() {
    return chain;
  }

  /** Returns the call of which this thread has come to the increment, once for each, or null. */
  static IncrementCall claim() {
    IncrementCall begun = BEGUN.get();
    if (begun != null) {
      BEGUN.remove();
    }
    return begun;
  }

  /** Gives it to a handler; returns false if there are too many calls already. */
  boolean dispatch() {
    return scheduler.dispatch(runner);
  }

  /** Gives it to a handler, or answers that there are too many calls. */
  void dispatchOrDrop() {
    if (!dispatch()) {
      runner.drop();
    }
  }

  /** Gives it to a handler with a turn that it has to pass on. */
  boolean dispatch(CounterTurn own) {
    turn = own;
    setState(State.LEADS);
    return dispatch();
  }

  @Override
  boolean wake(CounterTurn own) {
    if (dispatch(own)) {
      return true;
    }
    boolean taken = release() == null;
    runner.drop();
    return taken;
  }

  /** Returns what has to be passed on now, or null. */
  @Override
  CounterTurn release() {
    CounterTurn own = hold();
    turn = null;
    holds = false;
    return own;
  }

  /** Runs the call in this thread, which runs another one. */
  void run(CallChain within) {
    chain = within;
    runner.setStatus(new MonitoredRPCHandlerImpl("Call within another one"));
    try {
      runner.run();
    } finally {
      chain = null;
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
