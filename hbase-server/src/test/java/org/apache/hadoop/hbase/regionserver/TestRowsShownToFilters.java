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
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.FilterBase;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.WhileMatchFilter;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;

/**
 * A filter is asked about rows that exist, and not about the row that a scan starts with or that a
 * filter hints at, although Bloom filters spare scans of listed columns the seek to such a row.
 */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, SmallTests.class })
public class TestRowsShownToFilters {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowsShownToFilters.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final byte[] OTHER = Bytes.toBytes("d");

  @Parameters(name = "{0}")
  public static BloomType[] blooms() {
    return new BloomType[] { BloomType.NONE, BloomType.ROW, BloomType.ROWCOL };
  }

  @Parameter
  public BloomType bloom;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("filtered"))
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBloomFilterType(bloom).build())
      .build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(),
      util.getConfiguration(), table);
    for (int rest = 0; rest < 2; rest++) {
      for (int row = 2 + rest; row < 8; row += 2) {
        region.put(new Put(row(row)).addColumn(FAMILY, COLUMN, COLUMN));
      }
      region.flush(true);
    }
  }

  @After
  public void tearDown() throws IOException {
    HBaseTestingUtility.closeRegionAndWAL(region);
    util.cleanupTestDir();
  }

  private static byte[] row(int row) {
    return Bytes.toBytes("row" + row);
  }

  private List<String> read(Scan scan) throws IOException {
    List<String> rows = new ArrayList<>();
    try (RegionScanner scanner = region.getScanner(scan.addColumn(FAMILY, COLUMN))) {
      List<Cell> cells = new ArrayList<>();
      boolean more = true;
      while (more) {
        more = scanner.next(cells);
        if (!cells.isEmpty()) {
          rows.add(Bytes.toString(Result.create(cells).getRow()));
        }
        cells.clear();
      }
    }
    return rows;
  }

  /** Reads until a row is the one that is given. */
  private static Scan until(byte[] row) {
    return new Scan().setFilter(
      new WhileMatchFilter(new RowFilter(CompareOperator.NOT_EQUAL, new BinaryComparator(row))));
  }

  @Test
  public void testScanFromTheFirstRow() throws IOException {
    assertEquals(Arrays.asList("row2", "row3", "row4", "row5", "row6", "row7"),
      read(until(new byte[0])));
  }

  @Test
  public void testScanFromARowThatDoesNotExist() throws IOException {
    assertEquals(Arrays.asList("row2", "row3", "row4", "row5", "row6", "row7"),
      read(until(row(1)).withStartRow(row(1))));
  }

  @Test
  public void testScanFromARowThatExists() throws IOException {
    assertEquals(Arrays.asList("row4", "row5"), read(until(row(6)).withStartRow(row(4))));
    assertEquals(new ArrayList<>(), read(until(row(4)).withStartRow(row(4))));
  }

  @Test
  public void testTwoColumns() throws IOException {
    assertEquals(Arrays.asList("row2", "row3", "row4"),
      read(until(row(5)).withStartRow(row(1)).addColumn(FAMILY, OTHER)));
  }

  /** Notes the rows that it is shown, and seeks the column of a row from those before it. */
  private static final class Recorder extends FilterBase {
    private final List<String> shown = new ArrayList<>();
    private final byte[] target;

    Recorder(byte[] target) {
      this.target = target;
    }

    @Override
    public boolean filterRowKey(Cell cell) {
      shown.add(Bytes.toString(CellUtil.cloneRow(cell)));
      return false;
    }

    @Override
    public ReturnCode filterCell(Cell cell) {
      return Bytes.compareTo(CellUtil.cloneRow(cell), target) < 0
        ? ReturnCode.SEEK_NEXT_USING_HINT
        : ReturnCode.INCLUDE;
    }

    @Override
    public Cell getNextCellHint(Cell cell) {
      return KeyValueUtil.createFirstOnRow(target, FAMILY, COLUMN);
    }
  }

  @Test
  public void testRowThatAFilterHintsAt() throws IOException {
    Recorder exists = new Recorder(row(5));
    assertEquals(Arrays.asList("row5", "row6", "row7"), read(new Scan().setFilter(exists)));
    assertEquals(Arrays.asList("row2", "row5", "row6", "row7"), exists.shown);
    Recorder lacks = new Recorder(Bytes.toBytes("row50"));
    assertEquals(Arrays.asList("row6", "row7"), read(new Scan().setFilter(lacks)));
    assertEquals(Arrays.asList("row2", "row6", "row7"), lacks.shown);
  }
}
