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
package org.apache.hadoop.hbase.regionserver.counter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.CallDroppedException;
import org.apache.hadoop.hbase.CallQueueTooBigException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.regionserver.writegroup.CallSender;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Increments that wait as calls, without a thread. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementCalls extends IncrementFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementCalls.class);

  private final CallSender calls = ((IncrementCallSender) sender).calls;

  public TestIncrementCalls() {
    super(Sending.AS_CALLS);
  }

  @Test
  public void testWhoWaitsHasNoHandler() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(sendFirst(plus(1)));
    int others = 100;
    for (int i = 1; i <= others; i++) {
      sent.add(send(plus(1), 1000 + i));
    }
    assertEquals(others, coalescer.groups().waiting());
    assertEquals(1, calls.handled.get());
    lock.release();
    for (int i = 0; i <= others; i++) {
      assertEquals(i + 1, value(sent.get(i).get()));
    }
    // In groups of a handler's own and 32 that it runs for others.
    assertEquals(1 + 4, calls.handled.get());
  }

  @Test
  public void testWhoFindsNobodyIsNotRead() throws Exception {
    for (int i = 1; i <= 3; i++) {
      assertEquals(i, value(send(plus(1), i).get()));
      // It is answered a moment before it is over.
      Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().inFlight() == 0);
    }
    assertEquals(0, calls.read.get());
    assertEquals(0, coalescer.groups().rows());
  }

  @Test
  public void testWhatHasBeenReadIsNotReadAgain() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> leader = send(plus(10), 1001);
    Future<Result> follower = send(plus(100), 1002);
    Future<Result> notMerged = send(plus(1000).setDurability(Durability.SKIP_WAL), 1003);
    assertEquals(3, calls.read.get());
    lock.release();
    for (Future<Result> sent : new Future[] { first, leader, follower, notMerged }) {
      sent.get();
    }
    assertEquals(3, calls.read.get());
    assertEquals(3, calls.handedOn.get());
    assertEquals(1111, stored());
  }

  /** The first has not begun when others come, so that it leads them. */
  @Test
  public void testWhoWasAloneLeadsThoseWhoCameBeforeItBegan() throws Exception {
    calls.handlersAreBusy = true;
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      sent.add(send(plus(1), 1001 + i));
    }
    assertEquals(1, calls.busy.size());
    assertEquals(4, coalescer.groups().waiting());
    int before = edits();
    threads.submit(calls.busy.remove()::run);
    for (int i = 0; i < sent.size(); i++) {
      assertEquals(i + 1, value(sent.get(i).get()));
    }
    assertEquals(1, edits() - before);
    assertEquals(1, calls.handled.get());
  }

  /** They wait for it, who may have begun or not, as they would for the row. */
  @Test
  public void testWhoWasAloneIsNotMergedWithOthersOfAnotherKind() throws Exception {
    for (boolean begun : new boolean[] { true, false }) {
      calls.handlersAreBusy = !begun;
      RowLock lock = region.getRowLock(ROW);
      byte[] other = Bytes.toBytes("other");
      Increment ofOther = new Increment(ROW).addColumn(F, other, 1);
      Future<Result> first = begun ? sendFirst(ofOther) : send(ofOther, 1000);
      Future<Result> second = send(plus(10), begun ? 1001 : 2001);
      Future<Result> third = send(plus(100), begun ? 1002 : 2002);
      assertEquals(2, coalescer.groups().waiting());
      int before = edits();
      calls.handlersAreBusy = false;
      calls.busy.forEach(call -> threads.submit(call::run));
      calls.busy.clear();
      lock.release();
      assertEquals(begun ? 1 : 2, Bytes.toLong(first.get().getValue(F, other)));
      assertEquals(begun ? 10 : 120, value(second.get()));
      assertEquals(begun ? 110 : 220, value(third.get()));
      assertEquals(2, edits() - before);
      Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().inFlight() == 0);
    }
  }

  @Test
  public void testWhoIsMoreUrgentDoesNotWaitInTheQueueOfOthers() throws Exception {
    calls.handlersAreBusy = true;
    Future<Result> first = send(plus(1), 1001);
    calls.handlersAreBusy = false;
    calls.priority = 1;
    assertEquals(10, value(send(plus(10), 1002).get()));
    assertFalse(first.isDone());
    threads.submit(calls.busy.remove()::run);
    assertEquals(11, value(first.get()));
  }

  /** A call does not know which increments a batch has, but that it has one of the row. */
  @Test
  public void testCallWaitsForAThreadWithoutAHandler() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    long singles = CoalescerMetrics.register().singles();
    Future<Result> thread = sendInThread(plus(1), 1001);
    Waiter.waitFor(conf, 60_000, 1, () -> CoalescerMetrics.register().singles() > singles);
    Future<Result> call = send(plus(10), 1002);
    assertEquals(1, coalescer.groups().waiting());
    assertEquals(0, calls.handled.get());
    lock.release();
    assertEquals(1, value(thread.get()));
    assertEquals(11, value(call.get()));
  }

  @Test
  public void testCallThatFailsOnItsWayIsNotCountedAndTheOthersAre() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> leader = send(plus(10), 1001);
    Future<Result> failing = calls.send(plus(1000), 1002, true);
    Future<Result> follower = send(plus(100), 1003);
    lock.release();
    assertEquals(1, value(first.get()));
    assertEquals(11, value(leader.get()));
    assertEquals(111, value(follower.get()));
    assertThrows(ExecutionException.class, failing::get);
    // Its nonce is free.
    assertEquals(1111, value(send(plus(1000), 1002).get()));
  }

  @Test
  public void testLeaderThatFailsOnItsWayPassesTheTurnOn() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> failing = calls.send(plus(1000), 1001, true);
    Future<Result> next = send(plus(10), 1002);
    lock.release();
    assertEquals(1, value(first.get()));
    assertThrows(ExecutionException.class, failing::get);
    assertEquals(11, value(next.get()));
  }

  @Test
  public void testWhoWaitsWhenItIsSwitchedOffIsDoneByItself() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> second = send(plus(10), 1001);
    Future<Result> third = send(plus(100), 1002);
    long groups = CoalescerMetrics.register().groups();
    Configuration off = new Configuration(conf);
    off.setBoolean(CoalescerSettings.ENABLED_KEY, false);
    coalescer.onConfigurationChange(off);
    lock.release();
    assertEquals(1, value(first.get()));
    assertEquals(11, value(second.get()));
    assertEquals(111, value(third.get()));
    assertEquals(0, CoalescerMetrics.register().groups() - groups);
    assertEquals(3, calls.handled.get());
  }

  /** All handlers may be busy with batches whose increments wait for the row. */
  @Test
  public void testThreadTakesTheTurnOfACallThatNoHandlerHas() throws Exception {
    calls.handlersAreBusy = true;
    Future<Result> call = send(plus(1), 1001);
    Future<Result> behind = send(plus(2), 1002);
    assertEquals(1, coalescer.groups().waiting());
    // It leads, and carries the one that waits.
    assertEquals(10, value(coalescer.increment(region, plus(10), CLIENT, 1003)));
    assertEquals(12, value(behind.get()));
    assertFalse(call.isDone());
    assertEquals(0, coalescer.groups().rows());
    calls.handlersAreBusy = false;
    threads.submit(calls.busy.remove()::run);
    assertEquals(13, value(call.get()));
    assertTrue(calls.busy.isEmpty());
  }

  @Test
  public void testThreadThatWaitsLeadsBeforeACallDoes() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> call = send(plus(10), 1001);
    Future<Result> thread = sendInThread(plus(100), 1002);
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().waiting() == 2);
    calls.handlersAreBusy = true;
    lock.release();
    assertEquals(1, value(first.get()));
    assertEquals(101, value(thread.get()));
    assertEquals(111, value(call.get()));
    assertTrue(calls.busy.isEmpty());
  }

  @Test
  public void testWhoCannotLeadWhileTheCallQueueIsFullWaitsWithThoseBehindIt() throws Exception {
    long refused = CoalescerMetrics.register().refusedCalls();
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> second = send(plus(10), 1001);
    Future<Result> third = send(plus(100), 1002);
    calls.oneIn = 1;
    lock.release();
    assertEquals(1, value(first.get()));
    Waiter.waitFor(conf, 60_000, 1, () -> CoalescerMetrics.register().refusedCalls() > refused);
    assertFalse(second.isDone());
    assertFalse(third.isDone());
    calls.oneIn = Integer.MAX_VALUE;
    assertEquals(11, value(second.get(60, TimeUnit.SECONDS)));
    assertEquals(111, value(third.get(60, TimeUnit.SECONDS)));
    assertEquals(2, edits());
  }

  @Test
  public void testWhoFindsTheCallQueueFullForTooLongIsDropped() throws Exception {
    setRowWait(200);
    RowLock lock = region.getRowLock(ROW);
    calls.oneIn = Integer.MAX_VALUE;
    Future<Result> first = sendFirst(plus(1));
    Future<Result> second = send(plus(10), 1001);
    Future<Result> third = send(plus(100), 1002);
    calls.oneIn = 1;
    lock.release();
    first.get();
    for (Future<Result> dropped : Arrays.asList(second, third)) {
      ExecutionException e =
        assertThrows(ExecutionException.class, () -> dropped.get(60, TimeUnit.SECONDS));
      assertTrue(e.toString(), e.getCause() instanceof CallDroppedException);
    }
    ExecutionException e =
      assertThrows(ExecutionException.class, send(plus(1), 1003)::get);
    assertTrue(e.toString(), e.getCause() instanceof CallQueueTooBigException);
    calls.oneIn = Integer.MAX_VALUE;
    assertEquals(11, value(send(plus(10), 1001).get()));
  }

  private void setRowWait(int ms) throws IOException {
    conf.setInt("hbase.rowlock.wait.duration", ms);
    reopen();
  }

  /**
   * Those whose group has waited for the row as long as an increment may are told so: they are in
   * one handler, where each would wait as long once more, and keep the others' answers back.
   */
  @Test
  public void testRowThatIsHeldCostsAGroupOneWait() throws Exception {
    setRowWait(500);
    for (int waiting : new int[] { 2, 31, 32, 33 }) {
      RowLock lock = region.getRowLock(ROW);
      Future<Result> first = sendFirst(plus(1));
      List<Future<Result>> sent = new ArrayList<>();
      for (int i = 0; i < waiting; i++) {
        sent.add(send(plus(1), 1000 * waiting + i));
      }
      sent.add(0, first);
      int waits = 0;
      for (Future<Result> one : sent) {
        Throwable cause =
          assertThrows(ExecutionException.class, () -> one.get(2, TimeUnit.MINUTES)).getCause();
        boolean hasWaited = cause.toString().contains("Timed out waiting for lock");
        assertTrue(cause.toString(), hasWaited || cause instanceof RegionTooBusyException);
        waits += hasWaited ? 1 : 0;
      }
      // The first, a group and the one that leads it, and again for what is beyond 33.
      assertTrue(waiting + ": " + waits, waits <= (waiting > 32 ? 5 : 3));
      lock.release();
      Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().inFlight() == 0);
    }
    assertEquals(0, edits());
    // All may be tried again.
    assertEquals(1, value(send(plus(1), 2000).get()));
  }
}
