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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Date;
import java.util.Deque;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The invariants of {@link AsyncWalBound} and {@link GuardedAsyncWalBound}, under all
 * {@link Interleavings} with a limited number of preemptions of writers, the thread that syncs, and
 * threads of the WAL. A thread can be preempted before it takes the lock or waits, when it reads
 * the clock or the synced txid, and during a sync. Time passes when all threads wait.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestAsyncWalBoundInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestAsyncWalBoundInterleavings.class);

  /**
   * The number of preemptions, enough to find each fault; more by
   * <code>-Dasyncwal.preemptions</code>.
   */
  private static final int PREEMPTIONS = Integer.getInteger("asyncwal.preemptions", 1);
  private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int SIZE = 10;
  private static final String DROPPED =
    "a dropped write is acknowledged and the WAL appends again";

  /** A step that is left out, or is taken too early. */
  private enum Fault {
    NONE,
    LOCK_EXCLUDES_NO_THREAD,
    THREAD_IS_NOT_WOKEN,
    WRITERS_ARE_NOT_WOKEN,
    SYNC_IS_NOT_REPORTED,
    WRITE_IS_ACKNOWLEDGED_EARLY,
    CLOSE_WAKES_NO_THREAD,
    DROP_IS_NOT_REPORTED,
    DROP_IS_REPORTED_EARLY
  }

  private interface Scenario {
    int tryAll() throws Exception;
  }

  /** Threads that run in one order, and what has to hold then. */
  private interface Run {
    void run() throws Exception;
  }

  private Interleavings threads = new Interleavings(PREEMPTIONS);
  private final Configuration conf = new Configuration(false);
  private Fault fault = Fault.NONE;
  private boolean syncsHang;

  private DroppedAppends dropped;
  private AsyncWalBound bound;
  private Thread syncer;
  private Interleavings.Permits syncerStart;
  private Interleavings.Permits syncEnd;
  private boolean closing;
  private long now;
  private long appended;
  private long synced;
  private int failed;
  /** When a write was acknowledged, by its txid. */
  private final TreeMap<Long, Long> acknowledged = new TreeMap<>();
  private final List<TestCondition.Waiter> waiters = new ArrayList<>();

  @After
  public void tearDown() {
    threads.close();
  }

  private static void await(Interleavings.Permits permit) {
    try {
      permit.acquire();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** A lock of threads that run one at a time. */
  private final class TestLock extends ReentrantLock {
    private static final long serialVersionUID = 1L;
    private final transient Deque<Interleavings.Permits> entering = new ArrayDeque<>();
    private transient Thread owner;
    private int holds;
    private boolean first = true;

    @Override
    public void lock() {
      if (owner == Thread.currentThread()) {
        holds++;
      } else {
        threads.point();
        enter(1);
      }
    }

    private void enter(int times) {
      while (owner != null && fault != Fault.LOCK_EXCLUDES_NO_THREAD) {
        Interleavings.Permits entry = threads.new Permits(0);
        entering.add(entry);
        await(entry);
      }
      owner = Thread.currentThread();
      holds = times;
    }

    @Override
    public void unlock() {
      holds--;
      if (holds == 0) {
        leave();
      }
    }

    private void leave() {
      owner = null;
      if (!entering.isEmpty()) {
        entering.remove().release();
      }
    }

    @Override
    public Condition newCondition() {
      Condition condition =
        new TestCondition(this, first ? Fault.THREAD_IS_NOT_WOKEN : Fault.WRITERS_ARE_NOT_WOKEN);
      first = false;
      return condition;
    }
  }

  private final class TestCondition implements Condition {
    private final class Waiter {
      private final Interleavings.Permits wakes = threads.new Permits(0);
      private final long wakesAt;

      private Waiter(long nanos) {
        wakesAt = nanos < Long.MAX_VALUE / 2 ? now + nanos : Long.MAX_VALUE;
      }

      private boolean waitsFor(Condition condition) {
        return condition == TestCondition.this;
      }
    }

    private final TestLock lock;
    private final Fault lost;

    private TestCondition(TestLock lock, Fault lost) {
      this.lock = lock;
      this.lost = lost;
    }

    @Override
    public long awaitNanos(long nanos) {
      threads.point();
      Waiter waiter = new Waiter(nanos);
      waiters.add(waiter);
      int holds = lock.holds;
      lock.leave();
      TestAsyncWalBoundInterleavings.await(waiter.wakes);
      lock.enter(holds);
      return waiter.wakesAt - now;
    }

    @Override
    public void signal() {
      signal(1);
    }

    @Override
    public void signalAll() {
      signal(Integer.MAX_VALUE);
    }

    private void signal(int max) {
      if (fault == (closing ? Fault.CLOSE_WAKES_NO_THREAD : lost)) {
        return;
      }
      List<Waiter> woken = new ArrayList<>();
      for (Waiter waiter : waiters) {
        if (waiter.waitsFor(this) && woken.size() < max) {
          woken.add(waiter);
        }
      }
      waiters.removeAll(woken);
      woken.forEach(waiter -> waiter.wakes.release());
    }

    @Override
    public void await() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean await(long time, TimeUnit unit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void awaitUninterruptibly() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean awaitUntil(Date deadline) {
      throw new UnsupportedOperationException();
    }
  }

  private long readClock() {
    threads.point();
    return now;
  }

  private long readSynced() {
    threads.point();
    return synced;
  }

  private void open() {
    dropped = new DroppedAppends();
    syncer = null;
    syncerStart = threads.new Permits(0);
    syncEnd = threads.new Permits(syncsHang ? 0 : 100);
    closing = false;
    now = 1;
    appended = 0;
    synced = 0;
    failed = 0;
    acknowledged.clear();
    waiters.clear();
    bound = new GuardedAsyncWalBound(AsyncWalSettings.of(conf), "test", INTERVAL,
      this::readSynced, this::sync, this::readClock, new TestLock(), dropped) {
      @Override
      void start(Thread thread) {
        syncer = thread;
        syncerStart.release();
      }
    };
  }

  private void runSyncer() {
    await(syncerStart);
    if (syncer != null) {
      syncer.run();
    }
  }

  /** Performs a sync of the bound. */
  private void sync(long txid) {
    await(syncEnd);
    syncUpTo(txid);
  }

  private void syncUpTo(long txid) {
    threads.point();
    synced = Math.max(synced, txid);
    if (fault != Fault.SYNC_IS_NOT_REPORTED) {
      bound.synced();
    }
  }

  private void write() {
    threads.point();
    appended++;
    write(appended);
  }

  private void write(long txid) {
    if (fault == Fault.WRITE_IS_ACKNOWLEDGED_EARLY) {
      acknowledged.put(txid, now);
    }
    threads.point();
    try {
      bound.acknowledge(txid, SIZE);
      acknowledged.put(txid, now);
    } catch (IOException e) {
      failed++;
    }
    // Or else all writes would have the same age.
    now++;
  }

  private int unsynced() {
    return acknowledged.tailMap(synced, false).size();
  }

  /** Compares what the bound reports with the writes that are unsynced meanwhile. */
  private void observe() {
    threads.point();
    TreeMap<Long, Long> before = new TreeMap<>(acknowledged);
    long start = now;
    long bytes = bound.unsyncedBytes();
    assertTrue("bytes " + bytes, bytes >= before.tailMap(synced, false).size() * SIZE);
    long age = bound.oldestNanos();
    for (long time : before.tailMap(synced, false).values()) {
      assertTrue("age " + age, age >= start - time);
    }
  }

  /** Lets time pass while all threads wait, until the oldest write is as old as it may be. */
  private void passInterval() throws InterruptedException {
    long end = now + INTERVAL;
    for (TestCondition.Waiter next = nextBefore(end); next != null; next = nextBefore(end)) {
      TestCondition.Waiter woken = next;
      now = Math.max(now, woken.wakesAt);
      waiters.remove(woken);
      threads.run(false, () -> woken.wakes.release());
    }
  }

  private TestCondition.Waiter nextBefore(long end) {
    TestCondition.Waiter next = null;
    for (TestCondition.Waiter waiter : waiters) {
      if (waiter.wakesAt <= end && (next == null || waiter.wakesAt < next.wakesAt)) {
        next = waiter;
      }
    }
    return next;
  }

  private void close() {
    threads.point();
    closing = true;
    bound.close();
  }

  /** Closes the WAL, which ends all threads. */
  private void end() throws Exception {
    threads.run(false, this::close, () -> syncerStart.release(), () -> syncEnd.release());
    threads.check();
    assertTrue("threads end", threads.isDone());
    // Its metrics would refer to it otherwise.
    synced = Long.MAX_VALUE;
    bound.close();
  }

  /** Returns the number of orders. */
  private int tryAll(Run run) throws Exception {
    int orders = 0;
    do {
      open();
      run.run();
      end();
      orders++;
    } while (threads.next());
    return orders;
  }

  /** Tries two writers, and a thread whose sync may cover their writes. */
  private int tryAge() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    return tryAll(() -> {
      threads.run(true, this::runSyncer, this::write, this::write, () -> {
        threads.point();
        syncUpTo(appended);
        observe();
      });
      threads.check();
      assertEquals(2, acknowledged.size());
      passInterval();
      threads.check();
      assertEquals("unsynced after the interval", 0, unsynced());
    });
  }

  /** A sync is due while writers write. */
  private int tryAgeOfWritesDuringASync() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    return tryAll(() -> {
      threads.run(false, this::runSyncer, this::write);
      threads.check();
      TestCondition.Waiter waiter = waiters.remove(0);
      now = waiter.wakesAt;
      threads.run(true, () -> waiter.wakes.release(), this::write, () -> {
        write();
        observe();
      });
      threads.check();
      observe();
      passInterval();
      threads.check();
      assertEquals("unsynced after the interval", 0, unsynced());
    });
  }

  /** The thread waits until the first write is due when others exceed the bytes. */
  private int tryBytes() throws Exception {
    conf.set(AsyncWalSettings.BYTES_KEY, String.valueOf(2 * SIZE));
    return tryAll(() -> {
      threads.run(false, this::runSyncer, this::write);
      threads.run(true, this::write, this::write);
      threads.check();
      assertTrue("unsynced " + unsynced(), unsynced() <= 1);
    });
  }

  private void writeTwo() {
    for (int i = 0; i < 2; i++) {
      write();
      assertTrue("unsynced " + unsynced(), unsynced() <= 1);
    }
  }

  /** There is room for one write. */
  private int tryRoom() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, String.valueOf(SIZE));
    return tryAll(() -> {
      threads.run(true, this::runSyncer, this::writeTwo, this::writeTwo);
      threads.check();
      assertEquals("all writers have found room", 4, acknowledged.size());
    });
  }

  /** Other threads sync while the bound's own sync hangs. */
  private int tryRoomBySyncsOfOthers() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, String.valueOf(SIZE / 2));
    syncsHang = true;
    return tryAll(() -> {
      threads.run(true, this::runSyncer, this::write, this::write, () -> syncUpTo(appended));
      threads.run(false, () -> syncUpTo(appended));
      threads.check();
      assertEquals("all writers have found room", 2, acknowledged.size());
    });
  }

  private int tryClose() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, String.valueOf(SIZE));
    syncsHang = true;
    return tryAll(() -> {
      threads.run(true, this::runSyncer, this::write, this::write, this::close);
      threads.check();
      assertEquals("no writer waits", 2, acknowledged.size() + failed);
    });
  }

  /** The WAL drops the only write and then rolls. */
  private void drop() {
    Exception cause = new IOException("Disk on fire");
    if (fault == Fault.DROP_IS_REPORTED_EARLY) {
      GuardedAsyncWalBound.dropped(bound, 1, cause);
    }
    threads.point();
    dropped.add(1);
    if (fault != Fault.DROP_IS_REPORTED_EARLY && fault != Fault.DROP_IS_NOT_REPORTED) {
      GuardedAsyncWalBound.dropped(bound, 1, cause);
    }
    dropped.endRange();
    threads.point();
    if (GuardedAsyncWalBound.mayAppendAgain(bound)) {
      syncUpTo(2);
    }
  }

  private int tryDrop(int room) throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, String.valueOf(room));
    syncsHang = true;
    return tryAll(() -> {
      threads.run(true, this::runSyncer, () -> write(1), this::drop);
      threads.check();
      assertEquals("no writer waits", 1, acknowledged.size() + failed);
      assertTrue(DROPPED,
        acknowledged.isEmpty() || !GuardedAsyncWalBound.mayAppendAgain(bound));
    });
  }

  private void assertFound(Fault seeded, Scenario scenario, String message) {
    fault = seeded;
    syncsHang = false;
    conf.clear();
    threads = new Interleavings(PREEMPTIONS);
    try {
      AssertionError found = assertThrows(AssertionError.class, scenario::tryAll);
      assertTrue(found.getMessage(), found.getMessage().startsWith(message));
    } finally {
      threads.close();
    }
  }

  private static void assertTried(int orders) {
    assertTrue(orders + " orders", orders > 100);
  }

  @Test
  public void testWritesAreSyncedWithinTheIntervalAndReportedUntilThen() throws Exception {
    assertTried(tryAge());
  }

  @Test
  public void testWritesDuringASyncAreSyncedByTheNext() throws Exception {
    assertTried(tryAgeOfWritesDuringASync());
  }

  @Test
  public void testBytesAreSyncedBeforeTheOldestWriteIsDue() throws Exception {
    assertTrue(tryBytes() > 10);
  }

  @Test
  public void testWritersFindRoomAndExceedNoLimit() throws Exception {
    assertTried(tryRoom());
  }

  @Test
  public void testSyncsOfOtherThreadsMakeRoom() throws Exception {
    assertTried(tryRoomBySyncsOfOthers());
  }

  @Test
  public void testNoWriterWaitsForAClosedWal() throws Exception {
    assertTried(tryClose());
  }

  @Test
  public void testDroppedWriteFailsOrEndsTheWal() throws Exception {
    assertTried(tryDrop(SIZE));
    assertTried(tryDrop(SIZE / 2));
  }

  @Test
  public void testEachStepIsNeeded() {
    assertFound(Fault.LOCK_EXCLUDES_NO_THREAD, this::tryAge, "unsynced after the interval");
    assertFound(Fault.LOCK_EXCLUDES_NO_THREAD, () -> tryDrop(SIZE), DROPPED);
    assertFound(Fault.THREAD_IS_NOT_WOKEN, this::tryAge, "unsynced after the interval");
    assertFound(Fault.THREAD_IS_NOT_WOKEN, this::tryBytes, "unsynced 3");
    assertFound(Fault.THREAD_IS_NOT_WOKEN, this::tryRoom, "all writers have found room");
    assertFound(Fault.WRITERS_ARE_NOT_WOKEN, this::tryRoom, "all writers have found room");
    assertFound(Fault.WRITERS_ARE_NOT_WOKEN, () -> tryDrop(SIZE / 2), "no writer waits");
    assertFound(Fault.SYNC_IS_NOT_REPORTED, this::tryRoomBySyncsOfOthers,
      "all writers have found room");
    assertFound(Fault.WRITE_IS_ACKNOWLEDGED_EARLY, this::tryAge, "bytes 0");
    assertFound(Fault.CLOSE_WAKES_NO_THREAD, this::tryAge, "threads end");
    assertFound(Fault.CLOSE_WAKES_NO_THREAD, this::tryClose, "no writer waits");
    assertFound(Fault.DROP_IS_NOT_REPORTED, () -> tryDrop(SIZE), DROPPED);
    assertFound(Fault.DROP_IS_REPORTED_EARLY, () -> tryDrop(SIZE), DROPPED);
  }
}
