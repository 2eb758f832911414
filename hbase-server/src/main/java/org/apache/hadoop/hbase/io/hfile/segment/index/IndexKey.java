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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * File number and block offset in one {@code long}, in plain form, and in mixed form as the key of
 * {@link IndexPartition}. Each form can be computed from the other, so a key identifies a block,
 * and its bits are distributed like those of a hash.
 */
@InterfaceAudience.Private
public final class IndexKey {
  /** Maximum file number; the minimum is 1, so that no key is 0. */
  static final int MAX_FILE_ID = (1 << 24) - 1;
  /** Maximum offset of a block in its file; blocks beyond it are not stored. */
  public static final long MAX_OFFSET = (1L << 40) - 1;

  private static final int OFFSET_BITS = 40;
  private static final long MULTIPLIER_1 = 0xbf58476d1ce4e5b9L;
  private static final long MULTIPLIER_2 = 0x94d049bb133111ebL;
  private static final long INVERSE_1 = inverse(MULTIPLIER_1);
  private static final long INVERSE_2 = inverse(MULTIPLIER_2);

  private IndexKey() {
  }

  static boolean isBlock(int fileId, long offset) {
    return fileId > 0 && fileId <= MAX_FILE_ID && offset >= 0 && offset <= MAX_OFFSET;
  }

  static long block(int fileId, long offset) {
    return (long) fileId << OFFSET_BITS | offset;
  }

  static int fileOf(long block) {
    return (int) (block >>> OFFSET_BITS);
  }

  static long offsetOf(long block) {
    return block & MAX_OFFSET;
  }

  /**
   * Mixes a key. Every bit of the result depends on every bit of the key; the mapping is
   * invertible.
   */
  static long mix(long key) {
    long x = (key ^ key >>> 30) * MULTIPLIER_1;
    x = (x ^ x >>> 27) * MULTIPLIER_2;
    return x ^ x >>> 31;
  }

  static long unmix(long mixed) {
    long x = (mixed ^ mixed >>> 31 ^ mixed >>> 62) * INVERSE_2;
    x = (x ^ x >>> 27 ^ x >>> 54) * INVERSE_1;
    return x ^ x >>> 30 ^ x >>> 60;
  }

  /** Returns the multiplicative inverse modulo 2^64 of an odd number, by Newton's method. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int correctBits = 3; correctBits < Long.SIZE; correctBits *= 2) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
