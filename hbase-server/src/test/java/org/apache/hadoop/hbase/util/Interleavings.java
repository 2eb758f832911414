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
package org.apache.hadoop.hbase.util;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Runs several threads one at a time and enumerates, run by run, all decisions about which thread
 * runs next, with a limit on how often a thread is preempted in a run; see M. Musuvathi and S.
 * Qadeer, "Iterative context bounding for systematic testing of multithreaded programs". A thread
 * can be preempted at each {@link #point}, and yields wherever it waits.
 */
public final class Interleavings implements AutoCloseable {

  /** What a thread does. */
  public interface Body {
    void run() throws Exception;
  }

  private static final class Actor {
    final Semaphore turn = new Semaphore(0);
    Thread thread;
    boolean waiting;
    boolean done;
  }

  private final int maxPreemptions;
  private final ExecutorService pool;
  private final ThreadLocal<Actor> self = new ThreadLocal<>();
  private final Semaphore quiet = new Semaphore(0);
  // The thread that may run owns all fields below.
  private final List<Integer> decisions = new ArrayList<>();
  private final List<Integer> options = new ArrayList<>();
  private final List<Actor> actors = new ArrayList<>();
  private final List<Future<?>> running = new ArrayList<>();
  private int depth;
  private int preemptions;
  private boolean exploring;

  public Interleavings(int maxPreemptions) {
    this(maxPreemptions, Executors.defaultThreadFactory());
  }

  /** @param threads makes those that run */
  public Interleavings(int maxPreemptions, ThreadFactory threads) {
    this.maxPreemptions = maxPreemptions;
    this.pool = Executors.newCachedThreadPool(threads);
  }

  /**
   * Adds threads and returns when each thread is done or waits.
   * @param explore whether this is done in all orders; otherwise each thread runs until it waits
   */
  public void run(boolean explore, Body... bodies) throws InterruptedException {
    exploring = explore;
    for (Body body : bodies) {
      Actor actor = new Actor();
      actors.add(actor);
      running.add(pool.submit(() -> {
        act(actor, body);
        return null;
      }));
    }
    giveWay();
    if (!quiet.tryAcquire(5, TimeUnit.MINUTES)) {
      throw new IllegalStateException(
        "a thread runs on without a point, or holds a lock at a point");
    }
  }

  private void act(Actor actor, Body body) throws Exception {
    actor.turn.acquireUninterruptibly();
    actor.thread = Thread.currentThread();
    self.set(actor);
    try {
      body.run();
    } finally {
      self.remove();
      actor.done = true;
      // The thread serves the next run.
      Thread.interrupted();
      end();
    }
  }

  private void end() {
    try {
      giveWay();
    } catch (IllegalStateException e) {
      // No thread can be chosen, so this run is over.
      quiet.release();
      throw e;
    }
  }

  /** Throws what a thread of this run has thrown. */
  public void check() throws Exception {
    for (int i = 0; i < actors.size(); i++) {
      if (actors.get(i).done) {
        try {
          running.get(i).get(1, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
          if (e.getCause() instanceof Error) {
            throw (Error) e.getCause();
          }
          throw e;
        }
      }
    }
  }

  /** Returns whether all threads of this run are done. */
  public boolean isDone() {
    return actors.stream().allMatch(actor -> actor.done);
  }

  /** Prepares the next run. Returns false if there are no decisions left to try. */
  public boolean next() {
    actors.clear();
    running.clear();
    depth = 0;
    preemptions = 0;
    while (!decisions.isEmpty()) {
      int last = decisions.size() - 1;
      int decision = decisions.remove(last) + 1;
      int most = options.remove(last);
      if (decision < most) {
        decisions.add(decision);
        options.add(most);
        return true;
      }
    }
    return false;
  }

  private int decide(int choices) {
    if (!exploring || choices == 1) {
      return 0;
    }
    if (depth == decisions.size()) {
      decisions.add(0);
      options.add(choices);
    }
    // A test of a seeded defect would take an AssertionError for that defect.
    if (options.get(depth) != choices) {
      throw new IllegalStateException("The same decisions lead to other choices: " + choices
        + " in place of " + options.get(depth) + ". Is the run before without next()?");
    }
    return decisions.get(depth++);
  }

  private List<Actor> others(Actor actor) {
    return actors.stream().filter(each -> each != actor && !each.waiting && !each.done)
      .collect(Collectors.toList());
  }

  private void giveWay() {
    List<Actor> others = others(null);
    if (others.isEmpty()) {
      quiet.release();
    } else {
      others.get(decide(others.size())).turn.release();
    }
  }

  /** Must be called before each access to what threads share. */
  public void point() {
    Actor actor = self.get();
    if (actor == null || !exploring || preemptions == maxPreemptions) {
      return;
    }
    List<Actor> others = others(actor);
    int decision = decide(1 + others.size());
    if (decision > 0) {
      preemptions++;
      others.get(decision - 1).turn.release();
      actor.turn.acquireUninterruptibly();
    }
  }

  /** Interrupts a thread, which ends its wait. */
  public void interrupt(int number) {
    Actor actor = actors.get(number);
    actor.thread.interrupt();
    actor.waiting = false;
  }

  /** A semaphore of this test's threads. */
  public class Permits extends Semaphore {
    private static final long serialVersionUID = 1L;
    private Actor waiter;

    public Permits(int permits) {
      super(permits);
    }

    @Override
    public void acquire() throws InterruptedException {
      point();
      while (true) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (super.tryAcquire()) {
          return;
        }
        waiter = self.get();
        waiter.waiting = true;
        giveWay();
        waiter.turn.acquireUninterruptibly();
      }
    }

    @Override
    public boolean tryAcquire() {
      point();
      return super.tryAcquire();
    }

    @Override
    public void release() {
      point();
      super.release();
      if (waiter != null) {
        waiter.waiting = false;
      }
    }
  }

  @Override
  public void close() {
    pool.shutdownNow();
  }
}
