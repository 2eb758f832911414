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
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.OperationStatus;
import org.apache.hadoop.hbase.regionserver.counter.PendingIncrement.State;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Increments that are done as one: the sum of each row's, and one edit with all rows. For the
 * thread that leads.
 */
@InterfaceAudience.Private
final class IncrementGroup {

  /** The sums of a row, and the result of applying them. */
  private static final class Row {
    private final long[] sum;
    private Result result;

    private Row(int columns) {
      sum = new long[columns];
    }
  }

  private final CounterKey key;
  private final List<PendingIncrement> members;
  /** In the order in which rows of a region are locked. */
  private final Map<byte[], Row> rows = new TreeMap<>(Bytes.BYTES_COMPARATOR);
  /** What later increments of the same row add to each column. */
  private final long[][] later;
  private boolean appended;

  /** @param members in the order of the values that they get */
  IncrementGroup(CounterKey key, List<PendingIncrement> members) {
    this.key = key;
    this.members = members;
    this.later = new long[members.size()][];
    for (int i = members.size() - 1; i >= 0; i--) {
      long[] amounts = members.get(i).amounts();
      long[] sum =
        rows.computeIfAbsent(members.get(i).row(), row -> new Row(amounts.length)).sum;
      later[i] = sum.clone();
      for (int column = 0; column < sum.length; column++) {
        sum[column] += amounts[column];
      }
    }
  }

  int size() {
    return members.size();
  }

  int rows() {
    return rows.size();
  }

  /** Returns how many members are nested calls. */
  int calls() {
    int calls = 0;
    for (PendingIncrement member : members) {
      if (member instanceof IncrementCall && ((IncrementCall) member).chain() != null) {
        calls++;
      }
    }
    return calls;
  }

  /** Applies the sums of all rows in the region. */
  void run(HRegion region) throws IOException {
    GroupNonces nonces = GroupNonces.begin(members);
    try {
      if (rows.size() == 1) {
        Map.Entry<byte[], Row> only = rows.entrySet().iterator().next();
        only.getValue().result =
          region.increment(key.increment(only.getKey(), only.getValue().sum),
            HConstants.NO_NONCE, HConstants.NO_NONCE);
      } else {
        runBatch(region);
      }
    } finally {
      appended = nonces.appended();
      nonces.end();
    }
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

  /** Returns whether the edit may have reached the WAL. A failure before that changed nothing. */
  boolean appended() {
    return appended;
  }

  /** Completes all members. */
  void done() {
    for (int i = 0; i < later.length; i++) {
      PendingIncrement member = members.get(i);
      member.done(rows.get(member.row()).result, later[i]);
    }
  }

  /**
   * Completes the members that are not complete yet: they have failed if the edit may have reached
   * the WAL, and are applied alone otherwise.
   */
  static void failed(List<PendingIncrement> members, boolean appended, Throwable failure) {
    for (PendingIncrement member : members) {
      if (member.state() == State.DONE) {
        continue;
      }
      if (appended) {
        member.failed(failure);
      } else {
        member.setState(State.ALONE);
      }
    }
  }
}
