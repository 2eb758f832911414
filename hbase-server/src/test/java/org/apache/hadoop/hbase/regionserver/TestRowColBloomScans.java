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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.FilterBase;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Scans of listed columns over files with ROWCOL Bloom filters. A Bloom filter spares a file's
 * scanner the seek to a column that the file lacks. The scanner stays behind, and must not be
 * advanced to a cell that the scan has passed. What is read is compared with a family that has the
 * same cells without Bloom filters.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestRowColBloomScans {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowColBloomScans.class);

  private static final byte[] ROWCOL = Bytes.toBytes("bloom");
  private static final byte[] NONE = Bytes.toBytes("none");
  private static final List<byte[]> FAMILIES = Arrays.asList(ROWCOL, NONE);

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    // A file has several blocks: within a block, scanners skip cells and do not seek.
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("blooms"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(ROWCOL).setBlocksize(1024)
        .setBloomFilterType(BloomType.ROWCOL).build())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(NONE).setBlocksize(1024)
        .setBloomFilterType(BloomType.NONE).build())
      .build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(),
      util.getConfiguration(), table);
  }

  @After
  public void tearDown() throws IOException {
    HBaseTestingUtility.closeRegionAndWAL(region);
    util.cleanupTestDir();
  }

  private static byte[] row(int row) {
    return Bytes.toBytes(String.format("row%02d", row));
  }

  private static byte[] column(int column) {
    return Bytes.toBytes(String.format("c%02d", column));
  }

  private void put(int row, int column, long time) throws IOException {
    Put put = new Put(row(row));
    for (byte[] family : FAMILIES) {
      put.addColumn(family, column(column), time, Bytes.toBytes(time));
    }
    region.put(put);
  }

  private void deleteColumn(int row, int column, long time) throws IOException {
    Delete delete = new Delete(row(row));
    for (byte[] family : FAMILIES) {
      delete.addColumns(family, column(column), time);
    }
    region.delete(delete);
  }

  private void deleteVersion(int row, int column, long time) throws IOException {
    Delete delete = new Delete(row(row));
    for (byte[] family : FAMILIES) {
      delete.addColumn(family, column(column), time);
    }
    region.delete(delete);
  }

  private List<String> read(byte[] family, Scan template, int... columns) throws IOException {
    Scan scan = new Scan(template);
    for (int column : columns) {
      scan.addColumn(family, column(column));
    }
    List<String> read = new ArrayList<>();
    try (RegionScanner scanner = region.getScanner(scan)) {
      List<Cell> cells = new ArrayList<>();
      boolean more = true;
      while (more) {
        more = scanner.next(cells);
        for (Cell cell : cells) {
          read.add(Bytes.toString(CellUtil.cloneRow(cell)) + "/"
            + Bytes.toString(CellUtil.cloneQualifier(cell)) + "/" + cell.getTimestamp());
        }
        cells.clear();
      }
    }
    return read;
  }

  private void assertSame(Scan scan, int... columns) throws IOException {
    assertEquals(Arrays.toString(columns), read(NONE, scan, columns), read(ROWCOL, scan, columns));
  }

  /**
   * A file of one block has column 2 of some rows. Its scanner seeks to column 5, which the last
   * file lacks: that is left at column 3, and its next cell is that of column 4.
   */
  @Test
  public void testColumnBehindAnotherFile() throws IOException {
    for (int row = 1; row < 10; row++) {
      put(row, 2, 1);
    }
    region.flush(true);
    for (int row = 0; row < 99; row++) {
      put(row, 5, 2);
    }
    region.flush(true);
    for (int row = 0; row < 99; row++) {
      deleteColumn(row, 5, 3);
    }
    region.flush(true);
    for (int row = 0; row < 99; row++) {
      for (int column : new int[] { 1, 3, 4, 7 }) {
        put(row, column, 1);
      }
    }
    region.flush(true);
    assertSame(new Scan(), 2, 5, 7);
    assertEquals(9 + 99, read(ROWCOL, new Scan(), 2, 5, 7).size());
  }

  /** Seeks from the first row to column 5 of row 3. */
  private static final class RowThree extends FilterBase {
    private final byte[] family;

    RowThree(byte[] family) {
      this.family = family;
    }

    @Override
    public ReturnCode filterCell(Cell cell) {
      return Bytes.compareTo(CellUtil.cloneRow(cell), row(3)) < 0
        ? ReturnCode.SEEK_NEXT_USING_HINT
        : ReturnCode.INCLUDE;
    }

    @Override
    public Cell getNextCellHint(Cell cell) {
      return KeyValueUtil.createFirstOnRow(row(3), family, column(5));
    }
  }

  /**
   * The last file has old cells of column 5 only. A newer one spares it the seek to that column of
   * row 3, and the Bloom filter the seek to column 7: it is left in the first row.
   */
  @Test
  public void testRowBehindAnotherFile() throws IOException {
    put(3, 5, 30);
    region.flush(true);
    for (int row = 0; row < 99; row++) {
      put(row, 7, 20);
    }
    region.flush(true);
    for (int row = 0; row < 99; row++) {
      for (int column : new int[] { 1, 2, 5 }) {
        put(row, column, 10);
      }
    }
    region.flush(true);
    List<String> expected = read(NONE, new Scan().setFilter(new RowThree(NONE)), 5, 7);
    assertEquals(96 * 2, expected.size());
    assertEquals(expected, read(ROWCOL, new Scan().setFilter(new RowThree(ROWCOL)), 5, 7));
  }

  @Test
  public void testRandomFilesAndColumns() throws IOException {
    Random random = new Random(29907);
    long time = 1000;
    for (int file = 0; file < 4; file++) {
      int share = 1 + random.nextInt(4);
      for (int row = 0; row < 25; row++) {
        for (int column = 0; column < 12; column++) {
          time++;
          int kind = random.nextInt(6 * share);
          if (kind == 0) {
            deleteColumn(row, column, time);
          } else if (kind == 1) {
            deleteVersion(row, column, time - 300);
          } else if (kind < 6) {
            put(row, column, time);
          }
        }
      }
      region.flush(true);
    }
    for (int i = 0; i < 300; i++) {
      int[] columns = random.ints(0, 12).limit(1 + random.nextInt(5)).distinct().toArray();
      Scan scan = new Scan().readVersions(1 + random.nextInt(3));
      if (random.nextBoolean()) {
        scan.withStartRow(row(random.nextInt(25)));
      }
      assertSame(scan, columns);
    }
  }
}
