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
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.context.Scope;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.ipc.RpcCall;
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

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;

/**
 * The gets of a multi are answered once each, in their places, with the counts and the call of
 * the multi.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestParallelGetsOrder extends ParallelGetsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelGetsOrder.class);

  private static final ContextKey<String> TRACE = ContextKey.named("trace");

  @Test
  public void testEachGetIsServedOnceAndAnsweredInItsPlace() throws Exception {
    AtomicIntegerArray served = new AtomicIntegerArray(500);
    Thread handler = Thread.currentThread();
    CountDownLatch helped = new CountDownLatch(1);
    List<Object> answers = serve(gets(500), (get, as) -> {
      int i = number(get);
      served.incrementAndGet(i);
      if (Thread.currentThread() == handler) {
        await(helped);
      } else {
        helped.countDown();
      }
      return result(get);
    });
    for (int i = 0; i < 500; i++) {
      assertRow(i, answers.get(i));
      assertEquals(1, served.get(i));
    }
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    assertTrue(pool.get(Count.HelperGetCount) > 0);
    assertEquals(500, pool.get(Count.HelperGetCount) + pool.get(Count.HandlerGetCount));
    assertEquals(1, pool.get(Count.ParallelBatchCount));
  }

  /** The sizes are the smallest, those around a window and half a window, and a few others. */
  @Test
  public void testBatchesOfEachSizeAreAnswered() throws Exception {
    assertNull("nothing to help with", start(gets(1), (get, as) -> result(get)));
    int window = ParallelGets.WINDOW;
    for (int size : new int[] { 2, 3, window / 2 - 1, window / 2, window / 2 + 1, window - 1,
      window, window + 1, 3 * window / 2 + 1, 2 * window, 2 * window + 1, 1001 }) {
      AtomicIntegerArray served = new AtomicIntegerArray(size);
      // Calls that come too late are limited in number.
      waitUntil(() -> pool.getPendingHandoffCount() == 0);
      List<Object> answers = serve(gets(size), (get, as) -> {
        served.incrementAndGet(number(get));
        return result(get);
      });
      for (int i = 0; i < size; i++) {
        assertRow(i, answers.get(i));
        assertEquals(1, served.get(i));
      }
    }
  }

  @Test
  public void testWhatAGetCountsIsAddedWhenItsAnswerIsTaken() throws Exception {
    List<Action> actions = gets(200);
    try (ParallelGets gets = start(actions, (get, as) -> {
      as.incrementBlockBytesScanned(number(get));
      as.incrementResponseCellSize(1);
      as.incrementResponseExceptionSize(2);
      assertEquals("not that of another get", number(get), as.getBlockBytesScanned());
      if (number(get) % 3 == 0) {
        throw new IOException("after it has counted");
      }
      return result(get);
    })) {
      long sum = 0;
      for (int i = 0; i < actions.size(); i++) {
        assertEquals(sum, call.getBlockBytesScanned());
        assertTrue(gets.has(actions.get(i)));
        take(gets);
        sum += i;
        assertEquals(sum, call.getBlockBytesScanned());
        assertEquals(i + 1, call.getResponseCellSize());
        assertEquals(2 * (i + 1), call.getResponseExceptionSize());
      }
    }
  }

  @Test
  public void testMetricsHaveEachGetWithItsTimeAndWhatItHasRead() throws Exception {
    MetricsRegionServer metrics = Mockito.mock(MetricsRegionServer.class);
    // Each thread has a clock, which it advances.
    ThreadLocal<Long> clock = ThreadLocal.withInitial(() -> 0L);
    Thread handler = Thread.currentThread();
    CountDownLatch helped = new CountDownLatch(1);
    List<Action> actions = gets(100);
    EnvironmentEdgeManager.injectEdge(clock::get);
    try (ParallelGets gets = pool.start(actions, call, region, metrics, UNLIMITED, (get, as) -> {
      if (Thread.currentThread() == handler) {
        await(helped);
      } else {
        helped.countDown();
      }
      clock.set(clock.get() + 2 * number(get));
      as.incrementBlockBytesScanned(1000 + number(get));
      if (number(get) == 7) {
        throw new IOException("bad");
      }
      return result(get);
    })) {
      for (Action action : actions) {
        assertTrue(gets.has(action));
        take(gets);
      }
    } finally {
      EnvironmentEdgeManager.reset();
    }
    for (int i = 0; i < 100; i++) {
      Mockito.verify(metrics).updateGet(region, 2L * i, 1000L + i);
    }
    Mockito.verifyNoMoreInteractions(metrics);
  }

  @Test
  public void testTheCallOfAGetIsThatOfTheMulti() throws Exception {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    CountDownLatch two = new CountDownLatch(2);
    try (Scope ignored = Context.current().with(TRACE, "request").makeCurrent()) {
      List<Object> answers = serve(gets(60), (get, as) -> {
        RpcCall current = RpcServer.getCurrentCall().get();
        assertSame(as, current);
        assertNotSame(call, current);
        assertEquals("alice", RpcServer.getRequestUserName().get());
        assertEquals("alice", current.getRequestUser().get().getShortName());
        assertEquals(call.getDeadline(), current.getDeadline());
        assertTrue(current.isRetryImmediatelySupported());
        assertEquals("request", Context.current().get(TRACE));
        if (threads.add(Thread.currentThread())) {
          two.countDown();
        }
        await(two);
        return result(get);
      });
      for (int i = 0; i < 60; i++) {
        assertRow(i, answers.get(i));
      }
    }
    assertSame(call, RpcServer.getCurrentCall().get());
    // And a thread forgets it.
    RpcServer.setCurrentCall(call = ServedMulti.of(null));
    serve(gets(60), (get, as) -> {
      assertNull(Context.current().get(TRACE));
      return result(get);
    });
  }

  @Test
  public void testNoGetIsBegunBeforeAnIncrementAheadOfItIsDone() throws Exception {
    List<Action> actions = gets(20);
    actions.add(increment(20));
    for (int i = 21; i < 41; i++) {
      actions.add(get(i));
    }
    AtomicInteger last = new AtomicInteger(-1);
    try (ParallelGets gets = start(actions, (get, as) -> {
      last.accumulateAndGet(number(get), Math::max);
      return result(get);
    })) {
      for (int i = 0; i < actions.size(); i++) {
        if (i == 20) {
          assertFalse(gets.has(actions.get(i)));
          sleep(50);
          assertEquals(19, last.get());
        } else {
          assertTrue(gets.has(actions.get(i)));
          assertRow(i, take(gets));
        }
      }
    }
    assertEquals(40, last.get());
  }

  @Test
  public void testPutsAreDoneLastAndDoNotHoldUpGets() throws Exception {
    List<Action> actions = gets(3);
    actions.add(put(3));
    for (int i = 4; i < 20; i++) {
      actions.add(get(i));
    }
    CountDownLatch behindThePut = new CountDownLatch(1);
    List<Object> answers = serve(actions, (get, as) -> {
      if (number(get) < 3) {
        await(behindThePut);
      } else {
        behindThePut.countDown();
      }
      return result(get);
    });
    assertNull(answers.get(3));
    assertRow(19, answers.get(19));
  }

  @Test
  public void testNotMoreThanAWindowIsBegunAhead() throws Exception {
    AtomicInteger begun = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Object> answers = serve(gets(300), (get, as) -> {
      begun.incrementAndGet();
      most.accumulateAndGet(number(get), Math::max);
      if (number(get) == 0) {
        // No thread continues without it.
        waitUntil(() -> begun.get() == ParallelGets.WINDOW);
        sleep(50);
        assertEquals(ParallelGets.WINDOW - 1, most.get());
      }
      return result(get);
    });
    assertRow(0, answers.get(0));
    assertRow(299, answers.get(299));
  }

  @Test
  public void testEachTimeThatMoreMayBeBegunIsAWave() throws Exception {
    serve(gets(ParallelGets.WINDOW), (get, as) -> result(get));
    assertEquals(1, pool.get(Count.WindowAdvanceCount));
    // Each half of a window adds one.
    serve(gets(3 * ParallelGets.WINDOW), (get, as) -> result(get));
    assertEquals(1 + 1 + 4, pool.get(Count.WindowAdvanceCount));
  }
}
