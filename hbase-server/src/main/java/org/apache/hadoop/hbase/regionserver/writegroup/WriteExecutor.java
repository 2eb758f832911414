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

import io.opentelemetry.api.trace.Span;
import java.io.IOException;
import java.io.InterruptedIOException;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite.State;
import org.apache.hadoop.hbase.trace.TraceUtil;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Applies writes whose calls have reached their region: alone, with the group that they lead, or as
 * a member of a group. The states are those of {@link WriteGroups}. Thread-safe.
 */
@InterfaceAudience.Private
final class WriteExecutor {

  private static final Runnable NOTHING = () -> {
  };

  private final WriteCall.Owner owner;
  private final WriteKind kind;
  private final WriteQueues queues;
  private final WriteNonces nonces;
  private final GroupLeader leader;

  WriteExecutor(WriteCall.Owner owner, WriteKind kind, WriteQueues queues, WriteNonces nonces) {
    this.owner = owner;
    this.kind = kind;
    this.queues = queues;
    this.nonces = nonces;
    this.leader = new GroupLeader(kind, nonces, queues);
  }

  /**
   * Applies a write, in a group or alone.
   * @return as {@link WriteKind#alone}
   * @throws IOException as that does
   */
  Result apply(HRegion region, Row write, long nonceGroup, long nonce)
    throws IOException {
    WriteCall call = WriteCall.claim(owner);
    if (call != null && call.isNested()) {
      return inChain(call, region, write);
    }
    if (!kind.isEnabled()) {
      return kind.alone(region, write, nonceGroup, nonce);
    }
    if (call == null || call.key() == null && !call.isLone()) {
      return inQueue(region, write, nonceGroup, nonce);
    }
    return call.isLone() ? lone(call, region, write) : begun(call, region, write);
  }

  /** Applies the write of a handler's own call that found none of its row in flight. */
  private Result lone(WriteCall call, HRegion region, Row write) throws IOException {
    if (kind.groupsRegions()) {
      return loneInGroup(call, region, write);
    }
    if (kind.groupsRows() && kind.isLocked(region, write)) {
      // Writes of other rows must not wait for it.
      queues.pass(call);
      return inQueue(region, write, call.nonceGroup(), call.nonce());
    }
    if (call.leaveGroup()) {
      kind.metrics().single();
    } else {
      GroupKey own = kind.key(region, write);
      if (call.key().equals(own)) {
        call.read(region, write, own);
        return begun(call, region, write);
      }
      // A write that waits for this one would otherwise wait for the row lock.
      call.hold();
      if (own != null) {
        kind.metrics().single();
      }
    }
    return single(call, region, write);
  }

  /**
   * Applies the write of a handler's own call that found none of its WAL in flight, as a group of
   * its own if none waits for it: writes of other regions must not wait for what it may wait for.
   */
  private Result loneInGroup(WriteCall call, HRegion region, Row write) throws IOException {
    boolean waitedFor = !call.leaveGroup();
    GroupKey own = waitedFor ? kind.key(region, write) : kind.peek(region, write);
    if (waitedFor && call.key().equals(own)) {
      call.read(region, write, own);
      return begun(call, region, write);
    }
    call.hold();
    if (own == null || !kind.isPermitted(region, write)) {
      queues.pass(call);
      if (!waitedFor) {
        kind.metrics().single();
      }
      return kind.alone(region, write, call.nonceGroup(), call.nonce());
    }
    // Not its key, which is that of writes that wait for it.
    call.setWrite(region, write);
    return inOwnGroup(own, null, call, region, write);
  }

  /** Applies the write of a handler's own call in the group that it leads. */
  private Result inOwnGroup(GroupKey key, WriteQueue queue, WriteCall call, HRegion region,
    Row write) throws IOException {
    return TraceUtil.trace(() -> {
      lead(key, queue, call);
      return conclude(key, region, call, write);
    }, this::span);
  }

  /** Applies the write of a handler's own call that led a queue, if no thread leads it now. */
  private Result begun(WriteCall call, HRegion region, Row write) throws IOException {
    if (call.key().region() == region && call.hold() != null) {
      if (!call.key().together() || !kind.isLocked(region, write)) {
        return withQueue(call, region, write);
      }
      // Writes of other rows must not wait for it.
      queues.pass(call);
    }
    return inQueue(region, write, call.nonceGroup(), call.nonce());
  }

