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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The writes that wait for the same committers: those to the regions of a part of a WAL, or the
 * increments of a row or of a part of a region. One committer at a time owns the queue: it takes
 * what waits as a group, appends it, and hands the queue over, so that the next group is appended
 * while this one is synced. Thread-safe; no thread waits in here.
 * <p>
 * Invariant: while a write waits, a committer owns the queue, or is about to, or the maximum number
 * of groups is being synced, each of whose committers claims the queue when its group ends.
 * @param <T> a write
 */
@InterfaceAudience.Private
final class CommitQueue<T> {

  /** The outcome of {@link #add}. */
  enum Added {
    /** The write waits for a committer that owns the queue, or is about to. */
    WAITS,
    /** The write waits, and the caller must see to it that a committer takes over the queue. */
    NEEDS_COMMITTER,
    /** Too many writes wait. */
    REFUSED
  }

  private final int maxWaiting;
  private final int maxSyncing;
  private final ArrayDeque<T> waiting = new ArrayDeque<>();
  /** Whether a committer owns the queue, or was promised it. */
  private boolean turn;
  private int syncing;

  /**
   * @param maxWaiting maximum number of writes that wait
   * @param maxSyncing maximum number of groups that are synced while the next one is appended
   */
  CommitQueue(int maxWaiting, int maxSyncing) {
    this.maxWaiting = maxWaiting;
    this.maxSyncing = maxSyncing;
  }

  synchronized Added add(T write) {
    if (waiting.size() >= maxWaiting) {
      return Added.REFUSED;
    }
    waiting.add(write);
    return claimTurn() ? Added.NEEDS_COMMITTER : Added.WAITS;
  }

  private boolean claimTurn() {
    boolean claims = !turn && !waiting.isEmpty() && syncing <= maxSyncing;
    turn |= claims;
    return claims;
  }

  /**
   * Takes the next group, in the order of arrival. For the committer that owns the queue.
   * @param max      maximum number of writes, 1 at least
   * @param maxBytes maximum size of the group, unless it is one write
   */
  synchronized List<T> take(int max, ToLongFunction<T> size, long maxBytes) {
    List<T> taken = new ArrayList<>(Math.min(max, waiting.size()));
    long bytes = 0;
    while (!waiting.isEmpty() && taken.size() < max) {
      bytes += size.applyAsLong(waiting.peek());
      if (bytes > maxBytes && !taken.isEmpty()) {
        break;
      }
      taken.add(waiting.poll());
    }
    return taken;
  }

  /**
   * Hands the queue over, as the group is appended. {@link #ended} must be called later.
   * @return whether the caller must see to it that a committer takes over the queue
   */
  synchronized boolean appended() {
    turn = false;
    syncing++;
    return claimTurn();
  }

  /** Releases the queue that {@link #appended} has claimed, as there is no committer for it. */
  synchronized void giveBack() {
    turn = false;
  }

  /**
   * Called when all writes of a group are answered, or were left to others.
   * @param appended whether {@link #appended} was called for the group
   * @return whether the caller owns the queue now
   */
  synchronized boolean ended(boolean appended) {
    if (appended) {
      syncing--;
    } else {
      turn = false;
    }
    return claimTurn();
  }

  /** Returns whether nothing waits and no committer owns the queue or syncs a group. */
  synchronized boolean isIdle() {
    return waiting.isEmpty() && !turn && syncing == 0;
  }

  synchronized int waiting() {
    return waiting.size();
  }
}
