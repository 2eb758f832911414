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
package org.apache.hadoop.hbase.regionserver.counter;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

/** Decides which increments may be merged with others. Thread-safe. */
@InterfaceAudience.Private
final class MergeEligibility {
  private final CoalescerMetrics metrics;

  MergeEligibility(CoalescerMetrics metrics) {
    this.metrics = metrics;
  }

  /**
   * Returns under which key an increment is merged with others, null if it is not, and counts why.
   * @param mergesRegion whether increments of all rows of a region are merged
   */
  CounterKey key(HRegion region, Increment increment, boolean mergesRegion) {
    // Without a WAL edit a group that changed nothing looks like one that did.
    if (skipsWal(region, increment)) {
      metrics.withoutWal();
      return null;
    }
    if (isObserved(region, increment)) {
      metrics.hooked();
      return null;
    }
    CounterKey key = CounterKey.of(region, increment, mergesRegion);
    if (key == null) {
      metrics.irregular();
    }
    return key;
  }

  /** As {@link #key}, but counts nothing. */
  CounterKey peek(HRegion region, Increment increment, boolean mergesRegion) {
    return skipsWal(region, increment) || isObserved(region, increment)
      ? null
      : CounterKey.of(region, increment, mergesRegion);
  }

  /** Returns false if only the region can decide whether the caller is permitted to increment. */
  boolean isPermitted(HRegion region, Increment increment) throws IOException {
    if (
      IncrementHooks.of(region.getCoprocessorHost()) == IncrementHooks.PERMISSIONS
        && !IncrementHooks.permit(region.getCoprocessorHost(), increment)
    ) {
      metrics.hooked();
      return false;
    }
    return true;
  }

  private static boolean skipsWal(HRegion region, Increment increment) {
    Durability durability = increment.getDurability();
    return (durability == Durability.USE_DEFAULT
      ? region.getTableDescriptor().getDurability()
      : durability) == Durability.SKIP_WAL;
  }

  /** Returns whether a coprocessor sees each increment, or makes its cells. */
  private static boolean isObserved(HRegion region, Increment increment) {
    // AccessController makes the cells of an increment with permissions of its own.
    return increment.getACL() != null
      || IncrementHooks.of(region.getCoprocessorHost()) == IncrementHooks.EACH;
  }
}
