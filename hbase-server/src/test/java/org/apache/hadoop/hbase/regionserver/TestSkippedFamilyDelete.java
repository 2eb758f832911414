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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A delete of a family behind a newer cell without a qualifier deletes the older cells of the
 * family's other columns, whether or not the reader skips within a block to the next column.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestSkippedFamilyDelete {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSkippedFamilyDelete.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] UNNAMED = HConstants.EMPTY_BYTE_ARRAY;
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final byte[] ROW = Bytes.toBytes("row0");

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("deletes"))
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(512).build())
      .build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(),
      util.getConfiguration(), table);
    region.put(new Put(ROW).addColumn(FAMILY, COLUMN, 3, COLUMN));
    region.delete(new Delete(ROW).addFamily(FAMILY, 5));
    region.put(new Put(ROW).addColumn(FAMILY, UNNAMED, 9, UNNAMED));
    region.put(new Put(ROW).addColumn(FAMILY, UNNAMED, 10, UNNAMED));
    // With more blocks, the reader of the first one knows the first key of the next.
    for (int i = 1; i < 100; i++) {
      region.put(new Put(Bytes.toBytes("row" + i)).addColumn(FAMILY, COLUMN, 3, COLUMN));
    }
    region.flush(true);
  }

  @After
  public void tearDown() throws IOException {
    HBaseTestingUtility.closeRegionAndWAL(region);
    util.cleanupTestDir();
  }

  @Test
  public void testGetOfListedColumn() throws IOException {
    assertEquals(0, region.get(new Get(ROW).addColumn(FAMILY, COLUMN)).size());
  }

  @Test
  public void testGetOfFamily() throws IOException {
    Result result = region.get(new Get(ROW).addFamily(FAMILY));
    assertEquals("only the cell without a qualifier", 1, result.size());
    assertEquals(10, result.rawCells()[0].getTimestamp());
  }

  @Test
  public void testScan() throws IOException {
    try (RegionScanner scanner = region.getScanner(new Scan().addColumn(FAMILY, COLUMN))) {
      List<Cell> cells = new ArrayList<>();
      scanner.next(cells);
      assertArrayEquals("the first row with the column", Bytes.toBytes("row1"),
        Result.create(cells).getRow());
    }
  }
}