  /**
   * Applies a write that is merged with no other. If an operation with its nonce is in flight
   * that does not have the row lock yet, the thread releases the lock and the leadership, and waits
   * for that operation without them.
   * @param mayWait whether no other call waits for this thread once it has passed the leadership on
   * @param pass    passes the leadership on
   */
  private Result alone(HRegion region, Row write, long nonceGroup, long nonce,
    boolean mayWait, Runnable pass) throws IOException {
    NonceDeadlockGuard.InRegion own = NonceDeadlockGuard.begin();
    try {
      return kind.alone(region, write, nonceGroup, nonce);
    } catch (InterruptedIOException e) {
      if (!own.isDuplicate()) {
        throw e;
      }
    } finally {
      own.end();
      pass.run();
    }
    if (!mayWait) {
      throw new RegionTooBusyException("A write with the same nonce is in flight.");
    }
    GroupKey key = kind.joinsFromThreads() ? kind.key(region, write) : null;
    return key == null || !kind.isPermitted(region, write)
      ? kind.alone(region, write, nonceGroup, nonce)
      : queued(key, region, write, nonceGroup, nonce);
  }

  /** Applies a write whose thread may wait, merged with others if there are any. */
  private Result inQueue(HRegion region, Row write, long nonceGroup, long nonce)
    throws IOException {
    GroupKey found = kind.joinsFromThreads() ? kind.key(region, write) : null;
    if (found == null) {
      return kind.alone(region, write, nonceGroup, nonce);
    }
    // So that calls that arrive meanwhile find it.
    int place = WritesInFlight.place(region.getRegionInfo().getRegionName(),
      found.together() ? null : write.getRow());
    WritesInFlight.Lane lane = queues.inFlight().at(place);
    lane.enter(null);
    try {
      WriteCall ahead = lane.first(place);
      if (ahead != null) {
        ahead.queueOf(found, false, queues.map());
      }
      return inQueue(found, region, write, nonceGroup, nonce);
    } finally {
      lane.leave(null);
    }
  }

  /** Applies a write that can be merged and is in its lane. */
  private Result inQueue(GroupKey found, HRegion region, Row write, long nonceGroup,
    long nonce) throws IOException {
    WriteQueue own = new WriteQueue();
    WriteQueue queue = queues.putIfAbsent(found, own);
    if (queue == null && found.together() && kind.isLocked(region, write)) {
      queues.pass(found, own);
      return inQueue(found.of(write.getRow()), region, write, nonceGroup, nonce);
    }
    if (queue == null) {
      kind.metrics().single();
      return alone(region, write, nonceGroup, nonce, true, () -> queues.pass(found, own));
    }
    if (!kind.isPermitted(region, write)) {
      return kind.alone(region, write, nonceGroup, nonce);
    }
    return queued(found, region, write, nonceGroup, nonce);
  }

  /**
   * Applies a write from the queue. A duplicate of a write in flight waits for it here:
   * not in the queue, where others would wait for it, nor in the region, where it would have the
   * lock of the row that the other one needs.
   */
  private Result queued(GroupKey key, HRegion region, Row write, long nonceGroup,
    long nonce) throws IOException {
    if (!nonces.start(nonceGroup, nonce)) {
      kind.metrics().repeated();
      return kind.alone(region, write, nonceGroup, nonce);
    }
    PendingWrite pending =
      new PendingWrite(region, write, nonceGroup, nonce, Thread.currentThread());
    pending.start();
    return TraceUtil.trace(() -> follow(key, region, pending, write),
      this::span);
  }

  /** Applies the write of a handler's own call that leads, with all that wait behind it. */
  private Result withQueue(WriteCall call, HRegion region, Row write) throws IOException {
    try {
      WriteQueue queue = call.hold();
      if (queue.waiting() == 0 && !kind.groupsRegions()) {
        kind.metrics().single();
        return single(call, region, write);
      }
      if (!kind.isPermitted(region, write)) {
        if (kind.groupsRegions()) {
          queues.pass(call);
        }
        return kind.alone(region, write, call.nonceGroup(), call.nonce());
      }
      if (!nonces.tryStart(call)) {
        // The duplicate in flight may need the leadership.
        queues.pass(call);
        return queued(call.key(), region, write, call.nonceGroup(), call.nonce());
      }
      call.setWrite(region, write);
      return inOwnGroup(call.key(), queue, call, region, write);
    } finally {
      queues.pass(call);
    }
  }

