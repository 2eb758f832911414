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

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Chooses the memory of a {@link FrequencyPromotionPolicy}. The policy is simulated on a sample of
 * the blocks, with as large a share of the capacity, once for each memory to choose from. The
 * memory with the most hits in its simulation is used; a promotion counts against it as
 * {@link FrequencyPromotionPolicy#PROMOTION_COST} of a hit, since it is a copy.
 * <p>
 * Thread-safe. One block in some hundreds is looked up in the simulations; the others cost a
 * multiplication. After C. Waldspurger, T. Saemundsson, I. Ahmad and N. Park, "Cache modeling and
 * optimization using miniature simulations".
 */
@InterfaceAudience.Private
final class MiniatureSimulations {

  /** Below so many blocks that fit, a sample says too little. */
  static final int MIN_BLOCKS = 512;
  /** Blocks that fit into each simulation, if the policy has that many. */
  private static final int BLOCKS = 2048;
  private static final int MIN_SCALE = 4;
  /** Accesses, for each block that fits into a simulation, before the memories are compared. */
  private static final int ACCESSES_PER_BLOCK = 5;
  /** Weight of the earlier comparisons in the next one. */
  private static final double INERTIA = 0.85;
  /** The advantage, in hits per access, that another memory must have to be used. */
  private static final double ADVANTAGE = 0.002;

  private final FrequencyPromotionPolicy policy;
  private final int scale;
  private final Simulation[] all =
    new Simulation[FrequencyPromotionPolicy.MEMORIES.length];
  private final AtomicLong accesses = new AtomicLong();
  private final AtomicBoolean comparing = new AtomicBoolean();
  private volatile long accessesToCompare;
  private int chosen = FrequencyPromotionPolicy.DEFAULT_MEMORY;

  /**
   * @param room      the most bytes that data blocks may take in L1
   * @param blockSize what a block takes, about
   * @param seed      of the random choices
   */
  MiniatureSimulations(FrequencyPromotionPolicy policy, long room, int blockSize, long seed) {
    int blocks = (int) Math.min(Integer.MAX_VALUE, room / blockSize);
    this.policy = policy;
    this.scale = Math.max(MIN_SCALE, blocks / BLOCKS);
    for (int i = 0; i < all.length; i++) {
      all[i] = new Simulation(Math.max(1, room / scale), blockSize, seed, i);
    }
    this.accessesToCompare = ACCESSES_PER_BLOCK * (long) (blocks / scale);
  }

  /** Simulates an access if the block is in the sample. */
  void access(BlockCacheKey key, long hash, int size) {
    // Sampled by other bits than the sketch and the table of hot blocks use, or the sample would
    // be crowded into a part of theirs.
    long sample = (hash * 0x9E37_79B9_7F4A_7C15L) >>> 32;
    if (sample * scale >>> 32 != 0) {
      return;
    }
    for (Simulation simulation : all) {
      simulation.access(key, hash, size);
    }
    if (
      accesses.incrementAndGet() >= accessesToCompare && comparing.compareAndSet(false, true)
    ) {
      try {
        compare(accesses.getAndSet(0));
      } finally {
        comparing.set(false);
      }
    }
  }

  private void compare(long sampled) {
    int best = chosen;
    for (int i = 0; i < all.length; i++) {
      all[i].rate(sampled, policy.getCapacity() / scale);
      if (all[i].score > all[best].score) {
        best = i;
      }
    }
    if (all[best].score > all[chosen].score + ADVANTAGE) {
      chosen = best;
    }
    policy.setMemory(FrequencyPromotionPolicy.MEMORIES[chosen],
      FrequencyPromotionPolicy.MARGINS[chosen]);
    accessesToCompare = ACCESSES_PER_BLOCK * Math.max(1, policy.blocksThatFit() / scale);
  }

  /** The policy on a sample of the blocks, with one memory. */
  private static final class Simulation {
    private final FrequencyPromotionPolicy policy;
    private final LongAdder hits = new LongAdder();
    private long promotionsBefore;
    private volatile double score;

    Simulation(long room, int blockSize, long seed, int choice) {
      long blocks = Math.max(1, room / blockSize);
      this.policy = new FrequencyPromotionPolicy(room, room, blockSize, 2 * blocks, null, seed);
      policy.setMemory(FrequencyPromotionPolicy.MEMORIES[choice],
        FrequencyPromotionPolicy.MARGINS[choice]);
    }

    void access(BlockCacheKey key, long hash, int size) {
      if (policy.simulateHit(key, hash)) {
        hits.increment();
      } else {
        policy.promotes(key, hash, size);
      }
    }

    void rate(long accesses, long room) {
      long promotions = policy.getPromotedCount();
      double gain = hits.sumThenReset()
        - FrequencyPromotionPolicy.PROMOTION_COST * (promotions - promotionsBefore);
      promotionsBefore = promotions;
      score = INERTIA * score + (1 - INERTIA) * gain / accesses;
      policy.setCapacity(room);
      policy.setPeriod();
    }
  }
}
