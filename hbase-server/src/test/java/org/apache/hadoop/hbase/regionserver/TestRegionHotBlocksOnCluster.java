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
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.load.HandoverCaches;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.hbck.HbckTestingUtil;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * What two servers have cached of regions that move, are split and are merged, a part of whose rows
 * is read.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestRegionHotBlocksOnCluster extends RegionHotBlocksFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRegionHotBlocksOnCluster.class);

  private HRegion onlyRegion() {
    List<HRegion> regions = UTIL.getMiniHBaseCluster().getRegions(table);
    assertEquals(1, regions.size());
    return regions.get(0);
  }

  /** Returns the region on the server where it was not. */
  private HRegion move() throws Exception {
    HRegion region = onlyRegion();
    HRegionServer to = otherServer(region);
    UTIL.getAdmin().move(region.getRegionInfo().getEncodedNameAsBytes(), to.getServerName());
    UTIL.waitFor(120_000, () -> !to.getRegions(table).isEmpty());
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
    CachedBlockFixture.awaitWriters(moved.getBlockCache());
    assertTrue(bytes(dataOf(moved)) + " of " + filesOf(moved),
      bytes(dataOf(moved)) < 0.3 * filesOf(moved));
    assertEquals(0, misses());
  }

  @Test
  public void testACloseDoesNotWaitForHdfs() throws Exception {
    HintsInTime.enabled = false;
    createAndRead(true);
    long late = HandoverCaches.count("LateHintCount");
    CountDownLatch create = SlowHints.block();
    try {
      HRegion moved = move();
      assertEquals("no wait has ended", late, HandoverCaches.count("LateHintCount"));
      assertFalse(hasHint(moved));
      assertAllRows(table);
    } finally {
      RegionHotBlocks.maxWaitMillis = 0;
      create.countDown();
    }
    UTIL.waitFor(120_000, () -> HandoverCaches.count("LateHintCount") == late + 1);
    RegionHotBlocks.maxWaitMillis = 60_000;
    assertTrue("a late one is for a later server", hasHint(onlyRegion()));
    HRegion back = move();
    UTIL.waitFor(120_000, () -> !hasHint(back));
    assertAllRows(table);
  }

  /** A split evicts the blocks of the parent, which is the default of stock HBase. */
  @Test
  public void testWithoutTheKeyNothingIsTakenOver() throws Exception {
    createAndRead(false);
    assertEquals(0, bulkLoad(0));
    assertTrue(misses() > 50);
    HRegion moved = move();
    assertFalse(hasHint(moved));
    assertEquals(0, dataOf(moved).size());
    assertTrue(misses() > 100);
    splitAt(ROWS / 2);
    assertTrue(misses() > 100);
  }

  /** A server without the feature leaves the file of a hint where it is. */
  @Test
  public void testAHintDisturbsNothing() throws Exception {
    createAndRead(false);
    putHint(onlyRegion(), new byte[100]);
    move();
    assertTrue(hasHint(onlyRegion()));
    HbckTestingUtil.assertNoErrors(HbckTestingUtil.doFsck(UTIL.getConfiguration(), false));
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
    // No close has written the hint, as if the server was killed.
    RegionHotBlocks.follow(region);
    UTIL.waitFor(120_000, () -> !hasHint(region));
    move();
    assertAllRows(table);
  }

  private void splitAt(int row) throws Exception {
    UTIL.getAdmin().splitRegionAsync(onlyRegion().getRegionInfo().getRegionName(), row(row))
      .get();
    UTIL.waitFor(120_000, () -> UTIL.getMiniHBaseCluster().getRegions(table).size() == 2
      && UTIL.getAdmin().getRegions(table).size() == 2);
  }

  private void compact() throws Exception {
    UTIL.getAdmin().compactionSwitch(true, new ArrayList<>());
    UTIL.getAdmin().majorCompact(table);
    UTIL.waitFor(120_000, () -> UTIL.getMiniHBaseCluster().getRegions(table).stream()
      .flatMap(region -> region.getStores().stream())
      .allMatch(store -> store.getStorefilesCount() == 1
        && store.getStorefiles().stream().noneMatch(HStoreFile::isReference)));
    for (HRegion region : UTIL.getMiniHBaseCluster().getRegions(table)) {
      for (HStore store : region.getStores()) {
        store.closeAndArchiveCompactedFiles();
      }
      CachedBlockFixture.awaitWriters(region.getBlockCache());
    }
    UTIL.getAdmin().compactionSwitch(false, new ArrayList<>());
  }

  private void merge() throws Exception {
    byte[][] both = UTIL.getAdmin().getRegions(table).stream().map(RegionInfo::getRegionName)
      .toArray(byte[][]::new);
    UTIL.getAdmin().mergeRegionsAsync(both, false).get();
    UTIL.waitFor(120_000, () -> UTIL.getMiniHBaseCluster().getRegions(table).size() == 1);
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
    // The split point is in the middle of a hot range.
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

  /** Writes files with all rows, of the first family with several levels of the index. */
  private Path writeFiles() throws Exception {
    Path directory = UTIL.getDataTestDirOnTestFS(table.getNameAsString());
    for (byte[] family : FAMILIES) {
      Configuration conf = new Configuration(UTIL.getConfiguration());
      if (family == FAMILIES[0]) {
        conf.setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 1024);
      }
      Path file = new Path(new Path(directory, Bytes.toString(family)), "file");
      try (HFile.Writer writer = HFile.getWriterFactoryNoCache(conf)
        .withPath(UTIL.getTestFileSystem(), file)
        .withFileContext(new HFileContextBuilder().withBlockSize(4096).build()).create()) {
        long now = System.currentTimeMillis();
        for (int i = 0; i < ROWS; i++) {
          writer.append(new KeyValue(row(i), family, QUALIFIER, now, value(i)));
        }
      }
    }
    return directory;
  }

  private static int cachedOf(HRegion region, Set<String> files) {
    int[] blocks = new int[1];
    region.getBlockCache().forEach(block -> {
      blocks[0] += files.contains(block.getFilename()) && isData(block) ? 1 : 0;
    });
    return blocks[0];
  }

  /** Bulk loads files, of which so many shall take over hot blocks, and returns their blocks. */
  private int bulkLoad(int takeOver) throws Exception {
    HRegion region = onlyRegion();
    long filesBefore = HandoverCaches.count("LoadedFileCount");
    long blocksBefore = HandoverCaches.count("LoadedBlockCount");
    Set<String> files = filesOfStores(region);
    BulkLoadHFiles.create(UTIL.getConfiguration()).bulkLoad(table, writeFiles());
    Set<String> loaded = filesOfStores(region);
    loaded.removeAll(files);
    assertEquals(FAMILIES.length, loaded.size());
    CachedBlockFixture
      .await(() -> HandoverCaches.count("LoadedFileCount") - filesBefore >= takeOver);
    CachedBlockFixture.await(() -> cachedOf(region, loaded)
        >= HandoverCaches.count("LoadedBlockCount") - blocksBefore);
    int[] blocks = { -1 };
    // The loop ends when no block was prefetched for a while.
    CachedBlockFixture.await(() -> {
      int before = blocks[0];
      blocks[0] = cachedOf(region, loaded);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(500));
      return before == blocks[0];
    });
    CachedBlockFixture.awaitWriters(region.getBlockCache());
    return cachedOf(region, loaded);
  }

  private static Set<String> filesOfStores(HRegion region) {
    return region.getStores().stream().flatMap(store -> store.getStorefiles().stream())
      .map(file -> file.getPath().getName()).collect(Collectors.toSet());
  }

  @Test
  public void testABulkLoadTakesOverWhatWasHot() throws Exception {
    createAndRead(true);
    int hot = dataOf(onlyRegion()).size();
    long files = HandoverCaches.count("LoadedFileCount");
    int loaded = bulkLoad(FAMILIES.length);
    assertEquals(files + FAMILIES.length, HandoverCaches.count("LoadedFileCount"));
    // The table's files have every second row each: the new one has the hot rows in two blocks.
    assertTrue(loaded + " of " + hot, loaded > hot / 2 && loaded < 2 * hot);
    assertEquals(0, misses());
    assertAllRows(table);
  }
}
