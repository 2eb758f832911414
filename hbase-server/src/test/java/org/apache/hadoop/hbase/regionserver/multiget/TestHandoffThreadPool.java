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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestHandoffThreadPool {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestHandoffThreadPool.class);

  private static final long LONG = TimeUnit.HOURS.toNanos(1);
  private static final long TIMEOUT_MILLIS = 60_000;

  private final Set<Thread> started = ConcurrentHashMap.newKeySet();
  private HandoffThreadPool threads = threads(2, LONG, 0);

  private HandoffThreadPool threads(int most, long keepAliveNanos, long expectNanos) {
    return new HandoffThreadPool(work -> {
      Thread thread = new Thread(work, "helper");
      thread.setDaemon(true);
      started.add(thread);
      return thread;
    }, most, keepAliveNanos, expectNanos);
  }

  @After
  public void stop() throws InterruptedException {
    threads.stop();
    for (Thread each : started) {
      each.join(TIMEOUT_MILLIS);
      assertFalse(each.isAlive());
    }
    assertEquals(0, threads.count());
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void waitFor(Waiter.Predicate<RuntimeException> condition) {
    Waiter.waitFor(new Configuration(false), TIMEOUT_MILLIS, 1, condition);
  }

  /** Has a thread go to sleep behind some work. */
  private Thread sleeper() {
    AtomicReference<Thread> thread = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    assertTrue(threads.call(() -> {
      thread.set(Thread.currentThread());
      done.countDown();
    }));
    await(done);
    waitFor(() -> thread.get().getState() == Thread.State.TIMED_WAITING);
    return thread.get();
  }

  @Test
  public void testAThreadThatSleepsIsTakenBeforeOneIsStarted() {
    Thread first = sleeper();
    assertSame(first, sleeper());
    assertEquals(1, threads.count());
  }

  @Test
  public void testAThreadIsAwakeForWorkThatIsExpected() {
    threads = threads(2, LONG, LONG);
    assertFalse("started", threads.expectWork());
    assertEquals(0, threads.count());
    Thread sleeper = sleeper();
    assertTrue(threads.expectWork());
    waitFor(() -> sleeper.getState() == Thread.State.RUNNABLE);
    AtomicReference<Thread> thread = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    assertTrue(threads.call(() -> {
      thread.set(Thread.currentThread());
      done.countDown();
    }));
    await(done);
    assertSame(sleeper, thread.get());
    assertEquals(1, threads.count());
  }

  @Test
  public void testWhenNothingCameOfItAThreadSleepsAgain() {
    threads = threads(2, LONG, 1);
    Thread sleeper = sleeper();
    for (int i = 0; i < 100; i++) {
      threads.expectWork();
    }
    waitFor(() -> sleeper.getState() == Thread.State.TIMED_WAITING);
    assertSame(sleeper, sleeper());
  }

  @Test
  public void testAThreadThatWasInterruptedSleepsAllTheSame() {
    Thread sleeper = sleeper();
    CountDownLatch done = new CountDownLatch(1);
    // The close of a region may interrupt the thread at the end of its last get.
    assertTrue(threads.call(() -> {
      Thread.currentThread().interrupt();
      done.countDown();
    }));
    await(done);
    waitFor(() -> sleeper.getState() == Thread.State.TIMED_WAITING);
    // This interrupt is too late.
    sleeper.interrupt();
    waitFor(
      () -> !sleeper.isInterrupted() && sleeper.getState() == Thread.State.TIMED_WAITING);
    assertSame(sleeper, sleeper());
  }

  @Test
  public void testAThreadWhoseWorkFailsIsThereForTheNext() {
    threads = threads(1, LONG, 0);
    for (int i = 0; i < 3; i++) {
      assertTrue(threads.call(() -> {
        throw new OutOfMemoryError("for the test");
      }));
      sleeper();
      assertEquals(1, threads.count());
      long busy = threads.busyNanos();
      assertEquals("at work no more", busy, threads.busyNanos());
    }
    assertEquals(1, started.size());
  }

  @Test
  public void testAThreadThatCannotBeMadeIsNotCounted() {
    List<ThreadFactory> factories = Arrays.asList(work -> null, work -> {
      throw new IllegalStateException("for the test");
    });
    for (ThreadFactory factory : factories) {
      threads = new HandoffThreadPool(factory, 1, LONG, 0);
      assertFalse(threads.call(() -> {
        throw new AssertionError("done");
      }));
      assertEquals(0, threads.count());
      assertEquals(1, threads.failures());
    }
  }

  @Test
  public void testWorkWaitsWhenAllThreadsHaveSome() {
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(2);
    for (int i = 0; i < 2; i++) {
      assertTrue(threads.call(() -> {
        begun.countDown();
        await(end);
      }));
    }
    await(begun);
    CountDownLatch last = new CountDownLatch(1);
    assertFalse(threads.hasWaiting());
    assertTrue(threads.call(last::countDown));
    assertTrue(threads.hasWaiting());
    assertEquals(2, threads.count());
    end.countDown();
    await(last);
    assertFalse(threads.hasWaiting());
  }

  @Test
  public void testThreadsWithoutWorkEnd() {
    threads = threads(4, TimeUnit.MILLISECONDS.toNanos(1), 0);
    CountDownLatch done = new CountDownLatch(1);
    assertTrue(threads.call(done::countDown));
    await(done);
    waitFor(() -> threads.count() == 0);
    CountDownLatch again = new CountDownLatch(1);
    assertTrue(threads.call(again::countDown));
    await(again);
  }

  @Test
  public void testFewerThreadsAreLeftWhenThereMayBeFewer() {
    CountDownLatch end = new CountDownLatch(1);
    for (int i = 0; i < 2; i++) {
      threads.call(() -> await(end));
    }
    assertEquals(2, threads.count());
    threads.setMax(1);
    end.countDown();
    waitFor(() -> threads.count() == 1);
    sleeper();
    assertEquals(1, threads.count());
  }

  @Test
  public void testNothingIsDoneAfterTheStop() {
    sleeper();
    threads.stop();
    assertFalse(threads.call(() -> {
      throw new AssertionError("done");
    }));
    waitFor(() -> threads.count() == 0);
  }

  @Test
  public void testASystemWithoutThreadsIsAskedOncePerSecondAtMost() {
    AtomicInteger asked = new AtomicInteger();
    threads = new HandoffThreadPool(work -> {
      asked.incrementAndGet();
      throw new OutOfMemoryError("unable to create native thread");
    }, 2, LONG, 0);
    for (int i = 0; i < 1000; i++) {
      assertFalse(threads.call(() -> {
        throw new AssertionError("done");
      }));
      assertEquals(0, threads.count());
    }
    assertEquals(asked.get(), threads.failures());
    assertTrue("asked " + asked, asked.get() < 1000);
  }

  @Test
  public void testTheTimeAtWorkIsCounted() {
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    threads.call(() -> {
      begun.countDown();
      await(end);
    });
    await(begun);
    long before = threads.busyNanos();
    waitFor(() -> threads.busyNanos() > before);
    end.countDown();
    assertTrue(threads.cpuNanos() >= 0);
  }

  /** Threads end all the time, and the maximum number of threads changes. */
  @Test
  public void testAllWorkIsDoneOnce() throws Exception {
    threads = threads(3, 1, TimeUnit.MICROSECONDS.toNanos(20));
    int callers = 4;
    int calls = 20_000;
    AtomicInteger done = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    Thread[] others = new Thread[callers];
    for (int c = 0; c < callers; c++) {
      others[c] = new Thread(() -> {
        for (int i = 0; i < calls; i++) {
          if (ThreadLocalRandom.current().nextInt(4) == 0) {
            threads.expectWork();
          }
          if (!threads.call(done::incrementAndGet)) {
            refused.incrementAndGet();
          }
          if (ThreadLocalRandom.current().nextInt(1000) == 0) {
            threads.setMax(1 + ThreadLocalRandom.current().nextInt(3));
          }
        }
      });
      others[c].start();
    }
    for (Thread each : others) {
      each.join();
    }
    waitFor(() -> done.get() == callers * calls);
    assertEquals(0, refused.get());
    waitFor(() -> threads.count() == 0);
    assertFalse(threads.hasWaiting());
  }
}
