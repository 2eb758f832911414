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

import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.PackagePrivateFieldAccessor;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.regionserver.read.PointGet;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.ManualEnvironmentEdge;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Random gets of random histories: a point get returns the cells of a scanner, cell by cell, at
 * the newest and at former read points. The number of gets is <code>pointget.gets</code>, the first
 * seed <code>pointget.seed</code>.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestPointGetEqualsScanner {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPointGetEqualsScanner.class);

  private static final long GETS = Long.getLong("pointget.gets", 40_000);
  private static final long SEED = Long.getLong("pointget.seed", 1);
  private static final int CHANGES = 60;
  private static final int GETS_PER_CHANGE = 100;

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private final ManualEnvironmentEdge clock = new ManualEnvironmentEdge();
  private long gets;
  private long cells;

  @Before
  public void setUp() {
    EnvironmentEdgeManager.injectEdge(clock);
  }

  @After
  public void tearDown() {
    EnvironmentEdgeManager.reset();
  }

  @AfterClass
  public static void tearDownAfterClass() {
    UTIL.cleanupTestDir();
  }

  @Test
  public void testRandomHistories() throws IOException {
    for (long seed = SEED; gets < GETS; seed++) {
      try (PointGetHistory history = new PointGetHistory(UTIL, seed, clock)) {
        run(history, seed);
      }
    }
    System.out.println(gets + " gets, " + cells + " cells");
    assertTrue("most gets return cells: " + cells, cells > gets / 2);
  }

  private void run(PointGetHistory history, long seed) throws IOException {
    HRegion region = history.region();
    List<String> changes = new ArrayList<>();
    List<Long> readPoints = new ArrayList<>();
    for (int i = 0; i < CHANGES; i++) {
      changes.add(history.change());
      // The base's scanner fails when a segment is closed while it is created.
      awaitInMemoryCompaction(region);
      readPoints.add(region.getReadPoint(null));
      for (int j = 0; j < GETS_PER_CHANGE; j++) {
        Random random = history.random();
        long readPoint =
          random.nextInt(3) > 0 ? -1 : readPoints.get(random.nextInt(readPoints.size()));
        compare(region, history, readPoint, "seed " + seed + " after " + changes);
      }
    }
    for (HRegion daughter : history.split()) {
      for (int j = 0; j < GETS_PER_CHANGE; j++) {
        compare(daughter, history, -1, "seed " + seed + ", a daughter, after " + changes);
      }
    }
  }

  static void awaitInMemoryCompaction(HRegion region) {
    for (HStore store : region.getStores()) {
      if (store.memstore instanceof CompactingMemStore) {
        while (((CompactingMemStore) store.memstore).isMemStoreFlushingInMemory()) {
          Thread.yield();
        }
      }
    }
  }

  private void compare(HRegion region, PointGetHistory history, long readPoint, String message)
    throws IOException {
    Get get = get(history, region);
    if (get.getFamilyMap().isEmpty()) {
      for (byte[] family : PointGetHistory.FAMILIES) {
        get.addFamily(family);
      }
    }
    List<String> expected;
    try (RegionScanner scanner = region.getScanner(scan(get, readPoint))) {
      List<Cell> results = new ArrayList<>();
      scanner.next(results);
      expected = PointGetHistory.texts(results);
    }
    List<Cell> results = new ArrayList<>();
    try (PointGet ignored = PointGet.read(region, get, readPoint, results)) {
      List<String> actual = PointGetHistory.texts(results);
      if (!expected.equals(actual)) {
        fail(message + ": " + get + " at " + readPoint + " is " + actual + " instead of "
          + expected + "; the row has " + allOf(region, get.getRow()));
      }
    }
    gets++;
    cells += results.size();
  }

  /** Returns all cells of a row, delete markers included, in each of its places. */
  private static String allOf(HRegion region, byte[] row) throws IOException {
    StringBuilder all = new StringBuilder();
    for (HStore store : region.getStores()) {
      ColumnFamilyDescriptor family = store.getColumnFamilyDescriptor();
      all.append("\n").append(family);
      for (KeyValueScanner scanner : store.getScanners(false, true, false, null, row, true, row,
        true, Long.MAX_VALUE, true)) {
        all.append("\n  ").append(scanner.isFileScanner() ? scanner.getFilePath().getName() : "-");
        for (scanner.seek(PrivateCellUtil.createFirstOnRow(row)); scanner.peek() != null
          && CellUtil.matchingRows(scanner.peek(), row); scanner.next()) {
          all.append("\n    ").append(PointGetHistory.texts(Arrays.asList(scanner.peek())));
        }
        scanner.close();
      }
    }
    return all.toString();
  }

  private static Scan scan(Get get, long readPoint) {
    Scan scan = new Scan(get);
    if (readPoint > 0) {
      PackagePrivateFieldAccessor.setMvccReadPoint(scan, readPoint);
    }
    return scan;
  }

  static Get get(PointGetHistory history, HRegion region) throws IOException {
    Random random = history.random();
    byte[] row;
    do {
      row = PointGetHistory.row(random.nextInt(PointGetHistory.ROWS + 1));
    } while (!region.getRegionInfo().containsRow(row));
    Get get = new Get(row);
    switch (random.nextInt(4)) {
      case 0:
        break;
      case 1:
        get.addFamily(history.one(PointGetHistory.FAMILIES));
        break;
      default:
        for (int i = random.nextInt(4); i >= 0; i--) {
          get.addColumn(history.one(PointGetHistory.FAMILIES),
            random.nextInt(8) == 0 ? Bytes.toBytes("none") : history.one(PointGetHistory.COLUMNS));
        }
        break;
    }
    get.readVersions(history.one(1, 1, 2, 3, Integer.MAX_VALUE));
    if (random.nextInt(4) == 0) {
      long time = history.time();
      get.setTimeRange(time, history.one(time + 1, time + 4, Long.MAX_VALUE));
    }
    if (random.nextInt(8) == 0) {
      long time = history.time();
      get.setColumnFamilyTimeRange(history.one(PointGetHistory.FAMILIES), time,
        time + 1 + random.nextInt(5));
    }
    return get;
  }
}
