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
package org.apache.hadoop.hbase.regionserver.writegroup;

import java.io.IOException;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;

/**
 * A kind of writes that {@link WriteGroups} groups: which of them may be in one group, and how one
 * is applied alone. Implementations must be thread-safe.
 */
@InterfaceAudience.Private
public interface WriteKind {

  /** Returns whether writes of this kind are grouped now. */
  boolean isEnabled();

  /** Returns whether a group may have several rows of a region. */
  boolean groupsRows();

  /**
   * Returns a hash of what a write to a region may have to wait for, equal for writes with equal
   * keys. Called only if groups may have writes of several regions.
   */
  default int place(HRegion region) {
    throw new UnsupportedOperationException();
  }

  /** Returns whether writes that arrive on other ways than as calls, as in batches, are grouped. */
  boolean joinsFromThreads();

  /**
   * Returns whether a group may have the writes of all regions of a WAL, with one edit for each
   * region and one sync, and whether the next group is formed during that sync. Their keys are
   * equal. Only if a write does not depend on those before it, and if {@link #alone} never waits
   * for an operation that has the same nonce.
   */
  boolean groupsRegions();

  /** Returns how long a write waits for the lock of its row, in milliseconds, 1 at least. */
  long rowWaitMs();

  /** Returns whether a request is of this kind; its region and families are not known yet. */
  boolean accepts(Message request);

  /** Returns false if no write of a request to the region is grouped, without reading it. */
  boolean accepts(HRegion region, Message request);

  /** Reads the mutation of a request. */
  Row parse(MutationProto proto, CellScanner cells) throws IOException;

  /** Returns the write of a request that is a batch, of which only the rows are read. */
  Row batch(RegionAction action);

  /** Returns the key of a write, null if it is not grouped; counts why. */
  GroupKey key(HRegion region, Row write);

  /** As {@link #key}, but counts nothing. */
  GroupKey peek(HRegion region, Row write);

  /**
   * Checks the permissions of the caller whose call the thread runs.
   * @return false if only the region can decide
   * @throws IOException if the caller may not write this
   */
  boolean isPermitted(HRegion region, Row write) throws IOException;

  /**
   * The members of a group that is formed. Called once for each write, in their order, under the
   * lock of the queue, which threads that read requests take too: it has to be fast.
   */
  interface Members {
    /** Adds a write, or returns false if this group may not have it. */
    boolean add(PendingWrite write);

    /** Returns whether the group may have no more writes. */
    default boolean isFull() {
      return false;
    }
  }

  /** Returns the members of a group, of which one is known. */
  Members members(PendingWrite first);

  /** Returns whether a group would wait for the lock of a row of a write, or for its region. */
  boolean isLocked(HRegion region, Row write);

  /** Applies a write by itself, as the base does. */
  Result alone(HRegion region, Row write, long nonceGroup, long nonce) throws IOException;

  /** Counts in the metrics of region and server what they have not counted of a group. */
  void count(HRegion region, WriteGroup group);

  GroupMetrics metrics();

  /** Returns the name of the span of a write that is grouped. */
  String spanName();
}
