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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.ByteBufferExtendedCell;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants.OperationStatusCode;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupKey;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroup;
import org.apache.yetus.audience.InterfaceAudience;

/** Puts and deletes of different rows that are written with one edit. */
@InterfaceAudience.Private
final class MutationGroup extends WriteGroup {

  /** A region and a durability that is not the table's default. Immutable. */
  static final class Key extends GroupKey {
    private final Durability durability;

    Key(HRegion region, Durability durability) {
      super(region, null);
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
      return System.identityHashCode(region()) * 31 + durability.hashCode();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && ((Key) other).region() == region()
        && ((Key) other).durability == durability;
    }
  }

  private OperationStatus[] statuses;

  MutationGroup(List<PendingWrite> members) {
    super(members);
  }

  @Override
  public int rows() {
    return size();
  }

  @Override
  protected void apply(HRegion region) throws IOException {
    Mutation[] batch = new Mutation[size()];
    for (int i = 0; i < batch.length; i++) {
      batch[i] = members().get(i).mutation();
      copyToHeap(batch[i]);
    }
    statuses = region.batchMutate(new GroupBatchOperation(region, batch));
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
    for (int i = 0; i < statuses.length; i++) {
      if (isWritten(statuses[i])) {
        members().get(i).done(null, 0);
      } else {
        members().get(i).leftOut();
      }
    }
  }

  private static boolean isWritten(OperationStatus status) {
    return status.getOperationStatusCode() == OperationStatusCode.SUCCESS;
  }

  /** Returns how many members of a class were written. */
  int written(Class<? extends Mutation> type) {
    int written = 0;
    for (int i = 0; i < statuses.length; i++) {
      if (isWritten(statuses[i]) && type.isInstance(members().get(i).mutation())) {
        written++;
      }
    }
    return written;
  }

  int leftOut() {
    return (int) Arrays.stream(statuses).filter(status -> !isWritten(status)).count();
  }
}
