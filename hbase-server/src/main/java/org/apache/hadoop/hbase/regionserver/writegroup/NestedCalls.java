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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.ipc.ResponseBatch;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The writes of a group while the thread that leads forms it: writes that wait in threads
 * of their own, and calls that this thread runs as far as to where they would wait. Each call is
 * nested in the one before, so that all have reached that point when the group is applied, and each
 * finishes with its own user. For the thread that leads.
 */
@InterfaceAudience.Private
final class NestedCalls {

  private final List<PendingWrite> members = new ArrayList<>();
  private final ArrayDeque<WriteCall> calls = new ArrayDeque<>();
  private final ResponseBatch responses;
  private final Runnable afterAppend;
  private final long start = System.nanoTime();
  private boolean ended;
  private Error error;

  /**
   * @param waiting     in their order
   * @param responses   those of the calls that it runs
   * @param afterAppend called once the edit of the group is appended
   */
  NestedCalls(List<PendingWrite> waiting, ResponseBatch responses, Runnable afterAppend) {
    this.responses = responses;
    this.afterAppend = afterAppend;
    for (PendingWrite write : waiting) {
      if (write instanceof WriteCall && write.state() == PendingWrite.State.TAKEN) {
        calls.add((WriteCall) write);
      } else {
        members.add(write);
      }
    }
  }

  /** Returns the next call to run, or null if there is none. */
  WriteCall next() {
    return calls.poll();
  }

  /** Called inside a call that has reached the point where it would wait. */
  void add(WriteCall call) {
    members.add(call);
  }

  /** Called when a call that was added fails, before its response is sent. */
  void remove(WriteCall call) {
    if (!ended) {
      members.remove(call);
    }
  }

  /**
   * Called inside a call that is about to be applied alone, while the calls around it wait: sends
   * the responses that are ready.
   * @return whether the chain has taken as long already as a call may wait for its row
   */
  boolean isLate(long rowWaitMs) {
    responses.flush();
    return System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(rowWaitMs);
  }

  Runnable afterAppend() {
    return afterAppend;
  }

  List<PendingWrite> members() {
    return members;
  }

  /** Returns true the first time. */
  boolean end() {
    boolean first = !ended;
    ended = true;
    return first;
  }

  void failed(Error e) {
    error = e;
  }

  /** Returns what was thrown while the group was applied and no caller can get, or null. */
  Error error() {
    return error;
  }
}
