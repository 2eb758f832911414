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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.ChunkCreator;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MemStoreLAB;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.hadoop.hbase.regionserver.wal.WALCellCodec;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TestName;
import org.mockito.Mockito;

/**
 * Groups of increments on a real region with a real WAL. The test holds the row's lock until all
 * that are to form a group wait for it.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementGroups {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementGroups.class);

  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] G = Bytes.toBytes("g");
  private static final byte[] VERSIONS = Bytes.toBytes("versions");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] R = Bytes.toBytes("r");
  private static final byte[] ROW = Bytes.toBytes("row");
  static final long CLIENT = 7;

  @Rule
  public final TestName name = new TestName();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  final Configuration conf = util.getConfiguration();
  final ExecutorService threads = Executors.newCachedThreadPool();
  /** Threads that do increments, and may be interrupted. */
  final List<Thread> running = new CopyOnWriteArrayList<>();
  private final List<WALKeyImpl> appended = new ArrayList<>();
  private final AtomicReference<Throwable> syncFailure = new AtomicReference<>();
  /** Syncs wait for it. */
  private final AtomicReference<CountDownLatch> syncGate = new AtomicReference<>();
  private WALFactory wals;
  private ServerNonceManager nonces;
  private RegionServerServices server;
  HRegion region;
  IncrementCoalescer coalescer;
  private volatile LongConsumer nonceEnded = nonce -> {
  };
  private long lastNonce;

  @Before
  public void setUp() throws Exception {
    conf.setBoolean(CoalescerSettings.ENABLED_KEY, true);
    open();
  }

  private void open() throws IOException {
    Path root = util.getDataTestDirOnTestFS(name.getMethodName());
    CommonFSUtils.setRootDir(conf, root);
    FileSystem fs = root.getFileSystem(conf);
    TableDescriptor table = TableDescriptorBuilder
      .newBuilder(TableName.valueOf(name.getMethodName()))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(G))
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(VERSIONS).setMaxVersions(3).build())
      .build();
    RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    wals = new WALFactory(conf, name.getMethodName());
    nonces = new ServerNonceManager(conf) {
      @Override
      public void endOperation(long group, long nonce, boolean success) {
        super.endOperation(group, nonce, success);
        nonceEnded.accept(nonce);
      }
    };
    server = Mockito.spy(
      util.createMockRegionServerService(ServerName.valueOf("localhost", 1, 1)));
    Mockito.doReturn(nonces).when(server).getNonceManager();
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
      MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    HRegion.createHRegion(info, root, conf, table, wals.getWAL(info)).close();
    region = HRegion.openHRegion(root, info, table, watched(wals.getWAL(info)), conf, server, null);
    assertTrue(fs.exists(root));
    coalescer = new IncrementCoalescer(conf, server);
  }

  /** Opens the region again, with what the test has set meanwhile. */
  void reopen() throws IOException {
    region.close();
    wals.close();
    open();
  }

  /** The WAL, with a note of each edit, and syncs that fail when they are told to. */
  private WAL watched(WAL wal) {
    return (WAL) Proxy.newProxyInstance(WAL.class.getClassLoader(), new Class<?>[] { WAL.class },
      (proxy, method, args) -> {
        if (method.getName().equals("appendData") && !((WALEdit) args[2]).isMetaEdit()) {
          synchronized (appended) {
            appended.add((WALKeyImpl) args[1]);
          }
        }
        CountDownLatch gate = syncGate.get();
        if (method.getName().equals("sync") && gate != null) {
          gate.await();
        }
        Throwable failure = syncFailure.get();
        if (method.getName().equals("sync") && failure != null) {
          throw failure;
        }
        try {
          return method.invoke(wal, args);
        } catch (InvocationTargetException e) {
          throw e.getCause();
        }
      });
  }

  @After
  public void tearDown() throws Exception {
    threads.shutdownNow();
    syncFailure.set(null);
    if (syncGate.get() != null) {
      openGate();
    }
    if (!region.isClosed()) {
      region.close();
    }
    wals.close();
    util.cleanupTestDir();
    assertEquals("rows that never ended", 0, coalescer.rows());
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.inFlight() == 0);
  }

  private static Increment plus(long amount) {
    return new Increment(ROW).addColumn(F, Q, amount);
  }

  private Future<Result> send(Increment increment) {
    return send(increment, ++lastNonce);
  }

  /** Sends an increment from a client. */
  Future<Result> send(Increment increment, long nonce) {
    return threads.submit(() -> increment(increment, nonce));
  }

  private Result increment(Increment increment, long nonce) throws IOException {
    running.add(Thread.currentThread());
    try {
      return coalescer.increment(region, increment, CLIENT, nonce);
    } finally {
      running.remove(Thread.currentThread());
    }
  }

  /** One increment that has the turn, and waits for the row like all behind it. */
  Future<Result> sendFirst(Increment increment) throws Exception {
    long singles = CoalescerMetrics.register().singles();
    Future<Result> first = send(increment);
    Waiter.waitFor(conf, 60_000, 1, () -> CoalescerMetrics.register().singles() > singles);
    return first;
  }

  /** Sends one more and waits until it is in the queue, so that the order is known. */
  private Future<Result> sendNext(Increment increment) throws Exception {
    int before = coalescer.waiting();
    Future<Result> sent = send(increment);
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.waiting() == before + 1);
    return sent;
  }

  private static long value(Result result) {
    return Bytes.toLong(result.getValue(F, Q));
  }

  long stored() throws IOException {
    return value(region.get(new Get(ROW)));
  }

  int edits() {
    synchronized (appended) {
      return appended.size();
    }
  }

  @Test
  public void testEachGetsTheValueOfItsPlaceInTheQueue() throws Exception {
    region.put(new Put(ROW).addColumn(F, Q, Bytes.toBytes(100L)));
    int before = edits();
    long writes = region.getWriteRequestsCount();
    long[] amounts = { 5, -3, 0, 11, Long.MAX_VALUE, 2, -1 };
    List<Future<Result>> sent = new ArrayList<>();
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    for (long amount : amounts) {
      sent.add(sendNext(plus(amount)));
    }
    lock.release();
    assertEquals(101, value(first.get()));
    long expected = 101;
    for (int i = 0; i < amounts.length; i++) {
      expected += amounts[i];
      assertEquals("place " + i, expected, value(sent.get(i).get()));
    }
    assertEquals(expected, stored());
    assertEquals("the first and the group", 2, edits() - before);
    assertEquals(amounts.length + 1, region.getWriteRequestsCount() - writes);
  }

  @Test
  public void testColumnsOfSeveralFamiliesInAnyOrder() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(
      new Increment(ROW).addColumn(F, Q, 1).addColumn(F, R, 10).addColumn(G, Q, 100));
    Future<Result> second = sendNext(
      new Increment(ROW).addColumn(G, Q, 200).addColumn(F, R, 20).addColumn(F, Q, 2));
    Future<Result> third = sendNext(
      new Increment(ROW).addColumn(F, R, 30).addColumn(G, Q, 300).addColumn(F, Q, 3));
    lock.release();
    assertValues(first.get(), 1, 10, 100);
    assertValues(second.get(), 3, 30, 300);
    assertValues(third.get(), 6, 60, 600);
    assertValues(region.get(new Get(ROW)), 6, 60, 600);
    assertEquals(2, edits());
  }

  private static void assertValues(Result result, long fq, long fr, long gq) {
    assertEquals(3, result.size());
    assertEquals(fq, Bytes.toLong(result.getValue(F, Q)));
    assertEquals(fr, Bytes.toLong(result.getValue(F, R)));
    assertEquals(gq, Bytes.toLong(result.getValue(G, Q)));
  }

  @Test
  public void testWhoWantsNoResultGetsNone() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> silent = sendNext(plus(2).setReturnResults(false));
    Future<Result> last = sendNext(plus(4));
    lock.release();
    first.get();
    assertTrue(silent.get().isEmpty());
    assertEquals(7, value(last.get()));
    assertEquals(2, edits());
  }

  @Test
  public void testWhatDiffersIsNotMerged() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    List<Future<Result>> sent = new ArrayList<>();
    Increment[] different = { plus(1), plus(1).setDurability(Durability.ASYNC_WAL),
      plus(1).setTTL(60_000), plus(1).setTimeRange(0, Long.MAX_VALUE - 1),
      new Increment(ROW).addColumn(F, R, 1),
      new Increment(ROW).addColumn(F, Q, 1).addColumn(F, R, 1),
      new Increment(Bytes.toBytes("other row")).addColumn(F, Q, 1) };
    for (int i = 0; i < different.length; i++) {
      sent.add(send(different[i]));
      int rows = i + 1;
      // The other row is free.
      Waiter.waitFor(conf, 60_000, 1,
        () -> coalescer.rows() + behindAnotherKind() == rows || rows == different.length);
    }
    assertEquals(behindAnotherKind(), coalescer.waiting());
    lock.release();
    for (Future<Result> future : sent) {
      future.get();
    }
    assertEquals(different.length, edits());
    assertEquals(5, stored());
  }

  /** How many wait for one that they are not merged with. */
  int behindAnotherKind() {
    return 0;
  }

  @Test
  public void testWhatCannotBeMergedIsLeftToTheRegion() throws Exception {
    assertNull(plus(1).addColumn(F, Q, 1), "a column twice");
    assertNull(new Increment(ROW).addColumn(VERSIONS, Q, 1), "a family with versions");
    assertNull(new Increment(ROW).addColumn(Bytes.toBytes("none"), Q, 1), "no such family");
    assertNull(new Increment(ROW).add(new KeyValue(ROW, F, Q, Bytes.toBytes(1))), "four bytes");
    assertNull(new Increment(ROW).add(new KeyValue(ROW, F, Q, 5L, Bytes.toBytes(1L))),
      "a time of its own");
    assertFalse(CounterKey.of(region, plus(1), false) == null);
    // And that is where they go.
    assertThrows(DoNotRetryIOException.class, () -> coalescer.increment(region,
      new Increment(ROW).add(new KeyValue(ROW, F, Q, Bytes.toBytes(1))), CLIENT, ++lastNonce));
    coalescer.increment(region, new Increment(ROW).addColumn(VERSIONS, Q, 3), CLIENT, ++lastNonce);
    coalescer.increment(region, plus(3).setDurability(Durability.SKIP_WAL), CLIENT, ++lastNonce);
    assertEquals(3, stored());
    assertEquals(1, edits());
  }

  private void assertNull(Increment increment, String why) {
    assertSame(why, null, CounterKey.of(region, increment, false));
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
      assertTrue(e.toString(), e.getCause() instanceof DoNotRetryIOException);
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
        assertTrue(e.toString(), e.getCause() instanceof NotServingRegionException
          || e.getCause() instanceof InterruptedIOException);
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
    syncFailure.set(failure);
    lock.release();
    assertThrows(ExecutionException.class, () -> first.get(60, TimeUnit.SECONDS));
    List<ExecutionException> failures = new ArrayList<>();
    for (Future<Result> one : group) {
      failures
        .add(assertThrows(ExecutionException.class, () -> one.get(60, TimeUnit.SECONDS)));
    }
    return failures;
  }

  /** Returns whether this thread is in a method of the coalescer. */
  private static boolean isWithin(String method) {
    return Arrays.stream(new Throwable().getStackTrace())
      .anyMatch(frame -> frame.getMethodName().equals(method)
        && frame.getClassName().equals(GroupLeader.class.getName()));
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
    openGate();
    assertEquals(1, value(first.get(60, TimeUnit.SECONDS)));
    assertThrows(ExecutionException.class, () -> leader.get(60, TimeUnit.SECONDS));
    second.get(60, TimeUnit.SECONDS);
    third.get(60, TimeUnit.SECONDS);
    assertEquals(1100, stored("b"));
    assertTrue(region.get(new Get(Bytes.toBytes("a"))).isEmpty());
    assertTrue("may be tried again", nonces.startOperation(CLIENT, 2, null));
    assertFalse("is done", nonces.startOperation(CLIENT, 3, null));
  }

  /** Up to 32 calls are run inside of one another, and any number of threads. */
  @Test
  public void testGroupsOfAwkwardSizes() throws Exception {
    long expected = 0;
    for (int waiting : new int[] { 1, 2, 31, 32, 33, 63, 64, 65, 129 }) {
      RowLock lock = region.getRowLock(ROW);
      List<Future<Result>> sent = new ArrayList<>();
      sent.add(sendFirst(plus(1)));
      for (int i = 0; i < waiting; i++) {
        sent.add(sendNext(plus(1)));
      }
      lock.release();
      for (Future<Result> one : sent) {
        assertEquals(waiting + " wait", ++expected, value(one.get(60, TimeUnit.SECONDS)));
      }
      Waiter.waitFor(conf, 60_000, 1, () -> coalescer.inFlight() == 0);
    }
    assertEquals(expected, stored());
  }

  private void assertNoncesAreFree(long count) throws InterruptedException {
    for (long nonce = 1; nonce <= count; nonce++) {
      assertTrue("nonce " + nonce, nonces.startOperation(CLIENT, nonce, null));
      nonces.endOperation(CLIENT, nonce, false);
    }
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
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.waiting() == 1);
    Future<Result> last = sendNext(plus(2));
    thread.get().interrupt();
    ExecutionException e = assertThrows(ExecutionException.class, interrupted::get);
    assertTrue(e.toString(), e.getCause() instanceof IOException);
    assertEquals(1, coalescer.waiting());
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
    // Leaves the queue at once, and goes where the region waits for the lock.
    Future<Result> second = threads.submit(() -> increment(plus(2), ++lastNonce));
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.waiting() == 0);
    lock.release();
    first.get();
    second.get();
    assertEquals(3, stored());
  }

  @Test
  public void testRepeatedIncrementIsNotDoneTwice() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> second = sendNext(plus(10));
    Future<Result> third = sendNext(plus(100));
    // The same nonce again, while the one before waits: it waits for that one's end.
    Future<Result> again = send(plus(10), lastNonce - 1);
    lock.release();
    first.get();
    assertEquals(11, value(second.get()));
    assertEquals(111, value(third.get()));
    again.get();
    assertEquals(111, stored());
    // And after all of it, each of them, in any group or none.
    for (long nonce = 1; nonce <= lastNonce; nonce++) {
      assertFalse(coalescer.increment(region, plus(1), CLIENT, nonce).isEmpty());
    }
    lock = region.getRowLock(ROW);
    Future<Result> fresh = sendFirst(plus(1000));
    Future<Result> old = threads.submit(() -> coalescer.increment(region, plus(10), CLIENT, 2));
    Future<Result> behind = sendNext(plus(2000));
    lock.release();
    assertEquals(1111, value(fresh.get()));
    assertEquals(3111, value(behind.get()));
    old.get();
    assertEquals(3111, stored());
  }

  /**
   * The repetition has the nonce, and waits for the turn of the first, which has the turn and waits
   * for the row, and then for the nonce.
   */
  @Test
  public void testRepetitionThatHasTheNonceFirstIsWaitedForWithoutTheRow() throws Exception {
    Configuration changed = new Configuration(conf);
    // No increment times out.
    changed.setInt("hbase.rowlock.wait.duration", 600_000);
    coalescer.onConfigurationChange(changed);
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> again = send(plus(1), lastNonce);
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.waiting() == 1);
    Future<Result> behind = sendNext(plus(10));
    lock.release();
    again.get(60, TimeUnit.SECONDS);
    first.get(60, TimeUnit.SECONDS);
    behind.get(60, TimeUnit.SECONDS);
    assertEquals(11, stored());
  }

  /** What a repetition does that comes just when the first is about to try again by itself. */
  @Test
  public void testRepetitionOfWhoseGroupFailedIsWaitedForWithoutTheRow() throws Exception {
    region.put(new Put(ROW).addColumn(F, Q, Bytes.toBytes("abc")));
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> leader = sendNext(plus(1));
    Future<Result> follower = sendNext(plus(1));
    long repeated = lastNonce;
    AtomicInteger ended = new AtomicInteger();
    nonceEnded = nonce -> {
      try {
        if (nonce == repeated && ended.getAndIncrement() == 0) {
          assertTrue(nonces.startOperation(CLIENT, nonce, null));
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    };
    lock.release();
    assertThrows(ExecutionException.class, first::get);
    assertThrows(ExecutionException.class, leader::get);
    Waiter.waitFor(conf, 60_000, 1, () -> ended.get() > 0);
    // The row is not kept.
    region.put(new Put(ROW).addColumn(F, Q, Bytes.toBytes(5L)));
    assertGaveUp(follower);
    assertEquals(5, stored());
  }

  /** One that waits for its repetition, which has the nonce. */
  void assertGaveUp(Future<Result> repeated) throws Exception {
    nonces.endOperation(CLIENT, lastNonce, true);
    repeated.get();
  }

  @Test
  public void testReplayedEditReportsTheNoncesOfAll() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    List<Future<Result>> group = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      group.add(sendNext(plus(1)));
    }
    lock.release();
    first.get();
    for (Future<Result> future : group) {
      future.get();
    }
    assertEquals(2, edits());
    // What a reader makes of the key that was written.
    WALKeyImpl read = new WALKeyImpl();
    read.readFieldsFromPb(appended.get(1)
      .getBuilder(WALCellCodec.getNoneCompressor()).setWriteTime(appended.get(1).getWriteTime())
      .setLogSequenceNumber(1).build(),
      WALCellCodec.getNoneUncompressor());
    assertEquals(CLIENT, read.getNonceGroup());
    assertEquals("a stock server knows the leader's", 2, read.getNonce());
    ServerNonceManager other = new ServerNonceManager(conf);
    other.reportOperationFromWal(read.getNonceGroup(), read.getNonce(), read.getWriteTime());
    GroupNonces.report(read, other);
    for (long nonce = 2; nonce <= 6; nonce++) {
      assertFalse("nonce " + nonce, other.startOperation(CLIENT, nonce, null));
    }
    assertTrue(other.startOperation(CLIENT, 7, null));
    // A key without others says nothing.
    assertArrayEquals(null, appended.get(0).getExtendedAttribute(GroupNonces.ATTRIBUTE));
    GroupNonces.report(appended.get(0), other);
  }

  @Test
  public void testWithoutNoncesTooAndWithSomeOnly() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> without = threads.submit(
      () -> coalescer.increment(region, plus(2), HConstants.NO_NONCE, HConstants.NO_NONCE));
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.waiting() == 1);
    Future<Result> with = sendNext(plus(4));
    lock.release();
    first.get();
    assertEquals(3, value(without.get()));
    assertEquals(7, value(with.get()));
    assertEquals(CLIENT, appended.get(1).getNonceGroup());
    assertEquals(2, appended.get(1).getNonce());
  }

  /** An observer of increments, and one that has no such hooks. */
  public static class Observer implements RegionCoprocessor, RegionObserver {
    static final List<Long> SEEN = new ArrayList<>();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public Result preIncrementAfterRowLock(ObserverContext<RegionCoprocessorEnvironment> c,
      Increment increment) {
      SEEN.add(increment.getFamilyMapOfLongs().get(F).get(Q));
      return null;
    }
  }

  public static class Endpoint implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }
  }

  @Test
  public void testCoprocessorSeesEachIncrement() throws Exception {
    Observer.SEEN.clear();
    region.getCoprocessorHost().load(Endpoint.class, 1, conf);
    assertSame(IncrementHooks.NONE, IncrementHooks.of(region.getCoprocessorHost()));
    region.getCoprocessorHost().load(Observer.class, 2, conf);
    assertSame(IncrementHooks.EACH, IncrementHooks.of(region.getCoprocessorHost()));
    RowLock lock = region.getRowLock(ROW);
    Future<Result> one = send(plus(1));
    Future<Result> two = send(plus(2));
    lock.release();
    one.get();
    two.get();
    assertEquals(0, coalescer.rows());
    assertEquals(2, Observer.SEEN.size());
    assertEquals(3, Observer.SEEN.stream().mapToLong(Long::longValue).sum());
  }

  @Test
  public void testCanBeSwitchedOffAndOn() throws Exception {
    Configuration off = new Configuration(conf);
    off.set(CoalescerSettings.ENABLED_KEY, "false");
    coalescer.onConfigurationChange(off);
    RowLock lock = region.getRowLock(ROW);
    Future<Result> one = send(plus(1));
    Future<Result> two = send(plus(1));
    lock.release();
    one.get();
    two.get();
    assertEquals(2, edits());
    // A bad value leaves it as it is.
    off.set(CoalescerSettings.ENABLED_KEY, "yes");
    coalescer.onConfigurationChange(off);
    coalescer.onConfigurationChange(conf);
    lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> second = sendNext(plus(1));
    Future<Result> third = sendNext(plus(1));
    lock.release();
    first.get();
    second.get();
    assertEquals(5, value(third.get()));
    assertEquals(4, edits());
  }

  /** Increments of other rows wait too, and are done together with those of the row. */
  private void groupRows() {
    Configuration changed = new Configuration(conf);
    changed.set(CoalescerSettings.SCOPE_KEY, "region");
    coalescer.onConfigurationChange(changed);
  }

  /** One increment that has the turn of all rows, and is in the WAL until the gate opens. */
  private Future<Result> sendFirstOfRegion(Increment increment) throws Exception {
    int before = edits();
    syncGate.set(new CountDownLatch(1));
    Future<Result> first = send(increment);
    Waiter.waitFor(conf, 60_000, 1, () -> edits() == before + 1);
    return first;
  }

  private void openGate() {
    syncGate.getAndSet(null).countDown();
  }

  private static Increment plus(String row, long amount) {
    return new Increment(Bytes.toBytes(row)).addColumn(F, Q, amount);
  }

  private long stored(String row) throws IOException {
    return value(region.get(new Get(Bytes.toBytes(row))));
  }

  @Test
  public void testRowsOfARegionAreDoneAsOne() throws Exception {
    groupRows();
    region.put(new Put(Bytes.toBytes("z")).addColumn(F, Q, Bytes.toBytes(1000L)));
    long writes = region.getWriteRequestsCount();
    Future<Result> first = sendFirstOfRegion(plus(1));
    Future<Result> z = sendNext(plus("z", 1));
    Future<Result> a = sendNext(plus("a", 5));
    Future<Result> same = sendNext(plus(10));
    Future<Result> zAgain = sendNext(plus("z", 2));
    Future<Result> silent = sendNext(plus("a", 3).setReturnResults(false));
    openGate();
    assertEquals(1, value(first.get()));
    assertEquals(1001, value(z.get()));
    assertEquals(5, value(a.get()));
    assertEquals(11, value(same.get()));
    assertEquals(1003, value(zAgain.get()));
    assertTrue(silent.get().isEmpty());
    assertEquals(1003, stored("z"));
    assertEquals(8, stored("a"));
    assertEquals(11, stored());
    assertEquals("the put, the first, the others", 3, edits());
    assertEquals("each is counted", 6, region.getWriteRequestsCount() - writes);
    ServerNonceManager other = new ServerNonceManager(conf);
    WALKeyImpl key = appended.get(2);
    other.reportOperationFromWal(key.getNonceGroup(), key.getNonce(), key.getWriteTime());
    GroupNonces.report(key, other);
    for (long nonce = 2; nonce <= 6; nonce++) {
      assertFalse("nonce " + nonce, other.startOperation(CLIENT, nonce, null));
    }
  }

  @Test
  public void testRowThatFailsDoesNotFailTheOthersOfItsGroup() throws Exception {
    groupRows();
    region.put(new Put(Bytes.toBytes("bad")).addColumn(F, Q, Bytes.toBytes("abc")));
    Future<Result> first = sendFirstOfRegion(plus(1));
    Future<Result> good = sendNext(plus("good", 2));
    Future<Result> bad = sendNext(plus("bad", 3));
    Future<Result> same = sendNext(plus(4));
    openGate();
    first.get();
    assertEquals(2, value(good.get()));
    assertEquals(5, value(same.get()));
    ExecutionException e = assertThrows(ExecutionException.class, bad::get);
    assertTrue(e.toString(), e.getCause() instanceof DoNotRetryIOException);
    assertEquals("the put, and one for each that is good", 4, edits());
    assertTrue("may be tried again", nonces.startOperation(CLIENT, 3, null));
    assertFalse("is done", nonces.startOperation(CLIENT, 2, null));
  }

  @Test
  public void testRowsThatFailInTheWalAreNotDoneAgain() throws Exception {
    groupRows();
    Future<Result> first = sendFirstOfRegion(plus(1));
    List<Future<Result>> group = new ArrayList<>();
    for (String row : new String[] { "c", "b", "c", "a" }) {
      group.add(sendNext(plus(row, 1)));
    }
    syncFailure.set(new IOException("no sync"));
    openGate();
    assertThrows(ExecutionException.class, first::get);
    for (Future<Result> future : group) {
      ExecutionException e = assertThrows(ExecutionException.class, future::get);
      assertEquals("no sync", e.getCause().getMessage());
    }
    assertEquals("each edit once", 2, edits());
    assertNoncesAreFree(5);
  }

  @Test
  public void testHeldRowDoesNotKeepTheOthersOfItsRegionWaiting() throws Exception {
    groupRows();
    RowLock lock = region.getRowLock(Bytes.toBytes("held"));
    // Comes first, and leaves the turn of all rows to who can use it.
    Future<Result> alone = send(plus("held", 1));
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.rows() == 1);
    assertEquals(1, value(coalescer.increment(region, plus("free", 1), CLIENT, ++lastNonce)));
    // Comes in a group.
    Future<Result> first = sendFirstOfRegion(plus(1));
    Future<Result> leader = sendNext(plus("held", 10));
    Future<Result> free = sendNext(plus("free", 20));
    Future<Result> follower = sendNext(plus("held", 30));
    openGate();
    assertEquals(1, value(first.get()));
    assertEquals(21, value(free.get()));
    assertFalse(alone.isDone() || leader.isDone() || follower.isDone());
    lock.release();
    assertEquals("whoever is last", 41, Math.max(value(alone.get()),
      Math.max(value(leader.get()), value(follower.get()))));
    assertEquals(41, stored("held"));
  }

  @Test
  public void testStormOfIncrementsAndInterruptsOfARegion() throws Exception {
    groupRows();
    storm();
  }

  @Test
  public void testStormOfIncrementsAndInterrupts() throws Exception {
    storm();
  }

  /** Does an increment as one of many. */
  Result stormy(Increment increment, long nonce) throws Exception {
    return increment(increment, nonce);
  }

  /** Whoever is interrupted is not counted, whatever its part in a group. */
  private void storm() throws Exception {
    // More than a server has handlers.
    int workers = 64;
    int each = 50;
    List<CounterHistory> histories = new ArrayList<>();
    for (String row : new String[] { "hot", "warm", "cool" }) {
      histories.add(new CounterHistory(Bytes.toBytes(row)));
    }
    AtomicLong nonce = new AtomicLong();
    AtomicInteger interrupted = new AtomicInteger();
    List<Future<?>> ends = new ArrayList<>();
    for (int worker = 0; worker < workers; worker++) {
      Random random = new Random(worker);
      ends.add(threads.submit(() -> {
        for (int i = 0; i < each; i++) {
          CounterHistory history = histories.get(Math.max(0, random.nextInt(6) - 3));
          long amount = random.nextInt(200) - 100;
          Increment increment = history.increment(amount);
          long begun = System.nanoTime();
          try {
            history.add(amount, begun, stormy(increment, nonce.incrementAndGet()));
          } catch (IOException e) {
            interrupted.incrementAndGet();
          }
          Thread.interrupted();
        }
        return null;
      }));
    }
    Random random = new Random(workers);
    while (!ends.stream().allMatch(Future::isDone)) {
      Object[] now = running.toArray();
      if (now.length > 0) {
        ((Thread) now[random.nextInt(now.length)]).interrupt();
      }
      Thread.sleep(1);
    }
    int acknowledged = 0;
    for (Future<?> end : ends) {
      end.get();
    }
    for (CounterHistory history : histories) {
      history.assertSum(region.get(new Get(history.row())));
      history.assertLinear();
      acknowledged += history.size();
    }
    assertEquals(workers * each, acknowledged + interrupted.get());
    assertTrue(acknowledged > 0);
  }

  @Test
  public void testBadSettingIsRefusedWithKeyValueAndRemedy() {
    Configuration bad = new Configuration(conf);
    bad.set(CoalescerSettings.ENABLED_KEY, "ture");
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
      () -> new IncrementCoalescer(bad, null));
    assertEquals(CoalescerSettings.ENABLED_KEY + " is ture; must be true or false. Set one of "
      + "these, or remove the key for the default of false.",
      e.getMessage());
    bad.set(CoalescerSettings.ENABLED_KEY, "true");
    bad.set(CoalescerSettings.SCOPE_KEY, "table");
    e = assertThrows(IllegalArgumentException.class, () -> new IncrementCoalescer(bad, null));
    assertEquals(CoalescerSettings.SCOPE_KEY + " is table; must be row or region. Set one of "
      + "these, or remove the key for the default of row.",
      e.getMessage());
  }
}
