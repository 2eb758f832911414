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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestAsyncWalBound {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestAsyncWalBound.class);

  private static final long HOUR = TimeUnit.HOURS.toNanos(1);

  private final Configuration conf = new Configuration(false);
  private final AsyncWalMetrics metrics = AsyncWalMetrics.get();
  private final ExecutorService writers = Executors.newCachedThreadPool();
  private final AtomicLong synced = new AtomicLong();
  private final AtomicLong clock = new AtomicLong(1);
  private final Semaphore permits = new Semaphore(0);
  private final AtomicInteger running = new AtomicInteger();
  private final List<Long> syncs = new ArrayList<>();
  private volatile boolean failing;
  private volatile Error error;
  private AsyncWalBound bound;

  @After
  public void closeBound() {
    if (bound != null) {
      bound.close();
    }
    writers.shutdownNow();
  }

  private void open(long timeoutNanos) {
    bound = new AsyncWalBound(AsyncWalSettings.of(conf), "test", timeoutNanos, synced::get,
      this::sync, clock::get, new ReentrantLock());
  }

  /** Syncs as slowly as the test wants. */
  private void sync(long txid) throws IOException {
    assertEquals("One sync at a time", 1, running.incrementAndGet());
    try {
      synchronized (syncs) {
        syncs.add(txid);
      }
      permits.acquire();
      if (failing) {
        throw new IOException("HDFS is away");
      }
      if (error != null) {
        throw error;
      }
      synced.accumulateAndGet(txid, Math::max);
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    } finally {
      running.decrementAndGet();
    }
  }

  private List<Long> syncs() {
    synchronized (syncs) {
      return new ArrayList<>(syncs);
    }
  }

  private void await(Waiter.ExplainingPredicate<Exception> condition) {
    Waiter.waitFor(conf, 120_000, 5, condition);
  }

  private void await(String what, Callable<Boolean> condition) {
    await(new Waiter.ExplainingPredicate<Exception>() {
      @Override
      public String explainFailure() {
        return what + ": " + syncs();
      }

      @Override
      public boolean evaluate() throws Exception {
        return condition.call();
      }
    });
  }

  private void awaitAllSynced() {
    await("all synced", () -> bound.unsyncedBytes() == 0);
  }

  private Future<?> write(long txid, long bytes) {
    return writers.submit(() -> {
      bound.acknowledge(txid, bytes);
      return null;
    });
  }

  private static Throwable failure(Future<?> write) {
    return assertThrows(ExecutionException.class, () -> write.get(2, TimeUnit.MINUTES)).getCause();
  }

  @Test
  public void testOneSyncForEachTailAndNoneWhileIdle() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    permits.release(1_000);
    open(HOUR);
    long before = metrics.startedCount(AsyncWalBound.Cause.TIME);
    for (long txid = 1; txid <= 50; txid++) {
      bound.acknowledge(txid, 100);
      clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
      awaitAllSynced();
    }
    List<Long> expected = new ArrayList<>();
    for (long txid = 1; txid <= 50; txid++) {
      expected.add(txid);
    }
    assertEquals(expected, syncs());
    assertEquals(50, metrics.startedCount(AsyncWalBound.Cause.TIME) - before);
  }

  @Test
  public void testBytesMakeSyncDue() throws Exception {
    conf.set(AsyncWalSettings.BYTES_KEY, "1000");
    permits.release(1_000);
    open(HOUR);
    bound.acknowledge(1, 500);
    bound.acknowledge(2, 499);
    clock.addAndGet(HOUR);
    assertEquals("Time alone makes none due", 999, bound.unsyncedBytes());
    bound.acknowledge(3, 1);
    awaitAllSynced();
    assertEquals(1, syncs().size());
    assertEquals(3L, (long) syncs().get(0));
  }

  @Test
  public void testRunningSyncIsNotDoubledAndTheWindowIsToldMeanwhile() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    open(HOUR);
    bound.acknowledge(1, 10);
    clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
    await("sync runs", () -> running.get() == 1);
    for (long txid = 2; txid <= 100; txid++) {
      // None of them waits for the sync that is stuck.
      bound.acknowledge(txid, 10);
      clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
    }
    assertEquals(1, syncs().size());
    assertEquals(1000, bound.unsyncedBytes());
    assertEquals(TimeUnit.SECONDS.toNanos(100), bound.oldestNanos());
    assertTrue(metrics.oldestNanos() >= TimeUnit.SECONDS.toNanos(100));
    permits.release(1_000);
    awaitAllSynced();
    assertEquals("One more for all that came meanwhile", 2, syncs().size());
    assertEquals(100L, (long) syncs().get(1));
    assertEquals(0, bound.oldestNanos());
    assertTrue(metrics.maxWindowNanos() >= TimeUnit.SECONDS.toNanos(100));
  }

  @Test
  public void testWhatOthersSyncedIsNotSyncedAgain() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1000");
    open(HOUR);
    bound.acknowledge(1, 10);
    bound.acknowledge(2, 10);
    synced.set(2);
    bound.synced();
    assertEquals(0, bound.unsyncedBytes());
    clock.addAndGet(HOUR);
    // This write waited for its sync itself.
    bound.acknowledge(2, 10);
    assertEquals(0, bound.unsyncedBytes());
    bound.acknowledge(3, 10);
    clock.addAndGet(HOUR);
    permits.release(1_000);
    awaitAllSynced();
    assertEquals("[3]", syncs().toString());
  }

  /** Waits for three failures of the sync that one acknowledged write needs. */
  private void awaitThreeFailures() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    permits.release(1_000);
    open(HOUR);
    long failedBefore = metrics.failedCount();
    bound.acknowledge(1, 10);
    clock.addAndGet(HOUR);
    await("three failures", () -> metrics.failedCount() >= failedBefore + 3);
  }

  @Test
  public void testFailedSyncIsCountedAndTriedAgainWithoutBlockingWriters() throws Exception {
    failing = true;
    awaitThreeFailures();
    bound.acknowledge(2, 10);
    assertEquals(20, bound.unsyncedBytes());
    assertTrue(bound.oldestNanos() >= HOUR);
    failing = false;
    permits.release(1_000);
    awaitAllSynced();
  }

  @Test
  public void testSyncThatEndsWithAnErrorIsTriedAgainWithoutAnotherWrite() throws Exception {
    error = new OutOfMemoryError("Direct buffer memory");
    awaitThreeFailures();
    error = null;
    awaitAllSynced();
  }

  @Test
  public void testWritesAreSyncedByTheirWritersWhileNoThreadCanBeStarted() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    AtomicInteger failures = new AtomicInteger(2);
    bound = new AsyncWalBound(AsyncWalSettings.of(conf), "test", HOUR, synced::get, this::sync,
      clock::get, new ReentrantLock()) {
      @Override
      void start(Thread thread) {
        if (failures.getAndDecrement() > 0) {
          throw new OutOfMemoryError("unable to create native thread");
        }
        super.start(thread);
      }
    };
    permits.release(1_000);
    bound.acknowledge(1, 10);
    assertEquals("[1]", syncs().toString());
    assertEquals(0, bound.unsyncedBytes());
    failing = true;
    assertThrows(IOException.class, () -> bound.acknowledge(2, 10));
    failing = false;
    bound.acknowledge(3, 10);
    clock.addAndGet(HOUR);
    awaitAllSynced();
    assertEquals("[1, 2, 3]", syncs().toString());
  }

  @Test
  public void testWriterWaitsForRoomAndGoesOnWhenThereIsSome() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1000");
    open(HOUR);
    long pressure = metrics.startedCount(AsyncWalBound.Cause.PRESSURE);
    long blocked = metrics.blockedCount();
    bound.acknowledge(1, 1000);
    await("sync before anyone waits", () -> running.get() == 1);
    assertEquals(blocked, metrics.blockedCount());
    Future<?> second = write(2, 1);
    await("second waits", () -> bound.blockedWriters() == 1);
    assertFalse(second.isDone());
    assertEquals(blocked + 1, metrics.blockedCount());
    permits.release(1);
    second.get(2, TimeUnit.MINUTES);
    assertEquals(0, bound.blockedWriters());
    assertTrue(metrics.startedCount(AsyncWalBound.Cause.PRESSURE) > pressure);
  }

  @Test
  public void testWriteLargerThanTheRoomWaitsForItsOwnSyncOnly() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1000");
    open(HOUR);
    Future<?> large = write(1, 5_000);
    await("it waits", () -> bound.blockedWriters() == 1);
    permits.release(1);
    large.get(2, TimeUnit.MINUTES);
  }

  @Test
  public void testWriterWhoseWriteIsSyncedDoesNotWaitForOthers() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1000");
    open(HOUR);
    Future<?> first = write(1, 5_000);
    await("the first waits", () -> bound.blockedWriters() == 1);
    Future<?> second = write(2, 5_000);
    await("both wait", () -> bound.blockedWriters() == 2);
    synced.set(1);
    bound.synced();
    first.get(2, TimeUnit.MINUTES);
    assertFalse(second.isDone());
    permits.release(2);
    second.get(2, TimeUnit.MINUTES);
  }

  @Test
  public void testCloseLetsWritersFail() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1000");
    open(HOUR);
    Future<?> waiting = write(1, 1_001);
    await("it waits", () -> bound.blockedWriters() == 1);
    bound.close();
    assertEquals("test has been closed", failure(waiting).getMessage());
    assertThrows(IOException.class, () -> bound.acknowledge(2, 1));
    await("the sync is given up", () -> running.get() == 0);
  }

  @Test
  public void testWalThatWasClosedIsToldOfUntilAllIsSynced() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "3600000");
    open(HOUR);
    bound.acknowledge(1, 10);
    clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
    AsyncWalBound closed = bound;
    closed.close();
    assertTrue(metrics.open().contains(closed));
    assertTrue(metrics.unsyncedBytes() >= 10);
    assertTrue(metrics.oldestNanos() >= TimeUnit.SECONDS.toNanos(1));
    synced.set(1);
    assertEquals(0, closed.unsyncedBytes());
    open(HOUR);
    bound.acknowledge(2, 10);
    assertTrue(metrics.open().contains(bound));
    assertFalse(metrics.open().contains(closed));
  }

  @Test
  public void testWriterWaitsAsLongAsForSyncAtMost() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1000");
    open(1);
    assertThrows(WALSyncTimeoutIOException.class, () -> bound.acknowledge(1, 1_001));
    assertEquals(0, bound.blockedWriters());
  }

  @Test
  public void testInterruptEndsTheWait() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1000");
    open(HOUR);
    Future<?> waiting = write(1, 1_001);
    await("it waits", () -> bound.blockedWriters() == 1);
    writers.shutdownNow();
    assertEquals(InterruptedIOException.class, failure(waiting).getClass());
  }

  @Test
  public void testAllIsSyncedInTheEndAndReportedUntilThenWithManyWriters() throws Exception {
    // HBase has fewer than 31 handlers by default.
    for (int count : new int[] { 1, 8, 31 }) {
      bound = null;
      synced.set(0);
      allIsSyncedInTheEnd(count);
      bound.close();
    }
  }

  private void allIsSyncedInTheEnd(int count) throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    conf.set(AsyncWalSettings.BYTES_KEY, "2000");
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "4000");
    AtomicLong appended = new AtomicLong();
    AtomicLong atRisk = new AtomicLong();
    ConcurrentSkipListMap<Long, Boolean> acknowledged = new ConcurrentSkipListMap<>();
    bound = new AsyncWalBound(AsyncWalSettings.of(conf), "test", HOUR, synced::get, txid -> {
      assertTrue("Synced only what was appended", txid <= appended.get());
      assertEquals("One sync at a time", 1, running.incrementAndGet());
      synced.accumulateAndGet(txid, Math::max);
      running.decrementAndGet();
      bound.synced();
    }, System::nanoTime, new ReentrantLock());
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(writers.submit(() -> {
        for (int n = 0; n < 20_000 / count; n++) {
          long txid = appended.incrementAndGet();
          bound.acknowledge(txid, 100);
          acknowledged.put(txid, true);
          atRisk.accumulateAndGet(bound.unsyncedBytes(), Math::max);
        }
        return null;
      }));
    }
    while (!all.stream().allMatch(Future::isDone)) {
      List<Long> before = new ArrayList<>(acknowledged.keySet());
      long reported = bound.unsyncedBytes();
      long still = 100 * before.stream().filter(txid -> txid > synced.get()).count();
      assertTrue(reported + " of " + still, reported >= still);
      acknowledged.headMap(synced.get(), true).clear();
    }
    for (Future<?> one : all) {
      one.get();
    }
    awaitAllSynced();
    assertEquals(appended.get(), synced.get());
    // A writer continues when its own write is synced, which may be before it is counted as such.
    assertTrue("No more than the room, and two writes of each who waits, but " + atRisk,
      atRisk.get() <= 4_000 + count * 2 * 100);
  }

  /** Opens a bound whose thread never runs, in the time of {@link #clock}. */
  private void openWithoutThread() {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    bound = new AsyncWalBound(AsyncWalSettings.of(conf), "test", HOUR, synced::get, this::sync,
      clock::get, new ReentrantLock()) {
      @Override
      void start(Thread thread) {
      }
    };
  }

  private void acknowledge(long txid, long now) throws IOException {
    clock.set(now);
    bound.acknowledge(txid, 10);
  }

  private void report(long txid, long now) {
    clock.set(now);
    synced.set(txid);
    bound.synced();
  }

  @Test
  public void testAgeIsThatOfTheOldest() throws Exception {
    openWithoutThread();
    assertEquals(0, bound.oldestNanos());
    acknowledge(1, 1_000);
    report(0, 1_500);
    acknowledge(2, 2_000);
    clock.set(2_500);
    assertEquals(1_500, bound.oldestNanos());
    assertEquals(20, bound.unsyncedBytes());
    report(1, 2_600);
    assertEquals(600, bound.oldestNanos());
    assertEquals(10, bound.unsyncedBytes());
    assertEquals(1_600, bound.maxWindowNanos());
    report(2, 2_700);
    assertEquals(0, bound.oldestNanos());
    acknowledge(3, 9_000);
    clock.set(9_007);
    assertEquals("Age begins anew", 7, bound.oldestNanos());
  }

  @Test
  public void testReportedValuesAreNeverTooLowAndTooHighByThreeSyncsAtMost() throws Exception {
    openWithoutThread();
    Random random = new Random(16689);
    TreeMap<Long, Long> truth = new TreeMap<>();
    long next = 1;
    long now = 1;
    long known = 0;
    Deque<Long> reports = new ArrayDeque<>(Arrays.asList(now, now, now));
    for (int i = 0; i < 100_000; i++) {
      now += random.nextInt(100);
      if (random.nextInt(20) == 0) {
        // It covers at least what was acknowledged before the last one ended.
        report(known + random.nextInt((int) (next - known)), now);
        truth.headMap(synced.get(), true).clear();
        known = next - 1;
        reports.addLast(now);
        reports.removeFirst();
      } else {
        // The two arrive in either order.
        long swap = random.nextInt(2);
        acknowledge(next + swap, now);
        acknowledge(next + 1 - swap, now);
        truth.put(next, now);
        truth.put(next + 1, now);
        next += 2;
      }
      long oldest = now - truth.values().stream().mapToLong(time -> time).min().orElse(now);
      long age = bound.oldestNanos();
      assertTrue(bound.unsyncedBytes() >= 10L * truth.size());
      assertTrue(age >= oldest);
      assertTrue(age + " at " + i, age <= Math.max(oldest, now - reports.getFirst()));
    }
  }

  @Test
  public void testServerDoesNotStartWithWrongValue() {
    Configuration server = HBaseConfiguration.create();
    server.set(AsyncWalSettings.INTERVAL_KEY, "soon");
    assertTrue(
      assertThrows(IllegalArgumentException.class, () -> new HRegionServer(server).toString())
        .getMessage().startsWith(AsyncWalSettings.INTERVAL_KEY));
  }
}
