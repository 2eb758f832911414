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

import org.apache.yetus.audience.InterfaceAudience;

/**
 * How hot the blocks are that cover a range of keys: as hot as the one of them that was accessed
 * most often, since a block of the range has but its share of the accesses of all of them. Not
 * thread-safe.
 */
@InterfaceAudience.Private
final class RangeHeat {
  /** More accesses to a block count as so many; a power of two less 1. */
  static final int MAX_ACCESSES = 63;

  private int accesses;
  private boolean inL1;
  private boolean unknown;

  void clear() {
    accesses = 0;
    inL1 = false;
    unknown = false;
  }

  /**
   * Adds a block of the range.
   * @param blockAccesses how often it was accessed; 0 or less if it never was, or is not cached
   * @param blockInL1     whether L1 has a copy of it
   */
  void add(int blockAccesses, boolean blockInL1) {
    if (blockAccesses > 0) {
      accesses = Math.max(accesses, Math.min(blockAccesses, MAX_ACCESSES));
      inL1 |= blockInL1;
    }
  }

  /** Some blocks of the range are not known. */
  void addUnknown() {
    unknown = true;
  }

  boolean isHot() {
    return accesses > 0;
  }

  /** Returns how often the hottest of the blocks was accessed, 0 to {@link #MAX_ACCESSES}. */
  int accesses() {
    return accesses;
  }

  boolean isInL1() {
    return inL1;
  }

  boolean isUnknown() {
    return unknown;
  }
}
