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
 * An increment that waits for its turn. Its own thread and the one that leads its group share it:
 * the state changes from {@link State#WAITING} under the lock of its {@link IncrementQueue}, and
 * what the leader writes before it changes the state again is seen by who reads the state.
 */
@InterfaceAudience.Private
class PendingIncrement {

  enum State {
    /** In the queue; its thread may still go. */
    WAITING,
    /** Its thread is the next to lead. */
    LEADS,
    /** In the group of another thread, which will say how it ends. */
    TAKEN,
    /** Somebody else holds its row: its thread goes on with those of that row. */
    APART,
    /** The group is done. */
    DONE,
    /** The group failed before it changed anything: its thread goes on by itself. */
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
   * @param thread    null if it has none yet
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

  /** Returns what it adds to each column, in the order of a result. For the thread that leads. */
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

  /** Wakes its thread, unless that is this one. */
  void unpark() {
    if (thread != Thread.currentThread()) {
      LockSupport.unpark(thread);
    }
  }

  /** Tells it that it leads. */
  void wake(IncrementQueue turn) {
    LockSupport.unpark(thread);
  }

  /** Returns a turn that it has to pass on whatever becomes of it, once, or null. */
  IncrementQueue release() {
    return null;
  }

  /** Notes that its nonce is taken. For the thread that does the increment. */
  void start() {
    started = true;
  }

  /** Returns whether its nonce is taken, and notes that it is no more. */
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
   * @param later  what the increments after this one add to each column
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

  /** Returns what this increment alone would have returned in its place in the group. */
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
