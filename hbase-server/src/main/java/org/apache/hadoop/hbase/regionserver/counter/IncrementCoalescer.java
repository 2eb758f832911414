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
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.Stoppable;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RequestInterceptors;
import org.apache.hadoop.hbase.ipc.ResponseBatch;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.hadoop.hbase.regionserver.counter.PendingIncrement.State;
import org.apache.hadoop.hbase.trace.TraceUtil;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;

/**
 * Merges increments of the same columns of a row that come while one is being done: one row lock,
 * one read, one WAL edit and one sync for all of them, and to each the value that it would have got
 * in its place in a row of single ones. On request all rows of a region take turns together: one
 * WAL edit and one sync for a group, and a lock and a read for each of its rows.
 * <p>
 * The first increment of a row is done at once, as without this class. Those that come meanwhile
 * queue up; the first of them leads the next group and does the sum of all. So nobody waits who
 * would not have waited for the row lock, as long as each row is for itself. Nobody holds a lock of
 * this class while a region works.
 * <p>
 * Whose turn it is is settled when a request has been read, before a handler has it. Who finds
 * nobody of its row under way goes to a handler as without this class. Who has to wait does so
 * without a handler ({@link #dispatch}): the thread that leads runs the calls that wait, one inside
 * the other, each as far as to where it would wait, then does the sum, and lets each finish, with
 * its own user, quota, span and metrics, on the way back. So a group costs the waking of one
 * handler, and its responses, which are ready at the same time, leave together. Increments that
 * come on other ways, in a batch say, wait in the threads that they have.
 * <p>
 * A group that fails before its edit goes to the WAL has changed nothing, and each of its
 * increments is done by itself; one that fails later fails for all, as a single one does whose sync
 * fails.
 * <p>
 * Thread-safe. May be switched on and off while the server runs.
 */
@InterfaceAudience.Private
public final class IncrementCoalescer {

  /** Whether concurrent increments are merged; <code>false</code> by default. */
  public static final String ENABLED_KEY = "hbase.regionserver.increment.coalesce.enabled";

  /**
   * What waits for what: <code>row</code>, the default, for increments of the same row;
   * <code>region</code> for those of all rows of a region, which are then done as one.
   */
  public static final String SCOPE_KEY = "hbase.regionserver.increment.coalesce.scope";

  /** The key of how long an increment waits for the row, as the region has it. */
  private static final String ROW_WAIT_KEY = "hbase.rowlock.wait.duration";
  private static final int DEFAULT_ROW_WAIT_MS = 30_000;

  /** More handlers than that wait for one row on no server; bounds the size of a WAL key. */
  private static final int MAX = 1024;

  /** So many calls of usual depth fit in a stack of a quarter of the default size. */
  private static final int MAX_CALLS = 32;

  private static final Runnable NOTHING = () -> {
  };

  private static final Logger LOG = LoggerFactory.getLogger(IncrementCoalescer.class);

  private final RefusedCalls refusedCalls = new RefusedCalls();

  private final ConcurrentHashMap<CounterKey, IncrementQueue> turns = new ConcurrentHashMap<>();
  private final RegionServerServices server;
  /** Null until it is enabled for the first time. */
  private volatile InFlightIncrements lanes;
  /** Null until it is enabled for the first time. */
  private volatile CoalescerMetrics metrics;
  private volatile boolean enabled;
  private volatile boolean together;
  private volatile long rowWaitMs;

  /**
   * @param server for the nonces and metrics of single increments
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public IncrementCoalescer(Configuration conf, RegionServerServices server) {
    this.server = server;
    configure(conf);
  }

  private void configure(Configuration conf) {
    boolean enable = enabled(conf);
    boolean regions = regions(conf);
    if (enable && metrics == null) {
      metrics = CoalescerMetrics.register();
      lanes = new InFlightIncrements();
    }
    rowWaitMs = rowWaitMs(conf);
    together = regions;
    enabled = enable;
  }

  private static boolean enabled(Configuration conf) {
    String value = conf.getTrimmed(ENABLED_KEY, "false");
    if (value.equalsIgnoreCase("true") || value.equalsIgnoreCase("false")) {
      return Boolean.parseBoolean(value);
    }
    throw new IllegalArgumentException(
      ENABLED_KEY + " is '" + value + "'; set it to true or false.");
  }

  private static boolean regions(Configuration conf) {
    String value = conf.getTrimmed(SCOPE_KEY, "row");
    if (value.equals("row") || value.equals("region")) {
      return value.equals("region");
    }
    throw new IllegalArgumentException(
      SCOPE_KEY + " is '" + value + "'; set it to row or region.");
  }

  private static long rowWaitMs(Configuration conf) {
    return Math.max(1, conf.getInt(ROW_WAIT_KEY, DEFAULT_ROW_WAIT_MS));
  }

  /** Takes the keys from a changed configuration; keeps what it has if a value is no good. */
  public void onConfigurationChange(Configuration conf) {
    try {
      configure(conf);
    } catch (IllegalArgumentException e) {
      LOG.error("Increments are merged as before: {}", e.getMessage());
    }
  }

