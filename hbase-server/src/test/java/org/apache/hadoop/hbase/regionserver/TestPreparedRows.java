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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.IsolationLevel;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.MemoryReads;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.regionserver.read.PointGet;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.PreparationChance;
import org.apache.hadoop.hbase.regionserver.read.PreparedRow;
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
 * Rows that are read before the call of a get is run: without waiting for any lock or block, and
 * with nothing held or counted if that fails.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestPreparedRows {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPreparedRows.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] OTHER = Bytes.toBytes("g");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final int ROWS = 400;
  private static final int UNLIMITED = 1000;

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final AtomicLong blockBytes = new AtomicLong();
  private final RpcCall call = mock(RpcCall.class);
  private BlockCache cache;
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    Configuration conf = util.getConfiguration();
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    // Leaves and chunks of a few blocks.
    conf.setInt("hfile.index.block.max.size", 512);
    conf.setInt("io.storefile.bloom.block.size", 256);
    cache = BlockCacheFactory.createBlockCache(conf);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("prepared"))
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(512).build())
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(OTHER).setBlocksize(512).build())
      .build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(), conf,
      table, cache);
    for (int i = 0; i < 2; i++) {
      for (int row = 0; row < ROWS; row++) {
        put(row(row), new byte[20]);
      }
      region.flush(true);
    }
    put(row(7), new byte[1]);
    doAnswer(invocation -> blockBytes.addAndGet(invocation.<Long> getArgument(0))).when(call)
      .incrementBlockBytesScanned(anyLong());
  }

  @After
  public void tearDown() throws IOException {
    assertEquals("no read point is left", 0, region.scannerReadPoints.size());
    assertEquals("no lock is left", 0, region.lock.getReadLockCount());
    for (HStore store : region.getStores()) {
      ReentrantReadWriteLock lock = (ReentrantReadWriteLock) store.storeEngine.getLock();
      assertEquals("no lock is left", 0, lock.getReadLockCount());
      for (HStoreFile file : store.getStorefiles()) {
        assertEquals("no reference is left", 0, file.getRefCount());
      }
    }
    HBaseTestingUtility.closeRegionAndWAL(region);
    cache.shutdown();
    util.cleanupTestDir();
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("row%04d", number));
  }

  private static Get get(int row) {
    return new Get(row(row)).addColumn(FAMILY, COLUMN).addFamily(OTHER);
  }

  private void put(byte[] row, byte[] value) throws IOException {
    region.put(new Put(row).addColumn(FAMILY, COLUMN, value).addColumn(OTHER, COLUMN, value));
  }

  private List<String> read(Get get) throws IOException {
    List<Cell> cells = new ArrayList<>();
    try (PointGet ignored = PointGet.read(region, get, cells)) {
      return PointGetHistory.texts(cells);
    }
  }

  /** Reads as a call does that has offered the row. */
  private List<String> take(PreparedRow row) throws IOException {
    List<Cell> cells = new ArrayList<>();
    try (PreparedRow offered = row) {
      PreparedRow.offer(offered);
      try (Closeable held = PreparedRow.take(region, cells)) {
        assertNotNull(held);
        assertNull("once", PreparedRow.take(region, cells));
        return PointGetHistory.texts(cells);
      }
    }
  }

  private List<Long> counts() {
    HStore store = region.getStore(FAMILY);
    long blooms = 0;
    for (HStore each : region.getStores()) {
      blooms += each.getBloomFilterRequestsCount();
    }
    return Arrays.asList(cache.getStats().getHitCount(), cache.getStats().getMissCount(),
      cache.getStats().getHitCachingCount(), blooms, HFile.DATABLOCK_READ_COUNT.sum(),
      region.getReadRequestsCount(), region.getFilteredReadRequestsCount(),
      store.getMixedRowReadsCount(), store.getMemstoreOnlyRowReadsCount());
  }

  private static List<Long> difference(List<Long> after, List<Long> before) {
    List<Long> difference = new ArrayList<>();
    for (int i = 0; i < after.size(); i++) {
      difference.add(after.get(i) - before.get(i));
    }
    return difference;
  }

  @Test
  public void testIsTheRowAndCountsAsARead() throws IOException {
    for (int row : new int[] { 7, 8, ROWS - 1, ROWS }) {
      read(get(row));
      List<Long> before = counts();
      List<String> cells = read(get(row));
      List<Long> counted = difference(counts(), before);
      before = counts();
      blockBytes.set(0);
      PreparedRow prepared = region.pointGets.prepare(get(row), call);
      assertEquals("before it is taken", before, counts());
      assertEquals(cells, take(prepared));
      assertEquals(counted, difference(counts(), before));
      assertEquals(row < ROWS, blockBytes.get() > 0);
    }
  }

  @Test
  public void testEndsAtAnyBlock() throws IOException {
    List<String> cells = read(get(8));
    List<Long> before = counts();
    int blocks = 0;
    while (true) {
      List<Cell> found = new ArrayList<>();
      MemoryReads reads = MemoryReads.begin(blocks);
      try (PointGet ignored = PointGet.tryRead(region, get(8), call, found)) {
        assertEquals(cells, PointGetHistory.texts(found));
        break;
      } catch (MemoryReads.WouldWaitException e) {
        assertEquals("nothing is counted", before, counts());
        assertEquals(0, region.scannerReadPoints.size());
        blocks++;
      } finally {
        reads.end();
      }
    }
    assertTrue("of Bloom filters, index and data: " + blocks, blocks >= 6);
    assertEquals(0, blockBytes.get());
  }

  @Test
  public void testBlockThatIsNotCached() throws IOException {
    List<String> cells = read(get(8));
    // All files of the family are read, since the get has no columns of it.
    for (HStoreFile file : region.getStore(OTHER).getStorefiles()) {
      cache.evictBlocksByHfileName(file.getPath().getName());
      List<Long> before = counts();
      assertNull(region.pointGets.prepare(get(8), call));
      assertEquals(before, counts());
      assertEquals(cells, read(get(8)));
      assertEquals(cells, take(region.pointGets.prepare(get(8), call)));
    }
  }

  @Test
  public void testReadThatFailsIsLeftToAHandler() throws IOException {
    read(get(8));
    List<Long> before = counts();
    Get failing = new Get(get(8)) {
      @Override
      public IsolationLevel getIsolationLevel() {
        throw new IllegalStateException("of the test");
      }
    };
    assertNull(region.pointGets.prepare(failing, call));
    assertEquals(before, counts());
    assertNotNull(take(region.pointGets.prepare(get(8), call)));
  }

  @Test
  public void testRowThatIsNotTaken() throws IOException {
    read(get(8));
    List<Long> before = counts();
    try (PreparedRow row = region.pointGets.prepare(get(8), call)) {
      assertNotNull(row);
      assertEquals(1, region.scannerReadPoints.size());
    }
    assertEquals(0, region.scannerReadPoints.size());
    assertEquals(before, counts());
    assertNull("the offer has ended", PreparedRow.take(region, new ArrayList<>()));
  }

  private void assertNotPreparedWhile(Runnable lock, Runnable unlock) throws Exception {
    read(get(8));
    CountDownLatch locked = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    Thread other = new Thread(() -> {
      lock.run();
      locked.countDown();
      try {
        done.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      } finally {
        unlock.run();
      }
    });
    other.start();
    locked.await();
    try {
      assertNull(region.pointGets.prepare(get(8), call));
    } finally {
      done.countDown();
      other.join();
    }
    try (PreparedRow row = region.pointGets.prepare(get(8), call)) {
      assertNotNull("now it is free", row);
    }
  }

  @Test(timeout = 300_000)
  public void testNoLockIsWaitedFor() throws Exception {
    Lock lock = region.lock.writeLock();
    assertNotPreparedWhile(lock::lock, lock::unlock);
    for (HStore store : region.getStores()) {
      assertNotPreparedWhile(store.storeEngine::writeLock, store.storeEngine::writeUnlock);
    }
    ReadPointCalculationLock.LockType type = ReadPointCalculationLock.LockType.CALCULATION_LOCK;
    assertNotPreparedWhile(() -> region.smallestReadPointCalcLock.lock(type),
      () -> region.smallestReadPointCalcLock.unlock(type));
  }

  /** Else a bulk load would never get its lock beside many gets. */
  @Test(timeout = 300_000)
  public void testWriterThatWaitsIsNotOvertaken() throws Exception {
    read(get(8));
    ReentrantReadWriteLock[] locks = { region.lock,
      (ReentrantReadWriteLock) region.getStore(OTHER).storeEngine.getLock() };
    for (ReentrantReadWriteLock lock : locks) {
      lock.readLock().lock();
      Thread writer = new Thread(() -> {
        lock.writeLock().lock();
        lock.writeLock().unlock();
      });
      writer.start();
      while (!lock.hasQueuedThread(writer)) {
        Thread.sleep(1);
      }
      assertNull(region.pointGets.prepare(get(8), call));
      lock.readLock().unlock();
      writer.join();
    }
  }

  @Test
  public void testRegionThatCloses() throws IOException {
    read(get(8));
    region.closing.set(true);
    assertNull(region.pointGets.prepare(get(8), call));
    region.closing.set(false);
    region.closed.set(true);
    assertNull(region.pointGets.prepare(get(8), call));
    region.closed.set(false);
    assertNotNull(take(region.pointGets.prepare(get(8), call)));
  }

  @Test
  public void testLargeRowsAreLeftToHandlers() throws IOException {
    put(row(ROWS + 1), new byte[64 << 10]);
    assertNull("bytes", region.pointGets.prepare(get(ROWS + 1), call));
    for (int i = 0; i < UNLIMITED; i++) {
      put(row(ROWS + 2), new byte[1]);
    }
    assertNotNull("one version", take(region.pointGets.prepare(get(ROWS + 2), call)));
    Put put = new Put(row(ROWS + 3));
    for (int i = 0; i <= UNLIMITED; i++) {
      put.addColumn(OTHER, Bytes.toBytes(i), new byte[1]);
    }
    region.put(put);
    assertNull("cells", region.pointGets.prepare(get(ROWS + 3), call));
  }

  @Test
  public void testFewAreTriedWhereFewSucceed() {
    PreparationChance chance = new PreparationChance();
    assertTrue(chance.isWorthATry());
    for (int i = 0; i < 1000; i++) {
      chance.tried(i % 3 == 0);
    }
    int tries = 0;
    for (int i = 0; i < 160; i++) {
      tries += chance.isWorthATry() ? 1 : 0;
    }
    assertEquals(10, tries);
    for (int i = 0; i < 1000; i++) {
      chance.tried(i % 3 > 0);
    }
    assertTrue(chance.isWorthATry());
  }

  @Test
  public void testSettings() {
    Configuration conf = new Configuration(false);
    conf.setInt(PointGetSettings.ON_CONNECTION_THREAD_KEY, 16);
    assertEquals("point gets are off", 0, PointGetSettings.of(conf).maxOnConnectionThread());
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    assertEquals(16, PointGetSettings.of(conf).maxOnConnectionThread());
    conf.setInt(PointGetSettings.ON_CONNECTION_THREAD_KEY, 1001);
    IllegalArgumentException e =
      assertThrows(IllegalArgumentException.class, () -> PointGetSettings.of(conf));
    assertTrue(e.getMessage(),
      e.getMessage().contains(PointGetSettings.ON_CONNECTION_THREAD_KEY));
    assertFalse(PointGetSettings.of(new Configuration(false)).maxOnConnectionThread() > 0);
  }
}
