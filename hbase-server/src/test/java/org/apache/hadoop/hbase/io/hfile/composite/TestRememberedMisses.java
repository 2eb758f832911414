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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongPredicate;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Which misses {@link ReadMissAdmission} remembers. */
@Category({ IOTests.class, SmallTests.class })
public class TestRememberedMisses {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRememberedMisses.class);

  private static final int BLOCKS = 100_000;
  /** Few enough that hardly any of them are forgotten for others of them. */
  private static final int FEW = BLOCKS / 100;

  private static long hash(long block) {
    return FrequencySketch.hash(block);
  }

  /** Returns what adds a block and says whether it was there, with space for so many. */
  private static LongPredicate misses(long blocks) {
    AtomicLongArray sets = new AtomicLongArray(ReadMissAdmission.setsFor(blocks));
    return hash -> ReadMissAdmission.wasMissed(sets, hash);
  }

  private static LongPredicate misses() {
    return misses(BLOCKS);
  }

  /** Adds blocks and returns how many of them were remembered before. */
  private static int add(LongPredicate misses, long from, int count) {
    int remembered = 0;
    for (long block = from; block < from + count; block++) {
      remembered += misses.test(hash(block)) ? 1 : 0;
    }
    return remembered;
  }

  private static void assertFirstMissIsNew(LongPredicate misses) {
    int remembered = add(misses, 0, 2 * BLOCKS);
    assertTrue(remembered + " of " + 2 * BLOCKS, remembered < BLOCKS / 100);
  }

  private static void assertSecondMissIsRemembered(LongPredicate misses) {
    add(misses, 0, FEW);
    int remembered = add(misses, 0, FEW);
    assertTrue(remembered + " of " + FEW, remembered > 0.99 * FEW);
  }

  /**
   * Asserts what the Javadoc of the class says: misses are forgotten after half of its size, its
   * size, and twice that.
   */
  private static void assertForgetsByAge(LongPredicate[] misses) {
    int[] others = { BLOCKS / 2, BLOCKS, 2 * BLOCKS };
    double[] expected = { 0.86, 0.43, 0.04 };
    for (int i = 0; i < others.length; i++) {
      add(misses[i], 0, FEW);
      add(misses[i], FEW, others[i]);
      double remembered = (double) add(misses[i], 0, FEW) / FEW;
      assertEquals("after " + others[i], expected[i], remembered, 0.07);
    }
  }

  @Test
  public void testFirstMissIsNew() {
    assertFirstMissIsNew(misses());
  }

  @Test
  public void testSecondMissIsRemembered() {
    assertSecondMissIsRemembered(misses());
  }

  @Test
  public void testForgetsAfterAboutAsManyOtherBlocksAsItIsSizedFor() {
    assertForgetsByAge(new LongPredicate[] { misses(), misses(), misses() });
  }

  @Test
  public void testRepeatedMissesMakeNoOtherBlockOlder() {
    LongPredicate misses = misses();
    add(misses, 0, FEW);
    for (int i = 0; i < 100; i++) {
      add(misses, FEW, FEW);
    }
    int remembered = add(misses, 0, FEW);
    assertTrue(remembered + " of " + FEW, remembered > 0.99 * FEW);
  }

  @Test
  public void testTablesThatAreWrongAreFound() {
    Set<Long> all = new HashSet<>();
    long[] last = { 0 };
    Set<Long> coarse = new HashSet<>();
    // Remembers all, none, only the last one, for good, and parts of a file as one.
    assertThrows(AssertionError.class, () -> assertFirstMissIsNew(hash -> true));
    assertThrows(AssertionError.class, () -> assertSecondMissIsRemembered(hash -> false));
    assertThrows(AssertionError.class, () -> assertSecondMissIsRemembered(hash -> {
      boolean same = last[0] == hash;
      last[0] = hash;
      return same;
    }));
    LongPredicate forGood = hash -> !all.add(hash);
    assertThrows(AssertionError.class,
      () -> assertForgetsByAge(new LongPredicate[] { forGood, forGood, forGood }));
    assertThrows(AssertionError.class,
      () -> assertFirstMissIsNew(hash -> !coarse.add(hash & 0xFFFF)));
  }

  @Test
  public void testAwkwardSizes() {
    for (int blocks : new int[] { 1, 2, 3, 4, 5, 7, 63, 64, 65, 1001 }) {
      assertEquals((blocks + 3) / 4, ReadMissAdmission.setsFor(blocks));
      LongPredicate misses = misses(blocks);
      assertFalse("" + blocks, misses.test(hash(1)));
      assertTrue("" + blocks, misses.test(hash(1)));
      add(misses, 2, ReadMissAdmission.setsFor(blocks) == 1 ? 4 : 100 * blocks);
      assertFalse("" + blocks, misses.test(hash(1)));
    }
    assertEquals(1 << 30, ReadMissAdmission.setsFor(Long.MAX_VALUE));
  }

  @Test
  public void testOldestOfFiveInASetIsForgotten() {
    LongPredicate misses = misses(4);
    assertEquals(0, add(misses, 0, 4));
    assertEquals(4, add(misses, 0, 4));
    assertFalse(misses.test(hash(4)));
    assertEquals(4, add(misses, 1, 4));
    assertFalse(misses.test(hash(0)));
  }

  @Test
  public void testEveryFingerprintIsRememberedZeroIncluded() {
    for (long fingerprint = 0; fingerprint <= 0xFFFF; fingerprint++) {
      LongPredicate misses = misses(1);
      assertFalse(misses.test(fingerprint));
      assertTrue(misses.test(fingerprint));
    }
  }

  @Test
  public void testOneOfSeveralThreadsIsToldThatABlockIsNew() throws Exception {
    int threads = 2;
    int rounds = 50;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < rounds; round++) {
        // Each block has space for twenty, so that none is forgotten meanwhile.
        LongPredicate misses = misses(20 * FEW);
        CyclicBarrier start = new CyclicBarrier(threads);
        Callable<Integer> adds = () -> {
          start.await(1, TimeUnit.MINUTES);
          return FEW - add(misses, 0, FEW);
        };
        List<Future<Integer>> news = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          news.add(pool.submit(adds));
        }
        int sum = 0;
        for (Future<Integer> added : news) {
          sum += added.get(1, TimeUnit.MINUTES);
        }
        assertEquals(FEW, sum, 1);
        int remembered = add(misses, 0, FEW);
        assertTrue(remembered + " of " + FEW, remembered >= FEW - 1);
      }
    } finally {
      pool.shutdownNow();
    }
  }
}
