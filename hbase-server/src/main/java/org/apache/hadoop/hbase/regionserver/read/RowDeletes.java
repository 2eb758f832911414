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

import java.util.Arrays;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The delete markers of one row and family that were read so far, with the rules of
 * {@link org.apache.hadoop.hbase.regionserver.querymatcher.ScanDeleteTracker}: a marker deletes
 * cells that are not newer than it, whatever their sequence ids are. Not thread-safe.
 */
@InterfaceAudience.Private
final class RowDeletes {

  /** The verdict of the markers about a cell. */
  enum Verdict {
    LIVE,
    /** This version is deleted. */
    VERSION_DELETED,
    /** This version and all older ones of its column are deleted. */
    COLUMN_DELETED
  }

  private static final long[] NONE = {};

  private boolean family;
  private long familyTimestamp;
  private long[] familyVersions = NONE;
  private boolean column;
  private boolean version;
  private long versionTimestamp;

  /** Forgets the markers of the column before. Those of the family stay. */
  void startColumn() {
    column = false;
    version = false;
  }

  /** Adds a marker; one of a column must be of the current one, and added in the order of cells. */
  void add(Cell marker) {
    long timestamp = marker.getTimestamp();
    if (family && timestamp <= familyTimestamp) {
      return;
    }
    byte type = marker.getTypeByte();
    if (type == KeyValue.Type.DeleteFamily.getCode()) {
      family = true;
      familyTimestamp = timestamp;
    } else if (type == KeyValue.Type.DeleteFamilyVersion.getCode()) {
      familyVersions = Arrays.copyOf(familyVersions, familyVersions.length + 1);
      familyVersions[familyVersions.length - 1] = timestamp;
    } else if (type == KeyValue.Type.DeleteColumn.getCode()) {
      column = true;
    } else {
      version = true;
      versionTimestamp = timestamp;
    }
  }

  /** @param cell not a marker, of the current column, not before the markers in their order */
  Verdict check(Cell cell) {
    if (!family && !column && !version && familyVersions.length == 0) {
      return Verdict.LIVE;
    }
    long timestamp = cell.getTimestamp();
    if (family && timestamp <= familyTimestamp || column) {
      return Verdict.COLUMN_DELETED;
    }
    if (version && timestamp == versionTimestamp) {
      return Verdict.VERSION_DELETED;
    }
    for (long deleted : familyVersions) {
      if (timestamp == deleted) {
        return Verdict.VERSION_DELETED;
      }
    }
    return Verdict.LIVE;
  }
}
