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
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Random puts and many deletes of all kinds, in memstore and files, flushed and compacted: scans
 * return what a model of a few lines does.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestScansOfDeletedCells {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestScansOfDeletedCells.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final String[] ROWS = { "a", "b", "c" };
  private static final String[] COLUMNS = { "", "m", "n", "z" };
  private static final int TIMES = 40;
  private static final int ROUNDS = 40;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;
  private List<Write> writes;

  @Before
  public void setUp() throws IOException {
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("deleted"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
        .setMaxVersions(Integer.MAX_VALUE).setBlocksize(256).build())
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

  @Test
  public void testScansEqualModel() throws IOException {
    for (int seed = 0; seed < ROUNDS; seed++) {
      Random random = new Random(seed);
      String prefix = String.format("%02d", seed);
      writes = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        Write write = new Write(prefix, random);
        writes.add(write);
        write.apply(region);
        if (random.nextInt(60) == 0) {
          region.flush(true);
        }
      }
      checkScans(prefix, "seed " + seed + ", as written");
      region.flush(true);
      checkScans(prefix, "seed " + seed + ", flushed");
      if (seed % 10 == 9) {
        region.compact(false);
        checkScans(prefix, "seed " + seed + ", compacted");
        region.compact(true);
        checkScans(prefix, "seed " + seed + ", compacted to one file");
      }
    }
  }

  private void checkScans(String prefix, String when) throws IOException {
    check(prefix, when, scan -> scan, TIMES, 1, COLUMNS);
    check(prefix, when, Scan::readAllVersions, TIMES, Integer.MAX_VALUE, COLUMNS);
    check(prefix, when, scan -> scan.readVersions(2), TIMES, 2, COLUMNS);
    check(prefix, when, scan -> scan.addColumn(FAMILY, Bytes.toBytes("n")), TIMES, 1, "n");
    check(prefix, when, scan -> scan.addColumn(FAMILY, Bytes.toBytes("m"))
      .addColumn(FAMILY, Bytes.toBytes("z")).readVersions(3), TIMES, 3, "m", "z");
    check(prefix, when, scan -> scan.addColumn(FAMILY, Bytes.toBytes(""))
      .addColumn(FAMILY, Bytes.toBytes("z")), TIMES, 1, "", "z");
    check(prefix, when, scan -> until(scan, TIMES / 2), TIMES / 2, 1, COLUMNS);
    check(prefix, when, scan -> until(scan, TIMES / 4).readAllVersions(), TIMES / 4,
      Integer.MAX_VALUE, COLUMNS);
  }

  private static Scan until(Scan scan, int time) {
    try {
      return scan.setTimeRange(0, time);
    } catch (IOException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private void check(String prefix, String when, UnaryOperator<Scan> options, int until,
    int versions, String... columns) throws IOException {
    List<String> expected = new ArrayList<>();
    for (String row : ROWS) {
      for (String column : columns) {
        expected.addAll(visible(prefix + row, column, until, versions));
      }
    }
    Scan scan = options.apply(new Scan().setStartStopRowForPrefixScan(Bytes.toBytes(prefix)));
    List<String> found = new ArrayList<>();
    try (RegionScanner scanner = region.getScanner(scan)) {
      List<Cell> cells = new ArrayList<>();
      boolean more = true;
      while (more) {
        more = scanner.next(cells);
        cells.forEach(cell -> found.add(text(Bytes.toString(CellUtil.cloneRow(cell)),
          Bytes.toString(CellUtil.cloneQualifier(cell)), cell.getTimestamp())));
        cells.clear();
      }
    }
    assertEquals(when + ", " + scan, expected, found);
  }

  /** Returns what a scan is to return of a column. */
  private List<String> visible(String row, String column, int until, int versions) {
    TreeMap<Integer, String> newestFirst = new TreeMap<>((a, b) -> b - a);
    for (Write put : writes) {
      if (
        put.kind == Kind.PUT && put.row.equals(row) && put.column.equals(column)
          && put.time < until && writes.stream().noneMatch(delete -> delete.deletes(put))
      ) {
        newestFirst.put(put.time, text(row, column, put.time));
      }
    }
    List<String> cells = new ArrayList<>(newestFirst.values());
    return cells.subList(0, Math.min(versions, cells.size()));
  }

  private static String text(String row, String column, long time) {
    return row + "/" + column + "/" + time;
  }

  private enum Kind {
    PUT,
    DELETE_FAMILY,
    DELETE_FAMILY_VERSION,
    DELETE_COLUMN,
    DELETE_VERSION
  }

  private static final class Write {
    private final Kind kind;
    private final String row;
    private final String column;
    private final int time;

    Write(String prefix, Random random) {
      int choice = random.nextInt(20);
      this.kind = choice < 7 ? Kind.PUT
        : choice < 10 ? Kind.DELETE_FAMILY
        : choice < 17 ? Kind.DELETE_COLUMN
        : choice < 19 ? Kind.DELETE_VERSION
        : Kind.DELETE_FAMILY_VERSION;
      this.row = prefix + ROWS[random.nextInt(ROWS.length)];
      this.column = COLUMNS[random.nextInt(COLUMNS.length)];
      // Deletes are older on average, so that not all is deleted.
      int before = kind == Kind.PUT ? TIMES : 1 + random.nextInt(TIMES);
      this.time = random.nextInt(before);
    }

    void apply(HRegion region) throws IOException {
      byte[] name = Bytes.toBytes(column);
      if (kind == Kind.PUT) {
        region.put(new Put(Bytes.toBytes(row)).addColumn(FAMILY, name, time, name));
        return;
      }
      Delete delete = new Delete(Bytes.toBytes(row));
      switch (kind) {
        case DELETE_FAMILY:
          delete.addFamily(FAMILY, time);
          break;
        case DELETE_FAMILY_VERSION:
          delete.addFamilyVersion(FAMILY, time);
          break;
        case DELETE_COLUMN:
          delete.addColumns(FAMILY, name, time);
          break;
        default:
          delete.addColumn(FAMILY, name, time);
      }
      region.delete(delete);
    }

    boolean deletes(Write put) {
      if (!row.equals(put.row)) {
        return false;
      }
      switch (kind) {
        case DELETE_FAMILY:
          return put.time <= time;
        case DELETE_FAMILY_VERSION:
          return put.time == time;
        case DELETE_COLUMN:
          return column.equals(put.column) && put.time <= time;
        case DELETE_VERSION:
          return column.equals(put.column) && put.time == time;
        default:
          return false;
      }
    }
  }
}
