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
package org.apache.hadoop.hbase.io.hfile.segment;

import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Where a block is, in one {@code long}: what {@link SegmentIndex} has for each block.
 *
 * <pre>
 *   63  61 60    60 59    58 57    56 55          39 38           20 19             0
 *  +------+--------+--------+--------+--------------+---------------+----------------+
 *  | 0    |in mem. |category| access | length       | offset        | segment        |
 *  +------+--------+--------+--------+--------------+---------------+----------------+
 * </pre>
 *
 * Offset and length are in units of {@value #UNIT} bytes, so that a segment may have 64 MB and an
 * entry nearly 16 MB; there may be a million segments, 64 TB. The access count says how often the
 * block was asked for, up to {@value #MAX_ACCESS}; it is a hint and no part of the place.
 */
@InterfaceAudience.Private
public final class Location {
  /** What places are aligned to, in bytes. */
  public static final int UNIT = 128;
  /** How many segments there may be. */
  public static final int MAX_SEGMENTS = 1 << 20;
  /** The largest segment, in bytes. */
  public static final int MAX_SEGMENT_BYTES = (1 << 19) * UNIT;
  /** The largest entry, in bytes. */
  public static final int MAX_ENTRY_BYTES = ((1 << 17) - 1) * UNIT;
  public static final int MAX_ACCESS = 3;
  /** In the kind of a block of an in-memory family, beside its category. */
  public static final int IN_MEMORY = 4;
  /** No block. No place has this value. */
  public static final long ABSENT = -1;
  /** A block that was not taken. No place has this value. */
  public static final long REFUSED = -2;

  static final int MAX_KIND = IN_MEMORY | 3;

  private static final int OFFSET_SHIFT = 20;
  private static final int LENGTH_SHIFT = 39;
  private static final int ACCESS_SHIFT = 56;
  private static final int CATEGORY_SHIFT = 58;
  private static final long ACCESS_MASK = (long) MAX_ACCESS << ACCESS_SHIFT;

  private static final BlockCategory[] CATEGORIES =
    { BlockCategory.DATA, BlockCategory.INDEX, BlockCategory.BLOOM, BlockCategory.META };

  private Location() {
  }

  /**
   * Returns a location.
   * @param segment  0 to {@link #MAX_SEGMENTS} - 1
   * @param offset   where the entry begins in its segment, in bytes, a multiple of {@link #UNIT}
   * @param length   what the entry takes, in bytes, a multiple of {@link #UNIT}, not 0
   * @param access   0 to {@link #MAX_ACCESS}
   * @param kind     as {@link #categoryOf} says, with {@link #IN_MEMORY} or without
   * @throws IllegalArgumentException if there is no such place
   */
  public static long of(int segment, int offset, int length, int access, int kind) {
    if (
      (segment & -MAX_SEGMENTS) != 0 || offset < 0 || offset >= MAX_SEGMENT_BYTES
        || length <= 0 || length > MAX_ENTRY_BYTES || ((offset | length) & (UNIT - 1)) != 0
        || (access & ~MAX_ACCESS) != 0 || (kind & ~MAX_KIND) != 0
    ) {
      throw new IllegalArgumentException("No place: segment " + segment + ", offset " + offset
        + ", length " + length + ", access " + access + ", kind " + kind);
    }
    return segment | (long) (offset / UNIT) << OFFSET_SHIFT
      | (long) (length / UNIT) << LENGTH_SHIFT | (long) access << ACCESS_SHIFT
      | (long) kind << CATEGORY_SHIFT;
  }

  /** Returns the number of the segment. */
  public static int segment(long location) {
    return (int) location & (MAX_SEGMENTS - 1);
  }

  /** Returns where the entry begins in its segment, in bytes. */
  public static int offset(long location) {
    return (int) (location >>> OFFSET_SHIFT & (1 << 19) - 1) * UNIT;
  }

  /** Returns what the entry takes, in bytes. */
  public static int length(long location) {
    return (int) (location >>> LENGTH_SHIFT & (1 << 17) - 1) * UNIT;
  }

  /** Returns how often the block was asked for, at most {@link #MAX_ACCESS}. */
  public static int access(long location) {
    return (int) (location >>> ACCESS_SHIFT) & MAX_ACCESS;
  }

  /** Returns what {@link #of} was given as the kind. */
  public static int kind(long location) {
    return (int) (location >>> CATEGORY_SHIFT) & MAX_KIND;
  }

  /** Whether the block is of an in-memory family. */
  public static boolean isInMemory(long location) {
    return (kind(location) & IN_MEMORY) != 0;
  }

  /** Returns the number of what the block counts as. */
  public static int category(long location) {
    return (int) (location >>> CATEGORY_SHIFT) & (CATEGORIES.length - 1);
  }

  /** Returns the same place with another access count. */
  public static long withAccess(long location, int access) {
    return location & ~ACCESS_MASK | (long) access << ACCESS_SHIFT & ACCESS_MASK;
  }

  /** Whether two locations are the same but for their access counts. */
  public static boolean isSamePlace(long a, long b) {
    return ((a ^ b) & ~ACCESS_MASK) == 0;
  }

  /** Whether this is a location at all, and neither {@link #ABSENT} nor {@link #REFUSED}. */
  public static boolean isPresent(long location) {
    return location >= 0;
  }

  /** Returns the number that stands for what a block of this type counts as; null is data. */
  public static int categoryOf(BlockType type) {
    if (type == null) {
      return 0;
    }
    switch (type.getCategory()) {
      case DATA:
        return 0;
      case INDEX:
        return 1;
      case BLOOM:
        return 2;
      default:
        return 3;
    }
  }

  /** Returns what a number of {@link #categoryOf} stands for: data, index, bloom or meta. */
  public static BlockCategory categoryOf(int number) {
    return CATEGORIES[number];
  }
}
