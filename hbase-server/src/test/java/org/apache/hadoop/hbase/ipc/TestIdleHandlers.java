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
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.master.MasterAnnotationReadingPriorityFunction;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ScanRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;

/**
 * Each executor of a scheduler, with one handler, HBase's default of 30, and others, each with one
 * call queue, the default of one for ten handlers, and one for each handler. No call may wait
 * longer than {@value #MAX_WAIT_MS} ms while a handler has nothing to do.
 */
@RunWith(Parameterized.class)
@Category({ RPCTests.class, MediumTests.class })
public class TestIdleHandlers {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIdleHandlers.class);

  private static final long MAX_WAIT_MS = 3_000;
  private static final int HIGH_PRIORITY = HConstants.QOS_THRESHOLD;

  /** The calls of an executor, and where their handlers are known by. */
  public enum Kind {
    GENERAL("default.FPBQ", HConstants.NORMAL_QOS, GetRequest.getDefaultInstance()),
    READ(".read", HConstants.NORMAL_QOS, GetRequest.getDefaultInstance()),
    WRITE(".write", HConstants.NORMAL_QOS, MutateRequest.getDefaultInstance()),
    SCAN(".scan", HConstants.NORMAL_QOS, ScanRequest.getDefaultInstance()),
    PRIORITY("priority.FPBQ", HConstants.ADMIN_QOS, GetRequest.getDefaultInstance()),
    META_TRANSITION("metaPriority.FPBQ",
      MasterAnnotationReadingPriorityFunction.META_TRANSITION_QOS, GetRequest.getDefaultInstance()),
    REPLICATION("replication.FPBQ", HConstants.REPLICATION_QOS, GetRequest.getDefaultInstance()),
    BULK_LOAD("bulkLoad.FPBQ", HConstants.BULKLOAD_QOS, GetRequest.getDefaultInstance());

    private final String threadName;
    private final int priority;
    private final Message param;

    Kind(String threadName, int priority, Message param) {
      this.threadName = threadName;
      this.priority = priority;
      this.param = param;
    }

    private boolean isApart() {
      return this == READ || this == WRITE || this == SCAN;
    }

    /** Whether the type of call queue can be set for this kind. */
    private boolean hasTypes() {
      return this == GENERAL || isApart();
    }
  }

  @Parameterized.Parameter
  public Kind kind;
  @Parameterized.Parameter(1)
  public String type;
  @Parameterized.Parameter(2)
  public int configured;
  @Parameterized.Parameter(3)
  public float factor;

  private final Configuration conf = new Configuration(false);
  private final AtomicLong longestWait = new AtomicLong();
  private RpcCall rpcCall;
  private RpcScheduler scheduler;
  private List<Thread> handlers;

  @Parameterized.Parameters(name = "{0} {1}, {2} handlers, factor {3}")
  public static List<Object[]> parameters() {
    List<Object[]> all = new ArrayList<>();
    for (int handlers : new int[] { 1, 2, 3, 10, 30, 128 }) {
      for (float factor : new float[] { 0, 0.1f, 1 }) {
        all.add(new Object[] { Kind.GENERAL, "fifo", handlers, factor });
      }
    }
    for (Kind kind : Kind.values()) {
      for (String type : kind.hasTypes()
        ? new String[] { "fifo", "codel", "pluggable" }
        : new String[] { "fifo" }) {
        if (kind != Kind.GENERAL || !type.equals("fifo")) {
          all.add(new Object[] { kind, type, 3, 1f });
          all.add(new Object[] { kind, type, 30, 0.1f });
        }
      }
    }
    return all;
  }

  @Before
  public void setUp() {
    conf.setBoolean(WakeupThrottlingSettings.ENABLED_KEY, true);
    conf.setFloat(RpcExecutor.CALL_QUEUE_HANDLER_FACTOR_CONF_KEY, factor);
    conf.set(RpcExecutor.CALL_QUEUE_TYPE_CONF_KEY, type);
    conf.set(RpcExecutor.PLUGGABLE_CALL_QUEUE_CLASS_NAME, TestPluggableQueueImpl.class.getName());
    conf.setBoolean(RpcExecutor.PLUGGABLE_CALL_QUEUE_WITH_FAST_PATH_ENABLED, true);
    // Reads and writes of hbase:meta would have executors without handlers of this class.
    conf.setFloat(MetaRWQueueRpcExecutor.META_CALL_QUEUE_READ_SHARE_CONF_KEY, 0);
    conf.setInt(HConstants.REGION_SERVER_BULKLOAD_HANDLER_COUNT, count(Kind.BULK_LOAD));
    if (kind.isApart()) {
      conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_READ_SHARE_CONF_KEY, 0.6f);
      conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_SCAN_SHARE_CONF_KEY, 0.5f);
    }
    limitQueues(1000);
    rpcCall = Mockito.mock(RpcCall.class, Mockito.withSettings().stubOnly());
    Mockito.when(rpcCall.getHeader())
      .thenReturn(RequestHeader.newBuilder().setMethodName("Any").build());
    Mockito.when(rpcCall.getParam()).thenReturn(kind.param);
    Mockito.when(rpcCall.getReceiveTime()).thenAnswer(call -> System.currentTimeMillis());
  }

  private void limitQueues(int calls) {
    for (String key : new String[] { RpcScheduler.IPC_SERVER_MAX_CALLQUEUE_LENGTH,
      RpcScheduler.IPC_SERVER_PRIORITY_MAX_CALLQUEUE_LENGTH,
      RpcScheduler.IPC_SERVER_REPLICATION_MAX_CALLQUEUE_LENGTH,
      RpcScheduler.IPC_SERVER_BULKLOAD_MAX_CALLQUEUE_LENGTH }) {
      conf.setInt(key, calls);
    }
  }

  private int count(Kind one) {
    return kind == one ? configured : 0;
  }

  private void start() {
    PriorityFunction priority =
      Mockito.mock(PriorityFunction.class, Mockito.withSettings().stubOnly());
    Mockito.when(priority.getPriority(Mockito.any(), Mockito.any(), Mockito.any()))
      .thenReturn(kind.priority);
    scheduler = new SimpleRpcScheduler(conf, kind.hasTypes() ? configured : 1,
      count(Kind.PRIORITY), count(Kind.REPLICATION), count(Kind.META_TRANSITION), priority, null,
      HIGH_PRIORITY);
    scheduler.start();
    handlers = threads(kind.threadName);
    if (kind == Kind.SCAN && handlers.isEmpty()) {
      // Scans are reads as long as there are too few handlers to have some for scans alone.
      handlers = threads(Kind.READ.threadName);
    }
    assertTrue("handlers", handlers.size() > 0 && handlers.size() <= configured);
    awaitIdle();
  }

  /** A handler that has not begun to run cannot be stopped, as on stock. */
  private static void awaitIdle() {
    for (Thread handler : threads("handler=")) {
      while (handler.getState() != Thread.State.WAITING) {
        Thread.yield();
      }
    }
  }

  private static List<Thread> threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
      .filter(thread -> thread.getName().startsWith("RpcServer."))
      .filter(thread -> thread.getName().contains(name))
      .collect(Collectors.toList());
  }

  @After
  public void tearDown() throws InterruptedException {
    if (scheduler != null) {
      stop();
    }
  }

  private void stop() throws InterruptedException {
    List<Thread> all = threads("handler=");
    scheduler.stop();
    scheduler = null;
    for (Thread handler : all) {
      handler.join(2 * MAX_WAIT_MS);
      assertFalse("a handler has not ended", handler.isAlive());
    }
  }

  /** Returns a call that measures how long it waited. */
  private CallRunner call(Runnable what) {
    long dispatched = System.nanoTime();
    return new CallRunner(null, null) {
      @Override
      public RpcCall getRpcCall() {
        return rpcCall;
      }

      @Override
      public void run() {
        longestWait.accumulateAndGet(System.nanoTime() - dispatched, Math::max);
        // A call that was in a queue begins with the interrupt of the last one, as on stock.
        Thread.interrupted();
        what.run();
      }
    };
  }

  private void dispatch(Runnable what) {
    assertTrue(scheduler.dispatch(call(what)));
  }

  private void await(CountDownLatch done) {
    try {
      assertTrue(done.getCount() + " calls wait",
        done.await(2 * MAX_WAIT_MS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(longestWait.get());
    assertTrue("a call has waited for " + millis + " ms", millis <= MAX_WAIT_MS);
  }

  private static void join(CyclicBarrier barrier) {
    try {
      barrier.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns when as many calls are run at the same time as there are handlers. */
  private void awaitAllHandlers() {
    CyclicBarrier together = new CyclicBarrier(handlers.size() + 1);
    for (int i = 0; i < handlers.size(); i++) {
      dispatch(() -> join(together));
    }
    join(together);
  }

  /** Holds all handlers until the result is counted down. */
  private CountDownLatch holdAll() {
    CountDownLatch release = new CountDownLatch(1);
    CyclicBarrier begun = new CyclicBarrier(handlers.size() + 1);
    for (int i = 0; i < handlers.size(); i++) {
      dispatch(() -> {
        join(begun);
        try {
          release.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      });
    }
    join(begun);
    return release;
  }

  /** Nothing follows a burst, as the next call would wake the handler that the last one did not. */
  @Test
  public void testBurstsAboutAsLargeAsThePool() {
    start();
    for (int round = 0; round < 3; round++) {
      for (int size = Math.max(1, handlers.size() - 3); size <= handlers.size() + 40; size++) {
        CountDownLatch done = new CountDownLatch(size);
        for (int i = 0; i < size; i++) {
          dispatch(done::countDown);
        }
        await(done);
      }
    }
  }

  @Test
  public void testCallsThatWaitDelayNoOther() {
    start();
    for (int round = 0; round < 30; round++) {
      awaitAllHandlers();
    }
  }

  /** Some clients more than there are handlers; each call is run once. */
  @Test
  public void testClientsWithThinkTime() throws Exception {
    start();
    int clients = handlers.size() + 10;
    int each = 20;
    long before = IdleHandlers.calls();
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(clients);
    for (int i = 0; i < clients; i++) {
      Thread client = new Thread(() -> {
        for (int call = 0; call < each; call++) {
          CountDownLatch answered = new CountDownLatch(1);
          dispatch(() -> {
            if (ThreadLocalRandom.current().nextInt(4) == 0) {
              // As a read of a disk does.
              LockSupport.parkNanos(20_000);
            }
            runs.incrementAndGet();
            answered.countDown();
          });
          await(answered);
          LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(1_000_000));
        }
        done.countDown();
      });
      client.setDaemon(true);
      client.start();
    }
    assertTrue(done.getCount() + " clients wait", done.await(1, TimeUnit.MINUTES));
    assertEquals(clients * each, runs.get());
    long accepted = IdleHandlers.calls() - before;
    assertTrue(accepted + " accepted", accepted > 0 && accepted <= clients * each);
    assertTrue(IdleHandlers.vainWakeUps() <= IdleHandlers.wakeUps());
    awaitAllHandlers();
  }

  /** The first calls begin although the queues are never empty. */
  @Test
  public void testSustainedOverload() throws Exception {
    start();
    CountDownLatch first = new CountDownLatch(handlers.size());
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger waiting = new AtomicInteger();
    int enough = 3 * handlers.size() + 20;
    Runnable work = () -> {
      waiting.decrementAndGet();
      LockSupport.parkNanos(1);
    };
    for (int i = 0; i < handlers.size(); i++) {
      dispatch(first::countDown);
    }
    Thread feeder = new Thread(() -> {
      while (!over.get()) {
        if (waiting.get() >= enough) {
          Thread.yield();
        } else if (scheduler.dispatch(call(work))) {
          waiting.incrementAndGet();
        }
      }
    });
    feeder.start();
    try {
      await(first);
    } finally {
      over.set(true);
      feeder.join();
    }
    awaitAllHandlers();
  }

  /** As many calls as there are handlers are taken at once, all others obey the limit. */
  @Test
  public void testQueueLimit() throws Exception {
    int limit = 7;
    limitQueues(limit);
    start();
    CountDownLatch release = holdAll();
    int queued = 0;
    Semaphore run = new Semaphore(0);
    // The balancer finds a full queue sooner or later.
    while (scheduler.dispatch(call(run::release))) {
      queued++;
    }
    assertTrue(queued + " queued", queued >= limit);
    assertEquals("while all handlers are held", 0, run.availablePermits());
    release.countDown();
    assertTrue(run.tryAcquire(queued, 2 * MAX_WAIT_MS, TimeUnit.MILLISECONDS));
    awaitIdle();
    awaitAllHandlers();
    assertEquals("calls run twice", 0, run.availablePermits());
  }

  /** A handler that is interrupted, in a call or asleep, stays one handler. */
  @Test
  public void testInterruptedHandlers() {
    start();
    for (int round = 0; round < 30; round++) {
      CyclicBarrier together = new CyclicBarrier(handlers.size() + 1);
      for (int i = 0; i < handlers.size(); i++) {
        dispatch(() -> {
          join(together);
          Thread.currentThread().interrupt();
        });
      }
      join(together);
      // Where this finds a handler in a call, the interrupt is ignored there.
      handlers.get(round % handlers.size()).interrupt();
      CountDownLatch done = new CountDownLatch(handlers.size() + 1);
      for (int i = 0; i <= handlers.size(); i++) {
        dispatch(done::countDown);
      }
      await(done);
    }
    awaitAllHandlers();
    CountDownLatch release = holdAll();
    AtomicBoolean begun = new AtomicBoolean();
    CountDownLatch done = new CountDownLatch(1);
    dispatch(() -> {
      begun.set(true);
      done.countDown();
    });
    assertFalse("no handler is left for it", begun.get());
    release.countDown();
    await(done);
    awaitAllHandlers();
  }

  @Test
  public void testStopWithCallsWaiting() throws Exception {
    start();
    holdAll();
    for (int i = 0; i < 5; i++) {
      dispatch(() -> {
      });
    }
    stop();
  }

  @Test
  public void testHandlersWithoutTheKeyAreThoseOfStock() {
    conf.setBoolean(WakeupThrottlingSettings.ENABLED_KEY, false);
    start();
    long before = IdleHandlers.calls();
    CountDownLatch done = new CountDownLatch(1);
    dispatch(done::countDown);
    await(done);
    assertEquals(before, IdleHandlers.calls());
    handlers.forEach(handler -> assertEquals(FastPathRpcHandler.class, handler.getClass()));
  }

  @Test
  public void testValueThatIsNeitherTrueNorFalse() {
    conf.set(WakeupThrottlingSettings.ENABLED_KEY, "yes");
    String message =
      assertThrows(IllegalArgumentException.class, () -> IdleHandlers.of(conf)).getMessage();
    assertEquals(WakeupThrottlingSettings.ENABLED_KEY + " is 'yes', set it to true or false",
      message);
  }
}
