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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.store.SimulatedDevices;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** What was dropped stays dropped, however the process ends. */
@Category({ IOTests.class, MediumTests.class })
public class TestDroppedFiles {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDroppedFiles.class);

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private static final int BLOCK = 30_000;
  private static final String REGION = "0123456789abcdef0123456789abcdef";
  private static final String FILE = "11111111111111111111111111111111";
  private static final String OTHER = "22222222222222222222222222222222";
  private static final String FILLER = "33333333333333333333333333333333";

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private SimulatedDevices devices = new SimulatedDevices();
  private SegmentCache cache;
  private long filled;

  private SegmentCache open(SegmentDevice.Opener opener, String... paths) throws IOException {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    String engine = SegmentCacheSettings.ENGINE + String.join(",", paths);
    String snapshot = util.getDataTestDir("snapshot").toString();
    assertTrue(new File(snapshot).getParentFile().mkdirs()
      || new File(snapshot).getParentFile().isDirectory());
    return new SegmentCache("L2", engine, SegmentCacheSettings.of(engine,
      "hbase.bucketcache.l2.size", paths.length * (33L << 20), snapshot, conf), conf, opener);
  }

  @After
  public void tearDown() {
    cache.shutdown();
    util.cleanupTestDir();
  }

  private static BlockCacheKey key(String file, long offset) {
    return new BlockCacheKey(new Path("/hbase/data/default/t/" + REGION + "/f/" + file), offset,
      true, BlockType.DATA);
  }

  private void put(String file, int blocks) {
    for (int i = 0; i < blocks; i++) {
      long offset = (long) i * BLOCK;
      HFileBlock block = block(BlockType.DATA, offset, BLOCK);
      CachedBlockFixture.await(() -> {
        cache.cacheBlock(key(file, offset), block);
        return cache.containsBlock(key(file, offset));
      });
      block.release();
    }
  }

  /** Fills the segment that is open, and more. */
  private void pushOut() {
    for (int i = 0; i < 40; i++) {
      long offset = filled++ * BLOCK;
      HFileBlock block = block(BlockType.DATA, offset, BLOCK);
      CachedBlockFixture.await(() -> {
        cache.cacheBlock(key(FILLER, offset), block);
        return cache.containsBlock(key(FILLER, offset));
      });
      block.release();
    }
    CachedBlockFixture.await(() -> cache.pending() == 0);
  }

  private int found(String file, int blocks) {
    int found = 0;
    for (int i = 0; i < blocks; i++) {
      long offset = (long) i * BLOCK;
      Cacheable read = cache.getBlock(key(file, offset), true, false, true);
      if (read != null) {
        HFileBlock expected = block(BlockType.DATA, offset, BLOCK);
        assertArrayEquals(content(expected), content(read));
        expected.release();
        read.release();
        found++;
      }
    }
    return found;
  }

  private void drop(String file) {
    cache.evictBlocksByHfileName(file);
    // The count is 0 only after the devices have logged the drop.
    CachedBlockFixture.await(() -> cache.files().getDroppedBlockCount() == 0);
  }

  /** Opens the cache again on what the devices have after kill -9. */
  private void killAndRecover(String... paths) throws IOException {
    SimulatedDevices left = devices.afterKill();
    cache.shutdown();
    // What a clean stop has left is not there after a kill.
    Files.deleteIfExists(
      new File(util.getDataTestDir("snapshot").toString()).toPath());
    devices = left;
    cache = open(devices, paths);
    CachedBlockFixture.await(() -> !cache.isRecovering());
  }

  @Test
  public void testDroppedFileDoesNotComeBackAfterAKill() throws IOException {
    cache = open(devices, "a", "b");
    put(FILE, 200);
    put(OTHER, 200);
    pushOut();
    drop(FILE);
    killAndRecover("a", "b");
    assertEquals(0, found(FILE, 200));
    assertEquals(200, found(OTHER, 200));
    assertEquals(cache.getCurrentSize() - cache.getBlockCount() * CachedFile.ENTRY_OVERHEAD,
      cache.getRegionCachedInfo().get().get(REGION).longValue());
    // Another one finds none either.
    killAndRecover("a", "b");
    assertEquals(0, found(FILE, 200));
    assertEquals(200, found(OTHER, 200));
  }

  @Test
  public void testManyFilesAreDroppedAndTheirSegmentsAreReclaimedFirst() throws IOException {
    cache = open(devices, "a");
    for (int i = 0; i < 10; i++) {
      put(FILE.substring(2) + String.format("%02d", i), 60);
    }
    put(OTHER, 60);
    pushOut();
    for (int i = 0; i < 10; i++) {
      drop(FILE.substring(2) + String.format("%02d", i));
    }
    killAndRecover("a");
    assertEquals(60, found(OTHER, 60));
    assertTrue(cache.metrics().deadBlocksFound.sum() > 500);
    // This is more than half of the tier: dead segments go before those of the file that lives.
    for (int i = 0; i < 15; i++) {
      pushOut();
    }
    assertEquals(60, found(OTHER, 60));
  }

  @Test
  public void testFileThatIsCachedAgainComesBackAfterAKill() throws IOException {
    cache = open(devices, "a");
    put(FILE, 50);
    pushOut();
    drop(FILE);
    pushOut();
    put(FILE, 50);
    pushOut();
    killAndRecover("a");
    assertEquals(50, found(FILE, 50));
    drop(FILE);
    killAndRecover("a");
    assertEquals(0, found(FILE, 50));
  }

  @Test
  public void testStopDuringRecoveryForgetsNoDrop() throws Exception {
    stopDuringRecovery(Superblock.HEADER_SIZE);
  }

  @Test
  public void testStopBeforeTheLogIsReadForgetsNoDrop() throws Exception {
    stopDuringRecovery(Superblock.LOG_START);
  }

  /** @param blockedFrom the position from which nothing can be read until the stop has begun */
  private void stopDuringRecovery(int blockedFrom) throws Exception {
    cache = open(devices, "a");
    put(FILE, 200);
    put(OTHER, 200);
    pushOut();
    killAndRecover("a");
    cache.shutdown();
    Files.deleteIfExists(
      new File(util.getDataTestDir("snapshot").toString()).toPath());
    devices.medium("a").blockReadsFrom(blockedFrom);
    cache = open(devices, "a");
    cache.evictBlocksByHfileName(FILE);
    SegmentCache stopped = cache;
    Thread stop = new Thread(stopped::shutdown);
    stop.start();
    CachedBlockFixture.await(() -> stop.getState() == Thread.State.TIMED_WAITING);
    // What does not wait for the device has ended by then.
    Thread.sleep(200);
    devices.medium("a").blockReadsFrom(Long.MAX_VALUE);
    stop.join();
    cache = open(devices, "a");
    CachedBlockFixture.await(() -> !cache.isRecovering());
    assertEquals(0, found(FILE, 200));
    assertEquals(200, found(OTHER, 200));
  }

  /** A device has missed what was dropped while it failed; the other one knows. */
  @Test
  public void testDropDuringAnOutageHoldsForTheDeviceThatFailed() throws IOException {
    cache = open(devices, "a", "b");
    put(FILE, 200);
    put(OTHER, 200);
    pushOut();
    devices.medium("b").failReads(true);
    devices.medium("b").failWrites(true);
    // These lookups fail in at least three segments of the device, so that it is bypassed.
    found(FILE, 200);
    found(OTHER, 200);
    CachedBlockFixture.await(() -> gauge("BypassedDeviceCount") == 1);
    drop(FILE);
    devices.medium("b").failReads(false);
    devices.medium("b").failWrites(false);
    killAndRecover("a", "b");
    assertEquals(0, found(FILE, 200));
    assertTrue(found(OTHER, 200) > 50);
  }

  private long gauge(String name) {
    long[] value = { -1 };
    cache.forEachMetric((kind, gauge, supplier) -> value[0] =
      gauge.equals(name) ? supplier.getAsLong() : value[0]);
    return value[0];
  }
}
