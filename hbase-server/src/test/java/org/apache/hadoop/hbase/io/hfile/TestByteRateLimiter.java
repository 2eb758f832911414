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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.Condition;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
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

  /** A clock that advances when a thread waits. */
  private static final class TestClock implements ByteRateLimiter.Clock {
    private long now = 1_000_000_007;
    private long oversleep;

    @Override
    public synchronized long nanos() {
      return now;
    }

    @Override
    public synchronized long await(Condition condition, long nanos) {
      now += nanos + oversleep;
      return -oversleep;
    }

    synchronized void pass(long nanos) {
      now += nanos;
    }
  }

  private final TestClock clock = new TestClock();
  private final ByteRateLimiter rate = new ByteRateLimiter(20);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @After
  public void tearDown() throws Exception {
    threads.shutdownNow();
    assertTrue(threads.awaitTermination(10, TimeUnit.SECONDS));
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  private Future<Long> waiting(AtomicBoolean cancelled) {
    return threads.submit(() -> {
      try {
        rate.acquire(BLOCK, cancelled::get);
        return System.nanoTime();
      } catch (InterruptedException e) {
        return -System.nanoTime();
      }
    });
  }

  @Test
  public void testWithoutLimitNothingWaits() throws Exception {
    long start = System.nanoTime();
    for (int i = 0; i < 10_000; i++) {
      rate.acquire(BLOCK, () -> false);
    }
    assertTrue(millisSince(start) < 5000);
  }

  /** Reads for 2 s with 4 threads at 20 MB/s. */
  @Test
  public void testAllThreadsTogetherKeepTheLimitWithoutBurstsAndGetEqualShares() throws Exception {
    rate.setLimit(20 * MB);
    // A pause earns next to nothing.
    Thread.sleep(500);
    long start = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300);
    ConcurrentLinkedQueue<Long> reads = new ConcurrentLinkedQueue<>();
    AtomicIntegerArray shares = new AtomicIntegerArray(4);
    List<Future<Void>> readers = new ArrayList<>();
    for (int i = 0; i < shares.length(); i++) {
      int reader = i;
      readers.add(threads.submit((Callable<Void>) () -> {
        while (millisSince(start) < 2000) {
          rate.acquire(BLOCK, () -> false);
          // All of them have started by then.
          if (System.nanoTime() >= start) {
            reads.add(millisSince(start));
            shares.incrementAndGet(reader);
          }
        }
        return null;
      }));
    }
    for (Future<Void> reader : readers) {
      reader.get();
    }
    int all = reads.size();
    // 640 blocks of 64 KB are 40 MB; fewer only if the machine has no time for the readers.
    assertTrue(all + " blocks", all >= 320 && all <= 640 + 16);
    for (int i = 0; i < shares.length(); i++) {
      assertTrue(shares.toString(), Math.abs(shares.get(i) - all / 4) <= 8 + all / 32);
    }
    int[] tenths = new int[30];
    reads.forEach(millis -> tenths[(int) (millis / 100)]++);
    for (int i = 0; i < 20; i++) {
      // 32 in each, and what 20 ms of burst and waits that end late move about.
      assertTrue("in tenth " + i + ": " + tenths[i], tenths[i] <= 32 + 13);
    }
  }

  @Test
  public void testCancellationEndsWaitAtOnceAndOwesNothing() throws Exception {
    rate.setLimit(1000);
    rate.acquire(BLOCK, () -> false);
    AtomicBoolean first = new AtomicBoolean();
    AtomicBoolean second = new AtomicBoolean();
    Future<Long> waitsForTime = waiting(first);
    Thread.sleep(50);
    Future<Long> waitsForTurn = waiting(second);
    Thread.sleep(50);
    assertFalse(waitsForTime.isDone());
    assertFalse(waitsForTurn.isDone());
    long cancelled = System.nanoTime();
    second.set(true);
    rate.wake();
    assertTrue(waitsForTurn.get(5, TimeUnit.SECONDS) < 0);
    first.set(true);
    rate.wake();
    assertTrue(waitsForTime.get(5, TimeUnit.SECONDS) < 0);
    assertTrue(millisSince(cancelled) < 1000);
    // Only the block that was let through is owed: 65 s at 1000 B/s, and half of it now is nothing.
    rate.setLimit(100 * MB);
    long start = System.nanoTime();
    rate.acquire(BLOCK, () -> false);
    assertTrue(millisSince(start) < 1000);
  }

  @Test
  public void testChangedLimitHoldsForThoseThatWait() throws Exception {
    for (long next : new long[] { 100 * MB, 0 }) {
      // Forgives what the reads before owe.
      rate.setLimit(0);
      rate.setLimit(1000);
      rate.acquire(BLOCK, () -> false);
      List<Future<Long>> waiting = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        waiting.add(waiting(new AtomicBoolean()));
      }
      Thread.sleep(100);
      waiting.forEach(read -> assertFalse(read.isDone()));
      long raised = System.nanoTime();
      rate.setLimit(next);
      for (Future<Long> read : waiting) {
        assertTrue(read.get(5, TimeUnit.SECONDS) > 0);
      }
      // A block takes 65 s at the old limit.
      assertTrue(millisSince(raised) < 1000);
      assertEquals(next, rate.getLimit());
    }
  }

  @Test
  public void testInterruptionEndsWait() throws Exception {
    rate.setLimit(1000);
    rate.acquire(BLOCK, () -> false);
    Future<Long> waiting = waiting(new AtomicBoolean());
    Thread.sleep(50);
    threads.shutdownNow();
    assertTrue(waiting.get(10, TimeUnit.SECONDS) < 0);
  }

  private ByteRateLimiter limited(long limit) {
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
