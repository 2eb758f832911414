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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestFrequencyPromotionPolicy {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFrequencyPromotionPolicy.class);

  private static final int SIZE = 32 * 1024;
  private static final BlockCacheKey ANOTHER = new BlockCacheKey("another", 0);

  /** A tier that is a map; the slower one has every block. */
  private static class MapTier {
    final Map<BlockCacheKey, Integer> blocks = new ConcurrentHashMap<>();
    final FrequencyPromotionPolicy policy;
    volatile boolean pinned;

    MapTier(long usable, long dataMax) {
      policy = new FrequencyPromotionPolicy(usable, dataMax, SIZE, 2 * (usable / SIZE),
        this::evict, 1);
    }

    boolean evict(BlockCacheKey key) {
      return !pinned && remove(key);
    }

    boolean remove(BlockCacheKey key) {
      if (blocks.remove(key) == null) {
        return false;
      }
      policy.onRemoved(key);
      return true;
    }

    /** Returns whether the tier had it. */
    boolean read(BlockCacheKey key, int size) {
      Integer there = blocks.get(key);
      if (there != null) {
        policy.onHit(key, there);
        return true;
      }
      if (policy.onSlowHit(key, size)) {
        assertNull("promoted twice", blocks.put(key, size));
      }
      return false;
    }

    /** Reads a block as often as said, and others in between, so that it is no burst. */
    void read(int block, int times) {
      for (int i = 0; i < times; i++) {
        read(key(block), SIZE);
        policy.onHit(ANOTHER, SIZE);
      }
    }

    /** Reads each of these blocks, the last one not included. */
    void readAll(int from, int to, int times) {
      for (int block = from; block < to; block++) {
        read(block, times);
      }
    }

    boolean has(int block) {
      return blocks.containsKey(key(block));
    }

    long bytes() {
      return blocks.values().stream().mapToLong(Integer::longValue).sum();
    }

    void assertInStep() {
      assertEquals(bytes(), policy.getUsedBytes());
      assertEquals(blocks.size(), policy.getBlockCount());
    }
  }

  private static BlockCacheKey key(int block) {
    return new BlockCacheKey("file" + block % 50, (long) block * SIZE);
  }

  private static MapTier tierOf(int blocks) {
    return new MapTier((long) blocks * SIZE, Long.MAX_VALUE);
  }

  @Test
  public void testTakesAnyBlockWhileThereIsRoom() {
    MapTier tier = tierOf(10);
    tier.readAll(0, 10, 1);
    assertEquals(10, tier.policy.getPromotedCount());
    assertEquals(10 * SIZE, tier.policy.getUsedBytes());
    tier.assertInStep();
  }

  @Test
  public void testReplacesABlockByOneAskedForMoreOften() {
    MapTier tier = tierOf(4);
    for (int block = 0; block < 4; block++) {
      tier.read(block, block == 2 ? 1 : 5);
    }
    tier.read(99, 1);
    assertFalse("as often as the victim is not enough", tier.has(99));
    assertEquals(1, tier.policy.getRejectedCount());
    tier.read(99, 1);
    assertFalse("once more is not worth a copy", tier.has(99));
    tier.read(99, 1);
    assertTrue(tier.has(99));
    assertFalse(tier.has(2));
    assertEquals(1, tier.policy.getDemotedCount());
    tier.assertInStep();
  }

  @Test
  public void testBurstCountsOnce() {
    MapTier tier = tierOf(1000);
    for (int round = 0; round < 2; round++) {
      tier.readAll(0, 1000, 1);
    }
    for (int block = 5000; block < 5100; block++) {
      for (int i = 0; i < 7; i++) {
        tier.read(key(block), SIZE);
      }
    }
    assertEquals(1000, tier.policy.getPromotedCount());
  }

  @Test
  public void testBlockThatIsAllAnybodyAsksForGetsIn() {
    MapTier tier = tierOf(1000);
    for (int round = 0; round < 3; round++) {
      tier.readAll(0, 1000, 1);
    }
    for (int i = 0; i < 100; i++) {
      tier.read(key(5000), SIZE);
    }
    assertTrue(tier.has(5000));
  }

  @Test
  public void testLargeBlockHasToBeWorthTheSmallOnesItDisplaces() {
    MapTier tier = tierOf(8);
    tier.readAll(0, 8, 2);
    for (int i = 0; i < 9; i++) {
      tier.read(key(99), 4 * SIZE);
      tier.policy.onHit(ANOTHER, SIZE);
      assertFalse(tier.has(99));
    }
    tier.read(key(99), 4 * SIZE);
    assertTrue(tier.has(99));
    assertEquals(4, tier.policy.getDemotedCount());
    tier.assertInStep();
  }

  private static void readLarge(MapTier tier, int block, int times) {
    for (int i = 0; i < times; i++) {
      tier.read(key(block), 2 * SIZE);
      tier.policy.onHit(ANOTHER, SIZE);
    }
  }

  @Test
  public void testInAShortageABlockDisplacesOneOfItsOwnSizeOnly() {
    MapTier tier = tierOf(100);
    tier.readAll(0, 8, 1);
    for (int block = 8; block < 12; block++) {
      readLarge(tier, block, 3);
    }
    tier.policy.bucketSizeExhausted(2 * SIZE, 10);
    assertArrayEquals(new int[] { 2 * SIZE }, tier.policy.shortages());
    readLarge(tier, 99, 4);
    assertFalse("there is room, but no place, and those that have one are asked for as often",
      tier.has(99));
    assertArrayEquals("the first request brings it in at best", new long[] { 3 },
      tier.policy.missedHits(2 * SIZE));
    readLarge(tier, 99, 1);
    assertTrue(tier.has(99));
    for (int block = 0; block < 8; block++) {
      assertTrue("blocks of another size stay", tier.has(block));
    }
    assertEquals(12, tier.policy.getBlockCount());
    tier.read(100, 1);
    assertTrue("there are places of the other size", tier.has(100));
    tier.policy.bucketSizeAvailable(2 * SIZE);
    assertEquals(0, tier.policy.shortages().length);
    assertEquals(0, tier.policy.missedHits(2 * SIZE).length);
    readLarge(tier, 101, 1);
    assertTrue(tier.has(101));
    tier.assertInStep();
  }

  @Test
  public void testInAShortageWithoutBlocksOfItsSizeNoneGetsInAndAllAreCounted() {
    MapTier tier = tierOf(100);
    tier.read(1, 1);
    tier.policy.bucketSizeExhausted(2 * SIZE, 10);
    tier.policy.bucketSizeExhausted(2 * SIZE, 10);
    tier.policy.bucketSizeExhausted(3 * SIZE, 10);
    readLarge(tier, 99, 30);
    readLarge(tier, 98, 20);
    readLarge(tier, 97, 1);
    assertEquals(1, tier.policy.getBlockCount());
    assertArrayEquals(new long[] { 29, 19 }, tier.policy.missedHits(2 * SIZE));
    assertEquals(0, tier.policy.missedHits(3 * SIZE).length);
    tier.policy.bucketSizeAvailable(2 * SIZE);
    assertArrayEquals(new int[] { 3 * SIZE }, tier.policy.shortages());
    tier.assertInStep();
  }

  @Test
  public void testBlockLargerThanTheRoomIsNeverTaken() {
    MapTier tier = tierOf(2);
    tier.read(1, 1);
    for (int i = 0; i < 100; i++) {
      tier.read(key(99), 2 * SIZE + 1);
    }
    assertTrue(tier.has(1));
    assertFalse(tier.has(99));
    tier.assertInStep();
  }

  @Test
  public void testKnownBlockIsNotPromotedAgain() {
    MapTier tier = tierOf(10);
    assertTrue(tier.policy.onSlowHit(key(1), SIZE));
    assertFalse("it is on its way", tier.policy.onSlowHit(key(1), SIZE));
    tier.policy.onHit(ANOTHER, SIZE);
    assertFalse("and stays so", tier.policy.onSlowHit(key(1), SIZE));
    assertEquals(SIZE, tier.policy.getUsedBytes());
    tier.policy.onRemoved(key(1));
    tier.policy.onRemoved(key(1));
    assertEquals(0, tier.policy.getUsedBytes());
    tier.policy.onHit(ANOTHER, SIZE);
    assertTrue(tier.policy.onSlowHit(key(1), SIZE));
  }

  @Test
  public void testBlockBeingReadStaysAndTheCandidateIsRejected() {
    MapTier tier = tierOf(4);
    tier.readAll(0, 4, 1);
    tier.pinned = true;
    tier.read(99, 20);
    assertFalse(tier.has(99));
    assertEquals(0, tier.policy.getDemotedCount());
    tier.assertInStep();
    tier.pinned = false;
    tier.read(99, 200);
    assertTrue(tier.has(99));
    tier.assertInStep();
  }

  @Test
  public void testEvictionThatThrowsLeavesTheBlockAVictim() {
    boolean[] broken = { true };
    FrequencyPromotionPolicy[] policy = new FrequencyPromotionPolicy[1];
    policy[0] = new FrequencyPromotionPolicy(SIZE, SIZE, SIZE, 8, key -> {
      if (broken[0]) {
        throw new IllegalStateException("broken");
      }
      policy[0].onRemoved(key);
      return true;
    }, 1);
    assertTrue(policy[0].onSlowHit(key(1), SIZE));
    assertThrows(IllegalStateException.class, () -> policy[0].evict(SIZE));
    assertEquals(SIZE, policy[0].getUsedBytes());
    broken[0] = false;
    assertEquals(SIZE, policy[0].evict(SIZE));
    assertEquals(0, policy[0].getUsedBytes());
  }

  @Test
  public void testCandidateWhoseEvictionThrowsIsForgotten() {
    boolean[] broken = { true };
    FrequencyPromotionPolicy[] policy = new FrequencyPromotionPolicy[1];
    policy[0] = new FrequencyPromotionPolicy(SIZE, SIZE, SIZE, 8, key -> {
      if (broken[0]) {
        throw new IllegalStateException("broken");
      }
      policy[0].onRemoved(key);
      return true;
    }, 1);
    assertTrue(policy[0].onSlowHit(key(1), SIZE));
    assertFalse(policy[0].onSlowHit(key(2), SIZE));
    policy[0].onHit(ANOTHER, SIZE);
    assertFalse(policy[0].onSlowHit(key(2), SIZE));
    policy[0].onHit(ANOTHER, SIZE);
    assertThrows(IllegalStateException.class, () -> policy[0].onSlowHit(key(2), SIZE));
    assertEquals(SIZE, policy[0].getUsedBytes());
    assertEquals(1, policy[0].getBlockCount());
    broken[0] = false;
    policy[0].onHit(ANOTHER, SIZE);
    assertTrue(policy[0].onSlowHit(key(2), SIZE));
  }

  @Test
  public void testDeadBlocksAtTheMaximumGiveWayToNewOnesAtTheMaximum() {
    MapTier tier = tierOf(100);
    tier.policy.setMemory(100, 0);
    for (int round = 0; round < 20; round++) {
      tier.readAll(0, 100, 1);
    }
    // The few new blocks reach the maximum long before anything ages, and tie for ever.
    for (int round = 0; round < 600; round++) {
      for (int block = 5000; block < 5010; block++) {
        tier.read(key(block), SIZE);
      }
    }
    for (int block = 5000; block < 5010; block++) {
      assertTrue("block " + block, tier.has(block));
    }
    tier.assertInStep();
  }

  @Test
  public void testScanDisplacesNoBlockThatIsReadOften() {
    MapTier tier = tierOf(400);
    for (int round = 0; round < 6; round++) {
      tier.readAll(0, 320, 1);
    }
    tier.readAll(1000, 5000, 1);
    for (int block = 0; block < 320; block++) {
      assertTrue("block " + block, tier.has(block));
    }
    tier.assertInStep();
  }

  @Test
  public void testMetaTakesTheRoomOfData() {
    MapTier tier = tierOf(60);
    tier.readAll(0, 60, 1);
    tier.policy.onMetaPressure(20 * SIZE);
    assertEquals(40 * SIZE, tier.policy.getCapacity());
    assertEquals(40 * SIZE, tier.policy.getUsedBytes());
    tier.assertInStep();
    tier.policy.onMetaPressure(200 * SIZE);
    assertEquals(0, tier.policy.getUsedBytes());
    tier.read(1, 20);
    assertFalse("no room is left to data", tier.has(1));
    tier.policy.onMetaPressure(50 * SIZE);
    tier.read(1, 1);
    assertTrue(tier.has(1));
    tier.assertInStep();
  }

  @Test
  public void testMetaTakesTheRoomOfTheColdest() {
    MapTier tier = tierOf(100);
    for (int round = 0; round < 10; round++) {
      for (int block = 0; block < 100; block++) {
        if (round == 0 || block < 20) {
          tier.read(block, 1);
        }
      }
    }
    tier.policy.onMetaPressure(60 * SIZE);
    for (int block = 0; block < 20; block++) {
      assertTrue(tier.has(block));
    }
  }

  @Test
  public void testDataStaysBelowItsOwnLimit() {
    MapTier tier = new MapTier(100 * SIZE, 30 * SIZE);
    tier.readAll(0, 100, 3);
    assertEquals(30 * SIZE, tier.policy.getUsedBytes());
    tier.policy.onMetaPressure(70 * SIZE);
    assertEquals(30 * SIZE, tier.policy.getCapacity());
    tier.policy.onMetaPressure(80 * SIZE);
    assertEquals(20 * SIZE, tier.policy.getUsedBytes());
    tier.assertInStep();
  }

  @Test
  public void testRoomIsMadeUpToWhatIsThere() {
    MapTier tier = tierOf(10);
    tier.readAll(0, 10, 1);
    assertEquals(3 * SIZE, tier.policy.evict(2 * SIZE + 1));
    assertEquals(7 * SIZE, tier.policy.evict(100 * SIZE));
    assertEquals(0, tier.policy.evict(1));
    tier.assertInStep();
  }

  @Test
  public void testEveryByteIsAccountedForAfterConcurrentUse() throws InterruptedException {
    for (int blocks : new int[] { 30, 3000 }) {
      concurrentUse(blocks);
    }
  }

  private static void concurrentUse(int blocks) throws InterruptedException {
    long usable = (long) blocks * SIZE;
    AtomicLong highest = new AtomicLong();
    MapTier tier = new MapTier(usable, usable) {
      @Override
      boolean evict(BlockCacheKey key) {
        // Now and then somebody reads the block.
        return ((System.nanoTime() >>> 4) & 15) != 0 && super.evict(key);
      }
    };
    List<Throwable> failures = new ArrayList<>();
    Thread[] threads = new Thread[8];
    for (int t = 0; t < threads.length; t++) {
      int thread = t;
      threads[t] = new Thread(() -> {
        try {
          Random random = new Random(thread);
          for (int i = 0; i < 60_000; i++) {
            int block = (int) (4 * blocks * Math.pow(random.nextDouble(), 3));
            int size = 8 * 1024 << block % 6;
            int action = random.nextInt(100);
            if (thread == 0 && action < 2) {
              tier.policy.onMetaPressure((long) (random.nextDouble() * usable));
            } else if (thread == 1 && action < 2) {
              tier.policy.evict(10 * SIZE);
            } else if (action < 10) {
              tier.remove(key(block));
            } else if (action < 12) {
              // Promoted, but the copy did not get in.
              if (!tier.blocks.containsKey(key(block)) && tier.policy.onSlowHit(key(block), size)) {
                tier.policy.onRemoved(key(block));
              }
            } else {
              tier.read(key(block), size);
            }
            highest.accumulateAndGet(tier.policy.getUsedBytes(), Math::max);
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
    tier.assertInStep();
    assertTrue(tier.policy.getPromotedCount() > 1000);
    assertTrue(tier.policy.getDemotedCount() > 1000);
    // Each thread may have reserved for one block whose victims are not out yet.
    assertTrue(highest + " of " + usable, highest.get() <= usable + 8 * 256 * 1024);
    // Nothing is left marked or unknown: every block that is there can be evicted.
    tier.policy.onMetaPressure(0);
    for (int i = 0; i < 1000 && !tier.blocks.isEmpty(); i++) {
      tier.policy.evict(usable);
    }
    assertEquals(0, tier.blocks.size());
    tier.assertInStep();
    assertEquals(0, tier.policy.getUsedBytes());
  }
}
