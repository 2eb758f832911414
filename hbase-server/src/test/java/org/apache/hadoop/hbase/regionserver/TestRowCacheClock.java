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
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.cache.RegionRows;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
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
 * Gets of rows that are read again and again, with TTLs of families, cells and markers, under a
 * clock that jumps ahead and back, and stands still: they return what a scan does.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestRowCacheClock {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowCacheClock.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] MORTAL = Bytes.toBytes("m");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final long START = 1_700_000_000_123L;
  private static final long HOUR = 3_600_000;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final ManualEnvironmentEdge clock = new ManualEnvironmentEdge();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    RegionRows.forgetCache();
    clock.setValue(START);
    EnvironmentEdgeManager.injectEdge(clock);
    Configuration conf = util.getConfiguration();
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    conf.setInt(RowCacheSettings.SIZE_KEY, 1);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("clock"))
      .setValue(RowCacheSettings.TABLE_ATTRIBUTE, "true")
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(MORTAL)
        .setTimeToLive((int) (HOUR / 2_000)).build())
      .build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(), conf,
      table);
  }

  @After
  public void tearDown() throws IOException {
    EnvironmentEdgeManager.reset();
    HBaseTestingUtility.closeRegionAndWAL(region);
    RegionRows.forgetCache();
    util.cleanupTestDir();
  }

  /** Gets the row until it is cached if it can be. Returns the number of its cells. */
  private int get(byte[] row, byte[] family) throws IOException {
    List<Cell> cells = new ArrayList<>();
    try (RegionScanner scanner =
      region.getScanner(new Scan().withStartRow(row, true).withStopRow(row, true)
        .addFamily(family))) {
      scanner.next(cells);
    }
    for (int i = 0; i < 4; i++) {
      assertEquals("get " + i, cells.size(),
        region.get(new Get(row).addFamily(family)).size());
    }
    return cells.size();
  }

  private boolean isCached(byte[] row, byte[] family) {
    return region.cachedRows.get(new Get(row).addFamily(family), true, new ArrayList<>());
  }

  /** @param now the number of the row's cells before the hour is over */
  private void assertClockIsFollowed(byte[] family, int now) throws IOException {
    for (int i = 0; i < 2; i++) {
      clock.setValue(START + i);
      assertEquals(now, get(Q, family));
      clock.setValue(START + HOUR);
      assertEquals(1 - now, get(Q, family));
    }
    clock.setValue(START);
    assertEquals("set back", now, get(Q, family));
  }

  @Test
  public void testTtlOfAFamily() throws IOException {
    region.put(new Put(Q).addColumn(MORTAL, Q, Q));
    assertClockIsFollowed(MORTAL, 1);
    region.flush(true);
    assertClockIsFollowed(MORTAL, 1);
  }

  @Test
  public void testTtlOfACell() throws IOException {
    region.put(new Put(Q).addColumn(FAMILY, Q, Q).setTTL(HOUR / 2));
    assertClockIsFollowed(FAMILY, 1);
    region.flush(true);
    assertClockIsFollowed(FAMILY, 1);
  }

  /** Clients in other languages set the TTL of a delete by its attribute. */
  @Test
  public void testTtlOfAMarker() throws IOException {
    region.put(new Put(Q).addColumn(FAMILY, Q, Q));
    Delete delete = new Delete(Q).addColumns(FAMILY, Q);
    delete.setAttribute("_ttl", Bytes.toBytes(HOUR / 2));
    region.delete(delete);
    // A flush would drop what it hides.
    assertClockIsFollowed(FAMILY, 0);
  }

  @Test
  public void testRowsOfAFamilyWithATtlAreCached() throws IOException {
    region.put(new Put(Q).addColumn(MORTAL, Q, Q));
    get(Q, MORTAL);
    clock.setValue(START + 1_000);
    assertEquals(1, get(Q, MORTAL));
    assertTrue(isCached(Q, MORTAL));
  }
}
