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

import java.util.List;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The properties that writes must have in common to be in one group: region or WAL, row (unless a
 * group may have many rows), and what a subclass adds. Immutable. Subclasses define equality.
 */
@InterfaceAudience.Private
public abstract class GroupKey {
  private final HRegion region;
  /** Null if the row does not matter. */
  private final byte[] row;

  /** @param row null if writes of different rows may be in one group */
  protected GroupKey(HRegion region, byte[] row) {
    this.region = region;
    this.row = row;
  }

  /** Returns the region of the write; equal keys may have different ones. */
  public final HRegion region() {
    return region;
  }

  /** Returns the row; null if it does not matter. */
  protected final byte[] row() {
    return row;
  }

  /** Returns whether writes of different rows may have this key. */
  public final boolean together() {
    return row == null;
  }

  /** Returns this key with a row. */
  protected abstract GroupKey of(byte[] one);

  /** Returns a group of writes of one region that have this key, in their order. */
  protected abstract WriteGroup group(List<PendingWrite> members);

  @Override
  public abstract int hashCode();

  @Override
  public abstract boolean equals(Object other);

  @Override
  public String toString() {
    return (row == null ? "rows" : Bytes.toStringBinary(row)) + " of "
      + region.getRegionInfo().getEncodedName();
  }
}
