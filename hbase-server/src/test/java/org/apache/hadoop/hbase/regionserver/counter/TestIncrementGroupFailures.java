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
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.mockito.Mockito;

/**
 * Errors before, in and after the WAL, a closed region, interrupts and timeouts: which increments
 * of a group fail, and which are applied.
 */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementGroupFailures extends IncrementFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementGroupFailures.class);

  private static final String GROUP_LEADER =
    "org.apache.hadoop.hbase.regionserver.writegroup.GroupLeader";

  public TestIncrementGroupFailures(Sending sending) {
    super(sending);
  }

  @Test
  public void testGroupThatFailsBeforeTheWalFailsOneByOne() throws Exception {
    region.put(new Put(ROW).addColumn(F, Q, Bytes.toBytes("abc")));
    RowLock lock = region.getRowLock(ROW);
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(sendFirst(plus(1)));
    for (int i = 0; i < 4; i++) {
      sent.add(sendNext(plus(1)));
    }
    lock.release();
    for (Future<Result> future : sent) {
      ExecutionException e = assertThrows(ExecutionException.class, future::get);
      // A row counts as locked for nested calls until release() has returned.
      assertTrue(e.toString(), e.getCause() instanceof DoNotRetryIOException
        || e.getCause() instanceof RegionTooBusyException);
    }
    assertEquals("only the put", 1, edits());
    assertNoncesAreFree(5);
  }

  @Test
  public void testGroupOfAClosedRegionFailsOneByOne() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> second = sendNext(plus(1));
    Future<Result> third = sendNext(plus(1));
    // Waits for the first, which waits for the row.
    Future<?> closed = threads.submit(() -> region.close());
    Waiter.waitFor(conf, 60_000, 1, () -> region.isClosing());
    lock.release();
    closed.get();
    int served = 0;
    for (Future<Result> future : new Future[] { first, second, third }) {
      try {
        future.get();
        served++;
      } catch (ExecutionException e) {
        // The last one is of a call that does not wait for the region's lock; clients repeat it.
        assertTrue(e.toString(), e.getCause() instanceof NotServingRegionException
          || e.getCause() instanceof InterruptedIOException
          || e.getCause() instanceof RegionTooBusyException);
      }
    }
    // Whoever was acknowledged is in the WAL.
    assertTrue(served + " acknowledged", served <= 3 && (served == 0) == (edits() == 0));
  }

  @Test
  public void testGroupThatFailsInTheWalIsNotDoneAgain() throws Exception {
    for (ExecutionException e : failInTheWal(new IOException("no sync"))) {
      assertEquals("no sync", e.getCause().getMessage());
    }
    assertEquals("each edit once", 2, edits());
    assertNoncesAreFree(5);
  }

  @Test
  public void testErrorAfterTheAppendFailsAllAndNobodyIsDoneAgain() throws Exception {
    failInTheWal(new StackOverflowError("no sync"));
    assertEquals("each edit once", 2, edits());
    assertNoncesAreFree(5);
  }

  /** Has a single increment and a group of four fail; returns what those of the group got. */
  private List<ExecutionException> failInTheWal(Throwable failure) throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    List<Future<Result>> group = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      group.add(sendNext(plus(1)));
    }
    watched.failSyncs(failure);
    lock.release();
    assertThrows(ExecutionException.class, () -> first.get(60, TimeUnit.SECONDS));
    List<ExecutionException> failures = new ArrayList<>();
    for (Future<Result> one : group) {
      failures
        .add(assertThrows(ExecutionException.class, () -> one.get(60, TimeUnit.SECONDS)));
    }
    return failures;
  }

  /** Returns whether this thread is in a method of the coalescer, or of the leader of a group. */
  private static boolean isWithin(String method) {
    return Arrays.stream(new Throwable().getStackTrace())
      .anyMatch(frame -> frame.getMethodName().equals(method)
        && (frame.getClassName().equals(GROUP_LEADER)
          || frame.getClassName().equals(IncrementCoalescer.class.getName())));
  }

  @Test
  public void testGroupThatCannotBeCountedIsDoneOnce() throws Exception {
    AtomicInteger thrown = new AtomicInteger();
    Mockito.doAnswer(call -> {
      if (isWithin("count")) {
        thrown.incrementAndGet();
        throw new IllegalStateException("count");
      }
      return call.callRealMethod();
    }).when(server).getMetrics();
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> leader = sendNext(plus(10));
    Future<Result> second = sendNext(plus(100));
    Future<Result> third = sendNext(plus(1000));
    lock.release();
    assertEquals(1, value(first.get(60, TimeUnit.SECONDS)));
    assertEquals(11, value(leader.get(60, TimeUnit.SECONDS)));
    assertEquals(111, value(second.get(60, TimeUnit.SECONDS)));
    assertEquals(1111, value(third.get(60, TimeUnit.SECONDS)));
    assertEquals(1111, stored());
    assertEquals(2, edits());
    for (long nonce = 1; nonce <= 4; nonce++) {
      assertFalse("nonce " + nonce, nonces.startOperation(CLIENT, nonce, null));
    }
    assertTrue("nothing was thrown", thrown.get() > 0);
  }

  /** The one that leads fails with it; those who were taken go on by themselves. */
  @Test
  public void testGroupThatCannotBeFormedIsDoneOneByOne() throws Exception {
    groupRows();
    region = Mockito.spy(region);
    Future<Result> first = sendFirstOfRegion(plus(1));
    Future<Result> leader = sendNext(plus("a", 10));
    Future<Result> second = sendNext(plus("b", 100));
    Future<Result> third = sendNext(plus("b", 1000));
    AtomicInteger groups = new AtomicInteger();
    Mockito.doAnswer(call -> {
      if (isWithin("setApart") && groups.getAndIncrement() == 0) {
        throw new IllegalStateException("setApart");
      }
      return call.callRealMethod();
    }).when(region).getLockedRows();
    watched.openGate();
    assertEquals(1, value(first.get(60, TimeUnit.SECONDS)));
    assertThrows(ExecutionException.class, () -> leader.get(60, TimeUnit.SECONDS));
    second.get(60, TimeUnit.SECONDS);
    third.get(60, TimeUnit.SECONDS);
    assertEquals(1100, stored("b"));
    assertTrue(region.get(new Get(Bytes.toBytes("a"))).isEmpty());
    assertTrue("may be tried again", nonces.startOperation(CLIENT, 2, null));
    assertFalse("is done", nonces.startOperation(CLIENT, 3, null));
  }

  @Test
  public void testInterruptedWaiterLeavesAndIsNotCounted() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    AtomicReference<Thread> thread = new AtomicReference<>();
    Future<Result> interrupted = threads.submit(() -> {
      thread.set(Thread.currentThread());
      return coalescer.increment(region, plus(1000), CLIENT, 50);
    });
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().waiting() == 1);
    Future<Result> last = sendNext(plus(2));
    thread.get().interrupt();
    ExecutionException e = assertThrows(ExecutionException.class, interrupted::get);
    assertTrue(e.toString(), e.getCause() instanceof IOException);
    assertEquals(1, coalescer.groups().waiting());
    lock.release();
    assertEquals(1, value(first.get()));
    assertEquals(3, value(last.get()));
    assertTrue(nonces.startOperation(CLIENT, 50, null));
  }

  @Test
  public void testWhoWaitsAsLongAsForARowLockFailsAsWithoutMerging() throws Exception {
    Configuration changed = new Configuration(conf);
    changed.setInt("hbase.rowlock.wait.duration", 1);
    coalescer.onConfigurationChange(changed);
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    // Leaves the queue at once, and waits in the region for the lock.
    Future<Result> second = threads.submit(() -> increment(plus(2), ++lastNonce));
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().waiting() == 0);
    lock.release();
    first.get();
    second.get();
    assertEquals(3, stored());
  }
}
