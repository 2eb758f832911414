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
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.Coprocessor;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequest;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.cache.RegionRows;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Changes of a region's files other than by writes: a cached row is what a scanner returns. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestRowCacheOfChangedFiles {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowCacheOfChangedFiles.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final byte[] ROW = Bytes.toBytes("row");
  private static final String FILE = "0123456789abcdef0123456789abcdef";

  private static class Observer implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }
  }

  /** Drops all cells in a compaction. */
  public static final class CompactionHook extends Observer {
    @Override
    public void preCompactScannerOpen(ObserverContext<RegionCoprocessorEnvironment> context,
      Store store, ScanType type, ScanOptions options, CompactionLifeCycleTracker tracker,
      CompactionRequest request) {
      options.setTTL(1);
    }
  }

  /** Drops all cells in a flush. */
  public static final class FlushHook extends Observer {
    @Override
    public void preFlushScannerOpen(ObserverContext<RegionCoprocessorEnvironment> context,
      Store store, ScanOptions options, FlushLifeCycleTracker tracker) {
      options.setTTL(1);
    }
  }

  /** Drops all cells in an in-memory compaction. */
  public static final class InMemoryHook extends Observer {
    @Override
    public void preMemStoreCompactionCompactScannerOpen(
      ObserverContext<RegionCoprocessorEnvironment> context, Store store, ScanOptions options) {
      options.setTTL(1);
    }
  }

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    RegionRows.forgetCache();
    Configuration conf = util.getConfiguration();
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    conf.setInt(RowCacheSettings.SIZE_KEY, 1);
    conf.setInt("hbase.hstore.compaction.min", 2);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("files"))
      .setValue(RowCacheSettings.TABLE_ATTRIBUTE, "true").setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setMaxVersions(1).build())
      .build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(), conf,
      table);
  }

  @After
  public void tearDown() throws IOException {
    assertEquals("no read point is left", 0, region.scannerReadPoints.size());
    HBaseTestingUtility.closeRegionAndWAL(region);
    RegionRows.forgetCache();
    util.cleanupTestDir();
  }

  private static Get[] gets() {
    return new Get[] { new Get(ROW).addFamily(FAMILY), new Get(ROW).addColumn(FAMILY, COLUMN) };
  }

  private void put(long time) throws IOException {
    region.put(new Put(ROW).addColumn(FAMILY, COLUMN, time, Bytes.toBytes(time)));
  }

  private List<Long> scan(Get get) throws IOException {
    List<Cell> cells = new ArrayList<>();
    try (RegionScanner scanner = region.getScanner(new Scan(get))) {
      scanner.next(cells);
      return times(cells);
    }
  }

  private List<Long> read(Get get) throws IOException {
    List<Cell> cells = new ArrayList<>();
    try (Closeable ignored =
      region.pointGets.read(get, cells, HConstants.NO_NONCE, HConstants.NO_NONCE)) {
      return times(cells);
    }
  }

  private static List<Long> times(List<Cell> cells) {
    List<Long> times = new ArrayList<>();
    cells.forEach(cell -> times.add(cell.getTimestamp()));
    return times;
  }

  /** Reads the row as often as a hot row is, and checks it. Returns the number of hits. */
  private long readHotRow() throws IOException {
    long hits = TestRowCacheEqualsScanner.count("HitCount");
    for (Get get : gets()) {
      List<Long> expected = scan(get);
      for (int i = 0; i < 4; i++) {
        assertEquals(get.toString(), expected, read(get));
      }
    }
    return TestRowCacheEqualsScanner.count("HitCount") - hits;
  }

  /** The compaction does not know of the marker, and drops the version that it made visible. */
  @Test
  public void testVersionThatACompactionDropsWhileANewerOneIsDeleted() throws IOException {
    put(1);
    region.flush(true);
    put(2);
    region.flush(true);
    assertTrue("a row without markers is cached", readHotRow() > 0);
    region.delete(new Delete(ROW).addColumn(FAMILY, COLUMN, 2));
    readHotRow();
    assertEquals(Collections.singletonList(1L), scan(gets()[0]));
    region.compact(true);
    assertEquals(Collections.emptyList(), scan(gets()[0]));
    readHotRow();
  }

  @Test
  public void testVersionBehindADeletedOneIsCachedAgainAfterTheNextWrite() throws IOException {
    put(1);
    put(2);
    region.delete(new Delete(ROW).addFamilyVersion(FAMILY, 2));
    assertEquals("not cached", 0, readHotRow());
    put(3);
    assertTrue("nothing hides a newer version", readHotRow() > 0);
  }

  /** A get of a column skips a cell of that timestamp, which counts as a version. */
  @Test
  public void testVersionBehindOneOfTheLatestTimestamp() throws IOException {
    put(1);
    region.flush(true);
    Path path = new Path(util.getDataTestDir("load"), Bytes.toString(FAMILY) + "/file");
    write(path, HConstants.LATEST_TIMESTAMP, 0);
    region.bulkLoadHFiles(Collections.singletonList(new Pair<>(FAMILY, path.toString())), true,
      null);
    readHotRow();
    region.compact(true);
    readHotRow();
  }

  private void write(Path path, long time, long sequenceId) throws IOException {
    StoreFileWriter writer = new StoreFileWriter.Builder(util.getConfiguration(),
      new CacheConfig(util.getConfiguration()), util.getTestFileSystem()).withFilePath(path)
        .withMaxKeyCount(1).withFileContext(new HFileContextBuilder().build()).build();
    writer.append(new KeyValue(ROW, FAMILY, COLUMN, time, Bytes.toBytes(time)));
    writer.appendMetadata(sequenceId, false);
    writer.close();
  }

  @Test
  public void testFilesOfAPrimaryRegionAreRefreshed() throws IOException {
    put(1);
    region.flush(true);
    assertTrue(readHotRow() > 0);
    HStore store = region.getStore(FAMILY);
    write(new Path(region.getRegionFileSystem().getStoreDir(Bytes.toString(FAMILY)), FILE), 2, 9);
    store.refreshStoreFiles();
    assertEquals(Collections.singletonList(2L), scan(gets()[0]));
    assertTrue(readHotRow() > 0);
  }

  private void load(Class<? extends RegionCoprocessor> type) throws IOException {
    RegionCoprocessorHost host = new RegionCoprocessorHost(region,
      mock(RegionServerServices.class), util.getConfiguration());
    host.load(type, Coprocessor.PRIORITY_USER, util.getConfiguration());
    region.setCoprocessorHost(host);
  }

  @Test
  public void testHookThatChangesTheScannerOfACompaction() throws IOException {
    load(CompactionHook.class);
    put(1);
    region.flush(true);
    assertEquals(0, readHotRow());
    region.compact(true);
    assertEquals(Collections.emptyList(), scan(gets()[0]));
    readHotRow();
  }

  @Test
  public void testHookThatChangesTheScannerOfAFlush() throws IOException {
    load(FlushHook.class);
    put(1);
    assertEquals(0, readHotRow());
    region.flush(true);
    assertEquals(Collections.emptyList(), scan(gets()[0]));
    readHotRow();
  }

  @Test
  public void testHookThatChangesTheScannerOfAnInMemoryCompaction() throws IOException {
    load(InMemoryHook.class);
    put(1);
    assertEquals(0, readHotRow());
  }

  /** The master creates the regions of a new table without opening them. */
  @Test
  public void testRegionThatIsNotOpenedHasNoCache() throws IOException {
    RegionRows.forgetCache();
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("created"))
      .setValue(RowCacheSettings.TABLE_ATTRIBUTE, "true")
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build();
    HRegion created = HRegion.createHRegion(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(),
      util.getConfiguration(), table, null, false);
    assertFalse(RegionRows.isAllocated());
    created.close();
    assertFalse(RegionRows.isAllocated());
  }
}
