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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier;
import org.apache.hadoop.hbase.io.hfile.composite.LendingTier.LentMemory;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of L1 that the row cache has borrowed. The pages of a unit are added to the stripes
 * round-robin; the oldest unit is given back first. Invariant: no thread of the row cache accesses
 * memory that was given back, as a page is removed from its stripe, under the lock under which
 * lookups copy rows, before the tier takes it back. Thread-safe.
 */
@InterfaceAudience.Private
final class BorrowedMemory implements LendingTier.Borrower {

  private static final Logger LOG = LoggerFactory.getLogger(BorrowedMemory.class);

  private static final class Unit {
    private final LentMemory lent;
    private final List<RowStripe> stripes = new ArrayList<>();
    private final List<RowPage> pages = new ArrayList<>();

    Unit(LentMemory lent) {
      this.lent = lent;
    }
  }

  private final LendingTier tier;
  private final RowStripe[] stripes;
  private final RowCacheMetrics metrics;
  /** Its lock is not held while the tier is called, which calls {@link #giveBack}. */
  private final Deque<Unit> units = new ArrayDeque<>();
  private int nextStripe;
  private boolean isUsable = true;

  BorrowedMemory(LendingTier tier, RowStripe[] stripes, RowCacheMetrics metrics) {
    this.tier = tier;
    this.stripes = stripes;
    this.metrics = metrics;
  }

  /** Borrows some units, or as many as can be had. Only one thread calls it at a time. */
  void borrow(int count) {
    for (LentMemory lent : isUsable ? tier.lend(count) : Collections.<LentMemory> emptyList()) {
      Unit unit = new Unit(lent);
      for (ByteBuffer memory : lent.pages()) {
        RowStripe stripe = stripes[nextStripe++ & stripes.length - 1];
        RowPage page = stripe.add(memory);
        if (page != null) {
          unit.stripes.add(stripe);
          unit.pages.add(page);
        }
      }
      if (unit.pages.isEmpty() && isUsable) {
        isUsable = false;
        LOG.warn("L1 lends no memory to the row cache: its pages of {} bytes are smaller than the "
          + "largest row. Set a larger last value of hbase.bucketcache.l1.bucket.sizes",
          lent.pages()[0].capacity());
      }
      metrics.countBorrowed(unit.pages.size());
      synchronized (units) {
        units.add(unit);
      }
    }
    if (!tier.isLending() || !isUsable) {
      // If the tier was closed meanwhile, it may have reclaimed its memory before this unit was
      // listed.
      giveBack(Integer.MAX_VALUE);
    }
  }

  @Override
  public void giveBack(int count) {
    for (int i = 0; i < count; i++) {
      Unit unit;
      synchronized (units) {
        unit = units.poll();
      }
      if (unit == null) {
        return;
      }
      for (int j = 0; j < unit.pages.size(); j++) {
        unit.stripes.get(j).remove(unit.pages.get(j));
      }
      metrics.countGivenBack(unit.pages.size());
      tier.takeBack(unit.lent);
    }
  }

  int count() {
    synchronized (units) {
      return units.size();
    }
  }
}
