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
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.TagType;
import org.apache.hadoop.hbase.regionserver.RowTooBigException;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Reads one row of one family from its sources, and selects cells with the rules of a
 * {@link org.apache.hadoop.hbase.regionserver.StoreScanner}. Not thread-safe; one object reads one
 * row.
 * <p>
 * For listed columns, sources are opened in descending order of their largest timestamps, and one
 * is opened only when the newest cell that is left of a column is not strictly newer than all of
 * the source: then none of its cells or delete markers can change what was selected before. At
 * equal timestamps a marker deletes a cell, and of two cells the one with the larger sequence id
 * wins, so equal timestamps open the source. Whole families are read from all sources.
 */
@InterfaceAudience.Private
public final class RowReader {

  /** Cells of a column to pass one by one before a seek to the next column. */
  private static final int STEPS = 8;
  /** Differs from the timestamp of any cell that is selected. */
  private static final long NO_TIMESTAMP = HConstants.OLDEST_TIMESTAMP;

  private final RowQuery query;
  private final byte[] row;
  private final byte[] family;
  private final CellComparator comparator;
  /** Null before the first marker. */
  private RowDeletes deletes;
  /** Up to {@link #openedCount} those that are opened, from {@link #nextPending} on the rest. */
  private final RowSource[] sources;
  private final int sourceCount;
  private int openedCount;
  private int nextPending;
  private final Cell rowStart;

  // These fields are the state of the current column.
  private int versions;
  private long lastTimestamp;
  /** Whether a version of the column was skipped that a compaction may count as one. */
  private boolean hidden;

  // These fields are the state of the row.
  private long size;
  private boolean found;
  private boolean onlyFromMemory = true;
  private boolean behindHidden;
  private boolean timed;

  /**
   * @param sources in descending order of {@link RowSource#maxTimestamp()} if columns are listed;
   *                changed by the reader
   * @param count   number of sources, from the first one on
   */
  public RowReader(byte[] row, byte[] family, RowQuery query, CellComparator comparator,
    RowSource[] sources, int count) {
    this.row = row;
    this.family = family;
    this.query = query;
    this.comparator = comparator;
    this.sources = sources;
    this.sourceCount = count;
    this.rowStart = PrivateCellUtil.createFirstDeleteFamilyCellOnRow(row, family);
  }

  /**
   * Adds the selected cells in order. To be called once.
   * @throws RowTooBigException if they are larger than {@link RowQuery#maxRowSize()}
   */
  public void read(List<Cell> results) throws IOException {
    Collection<byte[]> columns = query.columns();
    if (columns == null || columns.isEmpty()) {
      readAll(results);
      return;
    }
    for (byte[] column : columns) {
      readColumn(column, results);
    }
  }

  /** Returns whether any cell of the row was seen, selected or not. */
  public boolean hasFound() {
    return found;
  }

  /** Returns whether all selected cells are in a memstore. */
  public boolean isOnlyFromMemory() {
    return onlyFromMemory;
  }

  /**
   * Returns whether a cell was selected behind a newer version of its column that a marker of this
   * version, its TTL or its timestamp hides, or a marker will expire. A flush or compaction without
   * that marker, or that began before the TTL was over, counts the newer version, and may drop the
   * selected one.
   */
  public boolean isBehindHidden() {
    return behindHidden;
  }

  /**
   * Returns whether a cell or marker was skipped because its own TTL is over: at an earlier time,
   * as clocks are corrected, the result may differ.
   */
  public boolean isTimed() {
    return timed;
  }

  private void readColumn(byte[] column, List<Cell> results) throws IOException {
    // The markers of the family are among the cells of the column without a name.
    boolean unnamed = column.length == 0;
    Cell key = unnamed ? rowStart : PrivateCellUtil.createFirstOnRow(row, family, column);
    // HBase's tracker of listed columns starts with this timestamp, so it never selects a cell that
    // has it. This reader does the same.
    startColumn(HConstants.LATEST_TIMESTAMP);
    for (int i = 0; i < openedCount; i++) {
      sources[i].seek(key);
    }
    RowSource newest = newestOf(column);
    while (true) {
      while (nextPending < sourceCount && (newest == null
        || sources[nextPending].maxTimestamp() >= newest.cell().getTimestamp())) {
        if (openNext(unnamed)) {
          sources[openedCount - 1].seek(key);
          newest = newestOf(column);
        }
      }
      if (newest == null || select(newest, results)) {
        break;
      }
      newest.next();
      newest = newestOf(column);
    }
    if (unnamed) {
      for (int i = 0; i < openedCount; i++) {
        readFamilyDeletes(sources[i]);
      }
    }
  }

  private void readAll(List<Cell> results) throws IOException {
    while (nextPending < sourceCount) {
      if (openNext(true)) {
        sources[openedCount - 1].seek(rowStart);
      }
    }
    Cell column = null;
    boolean ended = false;
    int steps = 0;
    for (RowSource first = first(); first != null; first = first()) {
      Cell cell = first.cell();
      if (column == null || !CellUtil.matchingQualifier(cell, column)) {
        column = cell;
        ended = false;
        steps = 0;
        startColumn(NO_TIMESTAMP);
      }
      if (!ended) {
        ended = select(first, results);
      } else if (cell.getQualifierLength() == 0) {
        addFamilyDelete(cell);
      } else if (++steps % STEPS == 0) {
        first.seek(PrivateCellUtil.createLastOnRowCol(cell));
        continue;
      }
      first.next();
    }
  }

