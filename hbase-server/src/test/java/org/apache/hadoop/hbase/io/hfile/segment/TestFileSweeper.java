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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.io.hfile.segment.device.FileSegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.store.SimulatedDevices;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.OnlineRegionFiles;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Dead blocks of a former process are evicted before live ones, although those are older. */
@Category({ IOTests.class, MediumTests.class })
public class TestFileSweeper {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFileSweeper.class);

  private static final TableName TABLE = TableName.valueOf("t");
  private static final RegionInfo REGION = RegionInfoBuilder.newBuilder(TABLE).build();
  private static final RegionInfo OTHER_REGION =
    RegionInfoBuilder.newBuilder(TABLE).setStartKey(new byte[] { 'm' }).build();
  private static final String LIVE = "11111111111111111111111111111111";
  private static final String DEAD = "22222222222222222222222222222222";
  private static final String INSERTED = "33333333333333333333333333333333";
  private static final int SIZE = 30_000;
  /** Blocks a file; two files nearly fill the tier of 32 segments of a megabyte. */
  private static final int BLOCKS = 13 * (1 << 20) / SIZE;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private SegmentCache cache;

  private void open(OnlineFiles onlineFiles) throws IOException {
    open(onlineFiles, FileSegmentDevice.OPENER);
  }

  private void open(OnlineFiles onlineFiles, SegmentDevice.Opener opener) throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.bucketcache.queue.addition.waittime", "60000");
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    String engine = SegmentCacheSettings.ENGINE + new File(folder.getRoot(), "l2");
    SegmentCacheSettings settings = SegmentCacheSettings.of(engine, "hbase.bucketcache.l2.size",
      33 << 20, new File(folder.getRoot(), "snapshot").getPath(), conf);
    cache = new SegmentCache("L2", engine, settings, conf, onlineFiles, opener);
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private static BlockCacheKey key(String file, int block) {
    return new BlockCacheKey(
      new Path("/hbase/data/default/t/" + REGION.getEncodedName() + "/f/" + file),
      (long) block * SIZE, true, BlockType.DATA);
  }

  private void insert(String file) {
    for (int i = 0; i < BLOCKS; i++) {
      BlockCacheKey key = key(file, i);
      HFileBlock block = block(BlockType.DATA, key.getOffset(), SIZE);
      try {
        cache.cacheBlock(key, block, false, true);
      } finally {
        block.release();
      }
    }
  }

  private int count(String file) {
    int count = 0;
    for (int i = 0; i < BLOCKS; i++) {
      count += cache.containsBlock(key(file, i)) ? 1 : 0;
    }
    return count;
  }

  /**
   * The region of three files opens, and reads one that a former process has cached, while the next
   * one is being inserted. No look at the regions was due.
   */
  @Test
  public void testBlocksOfAFormerProcessGoBeforeOlderLiveOnes() throws Exception {
    open(null);
    insert(LIVE);
    insert(DEAD);
    await(() -> cache.pending() == 0);
    cache.shutdown();
    Map<String, HRegion> online = new ConcurrentHashMap<>();
    open(new OnlineRegionFiles(online));
    assertEquals(BLOCKS, count(LIVE));
    assertEquals(BLOCKS, count(DEAD));
    online.put(REGION.getEncodedName(), TestOrphanFiles.region(REGION, false, LIVE, INSERTED));
    insert(INSERTED);
    await(() -> cache.pending() == 0);
    assertEquals(BLOCKS, count(LIVE));
    assertEquals(BLOCKS, count(INSERTED));
    assertEquals(0, count(DEAD));
    assertEquals(1, cache.metrics().orphanFiles.sum());
  }

  /** What a reclaim waits for ends when the dropped files are freed. */
  @Test
  public void testReclaimWaitsOnlyForOrphansOfRegionsThatWereOpenedOrClosed() throws Exception {
    open(null);
    insert(DEAD);
    assertFalse(cache.sweeper().isFreeingOrphans());
    await(() -> cache.pending() == 0);
    cache.shutdown();
    Map<String, HRegion> online = new ConcurrentHashMap<>();
    open(new OnlineRegionFiles(online));
    assertFalse("nothing is online", cache.sweeper().isFreeingOrphans());
    online.put(OTHER_REGION.getEncodedName(), TestOrphanFiles.region(OTHER_REGION, false));
    assertFalse("of another region", cache.sweeper().isFreeingOrphans());
    assertEquals(BLOCKS, count(DEAD));
    online.put(REGION.getEncodedName(), TestOrphanFiles.region(REGION, false, LIVE));
    boolean waits = cache.sweeper().isFreeingOrphans();
    assertEquals(0, count(DEAD));
    assertTrue(waits || cache.files().getDroppedBlockCount() == 0);
    await(() -> !cache.sweeper().isFreeingOrphans());
    assertEquals(0, cache.files().getDroppedBlockCount());
  }

  /** More regions are opened while a device logs what was dropped. */
  @Test
  public void testReclaimWaitsForOrphansOfAnEarlierLook() throws Exception {
    SimulatedDevices devices = new SimulatedDevices();
    open(null, devices);
    insert(DEAD);
    await(() -> cache.pending() == 0);
    cache.shutdown();
    Map<String, HRegion> online = new ConcurrentHashMap<>();
    open(new OnlineRegionFiles(online), devices);
    SimulatedDevices.Medium medium = devices.medium(new File(folder.getRoot(), "l2").getPath());
    medium.blockWrites(true);
    online.put(REGION.getEncodedName(), TestOrphanFiles.region(REGION, false, LIVE));
    assertTrue("not yet logged", cache.sweeper().isFreeingOrphans());
    online.put(OTHER_REGION.getEncodedName(), TestOrphanFiles.region(OTHER_REGION, false));
    assertTrue("another look has found none", cache.sweeper().isFreeingOrphans());
    medium.blockWrites(false);
    await(() -> !cache.sweeper().isFreeingOrphans());
    assertEquals(0, cache.files().getDroppedBlockCount());
  }
}
