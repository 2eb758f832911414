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
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.hadoop.hbase.ipc.CallerDisconnectedException;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.monitoring.ThreadLocalServerSideScanMetrics;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MetricsRegionServer;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.Uninterruptibles;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;

/** What a handler and its helpers do to each other, without a server around them. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestParallelGetsThreads {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelGetsThreads.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final User ALICE =
    User.createUserForTesting(new Configuration(false), "alice", new String[0]);
  private static final ContextKey<String> TRACE = ContextKey.named("trace");

  private final HRegion region = Mockito.mock(HRegion.class);
  private MultigetPool pool;
  private ServedMulti call;

  @Before
  public void setUp() {
    Mockito.when(region.getRegionInfo())
      .thenReturn(RegionInfoBuilder.newBuilder(TableName.valueOf("t")).build());
    pool = pool(4);
    call = new ServedMulti(ALICE);
    RpcServer.setCurrentCall(call);
  }

  @BeforeClass
  public static void ignoreCpuLoad() {
    MultigetPool.ignoreCpuLoad(true);
  }

  @AfterClass
  public static void considerCpuLoad() {
    MultigetPool.ignoreCpuLoad(false);
  }

  @After
  public void tearDown() {
    RpcServer.unsetCurrentCall();
    pool.shutdown();
  }

  private static MultigetPool pool(int threads) {
    return new MultigetPool(settings(threads));
  }

  private static Configuration settings(int threads) {
    Configuration conf = new Configuration(false);
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.THREADS_KEY, threads);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 2);
    return conf;
  }

  private static Action get(int i) throws IOException {
    return Action.newBuilder().setIndex(i).setGet(ProtobufUtil.toGet(new Get(Bytes.toBytes(i))))
      .build();
  }

  private static List<Action> gets(int count) throws IOException {
    List<Action> actions = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      actions.add(get(i));
    }
    return actions;
  }

  private static Action increment(int i) throws IOException {
    Increment increment = new Increment(Bytes.toBytes(i)).addColumn(FAMILY, FAMILY, 1);
    return Action.newBuilder().setIndex(i)
      .setMutation(ProtobufUtil.toMutation(MutationType.INCREMENT, increment)).build();
  }

  private static Action put(int i) throws IOException {
    Put put = new Put(Bytes.toBytes(i)).addColumn(FAMILY, FAMILY, FAMILY);
    return Action.newBuilder().setIndex(i)
      .setMutation(ProtobufUtil.toMutation(MutationType.PUT, put)).build();
  }

  private static int number(Get get) {
    return Bytes.toInt(get.getRow());
  }

  private static Result result(Get get) {
    return Result
      .create(Collections.singletonList(new KeyValue(get.getRow(), FAMILY, FAMILY, 1L, FAMILY)));
  }

  private ParallelGets start(List<Action> actions, ParallelGets.RowReader reader) {
    return pool.start(actions, call, region, null, reader);
  }

  /** Goes through the actions as a handler does. Returns a result, exception or null for each. */
  private List<Object> serve(List<Action> actions, ParallelGets.RowReader reader) {
    List<Object> answers = new ArrayList<>();
    try (ParallelGets gets = start(actions, reader)) {
      for (Action action : actions) {
        answers.add(gets.has(action) ? take(gets) : null);
      }
    }
    return answers;
  }

  private static Object take(ParallelGets gets) {
    try {
      return gets.take();
    } catch (IOException e) {
      return e;
    }
  }

  private static void assertRow(int i, Object answer) {
    assertEquals(i, Bytes.toInt(((Result) answer).getRow()));
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(30, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void waitUntil(Callable<Boolean> condition) {
    try {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (!condition.call()) {
        assertTrue("does not happen", System.nanoTime() < end);
        Thread.sleep(1);
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  public void testEachGetIsServedOnceAndAnsweredInItsPlace() throws Exception {
    AtomicIntegerArray served = new AtomicIntegerArray(500);
    List<Object> answers = serve(gets(500), (get, as) -> {
      int i = number(get);
      served.incrementAndGet(i);
      if (i % 7 == 0) {
        sleep(1);
      }
      return result(get);
    });
    for (int i = 0; i < 500; i++) {
      assertRow(i, answers.get(i));
      assertEquals(1, served.get(i));
    }
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    assertTrue(pool.getHelperGetCount() > 0);
    assertEquals(500, pool.getHelperGetCount() + pool.getHandlerGetCount());
    assertEquals(1, pool.getParallelBatchCount());
  }

  /** From the smallest batch on, around a window and half of one, and others. */
  @Test
  public void testBatchesOfEachSizeAreAnswered() throws Exception {
    assertNull("nothing to help with", start(gets(1), (get, as) -> result(get)));
    int window = ParallelGets.WINDOW;
    for (int size : new int[] { 2, 3, window / 2 - 1, window / 2, window / 2 + 1, window - 1,
      window, window + 1, 3 * window / 2 + 1, 2 * window, 2 * window + 1, 1001 }) {
      AtomicIntegerArray served = new AtomicIntegerArray(size);
      // Else the calls that come too late might be as many as there may be.
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

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
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
    // A clock for each thread, which goes on when its thread says so.
    ThreadLocal<Long> clock = ThreadLocal.withInitial(() -> 0L);
    Thread handler = Thread.currentThread();
    CountDownLatch helped = new CountDownLatch(1);
    List<Action> actions = gets(100);
    EnvironmentEdgeManager.injectEdge(clock::get);
    try (ParallelGets gets = pool.start(actions, call, region, metrics, (get, as) -> {
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
    RpcServer.setCurrentCall(call = new ServedMulti(null));
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
        // Nobody goes on without it.
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
  public void testWhenAllThreadsAreBusyTheHandlerDoesAll() throws Exception {
    pool.shutdown();
    pool = pool(1);
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch busy = new CountDownLatch(1);
    Thread handler = Thread.currentThread();
    ExecutorService others = Executors.newCachedThreadPool();
    try {
      List<Future<?>> ends = new ArrayList<>();
      Thread[] other = new Thread[1];
      ends.add(others.submit(() -> {
        other[0] = Thread.currentThread();
        RpcServer.setCurrentCall(new ServedMulti(ALICE));
        ServedMulti own = (ServedMulti) RpcServer.getCurrentCall().get();
        List<Action> actions = gets(20);
        try (ParallelGets gets = pool.start(actions, own, region, null, (get, as) -> {
          if (Thread.currentThread() != other[0]) {
            busy.countDown();
          }
          await(end);
          return result(get);
        })) {
          for (Action action : actions) {
            gets.has(action);
            gets.take();
          }
        }
        return null;
      }));
      await(busy);
      List<Object> answers = serve(gets(100), (get, as) -> {
        assertSame(handler, Thread.currentThread());
        return result(get);
      });
      assertRow(99, answers.get(99));
      end.countDown();
      for (Future<?> each : ends) {
        each.get(30, TimeUnit.SECONDS);
      }
    } finally {
      end.countDown();
      others.shutdownNow();
    }
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    // And when so many have called that help would come too late, it is not called for.
    assertTrue(pool.getSpuriousHandoffCount() > 0);
  }

  @Test
  public void testNotMoreThanTwoCallsForEachThreadWait() throws Exception {
    pool.shutdown();
    pool = pool(2);
    CountDownLatch end = new CountDownLatch(1);
    ExecutorService others = Executors.newCachedThreadPool();
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        int called = 2 * (i + 1);
        ends.add(others.submit(() -> {
          ServedMulti own = new ServedMulti(ALICE);
          RpcServer.setCurrentCall(own);
          List<Action> actions = gets(20);
          try (ParallelGets gets = pool.start(actions, own, region, null, (get, as) -> {
            await(end);
            return result(get);
          })) {
            for (Action action : actions) {
              gets.has(action);
              gets.take();
            }
          }
          return null;
        }));
        waitUntil(() -> pool.getPendingHandoffCount() == called);
      }
      Thread handler = Thread.currentThread();
      ParallelGets.RowReader alone = (get, as) -> {
        assertSame(handler, Thread.currentThread());
        return result(get);
      };
      int small = 0;
      for (int i = 0; i < DeviceWaitProbe.PROBE; i++) {
        // One of them is looked at, as it might wait for a device.
        try (ParallelGets gets = start(gets(50), alone)) {
          small += gets == null ? 1 : 0;
        }
      }
      assertEquals(DeviceWaitProbe.PROBE - 1, small);
      assertEquals(DeviceWaitProbe.PROBE, pool.getBusyBatchCount());
      assertRow(299, serve(gets(300), alone).get(299));
      assertEquals(4, pool.getPendingHandoffCount());
      assertEquals(2, pool.getThreadCount());
      end.countDown();
      for (Future<?> each : ends) {
        each.get(30, TimeUnit.SECONDS);
      }
    } finally {
      end.countDown();
      others.shutdownNow();
    }
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
  }

  @Test
  public void testALargeMultiLetsASmallOneHaveAThread() throws Exception {
    pool.shutdown();
    pool = pool(1);
    AtomicBoolean end = new AtomicBoolean();
    CountDownLatch helped = new CountDownLatch(1);
    ExecutorService others = Executors.newCachedThreadPool();
    try {
      Future<?> large = others.submit(() -> {
        Thread own = Thread.currentThread();
        ServedMulti other = new ServedMulti(ALICE);
        RpcServer.setCurrentCall(other);
        List<Action> actions = gets(5000);
        try (ParallelGets gets = pool.start(actions, other, region, null, (get, as) -> {
          if (Thread.currentThread() != own) {
            helped.countDown();
          }
          if (!end.get()) {
            sleep(2);
          }
          return result(get);
        })) {
          for (Action action : actions) {
            gets.has(action);
            assertRow(action.getIndex(), gets.take());
          }
        }
        return null;
      });
      await(helped);
      Thread handler = Thread.currentThread();
      CountDownLatch helpedToo = new CountDownLatch(1);
      serve(gets(10), (get, as) -> {
        if (Thread.currentThread() == handler) {
          await(helpedToo);
        } else {
          helpedToo.countDown();
        }
        return result(get);
      });
      end.set(true);
      large.get(60, TimeUnit.SECONDS);
    } finally {
      end.set(true);
      others.shutdownNow();
    }
  }

  @Test
  public void testTheEndWaitsForGetsUnderWay() throws Exception {
    AtomicInteger underWay = new AtomicInteger();
    CountDownLatch helped = new CountDownLatch(1);
    Thread handler = Thread.currentThread();
    List<Action> actions = gets(60);
    try (ParallelGets gets = start(actions, (get, as) -> {
      underWay.incrementAndGet();
      if (Thread.currentThread() == handler) {
        await(helped);
      } else {
        helped.countDown();
        sleep(50);
      }
      underWay.decrementAndGet();
      return result(get);
    })) {
      assertTrue(gets.has(actions.get(0)));
      assertRow(0, take(gets));
      // The response is found too large: the others are left out.
    }
    assertEquals(0, underWay.get());
    long before = pool.getHelperGetCount() + pool.getHandlerGetCount();
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    sleep(20);
    assertTrue(before <= ParallelGets.WINDOW);
    assertEquals(0, underWay.get());
  }

  @Test
  public void testNothingIsBegunForACallerWhoHasGone() throws Exception {
    AtomicInteger most = new AtomicInteger();
    List<Object> answers = serve(gets(300), (get, as) -> {
      most.accumulateAndGet(number(get), Math::max);
      call.disconnect();
      return result(get);
    });
    assertRow(0, answers.get(0));
    assertTrue(answers.get(299) instanceof CallerDisconnectedException);
    assertTrue(most.get() < ParallelGets.WINDOW);
  }

  @Test
  public void testTheEndWaitsForGetsOfACallerWhoHasGone() throws Exception {
    CountDownLatch helped = new CountDownLatch(1);
    AtomicInteger underWay = new AtomicInteger();
    Thread handler = Thread.currentThread();
    List<Object> answers = serve(gets(300), (get, as) -> {
      underWay.incrementAndGet();
      if (Thread.currentThread() == handler) {
        await(helped);
        call.disconnect();
      } else if (number(get) > ParallelGets.WINDOW / 2) {
        // One that the handler never comes to, as it ends before.
        helped.countDown();
        waitUntil(() -> call.disconnectSince() >= 0);
        sleep(20);
      }
      underWay.decrementAndGet();
      return result(get);
    });
    assertEquals(0, underWay.get());
    assertTrue(answers.get(299) instanceof CallerDisconnectedException);
  }

  @Test
  public void testNothingIsBegunAfterTheDeadline() throws Exception {
    AtomicInteger most = new AtomicInteger();
    List<Object> answers = serve(gets(300), (get, as) -> {
      most.accumulateAndGet(number(get), Math::max);
      call.setDeadline(EnvironmentEdgeManager.currentTime() - 1);
      return result(get);
    });
    assertRow(0, answers.get(0));
    assertTrue(answers.get(299) instanceof TimeoutIOException);
    assertTrue(most.get() < ParallelGets.WINDOW);
  }

  @Test
  public void testAThreadInterruptedByTheCloseOfARegionIsNotSoAfterwards() throws Exception {
    Thread handler = Thread.currentThread();
    AtomicInteger interrupted = new AtomicInteger();
    List<Object> answers = serve(gets(400), (get, as) -> {
      assertFalse(Thread.currentThread().isInterrupted());
      if (Thread.currentThread() != handler) {
        Thread.currentThread().interrupt();
        interrupted.incrementAndGet();
        throw new IOException("closed");
      }
      sleep(1);
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

  @Test
  public void testAfterTheServerHasStoppedTheHandlerDoesAll() throws Exception {
    pool.shutdown();
    List<Object> answers = serve(gets(50), (get, as) -> result(get));
    assertRow(49, answers.get(49));
    assertEquals(0, pool.getPendingHandoffCount());
    assertEquals(50, pool.getHandlerGetCount());
  }

  @Test
  public void testWhenTheSystemHasNoThreadsTheHandlerDoesAll() throws Exception {
    pool.shutdown();
    pool = new MultigetPool(settings(4), work -> new Thread(work) {
      @Override
      public synchronized void start() {
        throw new OutOfMemoryError("unable to create native thread");
      }
    });
    List<Object> answers = serve(gets(200), (get, as) -> result(get));
    for (int i = 0; i < 200; i++) {
      assertRow(i, answers.get(i));
    }
    assertEquals(0, pool.getPendingHandoffCount());
    assertEquals(0, pool.getThreadCount());
    assertTrue(pool.getFailedThreadCount() > 0);
    assertEquals(200, pool.getHandlerGetCount());
  }

  /** Others use all processors of this one. */
  private static final class NoRoom implements CpuHeadroom.Clocks {
    private long now;

    @Override
    public long now() {
      return now += TimeUnit.MILLISECONDS.toNanos(CpuHeadroom.PERIOD_MILLIS);
    }

    @Override
    public double systemLoad() {
      return 1;
    }

    @Override
    public long processCpu() {
      return 8 * now;
    }

    @Override
    public long threadsCpu() {
      return 0;
    }

    @Override
    public long threadsBusy() {
      return 0;
    }
  }

  private void replacePoolByOneWithoutRoom() {
    pool.shutdown();
    Configuration conf = settings(4);
    pool = new MultigetPool(conf, Thread::new, threads -> new CpuHeadroom(8, new NoRoom()));
    // It forgets by and by that there was room.
    waitUntil(() -> pool.getCpuHeadroomCount() == 0);
  }

  @Test
  public void testWithoutRoomTheHandlerDoesAllThatComesFromMemory() throws Exception {
    replacePoolByOneWithoutRoom();
    Thread handler = Thread.currentThread();
    int looks = 0;
    for (int i = 0; i < 4 * DeviceWaitProbe.PROBE; i++) {
      List<Action> actions = gets(50);
      try (ParallelGets gets = start(actions, (get, as) -> {
        assertSame(handler, Thread.currentThread());
        return result(get);
      })) {
        for (int j = 0; gets != null && j < 50; j++) {
          assertTrue(gets.has(actions.get(j)));
          assertRow(j, take(gets));
        }
        looks += gets == null ? 0 : 1;
      }
    }
    assertEquals(4, looks);
    assertEquals(4 * DeviceWaitProbe.PROBE, pool.getCpuBoundBatchCount());
    assertEquals(0, pool.getParallelBatchCount());
    assertEquals(0, pool.getDeviceBatchCount());
    assertEquals(0, pool.getThreadCount());
  }

  @Test
  public void testWithoutRoomGetsThatWaitForADeviceAreHelpedWith() throws Exception {
    replacePoolByOneWithoutRoom();
    Thread handler = Thread.currentThread();
    for (int i = 0; i < DeviceWaitProbe.LIKELY; i++) {
      CountDownLatch helped = new CountDownLatch(1);
      List<Object> answers = serve(gets(50), (get, as) -> {
        if (Thread.currentThread() != handler) {
          helped.countDown();
        } else if (number(get) > 1) {
          // The first two show that a thread is to be called.
          await(helped);
        }
        ThreadLocalServerSideScanMetrics.addFsReadTime(1);
        return result(get);
      });
      assertRow(49, answers.get(49));
      assertEquals(i + 1, pool.getDeviceBatchCount());
      // Else the calls that come too late might be as many as there may be.
      waitUntil(() -> pool.getPendingHandoffCount() == 0);
    }
    assertEquals(DeviceWaitProbe.LIKELY, pool.getParallelBatchCount());
    assertEquals(0, pool.getCpuBoundBatchCount());
    assertTrue(pool.getHelperGetCount() > 0);
  }

  @Test
  public void testAThreadIsWokenUpForAMultiOfGetsIfThereIsRoom() throws Exception {
    MultiRequest multi = request(gets(10));
    pool.expect(multi);
    assertEquals("none sleeps", 0, pool.getExpectedCount());
    serve(gets(60), (get, as) -> result(get));
    waitUntil(() -> {
      pool.expect(multi);
      return pool.getExpectedCount() > 0;
    });
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    long before = pool.getExpectedCount();
    pool.expect(request(gets(1)));
    pool.expect(request(Arrays.asList(put(0), put(1), put(2))));
    pool.expect(MultiRequest.getDefaultInstance());
    pool.expect(multi.getRegionAction(0));
    pool.expect(null);
    assertEquals(before, pool.getExpectedCount());
    replacePoolByOneWithoutRoom();
    serve(gets(300), (get, as) -> {
      ThreadLocalServerSideScanMetrics.addFsReadTime(1);
      return result(get);
    });
    waitUntil(() -> pool.getHandoffCount() > 0 && pool.getPendingHandoffCount() == 0);
    pool.expect(multi);
    assertEquals(0, pool.getExpectedCount());
  }

  private static MultiRequest request(List<Action> actions) {
    return MultiRequest.newBuilder()
      .addRegionAction(RegionAction.newBuilder()
        .setRegion(
          RequestConverter.buildRegionSpecifier(RegionSpecifierType.REGION_NAME, FAMILY))
        .addAllAction(actions))
      .build();
  }

  @Test
  public void testEachTimeThatMoreMayBeBegunIsAWave() throws Exception {
    serve(gets(ParallelGets.WINDOW), (get, as) -> result(get));
    assertEquals(1, pool.getWindowAdvanceCount());
    // And one more for each half of a window.
    serve(gets(3 * ParallelGets.WINDOW), (get, as) -> result(get));
    assertEquals(1 + 1 + 4, pool.getWindowAdvanceCount());
  }

  private static long published(String metric) {
    MetricRegistry registry = MetricRegistries.global().get(MultigetMetrics.INFO).get();
    return ((Number) ((Gauge<?>) registry.get(metric).get()).getValue()).longValue();
  }

  @Test
  public void testWhatIsDoneIsPublished() throws Exception {
    pool.shutdown();
    Configuration conf = settings(4);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 10);
    pool = new MultigetPool(conf);
    assertNull(start(gets(9), (get, as) -> result(get)));
    assertEquals(4, helpersAtOnce(4));
    assertEquals(1, published("SmallBatchCount"));
    assertEquals(1, published("ParallelBatchCount"));
    assertEquals(0, published("BusyBatchCount"));
    assertEquals(0, published("CpuBoundBatchCount"));
    assertEquals(0, published("DeviceBatchCount"));
    assertEquals(1, published("WindowAdvanceCount"));
    assertEquals(60, published("HandlerGetCount") + published("HelperGetCount"));
    assertEquals(4, published("HandoffCount"));
    assertEquals(0, published("SpuriousHandoffCount"));
    assertTrue(published("HandoffWaitMicros") > 0);
    assertEquals(0, published("PendingHandoffCount"));
    assertEquals(4, published("ThreadCount"));
    assertEquals(0, published("FailedThreadCount"));
    assertEquals(4, published("CpuHeadroomCount"));
    assertEquals(0, published("ExpectedCount"));
    assertEquals(0, published("SharedBlockCount"));
  }

  @Test
  public void testWhatIsTooSmallIsLeftAlone() throws Exception {
    Configuration conf = new Configuration(false);
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 10);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(9), (get, as) -> result(get)));
    assertEquals(1, pool.getSmallBatchCount());
    List<Action> interrupted = gets(9);
    interrupted.add(increment(9));
    interrupted.addAll(gets(9));
    assertNull(start(interrupted, (get, as) -> result(get)));
    serve(gets(10), (get, as) -> result(get));
    assertEquals(1, pool.getParallelBatchCount());
    conf.setBoolean(MultigetSettings.ENABLED_KEY, false);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(100), (get, as) -> result(get)));
  }

  /** Serves gets by a handler that waits for others. Returns by how many, at the same time. */
  private int helpersAtOnce(int wanted) throws IOException {
    Thread handler = Thread.currentThread();
    Set<Thread> helpers = ConcurrentHashMap.newKeySet();
    serve(gets(60), (get, as) -> {
      if (Thread.currentThread() != handler) {
        helpers.add(Thread.currentThread());
      }
      waitUntil(() -> helpers.size() >= wanted);
      return result(get);
    });
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    return helpers.size();
  }

  @Test
  public void testAllSettingsMayChangeAtRunTime() throws Exception {
    Configuration conf = settings(4);
    assertEquals(4, helpersAtOnce(4));
    conf.setInt(MultigetSettings.THREADS_KEY, 2);
    pool.onConfigurationChange(conf);
    waitUntil(() -> pool.getThreadCount() == 2);
    assertEquals(2, helpersAtOnce(2));
    conf.setInt(MultigetSettings.THREADS_KEY, 5);
    conf.setInt(MultigetSettings.MAX_TASKS_KEY, 4);
    pool.onConfigurationChange(conf);
    assertEquals(3, helpersAtOnce(3));
    conf.setInt(MultigetSettings.MAX_TASKS_KEY, 1);
    pool.onConfigurationChange(conf);
    assertEquals(0, helpersAtOnce(0));
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 61);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(60), (get, as) -> result(get)));
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 60);
    conf.setBoolean(MultigetSettings.ENABLED_KEY, false);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(60), (get, as) -> result(get)));
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.unset(MultigetSettings.MAX_TASKS_KEY);
    pool.onConfigurationChange(conf);
    assertEquals(5, helpersAtOnce(5));
  }

  /** Serves gets in a thread of its own, as a handler that waits for ever ends no test. */
  private <T> T asHandler(Callable<T> work) throws Exception {
    FutureTask<T> handler = new FutureTask<>(() -> {
      call = new ServedMulti(ALICE);
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
    assertEquals("no thread was lost", 4, (int) asHandler(() -> helpersAtOnce(4)));
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
      try (ParallelGets gets = pool.start(actions, call, region, metrics, (get, as) -> {
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

  /** A trace that cannot be made that of a thread which comes to help. */
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
    assertEquals(4, (int) asHandler(() -> helpersAtOnce(4)));
    assertEquals(4, pool.getThreadCount());
  }

  @Test
  public void testWhenAThreadCannotBeMadeTheHandlerDoesAll() throws Exception {
    List<ThreadFactory> factories = Arrays.asList(work -> null, work -> {
      throw new IllegalStateException("for the test");
    });
    for (ThreadFactory factory : factories) {
      pool.shutdown();
      pool = new MultigetPool(settings(4), factory);
      List<Object> answers = asHandler(() -> serve(gets(200), (get, as) -> result(get)));
      assertRow(199, answers.get(199));
      assertEquals(0, pool.getPendingHandoffCount());
      assertEquals(0, pool.getThreadCount());
      assertTrue(pool.getFailedThreadCount() > 0);
    }
  }

  @Test
  public void testManyHandlersAtOnce() throws Exception {
    // As many as threads, twice that, and HBase's default with one beyond it.
    for (int handlers : new int[] { 4, 8, 31 }) {
      testManyHandlersAtOnce(handlers);
    }
  }

  private void testManyHandlersAtOnce(int handlers) throws Exception {
    ExecutorService others = Executors.newFixedThreadPool(handlers);
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int h = 0; h < handlers; h++) {
        Random random = new Random(h);
        ends.add(others.submit(() -> {
          for (int round = 0; round < 1600 / handlers; round++) {
            multi(random, 2 + random.nextInt(150));
          }
          return null;
        }));
      }
      for (Future<?> each : ends) {
        each.get(120, TimeUnit.SECONDS);
      }
    } finally {
      others.shutdownNow();
    }
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    assertTrue(pool.getHelperGetCount() > 0);
  }

  private void multi(Random random, int count) throws IOException {
    ServedMulti own = new ServedMulti(ALICE);
    RpcServer.setCurrentCall(own);
    AtomicInteger underWay = new AtomicInteger();
    AtomicBoolean ended = new AtomicBoolean();
    int takeOnly = random.nextInt(4) == 0 ? random.nextInt(count) : count;
    int bad = random.nextInt(count);
    List<Action> actions = gets(count);
    int taken = 0;
    ParallelGets gets = pool.start(actions, own, region, null, (get, as) -> {
      assertFalse(ended.get());
      underWay.incrementAndGet();
      as.incrementBlockBytesScanned(1);
      if ((number(get) & 15) == 0) {
        Thread.yield();
      }
      underWay.decrementAndGet();
      if (number(get) == bad) {
        throw new IOException("bad");
      }
      return result(get);
    });
    if (gets == null) {
      return;
    }
    try {
      for (; taken < takeOnly; taken++) {
        assertTrue(gets.has(actions.get(taken)));
        Object answer = take(gets);
        if (taken == bad) {
          assertTrue(answer instanceof IOException);
        } else {
          assertRow(taken, answer);
        }
      }
    } finally {
      gets.close();
      ended.set(true);
    }
    assertEquals(0, underWay.get());
    assertEquals(taken, own.getBlockBytesScanned());
  }
}
