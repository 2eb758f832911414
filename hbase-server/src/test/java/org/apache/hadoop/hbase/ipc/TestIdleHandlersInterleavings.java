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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The invariant of {@link IdleHandlers} and its bound on overtaking, for two handlers, two call
 * queues and three calls, under all {@link Interleavings} with at most so many preemptions as each
 * test says. A thread can be preempted before each access to what handlers and dispatchers share.
 */
@Category({ RPCTests.class, MediumTests.class })
public class TestIdleHandlersInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIdleHandlersInterleavings.class);

  private static final Logger LOG = LoggerFactory.getLogger(TestIdleHandlersInterleavings.class);

  private static final int HANDLERS = 2;

  /** The threads that look whether they must wake a handler. One kind can leave that out. */
  private enum Wakes {
    DISPATCHER,
    HANDLER_BEFORE_IT_SLEEPS,
    HANDLER_WITH_A_CALL
  }

  private final class Call extends CallRunner {
    /** Where this call waits until it is released; null if it does not. */
    private final Interleavings.Permits released;
    private int runs;
    /** How many calls each handler has taken from queues since this call was accepted. */
    private final int[] overtaken = new int[HANDLERS];

    Call(boolean held) {
      super(null, null);
      released = held ? threads.new Permits(0) : null;
    }

    @Override
    public void run() {
      runs++;
      if (released != null) {
        try {
          released.acquire();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /** The threads of a run beside the handlers. */
  private interface Scenario {
    Interleavings.Body[] bodies();
  }

  private final ThreadLocal<Integer> handlerNumber = new ThreadLocal<>();
  private Interleavings threads;
  /** Who leaves out to wake a handler, as a defect would; null if nobody does. */
  private Wakes leftOut;
  private IdleHandlers idle;
  private Deque<IdleHandlers.Handler> sleeping;
  private final List<IdleHandlers.Handler> handlers = new ArrayList<>();
  private final List<BlockingQueue<CallRunner>> queues = new ArrayList<>();
  private final List<Call> calls = new ArrayList<>();
  private final List<Call> accepted = new ArrayList<>();

  @After
  public void tearDown() {
    threads.close();
  }

  /** What is looked at after each access to an object. */
  private interface Watcher {
    Object after(String method, Object[] arguments, Object result);
  }

  @SuppressWarnings("unchecked")
  private <T> T shared(Class<?> type, Object target, Watcher watcher) {
    return (T) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { type },
      (proxy, method, arguments) -> {
        if (method.getName().equals("equals")) {
          return proxy == arguments[0];
        }
        threads.point();
        try {
          return watcher.after(method.getName(), arguments, method.invoke(target, arguments));
        } catch (InvocationTargetException e) {
          throw e.getCause();
        }
      });
  }

  private Object ofSleeping(String method, Object[] arguments, Object result) {
    return result.equals(false) && method.equals("isEmpty") && isLeftOut() ? true : result;
  }

  private boolean isLeftOut() {
    Integer number = handlerNumber.get();
    Wakes who = number == null ? Wakes.DISPATCHER
      : sleeping.contains(handlers.get(number)) ? Wakes.HANDLER_BEFORE_IT_SLEEPS
      : Wakes.HANDLER_WITH_A_CALL;
    return who == leftOut;
  }

  private Object ofAccepted(String method, Object[] arguments, Object result) {
    if (method.equals("add")) {
      accepted.add((Call) arguments[0]);
    } else if (method.equals("poll")) {
      accepted.remove(result);
    }
    return result;
  }

  private Object ofQueue(String method, Object[] arguments, Object result) {
    if (method.equals("poll") && result != null) {
      for (Call call : accepted) {
        assertTrue("a handler takes two queued calls before an accepted one",
          ++call.overtaken[handlerNumber.get()] <= 1);
      }
    }
    return result;
  }

  private final class IdleCount extends IdleHandlers.IdleCount {
    private static final long serialVersionUID = 1L;

    @Override
    public int availablePermits() {
      threads.point();
      return super.availablePermits();
    }

    @Override
    public boolean tryAcquire() {
      threads.point();
      return super.tryAcquire();
    }

    @Override
    public void release() {
      threads.point();
      super.release();
    }

    @Override
    void countOut() {
      threads.point();
      super.countOut();
    }
  }

  private void create() {
    handlers.clear();
    queues.clear();
    calls.clear();
    accepted.clear();
    sleeping = new ConcurrentLinkedDeque<>();
    idle = new IdleHandlers(true,
      shared(Deque.class, sleeping,
        (method, arguments, result) -> result == null
          ? null
          : ofSleeping(method, arguments, result)),
      shared(Queue.class, new ConcurrentLinkedQueue<CallRunner>(), this::ofAccepted),
      new IdleCount(), threads.new Permits(1));
    for (int i = 0; i < HANDLERS; i++) {
      BlockingQueue<CallRunner> queue =
        shared(BlockingQueue.class, new LinkedBlockingQueue<CallRunner>(), this::ofQueue);
      queues.add(queue);
      handlers.add(idle.newHandler("handler" + i, 1, HANDLERS, queue, new AtomicInteger(),
        new AtomicInteger(), null, threads.new Permits(0)));
    }
  }

  private Interleavings.Body[] handlers() {
    Interleavings.Body[] bodies = new Interleavings.Body[HANDLERS];
    for (int i = 0; i < HANDLERS; i++) {
      int number = i;
      bodies[i] = () -> {
        handlerNumber.set(number);
        handlers.get(number).run();
      };
    }
    return bodies;
  }

  private Call newCall(boolean held) {
    Call call = new Call(held);
    calls.add(call);
    return call;
  }

  private void dispatch(Call call, int queue) {
    if (!idle.run(call)) {
      idle.queued(queues.get(queue).offer(call));
    }
  }

  private void stop() {
    for (int i = 0; i < HANDLERS; i++) {
      handlers.get(i).stopRunning();
      threads.interrupt(i);
    }
  }

  private enum Start {
    /** Both handlers sleep. */
    ASLEEP,
    /** One handler has a call that ends when nothing else happens any more. */
    ONE_HELD,
    /** The handlers have not looked for a call yet. */
    STARTING
  }

  /**
   * Runs a scenario in all orders.
   * @param stopped whether the scenario stops the handlers, so that calls may be left
   */
  private void explore(int maxPreemptions, Start start, boolean stopped, Scenario scenario)
    throws Exception {
    threads = new Interleavings(maxPreemptions);
    int runs = 0;
    do {
      create();
      if (start != Start.STARTING) {
        threads.run(false, handlers());
      }
      if (start == Start.ONE_HELD) {
        Call held = newCall(true);
        threads.run(false, () -> dispatch(held, 0));
      }
      Interleavings.Body[] bodies = scenario.bodies();
      if (start == Start.STARTING) {
        Interleavings.Body[] others = bodies;
        bodies = new Interleavings.Body[HANDLERS + others.length];
        System.arraycopy(handlers(), 0, bodies, 0, HANDLERS);
        System.arraycopy(others, 0, bodies, HANDLERS, others.length);
      }
      threads.run(true, bodies);
      threads.check();
      for (Call call : calls) {
        assertTrue("a call is run twice", call.runs <= 1);
        assertTrue("a call waits and a handler sleeps", stopped || call.runs == 1);
      }
      for (Call call : calls) {
        if (call.released != null) {
          call.released.release();
        }
      }
      threads.run(false);
      stop();
      threads.run(false);
      assertTrue("a handler has not ended", threads.isDone());
      runs++;
    } while (threads.next());
    LOG.info("{} interleavings with {} preemptions at most", runs, maxPreemptions);
    assertTrue(runs + " interleavings", runs > 100);
  }

  /** Dispatches three calls, to a queue each unless they are accepted. */
  private Interleavings.Body dispatcher(boolean firstIsHeld, int... inQueues) {
    Call one = newCall(firstIsHeld);
    Call two = newCall(false);
    Call three = newCall(false);
    return () -> {
      dispatch(one, inQueues[0]);
      dispatch(two, inQueues[1]);
      dispatch(three, inQueues[2]);
    };
  }

  private Interleavings.Body[] oneDispatcher() {
    return new Interleavings.Body[] { dispatcher(false, 0, 1, 1) };
  }

  private Interleavings.Body[] oneDispatcherOfAHeldCall() {
    return new Interleavings.Body[] { dispatcher(true, 0, 1, 1) };
  }

  private Interleavings.Body[] twoDispatchers() {
    Call one = newCall(false);
    Call two = newCall(false);
    Call three = newCall(false);
    return new Interleavings.Body[] { () -> {
      dispatch(one, 0);
      dispatch(two, 0);
    }, () -> dispatch(three, 1) };
  }

  private Scenario interrupted(int handler) {
    return () -> new Interleavings.Body[] { dispatcher(false, 0, 1, 1),
      () -> threads.interrupt(handler) };
  }

  private Interleavings.Body[] stopped() {
    return new Interleavings.Body[] { dispatcher(false, 0, 1, 1), this::stop };
  }

  @Test
  public void testCallsOfOneDispatcher() throws Exception {
    explore(3, Start.ASLEEP, false, this::oneDispatcher);
  }

  @Test
  public void testCallsOfTwoDispatchers() throws Exception {
    explore(2, Start.ASLEEP, false, this::twoDispatchers);
  }

  @Test
  public void testHandlersThatStart() throws Exception {
    explore(2, Start.STARTING, false, this::oneDispatcher);
  }

  @Test
  public void testHandlerThatIsHeld() throws Exception {
    explore(4, Start.ONE_HELD, false, this::oneDispatcher);
  }

  /** The queued calls are in the queue that the handler that sleeps looks at first. */
  @Test
  public void testAcceptedCallIsNotOvertaken() throws Exception {
    explore(4, Start.ONE_HELD, false,
      () -> new Interleavings.Body[] { dispatcher(false, 0, 0, 0) });
  }

  @Test
  public void testCallThatIsHeld() throws Exception {
    explore(3, Start.ASLEEP, false, this::oneDispatcherOfAHeldCall);
  }

  /** The one that is woken first, as it went to sleep last. */
  @Test
  public void testHandlerThatIsInterrupted() throws Exception {
    explore(2, Start.ASLEEP, false, interrupted(1));
  }

  @Test
  public void testHandlerThatIsHeldAndInterrupted() throws Exception {
    explore(2, Start.ONE_HELD, false, interrupted(1));
  }

  @Test
  public void testHandlerThatIsInterruptedBesideOneThatIsHeld() throws Exception {
    explore(2, Start.ONE_HELD, false, interrupted(0));
  }

  @Test
  public void testStop() throws Exception {
    explore(2, Start.ASLEEP, true, this::stopped);
  }

  private void assertFound(Wakes who, Start start, Scenario scenario) {
    leftOut = who;
    AssertionError found =
      assertThrows(AssertionError.class, () -> explore(2, start, false, scenario));
    assertEquals("a call waits and a handler sleeps", found.getMessage());
  }

  @Test
  public void testDispatcherThatWakesNobodyIsFound() {
    assertFound(Wakes.DISPATCHER, Start.ASLEEP, this::oneDispatcher);
  }

  @Test
  public void testHandlerThatSleepsWithoutALookIsFound() {
    assertFound(Wakes.HANDLER_BEFORE_IT_SLEEPS, Start.STARTING, this::oneDispatcher);
  }

  @Test
  public void testHandlerThatDoesNotWakeTheNextIsFound() {
    assertFound(Wakes.HANDLER_WITH_A_CALL, Start.ASLEEP, this::oneDispatcherOfAHeldCall);
  }
}
