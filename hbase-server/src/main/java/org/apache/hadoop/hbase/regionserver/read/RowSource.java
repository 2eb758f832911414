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

import java.io.IOException;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.hfile.MemoryReads.WouldWaitException;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The cells of one row and family in one place, a segment of a memstore or a store file, in order.
 * Only cells that are visible at the read point of the get are returned. Not thread-safe.
 * <p>
 * What {@link #cell()} has returned stays valid until {@link #close()}.
 */
@InterfaceAudience.Private
public abstract class RowSource {

  private final byte[] row;
  private final CellComparator comparator;
  private Cell cell;
  private int stepsLeft = Integer.MAX_VALUE;

  protected RowSource(byte[] row, CellComparator comparator) {
    this.row = row;
    this.comparator = comparator;
  }

  /** Returns the current cell; null behind the last cell of the row, and before the first seek. */
  public final Cell cell() {
    return cell;
  }

  protected final byte[] row() {
    return row;
  }

  protected final CellComparator comparator() {
    return comparator;
  }

  /** Sets the current cell, null if the row has no more. A cell of another row ends the row. */
  protected final void setCell(Cell next) {
    cell = next != null && isOfRow(next) ? next : null;
  }

  /** Lets the source pass a number of cells, after which it throws {@link WouldWaitException}. */
  public final void limitSteps(int steps) {
    stepsLeft = steps;
  }

  /** Counts a cell that is passed. */
  protected final void step() {
    if (--stepsLeft < 0) {
      throw new WouldWaitException();
    }
  }

  protected final boolean isOfRow(Cell next) {
    return PrivateCellUtil.matchingRows(next, row, 0, row.length);
  }

  /**
   * Returns a timestamp that no cell exceeds, in milliseconds; {@link Long#MAX_VALUE} if unknown.
   */
  public abstract long maxTimestamp();

  /** Returns whether the cells are in a memstore. */
  public abstract boolean isInMemory();

  /**
   * Returns the order of the source: of equal cells, the one from the source with the largest order
   * is the newest.
   */
  public abstract int order();

  /** Prepares the first seek. Returns false if the source has none of the requested cells. */
  public abstract boolean open() throws IOException;

  /** Returns whether the row may have a family delete here. False only if it has none. */
  public abstract boolean mayHaveFamilyDelete();

  /** Moves to the first cell at or after a key of the row. Never moves backwards. */
  public abstract void seek(Cell key) throws IOException;

  /** Moves to the next cell. There must be a current one. */
  public abstract void next() throws IOException;

  /** Gives back all that the cells are in. May be called more than once. */
  public abstract void close();
}
