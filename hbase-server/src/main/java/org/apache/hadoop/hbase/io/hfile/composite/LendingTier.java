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

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A tier in memory that lends a part of its memory to another cache, at the expense of data blocks
 * and not of meta blocks. What is lent is not touched by the tier until it is given back.
 * <p>
 * Implementations are thread-safe.
 */
@InterfaceAudience.Private
public interface LendingTier {

  /** Memory that was lent. Immutable. */
  @InterfaceAudience.Private
  final class LentMemory {
    private final ByteBuffer[] pages;
    private final long[] offsets;

    /**
     * @param pages   the memory, each page all of a buffer
     * @param offsets where the tier has it
     */
    public LentMemory(ByteBuffer[] pages, long[] offsets) {
      this.pages = pages;
      this.offsets = offsets;
    }

    /** Returns the memory, each page all of a buffer. */
    public ByteBuffer[] pages() {
      return pages;
    }

    /** Returns the offsets in the tier. */
    public long[] offsets() {
      return offsets;
    }
  }

  /** The cache that uses the memory. */
  @InterfaceAudience.Private
  interface Borrower {
    /**
     * The tier needs memory: gives back some units, or as many as there are, before it returns.
     * Must not wait for a thread that calls the tier.
     */
    void giveBack(int units);
  }

  /**
   * Sets who may borrow, in place of a former borrower.
   * @param share    of the tier's capacity that may be lent, 0 to 1
   * @param borrower gives back when the tier needs the memory
   */
  void setBorrower(double share, Borrower borrower);

  /**
   * Lends memory, for which data blocks are evicted. The caller must hold no lock that
   * {@link Borrower#giveBack} takes.
   * @param units how many units
   * @return those that can be had, maybe none
   */
  List<LentMemory> lend(int units);

  /** Takes memory back, which the borrower must not access any more. */
  void takeBack(LentMemory unit);

  /** Returns the bytes of the tier. */
  long getSize();

  /** Returns the bytes of a unit. */
  long getUnitSize();

  /** Returns the bytes that may be lent, if meta blocks leave them. */
  long getMaxLent();

  /** Returns the bytes that are lent. */
  long getLent();

  /** Returns whether the tier is in use, so that it may lend. */
  boolean isLending();

  /**
   * Returns the ghost entries of data blocks that more memory would hold; null if the tier has no
   * data blocks.
   */
  GhostEntries getGhosts();

  /** Returns the mean size of a data block in the tier, in bytes. */
  long getMeanBlockSize();
}
