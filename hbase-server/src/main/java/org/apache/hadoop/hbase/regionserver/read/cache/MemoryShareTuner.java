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
package org.apache.hadoop.hbase.regionserver.read.cache;

import org.apache.hadoop.hbase.io.hfile.composite.GhostEntries;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Moves memory between rows and blocks to where more of it would have more hits. Both caches have
 * {@link GhostEntries} for equal memory, one part in {@value #GHOST_PARTS} of what L1 may lend. If
 * those of one cache were requested more often of late than those of the other, by the factor
 * {@value #ADVANTAGE}, it gets one part in {@value #STEPS} of that memory. So the whole moves in
 * half a minute at a tick per second. A row saves a get the lookup of its blocks, and a data block
 * in L1 saves one access to L2: both count the same. Not thread-safe.
 */
@InterfaceAudience.Private
final class MemoryShareTuner {

  static final int STEPS = 32;
  static final int GHOST_PARTS = 16;
  /** How many times more hits a move must promise; it also pays for the rows that it evicts. */
  static final double ADVANTAGE = 1.25;
  /** Part of the former hits that counts after a tick. */
  private static final double DECAY = 0.7;
  /** The number of hits below which the difference between two caches may be chance. */
  private static final double MIN_HITS = 16;

  private final LendingTier tier;
  private final BorrowedMemory memory;
  private final GhostEntries rows;
  private final GhostEntries blocks;
  private final long ghostBytes;
  private final int step;
  private long lastRowHits;
  private long lastBlockHits;
  private double rowHits;
  private double blockHits;

  /**
   * @param rows   ghost entries of rows
   * @param blocks ghost entries of data blocks
   */
  MemoryShareTuner(LendingTier tier, BorrowedMemory memory, GhostEntries rows,
    GhostEntries blocks) {
    this.tier = tier;
    this.memory = memory;
    this.rows = rows;
    this.blocks = blocks;
    this.ghostBytes = Math.max(tier.getUnitSize(), tier.getMaxLent() / GHOST_PARTS);
    this.step = (int) Math.max(1, tier.getMaxLent() / tier.getUnitSize() / STEPS);
    this.lastRowHits = rows.getHits();
    this.lastBlockHits = blocks.getHits();
  }

  /**
   * Moves memory, if that makes sense.
   * @param meanRow mean size of a cached row, in bytes
   */
  void tick(long meanRow) {
    if (!tier.isLending()) {
      memory.giveBack(Integer.MAX_VALUE);
      return;
    }
    rows.setEntries(ghostBytes / meanRow);
    blocks.setEntries(ghostBytes / tier.getMeanBlockSize());
    long rowsNow = rows.getHits();
    long blocksNow = blocks.getHits();
    rowHits = DECAY * rowHits + rowsNow - lastRowHits;
    blockHits = DECAY * blockHits + blocksNow - lastBlockHits;
    lastRowHits = rowsNow;
    lastBlockHits = blocksNow;
    if (rowHits >= ADVANTAGE * blockHits + MIN_HITS) {
      memory.borrow(step);
    } else if (blockHits >= ADVANTAGE * rowHits + MIN_HITS) {
      memory.giveBack(step);
    }
  }
}
