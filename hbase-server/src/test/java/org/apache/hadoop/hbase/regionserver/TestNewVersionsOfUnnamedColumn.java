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
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
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
 * A family with NEW_VERSION_BEHAVIOR, and its column without a name, whose cells sort among the
 * markers of the family. What is read is the same from the memstore, a file, and after compactions.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestNewVersionsOfUnnamedColumn {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestNewVersionsOfUnnamedColumn.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] UNNAMED = HConstants.EMPTY_BYTE_ARRAY;
  private static final byte[] NAMED = Bytes.toBytes("c");
  private static final byte[] ROW = Bytes.toBytes("row");

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("versions"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setMaxVersions(3)
        .setKeepDeletedCells(KeepDeletedCells.FALSE).setNewVersionBehavior(true).build())
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

  private void put(byte[] column, long time) throws IOException {
    region.put(new Put(ROW).addColumn(FAMILY, column, time, column));
  }

  private static List<String> names(List<Cell> cells) {
    List<String> names = new ArrayList<>();
    for (Cell cell : cells) {
      names.add(Bytes.toString(CellUtil.cloneQualifier(cell)) + cell.getTimestamp());
    }
    return names;
  }

  private List<String> scan() throws IOException {
    List<Cell> cells = new ArrayList<>();
    Scan scan = new Scan().withStopRow(ROW, true).readAllVersions();
    try (RegionScanner scanner = region.getScanner(scan)) {
      scanner.next(cells);
    }
    return names(cells);
  }

  private List<String> get() throws IOException {
    return names(Arrays.asList(region.get(new Get(ROW).readAllVersions()).rawCells()));
  }

  /** Checks cells by column and time in the memstore, a file, and after both compactions. */
  private void assertCells(String... expected) throws IOException {
    List<String> cells = Arrays.asList(expected);
    assertEquals("scan of the memstore", cells, scan());
    assertEquals("get from the memstore", cells, get());
    region.flush(true);
    assertEquals("scan of a file", cells, scan());
    assertEquals("get from a file", cells, get());
    region.put(new Put(Bytes.toBytes("row2")).addColumn(FAMILY, NAMED, NAMED));
    region.flush(true);
    region.compact(false);
    assertEquals("after a minor compaction", cells, scan());
    region.compact(true);
    assertEquals("after a major compaction", cells, scan());
    assertEquals("after a major compaction", cells, get());
  }

  @Test
  public void testDeletedVersionBehindADeletedFamily() throws IOException {
    region.delete(new Delete(ROW).addFamily(FAMILY, 5));
    put(UNNAMED, 3);
    put(NAMED, 3);
    region.delete(new Delete(ROW).addColumn(FAMILY, UNNAMED, 3));
    assertCells("c3");
  }

  @Test
  public void testDeletedVersionBehindADeletedVersionOfTheFamily() throws IOException {
    put(UNNAMED, 5);
    put(NAMED, 5);
    put(UNNAMED, 3);
    region.delete(new Delete(ROW).addFamilyVersion(FAMILY, 5));
    region.delete(new Delete(ROW).addColumn(FAMILY, UNNAMED, 3));
    put(UNNAMED, 2);
    put(NAMED, 2);
    assertCells("2", "c2");
  }

  @Test
  public void testDeletedColumnBehindADeletedFamily() throws IOException {
    put(UNNAMED, 4);
    put(NAMED, 4);
    region.delete(new Delete(ROW).addColumns(FAMILY, UNNAMED, 2));
    region.delete(new Delete(ROW).addFamily(FAMILY, 5));
    put(UNNAMED, 3);
    assertCells("3");
  }

  @Test
  public void testCellBehindADeletedFamily() throws IOException {
    put(UNNAMED, 3);
    put(NAMED, 3);
    region.delete(new Delete(ROW).addFamily(FAMILY, 5));
    assertCells();
  }

  @Test
  public void testDeletedFamilyBehindANewerCell() throws IOException {
    put(UNNAMED, 3);
    put(NAMED, 3);
    region.delete(new Delete(ROW).addFamily(FAMILY, 5));
    put(UNNAMED, 9);
    put(NAMED, 9);
    assertCells("9", "c9");
  }

  @Test
  public void testDeletedVersionOfTheFamilyBehindANewerCell() throws IOException {
    put(UNNAMED, 3);
    put(NAMED, 3);
    region.delete(new Delete(ROW).addFamilyVersion(FAMILY, 3));
    put(UNNAMED, 9);
    put(NAMED, 9);
    assertCells("9", "c9");
  }

  @Test
  public void testACellAfterTheDeleteIsNotDeletedByIt() throws IOException {
    region.delete(new Delete(ROW).addFamily(FAMILY, 5));
    region.delete(new Delete(ROW).addColumns(FAMILY, UNNAMED, 5));
    put(UNNAMED, 3);
    assertCells("3");
  }

  @Test
  public void testVersionsAreLimited() throws IOException {
    for (int time = 1; time <= 5; time++) {
      put(UNNAMED, time);
      put(NAMED, time);
    }
    assertCells("5", "4", "3", "c5", "c4", "c3");
  }
}
