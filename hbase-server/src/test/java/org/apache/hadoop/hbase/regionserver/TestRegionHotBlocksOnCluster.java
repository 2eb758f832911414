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
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.handover.HandoverCaches;
import org.apache.hadoop.hbase.io.hfile.handover.HandoverSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TestName;

/**
 * What two servers with HBase's default handlers have cached of regions that move, are split and
 * are merged, a part of whose rows is read.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestRegionHotBlocksOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRegionHotBlocksOnCluster.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int ROWS = 10_000;
  private static final int VALUE_BYTES = 200;
  /** Of so many rows the first ones are hot, about one block's in eight. */
  private static final int STRIDE = 160;
  private static final int HOT = 10;

  @Rule
  public final TestName name = new TestName();

  private TableName table;

  @BeforeClass
  public static void start() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    conf.setBoolean(HandoverSettings.ENABLED_KEY, true);
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "offheap");
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 64);
    conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    PrefetchExecutor.loadConfiguration(conf);
    UTIL.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(2).build());
    UTIL.getAdmin().balancerSwitch(false, true);
  }

  @AfterClass
  public static void stop() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  @Before
  public void setUp() throws Exception {
    table = TableName.valueOf(name.getMethodName());
    // Before a test looks.
    UTIL.getAdmin().compactionSwitch(false, new ArrayList<>());
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("%06d", i));
  }

  private static byte[] value(int i) {
    byte[] value = new byte[VALUE_BYTES];
    new Random(i).nextBytes(value);
    return value;
  }

  /** Creates the table with two files in each of two families, and reads the hot rows. */
  private void createAndRead(boolean handover) throws Exception {
    TableDescriptorBuilder descriptor = TableDescriptorBuilder.newBuilder(table)
      .setValue(HandoverSettings.ENABLED_KEY, Boolean.toString(handover));
    for (byte[] family : FAMILIES) {
      descriptor.setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(family).setBlocksize(4096).build());
    }
    try (Table created = UTIL.createTable(descriptor.build(), null)) {
      for (int half = 0; half < 2; half++) {
        List<Put> puts = new ArrayList<>();
        for (int i = half; i < ROWS; i += 2) {
          Put put = new Put(row(i));
          for (byte[] family : FAMILIES) {
            put.addColumn(family, QUALIFIER, value(i));
          }
          puts.add(put);
        }
        created.put(puts);
        UTIL.flush(table);
      }
    }
    readHotRows();
    readHotRows();
  }

  private void readHotRows() throws Exception {
    try (Table read = UTIL.getConnection().getTable(table)) {
      List<Get> gets = IntStream.range(0, ROWS).filter(i -> i % STRIDE < HOT)
        .mapToObj(i -> new Get(row(i))).collect(Collectors.toList());
      for (Result result : read.get(gets)) {
        assertRow(result);
      }
    }
    for (HRegion region : UTIL.getMiniHBaseCluster().getRegions(table)) {
      HandoverCaches.awaitWriters(region.getBlockCache());
    }
  }

  private static void assertRow(Result result) {
    int i = Integer.parseInt(Bytes.toString(result.getRow()));
    for (byte[] family : FAMILIES) {
      assertArrayEquals("row " + i, value(i), result.getValue(family, QUALIFIER));
    }
  }

  private void assertAllRows(TableName of) throws Exception {
    try (Table read = UTIL.getConnection().getTable(of);
      ResultScanner scanner = read.getScanner(new Scan().setCacheBlocks(false))) {
      int count = 0;
      for (Result result : scanner) {
        assertRow(result);
        count++;
      }
      assertEquals(ROWS, count);
    }
  }

  private HRegion onlyRegion() {
    List<HRegion> regions = UTIL.getMiniHBaseCluster().getRegions(table);
    assertEquals(1, regions.size());
    return regions.get(0);
  }

  private static HRegionServer serverOf(HRegion region) {
    return UTIL.getMiniHBaseCluster().getRegionServerThreads().stream()
      .map(thread -> thread.getRegionServer())
      .filter(server -> server.getRegion(region.getRegionInfo().getEncodedName()) == region)
      .findAny().get();
  }

  /** Returns the region on the server where it was not. */
  private HRegion move() throws Exception {
    HRegion region = onlyRegion();
    HRegionServer from = serverOf(region);
    HRegionServer to = UTIL.getMiniHBaseCluster().getRegionServerThreads().stream()
      .map(thread -> thread.getRegionServer()).filter(server -> server != from).findAny().get();
    UTIL.getAdmin().move(region.getRegionInfo().getEncodedNameAsBytes(), to.getServerName());
    UTIL.waitFor(30_000, () -> !to.getRegions(table).isEmpty());
    assertNotSame(region, onlyRegion());
    return onlyRegion();
  }

  private static Path hintOf(HRegion region) {
    return new Path(region.getRegionFileSystem().getRegionDir(), RegionHotBlocks.FILE);
  }

  private static boolean hasHint(HRegion region) throws Exception {
    return region.getFilesystem().exists(hintOf(region));
  }

  private static void putHint(HRegion region, byte[] bytes) throws Exception {
    try (FSDataOutputStream out = region.getFilesystem().create(hintOf(region), true)) {
      out.write(bytes);
    }
  }

  /** Returns the data blocks in the cache of a region's files, or of those that they refer to. */
  private static List<CachedBlock> dataOf(HRegion region) {
    Set<String> files = new HashSet<>();
    region.getStores().forEach(store -> store.getStorefiles().forEach(file -> {
      String own = file.getPath().getName();
      files.add(own);
      files.add(ReferredFile.of(own));
    }));
    List<CachedBlock> blocks = new ArrayList<>();
    region.getBlockCache().forEach(block -> {
      if (files.contains(block.getFilename()) && isData(block)) {
        blocks.add(block);
      }
    });
    return blocks;
  }

  /** A lookup for a block below a leaf of the index does not tell the type. */
  private static boolean isData(CachedBlock block) {
    return block.getBlockType() == null || block.getBlockType().isData();
  }

  private static long bytes(List<CachedBlock> blocks) {
    return blocks.stream().mapToLong(CachedBlock::getSize).sum();
  }

  private static long filesOf(HRegion region) {
    return region.getStores().stream().mapToLong(HStore::getStorefilesSize).sum();
  }

  /** Reads the hot rows again, and returns the data blocks that were not cached. */
  private long misses() throws Exception {
    long before = missCount();
    readHotRows();
    return missCount() - before;
  }

  private static long missCount() {
    return UTIL.getMiniHBaseCluster().getRegionServerThreads().stream()
      .map(thread -> thread.getRegionServer().getBlockCache().get())
      .mapToLong(cache -> cache.getStats().getDataMissCount()).sum();
  }

  @Test
  public void testTheNextServerHasWhatWasHot() throws Exception {
    createAndRead(true);
    int hot = dataOf(onlyRegion()).size();
    assertTrue("" + hot, hot > 100);
    long followed = HandoverCaches.count("FollowedBlockCount");
    HRegion moved = move();
    CachedBlockFixture
      .await(() -> HandoverCaches.count("FollowedBlockCount") - followed >= hot);
    CachedBlockFixture.await(() -> dataOf(moved).size() >= hot);
    assertFalse(hasHint(moved));
    HandoverCaches.awaitWriters(moved.getBlockCache());
    assertTrue(bytes(dataOf(moved)) + " of " + filesOf(moved),
      bytes(dataOf(moved)) < 0.3 * filesOf(moved));
    assertEquals(0, misses());
  }

  @Test
  public void testReturnsToWhatItHasLeft() throws Exception {
    createAndRead(true);
    move();
    move();
    assertEquals(0, misses());
  }

  @Test
  public void testWithoutTheKeyNothingIsLeft() throws Exception {
    createAndRead(false);
    HRegion moved = move();
    assertFalse(hasHint(moved));
    assertEquals(0, dataOf(moved).size());
    assertTrue(misses() > 100);
  }

  /** As a server without the feature leaves it there. */
  @Test
  public void testAHintDisturbsNothing() throws Exception {
    createAndRead(false);
    putHint(onlyRegion(), new byte[100]);
    move();
    assertTrue(hasHint(onlyRegion()));
    UTIL.getAdmin().snapshot("snapshot", table);
    TableName clone = TableName.valueOf("clone");
    UTIL.getAdmin().cloneSnapshot("snapshot", clone);
    assertAllRows(clone);
    splitAt(ROWS / 2);
    assertAllRows(table);
    List<HRegion> daughters = UTIL.getMiniHBaseCluster().getRegions(table);
    for (HRegion daughter : daughters) {
      putHint(daughter, new byte[0]);
    }
    compact();
    merge();
    assertAllRows(table);
    UTIL.deleteTable(table);
    UTIL.deleteTable(clone);
  }

  @Test
  public void testADamagedHintIsDeleted() throws Exception {
    createAndRead(true);
    HRegion region = onlyRegion();
    putHint(region, new byte[100]);
    // Not written by a close: as if the server was killed.
    RegionHotBlocks.follow(region);
    UTIL.waitFor(10_000, () -> !hasHint(region));
    move();
    assertAllRows(table);
  }

  private void splitAt(int row) throws Exception {
    UTIL.getAdmin().splitRegionAsync(onlyRegion().getRegionInfo().getRegionName(), row(row))
      .get();
    UTIL.waitFor(30_000, () -> UTIL.getMiniHBaseCluster().getRegions(table).size() == 2
      && UTIL.getAdmin().getRegions(table).size() == 2);
  }

  private void compact() throws Exception {
    UTIL.getAdmin().compactionSwitch(true, new ArrayList<>());
    UTIL.getAdmin().majorCompact(table);
    UTIL.waitFor(30_000, () -> UTIL.getMiniHBaseCluster().getRegions(table).stream()
      .flatMap(region -> region.getStores().stream())
      .allMatch(store -> store.getStorefilesCount() == 1
        && store.getStorefiles().stream().noneMatch(HStoreFile::isReference)));
    for (HRegion region : UTIL.getMiniHBaseCluster().getRegions(table)) {
      for (HStore store : region.getStores()) {
        store.closeAndArchiveCompactedFiles();
      }
      HandoverCaches.awaitWriters(region.getBlockCache());
    }
    UTIL.getAdmin().compactionSwitch(false, new ArrayList<>());
  }

  private void merge() throws Exception {
    byte[][] both = UTIL.getAdmin().getRegions(table).stream().map(RegionInfo::getRegionName)
      .toArray(byte[][]::new);
    UTIL.getAdmin().mergeRegionsAsync(both, false).get();
    UTIL.waitFor(30_000, () -> UTIL.getMiniHBaseCluster().getRegions(table).size() == 1);
  }

  private void assertNothingTwice() {
    for (HRegion region : UTIL.getMiniHBaseCluster().getRegions(table)) {
      BlockCache cache = region.getBlockCache();
      Set<String> seen = new HashSet<>();
      cache.forEach(block -> {
        String referred = ReferredFile.of(block.getFilename());
        String file = referred == null ? block.getFilename() : referred;
        assertTrue(block.toString(), !isData(block) || seen.add(file + " " + block.getOffset()));
      });
    }
  }

  @Test
  public void testASplitAndAMergeAreNotSeen() throws Exception {
    createAndRead(true);
    // In the middle of a hot range.
    splitAt(ROWS / 2 / STRIDE * STRIDE + HOT / 2);
    assertEquals("daughters read the blocks of their parent", 0, misses());
    assertNothingTwice();
    compact();
    long border = misses();
    assertTrue("" + border, border <= 2 * FAMILIES.length);
    merge();
    assertEquals("references to whole files", 0, misses());
    assertNothingTwice();
    compact();
    border = misses();
    assertTrue("" + border, border <= 2 * FAMILIES.length);
    assertAllRows(table);
  }

  /** As stock does by default. */
  @Test
  public void testWithoutTheKeyASplitEvicts() throws Exception {
    createAndRead(false);
    splitAt(ROWS / 2);
    assertTrue(misses() > 100);
  }

  @Test
  public void testAnOperatorsEvictionWins() throws Exception {
    Configuration conf = new Configuration(UTIL.getConfiguration());
    assertFalse(HandoverSettings.evictsOnClose(conf, true));
    assertFalse(HandoverSettings.evictsOnClose(conf, false));
    for (String key : Arrays.asList("hbase.rs.evictblocksonsplit",
      "hbase.rs.evictblocksonclose")) {
      Configuration own = new Configuration(conf);
      own.setBoolean(key, true);
      assertTrue(key, HandoverSettings.evictsOnClose(own, true));
    }
    conf.setBoolean(HandoverSettings.ENABLED_KEY, false);
    assertTrue(HandoverSettings.evictsOnClose(conf, true));
  }
}
