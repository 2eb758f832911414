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
package org.apache.hadoop.hbase.io.hfile.load;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, MediumTests.class })
public class TestByteRateLimiter {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestByteRateLimiter.class);

  private static final int BLOCK = 64 << 10;
  private static final int MB = 1 << 20;

  /** A clock that advances when a thread waits, or only when told to. */
  private static final class TestClock implements ByteRateLimiter.Clock {
    private long now = 1_000_000_007;
    private long oversleep;
    private volatile boolean standsStill;

    @Override
    public synchronized long nanos() {
      return now;
    }

    @Override
    public long await(Condition condition, long nanos) throws InterruptedException {
      if (standsStill) {
        assertTrue(condition.await(2, TimeUnit.MINUTES));
      } else {
        pass(nanos + oversleep);
      }
      return -oversleep;
    }

    synchronized void pass(long nanos) {
      now += nanos;
    }
  }

  private final TestClock clock = new TestClock();
  private ByteRateLimiter standing;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @Before
  public void setUp() {
    clock.standsStill = true;
    standing = new ByteRateLimiter(20, clock);
  }

  @After
  public void tearDown() throws Exception {
    threads.shutdownNow();
    assertTrue(threads.awaitTermination(2, TimeUnit.MINUTES));
  }

  /** A thread that waits for a block, once it is in the queue. */
  private Future<Boolean> waiting(AtomicBoolean cancelled) throws InterruptedException {
    CountDownLatch queued = new CountDownLatch(1);
    Future<Boolean> waiting = threads.submit(() -> {
      try {
        standing.acquire(BLOCK, () -> {
          queued.countDown();
          return cancelled.get();
        });
        return true;
      } catch (InterruptedException e) {
        return false;
      }
    });
    assertTrue(queued.await(2, TimeUnit.MINUTES));
    assertFalse(waiting.isDone());
    return waiting;
  }

  private void pass(long nanos) {
    clock.pass(nanos);
    standing.wake();
  }

  @Test
  public void testWithoutLimitNothingWaits() throws Exception {
    long start = clock.nanos();
    clock.standsStill = false;
    ByteRateLimiter unlimited = new ByteRateLimiter(20, clock);
    for (int i = 0; i < 10_000; i++) {
      unlimited.acquire(BLOCK);
    }
    assertEquals(start, clock.nanos());
  }

  /** In the time of one block, only the thread that has waited longest continues. */
  @Test
  public void testThreadsTogetherKeepTheLimitAndTakeTurns() throws Exception {
    standing.setLimit(BLOCK);
    standing.acquire(BLOCK);
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    Semaphore queued = new Semaphore(0);
    int rounds = 5;
    for (int i = 0; i < 4; i++) {
      int reader = i;
      threads.submit((Callable<Void>) () -> {
        for (int round = 0; round <= rounds; round++) {
          AtomicBoolean isQueued = new AtomicBoolean();
          standing.acquire(BLOCK, () -> {
            if (isQueued.compareAndSet(false, true)) {
              queued.release();
            }
            return false;
          });
          order.add(reader);
        }
        return null;
      });
      assertTrue(queued.tryAcquire(2, TimeUnit.MINUTES));
    }
    for (int i = 0; i < 4 * rounds; i++) {
      assertEquals(i, order.size());
      pass(TimeUnit.SECONDS.toNanos(1));
      // The thread queues for its next block, behind all others.
      assertTrue(queued.tryAcquire(2, TimeUnit.MINUTES));
      assertEquals(i % 4, (int) order.get(i));
    }
    assertEquals(4 * rounds, order.size());
  }

  @Test
  public void testCancellationEndsWaitWhileTimeStandsStillAndOwesNothing() throws Exception {
    standing.setLimit(1000);
    standing.acquire(BLOCK);
    AtomicBoolean first = new AtomicBoolean();
    AtomicBoolean second = new AtomicBoolean();
    Future<Boolean> waitsForTime = waiting(first);
    Future<Boolean> waitsForTurn = waiting(second);
    second.set(true);
    standing.wake();
    assertFalse(waitsForTurn.get(2, TimeUnit.MINUTES));
    assertFalse(waitsForTime.isDone());
    first.set(true);
    standing.wake();
    assertFalse(waitsForTime.get(2, TimeUnit.MINUTES));
    // Only the block that was let through is owed.
    clock.standsStill = false;
    long start = clock.nanos();
    standing.acquire(BLOCK);
    assertEquals(BLOCK / 1000.0, seconds(start), 0.001);
  }

  @Test
  public void testChangedLimitHoldsForThoseThatWait() throws Exception {
    for (long next : new long[] { 100 * MB, 0 }) {
      // Forgives what the reads before owe.
      standing.setLimit(0);
      standing.setLimit(1000);
      standing.acquire(BLOCK);
      List<Future<Boolean>> waiting = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        waiting.add(waiting(new AtomicBoolean()));
      }
      standing.setLimit(next);
      // A block takes 65 s at the old limit.
      pass(next == 0 ? 0 : TimeUnit.MILLISECONDS.toNanos(10));
      for (Future<Boolean> read : waiting) {
        assertTrue(read.get(2, TimeUnit.MINUTES));
      }
      assertEquals(next, standing.getLimit());
    }
  }

  @Test
  public void testInterruptionEndsWait() throws Exception {
    standing.setLimit(1000);
    standing.acquire(BLOCK);
    Future<Boolean> waiting = waiting(new AtomicBoolean());
    threads.shutdownNow();
    assertFalse(waiting.get(2, TimeUnit.MINUTES));
  }

  private ByteRateLimiter limited(long limit) {
    clock.standsStill = false;
    ByteRateLimiter limiter = new ByteRateLimiter(100, clock);
    limiter.setLimit(limit);
    return limiter;
  }

  private double seconds(long start) {
    return (clock.nanos() - start) / (double) TimeUnit.SECONDS.toNanos(1);
  }

  @Test
  public void testOneThreadKeepsToTheLimit() throws InterruptedException {
    for (long limit : new long[] { MB / 2, 10L * MB, 2000L * MB }) {
      ByteRateLimiter writes = limited(limit);
      long start = clock.nanos();
      long bytes = 0;
      while (bytes < 50L * MB || seconds(start) < 20) {
        writes.acquire(MB);
        bytes += MB;
      }
      assertEquals(limit, bytes / seconds(start), 0.05 * limit);
    }
  }

  @Test
  public void testSlowDevicesAndLateThreadsDoNotLowerTheRate() throws InterruptedException {
    ByteRateLimiter writes = limited(10L * MB);
    Random random = new Random(1);
    clock.oversleep = TimeUnit.MILLISECONDS.toNanos(2);
    long start = clock.nanos();
    long bytes = 0;
    while (seconds(start) < 60) {
      writes.acquire(MB);
      bytes += MB;
      clock.pass(TimeUnit.MILLISECONDS.toNanos(random.nextInt(140)));
    }
    assertEquals(10L * MB, bytes / seconds(start), 0.5 * MB);
  }

  @Test
  public void testIdleTimeIsNotSaved() throws InterruptedException {
    ByteRateLimiter writes = limited(10L * MB);
    clock.pass(TimeUnit.HOURS.toNanos(1));
    long start = clock.nanos();
    for (int i = 0; i < 100; i++) {
      writes.acquire(MB);
    }
    assertTrue(seconds(start) > 9.5);
  }

  @Test
  public void testNewLimitHoldsAtOnce() throws InterruptedException {
    ByteRateLimiter writes = limited(MB);
    for (int i = 0; i < 10; i++) {
      writes.acquire(MB);
    }
    long start = clock.nanos();
    writes.setLimit(0);
    for (int i = 0; i < 1000; i++) {
      writes.acquire(MB);
    }
    assertEquals(0, seconds(start), 0);
    writes.setLimit(100L * MB);
    start = clock.nanos();
    for (int i = 0; i < 1000; i++) {
      writes.acquire(MB);
    }
    assertEquals(10, seconds(start), 0.5);
  }
}
