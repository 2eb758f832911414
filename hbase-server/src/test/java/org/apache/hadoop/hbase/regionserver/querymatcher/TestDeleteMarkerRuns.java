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
package org.apache.hadoop.hbase.regionserver.querymatcher;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValue.Type;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.regionserver.ScanInfo;
import org.apache.hadoop.hbase.regionserver.querymatcher.ScanQueryMatcher.MatchCode;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A scan seeks past delete markers that pile up in a column, but not where a cell behind them may
 * count.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestDeleteMarkerRuns {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDeleteMarkerRuns.class);

  private static final byte[] ROW = Bytes.toBytes("row");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int LAST = DeleteMarkerRun.SEEK_AFTER - 1;

  @Test
  public void testScanSeeksPastMarkersOfAColumn() throws IOException {
    ScanQueryMatcher matcher = scan(KeepDeletedCells.FALSE, false);
    Cell last = matchRun(matcher, "c", Type.DeleteColumn, MatchCode.SEEK_NEXT_COL);
    checkNextColumn(matcher, last, "c", "d");
  }

  @Test
  public void testScanOfListedColumnsSeeks() throws IOException {
    ScanQueryMatcher matcher = scan(KeepDeletedCells.FALSE, false, "c", "e");
    matchRun(matcher, "c", Type.DeleteColumn, MatchCode.SEEK_NEXT_COL);
    matchRun(matcher, "e", Type.DeleteColumn, MatchCode.SEEK_NEXT_ROW);
  }

  @Test
  public void testScanSeeksPastMarkersOfTheFamily() throws IOException {
    ScanQueryMatcher matcher = scan(KeepDeletedCells.FALSE, false);
    Cell last = matchRun(matcher, "", Type.DeleteFamily, MatchCode.SEEK_NEXT_COL);
    checkNextColumn(matcher, last, "", "c");
    assertEquals("still deleted", MatchCode.SEEK_NEXT_COL, matcher.match(cell("c", 9, Type.Put)));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("d", 10_000, Type.Put)));
  }

  @Test
  public void testMarkersOfSeveralColumnsAreNoRun() throws IOException {
    ScanQueryMatcher matcher = scan(KeepDeletedCells.FALSE, false);
    for (int i = 0; i < 50; i++) {
      assertEquals(MatchCode.SKIP,
        matcher.match(cell("c" + (char) ('0' + i), 1000, Type.DeleteColumn)));
    }
  }

  @Test
  public void testRunEndsWithTheRow() throws IOException {
    ScanQueryMatcher matcher = scan(KeepDeletedCells.FALSE, false);
    for (int row = 0; row < 5; row++) {
      matcher.setToNewRow(cell("", 1, Type.Put));
      for (int i = 0; i < LAST; i++) {
        assertEquals(MatchCode.SKIP, matcher.match(cell("c", 1000 - i, Type.DeleteColumn)));
      }
    }
  }

  @Test
  public void testMarkersThatLeaveOtherCellsAreNoRun() throws IOException {
    matchRun(scan(KeepDeletedCells.FALSE, false), "c", Type.Delete, MatchCode.SKIP);
    matchRun(scan(KeepDeletedCells.FALSE, false), "", Type.DeleteFamilyVersion, MatchCode.SKIP);
    matchRun(scan(KeepDeletedCells.FALSE, false), "", Type.DeleteColumn, MatchCode.SKIP);
  }

  @Test
  public void testKeptCellsAreNotPassed() throws IOException {
    matchRun(scan(KeepDeletedCells.TRUE, false), "c", Type.DeleteColumn, MatchCode.SKIP);
    matchRun(scan(KeepDeletedCells.TTL, false), "c", Type.DeleteColumn, MatchCode.SKIP);
  }

  @Test
  public void testCellsWrittenAfterTheirMarkerAreNotPassed() throws IOException {
    matchRun(scan(KeepDeletedCells.FALSE, true), "c", Type.DeleteColumn, MatchCode.SKIP);
  }

  private static Cell matchRun(ScanQueryMatcher matcher, String column, Type type, MatchCode last)
    throws IOException {
    Cell marker = null;
    for (int i = 0; i <= LAST; i++) {
      marker = cell(column, 1000 - i, type);
      assertEquals(column + " " + i, i < LAST ? MatchCode.SKIP : last, matcher.match(marker));
      matcher.beforeShipped();
    }
    return marker;
  }

  private static void checkNextColumn(ScanQueryMatcher matcher, Cell marker, String column,
    String next) {
    Cell target = matcher.getKeyForNextColumn(marker);
    CellComparatorImpl comparator = CellComparatorImpl.COMPARATOR;
    assertTrue(comparator.compare(target, cell(column, 0, Type.Put)) > 0);
    assertTrue(comparator.compare(target, cell(next, Long.MAX_VALUE, Type.Maximum)) <= 0);
  }

  private static ScanQueryMatcher scan(KeepDeletedCells keep, boolean newVersionBehavior,
    String... columns) throws IOException {
    NavigableSet<byte[]> set = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    for (String column : columns) {
      set.add(Bytes.toBytes(column));
    }
    ScanQueryMatcher matcher = UserScanQueryMatcher.create(new Scan(),
      info(keep, newVersionBehavior), columns.length == 0 ? null : set, 0, 100_000, null);
    matcher.setToNewRow(cell("", 1, Type.Put));
    return matcher;
  }

  private static ScanInfo info(KeepDeletedCells keep, boolean newVersionBehavior) {
    return new ScanInfo(HBaseConfiguration.create(),
      ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setKeepDeletedCells(keep)
        .setNewVersionBehavior(newVersionBehavior).setMaxVersions(3).build(),
      Long.MAX_VALUE, 0, CellComparatorImpl.COMPARATOR);
  }

  private static KeyValue cell(String column, long timestamp, Type type) {
    return new KeyValue(ROW, FAMILY, Bytes.toBytes(column), timestamp, type);
  }
}
