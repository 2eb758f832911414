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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;

import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.Coprocessor;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.MockRegionServerServices;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.io.FSDataInputStreamWrapper;
import org.apache.hadoop.hbase.io.Reference;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.ReaderContext;
import org.apache.hadoop.hbase.io.hfile.ReaderContextBuilder;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.ScanReason;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Proves which gets are served without scanners, and that the others are counted by reason. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestPointGets {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPointGets.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] MOB = Bytes.toBytes("m");
  private static final byte[] MIN_VERSIONS = Bytes.toBytes("n");
  private static final byte[] NEW_BEHAVIOR = Bytes.toBytes("o");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final byte[] ROW = Bytes.toBytes("row");
  private static final byte[] SECRET = Bytes.toBytes("secret");

  /** Changes no scanner. */
  public static class Reader implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }
  }

  /** May change scanners. */
  public static final class ScannerHook extends Reader {
    @Override
    public void preStoreScannerOpen(ObserverContext<RegionCoprocessorEnvironment> context,
      Store store, ScanOptions options) {
    }
  }

  /** Opens files with readers of its own, whose scanners leave out a column. */
  public static final class OwnReaders extends Reader {
    @Override
    public StoreFileReader postStoreFileReaderOpen(
      ObserverContext<RegionCoprocessorEnvironment> context, FileSystem fs, Path path,
      FSDataInputStreamWrapper in, long size, CacheConfig cacheConf, Reference reference,
      StoreFileReader reader) throws IOException {
      OwnReader own = new OwnReader(new ReaderContextBuilder().withFileSystem(fs)
        .withFilePath(path).withInputStreamWrapper(new FSDataInputStreamWrapper(fs, path))
        .withFileSize(size).build(), cacheConf, fs, path, reader);
      own.copyFields(reader);
      return own;
    }
  }

  private static final class OwnReader extends StoreFileReader {
    private OwnReader(ReaderContext context, CacheConfig cacheConf, FileSystem fs, Path path,
      StoreFileReader reader) throws IOException {
      super(context, reader.getHFileReader().getHFileInfo(), cacheConf,
        new StoreFileInfo(reader.conf, fs, fs.getFileStatus(path), (Reference) null), reader.conf);
    }

    @Override
    public StoreFileScanner getStoreFileScanner(boolean cacheBlocks, boolean pread,
      boolean isCompaction, long readPoint, long order, boolean canOptimize) {
      return new SecretiveScanner(this, readPoint, order);
    }
  }

  private static final class SecretiveScanner extends StoreFileScanner {
    private SecretiveScanner(StoreFileReader reader, long readPoint, long order) {
      super(reader, reader.getScanner(false, true, false), true, true, readPoint, order, false,
        false);
    }

    private boolean settle(boolean found) throws IOException {
      while (peek() != null && CellUtil.matchingQualifier(peek(), SECRET)) {
        super.next();
      }
      return found && peek() != null;
    }

    @Override
    public boolean seek(Cell key) throws IOException {
      return settle(super.seek(key));
    }

    @Override
    public boolean reseek(Cell key) throws IOException {
      return settle(super.reseek(key));
    }

    @Override
    public boolean requestSeek(Cell key, boolean forward, boolean useBloom) throws IOException {
      return forward ? reseek(key) : seek(key);
    }

    @Override
    public Cell next() throws IOException {
      Cell next = super.next();
      settle(true);
      return next;
    }
  }

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    Configuration conf = util.getConfiguration();
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("gets"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(MOB).setMobEnabled(true)
        .setMobThreshold(1).build())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(MIN_VERSIONS).setMinVersions(1)
        .setMaxVersions(2).setTimeToLive(100).build())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(NEW_BEHAVIOR)
        .setNewVersionBehavior(true).build())
      .build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(), conf,
      table);
    Put put = new Put(ROW);
    for (byte[] family : table.getColumnFamilyNames()) {
      put.addColumn(family, COLUMN, COLUMN);
    }
    region.put(put);
    region.flush(true);
  }

  @After
  public void tearDown() throws IOException {
    assertEquals("no read point is left", 0, region.scannerReadPoints.size());
    HBaseTestingUtility.closeRegionAndWAL(region);
    util.cleanupTestDir();
  }

  static long count(String metric) {
    return MetricRegistries.global().getMetricRegistries().stream()
      .filter(registry -> registry.getMetricRegistryInfo().getMetricsName().equals("PointGet"))
      .mapToLong(registry -> ((Counter) registry.get(metric).get()).getCount()).sum();
  }

  private void assertCounted(String metric, Get get) throws IOException {
    long before = count(metric);
    Result result = region.get(get);
    assertArrayEquals(COLUMN, result.value());
    assertEquals(metric, before + 1, count(metric));
  }

  @Test
  public void testPlainGetsAreServedWithoutScanners() throws IOException {
    assertCounted("PointGetCount", new Get(ROW).addFamily(FAMILY));
    assertCounted("PointGetCount", new Get(ROW).addColumn(FAMILY, COLUMN).readAllVersions());
    long before = count("PointGetCount");
    assertTrue(region.get(new Get(COLUMN).addFamily(FAMILY)).isEmpty());
    assertEquals("of no row", before + 1, count("PointGetCount"));
  }

  @Test
  public void testOthersAreServedWithScanners() throws IOException {
    assertCounted("FilterScanCount", new Get(ROW).addFamily(FAMILY)
      .setFilter(new FirstKeyOnlyFilter()));
    assertCounted("OptionScanCount", new Get(ROW).addFamily(FAMILY)
      .setMaxResultsPerColumnFamily(1));
    for (byte[] family : new byte[][] { MOB, MIN_VERSIONS, NEW_BEHAVIOR }) {
      assertCounted("FamilyScanCount", new Get(ROW).addFamily(FAMILY).addFamily(family));
    }
    long before = count("OptionScanCount");
    Get skipping = new Get(ROW).addFamily(FAMILY).setRowOffsetPerColumnFamily(1);
    assertTrue(region.get(skipping).isEmpty());
    assertEquals("skips the only cell", before + 1, count("OptionScanCount"));
  }

  /** {@link HRegion#get(Get)} adds all families when it prepares a get without families. */
  @Test
  public void testGetWithoutFamiliesOfAnInternalCaller() throws IOException {
    assertFalse(region.get(new Get(ROW), false).isEmpty());
  }

  @Test
  public void testCoprocessorThatMayChangeScanners() throws IOException {
    RegionCoprocessorHost host = host(Reader.class);
    region.setCoprocessorHost(host);
    assertCounted("PointGetCount", new Get(ROW).addFamily(FAMILY));
    region.setCoprocessorHost(host(ScannerHook.class));
    assertCounted("CoprocessorScanCount", new Get(ROW).addFamily(FAMILY));
    region.setCoprocessorHost(host);
    assertCounted("PointGetCount", new Get(ROW).addFamily(FAMILY));
  }

  @Test
  public void testReadersOfACoprocessor() throws IOException {
    TableDescriptor table = TableDescriptorBuilder.newBuilder(region.getTableDescriptor())
      .setCoprocessor(OwnReaders.class.getName()).build();
    region.close();
    region = HRegion.openHRegion(util.getDataTestDir(), region.getRegionInfo(), table,
      region.getWAL(), util.getConfiguration(),
      new MockRegionServerServices(util.getConfiguration()) {
        @Override
        public ServerName getServerName() {
          return ServerName.valueOf("localhost", 1, 1);
        }
      }, null);
    region.put(new Put(ROW).addColumn(FAMILY, SECRET, Bytes.toBytes(7L)));
    region.flush(true);
    assertCounted("CoprocessorScanCount", new Get(ROW).addFamily(FAMILY));
    Get secret = new Get(ROW).addColumn(FAMILY, SECRET);
    assertTrue(region.get(secret).isEmpty());
    assertTrue(region.checkAndMutate(CheckAndMutate.newBuilder(ROW).ifNotExists(FAMILY, SECRET)
      .build(new Put(ROW).addColumn(FAMILY, Bytes.toBytes("d"), COLUMN))).isSuccess());
    Result sum = region.increment(new Increment(ROW).addColumn(FAMILY, SECRET, 1),
      HConstants.NO_NONCE, HConstants.NO_NONCE);
    assertEquals(1, Bytes.toLong(sum.value()));
  }

  private RegionCoprocessorHost host(Class<? extends RegionCoprocessor> type) throws IOException {
    RegionCoprocessorHost host = new RegionCoprocessorHost(region,
      mock(RegionServerServices.class), util.getConfiguration());
    host.load(type, Coprocessor.PRIORITY_USER, util.getConfiguration());
    return host;
  }

  @Test
  public void testReadRequestsAreCounted() throws IOException {
    long reads = region.getReadRequestsCount();
    region.get(new Get(ROW).addFamily(FAMILY));
    region.get(new Get(COLUMN).addFamily(FAMILY));
    assertEquals(reads + 2, region.getReadRequestsCount());
    HStore store = region.getStore(FAMILY);
    long mixed = store.getMixedRowReadsCount();
    long memory = store.getMemstoreOnlyRowReadsCount();
    region.get(new Get(ROW).addFamily(FAMILY));
    region.put(new Put(ROW).addColumn(FAMILY, COLUMN, COLUMN));
    region.get(new Get(ROW).addFamily(FAMILY));
    assertEquals("with a file", mixed + 1, store.getMixedRowReadsCount());
    assertEquals("in the memstore", memory + 1, store.getMemstoreOnlyRowReadsCount());
  }

  @Test
  public void testMisspeltSettingIsRejected() {
    Configuration conf = new Configuration(false);
    conf.set(PointGetSettings.ENABLED_KEY, "ture");
    IllegalArgumentException e =
      assertThrows(IllegalArgumentException.class, () -> PointGetSettings.of(conf));
    assertTrue(e.getMessage(), e.getMessage().contains(PointGetSettings.ENABLED_KEY)
      && e.getMessage().contains("ture"));
  }

  @Test
  public void testReasonsHaveMetrics() {
    for (ScanReason reason : ScanReason.values()) {
      count(reason.name().charAt(0) + reason.name().substring(1).toLowerCase() + "ScanCount");
    }
  }
}
