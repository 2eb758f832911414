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
import java.util.Arrays;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.exceptions.FailedSanityCheckException;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.regionserver.OperationStatus;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The puts and deletes of a call to one region, and what became of them. For the thread that has
 * the call.
 */
@InterfaceAudience.Private
final class MutationBatch implements Row {
  private final Mutation[] mutations;
  private final OperationStatus[] statuses;

  /** @param mutations one or more */
  MutationBatch(Mutation... mutations) {
    this.mutations = mutations;
    this.statuses = new OperationStatus[mutations.length];
  }

  /** Returns the row of the first mutation. */
  @Override
  public byte[] getRow() {
    return mutations[0].getRow();
  }

  @Override
  public int compareTo(Row other) {
    return Row.COMPARATOR.compare(this, other);
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  Mutation[] mutations() {
    return mutations;
  }

  boolean has(Class<? extends Mutation> type) {
    return Arrays.stream(mutations).anyMatch(type::isInstance);
  }

  /** Sets the statuses from an index of a group on. Returns the index behind them. */
  int setStatuses(OperationStatus[] ofGroup, int from) {
    System.arraycopy(ofGroup, from, statuses, 0, statuses.length);
    return from + statuses.length;
  }

  OperationStatus[] statuses() {
    return statuses;
  }

  /** Throws what {@link HRegion#put} and {@link HRegion#delete} throw for the first mutation. */
  void throwIfFailed() throws IOException {
    OperationStatus status = statuses[0];
    switch (status.getOperationStatusCode()) {
      case SANITY_CHECK_FAILURE:
        throw new FailedSanityCheckException(status.getExceptionMsg());
      case BAD_FAMILY:
        throw new NoSuchColumnFamilyException(status.getExceptionMsg());
      case STORE_TOO_BUSY:
        throw new RegionTooBusyException(status.getExceptionMsg());
      default:
    }
  }
}
