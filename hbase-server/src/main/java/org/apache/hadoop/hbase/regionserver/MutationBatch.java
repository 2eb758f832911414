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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Row;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The puts and deletes of a call to one region, and what became of them: one of a single write, or
 * those of a batch. Of a batch whose call no handler has begun, only rows and durability are known.
 * For the thread that has the call.
 */
@InterfaceAudience.Private
final class MutationBatch implements Row {
  private final List<byte[]> rows;
  private final Durability durability;
  private final boolean single;
  private final boolean seemsPlain;
  /** Null if they were not read yet. */
  private final Mutation[] mutations;
  /** Of each mutation, null if it has not been applied. */
  private final OperationStatus[] statuses;

  private MutationBatch(List<byte[]> rows, Durability durability, boolean single,
    boolean seemsPlain, Mutation[] mutations) {
    this.rows = rows;
    this.durability = durability;
    this.single = single;
    this.seemsPlain = seemsPlain;
    this.mutations = mutations;
    this.statuses = mutations == null ? null : new OperationStatus[mutations.length];
  }

  /** Returns the write of a call that has one mutation, and fails if that fails. */
  static MutationBatch single(Mutation mutation) {
    return new MutationBatch(Collections.singletonList(mutation.getRow()),
      mutation.getDurability(), true, true, new Mutation[] { mutation });
  }

  /** @param mutations one or more, all with the same durability or that of the table */
  static MutationBatch of(Mutation[] mutations) {
    List<byte[]> rows = new ArrayList<>(mutations.length);
    for (Mutation mutation : mutations) {
      rows.add(mutation.getRow());
    }
    return new MutationBatch(rows, mutations[0].getDurability(), false, true, mutations);
  }

  /**
   * Returns a batch that is not read yet.
   * @param seemsPlain whether its attributes allow that it is in a group
   */
  static MutationBatch unread(List<byte[]> rows, Durability durability, boolean seemsPlain) {
    return new MutationBatch(rows, durability, false, seemsPlain, null);
  }

  /** Returns the row of the first mutation. */
  @Override
  public byte[] getRow() {
    return rows.get(0);
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

  List<byte[]> rows() {
    return rows;
  }

  Durability durability() {
    return durability;
  }

  /** Returns whether a batch that is not read yet may be in a group, as far as is known. */
  boolean seemsPlain() {
    return seemsPlain;
  }

  /** Returns whether it is the one mutation of a call, which fails if that fails. */
  boolean isSingle() {
    return single;
  }

  /** Returns null if they were not read yet. */
  Mutation[] mutations() {
    return mutations;
  }

  /** Returns the status of each mutation, null if it has not been applied. */
  OperationStatus[] statuses() {
    return statuses;
  }

  boolean isDone() {
    return !Arrays.asList(statuses).contains(null);
  }

  /** Returns the mutations that have not been applied. */
  Mutation[] remaining() {
    List<Mutation> remaining = new ArrayList<>();
    for (int i = 0; i < mutations.length; i++) {
      if (statuses[i] == null) {
        remaining.add(mutations[i]);
      }
    }
    return remaining.toArray(new Mutation[0]);
  }

  /** Adds the statuses of {@link #remaining()}. */
  void addStatuses(OperationStatus[] more) {
    int next = 0;
    for (int i = 0; i < statuses.length; i++) {
      if (statuses[i] == null) {
        statuses[i] = more[next++];
      }
    }
  }
}
