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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestFrequencySketch {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFrequencySketch.class);

  private static final int BLOCKS = 10_000;

  private static long hash(int block) {
    return FrequencySketch.hash((long) block);
  }

  private static FrequencySketch ageless() {
    FrequencySketch sketch = new FrequencySketch(BLOCKS);
    sketch.setPeriod(Long.MAX_VALUE);
    return sketch;
  }

  /** Counts a block that is not otherwise used until the counters have been halved once more. */
  private static void age(FrequencySketch sketch) {
    int before = sketch.age();
    for (int block = 1_000_000; sketch.age() == before; block++) {
      sketch.increment(hash(block));
    }
  }

  @Test
  public void testEstimateIsNeverTooLowAndSeldomTooHigh() {
    FrequencySketch sketch = ageless();
    int[] counts = new int[BLOCKS];
    Random random = new Random(1);
    for (int i = 0; i < 4 * BLOCKS; i++) {
      int block = random.nextInt(BLOCKS);
      sketch.increment(hash(block));
      counts[block]++;
    }
    int tooHigh = 0;
    for (int block = 0; block < BLOCKS; block++) {
      int frequency = sketch.frequency(hash(block));
      assertTrue(frequency >= Math.min(counts[block], FrequencySketch.MAX_FREQUENCY));
      if (frequency > counts[block]) {
        tooHigh++;
      }
    }
    assertTrue(tooHigh + " of " + BLOCKS, tooHigh < BLOCKS / 20);
  }

  @Test
  public void testIncrementReturnsTheFrequencyUpToTheMaximum() {
    FrequencySketch sketch = ageless();
    for (int i = 1; i <= 40; i++) {
      int frequency = sketch.increment(hash(7));
      assertEquals(Math.min(i, FrequencySketch.MAX_FREQUENCY), frequency);
      assertEquals(frequency, sketch.frequency(hash(7)));
    }
  }

  @Test
  public void testFullCounterDoesNotSpillIntoItsNeighbours() {
    FrequencySketch sketch = new FrequencySketch(8);
    sketch.setPeriod(Long.MAX_VALUE);
    for (int i = 0; i < 1000; i++) {
      sketch.increment(hash(1));
    }
    int untouched = 0;
    for (int block = 2; block < 1000; block++) {
      int frequency = sketch.frequency(hash(block));
      assertTrue(frequency == 0 || frequency == FrequencySketch.MAX_FREQUENCY);
      untouched += frequency == 0 ? 1 : 0;
    }
    assertTrue("" + untouched, untouched > 990);
  }

  @Test
  public void testAllCountersAreHalvedAtEachAge() {
    FrequencySketch sketch = new FrequencySketch(BLOCKS);
    sketch.setPeriod(BLOCKS / 4);
    for (int block = 0; block < 100; block++) {
      for (int i = 0; i < 15; i++) {
        sketch.increment(hash(block));
      }
    }
    for (int expected : new int[] { 7, 3, 1, 0, 0 }) {
      age(sketch);
      int exact = 0;
      for (int block = 0; block < 100; block++) {
        int frequency = sketch.frequency(hash(block));
        assertTrue(frequency >= expected);
        exact += frequency == expected ? 1 : 0;
      }
      assertTrue(exact + " of 100 at " + expected, exact > 90);
    }
  }

  @Test
  public void testCountingGoesOnFromTheHalvedValue() {
    FrequencySketch sketch = new FrequencySketch(BLOCKS);
    sketch.setPeriod(BLOCKS);
    for (int i = 0; i < 9; i++) {
      sketch.increment(hash(3));
    }
    age(sketch);
    assertEquals(5, sketch.increment(hash(3)));
    assertEquals(5, sketch.frequency(hash(3)));
  }

  @Test
  public void testShorterPeriodAgesSooner() {
    FrequencySketch sketch = new FrequencySketch(BLOCKS);
    sketch.setPeriod(1000);
    for (int i = 0; i < 10_000; i++) {
      sketch.increment(hash(i));
    }
    assertEquals(10, sketch.age(), 1);
    sketch.setPeriod(100_000);
    for (int i = 0; i < 50_000; i++) {
      sketch.increment(hash(i));
    }
    assertEquals(10, sketch.age(), 1);
  }

  @Test
  public void testIncrementsOfFullCountersDoNotAge() {
    FrequencySketch sketch = new FrequencySketch(BLOCKS);
    sketch.setPeriod(1000);
    for (int i = 0; i < 100_000; i++) {
      sketch.increment(hash(i % 10));
    }
    assertEquals(0, sketch.age());
  }

  @Test
  public void testEachBlockOfEachFileHasItsOwnHash() {
    long hash = FrequencySketch.hash(new BlockCacheKey("a", 4096));
    assertEquals(hash, FrequencySketch.hash(new BlockCacheKey("a", 4096)));
    assertNotEquals(hash, FrequencySketch.hash(new BlockCacheKey("a", 4097)));
    assertNotEquals(hash, FrequencySketch.hash(new BlockCacheKey("b", 4096)));
    assertNotEquals(hash, FrequencySketch.hash(new BlockCacheKey("a", 4096L << 32)));
  }

  @Test
  public void testTakesEightBytesForABlock() {
    assertEquals(64, new FrequencySketch(1).sizeInBytes());
    assertEquals(80_000, new FrequencySketch(BLOCKS).sizeInBytes());
    assertEquals(80_064, new FrequencySketch(BLOCKS + 1).sizeInBytes());
  }

  @Test
  public void testSizeOutOfRangeIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> new FrequencySketch(0));
    assertThrows(IllegalArgumentException.class, () -> new FrequencySketch((1L << 30) + 1));
  }

  @Test
  public void testConcurrentIncrementsLoseLittleAndStayInRange() throws InterruptedException {
    FrequencySketch sketch = new FrequencySketch(BLOCKS);
    sketch.setPeriod(BLOCKS);
    List<Throwable> failures = new ArrayList<>();
    Thread[] threads = new Thread[8];
    for (int t = 0; t < threads.length; t++) {
      int seed = t;
      threads[t] = new Thread(() -> {
        try {
          Random random = new Random(seed);
          for (int i = 0; i < 100_000; i++) {
            int frequency = sketch.increment(hash(random.nextInt(BLOCKS)));
            assertTrue("" + frequency, frequency >= 1 && frequency <= 15);
          }
        } catch (Throwable failure) {
          synchronized (failures) {
            failures.add(failure);
          }
        }
      });
      threads[t].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(new ArrayList<>(), failures);
    // Each block was counted 80 times, 1 in the middle of a period; halving leaves 1 to 2 of it.
    assertTrue("" + sketch.age(), sketch.age() > 70 && sketch.age() <= 80);
    long sum = 0;
    for (int block = 0; block < BLOCKS; block++) {
      sum += sketch.frequency(hash(block));
    }
    assertEquals(1.2, (double) sum / BLOCKS, 0.8);
  }
}
