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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers.first;
import static org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers.row;
import static org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers.second;
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
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.regionserver.CompactedHFilesDischarger;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
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

  /** 3.5 MB of data for an L1 of 2 MB. */
  private static final int ROWS = 8000;
  /** No factor of it is in ROWS, so that hot rows lie everywhere. */
  private static final long STRIDE = 7919;
  private static final int READERS = 2;
  private static final int WAIT_MS = 60_000;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private ClusterWithTiers cluster;
  private HBaseTestingUtility util;
  private TableName promotion;

  @Before
  public void setUp() throws Exception {
    cluster = new ClusterWithTiers("promotion");
    util = cluster.util();
    promotion = cluster.table();
    Configuration conf = cluster.conf();
    conf.set("hbase.bucketcache.l1.size", "2");
    conf.set("hbase.bucketcache.l1.bucket.sizes", "5120,9216");
    conf.set("hbase.blockcache.minblocksize", "4096");
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + cluster.folder() + "/one");
    conf.setBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setInt("hfile.index.block.max.size", 512);
    conf.setInt("io.storefile.bloom.block.size", 512);
    cluster.start();
  }

  @After
  public void tearDown() throws Exception {
    cluster.stop();
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
      try (Table table = util.getConnection().getTable(promotion)) {
        while (!done) {
          int i = (int) ((long) (ROWS * Math.pow(random.nextDouble(), 4)) * STRIDE % ROWS);
          ClusterWithTiers.get(table, i);
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

  /** Waits until hot data of all of these files is in L1 of the server. */
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
  public void testEveryGetIsRightAndNothingOfAClosedFileStays() throws Exception {
    HRegionServer server = cluster.server();
    Admin admin = util.getAdmin();
    Set<String> closed = new TreeSet<>();
    HRegionServer other;
    try (Table table = cluster.createTable()) {
      cluster.load(table, 0, ROWS / 2);
      cluster.load(table, ROWS / 2, ROWS);
      try (Readers readers = new Readers()) {
        Set<String> flushed = cluster.files(server);
        assertEquals(2, flushed.size());
        awaitPromoted(server, flushed);
        readers.await(2000);

        util.compact(promotion, true);
        awaitGone(server, flushed);
        Set<String> compacted = cluster.files(server);
        assertEquals(1, compacted.size());
        awaitPromoted(server, compacted);
        closed.addAll(flushed);

        assertTrue(admin.clearBlockCache(promotion).getEvictedBlocks() > 0);
        awaitPromoted(server, compacted);

        admin.split(promotion, row(ROWS / 2));
        util.waitFor(WAIT_MS, () -> server.getRegions(promotion).size() == 2
          && server.getRegions(promotion).stream().allMatch(HRegion::isAvailable));
        closed.addAll(cluster.files(server));
        readers.await(2000);
        util.compact(promotion, true);
        awaitGone(server, compacted);
        closed.addAll(compacted);
        awaitPromoted(server, cluster.files(server));

        util.getMiniHBaseCluster().getConfiguration().set("hbase.bucketcache.l2.ioengine",
          "file:" + cluster.folder() + "/two");
        other = util.getMiniHBaseCluster().startRegionServerAndWait(WAIT_MS).getRegionServer();
        admin.balancerSwitch(false, true);
        HRegion moved = server.getRegions(promotion).get(1);
        Set<String> gone = new TreeSet<>(cluster.files(server));
        byte[] name = moved.getRegionInfo().getEncodedNameAsBytes();
        // The master may take a server that has just come up for a candidate or not yet.
        util.waitFor(WAIT_MS, 500, () -> {
          admin.move(name, other.getServerName());
          return other.getRegions(promotion).size() == 1;
        });
        gone.removeAll(cluster.files(server));
        assertEquals(1, gone.size());
        assertEquals("of the region that moved away", 0, blocksOf(server, gone));
        awaitPromoted(other, gone);
        readers.await(2000);
        closed.addAll(cluster.files(server));
        closed.addAll(cluster.files(other));
      }
    }
    admin.disableTable(promotion);
    for (HRegionServer each : new HRegionServer[] { server, other }) {
      CachedBlockFixture.await(() -> first(each).heapSize() == 0 && second(each).heapSize() == 0);
      assertEquals(closed.toString(), 0, blocksOf(each, closed));
      ByteBuffAllocator pool = each.getRpcServer().getByteBuffAllocator();
      util.waitFor(WAIT_MS, () -> pool.getUsedBufferCount() == pool.getFreeBufferCount());
    }
  }
}
