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
import java.util.Optional;
import java.util.function.IntConsumer;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.io.HalfStoreFileReader;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.RegionAccess;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A row in a store file, which is neither closed nor archived before {@link #close()}. Visibility
 * and sequence ids of bulk-loaded files are those of {@link StoreFileScanner}. Not thread-safe.
 */
@InterfaceAudience.Private
final class FileRowSource extends RowSource {

  /** A coprocessor has given the file a reader whose scanners may return other cells. */
  static final class OwnReaderException extends IOException {
    private static final long serialVersionUID = 1L;

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }

  private final HStoreFile file;
  private final Get get;
  private final RowQuery query;
  private final long readPoint;
  private final IntConsumer blockSizes;
  private int order;
  private StoreFileReader reader;
  private boolean checksReadPoint;
  private boolean setsSequenceId;
  private HFileScanner scanner;
  private boolean seeked;
  private boolean closed;

  /**
   * Retains the file.
   * @param blockSizes accepts the sizes of the blocks that are read, in bytes
   */
  FileRowSource(HStoreFile file, CellComparator comparator, Get get, RowQuery query,
    long readPoint, IntConsumer blockSizes) {
    super(get.getRow(), comparator);
    this.file = file;
    this.get = get;
    this.query = query;
    this.readPoint = readPoint;
    this.blockSizes = blockSizes;
    RegionAccess.retain(file);
  }

  /**
   * Opens the file unless it is open. To be called before all others.
   * @throws OwnReaderException if only a scanner knows which cells the reader returns
   */
  void initReader() throws IOException {
    file.initReader();
    reader = file.getReader();
    if (
      reader.getClass() != StoreFileReader.class && reader.getClass() != HalfStoreFileReader.class
    ) {
      throw new OwnReaderException();
    }
  }

  /** Returns whether the file is open, without opening it. */
  boolean isOpen() {
    return file.getReader() != null;
  }

  HStoreFile file() {
    return file;
  }

  void setOrder(int order) {
    this.order = order;
  }

  @Override
  public int order() {
    return order;
  }

  /** Returns whether times and keys of the file allow the row. Reads no block. */
  boolean mayHaveRow() {
    return RegionAccess.passesTimeRange(reader, query.timeRange(), query.oldestUnexpired())
      && isInKeyRange();
  }

  private boolean isInKeyRange() {
    Optional<Cell> first = reader.getFirstKey();
    Optional<Cell> last = reader.getLastKey();
    byte[] row = row();
    return first.isPresent() && last.isPresent()
      && comparator().compareRows(first.get(), row, 0, row.length) <= 0
      && comparator().compareRows(last.get(), row, 0, row.length) >= 0;
  }

  @Override
  public boolean isInMemory() {
    return false;
  }

  @Override
  public long maxTimestamp() {
    return reader.getMaxTimestamp();
  }

  @Override
  public boolean open() throws IOException {
    if (!passesBloomFilter()) {
      return false;
    }
    boolean bulkLoaded = reader.isBulkLoaded();
    checksReadPoint = bulkLoaded || reader.getHFileReader().hasMVCCInfo();
    setsSequenceId = bulkLoaded && !RegionAccess.keepsSequenceIds(reader);
    scanner = reader.getScanner(get.getCacheBlocks(), true, false);
    return true;
  }

  private boolean passesBloomFilter() {
    return reader.getBloomFilterType() == BloomType.ROW
      ? RegionAccess.passesRowBloomFilter(reader, row())
      : RegionAccess.passesBloomFilter(reader, new Scan(get), query.columns());
  }

  @Override
  public boolean mayHaveFamilyDelete() {
    return reader.passesDeleteFamilyBloomFilter(row(), 0, row().length);
  }

  @Override
  public void seek(Cell key) throws IOException {
    boolean has;
    if (!seeked) {
      seeked = true;
      has = StoreFileScanner.seekAtOrAfter(scanner, key);
    } else if (cell() == null || comparator().compare(cell(), key) >= 0) {
      return;
    } else {
      has = RegionAccess.reseek(scanner, key);
    }
    settle(has);
  }

  @Override
  public void next() throws IOException {
    settle(scanner.next());
  }

  private void settle(boolean seekedTo) throws IOException {
    boolean has = seekedTo;
    Cell next = null;
    while (has) {
      step();
      next = scanner.getCell();
      if (setsSequenceId) {
        PrivateCellUtil.setSequenceId(next, reader.getSequenceID());
      }
      if (!checksReadPoint || next.getSequenceId() <= readPoint || !isOfRow(next)) {
        break;
      }
      next = null;
      has = scanner.next();
    }
    scanner.recordBlockSize(blockSizes);
    setCell(next);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (scanner != null) {
        scanner.close();
      }
    } finally {
      RegionAccess.release(file);
    }
  }
}
