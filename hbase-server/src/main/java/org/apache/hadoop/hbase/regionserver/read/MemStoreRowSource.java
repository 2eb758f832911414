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

import java.util.Iterator;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.regionserver.RegionAccess;
import org.apache.hadoop.hbase.regionserver.Segment;
import org.apache.hadoop.hbase.regionserver.SegmentScanner;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A row in a segment of a memstore, whose chunks are not reused before {@link #close()}. Writers
 * may add cells meanwhile; those of the read point are there. Not thread-safe.
 */
@InterfaceAudience.Private
final class MemStoreRowSource extends RowSource {

  /** Cells to pass one by one before the set is searched again. */
  private static final int STEPS = 8;

  private final Segment segment;
  private final long readPoint;
  private Iterator<Cell> cells;
  private boolean closed;

  /** Retains the segment. */
  MemStoreRowSource(byte[] row, Segment segment, CellComparator comparator, long readPoint) {
    super(row, comparator);
    this.segment = segment;
    this.readPoint = readPoint;
    segment.incScannerCount();
  }

  /** A segment is read before any file: it usually has the newest cells, and costs no I/O. */
  @Override
  public long maxTimestamp() {
    return Long.MAX_VALUE;
  }

  /** Returns the order of {@link SegmentScanner}: sequence ids tell cells of segments apart. */
  @Override
  public int order() {
    return 0;
  }

  @Override
  public boolean isInMemory() {
    return true;
  }

  @Override
  public boolean open() {
    return true;
  }

  @Override
  public boolean mayHaveFamilyDelete() {
    return true;
  }

  @Override
  public void seek(Cell key) {
    if (cells != null) {
      for (int step = 0; step < STEPS; step++) {
        if (cell() == null || comparator().compare(cell(), key) >= 0) {
          return;
        }
        next();
      }
    }
    cells = RegionAccess.cells(segment).tailSet(key).iterator();
    next();
  }

  @Override
  public void next() {
    while (cells.hasNext()) {
      step();
      Cell next = cells.next();
      if (!isOfRow(next)) {
        break;
      }
      if (next.getSequenceId() <= readPoint) {
        setCell(next);
        return;
      }
    }
    setCell(null);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      segment.decScannerCount();
    }
  }
}