  /**
   * Does an increment, in a group or by itself.
   * @return what {@link HRegion#increment(Increment, long, long)} would return
   * @throws IOException as that does
   */
  public Result increment(HRegion region, Increment increment, long nonceGroup, long nonce)
    throws IOException {
    IncrementCall call = IncrementCall.claim();
    if (call != null && call.chain() != null) {
      return inChain(call, region, increment);
    }
    if (!enabled) {
      return region.increment(increment, nonceGroup, nonce);
    }
    if (call == null || call.key() == null && !call.isLone()) {
      return inTurn(region, increment, nonceGroup, nonce);
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

  /** A handler's own call that found nobody of its row under way. */
  private Result lone(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    if (together && held(region, increment.getRow())) {
      // Those of other rows are not to wait for it.
      pass(call);
      return inTurn(region, increment, call.nonceGroup(), call.nonce());
    }
    if (call.leaveGroup()) {
      metrics.single();
    } else {
      CounterKey own = mergeable(region, increment);
      if (call.key().equals(own)) {
        call.read(increment, own);
        return begun(call, region, increment);
      }
      // Who waits for it would have to wait for the row, whatever else they have in common.
      call.hold();
      if (own != null) {
        metrics.single();
      }
    }
    return alone(region, increment, call.nonceGroup(), call.nonce(), true, () -> pass(call));
  }

  /** A handler's own call that was given a turn, which a thread may have taken since. */
  private Result begun(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    if (call.key().region() == region && call.hold() != null) {
      if (!call.key().together() || !held(region, increment.getRow())) {
        return withTurn(call, region, increment);
      }
      pass(call);
    }
    return inTurn(region, increment, call.nonceGroup(), call.nonce());
  }

  /**
   * An increment that is merged with no other. If the same one is going on, which has its nonce but
   * not the row yet, the lock of the row is given up, and the turn with it, and it is waited for
   * without any.
   * @param mayWait whether nobody waits for this thread when it has passed the turn on
   * @param pass    does that
   */
  private Result alone(HRegion region, Increment increment, long nonceGroup, long nonce,
    boolean mayWait, Runnable pass) throws IOException {
    NonceDeadlockGuard.InRegion own = NonceDeadlockGuard.begin();
    try {
      return region.increment(increment, nonceGroup, nonce);
    } catch (InterruptedIOException e) {
      if (!own.timedOut()) {
        throw e;
      }
    } finally {
      own.end();
      pass.run();
    }
    if (!mayWait) {
      throw new RegionTooBusyException("The same increment is going on already.");
    }
    CounterKey key = mergeable(region, increment);
    return key == null || !permitted(region, increment)
      ? region.increment(increment, nonceGroup, nonce)
      : queued(key, region, increment, nonceGroup, nonce);
  }

  /** Does an increment whose thread may wait, with others if there are any. */
  private Result inTurn(HRegion region, Increment increment, long nonceGroup, long nonce)
    throws IOException {
    CounterKey found = mergeable(region, increment);
    if (found == null) {
      return region.increment(increment, nonceGroup, nonce);
    }
    // Calls that come meanwhile are to know of it.
    int place = InFlightIncrements.place(region.getRegionInfo().getRegionName(),
      found.together() ? null : increment.getRow());
    InFlightIncrements.Lane lane = lanes.at(place);
    lane.enter(null);
    try {
      IncrementCall ahead = lane.first(place);
      if (ahead != null) {
        ahead.turnOf(found, false, turns);
      }
      return inTurn(found, region, increment, nonceGroup, nonce);
    } finally {
      lane.leave(null);
    }
  }

  /** Does an increment that can be merged, and is known to its lane. */
  private Result inTurn(CounterKey found, HRegion region, Increment increment, long nonceGroup,
    long nonce) throws IOException {
    IncrementQueue own = new IncrementQueue();
    IncrementQueue turn = turns.putIfAbsent(found, own);
    if (turn == null && found.together() && held(region, increment.getRow())) {
      pass(found, own);
      return inTurn(found.of(increment.getRow()), region, increment, nonceGroup, nonce);
    }
    if (turn == null) {
      metrics.single();
      return alone(region, increment, nonceGroup, nonce, true, () -> pass(found, own));
    }
    if (!permitted(region, increment)) {
      return region.increment(increment, nonceGroup, nonce);
    }
    return queued(found, region, increment, nonceGroup, nonce);
  }

  /**
   * Does an increment in its turn. A duplicate of one that is going on waits for that here: not in
   * the queue, where others would wait for it, nor in the region, where it would keep the row from
   * the one that it waits for.
   */
  private Result queued(CounterKey key, HRegion region, Increment increment, long nonceGroup,
    long nonce) throws IOException {
    if (!startNonce(nonceGroup, nonce, server)) {
      metrics.repeated();
      return region.increment(increment, nonceGroup, nonce);
    }
    PendingIncrement pending =
      new PendingIncrement(increment, nonceGroup, nonce, Thread.currentThread());
    pending.start();
    return TraceUtil.trace(() -> follow(key, region, pending, increment),
      () -> span(region));
  }

  /** Returns false if only the region can tell whether the caller may. */
  private boolean permitted(HRegion region, Increment increment) throws IOException {
    if (
      IncrementHooks.of(region.getCoprocessorHost()) == IncrementHooks.PERMISSIONS
        && !IncrementHooks.permit(region.getCoprocessorHost(), increment)
    ) {
      metrics.hooked();
      return false;
    }
    return true;
  }

  /** Returns whether {@link #dispatch} has anything to do. */
  public boolean isEnabled() {
    return enabled;
  }

  /** Has increments that this server reads from now on pass here before they are dispatched. */
  public void intercept(RpcServerInterface rpcServer, HRegionServer regionServer) {
    RequestInterceptors.of(rpcServer).add(new IncrementDispatch(regionServer, this));
  }

  /** Called when a request has been read. */
  public IncrementCall call(IncrementRequest request) {
    return new IncrementCall(this, request);
  }

  /**
   * Gives a call to the scheduler, unless it would only wait for others: then it does so without a
   * handler, until it can be done.
   * @return false if the scheduler does not take it
   */
  public boolean dispatch(IncrementCall call, CallRunner runner, RpcScheduler scheduler) {
    call.runBy(runner, scheduler);
    IncrementRequest request = call.request();
    boolean alone = call.enter(lanes, InFlightIncrements.place(request.regionName(),
      together ? null : request.mutation().getRow()));
    boolean taken = alone || !read(call) ? call.dispatch() : join(call);
    if (!taken) {
      over(call);
    }
    return taken;
  }

  /** Returns false if its increment is not to be merged. */
  private boolean read(IncrementCall call) {
    IncrementRequest request = call.request();
    try {
      HRegion region = request.region();
      if (region == null) {
        return false;
      }
      Increment increment = request.increment();
      boolean apart =
        durability(region, increment) == Durability.SKIP_WAL || hooked(region, increment);
      CounterKey key = apart ? null : CounterKey.of(region, increment, together);
      call.read(increment, key);
      return key != null;
    } catch (IOException | RuntimeException e) {
      // The handler says what is wrong with it.
      return false;
    }
  }

  /** Has a call wait for who is under way, or gives it to the scheduler. */
  private boolean join(IncrementCall call) {
    CounterKey key = call.key();
    while (true) {
      IncrementQueue turn = turns.get(key);
      IncrementCall ahead = turn == null ? call.ahead() : null;
      if (ahead != null) {
        // What is more urgent does not wait in the queue of what is less.
        turn = ahead.turnOf(key, ahead.request().priority() == call.request().priority(), turns);
      }
      if (turn == null) {
        IncrementQueue own = new IncrementQueue(call);
        turn = turns.putIfAbsent(key, own);
        if (turn == null) {
          return call.dispatch(own);
        }
      }
      if (turn.waiting() >= MAX) {
        return call.dispatch();
      }
      if (turn.join(call)) {
        return true;
      }
      // Over, and about to be removed by its last thread, which this one is not to wait for.
      turns.remove(key, turn);
    }
  }

  /** Called when a call has been answered, or dropped. */
  void over(IncrementCall call) {
    try {
      endNonce(call, call.state() == State.DONE);
    } finally {
      try {
        pass(call);
      } finally {
        call.leave();
      }
    }
  }

  /**
   * Called when the scheduler does not take a call that has been accepted before. Those who wait
   * behind it go on waiting: it is given to the scheduler again, for as long as it might wait for a
   * row.
   */
  void refused(IncrementCall call) {
    metrics.refused();
    refusedCalls.add(call, rowWaitMs);
  }

  private void pass(IncrementCall call) {
    IncrementQueue turn = call.release();
    if (turn != null) {
      pass(call.key(), turn);
    }
  }

  /** A handler's own call, which has the turn: alone, or with all that wait behind it. */
  private Result withTurn(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    try {
      IncrementQueue turn = call.hold();
      if (turn.waiting() == 0) {
        metrics.single();
        return alone(region, increment, call.nonceGroup(), call.nonce(), true, () -> pass(call));
      }
      if (!permitted(region, increment)) {
        return region.increment(increment, call.nonceGroup(), call.nonce());
      }
      if (!tryStart(call)) {
        // The one that is going on may need the turn.
        pass(call);
        return queued(call.key(), region, increment, call.nonceGroup(), call.nonce());
      }
      return TraceUtil.trace(() -> {
        lead(call.key(), turn, region, call);
        return conclude(call.key(), region, call, increment);
      }, () -> span(region));
    } finally {
      pass(call);
    }
  }

  /** A call that is run by the thread that leads, inside another one. */
  private Result inChain(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    if (call.key().region() != region || !permitted(region, increment)) {
      endNonce(call, false);
      return aloneInChain(call, region, increment);
    }
    NestedCalls chain = call.chain();
    chain.add(call);
    try {
      return TraceUtil.trace(() -> {
        run(chain, call.key(), region);
        return conclude(call.key(), region, call, increment);
      }, () -> span(region));
    } finally {
      chain.remove(call);
    }
  }

  /**
   * Does the increment of a call that is run inside another one by itself. All that are around it
   * wait meanwhile: it does not wait for a row that somebody holds, and nor does any when one of
   * them has.
   */
  private Result aloneInChain(IncrementCall call, HRegion region, Increment increment)
    throws IOException {
    if (call.chain().isLate(rowWaitMs) || held(region, increment.getRow())) {
      throw new RegionTooBusyException("Somebody holds the row of the increment.");
    }
    return alone(region, increment, call.nonceGroup(), call.nonce(), false, NOTHING);
  }

  /** Runs all calls of a chain that are left, each inside the one before, and does the sum. */
  private void run(NestedCalls chain, CounterKey key, HRegion region) {
    RpcCall own = RpcServer.getCurrentCall().orElse(null);
    for (IncrementCall next = chain.next(); next != null; next = chain.next()) {
      try {
        // A duplicate may have to wait for one of this chain: not here.
        if (tryStart(next)) {
          next.run(chain);
        } else {
          next.dispatchInTime();
        }
      } catch (RuntimeException | Error e) {
        // Its client gets no answer, as from a handler that fails so.
        LOG.error("An increment of {} failed", key, e);
      } finally {
        RpcServer.setCurrentCall(own);
      }
    }
    if (chain.end()) {
      runGroup(chain, key, region);
    }
  }

  private static Span span(HRegion region) {
    return TraceUtil.createSpan("Region.increment.merged");
  }

  private static Durability durability(HRegion region, Increment increment) {
    Durability durability = increment.getDurability();
    return durability == Durability.USE_DEFAULT
      ? region.getTableDescriptor().getDurability()
      : durability;
  }

  private static boolean hooked(HRegion region, Increment increment) {
    // Cells with permissions of their own are AccessController's to make.
    return increment.getACL() != null
      || IncrementHooks.of(region.getCoprocessorHost()) == IncrementHooks.EACH;
  }

  private CounterKey mergeable(HRegion region, Increment increment) {
    // Without a WAL edit nobody could tell a group that changed nothing from one that did.
    if (durability(region, increment) == Durability.SKIP_WAL) {
      metrics.withoutWal();
      return null;
    }
    if (hooked(region, increment)) {
      metrics.hooked();
      return null;
    }
    CounterKey key = CounterKey.of(region, increment, together);
    if (key == null) {
      metrics.irregular();
    }
    return key;
  }

  private void pass(CounterKey key, IncrementQueue turn) {
    PendingIncrement next = turn.pass();
    if (next == null) {
      turns.remove(key, turn);
    } else {
      next.wake(turn);
    }
  }

  private Result follow(CounterKey key, HRegion region, PendingIncrement pending,
    Increment increment) throws IOException {
    try {
      IncrementQueue turn = null;
      while (turn == null || !turn.join(pending)) {
        IncrementQueue own = new IncrementQueue();
        turn = turns.putIfAbsent(key, own);
        if (turn == null) {
          // The turn was over before this one had joined.
          pending.setState(State.LEADS);
          turn = own;
          break;
        }
      }
      if (await(turn, pending) == State.LEADS) {
        lead(key, turn, region, pending);
      }
      return conclude(key, region, pending, increment);
    } finally {
      // If something was thrown on the way.
      endNonce(pending, pending.state() == State.DONE);
    }
  }

  /** What comes of an increment for which somebody has done what there was to do. */
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
        endNonce(pending, true);
        return pending.result();
      case FAILED:
        endNonce(pending, false);
        throw pending.failure();
      default:
        // Gone from the queue, or the group came to nothing: the region does it, or says why not.
        endNonce(pending, false);
        metrics.alone();
        boolean carried = pending instanceof IncrementCall
          && ((IncrementCall) pending).chain() != null;
        return carried
          ? aloneInChain((IncrementCall) pending, region, increment)
          : alone(region, increment, pending.nonceGroup(), pending.nonce(), true, NOTHING);
    }
  }

