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
package org.apache.hadoop.hbase.io.hfile.segment.device;

import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The location of a block, in one {@code long}: the value that {@code SegmentIndex} has for each
 * block.
 *
 * <pre>
 *   63  61 60    60 59    58 57    56 55          39 38           20 19             0
 *  +------+--------+--------+--------+--------------+---------------+----------------+
 *  | 0    |in mem. |category| access | length       | offset        | segment        |
 *  +------+--------+--------+--------+--------------+---------------+----------------+
 * </pre>
 *
 * Offset and length are in units of {@value #UNIT} bytes, so that a segment may have 64 MB and an
 * entry nearly 16 MB; there may be a million segments, 64 TB. The access count is the number of
 * requests for the block, up to {@value #MAX_ACCESS}; it is a hint and does not identify the
 * location. Unlike a sketch of frequencies, which would take 8 bytes for each block, it takes no
 * memory, is kept over a restart with the index, and does not age before the segment is reclaimed.
 */
@InterfaceAudience.Private
public final class Location {
  /** Alignment of entries, in bytes. */
  public static final int UNIT = 128;
  /** Maximum number of segments. */
  public static final int MAX_SEGMENTS = 1 << 20;
  /** Maximum size of a segment, in bytes. */
  public static final int MAX_SEGMENT_BYTES = (1 << 19) * UNIT;
  /** Maximum size of an entry, in bytes. */
  public static final int MAX_ENTRY_BYTES = ((1 << 17) - 1) * UNIT;
  public static final int MAX_ACCESS = 3;
  /** Flag in the kind of a block of an in-memory family, added to its category. */
  public static final int IN_MEMORY = 4;
  /** No block. No location has this value. */
  public static final long ABSENT = -1;
  /** A block that was not accepted. No location has this value. */
  public static final long REFUSED = -2;

  public static final int MAX_KIND = IN_MEMORY | 3;

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
   * @param segment 0 to {@link #MAX_SEGMENTS} - 1
   * @param offset  offset of the entry in its segment, in bytes, a multiple of {@link #UNIT}
   * @param length  size of the entry, in bytes, a multiple of {@link #UNIT}, not 0
   * @param access  0 to {@link #MAX_ACCESS}
   * @param kind    a value of {@link #categoryOf}, with or without {@link #IN_MEMORY}
   * @throws IllegalArgumentException if a value is out of range
   */
  public static long of(int segment, int offset, int length, int access, int kind) {
    if (
      (segment & -MAX_SEGMENTS) != 0 || offset < 0 || offset >= MAX_SEGMENT_BYTES
        || length <= 0 || length > MAX_ENTRY_BYTES || ((offset | length) & (UNIT - 1)) != 0
        || (access & ~MAX_ACCESS) != 0 || (kind & ~MAX_KIND) != 0
    ) {
      throw new IllegalArgumentException("Bad location: segment " + segment + ", offset " + offset
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

  /** Returns the offset of the entry in its segment, in bytes. */
  public static int offset(long location) {
    return (int) (location >>> OFFSET_SHIFT & (1 << 19) - 1) * UNIT;
  }

  /** Returns the size of the entry, in bytes. */
  public static int length(long location) {
    return (int) (location >>> LENGTH_SHIFT & (1 << 17) - 1) * UNIT;
  }

  /** Returns the number of requests for the block, at most {@link #MAX_ACCESS}. */
  public static int access(long location) {
    return (int) (location >>> ACCESS_SHIFT) & MAX_ACCESS;
  }

  /** Returns the kind that was passed to {@link #of}. */
  public static int kind(long location) {
    return (int) (location >>> CATEGORY_SHIFT) & MAX_KIND;
  }

  /** Returns whether the block is of an in-memory family. */
  public static boolean isInMemory(long location) {
    return (kind(location) & IN_MEMORY) != 0;
  }

  /** Returns the number of the block's category. */
  public static int category(long location) {
    return (int) (location >>> CATEGORY_SHIFT) & (CATEGORIES.length - 1);
  }

  /** Returns the location with another access count. */
  public static long withAccess(long location, int access) {
    return location & ~ACCESS_MASK | (long) access << ACCESS_SHIFT & ACCESS_MASK;
  }

  /** Returns whether two locations are equal except for their access counts. */
  public static boolean isSame(long a, long b) {
    return ((a ^ b) & ~ACCESS_MASK) == 0;
  }

  /** Returns whether this is a location, and neither {@link #ABSENT} nor {@link #REFUSED}. */
  public static boolean isPresent(long location) {
    return location >= 0;
  }

  /** Returns the number of the category of this block type; null means data. */
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

  /** Returns the category with this number of {@link #categoryOf}: data, index, bloom or meta. */
  public static BlockCategory categoryOf(int number) {
    return CATEGORIES[number];
  }
}
