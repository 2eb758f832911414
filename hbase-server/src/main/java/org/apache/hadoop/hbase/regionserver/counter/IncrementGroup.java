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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.OperationStatus;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroup;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Increments that are done as one: the sum of each row's, and one edit with all rows. For the
 * thread that leads.
 */
@InterfaceAudience.Private
final class IncrementGroup extends WriteGroup {

  /** The sums of a row, and the result of applying them. */
  private static final class Row {
    private final long[] sum;
    private Result result;

    private Row(int columns) {
      sum = new long[columns];
    }
  }

  private final CounterKey key;
  /** In the order in which rows of a region are locked. */
  private final Map<byte[], Row> rows = new TreeMap<>(Bytes.BYTES_COMPARATOR);
  /** What later increments of the same row add to each column. */
  private final long[][] later;

  /** @param members in the order of the values that they get */
  IncrementGroup(CounterKey key, List<PendingWrite> members) {
    super(members);
    this.key = key;
    this.later = new long[members.size()][];
    for (int i = members.size() - 1; i >= 0; i--) {
      long[] amounts = CounterKey.amounts((Increment) members.get(i).write());
      long[] sum =
        rows.computeIfAbsent(members.get(i).row(), row -> new Row(amounts.length)).sum;
      later[i] = sum.clone();
      for (int column = 0; column < sum.length; column++) {
        sum[column] += amounts[column];
      }
    }
  }

  @Override
  public int rows() {
    return rows.size();
  }

  /** Applies the sums of all rows in the region. */
  @Override
  protected void apply(HRegion region) throws IOException {
    if (rows.size() > 1) {
      runBatch(region);
      return;
    }
    Map.Entry<byte[], Row> only = rows.entrySet().iterator().next();
    only.getValue().result = region.increment(key.increment(only.getKey(), only.getValue().sum),
      HConstants.NO_NONCE, HConstants.NO_NONCE);
  }

  private void runBatch(HRegion region) throws IOException {
    Mutation[] batch = new Mutation[rows.size()];
    int i = 0;
    for (Map.Entry<byte[], Row> row : rows.entrySet()) {
      batch[i++] = key.increment(row.getKey(), row.getValue().sum);
    }
    OperationStatus[] statuses =
      region.batchMutate(batch, true, HConstants.NO_NONCE, HConstants.NO_NONCE);
    i = 0;
    for (Row row : rows.values()) {
      row.result = statuses[i++].getResult();
    }
  }

  @Override
  protected void done() {
    for (int i = 0; i < later.length; i++) {
      PendingWrite member = members().get(i);
      Result result = rows.get(member.row()).result;
      member.done(result(result, (Increment) member.write(), later[i]),
        result.rawCells()[0].getSequenceId());
    }
  }

  /**
   * Returns the result of an increment at its position in the group.
   * @param later what later increments of its row add to each column
   */
  private static Result result(Result ofRow, Increment increment, long[] later) {
    if (!increment.isReturnResults()) {
      return Result.EMPTY_RESULT;
    }
    Cell[] cells = ofRow.rawCells();
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
