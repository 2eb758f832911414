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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencySketch;
import org.apache.hadoop.hbase.io.hfile.composite.GhostEntries;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier.LentMemory;

/** Lends pages of a size, and writes to all of a page as soon as it is taken back. */
final class OverwritingTier implements LendingTier {
  private static final int PAGES = 3;

  private final GhostEntries ghosts = new GhostEntries(new FrequencySketch(1));
  private final int pageSize;
  private final int max;
  private int lent;
  private boolean lending = true;

  /** @param max the most units */
  OverwritingTier(int pageSize, int max) {
    this.pageSize = pageSize;
    this.max = max;
  }

  @Override
  public void setBorrower(double share, Borrower borrower) {
  }

  @Override
  public synchronized List<LentMemory> lend(int units) {
    List<LentMemory> all = new ArrayList<>();
    while (all.size() < units && lent < max) {
      ByteBuffer[] pages = new ByteBuffer[PAGES];
      Arrays.setAll(pages, i -> ByteBuffer.allocateDirect(pageSize));
      all.add(new LentMemory(pages, new long[PAGES]));
      lent++;
    }
    return all;
  }

  @Override
  public synchronized void takeBack(LentMemory unit) {
    for (ByteBuffer page : unit.pages()) {
      for (int at = 0; at < pageSize; at += Long.BYTES) {
        page.putLong(at, 0x5555_5555_5555_5555L);
      }
    }
    lent--;
  }

  synchronized void stop() {
    lending = false;
  }

  @Override
  public long getSize() {
    return 2 * getMaxLent();
  }

  @Override
  public long getUnitSize() {
    return PAGES * pageSize;
  }

  @Override
  public long getMaxLent() {
    return max * getUnitSize();
  }

  @Override
  public synchronized long getLent() {
    return lent * getUnitSize();
  }

  @Override
  public synchronized boolean isLending() {
    return lending;
  }

  @Override
  public GhostEntries getGhosts() {
    return ghosts;
  }

  @Override
  public long getMeanBlockSize() {
    return pageSize;
  }
}
