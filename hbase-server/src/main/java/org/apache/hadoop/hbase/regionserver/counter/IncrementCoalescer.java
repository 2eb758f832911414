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
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.hadoop.hbase.regionserver.counter.PendingIncrement.State;
import org.apache.hadoop.hbase.trace.TraceUtil;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges increments of the same columns of a row that come while one is being done: one row lock,
 * one read, one WAL edit and one sync for all of them, and to each the value that it would have got
 * in its place in a row of single ones. On request all rows of a region take turns together: one
 * WAL edit and one sync for a group, and a lock and a read for each of its rows.
 * <p>
 * The first increment of a row is done at once, as without this class. Those that come meanwhile
 * queue up; the first of them leads the next group and does the sum of all. So nobody waits who
 * would not have waited for the row lock, as long as each row is for itself. The threads are the
 * handlers' own, and nobody holds a lock of this class while a region works.
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
  private static final int MOST = 1024;

  private static final Logger LOG = LoggerFactory.getLogger(IncrementCoalescer.class);

  private final ConcurrentHashMap<CounterKey, CounterTurn> turns = new ConcurrentHashMap<>();
  private final RegionServerServices server;
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
    if (!enabled) {
      return region.increment(increment, nonceGroup, nonce);
    }
    CounterKey found = mergeable(region, increment);
    if (found == null) {
      return region.increment(increment, nonceGroup, nonce);
    }
    CounterTurn own = new CounterTurn();
    CounterTurn turn = turns.putIfAbsent(found, own);
    if (turn == null && found.together() && held(region, increment.getRow())) {
      pass(found, own);
      found = found.of(increment.getRow());
      own = new CounterTurn();
      turn = turns.putIfAbsent(found, own);
    }
    CounterKey key = found;
    if (turn == null) {
      return first(key, own, region, increment, nonceGroup, nonce);
    }
    IncrementHooks hooks = IncrementHooks.of(region.getCoprocessorHost());
    if (
      hooks == IncrementHooks.PERMISSIONS
        && !IncrementHooks.permit(region.getCoprocessorHost(), increment)
    ) {
      metrics.hooked();
      return region.increment(increment, nonceGroup, nonce);
    }
    // A duplicate of one that is going on waits here, not in the queue where others wait for it.
    if (!startNonce(nonceGroup, nonce)) {
      metrics.repeated();
      return region.increment(increment, nonceGroup, nonce);
    }
    PendingIncrement pending =
      new PendingIncrement(increment, key.amounts(increment), nonceGroup, nonce);
    return TraceUtil.trace(() -> follow(key, region, pending, increment),
      () -> span(region));
  }

  private static Span span(HRegion region) {
    return TraceUtil.createSpan("Region.increment.merged");
  }

  private CounterKey mergeable(HRegion region, Increment increment) {
    Durability durability = increment.getDurability();
    if (durability == Durability.USE_DEFAULT) {
      durability = region.getTableDescriptor().getDurability();
    }
    // Without a WAL edit nobody could tell a group that changed nothing from one that did.
    if (durability == Durability.SKIP_WAL) {
      metrics.withoutWal();
      return null;
    }
    // Cells with permissions of their own are AccessController's to make.
    if (
      increment.getACL() != null
        || IncrementHooks.of(region.getCoprocessorHost()) == IncrementHooks.EACH
    ) {
      metrics.hooked();
      return null;
    }
    CounterKey key = CounterKey.of(region, increment, together);
    if (key == null) {
      metrics.irregular();
    }
    return key;
  }

  /** The row is nobody's: as without this class. */
  private Result first(CounterKey key, CounterTurn turn, HRegion region, Increment increment,
    long nonceGroup, long nonce) throws IOException {
    metrics.single();
    try {
      return region.increment(increment, nonceGroup, nonce);
    } finally {
      pass(key, turn);
    }
  }

  private void pass(CounterKey key, CounterTurn turn) {
    PendingIncrement next = turn.pass();
    if (next == null) {
      turns.remove(key, turn);
    } else {
      LockSupport.unpark(next.thread());
    }
  }

  private Result follow(CounterKey key, HRegion region, PendingIncrement pending,
    Increment increment) throws IOException {
    CounterTurn turn = null;
    while (turn == null || !turn.join(pending)) {
      CounterTurn own = new CounterTurn();
      turn = turns.putIfAbsent(key, own);
      if (turn == null) {
        // The turn was over before this one had joined.
        pending.setState(State.LEADS);
        turn = own;
        break;
      }
    }
    State state = await(turn, pending);
    if (state == State.LEADS) {
      lead(key, turn, region, pending);
      state = pending.state();
    }
    switch (state) {
      case APART:
        pending.setState(State.WAITING);
        return follow(key.of(pending.row()), region, pending, increment);
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
        return region.increment(increment, pending.nonceGroup(), pending.nonce());
    }
  }

  /**
   * Waits until this increment leads or its group is done. Who is interrupted, or has waited as
   * long as for a row lock, leaves, unless in a group already: that has to be waited for, like a
   * sync.
   */
  private State await(CounterTurn turn, PendingIncrement pending) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs());
    boolean interrupted = false;
    State state = pending.state();
    while (state == State.WAITING || state == State.TAKEN) {
      long left = deadline - System.nanoTime();
      if (state == State.TAKEN) {
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

  /** Does the sum of this increment and of all that wait behind it, and passes the turn on. */
  private void lead(CounterKey key, CounterTurn turn, HRegion region, PendingIncrement leader) {
    try {
      leadGroup(key, turn, region, leader);
    } finally {
      // After those who are done have been woken: where threads wait for processors, the sooner
      // these answer, the more of their clients' next increments are in the next group.
      pass(key, turn);
    }
  }

  private void leadGroup(CounterKey key, CounterTurn turn, HRegion region,
    PendingIncrement leader) {
    List<PendingIncrement> members = turn.take(MOST - 1);
    members.add(0, leader);
    if (key.together()) {
      setApart(region, members, leader);
    }
    IncrementGroup group = new IncrementGroup(key, members);
    if (group.size() == 0) {
      return;
    }
    IOException failure = null;
    Error error = null;
    try {
      group.run(region);
    } catch (IOException e) {
      failure = e;
    } catch (RuntimeException e) {
      failure = new IOException(e);
    } catch (Error e) {
      failure = new IOException(e);
      error = e;
    }
    if (failure == null) {
      count(region, group);
      group.done();
    } else {
      if (!group.appended()) {
        metrics.failedGroup();
      }
      group.failed(failure);
    }
    for (PendingIncrement member : members) {
      if (member != leader) {
        LockSupport.unpark(member.thread());
      }
    }
    if (error != null) {
      endNonce(leader, false);
      throw error;
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
      if (member != leader) {
        LockSupport.unpark(member.thread());
      }
      return true;
    });
  }

  /** The region has counted one write for each row, and one increment; here are the others. */
  private void count(HRegion region, IncrementGroup group) {
    metrics.group(group.size());
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

  private boolean startNonce(long nonceGroup, long nonce) throws IOException {
    ServerNonceManager manager = nonces(nonce);
    try {
      return manager == null || manager.startOperation(nonceGroup, nonce, server);
    } catch (InterruptedException e) {
      throw new InterruptedIOException("Nonce start operation interrupted");
    }
  }

  private void endNonce(PendingIncrement increment, boolean success) {
    ServerNonceManager manager = nonces(increment.nonce());
    if (manager == null) {
      return;
    }
    if (success) {
      manager.addMvccToOperationContext(increment.nonceGroup(), increment.nonce(),
        increment.sequenceId());
    }
    manager.endOperation(increment.nonceGroup(), increment.nonce(), success);
  }

  /** Returns how many rows have an increment going on or waiting. */
  int rows() {
    return turns.size();
  }

  /** Returns how many increments wait for their turn. */
  int waiting() {
    return turns.values().stream().mapToInt(CounterTurn::waiting).sum();
  }
}
