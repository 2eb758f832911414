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
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A write that waits in an {@link WriteQueue}. Its thread and the thread that leads its
 * group share it. Invariant: the state changes from {@link State#WAITING} under the lock of the
 * queue, and a thread that reads the state sees what the leader wrote before it set it.
 */
@InterfaceAudience.Private
public class PendingWrite {

  public enum State {
    /** In the queue; its thread may leave. */
    WAITING,
    /** Its thread is the next to lead. */
    LEADS,
    /** In the group of another thread, which completes it. */
    TAKEN,
    /** Its row is locked: it waits in the queue of that row. */
    APART,
    /** The group was applied. */
    DONE,
    /** The group failed before it changed anything: the write is applied alone. */
    ALONE,
    /** The group failed, and may have changed the row. */
    FAILED
  }

  private HRegion region;
  private Row write;
  private final long nonceGroup;
  private final long nonce;
  private Thread thread;
  private boolean started;
  private volatile State state = State.WAITING;
  private Result result;
  private long sequenceId;
  private Throwable failure;

  /**
   * @param region null if it is not known yet
   * @param write  null if it has not been read yet
   * @param thread null if no thread has it yet
   */
  public PendingWrite(HRegion region, Row write, long nonceGroup, long nonce, Thread thread) {
    this.region = region;
    this.write = write;
    this.nonceGroup = nonceGroup;
    this.nonce = nonce;
    this.thread = thread;
  }

  public byte[] row() {
    return write.getRow();
  }

  /** Returns the size of its request in bytes, 0 if it is not a call. */
  public long size() {
    return 0;
  }

  /** Returns whether it is the write of a call, which waits in a queue without a thread. */
  boolean isCall() {
    return false;
  }

  /** Returns whether it is the write of a call that its leader runs nested in its own one. */
  boolean isNested() {
    return false;
  }

  public long nonceGroup() {
    return nonceGroup;
  }

  public long nonce() {
    return nonce;
  }

  /** Returns null if it has not been read yet. */
  public Row write() {
    return write;
  }

  /** Returns null if it is not known yet. */
  public HRegion region() {
    return region;
  }

  void setWrite(HRegion region, Row write) {
    this.region = region;
    this.write = write;
  }

  void setThread(Thread thread) {
    this.thread = thread;
  }

  /** Unparks its thread, unless that is the calling one. */
  void unpark() {
    if (thread != Thread.currentThread()) {
      LockSupport.unpark(thread);
    }
  }

  /** Has it lead a queue. */
  void wake(WriteQueue queue) {
    LockSupport.unpark(thread);
  }

  /** Returns the queue whose leadership it has to pass on however it ends, once, or null. */
  WriteQueue release() {
    return null;
  }

  /** Records that its nonce was started. For the thread that applies the write. */
  void start() {
    started = true;
  }

  /** Returns whether its nonce was started and not ended, and records that it is ended. */
  boolean stop() {
    boolean was = started;
    started = false;
    return was;
  }

  public State state() {
    return state;
  }

  void setState(State state) {
    this.state = state;
  }

  /**
   * Completes it.
   * @param own        its result, null if its kind has none
   * @param sequenceId of the group's edit
   */
  public void done(Result own, long sequenceId) {
    this.result = own;
    this.sequenceId = sequenceId;
    state = State.DONE;
  }

  /** The group was applied without it: it is applied alone. */
  public void leftOut() {
    state = State.ALONE;
  }

  void failed(Throwable failure) {
    this.failure = failure;
    state = State.FAILED;
  }

  IOException failure() {
    return failure instanceof IOException ? (IOException) failure : new IOException(failure);
  }

  /** Returns the sequence id of the group's edit. */
  long sequenceId() {
    return sequenceId;
  }

  /** Returns its result at its position in the group; null if its kind has none. */
  Result result() {
    return result;
  }
}
