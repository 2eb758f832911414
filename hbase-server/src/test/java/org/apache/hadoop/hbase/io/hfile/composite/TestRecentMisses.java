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
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestRecentMisses {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRecentMisses.class);

  private static final int BLOCKS = 100_000;
  /** Few enough that hardly any of them are forgotten for others of them. */
  private static final int FEW = BLOCKS / 100;

  private static long hash(long block) {
    return FrequencySketch.hash(block);
  }

  private static RecentMisses recentMisses() {
    return new RecentMisses(BLOCKS);
  }

  /** Adds blocks and returns how many of them were remembered before. */
  private static int add(RecentMisses misses, long from, int count) {
    int remembered = 0;
    for (long block = from; block < from + count; block++) {
      remembered += misses.add(hash(block)) ? 1 : 0;
    }
    return remembered;
  }

  @Test
  public void testFirstMissIsNew() {
    int remembered = add(recentMisses(), 0, 2 * BLOCKS);
    assertTrue(remembered + " of " + 2 * BLOCKS, remembered < BLOCKS / 100);
  }

  /** Misses are forgotten after half of its size, its size, and twice that, as its Javadoc says. */
  @Test
  public void testForgetsAfterAboutAsManyOtherBlocksAsItIsSizedFor() {
    int[] others = { BLOCKS / 2, BLOCKS, 2 * BLOCKS };
    double[] expected = { 0.86, 0.43, 0.04 };
    for (int i = 0; i < others.length; i++) {
      RecentMisses misses = recentMisses();
      add(misses, 0, FEW);
      add(misses, FEW, others[i]);
      double remembered = (double) add(misses, 0, FEW) / FEW;
      assertEquals("after " + others[i], expected[i], remembered, 0.07);
    }
  }

  @Test
  public void testRepeatedMissesMakeNoOtherBlockOlder() {
    RecentMisses misses = recentMisses();
    add(misses, 0, FEW);
    for (int i = 0; i < 100; i++) {
      add(misses, FEW, FEW);
    }
    int remembered = add(misses, 0, FEW);
    assertTrue(remembered + " of " + FEW, remembered > 0.99 * FEW);
  }

  @Test
  public void testAwkwardSizes() {
    for (int blocks : new int[] { 1, 2, 3, 4, 5, 7, 63, 64, 65, 1001 }) {
      RecentMisses misses = new RecentMisses(blocks);
      assertEquals((blocks + 3) / 4 * Long.BYTES, misses.sizeInBytes());
      assertFalse("" + blocks, misses.add(hash(1)));
      assertTrue("" + blocks, misses.add(hash(1)));
      // One more than fits, and far more.
      add(misses, 2, misses.sizeInBytes() == Long.BYTES ? 4 : 100 * blocks);
      assertFalse("" + blocks, misses.add(hash(1)));
    }
  }

  @Test
  public void testOldestOfFiveInASetIsForgotten() {
    RecentMisses misses = new RecentMisses(4);
    assertEquals(0, add(misses, 0, 4));
    assertEquals(4, add(misses, 0, 4));
    assertFalse(misses.add(hash(4)));
    assertEquals(4, add(misses, 1, 4));
    assertFalse(misses.add(hash(0)));
  }

  @Test
  public void testEveryFingerprintIsRememberedZeroIncluded() {
    for (long fingerprint = 0; fingerprint <= 0xFFFF; fingerprint++) {
      RecentMisses misses = new RecentMisses(1);
      assertFalse(misses.add(fingerprint));
      assertTrue(misses.add(fingerprint));
    }
  }

  @Test
  public void testSizesOutOfRangeAreRefused() {
    for (long blocks : new long[] { 0, -1, RecentMisses.MAX_BLOCKS + 1, Long.MAX_VALUE }) {
      String message =
        assertThrows(IllegalArgumentException.class, () -> new RecentMisses(blocks)).getMessage();
      assertTrue(message, message.contains(Long.toString(blocks)));
    }
  }

  @Test
  public void testOneOfSeveralThreadsIsToldThatABlockIsNew() throws Exception {
    int threads = 2;
    int rounds = 50;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < rounds; round++) {
        // Twenty places for each block, so that none is forgotten meanwhile.
        RecentMisses misses = new RecentMisses(20 * FEW);
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
