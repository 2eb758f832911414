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
package org.apache.hadoop.hbase.regionserver;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.ByteBufferExtendedCell;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants.OperationStatusCode;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupKey;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroup;
import org.apache.yetus.audience.InterfaceAudience;

/** Puts and deletes of different rows that are written with one edit. */
@InterfaceAudience.Private
final class MutationGroup extends WriteGroup {

  /**
   * A region's WAL, a share of the WAL's regions, and a durability that is not the table's default.
   * Immutable.
   */
  static final class Key extends GroupKey {
    private final int share;
    private final Durability durability;

    Key(HRegion region, int share, Durability durability) {
      super(region, null);
      this.share = share;
      this.durability = durability;
    }

    /** Not called: a write whose row is locked is applied alone. */
    @Override
    protected GroupKey of(byte[] one) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected WriteGroup group(List<PendingWrite> members) {
      return new MutationGroup(members);
    }

    @Override
    public int hashCode() {
      return (System.identityHashCode(region().getWAL()) * 31 + share) * 31 + durability.hashCode();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && ((Key) other).region().getWAL() == region().getWAL()
        && ((Key) other).share == share && ((Key) other).durability == durability;
    }
  }

  private int mutations;
  private int leftOut;
  private int puts;
  private int deletes;

  MutationGroup(List<PendingWrite> members) {
    super(members);
  }

  @Override
  public int rows() {
    return mutations;
  }

  @Override
  protected void apply(HRegion region) throws IOException {
    List<Mutation> all = new ArrayList<>(size());
    for (PendingWrite member : members()) {
      for (Mutation mutation : batch(member).mutations()) {
        copyToHeap(mutation);
        all.add(mutation);
      }
    }
    mutations = all.size();
    leftOut = mutations;
    OperationStatus[] statuses =
      region.batchMutate(new GroupBatchOperation(region, all.toArray(new Mutation[0])));
    leftOut = 0;
    int next = 0;
    for (PendingWrite member : members()) {
      MutationBatch batch = batch(member);
      for (int i = 0; i < batch.statuses().length; i++) {
        OperationStatus status = statuses[next++];
        if (isFinal(status, batch)) {
          batch.statuses()[i] = status;
        } else {
          leftOut++;
        }
      }
    }
  }

  @Override
  protected boolean triesLocks() {
    return true;
  }

  private static MutationBatch batch(PendingWrite member) {
    return (MutationBatch) member.write();
  }

  /** A mutation that was not written is applied alone if its call is to fail, or it was locked. */
  private static boolean isFinal(OperationStatus status, MutationBatch batch) {
    return status.getOperationStatusCode() == OperationStatusCode.SUCCESS
      || !batch.isSingle() && status != GroupBatchOperation.LEFT_OUT;
  }

  /** The WAL retains the buffers of one call only, and may write cells after the others end. */
  private static void copyToHeap(Mutation mutation) {
    for (Map.Entry<byte[], List<Cell>> family : mutation.getFamilyCellMap().entrySet()) {
      family.getValue().replaceAll(cell -> cell instanceof ByteBufferExtendedCell
        ? KeyValueUtil.copyToNewKeyValue(cell)
        : cell);
    }
  }

  @Override
  protected void done() {
    for (PendingWrite member : members()) {
      MutationBatch batch = batch(member);
      if (batch.isDone()) {
        puts += has(batch, Put.class) ? 1 : 0;
        deletes += has(batch, Delete.class) ? 1 : 0;
        member.done(null, 0);
      } else {
        member.leftOut();
      }
    }
  }

  private static boolean has(MutationBatch batch, Class<? extends Mutation> type) {
    return Arrays.stream(batch.mutations()).anyMatch(type::isInstance);
  }

  /** Returns how many members have puts and were written as a whole. */
  int puts() {
    return puts;
  }

  /** Returns how many members have deletes and were written as a whole. */
  int deletes() {
    return deletes;
  }

  /** Returns how many mutations were not applied. */
  int leftOut() {
    return leftOut;
  }
}
