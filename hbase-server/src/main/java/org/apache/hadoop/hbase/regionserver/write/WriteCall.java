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
package org.apache.hadoop.hbase.regionserver.write;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RequestInterceptors;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.monitoring.MonitoredRPCHandlerImpl;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The call of a write to one region that waits for a committer. Once a committer has taken it, it
 * belongs to that thread.
 */
@InterfaceAudience.Private
public class WriteCall {
  private static final Logger LOG = LoggerFactory.getLogger(WriteCall.class);

  private final CallRunner runner;
  private final RpcScheduler scheduler;
  private final HRegion region;
  private final List<byte[]> rows;
  private final long size;
  private final long deadline;
  private final long nonceGroup;
  private final long nonce;

  private Row write;
  private boolean done;
  private Result result;
  private Throwable failure;
  private long sequenceId;

  /** @param rows that it writes */
  public WriteCall(RpcServerInterface server, RpcCall call, HRegion region, List<byte[]> rows,
    long nonceGroup, long nonce) {
    this.runner = RequestInterceptors.runner(server, call);
    this.scheduler = server.getScheduler();
    this.region = region;
    this.rows = rows;
    this.size = call.getSize();
    this.deadline = call.getDeadline();
    this.nonceGroup = nonceGroup;
    this.nonce = nonce;
  }

  public HRegion region() {
    return region;
  }

  public List<byte[]> rows() {
    return rows;
  }

  /** Returns the size of its request, in bytes. */
  long size() {
    return size;
  }

  /** Returns the deadline of the call, in milliseconds since the epoch. */
  public long deadline() {
    return deadline;
  }

  public long nonceGroup() {
    return nonceGroup;
  }

  public long nonce() {
    return nonce;
  }

  /** Returns what it writes; null until it has reached its region. */
  public Row write() {
    return write;
  }

  void setWrite(Row write) {
    this.write = write;
  }

  /** Runs the call on the calling committer. Throws nothing. */
  void run() {
    boolean run = false;
    try {
      runner.setStatus(new MonitoredRPCHandlerImpl("Call within a group of writes"));
      run = true;
      runner.run();
    } catch (RuntimeException | Error e) {
      // Its client gets no response, as when a handler fails so.
      LOG.error("A write to {} failed", region, e);
    } finally {
      if (!run) {
        runner.drop();
      }
    }
  }

  /** Returns whether the scheduler accepts the call, to execute it as without this feature. */
  public boolean tryDispatch() {
    return scheduler.dispatch(runner);
  }

  /** Leaves the call, which was accepted, to the scheduler. */
  void dispatch() {
    boolean taken = false;
    try {
      taken = tryDispatch();
    } catch (RuntimeException e) {
      LOG.warn("Cannot dispatch a write to {}", region, e);
    } finally {
      if (!taken) {
        // The call is dropped, as if the queue had been full when the call arrived.
        runner.drop();
      }
    }
  }

  /**
   * It was written.
   * @param own        its result, null if its kind has none
   * @param sequenceId of the edit; 0 if it does not matter
   */
  public void done(Result own, long sequenceId) {
    this.result = own;
    this.sequenceId = sequenceId;
    this.done = true;
  }

  /** It was not written, or may have been. */
  public void failed(Throwable cause) {
    this.failure = cause;
    this.done = true;
  }

  /** Returns whether it was written or has failed. */
  public boolean isDone() {
    return done;
  }

  public boolean isWritten() {
    return done && failure == null;
  }

  long sequenceId() {
    return sequenceId;
  }

  /** Returns its result, null if its kind has none, or throws what it failed with. */
  Result conclude() throws IOException {
    if (failure instanceof IOException) {
      throw (IOException) failure;
    }
    if (failure instanceof RuntimeException) {
      throw (RuntimeException) failure;
    }
    if (failure != null || !done) {
      throw new IOException("The group of the write has failed", failure);
    }
    return result;
  }
}
