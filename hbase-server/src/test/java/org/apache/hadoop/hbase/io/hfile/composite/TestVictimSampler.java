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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestVictimSampler {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestVictimSampler.class);

  private static final int SIZE = 1000;

  private final FrequencySketch sketch = new FrequencySketch(10_000);
  private final VictimSampler.Victim[] victims = new VictimSampler.Victim[8];

  private static BlockCacheKey key(int block) {
    return new BlockCacheKey("f" + block % 7, block);
  }

  private static long hash(int block) {
    return FrequencySketch.hash(key(block));
  }

  private VictimSampler onePart() {
    return new VictimSampler(sketch, 1, 1);
  }

  private void add(VictimSampler blocks, int block, int frequency) {
    assertTrue(blocks.add(key(block), hash(block), SIZE));
    for (int i = 0; i < frequency; i++) {
      sketch.increment(hash(block));
    }
  }

  private int takeFor(VictimSampler blocks, int candidate, int frequency, long bytes) {
    return blocks.takeFor(key(candidate), hash(candidate), frequency, 0,
      VictimSampler.ANY_SIZE, bytes, victims);
  }

  private int takeFor(VictimSampler blocks, int frequency, int margin) {
    return blocks.takeFor(key(99), hash(99), frequency, margin, VictimSampler.ANY_SIZE, SIZE,
      victims);
  }

  private boolean rejects(VictimSampler blocks, int frequency, int margin) {
    return blocks.rejects(hash(99), frequency, margin, VictimSampler.ANY_SIZE);
  }

  @Test
  public void testHoldsWhatAMapHolds() {
    for (int expected : new int[] { 1, 4000 }) {
      VictimSampler blocks = new VictimSampler(sketch, expected, 1);
      Map<Integer, Integer> model = new HashMap<>();
      Random random = new Random(2);
      for (int i = 0; i < 300_000; i++) {
        // It grows for a while, then shrinks, and so on.
        boolean growing = (i / 20_000) % 2 == 0;
        int block = random.nextInt(5000);
        if (random.nextInt(10) < (growing ? 7 : 2)) {
          int size = 1 + random.nextInt(SIZE);
          assertEquals(model.putIfAbsent(block, size) == null,
            blocks.add(key(block), hash(block), size));
        } else {
          Integer size = model.remove(block);
          assertEquals(size == null ? 0 : size, blocks.remove(key(block), hash(block)));
        }
        if (i % 30_000 == 0) {
          for (int b = 0; b < 5000; b++) {
            assertEquals(model.containsKey(b), blocks.contains(key(b), hash(b)));
          }
        }
        assertEquals(model.size(), blocks.count());
      }
      for (int block : model.keySet()) {
        blocks.remove(key(block), hash(block));
      }
      assertEquals(0, blocks.count());
    }
  }

  @Test
  public void testLeastFrequentIsTheVictim() {
    VictimSampler blocks = onePart();
    for (int block = 0; block < VictimSampler.SAMPLE; block++) {
      add(blocks, block, block == 5 ? 2 : 4);
    }
    assertEquals(1, takeFor(blocks, 99, 3, SIZE));
    assertEquals(key(5), victims[0].key);
  }

  @Test
  public void testCandidateHasToBeatItsVictimsTogether() {
    VictimSampler blocks = onePart();
    for (int block = 0; block < 4; block++) {
      add(blocks, block, 2);
    }
    assertEquals("a tie is no reason to move", 0, takeFor(blocks, 99, 2, SIZE));
    assertEquals(1, takeFor(blocks, 99, 3, SIZE));
    blocks.stays(victims[0]);
    assertEquals("6 is asked for as often as three of 2", 0, takeFor(blocks, 99, 6, 3 * SIZE));
    assertEquals(3, takeFor(blocks, 99, 7, 3 * SIZE));
  }

  @Test
  public void testLosingCandidateLeavesNothingMarked() {
    VictimSampler blocks = onePart();
    for (int block = 0; block < 4; block++) {
      add(blocks, block, 2);
    }
    assertEquals(0, takeFor(blocks, 99, 7, 4 * SIZE));
    assertEquals(4, takeFor(blocks, 99, 9, 4 * SIZE));
  }

  @Test
  public void testCandidateWithoutEnoughVictimsTakesNone() {
    VictimSampler blocks = onePart();
    add(blocks, 1, 0);
    assertEquals(0, takeFor(blocks, 99, 15, 2 * SIZE));
    assertEquals(1, takeFor(blocks, 99, 15, SIZE));
  }

  @Test
  public void testCandidateIsNotItsOwnVictim() {
    VictimSampler blocks = onePart();
    add(blocks, 1, 0);
    assertEquals(0, takeFor(blocks, 1, 15, SIZE));
  }

  @Test
  public void testLeavingBlockIsNoVictimUntilItStays() {
    VictimSampler blocks = onePart();
    add(blocks, 1, 0);
    add(blocks, 2, 0);
    VictimSampler.Victim one = blocks.take(0);
    VictimSampler.Victim other = blocks.take(0);
    assertNotEquals(one.key, other.key);
    assertNull(blocks.take(0));
    assertTrue("still known until it is removed", blocks.contains(one.key, one.hash));
    assertFalse(blocks.add(one.key, one.hash, SIZE));
    blocks.stays(one);
    assertEquals(one.key, blocks.take(0).key);
    assertEquals(SIZE, blocks.remove(one.key, one.hash));
  }

  @Test
  public void testCandidateHasToBeAheadByMoreThanTheMargin() {
    VictimSampler blocks = onePart();
    add(blocks, 1, 2);
    assertTrue(rejects(blocks, 4, 2));
    assertFalse(rejects(blocks, 5, 2));
    assertEquals(0, takeFor(blocks, 4, 2));
    assertEquals(1, takeFor(blocks, 5, 2));
  }

  @Test
  public void testVictimIsOfTheSizeThatIsWanted() {
    VictimSampler blocks = onePart();
    for (int block = 0; block < 100; block++) {
      add(blocks, block, 0);
    }
    int large = 3 * SIZE;
    assertTrue("no victim, no place", blocks.rejects(hash(999), 9, 0, large));
    assertEquals(0, blocks.takeFor(key(999), hash(999), 9, 0, large, large, victims));
    for (int block = 100; block < 103; block++) {
      blocks.add(key(block), hash(block), large);
      for (int i = 0; i < 2; i++) {
        sketch.increment(hash(block));
      }
    }
    assertFalse("there is a smaller one asked for less", rejects(blocks, 1, 0));
    assertTrue(blocks.rejects(hash(999), 2, 0, large));
    assertTrue("one after the other", blocks.rejects(hash(999), 2, 0, large));
    assertFalse(blocks.rejects(hash(999), 3, 0, large));
    assertEquals(1, blocks.takeFor(key(999), hash(999), 3, 0, large, large, victims));
    assertEquals(large, victims[0].size);
    assertFalse(rejects(blocks, 1, 0));
  }

  @Test
  public void testStandingVictimThatWasRemovedIsReplaced() {
    VictimSampler blocks = onePart();
    add(blocks, 1, 1);
    add(blocks, 2, 2);
    assertTrue(rejects(blocks, 1, 0));
    blocks.remove(key(1), hash(1));
    assertEquals(1, takeFor(blocks, 99, 3, SIZE));
    assertEquals(key(2), victims[0].key);
  }

  @Test
  public void testStandingVictimThatBecameHotIsReplaced() {
    VictimSampler blocks = onePart();
    for (int block = 0; block < VictimSampler.SAMPLE; block++) {
      add(blocks, block, block == 0 ? 0 : 1);
    }
    assertFalse("1 is more than 0", rejects(blocks, 1, 0));
    for (int i = 0; i < 10; i++) {
      sketch.increment(hash(0));
    }
    int rejections = 0;
    while (rejects(blocks, 2, 0)) {
      rejections++;
    }
    assertEquals(VictimSampler.REJECTIONS_PER_VICTIM, rejections);
  }

  @Test
  public void testEveryBlockIsFoundForSomeTurn() {
    VictimSampler blocks = new VictimSampler(sketch, 100_000, 1);
    assertTrue(blocks.parts() > 1);
    Set<BlockCacheKey> left = new HashSet<>();
    for (int block = 0; block < 3000; block++) {
      add(blocks, block, 0);
      left.add(key(block));
    }
    for (int turn = 0; !left.isEmpty(); turn++) {
      assertTrue("" + left.size(), turn < 1_000_000);
      VictimSampler.Victim victim = blocks.take(turn);
      if (victim != null) {
        assertTrue(left.remove(victim.key));
        assertEquals(SIZE, blocks.remove(victim.key, victim.hash));
      }
    }
    assertEquals(0, blocks.count());
  }
}
