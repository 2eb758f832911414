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
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueExcludeFilter;
import org.apache.hadoop.hbase.filter.ValueFilter;
import org.apache.hadoop.hbase.regionserver.ScannerContext.LimitScope;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdge;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A scan looks at the clock at most once a row, and stops when its time is over. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestScanTimeChecks {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestScanTimeChecks.class);

  private static final byte[] FIRST = Bytes.toBytes("f");
  private static final byte[] SECOND = Bytes.toBytes("g");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final byte[] VALUE = Bytes.toBytes("v");
  private static final int ROWS = 100;

  /** A clock that advances by a millisecond whenever it is read. */
  private static final class CountingClock implements EnvironmentEdge {
    private final long start = System.currentTimeMillis();
    private long looks;

    @Override
    public long currentTime() {
      return start + ++looks;
    }
  }

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final CountingClock clock = new CountingClock();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("scans"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FIRST))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(SECOND)).build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(),
      util.getConfiguration(), table);
    for (int row = 100; row < 100 + ROWS; row++) {
      region.put(new Put(Bytes.toBytes(row)).addColumn(FIRST, COLUMN, VALUE)
        .addColumn(FIRST, VALUE, VALUE).addColumn(SECOND, COLUMN, VALUE));
    }
    region.flush(true);
    EnvironmentEdgeManager.injectEdge(clock);
  }

  @After
  public void tearDown() throws IOException {
    EnvironmentEdgeManager.reset();
    HBaseTestingUtility.closeRegionAndWAL(region);
    util.cleanupTestDir();
  }

  private static ScannerContext limit(long time) {
    return ScannerContext.newBuilder().setTimeLimit(LimitScope.BETWEEN_CELLS, time).build();
  }

  /** Reads all rows, and returns how often the clock was looked at after the scanner was made. */
  private long looks(Scan scan, int expectedRows) throws IOException {
    try (RegionScanner scanner = region.getScanner(scan)) {
      long before = clock.looks;
      ScannerContext context = limit(Long.MAX_VALUE);
      int rows = 0;
      List<Cell> cells = new ArrayList<>();
      boolean more = true;
      while (more) {
        more = scanner.nextRaw(cells, context);
        rows += cells.isEmpty() ? 0 : 1;
        cells.clear();
      }
      assertEquals(expectedRows, rows);
      return clock.looks - before;
    }
  }

  @Test
  public void testOneFamily() throws IOException {
    long looks = looks(new Scan().addFamily(FIRST), ROWS);
    assertTrue(looks + " for all rows, which the caller checks", looks <= 2);
  }

  @Test
  public void testTwoFamilies() throws IOException {
    long looks = looks(new Scan(), ROWS);
    assertTrue(looks + " between families", looks >= ROWS && looks <= ROWS + 4);
  }

  @Test
  public void testRowsThatAreFilteredOut() throws IOException {
    long looks = looks(new Scan().addFamily(FIRST).setFilter(
      new RowFilter(CompareOperator.LESS, new BinaryComparator(Bytes.toBytes(100)))), 0);
    assertTrue(looks + " after each row", looks <= ROWS + 2);
  }

  @Test
  public void testStopsBetweenFamilies() throws IOException {
    try (RegionScanner scanner = region.getScanner(new Scan())) {
      List<Cell> cells = new ArrayList<>();
      ScannerContext context = limit(clock.looks + clock.start + 2);
      assertTrue(scanner.nextRaw(cells, context));
      while (!context.mayHaveMoreCellsInRow()) {
        assertTrue("stops in the second row at last", cells.size() <= 3);
        assertTrue(scanner.nextRaw(cells, context));
      }
      int read = cells.size();
      assertEquals("the first family of a row", 2, read % 3);
      // The next call continues where this one stopped.
      assertTrue(scanner.nextRaw(cells, limit(Long.MAX_VALUE)));
      assertEquals(0, Bytes.compareTo(SECOND, 0, 1, cells.get(read).getFamilyArray(),
        cells.get(read).getFamilyOffset(), 1));
    }
  }

  private void assertStops(Scan scan) throws IOException {
    try (RegionScanner scanner = region.getScanner(scan)) {
      List<Cell> cells = new ArrayList<>();
      long before = clock.looks;
      assertTrue("not at the end", scanner.nextRaw(cells, limit(clock.start + before + 20)));
      assertTrue(cells.isEmpty());
      long looks = clock.looks - before;
      assertTrue(looks + " looks", looks >= 19 && looks <= 22);
    }
  }

  @Test
  public void testStopsAmongRowsThatAreFilteredOut() throws IOException {
    assertStops(new Scan().addFamily(FIRST).setFilter(
      new RowFilter(CompareOperator.LESS, new BinaryComparator(Bytes.toBytes(100)))));
  }

  @Test
  public void testStopsAmongRowsWithoutCells() throws IOException {
    assertStops(new Scan().addFamily(FIRST)
      .setFilter(new ValueFilter(CompareOperator.LESS, new BinaryComparator(VALUE))));
  }

  /** The rows of this scan are empty only after the filter has seen all of their cells. */
  @Test
  public void testStopsAmongRowsThatAFilterEmpties() throws IOException {
    SingleColumnValueExcludeFilter filter =
      new SingleColumnValueExcludeFilter(SECOND, COLUMN, CompareOperator.EQUAL, VALUE);
    assertStops(new Scan().addFamily(SECOND).setFilter(filter));
  }
}
