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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * An increment that waits in an {@link IncrementQueue}. Its thread and the thread that leads its
 * group share it. Invariant: the state changes from {@link State#WAITING} under the lock of the
 * queue, and a thread that reads the state sees what the leader wrote before it set it.
 */
@InterfaceAudience.Private
class PendingIncrement {

  enum State {
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
    /** The group failed before it changed anything: the increment is applied alone. */
    ALONE,
    /** The group failed, and may have changed the row. */
    FAILED
  }

  private Increment increment;
  private final long nonceGroup;
  private final long nonce;
  private long[] amounts;
  private Thread thread;
  private boolean started;
  private volatile State state = State.WAITING;
  private Result result;
  private long[] later;
  private Throwable failure;

  /**
   * @param increment null if it has not been read yet
   * @param thread    null if no thread has it yet
   */
  PendingIncrement(Increment increment, long nonceGroup, long nonce, Thread thread) {
    this.increment = increment;
    this.nonceGroup = nonceGroup;
    this.nonce = nonce;
    this.thread = thread;
  }

  byte[] row() {
    return increment.getRow();
  }

  long nonceGroup() {
    return nonceGroup;
  }

  long nonce() {
    return nonce;
  }

  /** Returns the amount for each column, in the order of a result. For the thread that leads. */
  long[] amounts() {
    if (amounts == null) {
      amounts = CounterKey.amounts(increment);
    }
    return amounts;
  }

  /** Returns null if it has not been read yet. */
  Increment increment() {
    return increment;
  }

  void setIncrement(Increment increment) {
    this.increment = increment;
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
  void wake(IncrementQueue queue) {
    LockSupport.unpark(thread);
  }

  /** Returns the queue whose leadership it has to pass on however it ends, once, or null. */
  IncrementQueue release() {
    return null;
  }

  /** Records that its nonce was started. For the thread that applies the increment. */
  void start() {
    started = true;
  }

  /** Returns whether its nonce was started and not ended, and records that it is ended. */
  boolean stop() {
    boolean was = started;
    started = false;
    return was;
  }

  State state() {
    return state;
  }

  void setState(State state) {
    this.state = state;
  }

  /**
   * @param result of the group
   * @param later  what the later increments of the group add to each column
   */
  void done(Result result, long[] later) {
    this.result = result;
    this.later = later;
    state = State.DONE;
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
    return result.rawCells()[0].getSequenceId();
  }

  /** Returns the result of this increment at its position in the group. */
  Result result() {
    if (!increment.isReturnResults()) {
      return Result.EMPTY_RESULT;
    }
    Cell[] cells = result.rawCells();
    List<Cell> own = new ArrayList<>(cells.length);
    for (int i = 0; i < cells.length; i++) {
      own.add(later[i] == 0 ? cells[i] : minus(cells[i], later[i]));
    }
    return Result.create(own);
  }

  private static Cell minus(Cell cell, long amount) {
    KeyValue copy = KeyValueUtil.copyToNewKeyValue(cell);
    Bytes.putLong(copy.getValueArray(), copy.getValueOffset(),
      PrivateCellUtil.getValueAsLong(cell) - amount);
    return copy;
  }
}
