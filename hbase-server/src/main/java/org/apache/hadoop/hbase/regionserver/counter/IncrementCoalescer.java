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

import io.opentelemetry.api.trace.Span;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RequestInterceptors;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.counter.PendingIncrement.State;
import org.apache.hadoop.hbase.trace.TraceUtil;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;

/**
 * Merges concurrent increments of the same columns of a row: one row lock, one read, one WAL edit
 * and one sync for all of them, and for each the value that it would have got in a sequence of
 * single increments. With the scope <code>region</code> increments of all rows of a region are
 * merged: one WAL edit and one sync for a group, one lock and one read for each of its rows.
 * <p>
 * The first increment of a row is applied at once, as HBase does. Increments that arrive meanwhile
 * wait in an {@link IncrementQueue}; the first of them leads the next group ({@link GroupLeader}).
 * So an increment waits only where it would have waited for the row lock. No lock of this class is
 * held while a region works.
 *
 * <pre>
 *               no increment of the row in flight
 *   request ────────────────────────────────────────▶ applied alone, as HBase does
 *      │ one is in flight
 *      ▼                becomes first
 *   WAITING ──────────────────────────▶ LEADS ──── takes what waits, applies the sum
 *      │  taken by a leader               │
 *      ▼                                  ▼
 *    TAKEN ─────────────────────────▶  DONE     the group was applied
 *      │                               FAILED   its edit may be in the WAL, its sync failed
 *      │                               ALONE    nothing was written: applied by itself
 *      └──▶ APART  its row is locked: waits in the queue of its row
 * </pre>
 *
 * Leadership is decided when a request is parsed ({@link IncrementDispatch}). If no increment of
 * the row is in flight, the call is dispatched as usual. A waiting call releases its handler: the
 * thread that leads runs the waiting calls, one nested in the other ({@link NestedCalls}), each as
 * far as to where it would wait, applies the sum, and lets each finish on the way back with its own
 * user, quota, span and metrics. So a group wakes up one handler, and its responses leave together.
 * Increments that arrive on other ways, as in a batch, wait in their threads.
 * <p>
 * A group that fails before its edit is in the WAL has changed nothing, and each of its increments
 * is applied by itself. One that fails later fails for all members, as a single increment does
 * whose sync fails.
 * <p>
 * Thread-safe. Can be enabled and disabled while the server runs. Longer than 500 lines because all
 * entries to the state machine are here; what they use is in classes of its own.
 */
@InterfaceAudience.Private
public final class IncrementCoalescer {

  private static final Runnable NOTHING = () -> {
  };

  private static final Logger LOG = LoggerFactory.getLogger(IncrementCoalescer.class);

  private final RefusedCalls refusedCalls = new RefusedCalls();

  private final ConcurrentHashMap<CounterKey, IncrementQueue> queues = new ConcurrentHashMap<>();
  private final RegionServerServices server;
  /** Null until it is enabled for the first time. */
  private volatile InFlightIncrements inFlight;
  /** Null until it is enabled for the first time. */
  private volatile CoalescerMetrics metrics;
  /** Null until it is enabled for the first time. */
  private volatile MergeEligibility eligibility;
  /** Null until it is enabled for the first time. */
  private volatile GroupLeader leader;
  private final IncrementNonces nonces;
  private volatile CoalescerSettings settings;

  /**
   * @param server for the nonces and metrics of single increments
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public IncrementCoalescer(Configuration conf, RegionServerServices server) {
    this.server = server;
    nonces = new IncrementNonces(server);
    configure(conf);
  }

  private void configure(Configuration conf) {
    CoalescerSettings changed = CoalescerSettings.of(conf);
    if (changed.isEnabled() && metrics == null) {
      metrics = CoalescerMetrics.register();
      inFlight = new InFlightIncrements();
      eligibility = new MergeEligibility(metrics);
      leader = new GroupLeader(server, metrics, nonces, this::pass);
    }
    settings = changed;
  }

  /** Applies a changed configuration, or keeps the former one if a value is invalid. */
  public void onConfigurationChange(Configuration conf) {
    try {
      configure(conf);
    } catch (IllegalArgumentException e) {
      LOG.error("Increments are merged as before: {}", e.getMessage());
    }
  }

