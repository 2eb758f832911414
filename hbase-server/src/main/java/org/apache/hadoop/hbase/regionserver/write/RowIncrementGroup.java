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
package org.apache.hadoop.hbase.regionserver.write;

import java.util.List;
import java.util.function.Predicate;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Increments of a row that others have locked, or had when the first of them arrived. The committer
 * waits for the lock.
 * <p>
 * Invariant: increments are passed on to the part of their row only if none of them has found the
 * row locked there before, so that each is passed on twice at most.
 */
@InterfaceAudience.Private
class RowIncrementGroup extends IncrementGroup {
  private final long rowWaitMs;
  private final Predicate<IncrementCall> partIsBusy;

  /**
   * @param partQueue  has an increment wait in the queue of the part
   * @param partIsBusy whether that has increments in flight, and is not slow
   */
  RowIncrementGroup(RegionServerServices server, WriteNonces nonces, GroupMetrics metrics,
    long rowWaitMs, Predicate<IncrementCall> partQueue, Predicate<IncrementCall> partIsBusy) {
    super(server, nonces, metrics, partQueue);
    this.rowWaitMs = rowWaitMs;
    this.partIsBusy = partIsBusy;
  }

  /** Waits for the lock of the row, as each of the increments would, until a deadline ends. */
  @Override
  void lock(RegionLocks region, List<WriteCall> taken) {
    IncrementCall first = (IncrementCall) taken.get(0);
    long deadline = taken.stream().mapToLong(WriteCall::deadline).min().getAsLong();
    long wait = Math.min(rowWaitMs, deadline - EnvironmentEdgeManager.currentTime());
    if (wait <= 0) {
      return;
    }
    boolean isFree = region.tryOwn(first.row(), 0);
    if (
      isFree && partIsBusy.test(first)
        && taken.stream().noneMatch(call -> ((IncrementCall) call).isContended())
    ) {
      // No other operation holds the row any more: the next group of the part has one edit for
      // this row and others.
      region.close();
      taken.forEach(this::pass);
    } else if (isFree || region.tryOwn(first.row(), wait)) {
      taken.forEach(this::start);
    }
  }
}
