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
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Increments of a row with the same {@link CounterKey}, which are applied as one increment of their
 * sum; each gets the value that it would have got in a sequence. For one thread.
 */
@InterfaceAudience.Private
final class IncrementSum {
  /** Null if it is a single increment that cannot be merged. */
  private final CounterKey key;
  private final List<WriteCall> calls = new ArrayList<>(1);
  /** What later increments add to each column, for each increment. */
  private long[][] later;

  /** @param key null for an increment that is alone */
  IncrementSum(CounterKey key) {
    this.key = key;
  }

  /** Returns a sum of one increment. */
  static IncrementSum of(WriteCall call) {
    IncrementSum sum = new IncrementSum(null);
    sum.add(call);
    return sum;
  }

  boolean accepts(CounterKey other) {
    return key != null && key.equals(other);
  }

  void add(WriteCall call) {
    calls.add(call);
  }

  List<WriteCall> calls() {
    return calls;
  }

  /** Returns the increment to apply. */
  Increment increment() throws IOException {
    if (calls.size() == 1) {
      Increment own = (Increment) calls.get(0).write();
      GroupAppend.copyToHeap(own);
      return own;
    }
    later = new long[calls.size()][];
    long[] sum = null;
    for (int i = later.length - 1; i >= 0; i--) {
      long[] amounts = CounterKey.amounts((Increment) calls.get(i).write());
      sum = sum == null ? new long[amounts.length] : sum;
      later[i] = sum.clone();
      for (int column = 0; column < sum.length; column++) {
        sum[column] += amounts[column];
      }
    }
    return key.increment(sum);
  }

  /**
   * It was applied.
   * @param all the result of the increment that was applied
   */
  void done(Result all, long sequenceId) {
    if (calls.size() == 1) {
      calls.get(0).done(all, sequenceId);
      return;
    }
    for (int i = 0; i < later.length; i++) {
      WriteCall call = calls.get(i);
      call.done(result(all, (Increment) call.write(), later[i]), sequenceId);
    }
  }

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
