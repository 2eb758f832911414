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
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite.State;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The writes with the same {@link GroupKey} that wait for the one in flight. Invariant: as long as
 * the queue is not over, one write leads, and the others wait in the order of their arrival. A call
 * that no handler has begun leads only until a thread joins, since all handlers may be among the
 * threads that wait. Thread-safe. No thread holds the lock of a queue while it waits.
 */
@InterfaceAudience.Private
final class WriteQueue {

  /** So many writes are skipped by a group: the lock is not held for all of a long queue. */
  static final int MAX_SKIPPED = 64;

  private final ArrayDeque<PendingWrite> queue = new ArrayDeque<>();
  /** The number of writes in the queue that have a thread. */
  private int threads;
  /** The call that leads, if no handler has begun it. */
  private PendingWrite first;
  private boolean over;

  /** Creates a queue that the calling thread leads. */
  WriteQueue() {
  }

  /** Creates a queue that a call leads which no handler has begun. */
  WriteQueue(PendingWrite first) {
    this.first = first;
  }

  /**
   * Adds a write. It leads if it has a thread and the leader has none.
   * @return false if the queue is over, so that the caller has to create another one
   */
  synchronized boolean join(PendingWrite write) {
    if (over) {
      return false;
    }
    if (write.isCall()) {
      queue.add(write);
    } else if (first != null) {
      first = null;
      write.setState(State.LEADS);
    } else {
      queue.add(write);
      threads++;
    }
    return true;
  }

  /** Called by the handler that begins a leading call. Returns false if another one leads now. */
  synchronized boolean begin(PendingWrite call) {
    if (first != call) {
      return false;
    }
    first = null;
    return true;
  }

  /** Removes a write. Returns false if it leads or is in a group already. */
  synchronized boolean leave(PendingWrite write) {
    if (write.state() != State.WAITING || !queue.remove(write)) {
      return false;
    }
    threads--;
    return true;
  }

  /**
   * Removes waiting writes for a group, in their order; they cannot leave any more. If this throws,
   * none was removed. The list has space for one more.
   * @param max      maximum number of writes
   * @param maxCalls maximum number of those without a thread
   * @param members  which writes the group may have; the others remain in the queue
   */
  synchronized List<PendingWrite> take(int max, int maxCalls, WriteKind.Members members) {
    List<PendingWrite> taken = new ArrayList<>(Math.min(max, queue.size()) + 1);
    List<PendingWrite> left = new ArrayList<>(0);
    int calls = 0;
    int looked = 0;
    for (PendingWrite write : queue) {
      boolean call = write.isCall();
      boolean full = taken.size() == max || call && calls == maxCalls || members.isFull();
      if (full || left.size() == MAX_SKIPPED) {
        break;
      }
      looked++;
      if (members.add(write)) {
        calls += call ? 1 : 0;
        taken.add(write);
      } else {
        left.add(write);
      }
    }
    for (int i = 0; i < looked; i++) {
      queue.poll();
    }
    for (int i = left.size() - 1; i >= 0; i--) {
      queue.addFirst(left.get(i));
    }
    for (PendingWrite write : taken) {
      threads -= write.isCall() ? 0 : 1;
      write.setState(State.TAKEN);
    }
    return taken;
  }

  /**
   * Makes the first waiting thread the leader, or the first call if no thread waits.
   * @return the new leader, or null if none waits, so that the queue is over
   */
  synchronized PendingWrite pass() {
    PendingWrite next = threads > 0 ? pollThread() : queue.poll();
    if (next == null) {
      over = true;
    } else {
      next.setState(State.LEADS);
      first = next.isCall() ? next : null;
    }
    return next;
  }

  private PendingWrite pollThread() {
    threads--;
    for (Iterator<PendingWrite> all = queue.iterator();;) {
      PendingWrite next = all.next();
      if (!next.isCall()) {
        all.remove();
        return next;
      }
    }
  }

  synchronized int waiting() {
    return queue.size();
  }

  /**
   * Waits until a write leads or its group has ended. A write whose thread is
   * interrupted, or that has waited for too long, leaves the queue, unless it is in a group
   * already: that has to be waited for, as for a sync.
   * @param waitMs the maximum wait for the leadership, in milliseconds
   * @return its state, WAITING if it has left
   */
  State await(PendingWrite pending, long waitMs) {
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
