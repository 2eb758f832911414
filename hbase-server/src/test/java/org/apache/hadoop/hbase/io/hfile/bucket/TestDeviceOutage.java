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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.bucket.DeviceHealth.State;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * A tier whose device fails: it is bypassed, disabled when that lasts too long, tried, and taken
 * back; no caller waits for it, sees an exception or loses a buffer.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestDeviceOutage {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDeviceOutage.class);

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int SIZE = 6000;
  private static final int BLOCKS = 40;
  private static final String TOLERATED =
    "hbase.bucketcache.ioengine.errors.tolerated.duration";
  private static final String RETRY = "hbase.bucketcache.l2.retry.interval.ms";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final DeviceOnCue device = new DeviceOnCue();
  private Configuration conf;
  private ByteBuffAllocator pool;
  private BucketCacheTier tier;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(2, 2, "file:" + path("cache"));
    conf.set("hbase.bucketcache.bucket.sizes", "9216");
    conf.set("hbase.bucketcache.l2.writer.threads", "1");
    conf.setInt(TOLERATED, 60_000);
    pool = CachedBlockFixture.pool(conf, 1000);
  }

  private String path(String name) {
    return new File(folder.getRoot(), name).getPath();
  }

  private void open() throws IOException {
    tier = device.tier(CompositeBucketCacheSettings.of(conf).second());
  }

  @After
  public void tearDown() {
    device.fails(false);
    tier.evictBlocksByHfileName(FILE);
    tier.shutdown();
    assertEquals(0, tier.backingMap.size());
    assertEquals(0, tier.blocksByHFile.size());
    assertEquals(0, tier.ramCache.delegate.size());
    assertEquals(0, tier.heapSize());
    assertEquals(0, tier.getAllocator().getUsedSize());
    assertEquals(0, tier.getRealCacheSize());
    assertEquals(0, tier.getMetaBlockCount());
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }

  private static BlockCacheKey key(int i) {
    return CachedBlockFixture.key(FILE, i, BlockType.DATA);
  }

  private void offer(int i) {
    CachedBlockFixture.cache(tier, key(i),
      CachedBlockFixture.block(BlockType.DATA, i, SIZE, pool));
  }

  private void cache(int i) {
    offer(i);
    CachedBlockFixture.await(
      () -> tier.backingMap.containsKey(key(i)) && !tier.ramCache.containsKey(key(i)));
  }

  private void cacheAll() {
    for (int i = 0; i < BLOCKS; i++) {
      cache(i);
    }
  }

  private void openFilled() throws IOException {
    open();
    cacheAll();
  }

  private void openAndDisable(String retryIntervalMs) throws IOException {
    conf.setInt(TOLERATED, 100);
    conf.set(RETRY, retryIntervalMs);
    openFilled();
    disable();
    CachedBlockFixture.await(() -> tier.backingMap.isEmpty());
  }

  private boolean read(int i) {
    Cacheable block = tier.getBlock(key(i), true, false, true);
    if (block == null) {
      return false;
    }
    try {
      assertRight(i, block);
      return true;
    } finally {
      block.release();
    }
  }

  private static void assertRight(int i, Cacheable block) {
    HFileBlock expected = CachedBlockFixture.block(BlockType.DATA, i, SIZE);
    assertArrayEquals("block " + i, CachedBlockFixture.content(expected),
      CachedBlockFixture.content(block));
    expected.release();
  }

  private int readAll() {
    int found = 0;
    for (int i = 0; i < BLOCKS; i++) {
      found += read(i) ? 1 : 0;
    }
    return found;
  }

  private void awaitState(State state) {
    CachedBlockFixture.await(() -> tier.getDeviceState() == state);
  }

  private void disable() {
    device.fails(true);
    for (int i = 0; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
      read(i);
    }
    awaitState(State.DISABLED);
  }

  @Test
  public void testFailingReadsAreBypassedUntilTheDeviceWorks() throws Exception {
    openFilled();
    device.fails(true);
    assertEquals(0, readAll());
    assertEquals(State.BYPASSED, tier.getDeviceState());
    assertEquals(DeviceHealth.FAILURES_IN_A_ROW, device.reads.get());
    assertEquals(BLOCKS - DeviceHealth.FAILURES_IN_A_ROW, tier.getBypassedReadCount());
    assertTrue(tier.getIoErrorCount() >= DeviceHealth.FAILURES_IN_A_ROW);
    assertEquals(0, tier.getChecksumFailureCount());
    assertEquals(BLOCKS, tier.getStats().getMissCount());
    assertEquals(0, tier.getStats().getHitCount());

    offer(BLOCKS);
    assertFalse(tier.containsBlock(key(BLOCKS)));
    assertEquals(1, tier.getBypassedInsertCount());
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 0, SIZE);
    assertFalse(tier.hasRoomFor(block));
    assertFalse(tier.blockFitsIntoTheCache(block).get());
    block.release();

    device.fails(false);
    awaitState(State.WORKING);
    // What the device had is there again, but for the blocks that could not be read.
    assertEquals(BLOCKS - DeviceHealth.FAILURES_IN_A_ROW, readAll());
    assertEquals("opened anew", 1, device.opened.get());
    cache(BLOCKS);
    assertTrue(read(BLOCKS));
  }

  /**
   * 40 handlers: a read that is at the device waits for it. Once some have failed, lookups are
   * answered while the device still holds the others.
   */
  @Test
  public void testDeviceThatIsSlowToFailHoldsUpNobodyTwice() throws Exception {
    openFilled();
    device.mayFail = new Semaphore(0);
    device.fails(true);
    ExecutorService handlers = Executors.newFixedThreadPool(BLOCKS);
    try {
      List<Future<?>> reads = new ArrayList<>();
      AtomicInteger answered = new AtomicInteger();
      for (int i = 0; i < BLOCKS; i++) {
        int block = i;
        reads.add(handlers.submit(() -> {
          read(block);
          awaitState(State.BYPASSED);
          for (int j = 0; j < 100; j++) {
            assertFalse(read(j % BLOCKS));
            offer(BLOCKS + j);
          }
          return answered.incrementAndGet();
        }));
      }
      CachedBlockFixture.await(() -> device.reads.get() == BLOCKS);
      device.mayFail.release(DeviceHealth.FAILURES_IN_A_ROW);
      CachedBlockFixture.await(() -> answered.get() == DeviceHealth.FAILURES_IN_A_ROW);
      device.mayFail.release(Integer.MAX_VALUE / 2);
      for (Future<?> read : reads) {
        read.get(2, TimeUnit.MINUTES);
      }
    } finally {
      device.mayFail.release(Integer.MAX_VALUE / 2);
      handlers.shutdownNow();
    }
    assertTrue(device.reads.get() < BLOCKS + DeviceHealth.FAILURES_IN_A_ROW);
  }

  @Test
  public void testFailedReadHereAndThereCostsItsBlockOnly() throws Exception {
    openFilled();
    for (int i = 0; i < BLOCKS; i++) {
      device.readsFail = i % DeviceHealth.FAILURES_IN_A_ROW == 0;
      assertEquals(!device.readsFail, read(i));
    }
    device.readsFail = false;
    assertEquals(State.WORKING, tier.getDeviceState());
    int bad = (BLOCKS + DeviceHealth.FAILURES_IN_A_ROW - 1) / DeviceHealth.FAILURES_IN_A_ROW;
    assertEquals(bad, tier.getIoErrorCount());
    assertEquals(BLOCKS - bad, readAll());
  }

  @Test
  public void testFailingWritesDropTheirBlocks() throws Exception {
    open();
    device.fails(true);
    for (int i = 0; i < BLOCKS; i++) {
      offer(i);
    }
    awaitState(State.BYPASSED);
    CachedBlockFixture.await(() -> tier.ramCache.isEmpty());
    assertEquals("a failed write is not tried again", DeviceHealth.FAILURES_IN_A_ROW,
      device.writes.get());
    assertEquals(0, tier.backingMap.size());
    device.fails(false);
    awaitState(State.WORKING);
    cacheAll();
    assertEquals(BLOCKS, readAll());
  }

  @Test
  public void testFailingSyncsAreBypassedAsWell() throws Exception {
    open();
    device.syncsFail = true;
    for (int i = 0; i < BLOCKS && tier.getDeviceState() == State.WORKING; i++) {
      offer(i);
      CachedBlockFixture.await(() -> tier.ramCache.isEmpty());
    }
    assertEquals(State.BYPASSED, tier.getDeviceState());
    assertFalse("nothing is inserted", tier.awaitInsertion(key(0), 1));
    device.syncsFail = false;
    awaitState(State.WORKING);
    assertTrue(tier.awaitInsertion(key(0), 1));
    cacheAll();
    assertEquals(BLOCKS, readAll());
  }

  @Test
  public void testBatchesShareASync() throws Exception {
    open();
    long start = System.nanoTime();
    cacheAll();
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
    int syncs = device.syncs.get();
    assertTrue(syncs + " syncs in " + seconds + " s", syncs >= 1 && syncs <= 2 + seconds);
    assertEquals(BLOCKS, readAll());
  }

  /** Nothing would tell whether what is read is what was written. */
  @Test
  public void testWithoutChecksumsEachBatchIsSynced() throws Exception {
    conf.setBoolean("hbase.bucketcache.l2.checksum.enabled", false);
    openFilled();
    assertEquals(BLOCKS, device.syncs.get());
  }

  @Test
  public void testWhatAMapNamesIsSyncedBefore() throws Exception {
    conf.set("hbase.bucketcache.l2.persistent.path", path("map"));
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, TimeUnit.HOURS.toMillis(1));
    openFilled();
    int syncs = device.syncs.get();
    device.syncsFail = true;
    assertThrows(IOException.class, tier::persistToFile);
    assertFalse("not what may be lost", new File(path("map")).exists());
    device.syncsFail = false;
    tier.persistToFile();
    assertTrue(new File(path("map")).exists());
    assertEquals(syncs + 2, device.syncs.get());
    tier.evictBlocksByHfileName(FILE);
    tier.shutdown();
    assertEquals("before the engine is closed", syncs + 3, device.syncs.get());
    tier.shutdown();
    assertEquals(syncs + 3, device.syncs.get());
  }

  @Test
  public void testDisabledTierIsTakenBackEmpty() throws Exception {
    conf.setInt(TOLERATED, 200);
    conf.set(RETRY, "50");
    openFilled();
    tier.fileCacheCompleted(new Path("/table/region/family/" + FILE), 1);
    disable();
    CachedBlockFixture.await(() -> tier.backingMap.isEmpty());
    CachedBlockFixture.await(() -> device.opened.get() > 3);
    assertEquals(0, tier.getBlockCount());
    assertEquals(0, tier.getCurrentSize());
    assertEquals(0, tier.getDataBlockCount());
    assertTrue(tier.getFullyCachedFiles().get().isEmpty());
    assertTrue(tier.getRegionCachedInfo().get().isEmpty());
    assertFalse(read(5));
    offer(5);
    assertFalse(tier.containsBlock(key(5)));

    device.fails(false);
    awaitState(State.WORKING);
    assertEquals(0, readAll());
    cacheAll();
    assertEquals(BLOCKS, readAll());
  }

  @Test
  public void testFileThatVanishedIsMadeAnew() throws Exception {
    for (String persistence : new String[] { null, path("map") }) {
      conf.setInt(TOLERATED, 200);
      conf.set(RETRY, "50");
      if (persistence != null) {
        tearDown();
        conf.set("hbase.bucketcache.l2.persistent.path", persistence);
        conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
      }
      open();
      cacheAll();
      disable();
      CachedBlockFixture.await(() -> device.opened.get() > 2);
      File file = new File(path("cache"));
      assertTrue(file.delete());
      device.fails(false);
      awaitState(State.WORKING);
      assertEquals(tier.getMaxSize(), file.length());
      cacheAll();
      assertEquals(BLOCKS, readAll());
    }
  }

  @Test
  public void testTierStaysDisabledWithoutRetry() throws Exception {
    openAndDisable("0");
    device.fails(false);
    int opened = device.opened.get();
    Thread.sleep(500);
    assertEquals(State.DISABLED, tier.getDeviceState());
    assertEquals(opened, device.opened.get());
    assertFalse(read(1));
  }

  /** Reads work but for the blocks, as where the trial is read from the page cache. */
  @Test
  public void testTrialsThatSucceedDoNotKeepABadDeviceInUse() throws Exception {
    conf.setInt(TOLERATED, 1000);
    conf.set(RETRY, "0");
    openFilled();
    int next = 0;
    while (tier.getDeviceState() != State.DISABLED && next < BLOCKS) {
      device.readsFail = true;
      for (int i = 0; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
        read(next++ % BLOCKS);
      }
      device.readsFail = false;
      CachedBlockFixture.await(() -> tier.getDeviceState() != State.BYPASSED);
    }
    assertEquals(State.DISABLED, tier.getDeviceState());
  }

  @Test
  public void testFullTierIsTriedAsWell() throws Exception {
    conf.set("hbase.bucketcache.l2.acceptfactor", "1");
    open();
    int stored = 0;
    while (tier.getFreeSize() > 0) {
      cache(stored++);
    }
    device.fails(true);
    for (int i = 0; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
      device.readsFail = true;
      read(i);
    }
    assertEquals(State.BYPASSED, tier.getDeviceState());
    // The test allocates the places of all blocks that were evicted for their failed reads.
    long[] taken = new long[DeviceHealth.FAILURES_IN_A_ROW];
    for (int i = 0; i < taken.length; i++) {
      taken[i] = tier.getAllocator().allocateBlock(SIZE);
    }
    device.fails(false);
    awaitState(State.WORKING);
    int found = 0;
    for (int i = 0; i < stored; i++) {
      found += read(i) ? 1 : 0;
    }
    // One made place for the trial.
    assertEquals(stored - DeviceHealth.FAILURES_IN_A_ROW - 1, found);
    for (long offset : taken) {
      tier.getAllocator().freeBlock(offset, SIZE);
    }
  }

  @Test
  public void testTierIsNotTakenBackWhileAReaderHoldsABlock() throws Exception {
    conf.set("hbase.bucketcache.l2.ioengine", "pmem:" + path("cache"));
    conf.set("hbase.bucketcache.l2.acceptfactor", "1");
    conf.setInt(TOLERATED, 100);
    conf.set(RETRY, "50");
    openFilled();
    Cacheable held = tier.getBlock(key(7), true, false, true);
    assertRight(7, held);
    disable();
    CachedBlockFixture.await(() -> tier.backingMap.isEmpty());
    assertRight(7, held);
    int opened = device.opened.get();
    device.fails(false);
    Thread.sleep(500);
    assertEquals("not while a reader is there", State.DISABLED, tier.getDeviceState());
    assertEquals(opened, device.opened.get());
    assertEquals(9216, tier.getAllocator().getUsedSize());
    assertRight(7, held);
    held.release();
    awaitState(State.WORKING);
    cacheAll();
    assertEquals(BLOCKS, readAll());
  }

  @Test
  public void testPlaceThatAReaderHoldsIsNotHandedOutDuringABypass() throws Exception {
    conf.set("hbase.bucketcache.l2.ioengine", "pmem:" + path("cache"));
    conf.set("hbase.bucketcache.l2.acceptfactor", "1");
    openFilled();
    Cacheable held = tier.getBlock(key(7), true, false, true);
    device.fails(true);
    for (int i = 0; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
      read(i);
    }
    tier.evictBlocksByHfileName(FILE);
    device.fails(false);
    awaitState(State.WORKING);
    long places = tier.getAllocator().getTotalSize() / 9216;
    for (int i = 0; tier.getFreeSize() > 0; i++) {
      assertTrue(i <= places);
      cache(1000 + i);
    }
    assertRight(7, held);
    held.release();
    assertEquals(9216, tier.getFreeSize());
  }

  @Test
  public void testShutdownWhileDisabled() throws Exception {
    openAndDisable("60000");
    tier.shutdown();
    assertNoThreadIsLeft();
    assertNull(tier.getBlock(key(1), true, false, true));
  }

  @Test
  public void testShutdownWhileATrialHangs() throws Exception {
    openFilled();
    device.readsFail = true;
    for (int i = 0; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
      read(i);
    }
    tier.evictBlocksByHfileName(FILE);
    device.millisToFail = TimeUnit.HOURS.toMillis(1);
    int reads = device.reads.get();
    CachedBlockFixture.await(() -> device.reads.get() > reads);
    tier.shutdown();
    assertNoThreadIsLeft();
  }

  private static void assertNoThreadIsLeft() {
    CachedBlockFixture.await(() -> Thread.getAllStackTraces().keySet().stream()
      .noneMatch(thread -> thread.getName().endsWith("-DeviceProber")));
  }

  @Test
  public void testRestartAfterAnOutage() throws Exception {
    conf.set("hbase.bucketcache.l2.persistent.path", path("map"));
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    openAndDisable("60000");
    tier.shutdown();
    device.fails(false);
    open();
    assertEquals(0, tier.backingMap.size());
    cacheAll();
    assertEquals(BLOCKS, readAll());
  }
}
