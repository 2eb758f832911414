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
package org.apache.hadoop.hbase.regionserver.read.cache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Rows in pages that are borrowed and given back at any time are whole, or not there. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestBorrowedMemory {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBorrowedMemory.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final long NOW = 1_700_000_000_000L;
  private static final int MAX_ROW = 4000;
  private static final int PAGE = 48 << 10;

  private static Get get(int row) {
    return new Get(Bytes.toBytes(row)).addFamily(FAMILY);
  }

  private static byte[] value(int row, int maxValue) {
    Random random = new Random(row);
    byte[] value = new byte[random.nextInt(maxValue)];
    random.nextBytes(value);
    return value;
  }

  private static void put(RowCache cache, CachedRegion region, int row, int maxValue) {
    List<Cell> cells = new ArrayList<>();
    cells.add(new KeyValue(Bytes.toBytes(row), FAMILY, FAMILY, NOW, value(row, maxValue)));
    // The first time it is only counted.
    for (int i = 0; i < 2; i++) {
      cache.put(region, get(row), 1, () -> 0, 0, Long.MAX_VALUE, NOW, true, cells);
    }
  }

  /** Returns whether a row is there, and fails if it is not whole. */
  private static boolean has(RowCache cache, CachedRegion region, int row, int maxValue) {
    List<Cell> cells = new ArrayList<>();
    if (!cache.get(region, get(row), NOW, true, cells)) {
      return false;
    }
    assertEquals(1, cells.size());
    assertTrue(Bytes.equals(value(row, maxValue), CellUtil.cloneValue(cells.get(0))));
    return true;
  }

  private static int count(RowCache cache, CachedRegion region, int rows, int maxValue) {
    int there = 0;
    for (int row = 0; row < rows; row++) {
      there += has(cache, region, row, maxValue) ? 1 : 0;
    }
    return there;
  }

  /** The numbers are one page, an odd number of pages, and more pages than there are stripes. */
  @Test
  public void testMoreMemoryHoldsMoreRows() {
    for (int units : new int[] { 1, 3, 7 }) {
      RowCache cache = new RowCache(400 << 10, MAX_ROW);
      CachedRegion region = cache.open(0);
      OverwritingTier tier = new OverwritingTier(PAGE, units);
      BorrowedMemory memory = new BorrowedMemory(tier, cache.stripes(), cache.metrics());
      int[] there = new int[3];
      for (int phase = 0; phase < 3; phase++) {
        if (phase == 1) {
          memory.borrow(units + 1);
          assertEquals(units, memory.count());
        } else {
          memory.giveBack(2 * units);
          assertEquals(0, tier.getLent());
        }
        // The rows fill the memory.
        for (int i = 0; i < 5; i++) {
          for (int row = 0; row < 5000; row++) {
            if (!has(cache, region, row, 1000)) {
              put(cache, region, row, 1000);
            }
          }
        }
        there[phase] = count(cache, region, 5000, 1000);
        assertEquals(there[phase], cache.rows());
      }
      double more = (double) there[1] / there[0];
      double expected = 1 + units * 3 * PAGE / (400.0 * 1024);
      assertEquals(expected, more, 0.1 * expected);
      assertEquals(there[0], there[2], there[0] * 0.1);
    }
  }

  @Test
  public void testPagesSmallerThanTheLargestRowAreGivenBack() {
    RowCache cache = new RowCache(1 << 20, MAX_ROW);
    OverwritingTier tier = new OverwritingTier(32 << 10, 7);
    BorrowedMemory memory = new BorrowedMemory(tier, cache.stripes(), cache.metrics());
    for (int i = 0; i < 2; i++) {
      memory.borrow(2);
      assertEquals(0, memory.count());
      assertEquals(0, tier.getLent());
    }
  }

  @Test
  public void testAllIsGivenBackToATierThatLendsNoMore() {
    RowCache cache = new RowCache(1 << 20, MAX_ROW);
    OverwritingTier tier = new OverwritingTier(PAGE, 7);
    assertTrue(cache.borrowFrom(tier, 0.5));
    assertFalse(cache.borrowFrom(tier, 0.5));
    BorrowedMemory memory = new BorrowedMemory(tier, cache.stripes(), cache.metrics());
    memory.borrow(2);
    tier.stop();
    memory.borrow(1);
    assertEquals(0, tier.getLent());
    assertTrue(cache.borrowFrom(new OverwritingTier(PAGE, 1), 0.5));
  }

  /**
   * The tier overwrites memory as soon as it is given back. Fails if pages are given back before
   * they are removed from their stripes, or removed without the lock.
   */
  @Test
  public void testNoRowIsReadFromMemoryThatWasGivenBack() throws Exception {
    int threads = 6;
    RowCache cache = new RowCache(400 << 10, MAX_ROW);
    CachedRegion region = cache.open(0);
    OverwritingTier tier = new OverwritingTier(PAGE, 7);
    BorrowedMemory memory = new BorrowedMemory(tier, cache.stripes(), cache.metrics());
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger hits = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> tasks = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      Random random = new Random(t);
      tasks.add(pool.submit(() -> {
        while (!done.get()) {
          int row = random.nextInt(random.nextBoolean() ? 100 : 3000);
          if (has(cache, region, row, 3000)) {
            hits.incrementAndGet();
          } else {
            put(cache, region, row, 3000);
          }
        }
      }));
    }
    Random random = new Random(-1);
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
    for (
      int moves = 0; (moves < 5000 || hits.get() <= 1000) && System.nanoTime() < end
        && tasks.stream().noneMatch(Future::isDone); moves++
    ) {
      if (random.nextBoolean()) {
        memory.borrow(random.nextInt(4));
      } else {
        memory.giveBack(random.nextInt(4));
      }
      Thread.sleep(1);
    }
    done.set(true);
    for (Future<?> task : tasks) {
      task.get(2, TimeUnit.MINUTES);
    }
    pool.shutdown();
    memory.giveBack(Integer.MAX_VALUE);
    assertEquals(0, tier.getLent());
    assertTrue(hits + " hits", hits.get() > 1000);
    assertEquals(count(cache, region, 3000, 3000), cache.rows());
  }
}
