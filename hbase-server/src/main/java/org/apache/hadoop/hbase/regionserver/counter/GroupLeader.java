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

import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.hadoop.hbase.ipc.ResponseBatch;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.counter.PendingIncrement.State;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads groups of increments: takes the members out of the queue, brings the calls among them to
 * where they would wait, applies the sum, and completes each member. For the thread that leads; the
 * class itself has no state.
 */
@InterfaceAudience.Private
final class GroupLeader {
  private static final Logger LOG = LoggerFactory.getLogger(GroupLeader.class);

  /** The maximum number of members; no server has more handlers. Bounds the size of a WAL key. */
  static final int MAX_MEMBERS = 1024;

  /** So many calls of usual depth fit in a stack of a quarter of the default size. */
  private static final int MAX_CALLS = 32;

  private final RegionServerServices server;
  private final CoalescerMetrics metrics;
  private final IncrementNonces nonces;
  private final BiConsumer<CounterKey, IncrementQueue> pass;

  /**
   * @param server  for its metrics; may be null
   * @param pass    passes the leadership on to the next increment of a queue
   */
  GroupLeader(RegionServerServices server, CoalescerMetrics metrics, IncrementNonces nonces,
    BiConsumer<CounterKey, IncrementQueue> pass) {
    this.server = server;
    this.metrics = metrics;
    this.nonces = nonces;
    this.pass = pass;
  }

  /** Runs the remaining calls of a chain, each nested in the one before, and applies the sum. */
  void run(NestedCalls chain, CounterKey key, HRegion region) {
    RpcCall own = RpcServer.getCurrentCall().orElse(null);
    for (IncrementCall next = chain.next(); next != null; next = chain.next()) {
      try {
        // A duplicate would have to wait for a member of this chain.
        if (nonces.tryStart(next)) {
          next.run(chain);
        } else {
          next.dispatchInTime();
        }
      } catch (RuntimeException | Error e) {
        // Its client gets no response, as when a handler fails so.
        LOG.error("An increment of {} failed", key, e);
      } finally {
        RpcServer.setCurrentCall(own);
      }
    }
    if (chain.end()) {
      runGroup(chain, key, region);
    }
  }

  /**
   * Applies the sum of this increment and of all that wait behind it, and passes the leadership on.
   * <p>
   * Invariant: each increment that was taken out of the queue is completed before the leadership is
   * passed on, whatever is thrown: failed if the edit may be in the WAL, else applied alone.
   */
  void lead(CounterKey key, IncrementQueue queue, HRegion region, PendingIncrement leader) {
    List<PendingIncrement> waiting = Collections.emptyList();
    NestedCalls chain = null;
    try (ResponseBatch responses = ResponseBatch.begin()) {
      waiting = queue.take(MAX_MEMBERS - 1, MAX_CALLS);
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
        // After the members have been unparked: where threads wait for processors, the sooner the
        // members respond, the more of their clients' next increments are in the next group.
        leader.release();
        pass.accept(key, queue);
      }
    }
    if (chain.error() != null) {
      throw chain.error();
    }
  }

  /** Releases members of a group that was not even tried, to be applied alone. */
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

  /** Applies the sum of a chain's members, and completes all of them. */
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
      // All members are complete already.
      LOG.error("A group of increments of {} is not counted", key, e);
    }
  }

  /** Removes the members whose row is locked; they wait in the queue of their row. */
  private static void setApart(HRegion region, List<PendingIncrement> members,
    PendingIncrement leader) {
    members.removeIf(member -> {
      if (!isLocked(region, member.row())) {
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

  /**
   * Returns whether a row is locked, or waited for. The holder is never a group of all rows, since
   * the caller leads those, and it must not delay the other rows.
   */
  static boolean isLocked(HRegion region, byte[] row) {
    return region.getLockedRows().containsKey(new HashedBytes(row));
  }

  /** Counts what the region has not: it has counted one write for each row, and one increment. */
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
}