  /**
   * Waits until this increment leads or its group is done. Who is interrupted, or has waited as
   * long as for a row lock, leaves, unless in a group already: that has to be waited for, like a
   * sync.
   */
  private State await(IncrementQueue turn, PendingIncrement pending) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs());
    boolean interrupted = false;
    State state = pending.state();
    while (state == State.WAITING || state == State.TAKEN) {
      long left = deadline - System.nanoTime();
      if (state == State.TAKEN) {
        // Waits without a limit: whoever has taken it says how it ends, see lead.
        LockSupport.park(turn);
      } else if (left > 0 && !interrupted) {
        LockSupport.parkNanos(turn, left);
      } else if (turn.leave(pending)) {
        break;
      }
      interrupted |= Thread.interrupted();
      state = pending.state();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return state;
  }

  private long waitMs() {
    long wait = rowWaitMs;
    return RpcServer.getCurrentCall().map(
      call -> Math.min(wait, call.getDeadline() - EnvironmentEdgeManager.currentTime()))
      .orElse(wait);
  }

  /**
   * Does the sum of this increment and of all that wait behind it, and passes the turn on.
   * <p>
   * Invariant: whoever is taken out of the queue is told how it ends before the turn is passed on,
   * whatever is thrown; that it failed if the edit may be in the WAL, else to go on by itself.
   */
  private void lead(CounterKey key, IncrementQueue turn, HRegion region, PendingIncrement leader) {
    List<PendingIncrement> waiting = Collections.emptyList();
    NestedCalls chain = null;
    try (ResponseBatch responses = ResponseBatch.begin()) {
      waiting = turn.take(MAX - 1, MAX_CALLS);
      waiting.add(0, leader);
      if (key.together()) {
        setApart(region, waiting, leader);
      }
      chain = new NestedCalls(waiting, responses);
      run(chain, key, region);
    } finally {
      try {
        releaseLeft(waiting, chain);
      } finally {
        // After those who are done have been woken: where threads wait for processors, the sooner
        // these answer, the more of their clients' next increments are in the next group.
        leader.release();
        pass(key, turn);
      }
    }
    if (chain.error() != null) {
      throw chain.error();
    }
  }

  /** Has those go on by themselves who were taken for a group that was not even tried. */
  private static void releaseLeft(List<PendingIncrement> taken, NestedCalls chain) {
    for (PendingIncrement left : taken) {
      if (left.state() != State.TAKEN) {
        continue;
      }
      if (!(left instanceof IncrementCall)) {
        left.setState(State.ALONE);
        left.unpark();
      } else if (chain == null) {
        ((IncrementCall) left).dispatchInTime();
      }
    }
    if (chain != null) {
      for (IncrementCall next = chain.next(); next != null; next = chain.next()) {
        next.dispatchInTime();
      }
    }
  }

  /** Does the sum of a chain's members, and tells all of them how it ended. */
  private void runGroup(NestedCalls chain, CounterKey key, HRegion region) {
    List<PendingIncrement> members = chain.members();
    if (members.isEmpty()) {
      return;
    }
    IncrementGroup group = null;
    Throwable failure = null;
    try {
      group = new IncrementGroup(key, members);
      group.run(region);
      group.done();
    } catch (Throwable e) {
      failure = e;
      IncrementGroup.failed(members, group != null && group.appended(), e);
    } finally {
      members.forEach(PendingIncrement::unpark);
    }
    if (failure instanceof Error) {
      chain.failed((Error) failure);
    }
    try {
      if (failure == null) {
        count(region, group);
      } else if (group == null || !group.appended()) {
        metrics.failedGroup();
      }
    } catch (RuntimeException | Error e) {
      // All have been told already.
      LOG.error("A group of increments of {} is not counted", key, e);
    }
  }

  /**
   * Whether somebody has the row's lock or waits for it. That is never a group of all rows, whose
   * turn is the caller's. Who holds it is not to keep the other rows waiting.
   */
  private static boolean held(HRegion region, byte[] row) {
    return region.getLockedRows().containsKey(new HashedBytes(row));
  }

  /** Removes those whose row is held, and has them go on with those of their row alone. */
  private static void setApart(HRegion region, List<PendingIncrement> members,
    PendingIncrement leader) {
    members.removeIf(member -> {
      if (!held(region, member.row())) {
        return false;
      }
      member.setState(State.APART);
      if (member instanceof IncrementCall && member != leader) {
        ((IncrementCall) member).dispatchInTime();
      } else {
        member.unpark();
      }
      return true;
    });
  }

  /** The region has counted one write for each row, and one increment; here are the others. */
  private void count(HRegion region, IncrementGroup group) {
    metrics.group(group.size(), group.calls());
    int others = group.size() - group.rows();
    if (others > 0) {
      region.addWriteRequestsCount(others);
      if (server != null && server.getMetrics() != null) {
        server.getMetrics().updateWriteQueryMeter(region, others);
      }
    }
    if (region.getMetrics() != null) {
      for (int i = 1; i < group.size(); i++) {
        region.getMetrics().updateIncrement();
      }
    }
  }

  private ServerNonceManager nonces(long nonce) {
    return server == null || nonce == HConstants.NO_NONCE ? null : server.getNonceManager();
  }

  private boolean startNonce(long nonceGroup, long nonce, Stoppable waiting)
    throws InterruptedIOException {
    ServerNonceManager manager = nonces(nonce);
    try {
      return manager == null || manager.startOperation(nonceGroup, nonce, waiting);
    } catch (InterruptedException e) {
      throw new InterruptedIOException("Nonce start operation interrupted");
    }
  }

  /** Returns false if the same increment has been done, or is going on, which is not waited for. */
  private boolean tryStart(IncrementCall call) {
    try {
      if (!startNonce(call.nonceGroup(), call.nonce(), NonceDeadlockGuard.INSTANCE)) {
        return false;
      }
    } catch (InterruptedIOException e) {
      return false;
    } catch (RuntimeException | Error e) {
      LOG.error("The nonce of an increment is not known, its call goes to a handler", e);
      return false;
    }
    call.start();
    return true;
  }

  private void endNonce(PendingIncrement increment, boolean success) {
    ServerNonceManager manager = nonces(increment.nonce());
    if (!increment.stop() || manager == null) {
      return;
    }
    try {
      if (success) {
        manager.addMvccToOperationContext(increment.nonceGroup(), increment.nonce(),
          increment.sequenceId());
      }
    } finally {
      manager.endOperation(increment.nonceGroup(), increment.nonce(), success);
    }
  }

  /** Returns how many rows have an increment going on or waiting. */
  int rows() {
    return turns.size();
  }

  /** Returns how many increments have come and are not over yet. */
  int underWay() {
    return lanes.underWay();
  }

  /** Returns how many increments wait for their turn. */
  int waiting() {
    return turns.values().stream().mapToInt(IncrementQueue::waiting).sum();
  }
}
