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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.Coprocessor;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.regionserver.querymatcher.DeleteTracker;
import org.apache.hadoop.hbase.regionserver.querymatcher.ScanDeleteTracker;
import org.apache.hadoop.hbase.regionserver.wal.WALCellCodec;
import org.apache.hadoop.hbase.regionserver.write.CoalescerSettings;
import org.apache.hadoop.hbase.regionserver.write.GroupAppend;
import org.apache.hadoop.hbase.regionserver.write.GroupMetrics;
import org.apache.hadoop.hbase.regionserver.write.IncrementCoalescer;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

/** Increments that wait for one of their row are merged, and each gets a value of its own. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestMergedIncrements extends WriteCallsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMergedIncrements.class);

  private static final byte[] ROW = Bytes.toBytes("row");
  private static final byte[] R = Bytes.toBytes("r");
  private int nonce;
  private IncrementCoalescer increments;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    conf.setBoolean(CoalescerSettings.ENABLED_KEY, true);
    increments = new IncrementCoalescer(conf, server);
    interceptors.add(increments);
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

  private Future<Result> increment(Increment increment) throws IOException {
    return send(region, increment, ++nonce, HConstants.NORMAL_QOS, Long.MAX_VALUE);
  }

  private static Increment by(long amount) {
    return new Increment(ROW).addColumn(F, Q, amount);
  }

  private static long value(Result result) {
    return Bytes.toLong(result.getValue(F, Q));
  }

  private long stored(byte[] qualifier) throws IOException {
    return Bytes.toLong(region.get(new Get(ROW)).getValue(F, qualifier));
  }

  /** Sends an increment whose committer holds the lock of the row until its sync may end. */
  private Future<Result> incrementFirst() throws IOException {
    watched.closeGate();
    int before = edits.get();
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = increment(by(1));
    lock.release();
    awaitEdits(before + 1);
    return first;
  }

  @Test
  public void testThoseThatWaitAreOneEditAndHaveValuesOfASequence() throws Exception {
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(incrementFirst());
    int before = edits.get();
    for (int i = 2; i <= 100; i++) {
      sent.add(increment(by(1)));
    }
    watched.openGate();
    Set<Long> values = new TreeSet<>();
    for (Future<Result> one : sent) {
      values.add(value(one.get(60, TimeUnit.SECONDS)));
    }
    assertEquals("each value once", 100, values.size());
    assertEquals(100, stored(Q));
    assertEquals(1, edits.get() - before);
    assertEquals(0, handled.get());
    assertEquals(100, region.getWriteRequestsCount());
  }

  @Test
  public void testRowsWithoutContentionAreLeftToHandlers() throws Exception {
    watched.closeGate();
    long alone = GroupMetrics.ofIncrements().get(GroupMetrics.Count.Single);
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      sent.add(increment(new Increment(Bytes.toBytes("row" + i)).addColumn(F, Q, 1)));
    }
    awaitEdits(20);
    watched.openGate();
    await(sent);
    assertEquals(20, handled.get());
    assertEquals(20, GroupMetrics.ofIncrements().get(GroupMetrics.Count.Single) - alone);
  }

  /** Hides all cells from reads. */
  public static final class Hiding implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public DeleteTracker postInstantiateDeleteTracker(
      ObserverContext<RegionCoprocessorEnvironment> context, DeleteTracker tracker) {
      return new ScanDeleteTracker(CellComparator.getInstance()) {
        @Override
        public boolean isEmpty() {
          return false;
        }

        @Override
        public DeleteResult isDeleted(Cell cell) {
          return DeleteResult.COLUMN_DELETED;
        }
      };
    }
  }

  @Test
  public void testThoseWhoseReadsACoprocessorChangesAreNotMerged() throws Exception {
    RegionCoprocessorHost host =
      new RegionCoprocessorHost(region, Mockito.mock(RegionServerServices.class), conf);
    host.load(Hiding.class, Coprocessor.PRIORITY_USER, conf);
    region.setCoprocessorHost(host);
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(incrementFirst());
    for (int i = 0; i < 9; i++) {
      sent.add(increment(by(1)));
    }
    watched.openGate();
    for (Future<Result> one : sent) {
      assertEquals("none sees another one", 1, value(one.get(60, TimeUnit.SECONDS)));
    }
    assertEquals(sent.size(), handled.get());
  }

  @Test
  public void testOtherColumnsAndOtherKindsOfIncrementsAreNotMerged() throws Exception {
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(incrementFirst());
    int before = edits.get();
    sent.add(increment(by(2)));
    sent.add(increment(new Increment(ROW).addColumn(F, R, 5)));
    sent.add(increment(by(3)));
    sent.add(increment(new Increment(ROW).addColumn(F, Q, 1).addColumn(F, R, 1)));
    Future<Result> silent = increment(by(4).setReturnResults(false));
    watched.openGate();
    await(sent);
    assertTrue(silent.get(60, TimeUnit.SECONDS).isEmpty());
    assertEquals(1 + 2 + 3 + 1 + 4, stored(Q));
    assertEquals(6, stored(R));
    assertEquals("of three sets of columns", 3, edits.get() - before);
  }

  @Test
  public void testColumnThatIsNoCounterFailsThoseThatIncrementIt() throws Exception {
    region.append(new Append(ROW).addColumn(F, R, Bytes.toBytes("text")));
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(incrementFirst());
    List<Future<Result>> bad = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      bad.add(increment(new Increment(ROW).addColumn(F, R, 1)));
      sent.add(increment(by(1)));
    }
    watched.openGate();
    await(sent);
    for (Future<Result> one : bad) {
      assertEquals(DoNotRetryIOException.class, failure(one).getClass());
    }
    assertEquals(4, stored(Q));
  }

  @Test
  public void testRepetitionOfOneInFlightIsAppliedOnce() throws Exception {
    Future<Result> first = incrementFirst();
    Future<Result> waiting = increment(by(10));
    Future<Result> repeated =
      send(region, by(10), nonce, HConstants.NORMAL_QOS, Long.MAX_VALUE);
    Future<Result> firstRepeated = send(region, by(1), 1, HConstants.NORMAL_QOS, Long.MAX_VALUE);
    watched.openGate();
    first.get(60, TimeUnit.SECONDS);
    assertEquals(11, value(waiting.get(60, TimeUnit.SECONDS)));
    assertEquals(11, value(repeated.get(60, TimeUnit.SECONDS)));
    assertEquals("what it has written", 1, value(firstRepeated.get(60, TimeUnit.SECONDS)));
    assertEquals(11, stored(Q));
  }

  @Test
  public void testSyncThatFailsFailsItsGroupAndCountsNothing() throws Exception {
    Future<Result> first = incrementFirst();
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      sent.add(increment(by(1)));
    }
    watched.failSyncs(new IOException("no sync"));
    watched.openGate();
    failure(first);
    for (Future<Result> one : sent) {
      assertEquals("no sync", failure(one).getMessage());
    }
    watched.failSyncs(null);
    assertNull(region.get(new Get(ROW)).getValue(F, Q));
    // The nonce is used again: the increment was not applied.
    assertEquals(1,
      value(send(region, by(1), 2, HConstants.NORMAL_QOS, Long.MAX_VALUE).get(60,
        TimeUnit.SECONDS)));
  }

  /** A server that replays the edit refuses to repeat any of them. */
  @Test
  public void testKeyOfAnEditHasTheNoncesOfAll() throws Exception {
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(incrementFirst());
    int before = keys.size();
    sent.add(send(region, by(1), HConstants.NO_NONCE, HConstants.NORMAL_QOS, Long.MAX_VALUE));
    for (int i = 0; i < 5; i++) {
      sent.add(increment(by(1)));
    }
    watched.openGate();
    await(sent);
    assertEquals(1, keys.size() - before);
    // What a reader makes of the key that was written.
    WALKeyImpl written = keys.get(before);
    WALKeyImpl read = new WALKeyImpl();
    read.readFieldsFromPb(written.getBuilder(WALCellCodec.getNoneCompressor())
      .setWriteTime(written.getWriteTime()).setLogSequenceNumber(1).build(),
      WALCellCodec.getNoneUncompressor());
    assertEquals("a stock server knows the first one's", 2, read.getNonce());
    ServerNonceManager other = new ServerNonceManager(conf);
    other.reportOperationFromWal(read.getNonceGroup(), read.getNonce(), read.getWriteTime());
    GroupAppend.report(read, other);
    for (long each = 2; each <= 6; each++) {
      assertFalse("nonce " + each, other.startOperation(CLIENT, each, null));
    }
    assertTrue(other.startOperation(CLIENT, 7, null));
    assertNull("of one increment", keys.get(before - 1).getExtendedAttribute(
      GroupAppend.ATTRIBUTE));
  }

  @Test
  public void testCallThatFailsOnItsWayFailsAlone() throws Exception {
    byte[] row = Bytes.toBytes(FAILS);
    RowLock lock = region.getRowLock(row);
    Future<Result> failing =
      send(region, new Increment(row).addColumn(F, Q, 1), 1, HConstants.NORMAL_QOS,
        Long.MAX_VALUE);
    lock.release();
    assertEquals(FAILS, failure(failing).getMessage());
    assertEquals(0, handled.get());
    assertTrue(region.get(new Get(row)).isEmpty());
    // Its nonce is free.
    assertEquals(1, value(send(region, by(1), 1, HConstants.NORMAL_QOS, Long.MAX_VALUE).get(60,
      TimeUnit.SECONDS)));
  }

  @Test
  public void testEachIsCountedOnce() throws Exception {
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(incrementFirst());
    for (int i = 0; i < 10; i++) {
      sent.add(increment(by(1)));
    }
    watched.openGate();
    await(sent);
    Mockito.verify(meters, Mockito.times(2)).updateWriteQueryMeter(region, 1L);
    Mockito.verify(meters).updateWriteQueryMeter(region, 9L);
  }

  @Test
  public void testClosedRegionRefusesEach() throws Exception {
    Future<Result> first = incrementFirst();
    List<Future<Result>> late = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      late.add(increment(by(1)));
    }
    region.closing.set(true);
    watched.openGate();
    first.get(60, TimeUnit.SECONDS);
    for (Future<Result> one : late) {
      assertEquals(NotServingRegionException.class, failure(one).getClass());
    }
    region.closing.set(false);
    assertEquals(1, stored(Q));
  }

  @Test
  public void testIncrementWithAShortTimeoutFailsNoOther() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    List<Future<Result>> sent = new ArrayList<>();
    Future<Result> hasty = send(region, new Increment(ROW).addColumn(F, Q, 1), 1,
      HConstants.NORMAL_QOS, EnvironmentEdgeManager.currentTime() + 500);
    for (int i = 2; i < 6; i++) {
      sent.add(send(region, new Increment(ROW).addColumn(F, Q, 1), i, HConstants.NORMAL_QOS,
        Long.MAX_VALUE));
    }
    // What the group's deadline has ended for is executed one by one, as without groups.
    Waiter.waitFor(conf, 60_000, 1, () -> handled.get() >= 1);
    lock.release();
    await(sent);
    assertTrue(hasty.isDone() || sent.get(0).isDone());
  }

  @Test
  public void testNoIncrementIsMergedWhileMemoryIsShort() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    memory = FlushType.ABOVE_ONHEAP_HIGHER_MARK;
    Future<Result> alone = increment(by(1));
    Waiter.waitFor(conf, 60_000, 1, () -> handled.get() == 1);
    memory = FlushType.NORMAL;
    Future<Result> grouped = increment(by(1));
    lock.release();
    assertEquals(3, value(alone.get(60, TimeUnit.SECONDS))
      + value(grouped.get(60, TimeUnit.SECONDS)));
    assertEquals(1, handled.get());
  }

  /** A bulk load must not wait for an increment that waits for a row. */
  @Test
  public void testRegionIsLockedBeforeTheRow() throws Exception {
    RowLock row = region.getRowLock(ROW);
    Future<Result> waiting = increment(by(1));
    Waiter.waitFor(conf, 60_000, 1, () -> region.lock.getReadLockCount() > 0);
    Thread loader = new Thread(() -> {
      region.lock.writeLock().lock();
      region.lock.writeLock().unlock();
    });
    loader.start();
    Waiter.waitFor(conf, 60_000, 1, () -> region.lock.hasQueuedThread(loader));
    row.release();
    assertEquals(1, value(waiting.get(60, TimeUnit.SECONDS)));
    loader.join();
  }

  @Test
  public void testMoreRowsThanCommittersAreLeftToHandlers() throws Exception {
    long refused = GroupMetrics.ofIncrements().get(GroupMetrics.Count.Refused);
    int rows = 2 * HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT;
    List<RowLock> locks = new ArrayList<>();
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      byte[] row = Bytes.toBytes("row" + i);
      locks.add(region.getRowLock(row));
      sent.add(increment(new Increment(row).addColumn(F, Q, 1)));
    }
    Waiter.waitFor(conf, 60_000, 1, () -> handled.get() == rows / 2);
    assertEquals(rows / 2, GroupMetrics.ofIncrements().get(GroupMetrics.Count.Refused) - refused);
    locks.forEach(RowLock::release);
    await(sent);
    assertEquals(rows / 2, handled.get());
  }

  @Test
  public void testIncrementsAreNotCountedAsWritesThatCannotBeGrouped() throws Exception {
    long before = GroupMetrics.ofMutations().get(GroupMetrics.Count.Ungroupable);
    RowLock lock = region.getRowLock(ROW);
    Future<Result> sent = increment(by(1));
    lock.release();
    sent.get(60, TimeUnit.SECONDS);
    assertEquals(0, handled.get());
    assertEquals(before, GroupMetrics.ofMutations().get(GroupMetrics.Count.Ungroupable));
  }

  @Test
  public void testOtherRowsDoNotWait() throws Exception {
    Future<Result> first = incrementFirst();
    Future<Result> waiting = increment(by(1));
    int before = edits.get();
    for (int i = 0; i < 20; i++) {
      send(new Increment(Bytes.toBytes("other" + i)).addColumn(F, Q, 1));
    }
    awaitEdits(before + 20);
    assertFalse(waiting.isDone());
    watched.openGate();
    first.get(60, TimeUnit.SECONDS);
    waiting.get(60, TimeUnit.SECONDS);
    Waiter.waitFor(conf, 60_000, 1, () -> region.getLockedRows().isEmpty());
  }
}
