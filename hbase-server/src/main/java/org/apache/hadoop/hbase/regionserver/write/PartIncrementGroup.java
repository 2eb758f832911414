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

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Increments of warm rows in a part of a region. Those whose row is locked wait in the queue of the
 * row, and hold up no others.
 * <p>
 * Invariant: a group holds the exclusive lock of each row that it writes, has waited for none of
 * them, and waits for nothing but the WAL, blocks that are not in memory, and a flush that begins;
 * so groups and handlers never wait for each other in a circle.
 * <p>
 * The rows are read one after the other. When that has taken long, as it does if the cells were
 * flushed and their blocks are read from a device, the increments of the part are dispatched to
 * handlers for a second, which read in parallel.
 */
@InterfaceAudience.Private
class PartIncrementGroup extends IncrementGroup {
  private final LongSupplier nanos;
  private final long slowNs;
  private final Consumer<IncrementCall> slow;
  private IncrementCall any;
  private long start;
  private boolean measured;

  /**
   * @param rowQueue has an increment wait in the queue of its row
   * @param nanos    the time, as of {@link System#nanoTime}
   * @param slowNs   how long a group that is not slow takes to read its rows and append its edit
   * @param slow     is given an increment of a group that is slow; does not throw
   */
  PartIncrementGroup(RegionServerServices server, WriteNonces nonces, GroupMetrics metrics,
    Predicate<IncrementCall> rowQueue, LongSupplier nanos, long slowNs,
    Consumer<IncrementCall> slow) {
    super(server, nonces, metrics, call -> {
      call.setContended();
      return rowQueue.test(call);
    });
    this.nanos = nanos;
    this.slowNs = slowNs;
    this.slow = slow;
  }

  @Override
  void lock(RegionLocks region, List<WriteCall> taken) {
    Map<HashedBytes, Boolean> rows = new HashMap<>();
    for (WriteCall call : taken) {
      byte[] row = ((IncrementCall) call).row();
      if (rows.computeIfAbsent(new HashedBytes(row), same -> region.tryOwn(row, 0))) {
        start(call);
      } else if (!call.region().isClosing() && !call.region().isClosed()) {
        pass(call);
      }
    }
  }

  @Override
  protected void write(List<WriteCall> arrived) {
    any = (IncrementCall) arrived.get(0);
    start = nanos.getAsLong();
    super.write(arrived);
  }

  @Override
  void edited() {
    super.edited();
    if (!measured && nanos.getAsLong() - start > slowNs) {
      slow.accept(any);
    }
    measured = true;
  }
}