  /**
   * Applies an increment, in a group or alone.
   * @return as {@link HRegion#increment(Increment, long, long)}
   * @throws IOException as that does
   */
  public Result increment(HRegion region, Increment increment, long nonceGroup, long nonce)
    throws IOException {
    IncrementCall call = IncrementCall.claim();
    if (call != null && call.chain() != null) {
      return inChain(call, region, increment);
    }
    if (!settings.isEnabled()) {
      return region.increment(increment, nonceGroup, nonce);
    }
    if (call == null || call.key() == null && !call.isLone()) {
      return inQueue(region, increment, nonceGroup, nonce);
    }
    return call.isLone() ? lone(call, region, increment) : begun(call, region, increment);
  }

  /**
   * Returns the increment of a request, which may have been read before a handler began it.
   * @param mutation the request's own
   */
  public Increment read(MutationProto mutation, CellScanner cells) throws IOException {
    Increment read = IncrementCall.read(mutation);
    return read == null ? ProtobufUtil.toIncrement(mutation, cells) : read;
  }

  /** Applies the increment of a handler's own call that found none of its row in flight. */
  private Result lone(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    if (settings.mergesRegion() && GroupLeader.isLocked(region, increment.getRow())) {
      // Increments of other rows must not wait for it.
      pass(call);
      return inQueue(region, increment, call.nonceGroup(), call.nonce());
    }
    if (call.leaveGroup()) {
      metrics.single();
    } else {
      CounterKey own = eligibility.key(region, increment, settings.mergesRegion());
      if (call.key().equals(own)) {
        call.read(increment, own);
        return begun(call, region, increment);
      }
      // An increment that waits for this one would otherwise wait for the row lock.
      call.hold();
      if (own != null) {
        metrics.single();
      }
    }
    return alone(region, increment, call.nonceGroup(), call.nonce(), true, () -> pass(call));
  }

  /** Applies the increment of a handler's own call that led a queue, if no thread leads it now. */
  private Result begun(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    if (call.key().region() == region && call.hold() != null) {
      if (!call.key().together() || !GroupLeader.isLocked(region, increment.getRow())) {
        return withQueue(call, region, increment);
      }
      pass(call);
    }
    return inQueue(region, increment, call.nonceGroup(), call.nonce());
  }

  /**
   * Applies an increment that is merged with no other. If an operation with its nonce is in flight
   * that does not have the row lock yet, the thread releases the lock and the leadership, and waits
   * for that operation without them.
   * @param mayWait whether no other call waits for this thread once it has passed the leadership on
   * @param pass    passes the leadership on
   */
  private Result alone(HRegion region, Increment increment, long nonceGroup, long nonce,
    boolean mayWait, Runnable pass) throws IOException {
    NonceDeadlockGuard.InRegion own = NonceDeadlockGuard.begin();
    try {
      return region.increment(increment, nonceGroup, nonce);
    } catch (InterruptedIOException e) {
      if (!own.isDuplicate()) {
        throw e;
      }
    } finally {
      own.end();
      pass.run();
    }
    if (!mayWait) {
      throw new RegionTooBusyException("An increment with the same nonce is in flight.");
    }
    CounterKey key = eligibility.key(region, increment, settings.mergesRegion());
    return key == null || !eligibility.isPermitted(region, increment)
      ? region.increment(increment, nonceGroup, nonce)
      : queued(key, region, increment, nonceGroup, nonce);
  }

  /** Applies an increment whose thread may wait, merged with others if there are any. */
  private Result inQueue(HRegion region, Increment increment, long nonceGroup, long nonce)
    throws IOException {
    CounterKey found = eligibility.key(region, increment, settings.mergesRegion());
    if (found == null) {
      return region.increment(increment, nonceGroup, nonce);
    }
    // So that calls that arrive meanwhile find it.
    int place = InFlightIncrements.place(region.getRegionInfo().getRegionName(),
      found.together() ? null : increment.getRow());
    InFlightIncrements.Lane lane = inFlight.at(place);
    lane.enter(null);
    try {
      IncrementCall ahead = lane.first(place);
      if (ahead != null) {
        ahead.queueOf(found, false, queues);
      }
      return inQueue(found, region, increment, nonceGroup, nonce);
    } finally {
      lane.leave(null);
    }
  }

  /** Applies an increment that can be merged and is in its lane. */
  private Result inQueue(CounterKey found, HRegion region, Increment increment, long nonceGroup,
    long nonce) throws IOException {
    IncrementQueue own = new IncrementQueue();
    IncrementQueue queue = queues.putIfAbsent(found, own);
    if (queue == null && found.together() && GroupLeader.isLocked(region, increment.getRow())) {
      pass(found, own);
      return inQueue(found.of(increment.getRow()), region, increment, nonceGroup, nonce);
    }
    if (queue == null) {
      metrics.single();
      return alone(region, increment, nonceGroup, nonce, true, () -> pass(found, own));
    }
    if (!eligibility.isPermitted(region, increment)) {
      return region.increment(increment, nonceGroup, nonce);
    }
    return queued(found, region, increment, nonceGroup, nonce);
  }

