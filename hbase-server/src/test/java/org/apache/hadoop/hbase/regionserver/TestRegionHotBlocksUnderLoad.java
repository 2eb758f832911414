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

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.load.HandoverCaches;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * More clients than a server has handlers read the hot rows of several regions with two families,
 * while the caches are full. Regions move one after the other, and back, or are compacted.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestRegionHotBlocksUnderLoad extends RegionHotBlocksFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRegionHotBlocksUnderLoad.class);

  private static final int CLIENTS = 64;
  private static final int REGIONS = 5;

  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
  private volatile boolean ended;

  @After
  public void tearDown() {
    ended = true;
    clients.shutdownNow();
  }

  private Void read(int client) throws Exception {
    Random random = new Random(client);
    try (Table read = UTIL.getConnection().getTable(table)) {
      while (!ended) {
        int row = random.nextInt(ROWS / STRIDE) * STRIDE + random.nextInt(HOT);
        assertRow(read.get(new Get(row(row))));
      }
    }
    return null;
  }

  /** Moves all regions, and waits until their hot blocks have followed them. */
  private void moveAll(int hot) throws Exception {
    long followed = HandoverCaches.count("FollowedHintCount");
    for (HRegion region : UTIL.getMiniHBaseCluster().getRegions(table)) {
      HRegionServer to = otherServer(region);
      UTIL.getAdmin().move(region.getRegionInfo().getEncodedNameAsBytes(), to.getServerName());
      UTIL.waitFor(60_000,
        () -> to.getRegion(region.getRegionInfo().getEncodedName()) != null);
    }
    CachedBlockFixture
      .await(() -> HandoverCaches.count("FollowedHintCount") - followed >= REGIONS);
    CachedBlockFixture.await(() -> hotBlocks() >= hot);
  }

  private int hotBlocks() {
    return UTIL.getMiniHBaseCluster().getRegions(table).stream()
      .mapToInt(region -> dataOf(region).size()).sum();
  }

  /** Creates the regions, and fills the caches with blocks that no client reads. */
  private int prepare() throws Exception {
    byte[][] splits = IntStream.range(1, REGIONS)
      .mapToObj(i -> row(ROWS / REGIONS / STRIDE * STRIDE * i)).toArray(byte[][]::new);
    createAndRead(true, splits);
    int hot = hotBlocks();
    UTIL.getMiniHBaseCluster().getRegionServerThreads().forEach(
      thread -> HandoverCaches.fill(thread.getRegionServer().getBlockCache().get()));
    assertEquals(hot, hotBlocks());
    return hot;
  }

  private List<Future<?>> startClients() {
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      running.add(clients.submit(() -> read(client)));
    }
    return running;
  }

  private void end(List<Future<?>> running) throws Exception {
    ended = true;
    for (Future<?> client : running) {
      client.get();
    }
  }

  @Test
  public void testWhatIsHotMovesIntoFullCaches() throws Exception {
    int hot = prepare();
    List<Future<?>> running = startClients();
    moveAll(hot);
    moveAll(hot);
    end(running);
    assertTrue(hotBlocks() + " of " + hot, hotBlocks() >= hot);
    assertEquals("none is read twice", 0, misses());
    assertAllRows(table);
  }

  @Test
  public void testWhatIsHotStaysInFullCachesWhileAllIsCompacted() throws Exception {
    int hot = prepare();
    List<Future<?>> running = startClients();
    int stores = REGIONS * FAMILIES.length;
    long compactions = HandoverCaches.count("CompactionCount");
    long blocks = HandoverCaches.count("L2BlockCount");
    long limited = HandoverCaches.count("LimitBlockCount");
    UTIL.getAdmin().compactionSwitch(true, new ArrayList<>());
    UTIL.getAdmin().majorCompact(table);
    CachedBlockFixture
      .await(() -> HandoverCaches.count("CompactionCount") - compactions >= stores);
    end(running);
    UTIL.getMiniHBaseCluster().getRegions(table).forEach(region -> region.getStores()
      .forEach(store -> assertEquals(1, store.getStorefilesCount())));
    // The rows of two blocks of the inputs are in one of the output.
    blocks = HandoverCaches.count("L2BlockCount") - blocks;
    assertTrue(blocks + " of " + hot, blocks >= hot / 3);
    // Some blocks at the borders of hot ranges exceed the limit, hot ones among them.
    limited = HandoverCaches.count("LimitBlockCount") - limited;
    long misses = misses();
    assertTrue(misses + " are read twice, " + limited + " are beyond the limit of 1.2",
      misses <= limited && limited <= blocks / 4);
    assertAllRows(table);
  }
}
