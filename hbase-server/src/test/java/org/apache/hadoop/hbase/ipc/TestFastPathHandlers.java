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

import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.mockito.Mockito;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;

/** One handler with a fast path, and calls that come at the moments at which calls were lost. */
@RunWith(Parameterized.class)
@Category({ RPCTests.class, SmallTests.class })
public class TestFastPathHandlers {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFastPathHandlers.class);

  private static final String NAME = TestFastPathHandlers.class.getSimpleName();
  private static final Runnable NOTHING = () -> {
  };

  /** A call queue that does something once, between what a caller did before and does next. */
  private static final class WatchedQueue extends LinkedBlockingQueue<CallRunner> {
    private static final long serialVersionUID = 1L;
    private final transient AtomicReference<Runnable> afterEmptyPoll =
      new AtomicReference<>(NOTHING);
    private final transient AtomicReference<Runnable> beforeOffer = new AtomicReference<>(NOTHING);

    @Override
    public CallRunner poll() {
      CallRunner call = super.poll();
      if (call == null) {
        afterEmptyPoll.getAndSet(NOTHING).run();
      }
      return call;
    }

    @Override
    public boolean offer(CallRunner call) {
      beforeOffer.getAndSet(NOTHING).run();
      return super.offer(call);
    }
  }

  @Parameterized.Parameter
  public boolean readsApart;

  private final WatchedQueue queue = new WatchedQueue();
  private final CountDownLatch release = new CountDownLatch(1);
  private RpcExecutor executor;
  private Thread handler;

  @Parameterized.Parameters(name = "reads apart: {0}")
  public static List<Boolean> parameters() {
    return Arrays.asList(false, true);
  }

  @Before
  public void setUp() {
    Configuration conf = new Configuration(false);
    PriorityFunction priority = Mockito.mock(PriorityFunction.class);
    if (readsApart) {
      conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_READ_SHARE_CONF_KEY, 0.5f);
      executor = new FastPathRWQueueRpcExecutor(NAME, 2, 10, priority, conf, null);
      executor.queues.set(1, queue);
    } else {
      executor = new FastPathBalancedQueueRpcExecutor(NAME, 1, 10, priority, conf, null);
      executor.queues.set(0, queue);
    }
    executor.start(0);
    handler = Thread.getAllStackTraces().keySet().stream()
      .filter(thread -> thread.getName().contains(NAME))
      .filter(thread -> !readsApart || thread.getName().contains("read")).findFirst().get();
    awaitHandler();
  }

  @After
  public void tearDown() throws InterruptedException {
    executor.stop();
    handler.join(60_000);
  }

  /** Waits until the handler sleeps without a call. */
  private void awaitHandler() {
    while (handler.isInterrupted() || !isAsleep()) {
      Thread.yield();
    }
  }

  private boolean isAsleep() {
    return handler.getState() == Thread.State.WAITING && Arrays.stream(handler.getStackTrace())
      .anyMatch(frame -> frame.getClassName().equals(Semaphore.class.getName()));
  }

  private void dispatch(Runnable what) {
    RpcCall call = Mockito.mock(RpcCall.class);
    Mockito.when(call.getParam()).thenReturn(GetRequest.getDefaultInstance());
    assertTrue(executor.dispatch(new CallRunner(null, call) {
      @Override
      public void run() {
        what.run();
      }
    }));
  }

  /** Has the handler run a call until {@link #release} is counted down. */
  private void holdHandler() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    dispatch(() -> {
      begun.countDown();
      try {
        release.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    begun.await();
  }

  private static void assertRun(CountDownLatch calls) throws InterruptedException {
    assertTrue(calls.getCount() + " calls are lost", calls.await(2, TimeUnit.MINUTES));
  }

  /** The handler has found its queue empty, and is not on the stack yet. */
  @Test
  public void testCallThatIsQueuedBeforeTheHandlerIsReady() throws Exception {
    CountDownLatch calls = new CountDownLatch(2);
    queue.afterEmptyPoll.set(() -> dispatch(calls::countDown));
    dispatch(calls::countDown);
    assertRun(calls);
  }

  /** The dispatcher has found no handler, and has not queued its call yet. */
  @Test
  public void testCallThatIsQueuedAfterTheHandlerIsReady() throws Exception {
    holdHandler();
    CountDownLatch calls = new CountDownLatch(1);
    queue.beforeOffer.set(() -> {
      release.countDown();
      awaitHandler();
    });
    dispatch(calls::countDown);
    assertRun(calls);
  }

  /** A handler that an interrupt for its last call reaches late is still one handler. */
  @Test
  public void testHandlerThatIsInterrupted() throws Exception {
    for (int i = 0; i < 2; i++) {
      handler.interrupt();
      awaitHandler();
    }
    holdHandler();
    CountDownLatch calls = new CountDownLatch(2);
    dispatch(calls::countDown);
    dispatch(calls::countDown);
    release.countDown();
    assertRun(calls);
    awaitHandler();
    CountDownLatch another = new CountDownLatch(1);
    dispatch(another::countDown);
    assertRun(another);
  }
}
