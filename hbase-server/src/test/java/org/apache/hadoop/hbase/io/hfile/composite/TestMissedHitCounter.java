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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestMissedHitCounter {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMissedHitCounter.class);

  private final MissedHitCounter shortage = new MissedHitCounter(1000, 10);

  private void count(long block, int times) {
    for (int i = 0; i < times; i++) {
      shortage.count(FrequencySketch.hash(block));
    }
  }

  @Test
  public void testTellsHowOftenEachBlockWasAskedForTheHighestCountFirst() {
    assertEquals(1000, shortage.size());
    assertEquals(0, shortage.counts().length);
    count(1, 3);
    count(2, 1);
    count(3, 5);
    assertArrayEquals(new long[] { 5, 3, 1 }, shortage.counts());
  }

  @Test
  public void testHoldsThoseThatAreAskedForMostAmongManyOthers() {
    Random random = new Random(1);
    long[] asked = new long[10];
    for (int i = 0; i < 100_000; i++) {
      // A fifth of the requests go to ten blocks, the others to a hundred thousand.
      if (random.nextInt(5) == 0) {
        int block = random.nextInt(10);
        asked[block]++;
        count(block, 1);
      } else {
        count(10 + random.nextInt(100_000), 1);
      }
    }
    long[] counts = Arrays.copyOf(shortage.counts(), 10);
    Arrays.sort(asked);
    for (int i = 0; i < 10; i++) {
      long most = asked[9 - i];
      assertTrue(counts[i] + " of " + most, counts[i] <= most && counts[i] >= 0.95 * most);
    }
  }

  @Test
  public void testBlockThatMeetsAnotherTakesOneOffItsCount() {
    long hash = FrequencySketch.hash(1);
    // The same slot, as the low bits are equal.
    long other = hash ^ 1L << 50;
    count(1, 3);
    shortage.count(other);
    assertArrayEquals(new long[] { 2 }, shortage.counts());
    shortage.count(other);
    shortage.count(other);
    assertArrayEquals("the slot is the other's", new long[] { 1 }, shortage.counts());
    shortage.count(other);
    assertArrayEquals(new long[] { 2 }, shortage.counts());
  }

  @Test
  public void testCountEndsAtItsLargestValue() {
    long hash = FrequencySketch.hash(1);
    for (int i = 0; i < (1 << 20) + 5; i++) {
      shortage.count(hash);
    }
    assertArrayEquals(new long[] { (1 << 20) - 1 }, shortage.counts());
  }
}
