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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.load.ByteRateLimiter;
import org.apache.hadoop.hbase.io.hfile.segment.SegmentCache;
import org.apache.hadoop.hbase.io.hfile.segment.SegmentCacheSettings;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * What an insertion waits for: nothing, if it did not offer to, and if it did, for the next write
 * to a device and not for a segment. The devices do not get on but when they are told to, so that a
 * thread which waited for one of them would do so for ever.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestSegmentInsertionWaits {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentInsertionWaits.class);

  private static final int OFFERS = 400;
  private static final int LARGE_SEGMENT = 4 << 20;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final SimulatedDevices devices = new SimulatedDevices();

  private static StoredBlocksFixture fixture(SimulatedDevices devices, long limit,
    ByteRateLimiter.Clock clock) throws IOException {
    return new StoredBlocksFixture(devices, StoredBlocksFixture
      .settings(StoredBlocksFixture.paths(StoredBlocksFixture.PATH), 0.25, limit), clock);
  }

  /** Offers far more than there is room for. */
  private static void assertSkippedAndCounted(StoredBlocksFixture blocks) {
    long offset = 0;
    for (InsertSource kind : InsertSource.values()) {
      long stored = 0;
      long refusedBefore = blocks.store.metrics().refusals(kind).sum();
      for (int i = 0; i < OFFERS; i++) {
        stored += blocks.offer("f", offset++, kind) ? 1 : 0;
      }
      long refused = blocks.store.metrics().refusals(kind).sum() - refusedBefore;
      assertTrue(kind + ": " + refused, refused > 0);
      assertEquals(kind.toString(), OFFERS - stored, refused);
    }
    assertFalse(blocks.store.hasSpace(InsertSource.READ));
  }

  private static void assertTakesAgain(StoredBlocksFixture blocks) {
    blocks.insert("g", 0);
    CachedBlockFixture.await(() -> blocks.offer("g", 1, InsertSource.READ));
    blocks.awaitQuiet();
    assertEquals(blocks.directory.all().size(), blocks.readAll());
    blocks.close();
    assertEquals(blocks.allocator.getUsedBufferCount(), blocks.allocator.getFreeBufferCount());
  }

  @Test
  public void testNobodyWaitsForAWrite() throws IOException {
    StoredBlocksFixture blocks = fixture(devices, 0, ByteRateLimiter.Clock.SYSTEM).start();
    blocks.medium().blockWrites(true);
    assertSkippedAndCounted(blocks);
    blocks.medium().blockWrites(false);
    assertTakesAgain(blocks);
  }

  /** The cleaner reads what it reclaims. */
  @Test
  public void testNobodyWaitsForTheCleaner() throws IOException {
    StoredBlocksFixture blocks = fixture(devices, 0, ByteRateLimiter.Clock.SYSTEM).recover();
    blocks.medium().blockReads(true);
    // All of the segments are filled, while their writes go on.
    for (long offset = 1000; blocks.store.cleanSegments() > 1; offset++) {
      blocks.insert("f", offset);
    }
    CachedBlockFixture.await(() -> blocks.store.pending() == 0);
    long offset = 0;
    long refused = 0;
    for (InsertSource kind : InsertSource.values()) {
      for (int i = 0; i < OFFERS; i++) {
        refused += blocks.offer("f", offset++, kind) ? 0 : 1;
      }
      assertTrue(blocks.store.metrics().refusals(kind).sum() > 0);
    }
    long counted = 0;
    for (InsertSource kind : InsertSource.values()) {
      counted += blocks.store.metrics().refusals(kind).sum();
    }
    assertEquals(refused, counted);
    blocks.medium().blockReads(false);
    assertTakesAgain(blocks);
  }

  @Test
  public void testNobodyWaitsForTheWriteLimit() throws IOException {
    ByteRateLimiter.Clock stopped = new ByteRateLimiter.Clock() {
      @Override
      public long nanos() {
        return 0;
      }

      @Override
      public long await(Condition condition, long nanos) throws InterruptedException {
        condition.await();
        return 0;
      }
    };
    StoredBlocksFixture blocks = fixture(devices, 1000, stopped).start();
    assertSkippedAndCounted(blocks);
    blocks.store.setWriteLimit(0);
    assertTakesAgain(blocks);
  }

  /** They are inserted as by a read, which is refused before others are. */
  @Test
  public void testVictimsOfL1AreAwaitedUntilTheyAreNotRefused() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    String path = new File(folder.getRoot(), "l2").getPath();
    String engine = SegmentCacheSettings.ENGINE + path;
    SegmentCache cache = new SegmentCache("L2", engine,
      SegmentCacheSettings.of(engine, "hbase.bucketcache.l2.size", 33 << 20, null, conf), conf,
      devices);
    devices.medium(path).blockWrites(true);
    long offset = 0;
    while (cache.metrics().refusals(InsertSource.READ).sum() == 0) {
      CachedBlockFixture.cache(cache, CachedBlockFixture.key("f", offset, BlockType.LEAF_INDEX),
        CachedBlockFixture.block(BlockType.LEAF_INDEX, offset++, 30_000));
    }
    BlockCacheKey victim = CachedBlockFixture.key("f", offset, BlockType.LEAF_INDEX);
    assertTrue("other blocks are not refused", cache.awaitInsertion(victim, 0));
    assertFalse(cache.awaitVictimInsertion(victim, 0));
    devices.medium(path).blockWrites(false);
    assertTrue(cache.awaitVictimInsertion(victim, TimeUnit.MINUTES.toNanos(1)));
    CachedBlockFixture.cache(cache, victim,
      CachedBlockFixture.block(BlockType.LEAF_INDEX, offset, 30_000));
    assertTrue(cache.containsBlock(victim));
    cache.shutdown();
  }

  /** Else it would wait as long as a segment takes, once for each. */
  @Test
  public void testWhoOffersToWaitGetsOnWithEachWrite() throws Exception {
    StoredBlocksFixture blocks = new StoredBlocksFixture(devices,
      new SegmentStoreSettings(StoredBlocksFixture.paths(StoredBlocksFixture.PATH),
        Superblock.HEADER_SIZE + 8L * LARGE_SEGMENT, LARGE_SEGMENT, StoredBlocksFixture.BUFFERS,
        0, 0, 0)).start();
    blocks.store.devices().forEach(device -> device.stallsAfter(TimeUnit.HOURS.toNanos(1)));
    blocks.medium().blockWrites(true);
    AtomicLong offset = new AtomicLong();
    CountDownLatch enough = new CountDownLatch(1);
    Thread inserting = new Thread(() -> {
      while (enough.getCount() > 0) {
        blocks.insert("f", offset.getAndIncrement());
      }
    });
    inserting.start();
    SegmentStoreMetrics metrics = blocks.store.metrics();
    CachedBlockFixture.await(blocks.store::isBehind);
    // The first was written at once, as nothing waited behind it when that began.
    blocks.medium().allowWrites(1);
    CachedBlockFixture.await(() -> metrics.segmentsWritten.sum() == 1);
    // The last write takes what would be two.
    for (int i = 0; i < LARGE_SEGMENT / SegmentWriter.MAX_PACED_WRITE - 2; i++) {
      CachedBlockFixture.await(blocks.store::isBehind);
      long before = metrics.insertions.sum();
      blocks.medium().allowWrites(1);
      CachedBlockFixture.await(() -> metrics.insertions.sum() > before + 10);
      assertEquals("No segment more", 1, metrics.segmentsWritten.sum());
    }
    enough.countDown();
    blocks.medium().blockWrites(false);
    inserting.join();
    assertTakesAgain(blocks);
  }

  /** A clock that advances when a thread waits. */
  private static final class TestClock implements ByteRateLimiter.Clock {
    private long now;

    @Override
    public synchronized long nanos() {
      return now;
    }

    @Override
    public synchronized long await(Condition condition, long nanos) {
      now += nanos;
      return 0;
    }
  }

  private static double seconds(TestClock clock, long start) {
    return (clock.nanos() - start) / (double) TimeUnit.SECONDS.toNanos(1);
  }

  @Test
  public void testStoreWritesNoMoreThanItsLimit() throws IOException {
    long limit = 1 << 20;
    TestClock clock = new TestClock();
    StoredBlocksFixture blocks = new StoredBlocksFixture(new SimulatedDevices(),
      StoredBlocksFixture.settings(StoredBlocksFixture.paths("a", "b"), 0.25, limit), clock)
        .start();
    long start = clock.nanos();
    long offset = 0;
    while (seconds(clock, start) < 10) {
      blocks.insert("f", offset++);
    }
    SegmentStoreMetrics metrics = blocks.store.metrics();
    assertTrue(metrics.writtenBytes.sum() + " bytes in " + seconds(clock, start) + " s",
      metrics.writtenBytes.sum() <= 1.05 * limit * seconds(clock, start));
    assertTrue(metrics.writtenBytes.sum() >= 0.9 * limit * seconds(clock, start));
    assertTrue(metrics.writeAmplification() > 0.9);
    blocks.close();
  }
}
