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

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queues of one kind of writes, and their committers. Thread-safe; {@link #add} does not block.
 * @param <K> what writes have in common that may be in one group; with equality
 */
@InterfaceAudience.Private
public final class Commits<K> {
  private static final Logger LOG = LoggerFactory.getLogger(Commits.class);

  /** The maximum number of calls of a group, which are nested in each other. */
  static final int MAX_CALLS = 128;
  /** The maximum size of the requests of a group. Its edits are about as large. */
  static final long MAX_BYTES = 1 << 20;

  /** A queue of a key, and a committer's work: to commit its groups until nothing waits. */
  private final class Work implements Runnable {
    private final K key;
    private final CommitQueue<WriteCall> queue = new CommitQueue<>(maxWaiting, maxSyncing);

    private Work(K key) {
      this.key = key;
    }

    @Override
    public void run() {
      boolean more = true;
      while (more) {
        Turn turn = new Turn(this);
        try {
          groups.apply(turn).commit(queue.take(MAX_CALLS, WriteCall::size, MAX_BYTES));
        } catch (RuntimeException | Error e) {
          LOG.error("A group of writes of {} has failed", key, e);
        } finally {
          more = queue.ended(turn.handedOn);
        }
      }
      removeIfIdle(key);
    }

    private void start() {
      boolean started = false;
      try {
        committers.execute(this);
        started = true;
      } catch (RejectedExecutionException e) {
        // There are as many as may be, or the server stops.
        LOG.trace("No committer for {}", key, e);
      } catch (OutOfMemoryError e) {
        LOG.warn("No thread to commit writes of {}", key, e);
      } finally {
        if (!started) {
          leave();
        }
      }
    }

    /** Leaves all that waits to the scheduler, as the owner of the queue. */
    private void leave() {
      do {
        List<WriteCall> left = queue.take(Integer.MAX_VALUE, WriteCall::size, Long.MAX_VALUE);
        refused.accept(left.size());
        left.forEach(WriteCall::dispatch);
      } while (queue.ended(false));
      removeIfIdle(key);
    }
  }

  /** Hands a committer's queue over when its group is appended. Does not throw. */
  private final class Turn implements Runnable {
    private final Work work;
    private boolean handedOn;

    private Turn(Work work) {
      this.work = work;
    }

    @Override
    public void run() {
      handedOn = true;
      if (!work.queue.appended()) {
        return;
      }
      boolean started = false;
      try {
        committers.execute(work);
        started = true;
      } catch (RuntimeException | Error e) {
        // The edit has a place in the WAL. This thread claims the queue when its group has ended.
        LOG.warn("The next group of writes of {} is late", work.key, e);
      } finally {
        if (!started) {
          work.queue.giveBack();
        }
      }
    }
  }

  private final ConcurrentHashMap<K, Work> queues = new ConcurrentHashMap<>();
  private final Function<Runnable, CommitGroup> groups;
  private final ExecutorService committers;
  private final int maxWaiting;
  private final int maxSyncing;
  private final IntConsumer refused;

  /**
   * @param committers whose threads are {@link Committer}s
   * @param maxWaiting maximum number of calls of a key that wait
   * @param maxSyncing maximum number of groups of a key that are synced while the next one is
   *                   appended
   * @param refused    is given the number of calls that are left to the scheduler because there
   *                   are too many committers
   * @param groups     makes a group, of what it is to call once it is appended; one that never does
   *                   is alone with its key until it ends
   */
  public Commits(ExecutorService committers, int maxWaiting, int maxSyncing,
    IntConsumer refused, Function<Runnable, CommitGroup> groups) {
    this.committers = committers;
    this.maxWaiting = maxWaiting;
    this.maxSyncing = maxSyncing;
    this.refused = refused;
    this.groups = groups;
  }

  /**
   * Has a call wait for a committer.
   * @return false if too many wait already
   */
  public boolean add(K key, WriteCall call) {
    CommitQueue.Added[] added = new CommitQueue.Added[1];
    // The lock of the key keeps the queue from being removed meanwhile.
    Work work = queues.compute(key, (same, old) -> {
      Work own = old == null ? new Work(same) : old;
      added[0] = own.queue.add(call);
      return own;
    });
    if (added[0] == CommitQueue.Added.NEEDS_COMMITTER) {
      work.start();
    }
    return added[0] != CommitQueue.Added.REFUSED;
  }

  /** Returns whether a write of the key is in flight. */
  boolean has(K key) {
    return queues.containsKey(key);
  }

  private void removeIfIdle(K key) {
    queues.computeIfPresent(key, (same, work) -> work.queue.isIdle() ? null : work);
  }

  /** Returns how many calls wait. */
  public int waiting() {
    return queues.values().stream().mapToInt(work -> work.queue.waiting()).sum();
  }

  /** Returns how many keys have a write in flight. */
  public int keys() {
    return queues.size();
  }

  /** Lets the threads of a server that stops end with what they do. */
  public void stop() {
    committers.shutdown();
  }
}
