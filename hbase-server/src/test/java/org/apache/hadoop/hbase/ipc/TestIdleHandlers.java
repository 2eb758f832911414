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
package org.apache.hadoop.hbase.ipc;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.mockito.Mockito;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;

/** Of executors whose handlers all serve the same calls, and of such that have some for reads. */
@RunWith(Parameterized.class)
@Category({ RPCTests.class, MediumTests.class })
public class TestIdleHandlers {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIdleHandlers.class);

  private static final String NAME = TestIdleHandlers.class.getSimpleName();
  /** That serve reads. */
  private static final int HANDLERS = 5;
  private static final int QUEUE = 1000;

  @Parameterized.Parameter
  public boolean apart;

  private final Configuration conf = new Configuration(false);
  private RpcExecutor executor;

  @Parameterized.Parameters(name = "reads and writes apart: {0}")
  public static List<Boolean> parameters() {
    return Arrays.asList(false, true);
  }

  /** None is left for the next test to count. */
  @After
  public void tearDown() throws InterruptedException {
    if (executor != null) {
      stop();
    }
  }

  private void stop() throws InterruptedException {
    List<Thread> handlers = handlers();
    for (Thread handler : handlers) {
      // One that has not begun to run would not know that it was stopped, as on stock.
      while (handler.isAlive() && handler.getState() != Thread.State.WAITING) {
        Thread.yield();
      }
    }
    executor.stop();
    for (Thread handler : handlers) {
      handler.join(60_000);
      assertFalse(handler.isAlive());
    }
  }

  private void start(boolean throttled) {
    conf.setBoolean(WakeupThrottlingSettings.ENABLED_KEY, throttled);
    // One queue for all of them.
    conf.setFloat(RpcExecutor.CALL_QUEUE_HANDLER_FACTOR_CONF_KEY, 0);
    PriorityFunction priority = Mockito.mock(PriorityFunction.class);
    if (apart) {
      conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_READ_SHARE_CONF_KEY, 0.5f);
      executor = new FastPathRWQueueRpcExecutor(NAME, 2 * HANDLERS, QUEUE, priority, conf, null);
    } else {
      executor =
        new FastPathBalancedQueueRpcExecutor(NAME, HANDLERS, QUEUE, priority, conf, null);
    }
    executor.start(0);
  }

  private static List<Thread> handlers() {
    return Thread.getAllStackTraces().keySet().stream()
      .filter(thread -> thread.getName().startsWith("RpcServer." + NAME))
      .collect(Collectors.toList());
  }

  /** A read. */
  private static CallRunner call(Runnable what) {
    RpcCall call = Mockito.mock(RpcCall.class);
    Mockito.when(call.getHeader())
      .thenReturn(RequestHeader.newBuilder().setMethodName("Get").build());
    Mockito.when(call.getParam()).thenReturn(GetRequest.getDefaultInstance());
    return new CallRunner(null, call) {
      @Override
      public void run() {
        // One that was in the queue begins with the interrupt of the last one, as on stock.
        Thread.interrupted();
        what.run();
      }
    };
  }

  private void dispatch(Runnable what) {
    assertTrue(executor.dispatch(call(what)));
  }

  private static void join(CyclicBarrier barrier) {
    try {
      barrier.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Until so many calls are run at the same time, which takes as many handlers. */
  private void await(int handlers) {
    CyclicBarrier together = new CyclicBarrier(handlers + 1);
    for (int i = 0; i < handlers; i++) {
      dispatch(() -> join(together));
    }
    join(together);
  }

  /** A call that nobody begins would have the others wait for it in vain. */
  @Test
  public void callsThatWaitHoldUpNoOther() {
    start(true);
    for (int round = 0; round < 3000; round++) {
      await(HANDLERS);
    }
  }

  /** Bursts with nothing after them, as the next call would wake whom the last one has not. */
  @Test
  public void everyCallIsRunOnce() throws Exception {
    start(true);
    long before = IdleHandlers.calls();
    int dispatched = 0;
    for (int burst = 0; burst < 300; burst++) {
      int dispatchers = 1 + burst % 4;
      int each = ThreadLocalRandom.current().nextInt(1, 3 * HANDLERS);
      AtomicIntegerArray runs = new AtomicIntegerArray(dispatchers * each);
      CountDownLatch done = new CountDownLatch(dispatchers * each);
      List<Thread> threads = new ArrayList<>();
      List<CallRunner> calls = new ArrayList<>();
      for (int i = 0; i < dispatchers * each; i++) {
        int number = i;
        calls.add(call(() -> {
          if (ThreadLocalRandom.current().nextInt(4) == 0) {
            // As a read of a disk does.
            LockSupport.parkNanos(20_000);
          }
          runs.incrementAndGet(number);
          done.countDown();
        }));
      }
      for (int i = 0; i < dispatchers; i++) {
        List<CallRunner> own = calls.subList(i * each, (i + 1) * each);
        threads.add(new Thread(() -> own.forEach(executor::dispatch)));
      }
      threads.forEach(Thread::start);
      assertTrue(done.getCount() + " of burst " + burst, done.await(1, TimeUnit.MINUTES));
      for (int i = 0; i < runs.length(); i++) {
        assertEquals(1, runs.get(i));
      }
      dispatched += runs.length();
    }
    long idle = IdleHandlers.calls() - before;
    assertTrue(idle + " of " + dispatched, idle > 0 && idle <= dispatched);
    assertTrue(IdleHandlers.wakeUps() > 0);
    assertTrue(IdleHandlers.vainWakeUps() <= IdleHandlers.wakeUps());
    await(HANDLERS);
  }

  /** As many as there are handlers are taken from the dispatcher, all others obey the limit. */
  @Test
  public void callsWaitInTheQueueIfNoHandlerIsIdle() throws Exception {
    start(true);
    CountDownLatch release = blockAll();
    CountDownLatch done = new CountDownLatch(QUEUE);
    for (int i = 0; i < QUEUE; i++) {
      dispatch(done::countDown);
    }
    assertEquals(QUEUE, executor.getQueueLength());
    assertFalse("beyond its length", executor.dispatch(call(done::countDown)));
    release.countDown();
    assertTrue(done.await(1, TimeUnit.MINUTES));
    await(HANDLERS);
    assertEquals(0, executor.getQueueLength());
  }

  private CountDownLatch blockAll() {
    CountDownLatch release = new CountDownLatch(1);
    CyclicBarrier begun = new CyclicBarrier(HANDLERS + 1);
    for (int i = 0; i < HANDLERS; i++) {
      dispatch(() -> {
        join(begun);
        try {
          release.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      });
    }
    join(begun);
    return release;
  }

  /** It stays one handler, and is not counted as two. */
  @Test
  public void handlersThatAreInterruptedGoOn() {
    start(true);
    for (int round = 0; round < 100; round++) {
      CyclicBarrier together = new CyclicBarrier(HANDLERS + 1);
      for (int i = 0; i < HANDLERS; i++) {
        dispatch(() -> {
          join(together);
          Thread.currentThread().interrupt();
        });
      }
      join(together);
    }
    await(HANDLERS);
    CountDownLatch release = blockAll();
    dispatch(() -> {
    });
    assertEquals("nobody is left for it", 1, executor.getQueueLength());
    release.countDown();
    await(HANDLERS);
  }

  @Test
  public void handlersEndWithTheExecutor() throws Exception {
    start(true);
    assertEquals((apart ? 2 : 1) * HANDLERS, handlers().size());
    stop();
    assertEquals(0, handlers().size());
  }

  @Test
  public void withoutTheKeyHandlersAreThoseOfStock() {
    start(false);
    long before = IdleHandlers.calls();
    await(1);
    assertEquals(before, IdleHandlers.calls());
    handlers().forEach(handler -> assertEquals(FastPathRpcHandler.class, handler.getClass()));
  }

  @Test
  public void whatIsNeitherTrueNorFalseIsRefused() {
    conf.set(WakeupThrottlingSettings.ENABLED_KEY, "yes");
    String message =
      assertThrows(IllegalArgumentException.class, () -> IdleHandlers.of(conf)).getMessage();
    assertEquals(WakeupThrottlingSettings.ENABLED_KEY + " is 'yes', set it to true or false",
      message);
  }
}
