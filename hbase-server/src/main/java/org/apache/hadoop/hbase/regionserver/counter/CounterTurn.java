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
import java.util.List;
import org.apache.hadoop.hbase.regionserver.counter.PendingIncrement.State;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Whose turn it is to increment the columns of a row, or of a region's rows, and who waits for it.
 * One thread has the turn at any time; the others wait in the order in which they came.
 * Thread-safe; no thread waits in it.
 */
@InterfaceAudience.Private
final class CounterTurn {

  private final ArrayDeque<PendingIncrement> queue = new ArrayDeque<>();
  private boolean over;

  /** Returns false if the turn is over, so that another has to be begun. */
  synchronized boolean join(PendingIncrement increment) {
    if (over) {
      return false;
    }
    queue.add(increment);
    return true;
  }

  /** Returns false if the increment leads or is taken already. */
  synchronized boolean leave(PendingIncrement increment) {
    return increment.state() == State.WAITING && queue.remove(increment);
  }

  /**
   * Returns those who wait, in their order, up to a number; they can't leave any more.
   * @param mostCalls how many of them may be without a thread
   */
  synchronized List<PendingIncrement> take(int most, int mostCalls) {
    List<PendingIncrement> taken = new ArrayList<>(Math.min(most, queue.size()) + 1);
    int calls = 0;
    while (taken.size() < most && !queue.isEmpty()) {
      if (queue.peek() instanceof IncrementCall && ++calls > mostCalls) {
        break;
      }
      PendingIncrement increment = queue.poll();
      increment.setState(State.TAKEN);
      taken.add(increment);
    }
    return taken;
  }

  /** Gives the turn to who has waited longest; returns null, and is over, if nobody waits. */
  synchronized PendingIncrement pass() {
    PendingIncrement next = queue.poll();
    if (next == null) {
      over = true;
    } else {
      next.setState(State.LEADS);
    }
    return next;
  }

  synchronized int waiting() {
    return queue.size();
  }
}
