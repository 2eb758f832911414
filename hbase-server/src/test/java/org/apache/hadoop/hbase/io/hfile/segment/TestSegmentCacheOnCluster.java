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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.CompactedHFilesDischarger;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** RegionServers with a second tier of segments, over real HDFS. */
@Category({ IOTests.class, LargeTests.class })
public class TestSegmentCacheOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentCacheOnCluster.class);

  private static final TableName TABLE = TableName.valueOf("segments");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int ROWS = 2000;

  private HBaseTestingUtility util;
  private File segments;

  @Before
  public void setUp() throws Exception {
    util = new HBaseTestingUtility();
    Configuration conf = util.getConfiguration();
    File folder = new File(util.getDataTestDir().toString());
    assertTrue(folder.mkdirs() || folder.isDirectory());
    segments = new File(folder, "segments");
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.composite.promotion", "none");
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "65");
    conf.set("hbase.bucketcache.l2.ioengine", SegmentCacheSettings.ENGINE + segments);
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    // Not to be lost though the server is told to.
    conf.setBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, true);
    util.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(1).build());
  }

  @After
  public void tearDown() throws Exception {
    util.shutdownMiniCluster();
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("%06d", i));
  }

  private static byte[] value(int i) {
    byte[] value = new byte[400];
    new Random(i).nextBytes(value);
    return value;
  }

  private void load(Table table, int from, int to) throws Exception {
    List<Put> puts = new ArrayList<>();
    for (int i = from; i < to; i++) {
      puts.add(new Put(row(i)).addColumn(FAMILY, QUALIFIER, value(i)));
    }
    table.put(puts);
    util.flush(TABLE);
  }

  /** Reads every row by get and by scan. */
  private void readAll(Table table) throws Exception {
    for (int i = 0; i < ROWS; i++) {
      assertArrayEquals("row " + i, value(i),
        table.get(new Get(row(i))).getValue(FAMILY, QUALIFIER));
    }
    int count = 0;
    try (ResultScanner scanner = table.getScanner(new Scan().setCacheBlocks(true))) {
      for (Result result : scanner) {
        assertArrayEquals(value(count), result.getValue(FAMILY, QUALIFIER));
        count++;
      }
    }
    assertEquals(ROWS, count);
  }

  private static SegmentCache cacheOf(HRegionServer server) {
    return (SegmentCache) ((CombinedBlockCache) server.getBlockCache().get())
      .getSecondLevelCache();
  }

  private static Set<String> files(HRegionServer server) {
    Set<String> files = new TreeSet<>();
    for (HRegion region : server.getRegions(TABLE)) {
      region.getStores().forEach(store -> store.getStorefiles()
        .forEach(file -> files.add(((HStoreFile) file).getPath().getName())));
    }
    return files;
  }

  private static int blocksOf(HRegionServer server, Set<String> files) {
    int[] blocks = new int[1];
    files.forEach(file -> cacheOf(server).forEachBlockOf(file, key -> blocks[0]++));
    return blocks[0];
  }

  @Test
  public void servesThroughFlushCompactionFlippedBitsAndRestart() throws Exception {
    MiniHBaseCluster cluster = util.getMiniHBaseCluster();
    HRegionServer server = cluster.getRegionServer(0);
    try (Table table = util.createTable(
      TableDescriptorBuilder.newBuilder(TABLE)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
          .setBloomFilterType(BloomType.ROW).setBlocksize(4096).build())
        .build(),
      null)) {
      load(table, 0, ROWS / 2);
      load(table, ROWS / 2, ROWS);
      readAll(table);
      Set<String> flushed = files(server);
      assertEquals(2, flushed.size());
      int blocks = blocksOf(server, flushed);
      assertTrue("only " + blocks, blocks >= ROWS / 10);
      long misses = cacheOf(server).getStats().getMissCount();
      long hits = cacheOf(server).getStats().getHitCount();
      readAll(table);
      assertEquals("all of it is cached", misses, cacheOf(server).getStats().getMissCount());
      assertTrue(cacheOf(server).getStats().getHitCount() - hits >= ROWS);

      util.compact(TABLE, true);
      new CompactedHFilesDischarger(100, server, server, false).chore();
      util.waitFor(60_000, () -> blocksOf(server, flushed) == 0);
      readAll(table);
      Set<String> compacted = files(server);
      assertEquals(1, compacted.size());
      int kept = blocksOf(server, compacted);
      assertTrue("only " + kept, kept >= ROWS / 10);

      ServerName name = server.getServerName();
      cluster.stopRegionServer(name);
      cluster.waitForRegionServerToStop(name, 60_000);
      HRegionServer second = cluster.startRegionServerAndWait(60_000).getRegionServer();
      util.waitFor(60_000, () -> second.getRegions(TABLE).size() == 1);
      assertTrue(cacheOf(second).isRestored());
      assertEquals(kept, blocksOf(second, compacted));
      flipBits();
      readAll(table);
      assertTrue("no bit was flipped where a block is",
        cacheOf(second).metrics().badEntries.sum() > 0);
      readAll(table);
    }
  }

  /** In all segments, from the first entry of each on. */
  private void flipBits() throws Exception {
    try (RandomAccessFile file = new RandomAccessFile(segments, "rw")) {
      for (long at = Superblock.HEADER_SIZE + 1000; at < file.length(); at += 50_000) {
        file.seek(at);
        int was = file.read();
        file.seek(at);
        file.write(was ^ 1);
      }
    }
  }
}
