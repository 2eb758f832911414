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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hbase.regionserver.counter.PendingIncrement.State;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The increments of the columns of a row, or of the rows of a region, that wait for the one in
 * flight. Invariant: as long as the queue is not over, one increment leads, and the others wait in
 * the order of their arrival. A call that no handler has begun leads only until a thread joins,
 * since all handlers may be among the threads that wait. Thread-safe. No thread holds the lock of a
 * queue while it waits.
 */
@InterfaceAudience.Private
final class IncrementQueue {

  private final ArrayDeque<PendingIncrement> queue = new ArrayDeque<>();
  /** The number of increments in the queue that have a thread. */
  private int threads;
  /** The call that leads, if no handler has begun it. */
  private IncrementCall first;
  private boolean over;

  /** Creates a queue that the calling thread leads. */
  IncrementQueue() {
  }

  /** Creates a queue that a call leads which no handler has begun. */
  IncrementQueue(IncrementCall first) {
    this.first = first;
  }

  /**
   * Adds an increment. It leads if it has a thread and the leader has none.
   * @return false if the queue is over, so that the caller has to create another one
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

  /** Called by the handler that begins a leading call. Returns false if another one leads now. */
  synchronized boolean begin(IncrementCall call) {
    if (first != call) {
      return false;
    }
    first = null;
    return true;
  }

  /** Removes an increment. Returns false if it leads or is in a group already. */
  synchronized boolean leave(PendingIncrement increment) {
    if (increment.state() != State.WAITING || !queue.remove(increment)) {
      return false;
    }
    threads--;
    return true;
  }

  /**
   * Removes waiting increments for a group, in their order; they cannot leave any more. If this
   * throws, none was removed. The list has space for one more.
   * @param max      maximum number of increments
   * @param maxCalls maximum number of those without a thread
   */
  synchronized List<PendingIncrement> take(int max, int maxCalls) {
    List<PendingIncrement> taken = new ArrayList<>(Math.min(max, queue.size()) + 1);
    int calls = 0;
    while (taken.size() < max && !queue.isEmpty()) {
      boolean call = queue.peek() instanceof IncrementCall;
      if (call && ++calls > maxCalls) {
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
   * Makes the first waiting thread the leader, or the first call if no thread waits.
   * @return the new leader, or null if none waits, so that the queue is over
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

  /**
   * Waits until an increment leads or its group has ended. An increment whose thread is
   * interrupted, or that has waited for too long, leaves the queue, unless it is in a group
   * already: that has to be waited for, as for a sync.
   * @param waitMs the maximum wait for the leadership, in milliseconds
   * @return its state, WAITING if it has left
   */
  State await(PendingIncrement pending, long waitMs) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
    boolean interrupted = false;
    State state = pending.state();
    while (state == State.WAITING || state == State.TAKEN) {
      long left = deadline - System.nanoTime();
      if (state == State.TAKEN) {
        // Waits without a limit: whoever has taken it says how it ends, see GroupLeader.lead.
        LockSupport.park(this);
      } else if (left > 0 && !interrupted) {
        LockSupport.parkNanos(this, left);
      } else if (leave(pending)) {
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
}
