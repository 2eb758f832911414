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
import static org.junit.Assert.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.cache.RegionRows;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Gets of hot rows by more threads than a server has handlers, beside writers of all kinds,
 * flushes, compactions and bulk loads: no row is older than what was acknowledged before the get,
 * and none is torn between its families.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestRowCacheUnderWrites {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowCacheUnderWrites.class);

  private static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  private static final byte[] COUNTER = Bytes.toBytes("n");
  private static final byte[] LOADED = Bytes.toBytes("l");
  private static final int ROWS = 7;
  private static final int READERS = 37;
  private static final int WRITERS = 4;
  private static final int SECONDS = Integer.getInteger("rowcache.seconds", 10);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;
  private final byte[][] rows = new byte[ROWS][];
  /** The last number of each row: put by each writer, incremented, and loaded. */
  private final AtomicLongArray put = new AtomicLongArray(ROWS * WRITERS);
  private final AtomicLongArray counted = new AtomicLongArray(ROWS);
  private final AtomicLongArray loaded = new AtomicLongArray(ROWS);
  private final AtomicInteger files = new AtomicInteger();
  private volatile boolean done;

  @Before
  public void setUp() throws IOException {
    RegionRows.forgetCache();
    Configuration conf = util.getConfiguration();
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    conf.setInt(RowCacheSettings.SIZE_KEY, 1);
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf("cached"))
      .setValue(RowCacheSettings.TABLE_ATTRIBUTE, "true");
    for (byte[] family : FAMILIES) {
      table.setColumnFamily(ColumnFamilyDescriptorBuilder.of(family));
    }
    TableDescriptor built = table.build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(built.getTableName()).build(), util.getDataTestDir(), conf,
      built);
    for (int i = 0; i < ROWS; i++) {
      rows[i] = Bytes.toBytes("row" + i);
      increment(i);
    }
    assertTrue(region.cachedRows.isEnabled());
  }

  @After
  public void tearDown() throws IOException {
    assertEquals("no read point is left", 0, region.scannerReadPoints.size());
    HBaseTestingUtility.closeRegionAndWAL(region);
    RegionRows.forgetCache();
    util.cleanupTestDir();
  }

  private static byte[] column(int writer) {
    return Bytes.toBytes("c" + writer);
  }

  private Put number(int row, int writer, long number) {
    Put puts = new Put(rows[row]);
    for (byte[] family : FAMILIES) {
      // The timestamps ascend, whatever the clock says.
      puts.addColumn(family, column(writer), number, Bytes.toBytes(number));
    }
    return puts;
  }

  private void increment(int row) throws IOException {
    long value = Bytes.toLong(
      region.increment(new Increment(rows[row]).addColumn(FAMILIES[0], COUNTER, 1)).value());
    counted.accumulateAndGet(row, value, Math::max);
  }

  private void load(int row, long number) throws IOException {
    List<Pair<byte[], String>> paths = new ArrayList<>();
    for (byte[] family : FAMILIES) {
      Path path = new Path(util.getDataTestDir("load" + files.incrementAndGet()),
        Bytes.toString(family) + "/file");
      StoreFileWriter writer = new StoreFileWriter.Builder(util.getConfiguration(),
        new CacheConfig(util.getConfiguration()), util.getTestFileSystem()).withFilePath(path)
          .withMaxKeyCount(1).withFileContext(new HFileContextBuilder().build()).build();
      writer.append(new KeyValue(rows[row], family, LOADED, number, Bytes.toBytes(number)));
      writer.appendFileInfo(HStoreFile.BULKLOAD_TIME_KEY, Bytes.toBytes(number));
      writer.close();
      paths.add(new Pair<>(family, path.toString()));
    }
    region.bulkLoadHFiles(paths, true, null);
    loaded.set(row, number);
  }

  private static long value(List<Cell> cells, byte[] family, byte[] column) {
    for (Cell cell : cells) {
      if (CellUtil.matchingColumn(cell, family, column)) {
        return Bytes.toLong(CellUtil.cloneValue(cell));
      }
    }
    return 0;
  }

  private long read(Random random) throws IOException {
    int row = random.nextInt(ROWS);
    Get get = new Get(rows[row]);
    for (byte[] family : FAMILIES) {
      if (random.nextBoolean()) {
        get.addFamily(family);
      }
    }
    if (!get.hasFamilies()) {
      get.addFamily(FAMILIES[0]).addFamily(FAMILIES[1]);
    }
    long[] leastPut = new long[WRITERS];
    for (int writer = 0; writer < WRITERS; writer++) {
      leastPut[writer] = put.get(row * WRITERS + writer);
    }
    long leastCount = counted.get(row);
    long leastLoaded = loaded.get(row);
    List<Cell> cells = new ArrayList<>();
    try (Closeable ignored =
      region.pointGets.read(get, cells, HConstants.NO_NONCE, HConstants.NO_NONCE)) {
      for (byte[] family : get.familySet()) {
        for (int writer = 0; writer < WRITERS; writer++) {
          long number = value(cells, family, column(writer));
          assertTrue(number + " put, after " + leastPut[writer], number >= leastPut[writer]);
        }
        long number = value(cells, family, LOADED);
        assertTrue(number + " loaded, after " + leastLoaded, number >= leastLoaded);
      }
      if (get.familySet().size() == 2) {
        for (int writer = 0; writer < WRITERS; writer++) {
          assertEquals("a whole row", value(cells, FAMILIES[0], column(writer)),
            value(cells, FAMILIES[1], column(writer)));
        }
      }
      if (get.familySet().contains(FAMILIES[0])) {
        long count = value(cells, FAMILIES[0], COUNTER);
        assertTrue(count + " counted, after " + leastCount, count >= leastCount);
      }
    }
    return 1;
  }

  private void write(int writer, Random random) throws IOException {
    for (long number = 1; !done; number++) {
      int row = random.nextInt(ROWS);
      switch (random.nextInt(4)) {
        case 0:
          increment(row);
          break;
        case 1:
          region.delete(new Delete(rows[row]).addColumns(FAMILIES[1], LOADED, 0));
          break;
        default:
          int next = (row + 1) % ROWS;
          region.batchMutate(
            new Mutation[] { number(row, writer, number), number(next, writer, number) });
          put.set(row * WRITERS + writer, number);
          put.set(next * WRITERS + writer, number);
          break;
      }
      // Else gets find nothing current.
      if (random.nextInt(8) == 0) {
        sleep(random.nextInt(3));
      }
    }
  }

  private static void sleep(int ms) throws IOException {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  public void testNoStaleRow() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> tasks = new ArrayList<>();
    AtomicLongArray gets = new AtomicLongArray(READERS);
    long begin = System.nanoTime();
    for (int i = 0; i < READERS; i++) {
      int reader = i;
      tasks.add(threads.submit(() -> {
        Random random = new Random(reader);
        while (!done) {
          gets.addAndGet(reader, read(random));
        }
        return null;
      }));
    }
    for (int i = 0; i < WRITERS; i++) {
      int writer = i;
      tasks.add(threads.submit(() -> {
        write(writer, new Random(writer));
        return null;
      }));
    }
    for (int i = 0; i < 2; i++) {
      int loader = i;
      tasks.add(threads.submit(() -> {
        for (long number = 1; !done; number++) {
          for (int row = loader; row < ROWS; row += 2) {
            load(row, number);
          }
          sleep(100);
        }
        return null;
      }));
    }
    tasks.add(threads.submit(() -> {
      for (int i = 0; !done; i++) {
        region.flush(true);
        region.compact(i % 4 == 0);
        for (HStore store : region.getStores()) {
          store.closeAndArchiveCompactedFiles();
        }
        sleep(50);
      }
      return null;
    }));
    try {
      long end = begin + TimeUnit.SECONDS.toNanos(SECONDS);
      // A busy machine needs longer.
      while (
        System.nanoTime() - end < 0 || TestRowCacheEqualsScanner.count("HitCount") <= 1000
          && System.nanoTime() - end < TimeUnit.MINUTES.toNanos(5)
      ) {
        for (Future<?> task : tasks) {
          if (task.isDone()) {
            task.get();
          }
        }
        Thread.sleep(100);
      }
    } finally {
      done = true;
      threads.shutdown();
      assertTrue(threads.awaitTermination(5, TimeUnit.MINUTES));
    }
    for (Future<?> task : tasks) {
      task.get();
    }
    long all = 0;
    for (int i = 0; i < READERS; i++) {
      all += gets.get(i);
    }
    long hits = TestRowCacheEqualsScanner.count("HitCount");
    System.out.println(all + " gets, " + hits + " hits, put " + put);
    assertTrue("hits: " + hits, hits > 1000);
  }

  /** A table that is written would have no use of the cache otherwise. */
  @Test
  public void testWritesOfOtherRowsChangeNothing() throws IOException {
    int hot = 500;
    for (int i = 0; i < hot; i++) {
      region.put(new Put(Bytes.toBytes("hot" + i)).addColumn(FAMILIES[0], COUNTER, COUNTER));
    }
    for (int times = 0; times < 3; times++) {
      getHot(hot);
    }
    for (int i = 0; i < 10_000; i++) {
      region.put(new Put(Bytes.toBytes("other" + i)).addColumn(FAMILIES[0], COUNTER, COUNTER)
        .setDurability(Durability.SKIP_WAL));
    }
    assertTrue(getHot(hot) > 0.98 * hot);
  }

  /** Returns how many of the rows were cached. */
  private int getHot(int rows) throws IOException {
    int hits = 0;
    for (int i = 0; i < rows; i++) {
      Get get = new Get(Bytes.toBytes("hot" + i)).addFamily(FAMILIES[0]);
      hits += region.cachedRows.get(get, true, new ArrayList<>()) ? 1 : 0;
      assertArrayEquals(COUNTER, region.get(get).value());
    }
    return hits;
  }
}
