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
 * An increment whose call no handler has begun yet. One that finds nobody of its row under way goes
 * to a handler, unread; those that come meanwhile, and are read, give it the turn that they wait
 * for. Any other waits for its turn without a thread; then either a handler is given the call,
 * which leads, or the thread that leads already runs it, inside of its own.
 */
@InterfaceAudience.Private
public final class IncrementCall extends PendingIncrement implements ObservedCallRunner.Watcher {

  /** The one that the thread runs, and has not come to the increment of. */
  private static final ThreadLocal<IncrementCall> BEGUN = new ThreadLocal<>();

  private final IncrementCoalescer coalescer;
  private final IncrementRequest request;
  private CallRunner runner;
  private RpcScheduler scheduler;
  private int place;
  /** Where it is under way, until it is over. */
  private InFlightIncrements.Lane lane;
  /** Whether it found nobody there. */
  private boolean lone;
  /** Whether it is being done by itself. */
  private boolean alone;
  /** Whether it has no more to do with turns. */
  private boolean over;
  /** Null if it was not read, or is not to be merged; a lone one has that of who waits for it. */
  private CounterKey key;
  /** What it was given, if anything. */
  private IncrementQueue turn;
  /** Whether it has the turn still, and nobody can take it. */
  private boolean holds;
  /** What runs it, if anything. */
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

  /** @return whether it is alone there */
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

  /** Returns the call that found nobody of its row under way and is not over yet, or null. */
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

  /** Returns the increment of a request, if this thread is about to do it and it has been read. */
  static Increment read(MutationProto mutation) {
    IncrementCall begun = BEGUN.get();
    return begun != null && begun.request.mutation() == mutation ? begun.increment() : null;
  }

  /**
   * Gives a lone one the turn of who comes next, who is going to wait for it.
   * @param unbegun whether that one would wait until a handler begins this one, too
   * @return the turn of that key, whoever has it; null if it is not to wait for this one
   */
  synchronized IncrementQueue turnOf(CounterKey next, boolean unbegun,
    ConcurrentMap<CounterKey, IncrementQueue> turns) {
    if (over || turn != null || !alone && !unbegun) {
      return null;
    }
    IncrementQueue own = alone ? new IncrementQueue() : new IncrementQueue(this);
    IncrementQueue others = turns.putIfAbsent(next, own);
    if (others != null) {
      return others;
    }
    key = next;
    turn = own;
    holds = alone;
    return own;
  }

  /** Notes that a lone one is done by itself; returns false if somebody waits for it already. */
  synchronized boolean leaveGroup() {
    alone = turn == null;
    return alone;
  }

  synchronized CounterKey key() {
    return key;
  }

  /** Returns the turn, for itself alone from now on, or null if it has none or another took it. */
  synchronized IncrementQueue hold() {
    holds = holds || turn != null && turn.begin(this);
    return holds ? turn : null;
  }

  NestedCalls chain() {
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

  /** Gives it to a handler, as soon as the scheduler takes it. */
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

  /** Answers that there are too many calls; passes on what turn it has. */
  void drop() {
    runner.drop();
  }

  /** Gives it to a handler with a turn that it has to pass on. */
  boolean dispatch(IncrementQueue own) {
    give(own);
    return dispatch();
  }

  private void give(IncrementQueue own) {
    synchronized (this) {
      turn = own;
    }
    setState(State.LEADS);
  }

  @Override
  void wake(IncrementQueue own) {
    give(own);
    dispatchInTime();
  }

  /** Returns what has to be passed on now, or null. */
  @Override
  synchronized IncrementQueue release() {
    IncrementQueue own = hold();
    turn = null;
    holds = false;
    over = true;
    return own;
  }

  /** Runs the call in this thread, which runs another one. */
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