  /**
   * Applies an increment from the queue. A duplicate of an increment in flight waits for it here:
   * not in the queue, where others would wait for it, nor in the region, where it would have the
   * lock of the row that the other one needs.
   */
  private Result queued(CounterKey key, HRegion region, Increment increment, long nonceGroup,
    long nonce) throws IOException {
    if (!nonces.start(nonceGroup, nonce)) {
      metrics.repeated();
      return region.increment(increment, nonceGroup, nonce);
    }
    PendingIncrement pending =
      new PendingIncrement(increment, nonceGroup, nonce, Thread.currentThread());
    pending.start();
    return TraceUtil.trace(() -> follow(key, region, pending, increment),
      () -> span(region));
  }

  /** Returns whether increments are merged. */
  public boolean isEnabled() {
    return settings.isEnabled();
  }

  /** Has increments that this server reads from now on pass here before they are dispatched. */
  public void intercept(RpcServerInterface rpcServer, HRegionServer regionServer) {
    RequestInterceptors.of(rpcServer).add(new IncrementDispatch(regionServer, this));
  }

  /** Returns the call of a request that was parsed. */
  public IncrementCall call(IncrementRequest request) {
    return new IncrementCall(this, request);
  }

  /**
   * Dispatches a call, unless it would only wait for others: then it waits without a handler.
   * @return false if the scheduler does not accept it
   */
  public boolean dispatch(IncrementCall call, CallRunner runner, RpcScheduler scheduler) {
    call.runBy(runner, scheduler);
    IncrementRequest request = call.request();
    boolean alone = call.enter(inFlight, InFlightIncrements.place(request.regionName(),
      settings.mergesRegion() ? null : request.mutation().getRow()));
    boolean taken = alone || !read(call) ? call.dispatch() : join(call);
    if (!taken) {
      over(call);
    }
    return taken;
  }

  /** Reads the increment of a call. Returns false if it is not to be merged. */
  private boolean read(IncrementCall call) {
    IncrementRequest request = call.request();
    try {
      HRegion region = request.region();
      if (region == null) {
        return false;
      }
      Increment increment = request.increment();
      CounterKey key = eligibility.peek(region, increment, settings.mergesRegion());
      call.read(increment, key);
      return key != null;
    } catch (IOException | RuntimeException e) {
      // The handler reports it.
      return false;
    }
  }

  /** Has a call wait for the increment in flight, or dispatches it. */
  private boolean join(IncrementCall call) {
    CounterKey key = call.key();
    while (true) {
      IncrementQueue queue = queues.get(key);
      IncrementCall ahead = queue == null ? call.ahead() : null;
      if (ahead != null) {
        // A call does not wait in the queue of one with another priority.
        queue = ahead.queueOf(key, ahead.request().priority() == call.request().priority(), queues);
      }
      if (queue == null) {
        IncrementQueue own = new IncrementQueue(call);
        queue = queues.putIfAbsent(key, own);
        if (queue == null) {
          return call.dispatch(own);
        }
      }
      if (queue.waiting() >= GroupLeader.MAX_MEMBERS) {
        return call.dispatch();
      }
      if (queue.join(call)) {
        return true;
      }
      // Over, and about to be removed by its last thread; this thread does not wait for that.
      queues.remove(key, queue);
    }
  }

  /** Called when a call has been answered or dropped. */
  void over(IncrementCall call) {
    try {
      nonces.end(call, call.state() == State.DONE);
    } finally {
      try {
        pass(call);
      } finally {
        call.leave();
      }
    }
  }

  /**
   * Called when the scheduler does not accept a call that was accepted before. Increments behind it
   * go on waiting: it is dispatched again, for as long as it might wait for a row.
   */
  void refused(IncrementCall call) {
    metrics.refused();
    refusedCalls.add(call, settings.rowWaitMs());
  }

  private void pass(IncrementCall call) {
    IncrementQueue queue = call.release();
    if (queue != null) {
      pass(call.key(), queue);
    }
  }

