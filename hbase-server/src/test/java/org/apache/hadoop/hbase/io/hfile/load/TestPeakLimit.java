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
package org.apache.hadoop.hbase.io.hfile.load;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestPeakLimit {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPeakLimit.class);

  private static final int BLOCKS = 1000;
  private static final int SIZE = 8;
  private static final int MAX = HotBlockCache.MAX_ACCESSES;

  /** Writes blocks and caches those that are admitted. Returns how many, by their accesses. */
  private static int[] write(PeakLimit limit, int[] accesses) {
    int[] cached = new int[MAX + 1];
    for (int block : accesses) {
      limit.onWritten(SIZE / 2, SIZE);
      if (block > 0 && limit.admits(block, SIZE)) {
        limit.onCached(block, SIZE);
        cached[block]++;
      }
    }
    return cached;
  }

  private static PeakLimit limit(double ratio) {
    return new PeakLimit(BLOCKS * SIZE, ratio, BLOCKS * (SIZE / 2));
  }

  private static PeakLimit limit(double ratio, int[] expected) {
    PeakLimit limit = limit(ratio);
    Arrays.stream(expected).forEach(limit::expect);
    return limit;
  }

  private static int[] random(int blocks, int... choices) {
    return new Random(1).ints(blocks, 0, choices.length).map(i -> choices[i]).toArray();
  }

  private static int[] all(int blocks, int accesses) {
    return random(blocks, accesses);
  }

  @Test
  public void testBlocksThatAreEquallyHotAreSpreadEvenly() {
    PeakLimit limit = limit(1.2, all(BLOCKS, 3));
    assertEquals(99, write(limit, all(BLOCKS / 2, 3))[3], 1);
    assertEquals(99, write(limit, all(BLOCKS / 2, 3))[3], 1);
    assertFalse(limit.fits(2 * SIZE));
  }

  @Test
  public void testHottestComeFirst() {
    int[] accesses = random(BLOCKS, 1, 1, 1, 1, 1, 1, 1, 1, 1, 15);
    long hottest = Arrays.stream(accesses).filter(a -> a == 15).count();
    int[] cached = write(limit(1.2, accesses), accesses);
    assertEquals(hottest, cached[15]);
    assertEquals(200 - hottest, cached[1], 2);
    Arrays.sort(accesses);
    cached = write(limit(1.2, accesses), accesses);
    assertEquals("at the end", hottest, cached[15]);
    assertEquals(200 - hottest, cached[1], 15);
  }

  @Test
  public void testAllThatIsHotFits() {
    int[] accesses = random(BLOCKS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2);
    long hot = Arrays.stream(accesses).filter(a -> a > 0).count();
    assertEquals(hot, write(limit(1.2, accesses), accesses)[2]);
    Arrays.sort(accesses);
    int[] hotFirst = IntStream.range(0, BLOCKS).map(i -> accesses[BLOCKS - 1 - i]).toArray();
    assertEquals(hot, write(limit(1.2, accesses), hotFirst)[2]);
  }

  @Test
  public void testNothingIsExpected() {
    assertEquals(200, write(limit(1.2), all(BLOCKS, 1))[1], 1);
  }

  /** The output may be longer than expected, or hotter, and a block may exceed the limit. */
  @Test
  public void testMaximum() {
    for (int[] expected : new int[][] { {}, all(BLOCKS, 0), random(BLOCKS, 1, 2, 3, MAX) }) {
      PeakLimit limit = limit(1.2, expected);
      int cached = Arrays.stream(write(limit, random(5 * BLOCKS, 1, 2, 3, MAX))).sum();
      assertTrue(cached + " blocks", cached > 180 && cached <= 200);
      assertFalse(limit.admits(MAX, BLOCKS * SIZE));
    }
  }

  @Test
  public void testNothingIsCached() {
    for (PeakLimit limit : new PeakLimit[] { limit(1), new PeakLimit(0, 2, 0) }) {
      assertFalse(limit.fits(1));
      limit.onWritten(SIZE, SIZE);
      assertFalse(limit.admits(MAX, SIZE));
    }
  }

  @Test
  public void testSpaceOfTheInputsIsLeft() {
    PeakLimit limit = limit(1.2);
    write(limit, all(BLOCKS, 1));
    limit.onInputsEvicted(new long[MAX + 1]);
    assertTrue(limit.fits(BLOCKS * SIZE));
    assertFalse(limit.fits(BLOCKS * SIZE * 6 / 5));
  }

  /** Half of the blocks fit, the hottest are last. They take twice their bytes in the file. */
  @Test
  public void testColdestDeferredBlocksAreLeftOut() {
    PeakLimit limit = limit(1);
    limit.onWritten(SIZE, 2 * SIZE);
    long[] deferred = new long[MAX + 1];
    deferred[1] = BLOCKS * SIZE / 2;
    deferred[2] = BLOCKS * SIZE / 4;
    deferred[3] = BLOCKS * SIZE / 4;
    limit.onInputsEvicted(deferred);
    assertTrue("without a read of it", limit.isTooCold(1));
    assertFalse(limit.isTooCold(2));
    int[] cached = new int[4];
    for (int accesses = 1; accesses <= 3; accesses++) {
      for (int i = 0; i < BLOCKS / (accesses == 1 ? 2 : 4); i++) {
        if (limit.admits(accesses, 2 * SIZE)) {
          limit.onCached(accesses, 2 * SIZE);
          cached[accesses]++;
        }
      }
    }
    assertEquals(0, cached[1]);
    assertEquals(BLOCKS / 4, cached[2]);
    assertEquals(BLOCKS / 4, cached[3]);
  }

  @Test
  public void testHotterDeferredBlocksHaveTheirSpace() {
    PeakLimit limit = limit(1);
    limit.onWritten(SIZE, SIZE);
    long[] deferred = new long[MAX + 1];
    deferred[1] = BLOCKS * SIZE;
    deferred[2] = BLOCKS * SIZE / 4;
    limit.onInputsEvicted(deferred);
    assertFalse("some of them fit", limit.isTooCold(1));
    int cached = 0;
    for (int i = 0; i < BLOCKS; i++) {
      if (limit.admits(1, SIZE)) {
        limit.onCached(1, SIZE);
        cached++;
      }
    }
    assertEquals(BLOCKS - BLOCKS / 4, cached);
    for (int i = 0; i < BLOCKS / 4; i++) {
      assertTrue(limit.admits(2, SIZE));
      limit.onCached(2, SIZE);
    }
    assertFalse(limit.admits(3, SIZE));
  }

  @Test
  public void testDeferredBlocksKeepTheirOrder() {
    DeferredBlocks blocks = new DeferredBlocks();
    for (int i = 0; i < 100; i++) {
      blocks.add(i, SIZE + i, i % (MAX + 1), i % 2 == 0);
    }
    assertEquals(100, blocks.count());
    for (int i = 0; i < 100; i++) {
      assertEquals(i, blocks.offset(i));
      assertEquals(SIZE + i, blocks.onDiskSize(i));
      assertEquals(i % (MAX + 1), blocks.accesses(i));
      assertEquals(i % 2 == 0, blocks.isInL1(i));
    }
  }
}
