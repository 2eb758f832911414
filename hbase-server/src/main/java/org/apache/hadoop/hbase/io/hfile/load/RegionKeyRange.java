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

import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The keys that a region has: some of those of a file that a reference refers to. Immutable.
 */
@InterfaceAudience.Private
public final class RegionKeyRange {
  /** Null if there is no limit. */
  private final Cell start;
  private final Cell end;

  /**
   * @param startRow the first row, empty if there is no limit
   * @param endRow   the row after the last one, empty if there is no limit
   */
  public RegionKeyRange(byte[] startRow, byte[] endRow) {
    start = startRow.length == 0 ? null : PrivateCellUtil.createFirstOnRow(startRow);
    end = endRow.length == 0 ? null : PrivateCellUtil.createFirstOnRow(endRow);
  }

  /** Returns the later one of a file's first key and the beginning of the region. */
  Cell first(Cell firstKey, CellComparator comparator) {
    return start == null || firstKey == null || isAtMost(start, firstKey, comparator)
      ? firstKey
      : start;
  }

  /** Returns the key at which the region ends, null if a file's last key is before it. */
  Cell endBefore(Cell lastKey, CellComparator comparator) {
    return end == null || !isAtMost(end, lastKey, comparator) ? null : end;
  }

  /**
   * Returns whether all cells of a block are in the region.
   * @param key  at which the block begins
   * @param next at which the next one begins, null if it is the last one
   */
  boolean hasAll(Cell key, Cell next, Cell lastKey, CellComparator comparator) {
    return (start == null || isAtMost(start, key, comparator))
      && (end == null || (next == null
        ? !isAtMost(end, lastKey, comparator)
        : isAtMost(next, end, comparator)));
  }

  private static boolean isAtMost(Cell a, Cell b, CellComparator comparator) {
    return PrivateCellUtil.compareKeyIgnoresMvcc(comparator, a, b) <= 0;
  }
}
