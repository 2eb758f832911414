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
package org.apache.hadoop.hbase.regionserver.querymatcher;

import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Delete markers of a row that delete nothing which another one, of the same time or later and of
 * the family or the same column, does not delete, and that a flush or minor compaction therefore
 * leaves out (HBASE-30036). The other one counts only if each scan sees it, and if deleted cells
 * are not kept: what {@link CompactionScanQueryMatcher#trackDelete} adds to the tracker.
 * <p>
 * A tag may restrict what a marker deletes or for how long, by visibility labels or a TTL. From the
 * first marker with tags on, no marker of the row is redundant, and none at all is with a tracker
 * other than {@link ScanDeleteTracker} itself (HBASE-30266). Not thread-safe, like the matcher.
 */
@InterfaceAudience.Private
final class RedundantDeletes {
  /** Null if it is one of another class. */
  private final ScanDeleteTracker deletes;
  private boolean tagged;

  RedundantDeletes(DeleteTracker deletes) {
    this.deletes =
      deletes.getClass() == ScanDeleteTracker.class ? (ScanDeleteTracker) deletes : null;
  }

  /** Must be called for each marker that the tracker may get, and before it does. */
  boolean contain(Cell marker) {
    tagged |= marker.getTagsLength() > 0;
    return deletes != null && !tagged && (isInDeletedFamily(marker) || isInDeletedColumn(marker));
  }

  /** Starts anew in the next row. */
  void reset() {
    tagged = false;
  }

  private boolean isInDeletedFamily(Cell marker) {
    return deletes.hasFamilyStamp && marker.getTimestamp() <= deletes.familyStamp;
  }

  private boolean isInDeletedColumn(Cell marker) {
    byte type = marker.getTypeByte();
    return (type == KeyValue.Type.DeleteColumn.getCode() || type == KeyValue.Type.Delete.getCode())
      && deletes.deleteCell != null && deletes.deleteType == KeyValue.Type.DeleteColumn.getCode()
      && marker.getTimestamp() <= deletes.deleteTimestamp
      && CellUtil.matchingQualifier(marker, deletes.deleteCell);
  }
}
