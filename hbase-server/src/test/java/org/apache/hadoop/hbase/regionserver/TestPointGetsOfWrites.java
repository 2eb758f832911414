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
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.ManualEnvironmentEdge;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Writes that read their row: increments, appends, deletes of the newest version and conditional
 * writes have the same results and leave the same cells whether or not they read by point gets. The
 * number of writes is <code>pointget.writes</code>.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestPointGetsOfWrites {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPointGetsOfWrites.class);

  private static final int WRITES = Integer.getInteger("pointget.writes", 1_000);
  private static final int WRITES_OF_HISTORY = 500;
  private static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  private static final byte[][] COLUMNS = { Bytes.toBytes("a"), Bytes.toBytes("b") };
  private static final byte[] COUNTER = Bytes.toBytes("counter");
  private static final byte[][] VALUES = { new byte[0], Bytes.toBytes("v"), Bytes.toBytes("w") };
  private static final CompareOperator[] OPERATORS =
    { CompareOperator.EQUAL, CompareOperator.NOT_EQUAL, CompareOperator.LESS_OR_EQUAL };
  private static final int ROWS = 3;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final ManualEnvironmentEdge clock = new ManualEnvironmentEdge();
  private Random random;

  @Before
  public void setUp() {
    clock.setValue(PointGetHistory.START);
    EnvironmentEdgeManager.injectEdge(clock);
  }

  @After
  public void tearDown() {
    EnvironmentEdgeManager.reset();
    util.cleanupTestDir();
  }

  private HRegion region(String name, boolean enabled) throws IOException {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setBoolean(PointGetSettings.ENABLED_KEY, enabled);
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf(name));
    for (byte[] family : FAMILIES) {
      table.setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(family).setMaxVersions(3).build());
    }
    TableDescriptor descriptor = table.build();
    return HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(descriptor.getTableName()).build(), util.getDataTestDir(name),
      conf, descriptor);
  }

  @Test
  public void testSameResultsAndCells() throws IOException {
    long before = TestPointGets.count("PointGetCount");
    for (int seed = 0; seed < WRITES / WRITES_OF_HISTORY; seed++) {
      HRegion scanning = region("scanning" + seed, false);
      HRegion reading = region("reading" + seed, true);
      for (int i = 0; i < WRITES_OF_HISTORY; i++) {
        long seedOfWrite = seed * 1_000_000L + i;
        String message = "seed " + seedOfWrite;
        assertEquals(message, write(scanning, seedOfWrite), write(reading, seedOfWrite));
        if (i % 10 == 0) {
          assertEquals(message, cells(scanning), cells(reading));
        }
        clock.incValue(1);
      }
      HBaseTestingUtility.closeRegionAndWAL(scanning);
      HBaseTestingUtility.closeRegionAndWAL(reading);
    }
    long count = TestPointGets.count("PointGetCount") - before;
    assertTrue("point gets: " + count, count > WRITES / 2);
  }

  private static List<String> cells(HRegion region) throws IOException {
    List<Cell> cells = new ArrayList<>();
    try (RegionScanner scanner = region.getScanner(new Scan().readAllVersions())) {
      boolean more = true;
      while (more) {
        more = scanner.next(cells);
      }
      return PointGetTexts.of(cells);
    }
  }

  private <T> T one(T[] values) {
    return values[random.nextInt(values.length)];
  }

  /** Does what follows from a seed. Returns its result. */
  private String write(HRegion region, long seed) throws IOException {
    random = new Random(seed);
    byte[] row = PointGetHistory.row(random.nextInt(ROWS));
    switch (random.nextInt(40)) {
      case 0:
        region.flush(true);
        return "flush";
      case 1:
        region.compact(random.nextInt(4) == 0);
        return "compaction";
      default:
        return change(region, row);
    }
  }

  private String change(HRegion region, byte[] row) throws IOException {
    switch (random.nextInt(8)) {
      case 0:
        region.put(put(row));
        return "put";
      case 1:
        region.delete(delete(row));
        return "delete";
      case 2:
      case 3:
        return text(region.increment(increment(row)));
      case 4:
      case 5:
        return text(region.append(append(row)));
      default:
        return check(region, row);
    }
  }

  private static String text(Result result) {
    return PointGetTexts.of(result.listCells()).toString();
  }

  private Put put(byte[] row) {
    return new Put(row).addColumn(one(FAMILIES), one(COLUMNS), one(VALUES));
  }

  /** Returns a delete of the newest version, or of the two newest. */
  private Delete delete(byte[] row) {
    Delete delete = new Delete(row);
    byte[] family = one(FAMILIES);
    byte[] column = one(COLUMNS);
    for (int i = random.nextInt(2); i >= 0; i--) {
      delete.addColumn(family, column);
    }
    return delete;
  }

  private Increment increment(byte[] row) throws IOException {
    Increment increment = new Increment(row);
    for (byte[] family : FAMILIES) {
      increment.addColumn(family, COUNTER, random.nextInt(9));
    }
    if (random.nextInt(3) == 0) {
      increment.setTimeRange(clock.currentTime() - random.nextInt(20), clock.currentTime() + 1);
    }
    return increment;
  }

  private Append append(byte[] row) {
    Append append = new Append(row);
    for (byte[] column : COLUMNS) {
      append.addColumn(one(FAMILIES), column, one(VALUES));
    }
    return append;
  }

  private String check(HRegion region, byte[] row) throws IOException {
    byte[] family = one(FAMILIES);
    byte[] column = one(COLUMNS);
    byte[] value = one(VALUES);
    CheckAndMutate.Builder check = CheckAndMutate.newBuilder(row);
    switch (random.nextInt(4)) {
      case 0:
        check.ifNotExists(family, column);
        break;
      case 1:
        check.ifMatches(new SingleColumnValueFilter(family, column, CompareOperator.EQUAL, value));
        break;
      default:
        check.ifMatches(family, column, one(OPERATORS), value);
        break;
    }
    if (random.nextInt(3) == 0) {
      check.timeRange(new TimeRange(0,
        clock.currentTime() - random.nextInt(20)));
    }
    CheckAndMutateResult result = region.checkAndMutate(action(check, row));
    return result.isSuccess() + (result.getResult() == null ? "" : text(result.getResult()));
  }

  private CheckAndMutate action(CheckAndMutate.Builder check, byte[] row) throws IOException {
    switch (random.nextInt(4)) {
      case 0:
        return check.build(put(row));
      case 1:
        return check.build(delete(row));
      case 2:
        return check.build(increment(row));
      default:
        return check.build(RowMutations.of(Arrays.asList(put(row), append(row))));
    }
  }
}
