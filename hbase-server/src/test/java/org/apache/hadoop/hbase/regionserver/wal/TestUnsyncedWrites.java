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
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
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

  private final UnsyncedWrites writes = new UnsyncedWrites(INTERVAL, Long.MAX_VALUE);

  @Test
  public void noneIsOfNoAge() {
    assertTrue(writes.isEmpty());
    assertEquals(0, writes.bytes());
    assertEquals(0, writes.oldestAge(1_000));
    assertFalse(writes.synced(Long.MAX_VALUE));
  }

  @Test
  public void ageIsThatOfTheOldest() {
    writes.add(1, 10, 1_000);
    writes.add(2, 10, 2_000);
    assertEquals(1_500, writes.oldestAge(2_500));
    assertTrue(writes.synced(1));
    assertEquals(500, writes.oldestAge(2_500));
    assertEquals(10, writes.bytes());
    assertEquals(2, writes.highestTxid());
  }

  @Test
  public void neighboursAreGivenUpTogether() {
    writes.add(1, 10, 1_000);
    writes.add(2, 10, 1_100);
    assertFalse("The second is not synced", writes.synced(1));
    assertEquals(20, writes.bytes());
    assertTrue(writes.synced(2));
    assertTrue(writes.isEmpty());
  }

  @Test
  public void stragglerOfLowerNumberIsNotForgotten() {
    writes.add(5, 10, 1_000);
    writes.add(4, 10, 9_000);
    assertFalse(writes.synced(4));
    assertEquals(20, writes.bytes());
    assertTrue(writes.synced(5));
    assertTrue(writes.isEmpty());
    assertEquals(0, writes.bytes());
  }

  @Test
  public void memoryDoesNotGrowWithWhatWaits() {
    int count = 3 * UnsyncedWrites.MAX_GROUPS;
    for (int i = 1; i <= count; i++) {
      writes.add(i, 1, i * INTERVAL);
    }
    assertEquals(count, writes.bytes());
    assertEquals((count - 1) * INTERVAL, writes.oldestAge(count * INTERVAL));
    assertTrue(writes.synced(count - 1));
    assertEquals("All that came last are one group", count - UnsyncedWrites.MAX_GROUPS + 1,
      writes.bytes());
    assertTrue(writes.synced(count));
    assertEquals(0, writes.bytes());
  }

  @Test
  public void whatIsToldIsNeverLessThanTheTruth() {
    Random random = new Random(16689);
    TreeMap<Long, Long> truth = new TreeMap<>();
    long now = 0;
    long next = 1;
    for (int i = 0; i < 100_000; i++) {
      now += random.nextInt(100);
      if (random.nextInt(20) == 0) {
        long synced = Math.max(0, next - random.nextInt(100));
        writes.synced(synced);
        truth.headMap(synced, true).clear();
      } else {
        // Two that come in either order.
        long swap = random.nextInt(2);
        for (long txid : new long[] { next + swap, next + 1 - swap }) {
          writes.add(txid, 1, now);
          truth.put(txid, now);
        }
        next += 2;
      }
      long oldest = now;
      for (long time : truth.values()) {
        oldest = Math.min(oldest, time);
        break;
      }
      assertTrue(writes.bytes() >= truth.size());
      assertTrue(writes.oldestAge(now) >= now - oldest);
      assertTrue("More by one group at most",
        writes.oldestAge(now) <= now - oldest + INTERVAL / 16 + 100);
    }
  }

  /** Writers add without a lock while synced ones are forgotten all the time. */
  @Test
  public void noWriteIsForgottenWhileOthersAdd() throws Exception {
    UnsyncedWrites shared = new UnsyncedWrites(TimeUnit.MILLISECONDS.toNanos(1), 16_000);
    Object lock = new Object();
    int writers = 4;
    int each = 50_000;
    AtomicLong next = new AtomicLong();
    ConcurrentSkipListSet<Long> added = new ConcurrentSkipListSet<>();
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    List<Future<?>> running = new ArrayList<>();
    for (int writer = 0; writer < writers; writer++) {
      running.add(threads.submit(() -> {
        for (int i = 0; i < each; i++) {
          long txid = next.incrementAndGet();
          if (shared.tryAdd(txid, 1, System.nanoTime()) < 0) {
            synchronized (lock) {
              shared.add(txid, 1, System.nanoTime());
            }
          }
          added.add(txid);
        }
      }));
    }
    try {
      Random random = new Random(16689);
      long synced = 0;
      while (!running.stream().allMatch(Future::isDone)) {
        synced = Math.max(synced, next.get() - random.nextInt(200));
        synchronized (lock) {
          shared.synced(synced);
          added.headSet(synced, true).clear();
          // Those of lower numbers may come at any time, synced as they are.
          int truth = added.tailSet(synced, false).size();
          long told = shared.bytes();
          assertTrue(told + " of " + truth, told >= truth);
        }
      }
      for (Future<?> writer : running) {
        writer.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertEquals((long) writers * each, next.get());
    shared.synced(next.get());
    assertEquals(0, shared.bytes());
    assertTrue(shared.isEmpty());
  }
}
