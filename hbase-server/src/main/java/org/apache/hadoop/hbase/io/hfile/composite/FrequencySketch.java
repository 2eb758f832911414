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

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Estimates how often each of very many blocks was accessed lately, in about eight bytes per block
 * that it is sized for, whether the block is cached or not: a count-min sketch of four rows of
 * four-bit counters. It overestimates when other blocks share all four counters of a block, and
 * seldom by much; it never knows more than {@value #MAX_FREQUENCY}.
 * <p>
 * <b>Layout.</b> The four counters of a block lie within 64 bytes, so that a look costs one or two
 * cache misses, not four. Each long holds fifteen counters and the age (modulo 16) at which they
 * were last brought up to date. An increment raises only those of the four that are lowest, which
 * keeps the estimate of a rare block from growing with its neighbours, and writes nothing for a
 * block that is at the maximum.
 * <p>
 * <b>Ageing.</b> All counters are halved each time a given number of increments has been counted
 * ({@link #setPeriod}). The shorter the period, the closer a frequency is to plain recency. No
 * thread walks the table to halve it: the age is incremented, and each long is shifted at its next
 * access. A long that is not accessed for sixteen ages shows old counts again; with any reasonable
 * period it is accessed long before.
 * <p>
 * <b>Threads.</b> All methods are thread-safe and none takes a lock. An increment that races with
 * another on the same long may be lost; a counter is never torn and never leaves its range. The
 * size is fixed at construction.
 * <p>
 * After G. Cormode and S. Muthukrishnan, "An improved data stream summary: the count-min sketch and
 * its applications"; C. Estan and G. Varghese, "New directions in traffic measurement and
 * accounting" (raising only the lowest); G. Einziger, R. Friedman and B. Manes, "TinyLFU: a highly
 * efficient cache admission policy" (ageing). See HBASE-23296.
 */
@InterfaceAudience.Private
public final class FrequencySketch {

  /** The largest frequency that is told apart. */
  public static final int MAX_FREQUENCY = 15;

  private static final int ROWS = 4;
  private static final int LONGS_PER_GROUP = 8;
  private static final int COUNTERS_PER_LONG = 15;
  private static final int AGE_SHIFT = 60;
  private static final long COUNTERS = (1L << AGE_SHIFT) - 1;
  private static final long ONES = 0x0111_1111_1111_1111L;
  private static final int MAX_BLOCKS = 1 << 30;

  /** Each thread counts by itself up to this many increments before it tells the others. */
  private static final int BATCH = 64;
  private static final int STRIPES = 64;
  /** One cache line each, so that threads do not slow each other down. */
  private static final int STRIPE_SHIFT = 3;

  private final AtomicLongArray table;
  private final int groups;
  private volatile long period;
  private final AtomicLongArray batches = new AtomicLongArray((STRIPES + 1) << STRIPE_SHIFT);
  private final AtomicLong counted = new AtomicLong();
  private final AtomicInteger age = new AtomicInteger();

  /**
   * A sketch with a period of five increments for each block.
   * @param blocks how many blocks to size the sketch for, from 1 to 2^30; it takes 8 bytes for
   *               each, rounded up to 64
   * @throws IllegalArgumentException if the number is out of range
   */
  public FrequencySketch(long blocks) {
    if (blocks < 1 || blocks > MAX_BLOCKS) {
      throw new IllegalArgumentException(
        "A sketch is for 1 to " + MAX_BLOCKS + " blocks, not " + blocks);
    }
    this.groups = (int) ((blocks + LONGS_PER_GROUP - 1) / LONGS_PER_GROUP);
    this.table = new AtomicLongArray(groups * LONGS_PER_GROUP);
    this.period = 5 * blocks;
  }

  /**
   * Returns the hash of a block's key as the methods of this class want it: all 64 bits depend on
   * the file's name and on the offset. The characters of the name are looked at once per string.
   */
  public static long hash(BlockCacheKey key) {
    return hash(key.getHfileName().hashCode() * 0x9E37_79B9_7F4A_7C15L + key.getOffset());
  }

  /** Returns a hash of a number, all bits of which depend on all of the number's. */
  public static long hash(long number) {
    long h = number;
    h = (h ^ (h >>> 33)) * 0xFF51_AFD7_ED55_8CCDL;
    h = (h ^ (h >>> 33)) * 0xC4CE_B9FE_1A85_EC53L;
    return h ^ (h >>> 33);
  }

  /** Returns about how often the block was counted lately, 0 to {@value #MAX_FREQUENCY}. */
  public int frequency(long hash) {
    int now = age.get();
    int group = group(hash);
    int lowest = MAX_FREQUENCY;
    for (int row = 0; row < ROWS; row++) {
      long counters = aged(table.get(index(group, hash, row)), now);
      lowest = Math.min(lowest, (int) (counters >>> shift(hash, row)) & MAX_FREQUENCY);
    }
    return lowest;
  }

  /**
   * Counts the block once more.
   * @return its frequency now, 1 to {@value #MAX_FREQUENCY}
   */
  public int increment(long hash) {
    int before = frequency(hash);
    if (before == MAX_FREQUENCY) {
      return before;
    }
    int now = age.get();
    int group = group(hash);
    for (int row = 0; row < ROWS; row++) {
      int index = index(group, hash, row);
      int shift = shift(hash, row);
      long counters = aged(table.get(index), now);
      if (((counters >>> shift) & MAX_FREQUENCY) <= before) {
        table.lazySet(index, counters + (1L << shift));
      }
    }
    count();
    return before + 1;
  }

  /**
   * Sets after how many increments all counters are halved. Increments of blocks that are at the
   * maximum already change nothing and are not counted.
   * @param increments at least 1; values below a few thousand are met only roughly, as each thread
   *                   counts by itself for a while
   */
  public void setPeriod(long increments) {
    period = Math.max(1, increments);
  }

  /** Returns the bytes that the counters take. */
  public long sizeInBytes() {
    return (long) table.length() * Long.BYTES;
  }

  /** Returns how often the counters were halved. */
  public int age() {
    return age.get();
  }

  private int group(long hash) {
    return (int) (((hash >>> 32) * groups) >>> 32);
  }

  /** Each row has two longs of the eight, the first of its eight bits says which. */
  private static int index(int group, long hash, int row) {
    return group * LONGS_PER_GROUP + row * 2 + ((int) (hash >>> (row * 8)) & 1);
  }

  /** Returns the counter's bit: seven other bits of the hash select one of fifteen counters. */
  private static int shift(long hash, int row) {
    return (((((int) (hash >>> (row * 8)) & 0xFF) >>> 1) * COUNTERS_PER_LONG) >>> 7) << 2;
  }

  /** The counters of a long as they would be had they been halved on time, with the age of now. */
  private static long aged(long value, int now) {
    int behind = (now - (int) (value >>> AGE_SHIFT)) & MAX_FREQUENCY;
    if (behind == 0 || behind == MAX_FREQUENCY) {
      // The counters are up to date, or another thread has seen the next age already.
      return value;
    }
    long left = behind >= 4 ? 0 : ((value & COUNTERS) >>> behind) & (ONES * (0xF >> behind));
    return left | ((long) now << AGE_SHIFT);
  }

  private void count() {
    int stripe = (((int) Thread.currentThread().getId() & (STRIPES - 1)) + 1) << STRIPE_SHIFT;
    long batch = batches.get(stripe) + 1;
    if (batch < BATCH) {
      batches.lazySet(stripe, batch);
      return;
    }
    batches.lazySet(stripe, 0);
    if (counted.addAndGet(BATCH) >= period) {
      // One thread gets to take the period off and to raise the age, the others go on.
      long sum = counted.get();
      if (sum >= period && counted.compareAndSet(sum, 0)) {
        age.incrementAndGet();
      }
    }
  }
}
