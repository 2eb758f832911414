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
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.IsolationLevel;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.regionserver.read.PointGet;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Interleavings;
import org.apache.hadoop.hbase.wal.WAL;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Exhaustive interleavings of a get of two families with writes, flushes and compactions of a real
 * region: of every schedule with a limited number of preemptions, the get returns one version of
 * the row, whole, that was the newest at some moment of the get.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestPointGetInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPointGetInterleavings.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] OTHER = Bytes.toBytes("g");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final byte[] ROW = Bytes.toBytes("row");
  private static final int PREEMPTIONS = 2;

  /** The schedule of the running test, static since HBase creates the classes that use it. */
  private static Interleavings threads;
  private static volatile Thread reader;

  private static void point() {
    if (threads != null) {
      threads.point();
    }
  }

  private static void readersPoint() {
    if (Thread.currentThread() == reader) {
      point();
    }
  }

  /** Both locks of a read-write lock: only one thread of a schedule has either. */
  private static final class OneLock implements Lock, ReadWriteLock {
    private final Interleavings.Permits permits = threads.new Permits(1);
    private Thread owner;
    private int holds;

    @Override
    public void lock() {
      if (owner != Thread.currentThread()) {
        try {
          // A free lock is taken without a point.
          if (permits.drainPermits() == 0) {
            permits.acquire();
          }
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
        owner = Thread.currentThread();
        readersPoint();
      }
      holds++;
    }

    @Override
    public void unlock() {
      assertEquals(owner, Thread.currentThread());
      if (--holds == 0) {
        owner = null;
        permits.release();
        readersPoint();
      }
    }

    @Override
    public Lock readLock() {
      return this;
    }

    @Override
    public Lock writeLock() {
      return this;
    }

    @Override
    public void lockInterruptibly() {
      lock();
    }

    @Override
    public boolean tryLock() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Condition newCondition() {
      throw new UnsupportedOperationException();
    }
  }

  private static final class PointLock extends ReadPointCalculationLock {
    private final OneLock lock = new OneLock();

    PointLock(Configuration conf) {
      super(conf);
    }

    @Override
    void lock(LockType type) {
      lock.lock();
    }

    @Override
    void unlock(LockType type) {
      lock.unlock();
    }
  }

  /** A file system that starts no process for the permissions of a file. */
  public static final class PlainFileSystem extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) {
    }
  }

  /** A region with points between the steps of a get. */
  public static final class PointRegion extends HRegion {
    public PointRegion(Path tableDir, WAL wal, FileSystem fs, Configuration conf, RegionInfo region,
      TableDescriptor table, RegionServerServices services) {
      super(tableDir, wal, fs, conf, region, table, services);
    }

    @Override
    public long getReadPoint(IsolationLevel level) {
      long readPoint = super.getReadPoint(level);
      point();
      return readPoint;
    }

    @Override
    public HStore getStore(byte[] family) {
      point();
      return super.getStore(family);
    }
  }

  /** A memstore with a point after its segments were listed. */
  public static final class PointMemStore extends DefaultMemStore {
    public PointMemStore(Configuration conf, CellComparator comparator,
      RegionServicesForStores services) {
      super(conf, comparator, services);
    }

    @Override
    protected List<Segment> getSegments() throws IOException {
      List<Segment> segments = super.getSegments();
      point();
      return segments;
    }
  }

  /** A store engine with a point before files are listed. */
  public static final class PointStoreEngine extends DefaultStoreEngine {
    @Override
    protected void createComponents(Configuration conf, HStore store, CellComparator comparator)
      throws IOException {
      super.createComponents(conf, store, comparator);
      storeFileManager = new DefaultStoreFileManager(comparator, StoreFileComparators.SEQ_ID, conf,
        compactionPolicy.getConf()) {
        @Override
        public Collection<HStoreFile> getFilesForScan(byte[] startRow, boolean includeStartRow,
          byte[] stopRow, boolean includeStopRow, boolean onlyLatestVersion) {
          point();
          return super.getFilesForScan(startRow, includeStartRow, stopRow, includeStopRow,
            onlyLatestVersion);
        }
      };
    }
  }

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;
  private long version;

  @Before
  public void setUp() throws Exception {
    threads = new Interleavings(PREEMPTIONS);
    Configuration conf = util.getConfiguration();
    conf.setClass("fs.file.impl", PlainFileSystem.class, FileSystem.class);
    conf.setBoolean("fs.file.impl.disable.cache", true);
    conf.setClass(HConstants.REGION_IMPL, PointRegion.class, HRegion.class);
    conf.setClass(HStore.MEMSTORE_CLASS_NAME, PointMemStore.class, MemStore.class);
    conf.setClass(StoreEngine.STORE_ENGINE_CLASS_KEY, PointStoreEngine.class, StoreEngine.class);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("interleavings"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(OTHER)).build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(), conf,
      table);
    set(HRegion.class, region, "smallestReadPointCalcLock", new PointLock(conf));
    for (HStore store : region.getStores()) {
      set(StoreEngine.class, store.storeEngine, "storeLock", new OneLock());
    }
  }

  private static void set(Class<?> type, Object object, String name, Object value)
    throws ReflectiveOperationException {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    field.set(object, value);
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
    threads.close();
    threads = null;
    util.cleanupTestDir();
  }

  private void put() throws IOException {
    byte[] value = Bytes.toBytes(++version);
    region.put(new Put(ROW).addColumn(FAMILY, COLUMN, value).addColumn(OTHER, COLUMN, value));
  }

  private static List<Long> versions(List<Cell> cells) {
    List<Long> versions = new ArrayList<>();
    for (Cell cell : cells) {
      versions.add(Bytes.toLong(CellUtil.cloneValue(cell)));
    }
    return versions;
  }

  private void explore(Interleavings.Body changes) throws Exception {
    Get get = new Get(ROW).addColumn(FAMILY, COLUMN).addColumn(OTHER, COLUMN);
    int schedules = 0;
    do {
      put();
      long oldest = version;
      List<Cell> cells = new ArrayList<>();
      List<PointGet> held = new ArrayList<>();
      threads.run(true, () -> {
        reader = Thread.currentThread();
        held.add(PointGet.read(region, get, cells));
      }, changes);
      threads.check();
      assertTrue("both threads are done", threads.isDone());
      // What was read stays as it was until the get is closed.
      List<Long> read = versions(cells);
      assertEquals("a whole row in schedule " + schedules, 2, read.size());
      long found = read.get(0);
      assertEquals("one version in schedule " + schedules, Arrays.asList(found, found), read);
      assertTrue("a version of the get's time", found >= oldest && found <= version);
      held.get(0).close();
      schedules++;
      if (schedules % 20 == 0) {
        region.compact(true);
        region.getStores().forEach(TestPointGetInterleavings::discharge);
      }
    } while (threads.next());
    System.out.println(schedules + " schedules");
    assertTrue("schedules: " + schedules, schedules > 100);
  }

  private static void discharge(HStore store) {
    try {
      store.closeAndArchiveCompactedFiles();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  public void testWriteAndFlush() throws Exception {
    explore(() -> {
      put();
      region.flush(true);
    });
  }

  @Test
  public void testFlushAndWrite() throws Exception {
    explore(() -> {
      region.flush(true);
      put();
      region.flush(true);
    });
  }

  @Test
  public void testWriteFlushAndCompaction() throws Exception {
    explore(() -> {
      put();
      region.flush(true);
      region.compact(true);
      region.getStores().forEach(TestPointGetInterleavings::discharge);
    });
  }
}
