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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.hbase.regionserver.counter.PendingIncrement.State;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Whose turn it is to increment the columns of a row, or of a region's rows, and who waits for it.
 * One increment has the turn at any time; the others wait in the order in which they came. A call
 * that no handler has begun has it only as long as no thread comes: all handlers may be among the
 * threads that wait. Thread-safe; no thread waits in it.
 */
@InterfaceAudience.Private
final class IncrementQueue {

  private final ArrayDeque<PendingIncrement> queue = new ArrayDeque<>();
  /** How many in the queue have a thread. */
  private int threads;
  /** Who has the turn, if no handler has begun it. */
  private IncrementCall first;
  private boolean over;

  /** A turn of the thread that makes it. */
  IncrementQueue() {
  }

  /** A turn of a call that no handler has begun. */
  IncrementQueue(IncrementCall first) {
    this.first = first;
  }

  /**
   * Queues an increment up, or gives it the turn, if it has a thread and who has it has none.
   * @return false if the turn is over, so that another has to be begun
   */
  synchronized boolean join(PendingIncrement increment) {
    if (over) {
      return false;
    }
    if (increment instanceof IncrementCall) {
      queue.add(increment);
    } else if (first != null) {
      first = null;
      increment.setState(State.LEADS);
    } else {
      queue.add(increment);
      threads++;
    }
    return true;
  }

  /** Called by who has begun a call that was given the turn; returns false if it is another's. */
  synchronized boolean begin(IncrementCall call) {
    if (first != call) {
      return false;
    }
    first = null;
    return true;
  }

  /** Returns false if the increment leads or is taken already. */
  synchronized boolean leave(PendingIncrement increment) {
    if (increment.state() != State.WAITING || !queue.remove(increment)) {
      return false;
    }
    threads--;
    return true;
  }

  /**
   * Returns those who wait, in their order, up to a number; they can't leave any more. If this
   * throws, nobody is taken. The list has room for one more.
   * @param mostCalls how many of them may be without a thread
   */
  synchronized List<PendingIncrement> take(int most, int mostCalls) {
    List<PendingIncrement> taken = new ArrayList<>(Math.min(most, queue.size()) + 1);
    int calls = 0;
    while (taken.size() < most && !queue.isEmpty()) {
      boolean call = queue.peek() instanceof IncrementCall;
      if (call && ++calls > mostCalls) {
        break;
      }
      threads -= call ? 0 : 1;
      PendingIncrement increment = queue.poll();
      increment.setState(State.TAKEN);
      taken.add(increment);
    }
    return taken;
  }

  /**
   * Gives the turn to the thread that has waited longest, or else the call; returns null, and is
   * over, if nobody waits.
   */
  synchronized PendingIncrement pass() {
    PendingIncrement next = threads > 0 ? pollThread() : queue.poll();
    if (next == null) {
      over = true;
    } else {
      next.setState(State.LEADS);
      first = next instanceof IncrementCall ? (IncrementCall) next : null;
    }
    return next;
  }

  private PendingIncrement pollThread() {
    threads--;
    for (Iterator<PendingIncrement> all = queue.iterator();;) {
      PendingIncrement next = all.next();
      if (!(next instanceof IncrementCall)) {
        all.remove();
        return next;
      }
    }
  }

  synchronized int waiting() {
    return queue.size();
  }
}
