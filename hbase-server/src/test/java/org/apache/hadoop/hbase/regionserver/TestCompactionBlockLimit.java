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
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.compactions.DefaultCompactor;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A compaction that has read as many blocks as it may hold releases them, and continues with as
 * many cells a call as before.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestCompactionBlockLimit {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompactionBlockLimit.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int ROWS = 1000;
  private static final int COLUMNS = 10;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;
  private HStore store;

  @Before
  public void setUp() throws IOException {
    Configuration conf = util.getConfiguration();
    conf.setInt(HConstants.COMPACTION_KV_MAX, COLUMNS);
    conf.setLong(HConstants.COMPACTION_SCANNER_SIZE_MAX, 16 * 1024);
    conf.setClass(DefaultStoreEngine.DEFAULT_COMPACTOR_CLASS_KEY, CountingCompactor.class,
      DefaultCompactor.class);
    CountingCompactor.calls = 0;
    CountingCompactor.releases = 0;
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("compacted"))
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(1024).build())
      .build();
    RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    region = HBaseTestingUtility.createRegionAndWAL(info, util.getDataTestDir(), conf, table);
    store = region.getStore(FAMILY);
  }

  @After
  public void tearDown() throws IOException {
    HBaseTestingUtility.closeRegionAndWAL(region);
    util.cleanupTestDir();
  }

  @Test
  public void testCellsThatAreKept() throws IOException {
    fill();
    region.compact(true);
    assertEquals(ROWS * COLUMNS, count());
    // There is one call for a row, and another if the limit was reached within the row.
    int calls = CountingCompactor.calls;
    assertTrue(calls + " calls for " + ROWS + " rows", calls <= 2 * ROWS);
    assertTrue(CountingCompactor.releases + " releases", CountingCompactor.releases > 1);
  }

  @Test
  public void testCellsThatAreDropped() throws IOException {
    for (int row = 0; row < ROWS; row++) {
      region.delete(new Delete(row(row)).addFamily(FAMILY, 5));
    }
    fill();
    region.compact(true);
    assertEquals(0, count());
    assertTrue(CountingCompactor.releases + " releases", CountingCompactor.releases > 1);
  }

  private void fill() throws IOException {
    for (int file = 0; file < 2; file++) {
      for (int row = 0; row < ROWS; row++) {
        Put put = new Put(row(row));
        for (int column = file; column < COLUMNS; column += 2) {
          put.addColumn(FAMILY, Bytes.toBytes("c" + column), 3, new byte[50]);
        }
        region.put(put);
      }
      region.flush(true);
    }
    assertEquals(2, store.getStorefilesCount());
  }

  private int count() throws IOException {
    try (RegionScanner scanner = region.getScanner(new Scan())) {
      List<Cell> cells = new ArrayList<>();
      while (scanner.next(cells)) {
        // All rows are collected.
      }
      return cells.size();
    }
  }

  private static byte[] row(int row) {
    return Bytes.toBytes(String.format("row%04d", row));
  }

  /** Counts the calls of a compaction to its scanner. */
  public static final class CountingCompactor extends DefaultCompactor {
    private static volatile int calls;
    private static volatile int releases;

    public CountingCompactor(Configuration conf, HStore store) {
      super(conf, store);
    }

    @Override
    protected InternalScanner createScanner(HStore store, ScanInfo scanInfo,
      List<StoreFileScanner> scanners, ScanType scanType, long smallestReadPoint,
      long earliestPutTs) throws IOException {
      return new CountingScanner((StoreScanner) super.createScanner(store, scanInfo, scanners,
        scanType, smallestReadPoint, earliestPutTs));
    }

    private static final class CountingScanner implements InternalScanner, Shipper {
      private final StoreScanner scanner;

      CountingScanner(StoreScanner scanner) {
        this.scanner = scanner;
      }

      @Override
      public boolean next(List<Cell> cells, ScannerContext context) throws IOException {
        calls++;
        return scanner.next(cells, context);
      }

      @Override
      public void shipped() throws IOException {
        releases++;
        scanner.shipped();
      }

      @Override
      public void close() {
        scanner.close();
      }
    }
  }
}
