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
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The delete markers of one column that a user scan has just passed (HBASE-29039). A marker of a
 * family or of all versions of a column deletes each cell that sorts behind it in its column, and
 * makes each marker there superfluous, so that the scan may continue with the next column. As one
 * marker is passed faster than a seek takes, it does so only after {@link #SEEK_AFTER} in a row.
 * <p>
 * Where deletes are not a matter of timestamps alone, a scan passes marker by marker as it did: if
 * deleted cells are kept, since a time range may leave out the newest marker only, and with any
 * tracker other than {@link ScanDeleteTracker} itself, such as that of visibility labels or of
 * NEW_VERSION_BEHAVIOR. Not thread-safe, like the matcher.
 */
@InterfaceAudience.Private
final class DeleteMarkerRun {
  /** Number of markers of one column after which a scan seeks. */
  static final int SEEK_AFTER = 10;

  private final boolean plain;
  private Cell last;
  private int length;

  DeleteMarkerRun(DeleteTracker deletes, boolean seePastDeleteMarkers) {
    this.plain = !seePastDeleteMarkers && deletes.getClass() == ScanDeleteTracker.class;
  }

  /**
   * Adds a marker that the tracker has seen.
   * @return whether to seek to the next column; the run then starts anew
   */
  boolean isLong(Cell marker) {
    if (!plain || !deletesRest(marker)) {
      length = 0;
      return false;
    }
    if (last != null && !CellUtil.matchingQualifier(marker, last)) {
      length = 0;
    }
    last = marker;
    if (++length < SEEK_AFTER) {
      return false;
    }
    length = 0;
    return true;
  }

  /**
   * Returns the cell from which a scan that leaves the column of the given one continues. Cells
   * without a qualifier are otherwise passed one by one, as a marker of the family may be among
   * them (HBASE-18471); behind such a marker nothing is left that counts.
   */
  Cell endOfDeleted(Cell cell) {
    return plain && PrivateCellUtil.isDeleteFamily(cell)
      ? PrivateCellUtil.createLastOnRowCol(cell)
      : cell;
  }

  /** Starts anew in the next row. */
  void reset() {
    last = null;
    length = 0;
  }

  /** Keeps no reference to a block that is about to be released. */
  void beforeShipped() {
    if (last != null) {
      last = KeyValueUtil.toNewKeyCell(last);
    }
  }

  /** Markers of columns without a name do not count, as one of the family may follow. */
  private static boolean deletesRest(Cell marker) {
    byte type = marker.getTypeByte();
    return type == KeyValue.Type.DeleteFamily.getCode()
      || type == KeyValue.Type.DeleteColumn.getCode() && marker.getQualifierLength() > 0;
  }
}
