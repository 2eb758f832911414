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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
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
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * RegionServers that promote, over real HDFS, under gets that never stop: flush, compaction, split,
 * move, eviction and close of the files whose hot blocks are in both tiers.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestDataPromotionOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDataPromotionOnCluster.class);

  private static final TableName TABLE = TableName.valueOf("promotion");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  /** 3.5 MB of data for a first tier of 2 MB. */
  private static final int ROWS = 8000;
  /** No factor of it is in ROWS, so that hot rows lie everywhere. */
  private static final long STRIDE = 7919;
  private static final int READERS = 2;
  private static final int WAIT_MS = 60_000;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private HBaseTestingUtility util;
  private String folder;

  @Before
  public void setUp() throws Exception {
    util = new HBaseTestingUtility();
    Configuration conf = util.getConfiguration();
    folder = util.getDataTestDir().toString();
    util.getTestFileSystem().mkdirs(new Path(folder));
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.l1.size", "2");
    conf.set("hbase.bucketcache.l1.bucket.sizes", "5120,9216");
    conf.set("hbase.bucketcache.l2.size", "64");
    conf.set("hbase.blockcache.minblocksize", "4096");
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + folder + "/one");
    conf.setBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setInt("hfile.index.block.max.size", 512);
    conf.setInt("io.storefile.bloom.block.size", 512);
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

  /** Threads that get rows, a few of them far more often than the rest, until closed. */
  private final class Readers implements AutoCloseable {
    private final List<Thread> threads = new ArrayList<>();
    private final LongAdder gets = new LongAdder();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean done;

    Readers() {
      for (int i = 0; i < READERS; i++) {
        int seed = i;
        Thread thread = new Thread(() -> read(new Random(seed)), "reader-" + i);
        thread.start();
        threads.add(thread);
      }
    }

    private void read(Random random) {
      try (Table table = util.getConnection().getTable(TABLE)) {
        while (!done) {
          int i = (int) ((long) (ROWS * Math.pow(random.nextDouble(), 4)) * STRIDE % ROWS);
          assertTrue("row " + i, Bytes.equals(value(i),
            table.get(new Get(row(i))).getValue(FAMILY, QUALIFIER)));
          gets.increment();
        }
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
    }

    /** Waits until so many gets more were right. */
    void await(int more) throws Exception {
      long from = gets.sum();
      util.waitFor(WAIT_MS, () -> failure.get() != null || gets.sum() - from >= more);
      assertNoFailure();
    }

    private void assertNoFailure() {
      if (failure.get() != null) {
        throw new AssertionError("A get failed", failure.get());
      }
    }

    @Override
    public void close() throws Exception {
      done = true;
      for (Thread thread : threads) {
        thread.join();
      }
      assertNoFailure();
    }
  }

  private static CompositeBucketCache cacheOf(HRegionServer server) {
    return (CompositeBucketCache) server.getBlockCache().get();
  }

  private static BucketCacheTier first(HRegionServer server) {
    return (BucketCacheTier) cacheOf(server).getFirstLevelCache();
  }

  private static BucketCacheTier second(HRegionServer server) {
    return (BucketCacheTier) cacheOf(server).getSecondLevelCache();
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
    return blocksOf(first(server), files, false) + blocksOf(second(server), files, false);
  }

  private static int blocksOf(BucketCacheTier tier, Set<String> files, boolean onlyData) {
    LongAdder blocks = new LongAdder();
    files.forEach(file -> tier.forEachBlockOf(file, key -> {
      if (!onlyData || key.getBlockType().isData()) {
        blocks.increment();
      }
    }));
    return blocks.intValue();
  }

  /** Waits until hot data of all of these files is in the server's first tier. */
  private void awaitPromoted(HRegionServer server, Set<String> files) throws Exception {
    util.waitFor(WAIT_MS, () -> files.stream()
      .allMatch(file -> blocksOf(first(server), Collections.singleton(file), true) > 0));
  }

  private void awaitGone(HRegionServer server, Set<String> files) throws Exception {
    util.waitFor(WAIT_MS, () -> {
      new CompactedHFilesDischarger(100, server, server, false).chore();
      return blocksOf(server, files) == 0;
    });
  }

  @Test
  public void everyGetIsRightAndNothingOfAClosedFileStays() throws Exception {
    HRegionServer server = util.getMiniHBaseCluster().getRegionServer(0);
    Admin admin = util.getAdmin();
    Set<String> closed = new TreeSet<>();
    HRegionServer other;
    try (Table table = util.createTable(TableDescriptorBuilder.newBuilder(TABLE)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
        .setBloomFilterType(BloomType.ROW).setBlocksize(4096).build())
      .build(), null)) {
      load(table, 0, ROWS / 2);
      load(table, ROWS / 2, ROWS);
      try (Readers readers = new Readers()) {
        Set<String> flushed = files(server);
        assertEquals(2, flushed.size());
        awaitPromoted(server, flushed);
        readers.await(2000);

        util.compact(TABLE, true);
        awaitGone(server, flushed);
        Set<String> compacted = files(server);
        assertEquals(1, compacted.size());
        awaitPromoted(server, compacted);
        closed.addAll(flushed);

        assertTrue(admin.clearBlockCache(TABLE).getEvictedBlocks() > 0);
        awaitPromoted(server, compacted);

        admin.split(TABLE, row(ROWS / 2));
        util.waitFor(WAIT_MS, () -> server.getRegions(TABLE).size() == 2
          && server.getRegions(TABLE).stream().allMatch(HRegion::isAvailable));
        closed.addAll(files(server));
        readers.await(2000);
        util.compact(TABLE, true);
        awaitGone(server, compacted);
        closed.addAll(compacted);
        awaitPromoted(server, files(server));

        util.getMiniHBaseCluster().getConfiguration().set("hbase.bucketcache.l2.ioengine",
          "file:" + folder + "/two");
        other = util.getMiniHBaseCluster().startRegionServerAndWait(WAIT_MS).getRegionServer();
        admin.balancerSwitch(false, true);
        HRegion moved = server.getRegions(TABLE).get(1);
        Set<String> gone = new TreeSet<>(files(server));
        byte[] name = moved.getRegionInfo().getEncodedNameAsBytes();
        // The master may take a server that has just come up for a candidate or not yet.
        util.waitFor(WAIT_MS, 500, () -> {
          admin.move(name, other.getServerName());
          return other.getRegions(TABLE).size() == 1;
        });
        gone.removeAll(files(server));
        assertEquals(1, gone.size());
        assertEquals("of the region that moved away", 0, blocksOf(server, gone));
        awaitPromoted(other, gone);
        readers.await(2000);
        closed.addAll(files(server));
        closed.addAll(files(other));
      }
    }
    admin.disableTable(TABLE);
    for (HRegionServer each : new HRegionServer[] { server, other }) {
      CachedBlockFixture.await(() -> first(each).heapSize() == 0 && second(each).heapSize() == 0);
      assertEquals(closed.toString(), 0, blocksOf(each, closed));
      ByteBuffAllocator pool = each.getRpcServer().getByteBuffAllocator();
      util.waitFor(WAIT_MS, () -> pool.getUsedBufferCount() == pool.getFreeBufferCount());
    }
  }
}
