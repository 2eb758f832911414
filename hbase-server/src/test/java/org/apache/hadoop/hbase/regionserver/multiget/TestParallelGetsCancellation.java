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
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.hadoop.hbase.ipc.CallerDisconnectedException;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetMetrics.Count;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;

/**
 * A multi ends before all its gets are taken: the response is too large, the client has
 * disconnected, or the deadline has passed.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestParallelGetsCancellation extends ParallelGetsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelGetsCancellation.class);

  @Test
  public void testTheEndWaitsForGetsInFlight() throws Exception {
    AtomicInteger inFlight = new AtomicInteger();
    CountDownLatch helped = new CountDownLatch(1);
    Thread handler = Thread.currentThread();
    List<Action> actions = gets(60);
    try (ParallelGets gets = start(actions, (get, as) -> {
      inFlight.incrementAndGet();
      if (Thread.currentThread() == handler) {
        await(helped);
      } else {
        helped.countDown();
        sleep(50);
      }
      inFlight.decrementAndGet();
      return result(get);
    })) {
      assertTrue(gets.has(actions.get(0)));
      assertRow(0, take(gets));
      // The response is found too large: the others are left out.
    }
    assertEquals(0, inFlight.get());
    long before = pool.get(Count.HelperGetCount) + pool.get(Count.HandlerGetCount);
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    sleep(20);
    assertTrue(before <= ParallelGets.WINDOW);
    assertEquals(0, inFlight.get());
  }

  /** The limit is that of cells or of scanned blocks. */
  @Test
  public void testNoGetIsStartedBeyondTheLimitOfTheResponse() throws Exception {
    for (boolean blocks : new boolean[] { false, true }) {
      AtomicInteger started = new AtomicInteger();
      Thread handler = Thread.currentThread();
      List<Action> actions = gets(60);
      RpcServer.setCurrentCall(call = ServedMulti.of(ALICE));
      call.incrementResponseCellSize(5);
      try (ParallelGets gets = pool.start(actions, call, region, null, 25, (get, as) -> {
        started.incrementAndGet();
        if (blocks) {
          as.incrementBlockBytesScanned(10);
        } else {
          as.incrementResponseCellSize(10);
        }
        if (Thread.currentThread() == handler) {
          // All others have ended, as there is nothing that they may start.
          waitUntil(() -> pool.getPendingHandoffCount() == 0);
        }
        return result(get);
      })) {
        for (int i = 0; i < 3; i++) {
          assertTrue(gets.has(actions.get(i)));
          assertRow(i, take(gets));
        }
      }
      waitUntil(() -> pool.getPendingHandoffCount() == 0);
      assertTrue("one more for each thread: " + started, started.get() <= 3 + 4);
    }
  }

  /** A handler may take gets though the response is full. */
  @Test
  public void testGetsBeyondTheLimitAreServedByTheHandler() throws Exception {
    List<Action> actions = gets(60);
    try (ParallelGets gets = pool.start(actions, call, region, null, 25, (get, as) -> {
      as.incrementResponseCellSize(10);
      return result(get);
    })) {
      for (int i = 0; i < actions.size(); i++) {
        assertTrue(gets.has(actions.get(i)));
        assertRow(i, take(gets));
      }
    }
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
    AtomicInteger inFlight = new AtomicInteger();
    Thread handler = Thread.currentThread();
    List<Object> answers = serve(gets(300), (get, as) -> {
      inFlight.incrementAndGet();
      if (Thread.currentThread() == handler) {
        await(helped);
        call.disconnect();
      } else if (number(get) > ParallelGets.WINDOW / 2) {
        // The handler does not reach this one, as it ends before.
        helped.countDown();
        waitUntil(() -> call.disconnectSince() >= 0);
        sleep(20);
      }
      inFlight.decrementAndGet();
      return result(get);
    });
    assertEquals(0, inFlight.get());
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
}
