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
package org.apache.hadoop.hbase.io.hfile.prefetch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, MediumTests.class })
public class TestReadRate {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReadRate.class);

  private static final int BLOCK = 64 << 10;
  private static final int MB = 1 << 20;

  private final ReadRate rate = new ReadRate();
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
        rate.await(BLOCK, cancelled::get);
        return System.nanoTime();
      } catch (InterruptedException e) {
        return -System.nanoTime();
      }
    });
  }

  @Test
  public void withoutLimitNothingWaits() throws Exception {
    long start = System.nanoTime();
    for (int i = 0; i < 10_000; i++) {
      rate.await(BLOCK, () -> false);
    }
    assertTrue(millisSince(start) < 5000);
  }

  /** Reads for 2 s with 4 threads at 20 MB/s. */
  @Test
  public void allThreadsTogetherKeepTheLimitWithoutBurstsAndGetEqualShares() throws Exception {
    rate.set(20 * MB);
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
          rate.await(BLOCK, () -> false);
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
  public void cancellationEndsWaitAtOnceAndOwesNothing() throws Exception {
    rate.set(1000);
    rate.await(BLOCK, () -> false);
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
    rate.set(100 * MB);
    long start = System.nanoTime();
    rate.await(BLOCK, () -> false);
    assertTrue(millisSince(start) < 1000);
  }

  @Test
  public void changedLimitHoldsForThoseThatWait() throws Exception {
    for (long next : new long[] { 100 * MB, 0 }) {
      // Forgives what the reads before owe.
      rate.set(0);
      rate.set(1000);
      rate.await(BLOCK, () -> false);
      List<Future<Long>> waiting = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        waiting.add(waiting(new AtomicBoolean()));
      }
      Thread.sleep(100);
      waiting.forEach(read -> assertFalse(read.isDone()));
      long raised = System.nanoTime();
      rate.set(next);
      for (Future<Long> read : waiting) {
        assertTrue(read.get(5, TimeUnit.SECONDS) > 0);
      }
      // A block takes 65 s at the old limit.
      assertTrue(millisSince(raised) < 1000);
      assertEquals(next, rate.get());
    }
  }

  @Test
  public void interruptionEndsWait() throws Exception {
    rate.set(1000);
    rate.await(BLOCK, () -> false);
    Future<Long> waiting = waiting(new AtomicBoolean());
    Thread.sleep(50);
    threads.shutdownNow();
    assertTrue(waiting.get(10, TimeUnit.SECONDS) < 0);
  }
}
