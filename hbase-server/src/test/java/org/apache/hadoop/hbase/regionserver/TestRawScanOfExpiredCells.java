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
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.ManualEnvironmentEdge;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A raw scan returns what the files have, be it past its own TTL or past that of the family. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestRawScanOfExpiredCells {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRawScanOfExpiredCells.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final byte[] ROW = Bytes.toBytes("row");

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final ManualEnvironmentEdge clock = new ManualEnvironmentEdge();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    clock.setValue(1_000_000);
    EnvironmentEdgeManager.injectEdge(clock);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("expired"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setTimeToLive(60).build())
      .build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(),
      util.getConfiguration(), table);
    Put put = new Put(ROW).addColumn(FAMILY, COLUMN, COLUMN);
    put.setTTL(1000);
    region.put(put);
  }

  @After
  public void tearDown() throws IOException {
    EnvironmentEdgeManager.reset();
    HBaseTestingUtility.closeRegionAndWAL(region);
    util.cleanupTestDir();
  }

  @Test
  public void testCellsInMemstore() throws IOException {
    checkReads();
  }

  @Test
  public void testCellsInFile() throws IOException {
    region.flush(true);
    checkReads();
  }

  private void checkReads() throws IOException {
    assertEquals(1, count(new Scan()));
    assertEquals(1, count(new Scan().setRaw(true)));
    clock.incValue(2000);
    assertEquals("past the TTL of the cell", 0, count(new Scan()));
    assertEquals("past the TTL of the cell", 1, count(new Scan().setRaw(true)));
    assertEquals(1, count(new Scan().setRaw(true).setReversed(true)));
    clock.incValue(61_000);
    assertEquals("past the TTL of the family", 0, count(new Scan()));
    assertEquals("past the TTL of the family", 1, count(new Scan().setRaw(true)));
  }

  private int count(Scan scan) throws IOException {
    try (RegionScanner scanner = region.getScanner(scan)) {
      List<Cell> cells = new ArrayList<>();
      while (scanner.next(cells)) {
        // All rows are collected.
      }
      return cells.size();
    }
  }
}
