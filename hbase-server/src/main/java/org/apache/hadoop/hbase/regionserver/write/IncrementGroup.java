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

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Increments of a row. Those with the same {@link CounterKey} are merged: one increment of their
 * sum, and for each the value that it would have got in a sequence. The others follow one by one,
 * as they would under the lock of the row.
 */
@InterfaceAudience.Private
final class IncrementGroup extends CommitGroup {
  private static final Runnable NOTHING = () -> {
  };

  private final RegionServerServices server;
  private final WriteNonces nonces;
  private final GroupMetrics metrics;
  private final long rowWaitMs;
  private final Consumer<WriteCall> contended;
  private RegionLocks locks;
  /** Those whose nonces were started and not ended. */
  private List<WriteCall> started = new ArrayList<>();
  private int appends;

  /** @param contended is given one of the increments if there are several */
  IncrementGroup(RegionServerServices server, WriteNonces nonces, GroupMetrics metrics,
    long rowWaitMs, Consumer<WriteCall> contended) {
    // The next group of the row waits for this one: it reads what this one writes.
    super(NOTHING);
    this.server = server;
    this.nonces = nonces;
    this.metrics = metrics;
    this.rowWaitMs = rowWaitMs;
    this.contended = contended;
  }

  /** Waits for the lock of the row, as each of the increments would, until a deadline ends. */
  @Override
  protected List<WriteCall> lock(List<WriteCall> taken) {
    if (RegionLocks.isMemoryShort(server)) {
      return Collections.emptyList();
    }
    WriteCall first = taken.get(0);
    long deadline = taken.stream().mapToLong(WriteCall::deadline).min().getAsLong();
    long wait = Math.min(rowWaitMs, deadline - EnvironmentEdgeManager.currentTime());
    locks = new RegionLocks(first.region());
    if (wait > 0 && locks.tryOwn(first.rows().get(0), wait)) {
      for (WriteCall write : taken) {
        if (nonces.tryStart(write)) {
          started.add(write);
        }
      }
    }
    metrics.left(taken.size() - started.size());
    return new ArrayList<>(started);
  }

  @Override
  protected void unlock() {
    started.forEach(nonces::end);
    started = Collections.emptyList();
    if (locks != null) {
      locks.close();
    }
  }

  @Override
  protected void write(List<WriteCall> arrived) {
    HRegion region = arrived.get(0).region();
    Map<Object, List<WriteCall>> merged = new LinkedHashMap<>();
    for (WriteCall write : arrived) {
      CounterKey key = CounterKey.of(region, (Increment) write.write());
      if (key == null) {
        metrics.irregular();
      }
      merged.computeIfAbsent(key == null ? write : key, any -> new ArrayList<>(1)).add(write);
    }
    merged.forEach((key, writes) -> write(region, key, writes));
    if (arrived.size() > 1) {
      contended.accept(arrived.get(0));
    }
    metrics.group(arrived.size(), appends);
  }

  private void write(HRegion region, Object key, List<WriteCall> writes) {
    GroupAppend append = new GroupAppend(writes, NOTHING);
    setAppend(append);
    try {
      if (key instanceof CounterKey && writes.size() > 1) {
        merge(region, (CounterKey) key, writes);
      } else {
        alone(region, writes.get(0));
      }
    } catch (Throwable e) {
      if (append.isBegun() || writes.size() == 1) {
        fail(writes, e);
        return;
      }
      // It has changed nothing. Whose fault it is shows one by one.
      writes.forEach(write -> write(region, write, Collections.singletonList(write)));
    } finally {
      setAppend(null);
    }
  }

  private void alone(HRegion region, WriteCall write) throws IOException {
    Increment increment = (Increment) write.write();
    appends++;
    GroupAppend.copyToHeap(increment);
    Result result = region.increment(increment, HConstants.NO_NONCE, HConstants.NO_NONCE);
    write.done(result, region.getMVCC().getReadPoint());
  }

  private void merge(HRegion region, CounterKey key, List<WriteCall> writes) throws IOException {
    // What later increments add to each column.
    long[][] later = new long[writes.size()][];
    long[] sum = null;
    for (int i = writes.size() - 1; i >= 0; i--) {
      long[] amounts = CounterKey.amounts((Increment) writes.get(i).write());
      sum = sum == null ? new long[amounts.length] : sum;
      later[i] = sum.clone();
      for (int column = 0; column < sum.length; column++) {
        sum[column] += amounts[column];
      }
    }
    appends++;
    Result all =
      region.increment(key.increment(sum), HConstants.NO_NONCE, HConstants.NO_NONCE);
    count(region, writes.size() - 1);
    for (int i = 0; i < later.length; i++) {
      WriteCall write = writes.get(i);
      write.done(result(all, (Increment) write.write(), later[i]),
        all.rawCells()[0].getSequenceId());
    }
  }

  /** Counts increments of which the region knows nothing. */
  private void count(HRegion region, int others) {
    region.addWriteRequestsCount(others);
    if (server.getMetrics() != null) {
      server.getMetrics().updateWriteQueryMeter(region, others);
    }
    for (int i = 0; region.getMetrics() != null && i < others; i++) {
      region.getMetrics().updateIncrement();
    }
  }

  /**
   * Returns the result of an increment at its position in the group.
   * @param later what later increments add to each column
   */
  private static Result result(Result all, Increment increment, long[] later) {
    if (!increment.isReturnResults()) {
      return Result.EMPTY_RESULT;
    }
    Cell[] cells = all.rawCells();
    List<Cell> own = new ArrayList<>(cells.length);
    for (int i = 0; i < cells.length; i++) {
      own.add(later[i] == 0 ? cells[i] : minus(cells[i], later[i]));
    }
    return Result.create(own);
  }

  private static Cell minus(Cell cell, long amount) {
    KeyValue copy = KeyValueUtil.copyToNewKeyValue(cell);
    Bytes.putLong(copy.getValueArray(), copy.getValueOffset(),
      PrivateCellUtil.getValueAsLong(cell) - amount);
    return copy;
  }
}
