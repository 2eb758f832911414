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
package org.apache.hadoop.hbase.regionserver.read;

import java.util.SortedSet;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.yetus.audience.InterfaceAudience;

/** The cells of a row and family that are selected. Immutable. Times are in milliseconds. */
@InterfaceAudience.Private
public final class RowQuery {

  private final SortedSet<byte[]> columns;
  private final TimeRange timeRange;
  private final int maxVersions;
  private final boolean keepDeletedCells;
  private final long oldestUnexpired;
  private final long now;
  private final long maxRowSize;

  /**
   * @param columns          null or empty for all
   * @param maxVersions      number of versions of a column, at least 1
   * @param keepDeletedCells whether a marker after the time range leaves the cells in it
   * @param oldestUnexpired  timestamp before which cells are expired
   * @param now              for the TTL of a cell
   * @param maxRowSize       maximum size of the selected cells in bytes
   */
  public RowQuery(SortedSet<byte[]> columns, TimeRange timeRange, int maxVersions,
    boolean keepDeletedCells, long oldestUnexpired, long now, long maxRowSize) {
    this.columns = columns;
    this.timeRange = timeRange;
    this.maxVersions = maxVersions;
    this.keepDeletedCells = keepDeletedCells;
    this.oldestUnexpired = oldestUnexpired;
    this.now = now;
    this.maxRowSize = maxRowSize;
  }

  /** Returns the listed columns; null or empty for all. */
  public SortedSet<byte[]> columns() {
    return columns;
  }

  public TimeRange timeRange() {
    return timeRange;
  }

  int maxVersions() {
    return maxVersions;
  }

  /** Returns whether a delete marker of this timestamp is to be applied. */
  boolean includesDelete(long timestamp) {
    return keepDeletedCells
      ? timeRange.withinTimeRange(timestamp)
      : timeRange.withinOrAfterTimeRange(timestamp);
  }

  public long oldestUnexpired() {
    return oldestUnexpired;
  }

  public long now() {
    return now;
  }

  long maxRowSize() {
    return maxRowSize;
  }
}