  private void startColumn(long duplicate) {
    if (deletes != null) {
      deletes.startColumn();
    }
    versions = 0;
    hidden = false;
    lastTimestamp = duplicate;
  }

  /**
   * Opens the next source, behind its family deletes unless they are to be read with the cells.
   * Returns false if it has nothing.
   */
  private boolean openNext(boolean familyDeletesLater) throws IOException {
    RowSource source = sources[nextPending++];
    if (!source.open()) {
      return false;
    }
    sources[openedCount++] = source;
    if (!familyDeletesLater && source.mayHaveFamilyDelete()) {
      source.seek(rowStart);
      readFamilyDeletes(source);
    }
    return true;
  }

  private void readFamilyDeletes(RowSource source) throws IOException {
    for (Cell cell = source.cell(); cell != null && cell.getQualifierLength() == 0;
      cell = source.cell()) {
      found = true;
      addFamilyDelete(cell);
      source.next();
    }
  }

  private void addFamilyDelete(Cell cell) {
    // A marker of the column without a name must not be taken for one of the current column.
    if (
      (PrivateCellUtil.isDeleteFamily(cell) || PrivateCellUtil.isDeleteFamilyVersion(cell))
        && !isExpired(cell)
    ) {
      addDelete(cell);
    }
  }

  private void addDelete(Cell marker) {
    behindHidden |= marker.getTagsLength() > 0 && ttl(marker).isPresent();
    if (query.includesDelete(marker.getTimestamp())) {
      if (deletes == null) {
        deletes = new RowDeletes();
      }
      deletes.add(marker);
    }
  }

  /** Adds a source's cell to the results if it is to be. Returns whether its column has ended. */
  private boolean select(RowSource source, List<Cell> results) throws IOException {
    Cell cell = source.cell();
    found = true;
    long timestamp = cell.getTimestamp();
    if (timestamp < query.oldestUnexpired()) {
      return true;
    }
    if (cell.getTagsLength() > 0 && isTagExpired(cell)) {
      hidden = true;
      return false;
    }
    if (PrivateCellUtil.isDelete(cell.getTypeByte())) {
      addDelete(cell);
      return false;
    }
    RowDeletes.Verdict verdict = deletes == null ? RowDeletes.Verdict.LIVE : deletes.check(cell);
    if (verdict != RowDeletes.Verdict.LIVE) {
      hidden = true;
      return verdict == RowDeletes.Verdict.COLUMN_DELETED;
    }
    int order = query.timeRange().compare(timestamp);
    if (order != 0) {
      return order < 0;
    }
    if (timestamp == lastTimestamp) {
      hidden |= versions == 0;
      return false;
    }
    lastTimestamp = timestamp;
    behindHidden |= hidden;
    results.add(cell);
    onlyFromMemory = onlyFromMemory && source.isInMemory();
    size += PrivateCellUtil.estimatedSerializedSizeOf(cell);
    if (size > query.maxRowSize()) {
      throw new RowTooBigException("Max row size allowed: " + query.maxRowSize()
        + ", but the row is bigger than that, the row info: " + CellUtil.toString(cell, false));
    }
    return ++versions >= query.maxVersions();
  }

  private boolean isExpired(Cell cell) {
    return cell.getTimestamp() < query.oldestUnexpired()
      || cell.getTagsLength() > 0 && isTagExpired(cell);
  }

  private boolean isTagExpired(Cell cell) {
    Optional<Tag> ttl = ttl(cell);
    boolean expired = ttl.isPresent()
      && cell.getTimestamp() + Tag.getValueAsLong(ttl.get()) < query.now();
    timed |= expired;
    return expired;
  }

  private static Optional<Tag> ttl(Cell cell) {
    return PrivateCellUtil.getTag(cell, TagType.TTL_TAG_TYPE);
  }

  /** Returns the source with the newest cell of a column, at or after which all sources are. */
  private RowSource newestOf(byte[] column) {
    RowSource newest = null;
    for (int i = 0; i < openedCount; i++) {
      RowSource source = sources[i];
      Cell cell = source.cell();
      if (
        cell != null && CellUtil.matchingQualifier(cell, column)
          && (newest == null || isNewer(source, newest))
      ) {
        newest = source;
      }
    }
    return newest;
  }

  /** Compares the current cells of two sources, which are of one column. */
  private static boolean isNewer(RowSource source, RowSource other) {
    Cell cell = source.cell();
    Cell otherCell = other.cell();
    int order = Long.compare(cell.getTimestamp(), otherCell.getTimestamp());
    if (order == 0) {
      order = Integer.compare(cell.getTypeByte() & 0xff, otherCell.getTypeByte() & 0xff);
    }
    if (order == 0) {
      order = Long.compare(cell.getSequenceId(), otherCell.getSequenceId());
    }
    return order == 0 ? source.order() > other.order() : order > 0;
  }

  /** Returns the source with the first cell of all. */
  private RowSource first() {
    RowSource first = null;
    for (int i = 0; i < openedCount; i++) {
      RowSource source = sources[i];
      if (source.cell() != null && (first == null || isBefore(source, first))) {
        first = source;
      }
    }
    return first;
  }

  private boolean isBefore(RowSource source, RowSource other) {
    int order = comparator.compare(source.cell(), other.cell());
    return order == 0 ? source.order() > other.order() : order < 0;
  }
}
