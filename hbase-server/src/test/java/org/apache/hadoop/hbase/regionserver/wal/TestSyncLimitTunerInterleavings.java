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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The invariant of {@link SyncLimitTuner}, under all {@link Interleavings} with at most three
 * preemptions of writers whose waits end when a period is over.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestSyncLimitTunerInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSyncLimitTunerInterleavings.class);

  private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int MAX = 5;

  private final Interleavings threads = new Interleavings(3);
  private boolean grantsAlways;
  private SyncLimitTuner tuner;

  @After
  public void tearDown() {
    threads.close();
  }

  /** A lock that a thread can be preempted before, in and after; no thread may wait for it. */
  private final class TriedLock extends ReentrantLock {
    private static final long serialVersionUID = 1L;
    private boolean held;

    @Override
    public boolean tryLock() {
      threads.point();
      if (held && !grantsAlways) {
        return false;
      }
      held = true;
      return true;
    }

    @Override
    public void lock() {
      throw new AssertionError("a writer would wait for another");
    }

    @Override
    public void unlock() {
      threads.point();
      held = false;
    }
  }

  private final class Waits extends LongAdder {
    private static final long serialVersionUID = 1L;

    @Override
    public void increment() {
      threads.point();
      super.increment();
    }

    @Override
    public long sum() {
      threads.point();
      return super.sum();
    }

    @Override
    public long sumThenReset() {
      threads.point();
      return super.sumThenReset();
    }
  }

  private void waitUntil(long nowNs) {
    tuner.waited(nowNs - WAIT_NS, nowNs);
  }

  /** Ends the first period and starts the first of a comparison, in all orders. */
  private int tryAll() throws Exception {
    Lock lock = new TriedLock();
    long end = SyncLimitTuner.MIN_PERIOD_NS;
    int orders = 0;
    do {
      tuner = new SyncLimitTuner(MAX, 0, lock, new Waits());
      for (int i = 1; i < SyncLimitTuner.MIN_WAITS; i++) {
        waitUntil(WAIT_NS + i);
      }
      threads.run(true, () -> waitUntil(end), () -> waitUntil(end + 1), () -> waitUntil(end + 2));
      threads.check();
      // What is added between the two sums is one wait of 32 at most for each other thread.
      assertEquals("mean of a period that one thread has ended", 1_000, tuner.waitMicros(), 80);
      assertEquals("the chosen one comes first in a comparison", MAX, tuner.limit());
      // The next period ends as any other, whatever was left over.
      for (int i = 1; i <= SyncLimitTuner.MIN_WAITS; i++) {
        waitUntil(2 * end + 3 + i);
      }
      assertEquals("the period of the smaller one", 4, tuner.limit());
      assertEquals(MAX, tuner.chosenLimit());
      orders++;
    } while (threads.next());
    return orders;
  }

  @Test
  public void testOneThreadEndsAPeriod() throws Exception {
    int orders = tryAll();
    assertTrue(orders + " orders", orders > 100);
  }

  @Test
  public void testTwoThreadsThatEndAPeriodAreFound() {
    grantsAlways = true;
    assertThrows(AssertionError.class, this::tryAll);
  }
}
