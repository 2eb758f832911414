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

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.ipc.ResponseBatch;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite.State;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leads groups of writes: takes the members out of the queue, brings the calls among them to where
 * they would wait, applies the group, and completes each member. For the thread that leads; the
 * class itself has no state.
 */
@InterfaceAudience.Private
final class GroupLeader {
  private static final Logger LOG = LoggerFactory.getLogger(GroupLeader.class);

  /** The maximum number of members; no server has more handlers. Bounds the size of a WAL key. */
  static final int MAX_MEMBERS = 1024;

  /** So many calls of usual depth fit in a stack of a quarter of the default size. */
  private static final int MAX_CALLS = 32;

  private final WriteKind kind;
  private final WriteNonces nonces;
  private final WriteQueues queues;

  GroupLeader(WriteKind kind, WriteNonces nonces, WriteQueues queues) {
    this.kind = kind;
    this.nonces = nonces;
    this.queues = queues;
  }

  /** Runs the remaining calls of a chain, each nested in the one before, and applies the group. */
  void run(NestedCalls chain, GroupKey key) {
    RpcCall own = RpcServer.getCurrentCall().orElse(null);
    for (WriteCall next = chain.next(); next != null; next = chain.next()) {
      try {
        // A duplicate would have to wait for a member of this chain.
        if (nonces.tryStart(next)) {
          next.run(chain);
        } else {
          next.dispatchInTime();
        }
      } catch (RuntimeException | Error e) {
        // Its client gets no response, as when a handler fails so.
        LOG.error("A write of {} failed", key, e);
      } finally {
        RpcServer.setCurrentCall(own);
      }
    }
    if (chain.end()) {
      runGroup(chain, key);
    }
  }

  /**
   * Applies this write and all that wait behind it as a group, and passes the leadership on, that
   * of a call also if others have begun to wait for it meanwhile.
   * <p>
   * Invariant: each write that was taken out of the queue is completed before the leadership is
   * passed on, whatever is thrown: failed if the edit may be in the WAL, else applied alone.
   * @param queue null if the leader is a call for which none waited
   */
  void lead(GroupKey key, WriteQueue queue, PendingWrite leader, Runnable afterAppend) {
    List<PendingWrite> waiting = Collections.emptyList();
    NestedCalls chain = null;
    try (ResponseBatch responses = ResponseBatch.begin()) {
      waiting = queue == null
        ? new ArrayList<>(1)
        : queue.take(MAX_MEMBERS - 1, MAX_CALLS, kind.members(leader));
      waiting.add(0, leader);
      if (key.together()) {
        setApart(waiting, leader);
      }
      chain = new NestedCalls(waiting, responses, afterAppend);
      run(chain, key);
    } finally {
      try {
        releaseLeft(waiting, chain);
      } finally {
        // After the members have been unparked: where threads wait for processors, the sooner the
        // members respond, the more of their clients' next writes are in the next group.
        if (leader instanceof WriteCall) {
          queues.pass((WriteCall) leader);
        } else {
          queues.pass(key, queue);
        }
      }
    }
    if (chain.error() != null) {
      throw chain.error();
    }
  }

  /** Releases members of a group that was not even tried, to be applied alone. */
  private static void releaseLeft(List<PendingWrite> taken, NestedCalls chain) {
    for (PendingWrite left : taken) {
      if (left.state() != State.TAKEN) {
        continue;
      }
      if (!(left instanceof WriteCall)) {
        left.setState(State.ALONE);
        left.unpark();
      } else if (chain == null) {
        ((WriteCall) left).dispatchInTime();
      }
    }
    if (chain != null) {
      for (WriteCall next = chain.next(); next != null; next = chain.next()) {
        next.dispatchInTime();
      }
    }
  }

  /** Applies a chain's members as a group, and completes all of them. */
  private void runGroup(NestedCalls chain, GroupKey key) {
    List<PendingWrite> members = chain.members();
    if (members.isEmpty()) {
      return;
    }
    GroupParts parts = null;
    try {
      parts = new GroupParts(key, members, chain.afterAppend());
      parts.apply();
    } catch (Throwable e) {
      if (parts == null) {
        WriteGroup.failed(members, false, e);
      } else {
        parts.fail(e);
      }
      chain.failed(e instanceof Error ? (Error) e : null);
    } finally {
      members.forEach(PendingWrite::unpark);
    }
    try {
      if (parts != null) {
        if (parts.error() != null) {
          chain.failed(parts.error());
        }
        parts.count(kind);
      }
    } catch (RuntimeException | Error e) {
      // All members are complete already.
      LOG.error("A group of writes of {} is not counted", key, e);
    }
  }

  /** Removes the members whose row is locked; they wait in the queue of their row. */
  private void setApart(List<PendingWrite> members, PendingWrite leader) {
    members.removeIf(member -> {
      if (!kind.isLocked(member.region(), member.write())) {
        return false;
      }
      member.setState(State.APART);
      if (member instanceof WriteCall && member != leader) {
        ((WriteCall) member).dispatchInTime();
      } else {
        member.unpark();
      }
      return true;
    });
  }
}
