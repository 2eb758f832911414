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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.cache;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.isWritten;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.FileEvictionGuard;
import org.apache.hadoop.hbase.io.hfile.composite.TierSettings;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;
import org.mockito.Mockito;
import org.slf4j.LoggerFactory;

/** What becomes of the meta blocks that L1 cannot keep. */
@Category({ IOTests.class, MediumTests.class })
public class TestL1BucketCache {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestL1BucketCache.class);

  private static final BlockType META = BlockType.LEAF_INDEX;
  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int SIZE = 4000;
  private static final int POOLED = 1000;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final FileEvictionGuard guard = new FileEvictionGuard();
  private Configuration conf;
  private ByteBuffAllocator pool;
  private First first;
  private Second second;
  private CompositeBucketCache cache;

  /** Runs an action of the test just before a block is inserted. */
  private static final class First extends L1BucketCache {
    private Runnable beforeInsertion = () -> {
    };

    private Runnable beforeMove = () -> {
    };

    First(TierSettings tier, FileEvictionGuard guard) throws IOException {
      super("L1", tier, guard);
    }

    @Override
    public boolean hasSpaceFor(Cacheable block) {
      boolean has = super.hasSpaceFor(block);
      beforeMove.run();
      return has;
    }

    @Override
    public void cacheBlock(BlockCacheKey key, Cacheable block, boolean inMemory) {
      beforeInsertion.run();
      super.cacheBlock(key, block, inMemory);
    }
  }

  private static final class Second extends BucketCacheTier {
    private Runnable beforeInsertion = () -> {
    };

    Second(TierSettings tier) throws IOException {
      super("L2", tier);
    }

    @Override
    public void cacheBlock(BlockCacheKey key, Cacheable block, boolean inMemory) {
      beforeInsertion.run();
      super.cacheBlock(key, block, inMemory);
    }
  }

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(1, 16, "file:" + path("l2"));
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    pool = CachedBlockFixture.pool(conf, POOLED);
  }

  private String path(String name) {
    return new File(folder.getRoot(), name).getPath();
  }

  private void open() throws IOException {
    CompositeBucketCacheSettings settings = CompositeBucketCacheSettings.of(conf);
    first = new First(settings.first(), guard);
    second = new Second(settings.second());
    cache = new CompositeBucketCache(first, second, guard);
  }

  @After
  public void tearDown() throws Exception {
    Set<String> files = new HashSet<>();
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      tier.ramCache.delegate.keySet().forEach(key -> files.add(key.getHfileName()));
      tier.forEach(block -> files.add(block.getFilename()));
    }
    files.forEach(cache::evictBlocksByHfileName);
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      // A writer may still take up a block that has been evicted, and finds that out last.
      await(() -> tier.getAllocator().getUsedSize() == 0 && tier.blocksByHFile.isEmpty()
        && tier.ramCache.isEmpty() && tier.getBlockCount() == 0 && tier.getMetaBlockCount() == 0
        && tier.getMetaBlockSize() == 0);
      // A block counts until its writer has taken it off, which is just after it left the queue.
      await(() -> tier.heapSize() == 0);
    }
    // Every buffer is back: none was lost, none given back twice. A writer lets go last.
    await(() -> pool.getFreeBufferCount() == pool.getUsedBufferCount());
    cache.shutdown();
  }

  private HFileBlock meta(long offset) {
    return block(META, offset, SIZE, pool);
  }

  private void put(BucketCacheTier tier, BlockCacheKey key) throws Exception {
    cache(tier, key, block(key.getBlockType(), key.getOffset(), SIZE, pool));
    await(() -> isWritten(tier, key));
    await(() -> tier.ramCache.isEmpty());
  }

  /** Returns what the eviction for want of space does with one block. */
  private boolean evictForSpace(BlockCacheKey key) {
    return first.evictBucketEntryIfNoRpcReferenced(key, first.backingMap.get(key));
  }

  private void assertHas(BucketCacheTier tier, BlockCacheKey key) {
    Cacheable block = tier.getBlock(key, false, false, false);
    assertNotNull(block);
    HFileBlock expected = block(key.getBlockType(), key.getOffset(), SIZE);
    assertArrayEquals(content(expected), content(block));
    block.release();
  }

  @Test
  public void testMetaThatDoesNotFitSpillsAndNoneIsLost() throws Exception {
    spillsAndLosesNone();
    assertTrue(first.getSpilledCount() > 0);
    assertEquals(0, first.getDroppedCount());
    assertEquals(first.getSpilledBytes(),
      first.getSpilledCount() * (SIZE + 24 + HFileBlock.BLOCK_METADATA_SPACE));
  }

  @Test
  public void testMetaSpillsFromAMappedFileToo() throws Exception {
    conf.set("hbase.bucketcache.l1.ioengine", "mmap:" + path("l1"));
    spillsAndLosesNone();
    assertTrue(first.getSpilledCount() > 0);
  }

  @Test
  public void testMetaSpillsIntoSharedMemoryToo() throws Exception {
    conf.set("hbase.bucketcache.l1.ioengine", "pmem:" + path("l1"));
    conf.set("hbase.bucketcache.l2.ioengine", "offheap");
    spillsAndLosesNone();
    assertTrue(first.getSpilledCount() > 0);
  }

  /** Inserts three times what L1 holds, one block at a time, so that no queue is ever full. */
  private void spillsAndLosesNone() throws Exception {
    open();
    int blocks = 600;
    for (int i = 0; i < blocks; i++) {
      BlockCacheKey key = key(FILE, i, META);
      cache(cache, key, meta(i));
      await(() -> first.ramCache.isEmpty());
    }
    assertTrue(first.getCurrentSize() <= first.getAllocator().getTotalSize());
    for (int i = 0; i < blocks; i++) {
      BlockCacheKey key = key(FILE, i, META);
      Cacheable block = cache.getBlock(key, true, false, true);
      assertNotNull("block " + i, block);
      assertArrayEquals(content(block(META, i, SIZE)), content(block));
      block.release();
    }
    assertEquals(blocks, cache.getStats().getHitCount());
    assertEquals(0, cache.getStats().getMissCount());
  }

  @Test
  public void testPlaceOfAVictimIsFreeBeforeTheVictimCacheHasWrittenIt() throws Exception {
    open();
    second.stopWriterThreads();
    BlockCacheKey key = key(FILE, 0, META);
    put(first, key);
    assertTrue(evictForSpace(key));
    assertEquals(0, first.getAllocator().getUsedSize());
    assertTrue("still in the queue", second.ramCache.containsKey(key));
    assertHas(second, key);
    assertEquals(1, first.getSpilledCount());
  }

  @Test
  public void testLookupsNeverMissABlockThatMoves() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(first, key);
    second.beforeInsertion = () -> assertTrue(first.containsBlock(key));
    assertTrue(evictForSpace(key));
    assertFalse(first.containsBlock(key));
    assertTrue(second.containsBlock(key));
  }

  @Test
  public void testVictimsAreDroppedWhileTheVictimCacheDoesNotGetOn() throws Exception {
    conf.set("hbase.bucketcache.l2.writer.threads", "1");
    conf.set("hbase.bucketcache.l2.writer.queuelength", "1");
    open();
    second.stopWriterThreads();
    for (int i = 0; i < 20; i++) {
      put(first, key(FILE, i, META));
    }
    for (int i = 0; i < 20; i++) {
      assertTrue(evictForSpace(key(FILE, i, META)));
    }
    assertEquals(1, first.getSpilledCount());
    assertEquals(19, first.getDroppedCount());
    assertEquals(0, first.getAllocator().getUsedSize());
  }

  @Test
  public void testVictimCacheIsWaitedForWhileItGetsOn() throws Exception {
    open();
    VictimTransfer transfer = new VictimTransfer(LoggerFactory.getLogger(getClass()));
    BlockCacheKey key = key(FILE, 0, META);
    Cacheable copy = mock(Cacheable.class);
    long wait = TimeUnit.MILLISECONDS.toNanos(VictimTransfer.VICTIM_WAIT_MS);
    CacheTier victims = mock(CacheTier.class);
    Mockito.when(victims.containsBlock(key)).thenReturn(true);
    Mockito.when(victims.awaitVictimInsertion(key, wait)).thenReturn(true, false, true);
    Mockito.when(victims.awaitVictimInsertion(key, 0)).thenReturn(false, true);
    assertTrue(transfer.insert(victims, key, copy));
    assertFalse("waits for nothing", transfer.insert(victims, key, copy));
    assertFalse("does not wait again", transfer.insert(victims, key, copy));
    assertTrue("there is space", transfer.insert(victims, key, copy));
    assertTrue("waits again", transfer.insert(victims, key, copy));
    verify(victims, Mockito.times(3)).awaitVictimInsertion(key, wait);
    verify(victims, Mockito.times(2)).awaitVictimInsertion(key, 0);
    verify(victims, Mockito.times(3)).cacheBlock(key, copy);
    assertEquals(3, transfer.getSpilledCount());
    assertEquals(2, transfer.getDroppedCount());
  }

  @Test
  public void testInterruptEndsTheWaitAndStaysSet() throws Exception {
    conf.set("hbase.bucketcache.l2.writer.threads", "1");
    conf.set("hbase.bucketcache.l2.writer.queuelength", "1");
    open();
    second.stopWriterThreads();
    put(first, key(FILE, 0, META));
    put(first, key(FILE, 1, META));
    assertTrue(evictForSpace(key(FILE, 0, META)));
    Thread.currentThread().interrupt();
    assertTrue(evictForSpace(key(FILE, 1, META)));
    assertTrue(Thread.interrupted());
    assertEquals(1, first.getDroppedCount());
  }

  @Test
  public void testBlockWithoutAPlaceInTheQueueGoesToTheVictimCache() throws Exception {
    conf.set("hbase.bucketcache.l1.writer.threads", "1");
    conf.set("hbase.bucketcache.l1.writer.queuelength", "1");
    open();
    first.stopWriterThreads();
    for (int i = 0; i < 5; i++) {
      cache(cache, key(FILE, i, META), meta(i));
    }
    assertTrue(first.containsBlock(key(FILE, 0, META)));
    for (int i = 1; i < 5; i++) {
      BlockCacheKey key = key(FILE, i, META);
      assertFalse(first.containsBlock(key));
      assertHas(second, key);
    }
    assertEquals(4, first.getRejectedCount());
    assertEquals(4, first.getStats().getFailedInserts());
  }

  @Test
  public void testBlockInUseByAReaderStays() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(first, key);
    Cacheable inUse = cache.getBlock(key, true, false, true);
    assertFalse(evictForSpace(key));
    assertTrue(first.containsBlock(key));
    assertFalse(second.containsBlock(key));
    inUse.release();
    assertTrue(evictForSpace(key));
    assertTrue(second.containsBlock(key));
  }

  @Test
  public void testBlockThatTheVictimCacheHasIsNotWrittenAgain() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(first, key);
    put(second, key);
    second.beforeInsertion = () -> {
      throw new AssertionError("There is a copy already");
    };
    assertTrue(evictForSpace(key));
    assertEquals(0, first.getSpilledCount());
    assertTrue(second.containsBlock(key));
  }

  @Test
  public void testOnlyMetaBlocksSpill() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, BlockType.DATA);
    put(first, key);
    assertTrue(evictForSpace(key));
    assertFalse(second.containsBlock(key));
  }

  @Test
  public void testBlockOfAColdFileGoesFromEverywhere() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(first, key);
    assertTrue(first.evictBlockIfNoRpcReferenced(key));
    assertFalse(first.containsBlock(key));
    assertFalse(second.containsBlock(key));
  }

  @Test
  public void testFileEvictedWhileItsBlockSpillsLeavesNothing() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(first, key);
    // After the copy was made, both tiers are told to evict, and then the copy arrives.
    second.beforeInsertion = () -> cache.evictBlocksByHfileName(FILE);
    evictForSpace(key);
    assertFalse(first.containsBlock(key));
    assertFalse(second.containsBlock(key));
  }

  @Test
  public void testBlockDoesNotSpillWhileItsFileIsEvicted() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(first, key);
    guard.evictionStarts(FILE);
    assertTrue(evictForSpace(key));
    assertFalse(second.containsBlock(key));
    guard.evictionEnds(FILE);
  }

  @Test
  public void testFileEvictedWhileItsBlockComesBackLeavesNothing() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(second, key);
    first.beforeInsertion = () -> cache.evictBlocksByHfileName(FILE);
    Cacheable block = cache.getBlock(key, true, false, true);
    assertNotNull(block);
    assertEquals(META, block.getBlockType());
    block.release();
    assertFalse(first.containsBlock(key));
    assertFalse(second.containsBlock(key));
    assertEquals(0, cache.getReturnedBlockCount());
  }

  @Test
  public void testBlockEvictedWhileItComesBackLeavesNothing() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(second, key);
    first.beforeInsertion = () -> cache.evictBlock(key);
    cache.getBlock(key, true, false, true).release();
    assertFalse(first.containsBlock(key));
    assertFalse(second.containsBlock(key));
  }

  @Test
  public void testBlocksThatWaitToBeWrittenGoWithTheirFile() throws Exception {
    open();
    first.stopWriterThreads();
    second.stopWriterThreads();
    for (int i = 0; i < 4; i++) {
      BlockType type = i % 2 == 0 ? META : BlockType.DATA;
      cache(cache, key(FILE, i, type), block(type, i, SIZE, pool));
      cache(cache, key("other", i, type), block(type, i, SIZE, pool));
    }
    assertEquals(3, cache.evictBlocksRangeByHfileName(FILE, 0, 2));
    assertEquals(1, cache.evictBlocksByHfileName(FILE));
    for (int i = 0; i < 4; i++) {
      assertNull(cache.getBlock(key(FILE, i, META), true, false, true));
      assertTrue(first.containsBlock(key("other", i, META))
        || second.containsBlock(key("other", i, META)));
    }
  }

  @Test
  public void testBlockEvictedWhileItWaitsDoesNotHoldUpTheOthers() throws Exception {
    open();
    ByteBuffer metadata = ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE);
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      tier.stopWriterThreads();
      for (int i = 0; i < 6; i++) {
        cache(tier, key(FILE, i, META), meta(i));
      }
      assertTrue(tier.evictBlock(key(FILE, 2, META)));
      assertTrue(tier.evictBlock(key(FILE, 3, META)));
      cache(tier, key(FILE, 3, META), meta(3));
      List<BucketCache.RAMQueueEntry> entries = new ArrayList<>();
      tier.writerQueues.forEach(queue -> queue.drainTo(entries));
      assertEquals(7, entries.size());
      tier.doDrain(entries, metadata);
      assertTrue(tier.ramCache.isEmpty());
      assertFalse(tier.containsBlock(key(FILE, 2, META)));
      for (int i : new int[] { 0, 1, 3, 4, 5 }) {
        assertHas(tier, key(FILE, i, META));
      }
    }
  }

  @Test
  public void testComingBackNeverEvicts() throws Exception {
    conf.set("hbase.bucketcache.bucket.sizes", "5120");
    open();
    HFileBlock another = block(META, 0, SIZE);
    for (int i = 0; first.hasSpaceFor(another); i++) {
      put(first, key("other", i, META));
    }
    assertEquals(2, cache.evictBlocksRangeByHfileName("other", 0, 1));
    for (int i = 0; i < 50; i++) {
      put(second, key(FILE, i, META));
      for (int times = 0; times < 3; times++) {
        cache.getBlock(key(FILE, i, META), true, false, true).release();
      }
    }
    await(() -> first.ramCache.isEmpty());
    assertEquals(0, first.getStats().getEvictedCount());
    assertEquals("the two places that were free", 2, cache.getReturnedBlockCount());
  }

  /** It would be inserted into L2 again, where no thread would evict it. */
  @Test
  public void testBlockThatFindsNoPlaceInTheQueueDoesNotOutliveItsFile() throws Exception {
    conf.setInt("hbase.bucketcache.l1.writer.threads", 1);
    conf.setInt("hbase.bucketcache.l1.writer.queuelength", 1);
    open();
    BlockCacheKey key = key(FILE, 0, META);
    put(second, key);
    first.stopWriterThreads();
    cache(first, key("other", 0, META), meta(0));
    for (Runnable eviction : new Runnable[] { () -> cache.evictBlocksByHfileName(FILE),
      () -> cache.evictBlock(key) }) {
      first.beforeMove = eviction;
      cache.getBlock(key, true, false, true).release();
      first.beforeMove = () -> {
      };
      assertFalse(first.containsBlock(key));
      assertFalse(second.containsBlock(key));
      put(second, key);
    }
    first.beforeInsertion = () -> cache.evictBlocksByHfileName(FILE);
    cache.getBlock(key, true, false, true).release();
    assertFalse(first.containsBlock(key));
    assertFalse(second.containsBlock(key));
    first.beforeInsertion = () -> {
    };
  }

  @Test
  public void testBlocksComeBackAfterAnotherThreadHasMadeRoom() throws Exception {
    open();
    // A thread that found no place calls this, too, after another one made some.
    first.freeSpace("Full!");
    BlockCacheKey key = key(FILE, 0, META);
    put(second, key);
    cache.getBlock(key, true, false, true).release();
    assertTrue(first.containsBlock(key));
  }

  @Test
  public void testNothingComesBackForAWhileAfterOneBucketSizeWasFull() throws Exception {
    open();
    // 26 of the 28 buckets hold four large blocks each, and one block of each bucket is evicted.
    for (int i = 0; i < 104; i++) {
      cache(first, key("large", i, META), block(META, i, 8000, pool));
      await(() -> first.ramCache.isEmpty());
    }
    for (int i = 0; i < 104; i += 4) {
      assertTrue(first.evictBlock(key("large", i, META)));
    }
    for (int i = 0; i < 14; i++) {
      put(first, key("small", i, META));
    }
    assertTrue("there is space", first.hasSpaceFor(block(META, 0, SIZE)));
    // What the writer of the 15th would do.
    first.freeSpace("Full!");
    assertFalse(first.hasSpaceFor(block(META, 0, SIZE)));
    BlockCacheKey key = key(FILE, 0, META);
    put(second, key);
    cache.getBlock(key, true, false, true).release();
    assertFalse(first.containsBlock(key));
  }

  @Test
  public void testVictimCacheIsSetOnceAndIsATier() throws Exception {
    open();
    assertThrows(IllegalArgumentException.class, () -> first.setVictimCache(second));
    First other = new First(CompositeBucketCacheSettings.of(conf).first(), guard);
    LruBlockCache lru = new LruBlockCache(1 << 20, 1 << 16);
    assertThrows(IllegalArgumentException.class, () -> other.setVictimCache(lru));
    lru.shutdown();
    other.shutdown();
  }

  @Test
  public void testTierThatIsNotPersistedLeavesTheCommonFlagAlone() throws Exception {
    BucketCache.isCacheInconsistent.set(false);
    conf.set("hbase.bucketcache.l1.ioengine", "pmem:" + path("l1"));
    conf.set("hbase.bucketcache.l2.persistent.path", path("map"));
    // No persister may reset the flag meanwhile.
    conf.set("hbase.bucketcache.persist.intervalinmillis", "600000");
    open();
    put(first, key(FILE, 0, META));
    assertFalse(BucketCache.isCacheInconsistent.get());
    put(second, key(FILE, 1, BlockType.DATA));
    assertTrue(BucketCache.isCacheInconsistent.get());
  }

  @Test
  public void testMetaBlocksOfARecoveredTierAreCounted() throws Exception {
    conf.set("hbase.bucketcache.l2.persistent.path", path("map"));
    open();
    put(second, key(FILE, 0, BlockType.DATA));
    put(second, key(FILE, 1, META));
    cache.shutdown();
    long bytes = second.getMetaBlockSize();
    // A persistent tier keeps its map when it shuts down, and with it the map's references.
    second.backingMap.values().forEach(BucketEntry::markAsEvicted);
    open();
    assertEquals(1, second.getMetaBlockCount());
    assertEquals(bytes, second.getMetaBlockSize());
    assertEquals(1, second.getDataBlockCount());
    assertHas(second, key(FILE, 0, BlockType.DATA));
    assertHas(second, key(FILE, 1, META));
  }

  @Test
  public void testPlainBucketCacheReadsWhatASecondTierKept() throws Exception {
    conf.set("hbase.bucketcache.l2.persistent.path", path("map"));
    open();
    put(second, key(FILE, 0, BlockType.DATA));
    put(second, key(FILE, 1, META));
    cache.shutdown();
    second.backingMap.values().forEach(BucketEntry::markAsEvicted);
    BucketCache plain = new BucketCache("file:" + path("l2"), 16 << 20, 1 << 16,
      new int[] { 5120, 9216 }, 3, 64, path("map"), 60_000, HBaseConfiguration.create());
    for (BlockCacheKey key : new BlockCacheKey[] { key(FILE, 0, BlockType.DATA),
      key(FILE, 1, META) }) {
      Cacheable block = plain.getBlock(key, false, false, false);
      assertArrayEquals(content(block(key.getBlockType(), key.getOffset(), SIZE)),
        content(block));
      block.release();
    }
    assertEquals(2, plain.evictBlocksByHfileName(FILE));
    plain.shutdown();
    open();
  }
}
