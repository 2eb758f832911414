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
package org.apache.hadoop.hbase.regionserver.read.cache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.TagType;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.master.region.MasterRegionFactory;
import org.apache.hadoop.hbase.regionserver.PointGetTexts;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The memory of the row cache: what was put is returned, or nothing. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestRowCache {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowCache.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final long NOW = 1_700_000_000_000L;
  private static final int MAX_ROW = 4000;

  private static Get get(int row) {
    return new Get(Bytes.toBytes("row" + row)).addFamily(FAMILY);
  }

  private static List<Cell> cells(Random random, int row, int maxValue) {
    List<Cell> cells = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      byte[] value = new byte[random.nextInt(maxValue)];
      random.nextBytes(value);
      Tag[] tags = random.nextInt(3) > 0
        ? new Tag[0]
        : new Tag[] { new ArrayBackedTag(TagType.TTL_TAG_TYPE, Bytes.toBytes(NOW)) };
      cells.add(new KeyValue(Bytes.toBytes("row" + row), FAMILY, Bytes.toBytes(4 - i), NOW, value,
        tags));
    }
    return cells;
  }

  private static void put(RowCache cache, CachedRegion region, int row, long readPoint,
    List<Cell> cells) {
    // The first time it is only counted.
    for (int i = 0; i < 2; i++) {
      cache.put(region, get(row), readPoint, () -> readPoint, 0, Long.MAX_VALUE, NOW, true, cells);
    }
  }

  private static List<Cell> read(RowCache cache, CachedRegion region, Get get) {
    List<Cell> cells = new ArrayList<>();
    return cache.get(region, get, NOW, true, cells) ? cells : null;
  }

  /** Compares a cache that is always full with a model. The sizes range up to a stripe's limit. */
  @Test
  public void testAgainstModel() {
    for (int kb : new int[] { 1, 7, 64, 1000, 3333 }) {
      Random random = new Random(kb);
      RowCache cache = new RowCache(kb << 10, MAX_ROW);
      CachedRegion[] regions = { cache.open(0), cache.open(0) };
      List<Map<Integer, List<String>>> models = Arrays.asList(new HashMap<>(), new HashMap<>());
      int hits = 0;
      for (int i = 1; i < 60_000; i++) {
        int of = random.nextInt(2);
        // A few rows are read often.
        int row = random.nextInt(random.nextBoolean() ? 20 : 20_000);
        if (random.nextInt(3) == 0) {
          List<Cell> cells = cells(random, row, random.nextInt(10) == 0 ? 1500 : 100);
          regions[of].versions().raise(RowHash.of(get(row).getRow(), 0, get(row).getRow().length),
            i);
          put(cache, regions[of], row, i, cells);
          models.get(of).put(row, PointGetTexts.of(cells));
        } else {
          List<Cell> cells = read(cache, regions[of], get(row));
          if (cells != null) {
            hits++;
            assertEquals(models.get(of).get(row), PointGetTexts.of(cells));
          }
        }
      }
      assertTrue(kb + " KB: " + hits, kb < 64 || hits > 0);
    }
  }

  @Test
  public void testRowsOfManyThreadsAreWhole() throws Exception {
    RowCache cache = new RowCache(3 << 20, MAX_ROW);
    CachedRegion region = cache.open(0);
    ExecutorService threads = Executors.newFixedThreadPool(37);
    List<Future<?>> tasks = new ArrayList<>();
    for (int t = 0; t < 37; t++) {
      Random random = new Random(t);
      tasks.add(threads.submit(() -> {
        for (int i = 0; i < 20_000; i++) {
          int row = random.nextInt(random.nextBoolean() ? 20 : 20_000);
          List<Cell> cells = read(cache, region, get(row));
          if (cells == null) {
            put(cache, region, row, 1, cells(new Random(row), row, 300));
          } else {
            assertEquals(PointGetTexts.of(cells(new Random(row), row, 300)),
              PointGetTexts.of(cells));
          }
        }
      }));
    }
    for (Future<?> task : tasks) {
      task.get(2, TimeUnit.MINUTES);
    }
    threads.shutdown();
    assertTrue(cache.rows() > 100);
  }

  /** Rows that are read once do not displace those that are read often. */
  @Test
  public void testHotRowsStay() {
    RowCache cache = new RowCache(1 << 20, MAX_ROW);
    CachedRegion region = cache.open(0);
    Random random = new Random(1);
    List<Cell> cells = new ArrayList<>();
    cells.add(new KeyValue(Bytes.toBytes("r"), FAMILY, FAMILY, NOW, new byte[1000]));
    for (int i = 0; i < 200_000; i++) {
      // The hot rows take about half of the memory.
      boolean hot = i % 2 == 0;
      Get get = get(hot ? random.nextInt(400) : 1000 + i);
      if (read(cache, region, get) != null) {
        cache.countLookup(true);
      } else {
        cache.countLookup(false);
        cache.put(region, get, 1, () -> 0, 0, Long.MAX_VALUE, NOW, true, cells);
      }
    }
    for (int row = 0; row < 400; row++) {
      assertNotNull("row " + row, read(cache, region, get(row)));
    }
  }

  @Test
  public void testShapesHaveEntriesOfTheirOwn() {
    RowCache cache = new RowCache(1 << 20, MAX_ROW);
    CachedRegion region = cache.open(0);
    byte[] row = Bytes.toBytes("row1");
    Get[] gets = { get(1), new Get(row).addColumn(FAMILY, FAMILY), new Get(row).addFamily(row),
      new Get(row).addFamily(FAMILY).addFamily(row),
      new Get(row).addColumn(FAMILY, row).addColumn(FAMILY, FAMILY),
      new Get(row).addColumn(FAMILY, new byte[0]) };
    for (int i = 0; i < gets.length; i++) {
      assertTrue(read(cache, region, gets[i]) == null);
      List<Cell> cells = new ArrayList<>();
      cells.add(new KeyValue(row, FAMILY, FAMILY, NOW + i, row));
      for (int twice = 0; twice < 2; twice++) {
        cache.put(region, gets[i], 1, () -> 0, 0, Long.MAX_VALUE, NOW, true, cells);
      }
    }
    for (int i = 0; i < gets.length; i++) {
      assertEquals(NOW + i, read(cache, region, gets[i]).get(0).getTimestamp());
    }
  }

  @Test
  public void testStaleExpiredAndClosed() {
    RowCache cache = new RowCache(1 << 20, MAX_ROW);
    CachedRegion region = cache.open(0);
    List<Cell> cells = cells(new Random(3), 1, 10);
    put(cache, region, 1, 5, cells);
    assertEquals(PointGetTexts.of(cells), PointGetTexts.of(read(cache, region, get(1))));
    region.versions().raiseFloor(6);
    assertTrue(read(cache, region, get(1)) == null);
    put(cache, region, 1, 5, cells);
    assertTrue("an old result", read(cache, region, get(1)) == null);
    put(cache, region, 1, 6, cells);
    put(cache, region, 1, 5, new ArrayList<>());
    assertEquals("a newer one stays", PointGetTexts.of(cells),
      PointGetTexts.of(read(cache, region, get(1))));
    CachedRegion again = cache.open(0);
    assertTrue("opened again", read(cache, again, get(1)) == null);
    cache.close(region);
    for (long expires : new long[] { NOW, NOW + 999, NOW + 2000, Long.MAX_VALUE - 1 }) {
      for (int i = 0; i < 2; i++) {
        cache.put(again, get(2), expires, () -> 0, 0, expires, NOW, true, cells);
      }
      List<Cell> found = new ArrayList<>();
      assertEquals(expires > NOW + 1000, cache.get(again, get(2), NOW, true, found));
      assertEquals(expires > NOW + 2000, cache.get(again, get(2), NOW + 2000, true, found));
    }
    cache.clear();
    assertEquals(0, cache.rows());
    assertFalse(cache.get(again, get(2), NOW, true, new ArrayList<>()));
  }

  @Test
  public void testSettings() {
    Configuration conf = new Configuration(false);
    assertEquals(0, RowCacheSettings.of(conf).bytes());
    conf.setInt(RowCacheSettings.SIZE_KEY, 2);
    IllegalArgumentException e =
      assertThrows(IllegalArgumentException.class, () -> RowCacheSettings.of(conf));
    assertTrue(e.getMessage(), e.getMessage().contains(RowCacheSettings.SIZE_KEY)
      && e.getMessage().contains("hbase.regionserver.point.get.enabled"));
    conf.setBoolean("hbase.regionserver.point.get.enabled", true);
    assertEquals(2 << 20, RowCacheSettings.of(conf).bytes());
    conf.setInt(RowCacheSettings.MAX_ROW_KEY, 65537);
    e = assertThrows(IllegalArgumentException.class, () -> RowCacheSettings.of(conf));
    assertTrue(e.getMessage(), e.getMessage().contains(RowCacheSettings.MAX_ROW_KEY));
    conf.setInt(RowCacheSettings.MAX_ROW_KEY, 100);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("t")).build();
    TableDescriptor none = TableDescriptorBuilder.newBuilder(table)
      .setValue(RowCacheSettings.TABLE_ATTRIBUTE, "false").build();
    TableDescriptor one = TableDescriptorBuilder.newBuilder(TableName.META_TABLE_NAME)
      .setValue(RowCacheSettings.TABLE_ATTRIBUTE, "true").build();
    assertFalse(RowCacheSettings.of(conf).isEnabled(table));
    assertTrue(RowCacheSettings.of(conf).isEnabled(one));
    conf.setBoolean(RowCacheSettings.ALL_TABLES_KEY, true);
    assertTrue(RowCacheSettings.of(conf).isEnabled(table));
    assertFalse(RowCacheSettings.of(conf).isEnabled(none));
    assertFalse("the master's own", RowCacheSettings.of(conf).isEnabled(
      TableDescriptorBuilder.newBuilder(MasterRegionFactory.TABLE_NAME).build()));
    assertFalse(RowCacheSettings.of(conf).isEnabled(
      TableDescriptorBuilder.newBuilder(TableName.META_TABLE_NAME).build()));
  }

  @Test
  public void testLargeRowsAndKeysAreNotTaken() {
    RowCache cache = new RowCache(1 << 20, MAX_ROW);
    CachedRegion region = cache.open(0);
    List<Cell> cells = new ArrayList<>();
    cells.add(new KeyValue(Bytes.toBytes("row1"), FAMILY, FAMILY, NOW, new byte[MAX_ROW]));
    put(cache, region, 1, 1, cells);
    assertTrue(read(cache, region, get(1)) == null);
    Get wide = get(2);
    for (int i = 0; i < 5000; i++) {
      wide.addColumn(FAMILY, Bytes.toBytes(i));
    }
    for (int i = 0; i < 2; i++) {
      cache.put(region, wide, 1, () -> 0, 0, Long.MAX_VALUE, NOW, true, new ArrayList<>());
    }
    assertTrue(read(cache, region, wide) == null);
    assertEquals(0, cache.rows());
  }
}
