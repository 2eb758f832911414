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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.spy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.MemoryCompactionPolicy;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.regionserver.read.PointGet;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * What a point get holds from its read point on until it is closed, and that all of it is given
 * back, after a failure as well.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestPointGetReferences {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPointGetReferences.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] OTHER = Bytes.toBytes("g");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final byte[] ROW = Bytes.toBytes("row");
  private static final int ROWS = 31;
  private static final int READERS = 8;
  private static final int FLUSHES = 20;

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    Configuration conf = util.getConfiguration();
    conf.setLong(HConstants.TABLE_MAX_ROWSIZE_KEY, 1 << 20);
    // In-memory flushes and compactions every few kilobytes.
    conf.setDouble(CompactingMemStore.IN_MEMORY_FLUSH_THRESHOLD_FACTOR_KEY, 0.01);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("references"))
      .setMemStoreFlushSize(256 * 1024)
      .setColumnFamily(family(FAMILY, MemoryCompactionPolicy.NONE))
      .setColumnFamily(family(OTHER, MemoryCompactionPolicy.EAGER)).build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(), conf,
      table);
    // With a pool, chunks of a memstore are reused as soon as they are given back.
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 64L << 20, 0.9f, 0.1f, null,
      MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
  }

  private static ColumnFamilyDescriptor family(byte[] name, MemoryCompactionPolicy policy) {
    return ColumnFamilyDescriptorBuilder.newBuilder(name).setInMemoryCompaction(policy).build();
  }

  @After
  public void tearDown() throws IOException {
    assertEquals("no read point is left", 0, region.scannerReadPoints.size());
    for (HStore store : region.getStores()) {
      for (HStoreFile file : store.getStorefiles()) {
        assertEquals("no reference is left", 0, file.getRefCount());
      }
    }
    HBaseTestingUtility.closeRegionAndWAL(region);
    util.cleanupTestDir();
  }

  private static void put(HRegion region, byte[] row, long number) throws IOException {
    byte[] value = Bytes.toBytes(number);
    region.put(new Put(row).addColumn(FAMILY, COLUMN, value).addColumn(OTHER, COLUMN, value));
  }

  private static Get get(byte[] row) {
    return new Get(row).addColumn(FAMILY, COLUMN).addColumn(OTHER, COLUMN);
  }

  private static List<Long> numbers(List<Cell> cells) {
    List<Long> numbers = new ArrayList<>();
    for (Cell cell : cells) {
      numbers.add(Bytes.toLong(CellUtil.cloneValue(cell)));
    }
    return numbers;
  }

  @Test
  public void testCellsOfMemstoreOutliveFlush() throws IOException {
    put(region, ROW, 1);
    List<Cell> cells = new ArrayList<>();
    try (PointGet ignored = PointGet.read(region, get(ROW), cells)) {
      region.flush(true);
      // Would be written into the chunks of the memstore that was flushed.
      for (int i = 0; i < 1000; i++) {
        put(region, Bytes.toBytes("other" + i), -1);
      }
      assertEquals(Arrays.asList(1L, 1L), numbers(cells));
    }
  }

  @Test
  public void testFileOutlivesCompaction() throws IOException {
    put(region, ROW, 1);
    region.flush(true);
    HStore store = region.getStore(FAMILY);
    HStoreFile file = store.getStorefiles().iterator().next();
    List<Cell> cells = new ArrayList<>();
    try (PointGet ignored = PointGet.read(region, get(ROW), cells)) {
      assertEquals(1, file.getRefCount());
      put(region, ROW, 2);
      region.flush(true);
      region.compact(true);
      store.closeAndArchiveCompactedFiles();
      assertTrue("the file is there", util.getTestFileSystem().exists(file.getPath()));
      assertEquals(Arrays.asList(1L, 1L), numbers(cells));
    }
    store.closeAndArchiveCompactedFiles();
    assertFalse("the file is archived", util.getTestFileSystem().exists(file.getPath()));
  }

  /** Between read point and stores, and between two stores, a flush drops what no reader needs. */
  @Test
  public void testFlushKeepsVersionsOfReadPoint() throws IOException {
    put(region, ROW, 1);
    HRegion interrupted = spy(region);
    AtomicInteger version = new AtomicInteger(1);
    doAnswer(invocation -> {
      put(region, ROW, version.incrementAndGet());
      region.flush(true);
      region.compact(true);
      return invocation.callRealMethod();
    }).when(interrupted).getStore(any());
    List<Cell> cells = new ArrayList<>();
    try (PointGet ignored = PointGet.read(interrupted, get(ROW), cells)) {
      assertEquals(Arrays.asList(1L, 1L), numbers(cells));
    }
    assertEquals("both stores were changed", 3, version.get());
  }

  @Test
  public void testNothingIsHeldAfterFailure() throws IOException {
    put(region, ROW, 1);
    region.flush(true);
    put(region, ROW, 2);
    byte[] large = new byte[(1 << 20) + 1];
    region.put(new Put(ROW).addColumn(OTHER, COLUMN, large));
    assertThrows(RowTooBigException.class,
      () -> PointGet.read(region, get(ROW), new ArrayList<>()));
    // The rest is checked in tearDown.
    region.flush(true);
  }

  @Test
  public void testClosedTwice() throws IOException {
    put(region, ROW, 1);
    region.flush(true);
    PointGet get = PointGet.read(region, get(ROW), new ArrayList<>());
    get.close();
    get.close();
  }

  /** Rows are neither torn nor older than a write that was acknowledged before. */
  @Test
  public void testRowsAreWholeUnderWritesAndFlushes() throws Exception {
    AtomicLongArray acknowledged = new AtomicLongArray(ROWS);
    byte[][] rows = new byte[ROWS][];
    for (int i = 0; i < ROWS; i++) {
      rows[i] = Bytes.toBytes("row" + i);
      put(region, rows[i], 0);
    }
    ExecutorService threads = Executors.newFixedThreadPool(READERS + 2);
    AtomicInteger flushes = new AtomicInteger();
    List<Future<?>> tasks = new ArrayList<>();
    try {
      tasks.add(threads.submit(() -> {
        for (long number = 1; flushes.get() < FLUSHES; number++) {
          int row = (int) (number % ROWS);
          put(region, rows[row], number);
          acknowledged.set(row, number);
        }
        return null;
      }));
      tasks.add(threads.submit(() -> {
        for (; flushes.get() < FLUSHES; flushes.incrementAndGet()) {
          region.flush(true);
          if (flushes.get() % 4 == 0) {
            region.compact(true);
          }
          for (HStore store : region.getStores()) {
            store.closeAndArchiveCompactedFiles();
          }
        }
        return null;
      }));
      for (int i = 0; i < READERS; i++) {
        tasks.add(threads.submit(() -> {
          while (flushes.get() < FLUSHES) {
            int row = ThreadLocalRandom.current().nextInt(ROWS);
            long least = acknowledged.get(row);
            List<Cell> cells = new ArrayList<>();
            try (PointGet ignored = PointGet.read(region, get(rows[row]), cells)) {
              List<Long> numbers = numbers(cells);
              assertEquals("two families", 2, numbers.size());
              assertEquals("a whole row", numbers.get(0), numbers.get(1));
              assertTrue(numbers + " after " + least, numbers.get(0) >= least);
            }
          }
          return null;
        }));
      }
      for (Future<?> task : tasks) {
        task.get(5, TimeUnit.MINUTES);
      }
    } finally {
      flushes.set(FLUSHES);
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(1, TimeUnit.MINUTES));
    }
  }
}
