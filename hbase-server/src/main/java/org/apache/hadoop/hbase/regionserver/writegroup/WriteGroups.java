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

import java.io.IOException;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RequestInterceptors;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite.State;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;

/**
 * Groups concurrent writes of one {@link WriteKind} that have the same {@link GroupKey}: one WAL
 * edit for each region ({@link GroupParts}) and one sync for all of them.
 * <p>
 * The first write is applied at once, as the base does. Writes that arrive meanwhile wait in a
 * {@link WriteQueue}; the first of them leads the next group ({@link GroupLeader}). No lock of this
 * class is held while a region works.
 *
 * <pre>
 *               no write of the lane in flight
 *   request ────────────────────────────────────────▶ applied alone, as the base does
 *      │ one is in flight
 *      ▼                becomes first
 *   WAITING ──────────────────────────▶ LEADS ──── takes what waits, applies the group
 *      │  taken by a leader               │
 *      ▼                                  ▼
 *    TAKEN ─────────────────────────▶  DONE     the group was applied
 *      │                               FAILED   its edit may be in the WAL, its sync failed
 *      │                               ALONE    it was not written: applied by itself
 *      └──▶ APART  its row is locked: waits in the queue of its row
 * </pre>
 *
 * Leadership is decided when a request is parsed ({@link WriteDispatch}). If no write of the lane
 * is in flight, the call is dispatched as usual. A waiting call releases its handler: the thread
 * that leads runs the waiting calls, one nested in the other ({@link NestedCalls}), each as far as
 * to where it would wait, applies the group, and lets each finish on the way back with its own
 * user, quota, span and metrics. So a group wakes up one handler, and its responses leave together.
 * Writes that arrive on other ways, as in a batch, wait in their threads.
 * <p>
 * A group that fails in a region before its edit is in the WAL has changed nothing there, and each
 * of its writes to the region is applied by itself. One that fails later fails for all of these, as
 * a single write does whose sync fails.
 * <p>
 * Thread-safe. The kind can be enabled and disabled while the server runs.
 */
@InterfaceAudience.Private
public final class WriteGroups implements WriteCall.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(WriteGroups.class);

  private final RefusedCalls refusedCalls = new RefusedCalls();
  private final WriteQueues queues = new WriteQueues();
  private final WriteKind kind;
  private final WriteNonces nonces;
  private final WriteExecutor executor;

  /** @param server for the nonces of writes; null in tests */
  public WriteGroups(WriteKind kind, RegionServerServices server) {
    this.kind = kind;
    this.nonces = new WriteNonces(server);
    this.executor = new WriteExecutor(this, kind, queues, nonces);
  }

  /** Must be called before the kind says for the first time that it is enabled. */
  public void prepare() {
    queues.prepare();
  }

  WriteKind kind() {
    return kind;
  }

  /** Returns whether writes are grouped. */
  public boolean isEnabled() {
    return kind.isEnabled();
  }

  /**
   * Applies a write, in a group or alone.
   * @return as {@link WriteKind#alone}
   * @throws IOException as that does
   */
  public Result apply(HRegion region, Row write, long nonceGroup, long nonce)
    throws IOException {
    return executor.apply(region, write, nonceGroup, nonce);
  }

  /**
   * Returns the write of a request, which may have been read before a handler began it.
   * @param proto the request's own
   */
  public Row read(MutationProto proto, CellScanner cells) throws IOException {
    Row read = WriteCall.read(proto);
    return read == null ? kind.parse(proto, cells) : read;
  }

  /** Has writes that this server reads from now on pass here before they are dispatched. */
  public void intercept(RpcServerInterface rpcServer, HRegionServer regionServer) {
    RequestInterceptors.of(rpcServer).add(new WriteDispatch(regionServer, this));
  }

  /** Returns the call of a request that was parsed. */
  public WriteCall call(WriteRequest request) {
    return new WriteCall(this, request);
  }

  /**
   * Dispatches a call, unless it would only wait for others: then it waits without a handler.
   * @return false if the scheduler does not accept it
   */
  public boolean dispatch(WriteCall call, CallRunner runner, RpcScheduler scheduler) {
    call.runBy(runner, scheduler);
    boolean taken = false;
    try {
      boolean alone = call.enter(queues.inFlight(), place(call.request()));
      taken = alone || !read(call) ? call.dispatch() : join(call);
    } finally {
      if (!taken) {
        // Others may wait for it by now.
        over(call);
      }
    }
    return taken;
  }

  /** Returns a hash of what a call may have to wait for: a row, a region, or a WAL. */
  private int place(WriteRequest request) {
    if (kind.groupsRegions()) {
      try {
        HRegion region = request.region();
        if (region != null) {
          return kind.place(region);
        }
      } catch (RuntimeException e) {
        // The handler reports it.
        LOG.debug("No region of this name", e);
      }
    }
    return WritesInFlight.place(request.regionName(),
      kind.groupsRows() ? null : request.proto().getRow());
  }

  /** Reads the write of a call. Returns false if it is not to be merged. */
  private boolean read(WriteCall call) {
    WriteRequest request = call.request();
    try {
      HRegion region = request.region();
      if (region == null || !kind.accepts(region, request.param())) {
        return false;
      }
      Row write = request.write();
      GroupKey key = kind.peek(region, write);
      call.read(region, write, key);
      return key != null;
    } catch (IOException | RuntimeException e) {
      // The handler reports it.
      return false;
    }
  }

  /** Has a call wait for the write in flight, or dispatches it. */
  private boolean join(WriteCall call) {
    GroupKey key = call.key();
    while (true) {
      WriteQueue queue = queues.get(key);
      WriteCall ahead = queue == null ? call.ahead() : null;
      if (ahead != null) {
        // A call does not wait in the queue of one with another priority.
        boolean unbegun = ahead.request().priority() == call.request().priority();
        queue = ahead.queueOf(key, unbegun, queues.map());
      }
      if (queue == null) {
        WriteQueue own = new WriteQueue(call);
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

  @Override
  public void over(WriteCall call) {
    try {
      nonces.end(call, call.state() == State.DONE);
    } finally {
      try {
        queues.pass(call);
      } finally {
        call.leave();
      }
    }
  }

  @Override
  public void refused(WriteCall call) {
    kind.metrics().refused();
    refusedCalls.add(call, kind.rowWaitMs());
  }

  /** Returns how many rows have a write in flight. */
  public int rows() {
    return queues.size();
  }

  /** Returns how many writes are in flight. */
  public int inFlight() {
    return queues.inFlight().inFlight();
  }

  /** Returns how many writes wait in queues. */
  public int waiting() {
    return queues.waiting();
  }
}
