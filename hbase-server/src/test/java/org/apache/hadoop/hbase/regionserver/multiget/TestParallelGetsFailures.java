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

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.MetricsRegionServer;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetMetrics.Count;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.Uninterruptibles;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;

/**
 * A get, its trace, its metrics or a thread fails: all other gets are answered, and the pool keeps
 * its threads.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestParallelGetsFailures extends ParallelGetsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelGetsFailures.class);

  @Test
  public void testAnExceptionIsThatOfItsGetOnly() throws Exception {
    List<Action> actions = gets(60);
    ParallelGets.RowReader reader = (get, as) -> {
      switch (number(get) % 4) {
        case 1:
          throw new IOException("of " + number(get));
        case 2:
          throw new IllegalStateException("of " + number(get));
        case 3:
          throw new NoClassDefFoundError("of " + number(get));
        default:
          return result(get);
      }
    };
    try (ParallelGets gets = start(actions, reader)) {
      for (int i = 0; i < 60; i++) {
        assertTrue(gets.has(actions.get(i)));
        Throwable thrown = null;
        try {
          assertRow(i, gets.take());
        } catch (IOException | RuntimeException | Error e) {
          thrown = e;
        }
        if (i % 4 > 0) {
          assertEquals("of " + i, thrown.getMessage());
          assertSame(Arrays.asList(IOException.class, IllegalStateException.class,
            NoClassDefFoundError.class).get(i % 4 - 1), thrown.getClass());
        }
      }
    }
  }

  @Test
  public void testAThreadInterruptedByTheCloseOfARegionIsNotSoAfterwards() throws Exception {
    Thread handler = Thread.currentThread();
    AtomicInteger interrupted = new AtomicInteger();
    CountDownLatch helped = new CountDownLatch(1);
    List<Object> answers = serve(gets(400), (get, as) -> {
      assertFalse(Thread.currentThread().isInterrupted());
      if (Thread.currentThread() != handler) {
        Thread.currentThread().interrupt();
        interrupted.incrementAndGet();
        helped.countDown();
        throw new IOException("closed");
      }
      await(helped);
      return result(get);
    });
    assertTrue(interrupted.get() > 0);
    assertEquals(interrupted.get(), answers.stream().filter(IOException.class::isInstance).count());
  }

  @Test
  public void testAnInterruptionOfTheHandlerIsKept() throws Exception {
    Thread handler = Thread.currentThread();
    CountDownLatch helped = new CountDownLatch(1);
    List<Object> answers = serve(gets(4), (get, as) -> {
      if (Thread.currentThread() == handler) {
        // It may be interrupted before it has got its processor.
        Uninterruptibles.awaitUninterruptibly(helped);
      } else {
        helped.countDown();
        sleep(20);
        handler.interrupt();
        sleep(20);
      }
      return result(get);
    });
    assertTrue(Thread.interrupted());
    for (int i = 0; i < 4; i++) {
      assertRow(i, answers.get(i));
    }
  }

  /** Serves gets in a thread of its own, as a handler that waits for ever ends no test. */
  private <T> T asHandler(Callable<T> work) throws Exception {
    FutureTask<T> handler = new FutureTask<>(() -> {
      call = ServedMulti.of(ALICE);
      RpcServer.setCurrentCall(call);
      return work.call();
    });
    Thread thread = new Thread(handler, "handler");
    thread.setDaemon(true);
    thread.start();
    return handler.get(60, TimeUnit.SECONDS);
  }

  private static boolean isHandler() {
    return Thread.currentThread().getName().equals("handler");
  }

  private static Object takeAnything(ParallelGets gets) {
    try {
      return gets.take();
    } catch (IOException | RuntimeException | Error e) {
      return e;
    }
  }

  /**
   * Serves gets while the clock fails in the handler or in the threads that help.
   * @param before whether it fails before a get is read, or behind that
   */
  private List<Object> serveWhileTheClockFails(boolean inHandler, boolean before) throws Exception {
    ThreadLocal<Integer> looks = ThreadLocal.withInitial(() -> 0);
    CountDownLatch failed = new CountDownLatch(1);
    EnvironmentEdgeManager.injectEdge(() -> {
      boolean served = isHandler() || Thread.currentThread().getName().startsWith("Multiget");
      if (served && isHandler() == inHandler) {
        looks.set(looks.get() + 1);
        // Nothing is read behind a look that has failed, so that all are the first of their get.
        if (before || looks.get() % 2 == 0) {
          failed.countDown();
          throw new OutOfMemoryError("for the test");
        }
      }
      return 1;
    });
    try {
      return asHandler(() -> {
        List<Action> actions = gets(ParallelGets.WINDOW);
        List<Object> answers = new ArrayList<>();
        try (ParallelGets gets = start(actions, (get, as) -> {
          if (isHandler() != inHandler) {
            await(failed);
          }
          return result(get);
        })) {
          for (Action action : actions) {
            assertTrue(gets.has(action));
            answers.add(takeAnything(gets));
          }
        }
        return answers;
      });
    } finally {
      EnvironmentEdgeManager.reset();
    }
  }

  /** What runs around the reader may throw as well: each get that was begun is answered. */
  @Test
  public void testEachGetIsAnsweredWhateverFailsAroundTheRead() throws Exception {
    for (boolean inHandler : new boolean[] { true, false }) {
      for (boolean before : new boolean[] { true, false }) {
        String what = "in handler " + inHandler + ", before " + before;
        List<Object> answers = serveWhileTheClockFails(inHandler, before);
        int failures = 0;
        for (int i = 0; i < answers.size(); i++) {
          if (answers.get(i) instanceof OutOfMemoryError) {
            assertEquals(what, "for the test", ((Error) answers.get(i)).getMessage());
            failures++;
          } else {
            assertRow(i, answers.get(i));
          }
        }
        assertTrue(what, failures > 0);
        waitUntil(() -> pool.getPendingHandoffCount() == 0);
      }
    }
    assertEquals("no thread was lost", 4, (int) asHandler(() -> workersAtOnce(4)));
  }

  @Test
  public void testACallOrMetricsThatFailHoldNobodyUp() throws Exception {
    MetricsRegionServer metrics = Mockito.mock(MetricsRegionServer.class);
    Mockito.doThrow(new IllegalStateException("metrics")).when(metrics).updateGet(Mockito.any(),
      Mockito.anyLong(), Mockito.anyLong());
    List<Object> answers = asHandler(() -> {
      List<Action> actions = gets(3 * ParallelGets.WINDOW);
      List<Object> taken = new ArrayList<>();
      CountDownLatch helped = new CountDownLatch(1);
      try (ParallelGets gets = pool.start(actions, call, region, metrics, UNLIMITED, (get, as) -> {
        if (isHandler()) {
          await(helped);
        } else {
          helped.countDown();
        }
        return result(get);
      })) {
        for (Action action : actions) {
          assertTrue(gets.has(action));
          taken.add(takeAnything(gets));
          call.failWith(new IllegalStateException("call"));
        }
      }
      return taken;
    });
    assertEquals("metrics", ((Exception) answers.get(0)).getMessage());
    assertEquals("call", ((Exception) answers.get(2 * ParallelGets.WINDOW)).getMessage());
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
  }

  /** A trace that cannot be set in a thread of the pool. */
  private static final class FailingTrace implements Context {
    private final AtomicInteger failures = new AtomicInteger();

    @Override
    public <V> V get(ContextKey<V> key) {
      return null;
    }

    @Override
    public <V> Context with(ContextKey<V> key, V value) {
      return this;
    }

    @Override
    public Scope makeCurrent() {
      failures.incrementAndGet();
      throw new OutOfMemoryError("for the test");
    }
  }

  @Test
  public void testAThreadThatFailsBeforeItsFirstGetIsThereForTheNext() throws Exception {
    FailingTrace trace = new FailingTrace();
    for (int i = 1; i <= 8; i++) {
      int failures = i;
      List<Object> answers = asHandler(() -> {
        try (Scope ignored = ContextStorage.get().attach(trace)) {
          return serve(gets(6), (get, as) -> {
            waitUntil(() -> trace.failures.get() >= failures);
            return result(get);
          });
        }
      });
      assertRow(5, answers.get(5));
      waitUntil(() -> pool.getPendingHandoffCount() == 0);
    }
    assertEquals(4, (int) asHandler(() -> workersAtOnce(4)));
    assertEquals(4, pool.getThreadCount());
  }

  @Test
  public void testWhenAThreadCannotBeMadeTheHandlerDoesAll() throws Exception {
    List<ThreadFactory> factories = Arrays.asList(work -> null, work -> {
      throw new IllegalStateException("for the test");
    }, work -> new Thread(work) {
      @Override
      public synchronized void start() {
        throw new OutOfMemoryError("unable to create native thread");
      }
    });
    for (ThreadFactory factory : factories) {
      pool.shutdown();
      pool = new MultigetPool(settings(4), factory);
      List<Object> answers = asHandler(() -> serve(gets(200), (get, as) -> result(get)));
      for (int i = 0; i < 200; i++) {
        assertRow(i, answers.get(i));
      }
      assertEquals(0, pool.getPendingHandoffCount());
      assertEquals(0, pool.getThreadCount());
      assertTrue(pool.getFailedThreadCount() > 0);
      assertEquals(200, pool.get(Count.HandlerGetCount));
    }
  }
}
