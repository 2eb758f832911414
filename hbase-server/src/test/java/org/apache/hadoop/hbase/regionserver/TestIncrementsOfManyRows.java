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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.regionserver.write.CoalescerSettings;
import org.apache.hadoop.hbase.regionserver.write.Committer;
import org.apache.hadoop.hbase.regionserver.write.GroupAppend;
import org.apache.hadoop.hbase.regionserver.write.IncrementCoalescer;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

/** Increments of different rows that were incremented a short time before share an edit. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementsOfManyRows extends WriteCallsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementsOfManyRows.class);

  private static final int ROWS = 20;
  private static final byte[] R = Bytes.toBytes("r");
  /** The coalescer's time, in nanoseconds. */
  private final AtomicLong now = new AtomicLong(1);
  /** How long a committer takes from each look at the time to the next. */
  private final AtomicLong step = new AtomicLong();
  private int nonce;
  private IncrementCoalescer increments;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    conf.setBoolean(CoalescerSettings.ENABLED_KEY, true);
    increments = new IncrementCoalescer(conf, server, 1,
      () -> Thread.currentThread() instanceof Committer ? now.addAndGet(step.get()) : now.get());
    interceptors.add(increments);
    for (int i = 0; i < ROWS; i++) {
      increment(i, 1).get(60, TimeUnit.SECONDS);
    }
    assertEquals("cold", ROWS, handled.get());
    assertEquals(ROWS, edits.get());
  }

  @Override
  public void tearDown() throws Exception {
    super.tearDown();
    increments.stop();
  }

  @Override
  protected Result increment(HRegion to, Increment increment, long own) throws IOException {
    return increments.increment(to, increment, CLIENT, own);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes("row" + i);
  }

  private Future<Result> increment(int row, long amount) throws IOException {
    return increment(new Increment(row(row)).addColumn(F, Q, amount));
  }

  private Future<Result> increment(Increment increment) throws IOException {
    return send(region, increment, ++nonce, HConstants.NORMAL_QOS, Long.MAX_VALUE);
  }

  private static long value(Future<Result> sent) throws Exception {
    return Bytes.toLong(sent.get(60, TimeUnit.SECONDS).getValue(F, Q));
  }

  private long stored(int row) throws IOException {
    return Bytes.toLong(region.get(new Get(row(row))).getValue(F, Q));
  }

  /** Sends an increment of the first row, whose group is synced when the gate opens. */
  private Future<Result> incrementFirst() throws IOException {
    watched.closeGate();
    int before = edits.get();
    Future<Result> first = increment(0, 1);
    awaitEdits(before + 1);
    return first;
  }

  @Test
  public void testThoseThatArriveDuringASyncAreOneEditWithAllNonces() throws Exception {
    Future<Result> first = incrementFirst();
    int before = edits.get();
    int firstNonce = nonce + 1;
    List<Future<Result>> sent = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < ROWS; i++) {
        sent.add(increment(i, 10));
      }
    }
    watched.openGate();
    assertEquals(2, value(first));
    for (int i = 0; i < sent.size(); i++) {
      int start = i % ROWS == 0 ? 2 : 1;
      assertEquals(start + 10L * (1 + i / ROWS), value(sent.get(i)));
    }
    assertEquals(1, edits.get() - before);
    assertEquals("of the first increments", ROWS, handled.get());
    for (int i = 0; i < ROWS; i++) {
      assertEquals(i == 0 ? 32 : 31, stored(i));
    }
    WALKeyImpl key = keys.get(before);
    assertEquals(firstNonce, key.getNonce());
    ServerNonceManager other = new ServerNonceManager(conf);
    other.reportOperationFromWal(key.getNonceGroup(), key.getNonce(), key.getWriteTime());
    GroupAppend.report(key, other);
    for (long each = firstNonce; each <= nonce; each++) {
      assertFalse("nonce " + each, other.startOperation(CLIENT, each, null));
    }
    assertTrue(other.startOperation(CLIENT, nonce + 1, null));
  }

  @Test
  public void testRepetitionOfOneOfManyIsAppliedOnce() throws Exception {
    Future<Result> first = incrementFirst();
    Future<Result> second = increment(1, 1);
    Future<Result> third = increment(2, 1);
    Future<Result> repeated = send(region, new Increment(row(2)).addColumn(F, Q, 1), nonce,
      HConstants.NORMAL_QOS, Long.MAX_VALUE);
    watched.openGate();
    await(Arrays.asList(first, second));
    assertEquals(2, value(third));
    assertEquals(2, value(repeated));
    assertEquals(2, stored(2));
  }

  @Test
  public void testColdRowIsExecutedByAHandler() throws Exception {
    Future<Result> first = incrementFirst();
    Future<Result> warm = increment(1, 1);
    int before = edits.get();
    Future<Result> cold = increment(ROWS, 1);
    awaitEdits(before + 1);
    assertEquals("it did not wait for the group", ROWS + 1, handled.get());
    assertFalse(warm.isDone());
    watched.openGate();
    assertEquals(1, value(cold));
    await(Arrays.asList(first, warm));
    now.addAndGet(TimeUnit.SECONDS.toNanos(11));
    assertEquals(2, value(increment(ROWS, 1)));
    assertEquals("it is cold again", ROWS + 2, handled.get());
    assertEquals(3, value(increment(ROWS, 1)));
    assertEquals(ROWS + 2, handled.get());
  }

  @Test
  public void testOtherDurabilityIsInAnotherGroup() throws Exception {
    incrementFirst();
    int before = edits.get();
    Future<Result> async =
      increment(new Increment(row(1)).addColumn(F, Q, 1).setDurability(Durability.ASYNC_WAL));
    awaitEdits(before + 1);
    watched.openGate();
    assertEquals(2, value(async));
    assertEquals(ROWS, handled.get());
  }

  @Test
  public void testLockedRowHoldsUpNoOther() throws Exception {
    RowLock lock = region.getRowLock(row(3));
    List<Future<Result>> locked = new ArrayList<>();
    Future<Result> first = incrementFirst();
    List<Future<Result>> free = new ArrayList<>();
    for (int round = 0; round < 2; round++) {
      locked.add(increment(3, 1));
      free.add(increment(4, 1));
      free.add(increment(5, 1));
    }
    watched.openGate();
    first.get(60, TimeUnit.SECONDS);
    await(free);
    assertEquals(3, stored(4));
    assertFalse(locked.get(0).isDone());
    // It follows the others of its row.
    locked.add(increment(3, 1));
    int before = edits.get();
    lock.release();
    Set<Long> values = new HashSet<>();
    for (Future<Result> one : locked) {
      values.add(value(one));
    }
    assertEquals(3, values.size());
    assertEquals(4, stored(3));
    assertTrue("they are merged", edits.get() - before <= 2);
    assertEquals("none waited in a handler", ROWS, handled.get());
  }

  /** What waited for its row while that was locked returns to the groups of many rows. */
  @Test
  public void testRowThatIsNoLongerLockedSharesEditsAgain() throws Exception {
    Future<Result> first = incrementFirst();
    RowLock lock = region.getRowLock(row(3));
    Future<Result> locked = increment(3, 1);
    Future<Result> other = increment(4, 1);
    int before = edits.get();
    watched.openGate();
    await(Arrays.asList(first, other));
    watched.closeGate();
    lock.release();
    awaitEdits(before + 2);
    Runnable rowGate = watched.closeNextGate();
    Future<Result> busy = increment(5, 1);
    awaitEdits(before + 3);
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 3; i < 8; i++) {
      sent.add(increment(i, 1));
    }
    assertEquals(1, increments.contendedRows());
    rowGate.run();
    locked.get(60, TimeUnit.SECONDS);
    Waiter.waitFor(conf, 60_000, 1, () -> increments.contendedRows() == 0);
    watched.openGate();
    busy.get(60, TimeUnit.SECONDS);
    await(sent);
    assertEquals(3, stored(3));
    assertEquals(ROWS, handled.get());
    assertEquals(before + 4, edits.get());
  }

  @Test
  public void testInvalidValueFailsAlone() throws Exception {
    region.append(new Append(row(7)).addColumn(F, R, Bytes.toBytes("text")));
    Future<Result> first = incrementFirst();
    long requests = region.getWriteRequestsCount();
    Mockito.clearInvocations(meters);
    List<Future<Result>> sent = new ArrayList<>();
    Future<Result> invalid = null;
    for (int i = 0; i < ROWS; i++) {
      if (i == 7) {
        invalid = increment(new Increment(row(7)).addColumn(F, R, 1));
      } else {
        sent.add(increment(i, 1));
      }
    }
    int before = edits.get();
    watched.openGate();
    first.get(60, TimeUnit.SECONDS);
    await(sent);
    assertEquals(DoNotRetryIOException.class, failure(invalid).getClass());
    for (int i = 0; i < ROWS; i++) {
      assertEquals(i == 0 ? 3 : i == 7 ? 1 : 2, stored(i));
    }
    assertTrue("halves of halves: " + (edits.get() - before), edits.get() - before <= 5);
    assertEquals(ROWS, region.getWriteRequestsCount() - requests);
    assertEquals("and the first one", ROWS + 1, metered());
    // Its nonce is free.
    assertEquals(DoNotRetryIOException.class,
      failure(send(region, new Increment(row(7)).addColumn(F, R, 1), nonce - ROWS + 8,
        HConstants.NORMAL_QOS, Long.MAX_VALUE)).getClass());
  }

  /** Returns how many writes the query meter has counted. */
  private long metered() {
    return Mockito.mockingDetails(meters).getInvocations().stream()
      .filter(call -> call.getMethod().getName().equals("updateWriteQueryMeter"))
      .mapToLong(call -> call.getArguments().length == 1 ? 1 : call.<Long> getArgument(1)).sum();
  }

  @Test
  public void testEachIsCountedOnce() throws Exception {
    long before = region.getWriteRequestsCount();
    Mockito.clearInvocations(meters);
    Future<Result> first = incrementFirst();
    List<Future<Result>> sent = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < ROWS; i++) {
        sent.add(increment(i, 1));
      }
    }
    watched.openGate();
    first.get(60, TimeUnit.SECONDS);
    await(sent);
    assertEquals(1 + 3 * ROWS, region.getWriteRequestsCount() - before);
    assertEquals(1 + 3 * ROWS, metered());
  }

  @Test
  public void testSyncThatFailsFailsAllAndAppliesNone() throws Exception {
    Future<Result> first = incrementFirst();
    List<Future<Result>> sent = new ArrayList<>();
    int firstNonce = nonce + 1;
    for (int i = 1; i < ROWS; i++) {
      sent.add(increment(i, 1));
    }
    watched.failSyncs(new IOException("no sync"));
    watched.openGate();
    failure(first);
    for (Future<Result> one : sent) {
      assertEquals("no sync", failure(one).getMessage());
    }
    watched.failSyncs(null);
    for (int i = 0; i < ROWS; i++) {
      assertEquals(1, stored(i));
    }
    assertEquals("the nonce is free", 2, value(send(region,
      new Increment(row(1)).addColumn(F, Q, 1), firstNonce, HConstants.NORMAL_QOS,
      Long.MAX_VALUE)));
  }

  @Test
  public void testClosingRegionRefusesEach() throws Exception {
    Future<Result> first = incrementFirst();
    List<Future<Result>> late = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      late.add(increment(i, 1));
    }
    region.closing.set(true);
    watched.openGate();
    first.get(60, TimeUnit.SECONDS);
    for (Future<Result> one : late) {
      assertEquals(NotServingRegionException.class, failure(one).getClass());
    }
    region.closing.set(false);
    assertEquals(1, stored(1));
  }

  @Test
  public void testOtherColumnsOfARowFollowUnderTheSameLock() throws Exception {
    Future<Result> first = incrementFirst();
    List<Future<Result>> sent = new ArrayList<>();
    int before = edits.get();
    for (int i = 1; i < 5; i++) {
      sent.add(increment(i, 1));
      sent.add(increment(i, 2));
    }
    sent.add(increment(new Increment(row(2)).addColumn(F, R, 5)));
    sent.add(increment(new Increment(row(2)).addColumn(F, Q, 1).addColumn(F, R, 1)));
    Future<Result> silent =
      increment(new Increment(row(3)).addColumn(F, Q, 4).setReturnResults(false));
    sent.add(increment(new Increment(row(4)).addColumn(G, Q, 7)));
    watched.openGate();
    first.get(60, TimeUnit.SECONDS);
    await(sent);
    assertTrue(silent.get(60, TimeUnit.SECONDS).isEmpty());
    assertEquals(5, stored(2));
    assertEquals(8, stored(3));
    assertEquals(6, Bytes.toLong(region.get(new Get(row(2))).getValue(F, R)));
    assertEquals(7, Bytes.toLong(region.get(new Get(row(4))).getValue(G, Q)));
    assertEquals(4, edits.get() - before);
  }

  @Test
  public void testPartWhoseGroupIsSlowIsLeftToHandlersForASecond() throws Exception {
    step.set(TimeUnit.MILLISECONDS.toNanos(30));
    assertEquals(2, value(increment(0, 1)));
    step.set(0);
    assertEquals(ROWS, handled.get());
    assertEquals(2, value(increment(1, 1)));
    assertEquals(ROWS + 1, handled.get());
    now.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertEquals(3, value(increment(1, 1)));
    assertEquals(ROWS + 1, handled.get());
  }
}
