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

import java.util.Arrays;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * What increments have in common that wait in one queue: a row, or a part of a region's rows and
 * how they are written. Immutable.
 */
@InterfaceAudience.Private
final class IncrementQueueKey {
  private final HRegion region;
  /** Null if the key is of a part of the rows. */
  private final byte[] row;
  private final int part;
  private final Durability durability;
  private final boolean urgent;
  private final int hash;

  private IncrementQueueKey(HRegion region, byte[] row, int part, Durability durability,
    boolean urgent) {
    this.region = region;
    this.row = row;
    this.part = part;
    this.durability = durability;
    this.urgent = urgent;
    int own = row != null
      ? Bytes.hashCode(row)
      : (part * Durability.values().length + durability.ordinal()) * 2 + (urgent ? 1 : 0);
    this.hash = System.identityHashCode(region) * 31 + own;
  }

  static IncrementQueueKey ofRow(HRegion region, byte[] row) {
    return new IncrementQueueKey(region, row, 0, null, false);
  }

  /**
   * Returns the key of a part of the rows of a region.
   * @param durability of the increments, which is that of their edit
   * @param urgent     whether the calls are more urgent than usual ones
   */
  static IncrementQueueKey ofPart(HRegion region, int part, Durability durability,
    boolean urgent) {
    return new IncrementQueueKey(region, null, part, durability, urgent);
  }

  /** Returns the row, null if it is the key of a part of the rows. */
  byte[] row() {
    return row;
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof IncrementQueueKey)) {
      return false;
    }
    IncrementQueueKey that = (IncrementQueueKey) other;
    return region == that.region && part == that.part && durability == that.durability
      && urgent == that.urgent && Arrays.equals(row, that.row);
  }

  @Override
  public String toString() {
    String name = region.getRegionInfo().getEncodedName();
    return row != null
      ? Bytes.toStringBinary(row) + " of " + name
      : "part " + part + " of " + name + ", " + durability;
  }
}
