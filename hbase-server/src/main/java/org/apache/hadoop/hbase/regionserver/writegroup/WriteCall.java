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
package org.apache.hadoop.hbase.regionserver.writegroup;

import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.ObservedCallRunner;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.monitoring.MonitoredRPCHandlerImpl;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;

/**
 * The write of a call that no handler has begun yet. If no write in its lane is in flight, the call
 * is dispatched without being read; the first one that arrives meanwhile makes it the
 * leader of a queue. Any other call waits in a queue without a thread, until it is
 * dispatched as the leader or the thread that leads runs it nested in its own call. Thread-safe
 * where a method says so by synchronizing; the rest is for the thread that has the call.
 */
@InterfaceAudience.Private
public final class WriteCall extends PendingWrite implements ObservedCallRunner.Watcher {

  /** What has made calls, all of one kind of writes, and is told what becomes of them. */
  interface Owner {
    /** Called when a call has been answered or dropped. */
    void over(WriteCall call);

    /**
     * Called when the scheduler does not accept a call that was accepted before. Writes behind it
     * go on waiting: it is to be dispatched again, for as long as it might wait for a row.
     */
    void refused(WriteCall call);
  }

  /** The call that the thread runs and whose write it has not reached yet. */
  private static final ThreadLocal<WriteCall> BEGUN = new ThreadLocal<>();

  private final Owner owner;
  private final WriteRequest request;
  private CallRunner runner;
  private RpcScheduler scheduler;
  private int place;
  /** Its lane, until it has ended. */
  private WritesInFlight.Lane lane;
  /** Whether it found its lane empty. */
  private boolean lone;
  /** Whether it is being applied outside of any queue. */
  private boolean alone;
  /** Whether it cannot lead any more. */
  private boolean over;
  /**
   * Null if it was not read, or is not to be merged. The key of a lone call is that of the
   * write that waits for it.
   */
  private GroupKey key;
  /** The queue that it leads, or null. */
  private WriteQueue queue;
  /** Whether it leads for certain: no thread that joins can take over. */
  private boolean holds;
  /** The chain that runs it, or null. */
  private NestedCalls chain;
  private WriteCall outer;

  WriteCall(Owner owner, WriteRequest request) {
    super(null, null, request.nonceGroup(), request.nonce(), null);
    this.owner = owner;
    this.request = request;
  }

  void runBy(CallRunner runner, RpcScheduler scheduler) {
    this.runner = runner;
    this.scheduler = scheduler;
  }

  WriteRequest request() {
    return request;
  }

  @Override
  public long size() {
    return request.size();
  }

  @Override
  boolean isCall() {
    return true;
  }

  @Override
  boolean isNested() {
    return chain != null;
  }

  /** @return whether the lane was empty */
  boolean enter(WritesInFlight lanes, int place) {
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
  WriteCall ahead() {
    return lane.first(place);
  }

  int place() {
    return place;
  }

  boolean isLone() {
    return lone;
  }

  /** @param key null if it is not to be merged */
  synchronized void read(HRegion region, Row write, GroupKey key) {
    setWrite(region, write);
    this.key = key;
  }

  /** Returns the write of a request, if this thread is about to apply it and it was read. */
  static Row read(MutationProto proto) {
    WriteCall begun = BEGUN.get();
    return begun != null && begun.request.proto() == proto ? begun.write() : null;
  }

  /**
   * Makes a lone call the leader of the queue in which the next write is going to wait.
   * @param next    the key of that write
   * @param unbegun whether that write may also wait until a handler begins this call
   * @return the queue of that key, whichever write leads it; null if the next write is not to wait
   *         for this call
   */
  synchronized WriteQueue queueOf(GroupKey next, boolean unbegun,
    ConcurrentMap<GroupKey, WriteQueue> queues) {
    if (over || queue != null || !alone && !unbegun) {
      return null;
    }
    WriteQueue own = alone ? new WriteQueue() : new WriteQueue(this);
    WriteQueue others = queues.putIfAbsent(next, own);
    if (others != null) {
      return others;
    }
    key = next;
    queue = own;
    holds = alone;
    return own;
  }

  /** Marks a lone call as applied alone. Returns false if a write waits for it already. */
  synchronized boolean leaveGroup() {
    alone = queue == null;
    return alone;
  }

  synchronized GroupKey key() {
    return key;
  }

  /** Returns the queue that it leads from now on for certain, or null if it leads none. */
  synchronized WriteQueue hold() {
    holds = holds || queue != null && queue.begin(this);
    return holds ? queue : null;
  }

  NestedCalls chain() {
    return chain;
  }

  /** Returns the call of an owner whose write this thread has reached, once for each, or null. */
  static WriteCall claim(Owner owner) {
    WriteCall begun = BEGUN.get();
    if (begun == null || begun.owner != owner) {
      return null;
    }
    BEGUN.remove();
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
        owner.refused(this);
      }
    }
  }

  /** Answers that there are too many calls, and passes the leadership on. */
  void drop() {
    runner.drop();
  }

  /** Dispatches the call as the leader of a queue. */
  boolean dispatch(WriteQueue own) {
    give(own);
    return dispatch();
  }

  private void give(WriteQueue own) {
    synchronized (this) {
      queue = own;
    }
    setState(State.LEADS);
  }

  @Override
  void wake(WriteQueue own) {
    give(own);
    dispatchInTime();
  }

  /** Returns the queue whose leadership is to be passed on now, or null. */
  @Override
  synchronized WriteQueue release() {
    WriteQueue own = hold();
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
    owner.over(this);
  }
}