  private void lead(GroupKey key, WriteQueue queue, WriteCall call) {
    if (!kind.groupsRegions()) {
      leader.lead(key, queue, call, NOTHING);
      return;
    }
    EarlyPass early = new EarlyPass(queues.inFlight().at(call.place()), () -> queues.pass(call));
    try {
      leader.lead(key, queue, call, early);
    } finally {
      early.end();
    }
  }

  /** Applies a single write of a handler's own call. */
  private Result single(WriteCall call, HRegion region, Row write) throws IOException {
    return alone(region, write, call.nonceGroup(), call.nonce(), true, () -> queues.pass(call));
  }

  /** Applies the write of a call that the thread that leads runs nested in another one. */
  private Result inChain(WriteCall call, HRegion region, Row write) throws IOException {
    if (call.key().region() != region || !kind.isPermitted(region, write)) {
      nonces.end(call, false);
      return aloneInChain(call, region, write);
    }
    call.setWrite(region, write);
    NestedCalls chain = call.chain();
    chain.add(call);
    try {
      return TraceUtil.trace(() -> {
        leader.run(chain, call.key());
        return conclude(call.key(), region, call, write);
      }, this::span);
    } finally {
      chain.remove(call);
    }
  }

  /**
   * Applies the write of a nested call alone. The calls around it wait meanwhile, so it does
   * not wait for a row that is locked, and neither does any later one once one of them has waited.
   */
  private Result aloneInChain(WriteCall call, HRegion region, Row write) throws IOException {
    if (
      call.chain().isLate(kind.rowWaitMs())
        || kind.isLocked(region, write)
    ) {
      throw new RegionTooBusyException("The row or the region of the write is locked.");
    }
    return alone(region, write, call.nonceGroup(), call.nonce(), false, NOTHING);
  }

  private Span span() {
    return TraceUtil.createSpan(kind.spanName());
  }

  private Result follow(GroupKey key, HRegion region, PendingWrite pending,
    Row write) throws IOException {
    try {
      WriteQueue queue = null;
      while (queue == null || !queue.join(pending)) {
        WriteQueue own = new WriteQueue();
        queue = queues.putIfAbsent(key, own);
        if (queue == null) {
          // The queue was over before this write had joined.
          pending.setState(State.LEADS);
          queue = own;
          break;
        }
      }
      if (queue.await(pending, waitMs()) == State.LEADS) {
        leader.lead(key, queue, pending, NOTHING);
      }
      return conclude(key, region, pending, write);
    } finally {
      // In case something was thrown.
      nonces.end(pending, pending.state() == State.DONE);
    }
  }

  private long waitMs() {
    long wait = kind.rowWaitMs();
    return RpcServer.getCurrentCall().map(
      call -> Math.min(wait, call.getDeadline() - EnvironmentEdgeManager.currentTime()))
      .orElse(wait);
  }

  /** Returns the result of a write that its leader has completed or released. */
  private Result conclude(GroupKey key, HRegion region, PendingWrite pending,
    Row write) throws IOException {
    switch (pending.state()) {
      case APART:
        if (!kind.joinsFromThreads()) {
          return kind.alone(region, write, pending.nonceGroup(), pending.nonce());
        }
        PendingWrite again = new PendingWrite(region, write, pending.nonceGroup(),
          pending.nonce(), Thread.currentThread());
        if (pending.stop()) {
          again.start();
        }
        return follow(key.of(pending.row()), region, again, write);
      case DONE:
        nonces.end(pending, true);
        return pending.result();
      case FAILED:
        nonces.end(pending, false);
        throw pending.failure();
      default:
        // It left the queue, or its group was not applied: the region applies it, or says why not.
        nonces.end(pending, false);
        kind.metrics().alone();
        return pending.isNested()
          ? aloneInChain((WriteCall) pending, region, write)
          : alone(region, write, pending.nonceGroup(), pending.nonce(), true, NOTHING);
    }
  }
}