  /** Applies the increment of a handler's own call that leads, with all that wait behind it. */
  private Result withQueue(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    try {
      IncrementQueue queue = call.hold();
      if (queue.waiting() == 0) {
        metrics.single();
        return alone(region, increment, call.nonceGroup(), call.nonce(), true, () -> pass(call));
      }
      if (!eligibility.isPermitted(region, increment)) {
        return region.increment(increment, call.nonceGroup(), call.nonce());
      }
      if (!nonces.tryStart(call)) {
        // The duplicate in flight may need the leadership.
        pass(call);
        return queued(call.key(), region, increment, call.nonceGroup(), call.nonce());
      }
      return TraceUtil.trace(() -> {
        leader.lead(call.key(), queue, region, call);
        return conclude(call.key(), region, call, increment);
      }, () -> span(region));
    } finally {
      pass(call);
    }
  }

  /** Applies the increment of a call that the thread that leads runs nested in another one. */
  private Result inChain(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    if (call.key().region() != region || !eligibility.isPermitted(region, increment)) {
      nonces.end(call, false);
      return aloneInChain(call, region, increment);
    }
    NestedCalls chain = call.chain();
    chain.add(call);
    try {
      return TraceUtil.trace(() -> {
        leader.run(chain, call.key(), region);
        return conclude(call.key(), region, call, increment);
      }, () -> span(region));
    } finally {
      chain.remove(call);
    }
  }

  /**
   * Applies the increment of a nested call alone. The calls around it wait meanwhile, so it does
   * not wait for a row that is locked, and neither does any later one once one of them has waited.
   */
  private Result aloneInChain(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    if (
      call.chain().isLate(settings.rowWaitMs())
        || GroupLeader.isLocked(region, increment.getRow())
    ) {
      throw new RegionTooBusyException("The row of the increment is locked.");
    }
    return alone(region, increment, call.nonceGroup(), call.nonce(), false, NOTHING);
  }

  private static Span span(HRegion region) {
    return TraceUtil.createSpan("Region.increment.merged");
  }

  private void pass(CounterKey key, IncrementQueue queue) {
    PendingIncrement next = queue.pass();
    if (next == null) {
      queues.remove(key, queue);
    } else {
      next.wake(queue);
    }
  }

  private Result follow(CounterKey key, HRegion region, PendingIncrement pending,
    Increment increment) throws IOException {
    try {
      IncrementQueue queue = null;
      while (queue == null || !queue.join(pending)) {
        IncrementQueue own = new IncrementQueue();
        queue = queues.putIfAbsent(key, own);
        if (queue == null) {
          // The queue was over before this increment had joined.
          pending.setState(State.LEADS);
          queue = own;
          break;
        }
      }
      if (queue.await(pending, waitMs()) == State.LEADS) {
        leader.lead(key, queue, region, pending);
      }
      return conclude(key, region, pending, increment);
    } finally {
      // In case something was thrown.
      nonces.end(pending, pending.state() == State.DONE);
    }
  }

  private long waitMs() {
    long wait = settings.rowWaitMs();
    return RpcServer.getCurrentCall().map(
      call -> Math.min(wait, call.getDeadline() - EnvironmentEdgeManager.currentTime()))
      .orElse(wait);
  }

  /** Returns the result of an increment that its leader has completed or released. */
  private Result conclude(CounterKey key, HRegion region, PendingIncrement pending,
    Increment increment) throws IOException {
    switch (pending.state()) {
      case APART:
        PendingIncrement again = new PendingIncrement(increment, pending.nonceGroup(),
          pending.nonce(), Thread.currentThread());
        if (pending.stop()) {
          again.start();
        }
        return follow(key.of(pending.row()), region, again, increment);
      case DONE:
        nonces.end(pending, true);
        return pending.result();
      case FAILED:
        nonces.end(pending, false);
        throw pending.failure();
      default:
        // It left the queue, or its group was not applied: the region applies it, or says why not.
        nonces.end(pending, false);
        metrics.alone();
        boolean carried = pending instanceof IncrementCall
          && ((IncrementCall) pending).chain() != null;
        return carried
          ? aloneInChain((IncrementCall) pending, region, increment)
          : alone(region, increment, pending.nonceGroup(), pending.nonce(), true, NOTHING);
    }
  }

  /** Returns how many rows have an increment in flight. */
  int rows() {
    return queues.size();
  }

  /** Returns how many increments are in flight. */
  int inFlight() {
    return inFlight.inFlight();
  }

  /** Returns how many increments wait in queues. */
  int waiting() {
    return queues.values().stream().mapToInt(IncrementQueue::waiting).sum();
  }
}
