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
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestUnsyncedWrites {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestUnsyncedWrites.class);

  private static final long INTERVAL = 1600;

  private final UnsyncedWrites writes = new UnsyncedWrites(INTERVAL, Long.MAX_VALUE, 0);

  /** As a writer does without contention. */
  private long add(long txid, long size, long now) {
    if (writes.isMarkDue(now)) {
      writes.mark(now);
    }
    return writes.add(txid, size);
  }

  @Test
  public void testNoneIsOfNoAge() {
    assertTrue(writes.isEmpty());
    assertEquals(0, writes.bytes());
    assertEquals(0, writes.oldestAge(1_000));
    assertFalse(writes.synced(Long.MAX_VALUE, 1_000));
  }

  @Test
  public void testAgeIsThatOfTheOldest() {
    assertEquals("Bytes do not matter", 0, add(1, 10, 1_000));
    add(2, 10, 2_000);
    assertEquals(1_500, writes.oldestAge(2_500));
    assertTrue(writes.synced(1, 2_500));
    assertEquals(500, writes.oldestAge(2_500));
    assertEquals(10, writes.bytes());
    assertEquals(2, writes.highestTxid());
  }

  @Test
  public void testAgeBeginsAnewAfterAllWasSynced() {
    add(1, 10, 1_000);
    assertTrue(writes.synced(1, 1_010));
    assertTrue(writes.isEmpty());
    add(2, 10, 9_000);
    assertEquals(7, writes.oldestAge(9_007));
    assertEquals(10, writes.bytes());
  }

  @Test
  public void testAgeBeginsAnewWithoutAnInterval() {
    UnsyncedWrites bytesOnly = new UnsyncedWrites(Long.MAX_VALUE, 1_000_000, 0);
    for (long now = 1_000; now <= 9_000; now += 1_000) {
      assertTrue(bytesOnly.isLookDue(10) && bytesOnly.isMarkDue(now));
      bytesOnly.mark(now);
      bytesOnly.add(now, 10);
      assertEquals(7, bytesOnly.oldestAge(now + 7));
      assertTrue(bytesOnly.synced(now, now + 7));
    }
  }

  @Test
  public void testNeighboursAreGivenUpTogether() {
    add(1, 10, 1_000);
    add(2, 10, 1_050);
    assertFalse("The second is not synced", writes.synced(1, 1_060));
    assertEquals(20, writes.bytes());
    assertTrue(writes.synced(2, 1_070));
    assertTrue(writes.isEmpty());
  }

  @Test
  public void testBytesMakeMarksToo() {
    UnsyncedWrites few = new UnsyncedWrites(Long.MAX_VALUE, 160, 0);
    few.mark(0);
    assertEquals(9, few.add(1, 9));
    assertFalse(few.isMarkDue(1));
    few.add(2, 1);
    assertTrue(few.isMarkDue(1));
    few.mark(1);
    assertFalse(few.isMarkDue(1));
    few.add(3, 5);
    assertTrue(few.synced(2, 1));
    assertEquals(5, few.bytes());
  }

  @Test
  public void testStragglerOfLowerNumberIsNotForgotten() {
    add(5, 10, 1_000);
    add(4, 10, 9_000);
    assertFalse(writes.synced(4, 9_000));
    assertEquals(20, writes.bytes());
    assertTrue(writes.synced(5, 9_000));
    assertTrue(writes.isEmpty());
    assertEquals(0, writes.bytes());
  }

  @Test
  public void testMemoryDoesNotGrowWithWhatWaits() {
    // The first finds nothing to mark.
    int count = 3 * UnsyncedWrites.MAX_MARKS + 1;
    for (int i = 1; i <= count; i++) {
      add(i, 1, i * INTERVAL);
    }
    assertEquals(count, writes.bytes());
    assertEquals((count - 1) * INTERVAL, writes.oldestAge(count * INTERVAL));
    assertTrue(writes.synced(count - 1, count * INTERVAL));
    assertEquals("All that came after the last mark", count - UnsyncedWrites.MAX_MARKS,
      writes.bytes());
    assertTrue(writes.synced(count, count * INTERVAL));
    assertEquals(0, writes.bytes());
  }

  @Test
  public void testWhoAddsToWhatIsSyncedLooksAtTheTime() {
    assertTrue("The first", writes.isLookDue(10));
    writes.mark(1_000);
    assertFalse(writes.isLookDue(10));
    writes.add(1, 10);
    assertFalse(writes.isLookDue(10));
    assertTrue(writes.synced(1, 1_010));
    assertTrue("None was before it", writes.isLookDue(10));
  }

  @Test
  public void testWritersLookAtTheTimeOnceInAKilobyte() {
    writes.mark(1_000);
    int looks = 0;
    for (int i = 1; i <= 1024; i++) {
      looks += writes.isLookDue(100) ? 1 : 0;
      writes.add(i, 100);
    }
    assertEquals(100, looks);
    assertTrue("A large one by itself", writes.isLookDue(1024));
  }

  @Test
  public void testBytesMakeWritersLookAtTheTimeToo() {
    UnsyncedWrites few = new UnsyncedWrites(Long.MAX_VALUE, 160, 0);
    few.mark(0);
    few.add(1, 9);
    assertFalse(few.isLookDue(1));
    few.add(2, 1);
    assertTrue(few.isLookDue(1));
  }

  @Test
  public void testWhatIsToldIsNeverLessThanTheTruth() {
    toldIsNeverLessThanTheTruth(1, true, INTERVAL / 16 + 100);
  }

  @Test
  public void testWhatIsToldIsNeverLessThanTheTruthIfWritersLookAtTheTimeNowAndThen() {
    // Four writes make a kilobyte, two of them come at a time.
    toldIsNeverLessThanTheTruth(256, false, INTERVAL / 16 + 3 * 100);
  }

  private void toldIsNeverLessThanTheTruth(int size, boolean looksAlways, long inexact) {
    Random random = new Random(16689);
    TreeMap<Long, Long> truth = new TreeMap<>();
    long now = 0;
    long next = 1;
    for (int i = 0; i < 100_000; i++) {
      now += random.nextInt(100);
      if (random.nextInt(20) == 0) {
        long synced = Math.max(0, next - random.nextInt(100));
        writes.synced(synced, now);
        truth.headMap(synced, true).clear();
      } else {
        // Two that come in either order.
        long swap = random.nextInt(2);
        for (long txid : new long[] { next + swap, next + 1 - swap }) {
          if (looksAlways || writes.isLookDue(size)) {
            add(txid, size, now);
          } else {
            writes.add(txid, size);
          }
          truth.put(txid, now);
        }
        next += 2;
      }
      long oldest = now;
      for (long time : truth.values()) {
        oldest = Math.min(oldest, time);
        break;
      }
      assertTrue(writes.bytes() >= truth.size() * size);
      assertTrue(writes.oldestAge(now) >= now - oldest);
      assertTrue("More by what comes between two marks at most",
        writes.oldestAge(now) <= now - oldest + inexact);
    }
  }

  @Test
  public void testNoWriteIsForgottenWhileOthersAdd() throws Exception {
    addWhileOthersAreForgotten(16_000);
  }

  @Test
  public void testNoWriteIsForgottenWhileOthersAddAndBytesDoNotMatter() throws Exception {
    addWhileOthersAreForgotten(Long.MAX_VALUE);
  }

  /** Writers add without a lock while marks are made and synced ones are forgotten all the time. */
  private static void addWhileOthersAreForgotten(long syncBytes) throws Exception {
    UnsyncedWrites shared =
      new UnsyncedWrites(TimeUnit.MILLISECONDS.toNanos(1), syncBytes, System.nanoTime());
    ReentrantLock lock = new ReentrantLock();
    int writers = 4;
    int each = 50_000;
    AtomicLong next = new AtomicLong();
    ConcurrentSkipListMap<Long, Long> added = new ConcurrentSkipListMap<>();
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    List<Future<?>> running = new ArrayList<>();
    for (int writer = 0; writer < writers; writer++) {
      running.add(threads.submit(() -> {
        for (int i = 0; i < each; i++) {
          long txid = next.incrementAndGet();
          long now = System.nanoTime();
          if (shared.isLookDue(1) && shared.isMarkDue(now) && lock.tryLock()) {
            shared.mark(now);
            lock.unlock();
          }
          shared.add(txid, 1);
          added.put(txid, System.nanoTime());
        }
      }));
    }
    try {
      Random random = new Random(16689);
      long synced = 0;
      while (!running.stream().allMatch(Future::isDone)) {
        synced = Math.max(synced, next.get() - random.nextInt(200));
        lock.lock();
        try {
          shared.synced(synced, System.nanoTime());
          added.headMap(synced, true).clear();
          long now = System.nanoTime();
          // Those of lower numbers may come at any time, synced as they are.
          Collection<Long> truth = new ArrayList<>(added.tailMap(synced, false).values());
          long told = shared.bytes();
          assertTrue(told + " of " + truth.size(), told >= truth.size());
          for (long acknowledged : truth) {
            long age = shared.oldestAge(now);
            assertTrue(age + " ns of " + (now - acknowledged), age >= now - acknowledged);
          }
        } finally {
          lock.unlock();
        }
      }
      for (Future<?> writer : running) {
        writer.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals((long) writers * each, next.get());
    shared.synced(next.get(), System.nanoTime());
    assertEquals(0, shared.bytes());
    assertTrue(shared.isEmpty());
  }
}
