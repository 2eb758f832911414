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

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.FileEvictionGuard;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencyPromotionPolicy;
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

/** Data blocks that come into L1, what they may displace there, and how they leave. */
@Category({ IOTests.class, MediumTests.class })
public class TestDataPromotion {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDataPromotion.class);

  private static final BlockType META = BlockType.LEAF_INDEX;
  private static final String PROMOTION = "hbase.bucketcache.composite.promotion";
  private static final String DATA_MAX = "hbase.bucketcache.composite.l1.data.max";
  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final String REGION = "fedcba9876543210fedcba9876543210";
  private static final int SIZE = 4000;
  private static final int LARGE_SIZE = 8500;
  private static final int ITEM_SIZE = 5120;
  private static final int POOLED = 1000;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private Configuration conf;
  private ByteBuffAllocator pool;
  private L1BucketCache first;
  private BucketCacheTier second;
  private CompositeBucketCache cache;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(2, 32, "file:" + path("l2"));
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    conf.set("hbase.blockcache.minblocksize", "4096");
    pool = CachedBlockFixture.pool(conf, POOLED);
  }

  private String path(String name) {
    return new File(folder.getRoot(), name).getPath();
  }

  private void open() {
    open((CompositeBucketCache) BlockCacheFactory.createBlockCache(conf));
  }

  private void open(CompositeBucketCache opened) {
    cache = opened;
    first = (L1BucketCache) cache.getFirstLevelCache();
    second = (BucketCacheTier) cache.getSecondLevelCache();
  }

  @After
  public void tearDown() {
    if (cache == null) {
      return;
    }
    settle();
    assertPolicyKnowsWhatIsThere();
    Set<String> files = new HashSet<>();
    cache.forEach(block -> files.add(block.getFilename()));
    files.forEach(cache::evictBlocksByHfileName);
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      // What is on its way to the other tier may be there a little longer.
      await(() -> tier.getAllocator().getUsedSize() == 0);
      assertTrue(tier.blocksByHFile.isEmpty());
      assertEquals(0, tier.getBlockCount());
      await(() -> tier.heapSize() == 0);
    }
    assertEquals(0, first.getMetaItemBytes());
    FrequencyPromotionPolicy policy = policy();
    assertEquals(0, policy.getBlockCount());
    assertEquals(0, policy.getUsedBytes());
    cache.shutdown();
    // Every pooled buffer is back, once the writers have let go.
    await(() -> pool.getUsedBufferCount() == pool.getFreeBufferCount());
  }

  private FrequencyPromotionPolicy policy() {
    return first.setPromotedShare(1);
  }

  private void settle() {
    await(() -> first.ramCache.isEmpty() && second.ramCache.isEmpty());
    // A block leaves the queue's map before its end is told.
    await(() -> policy().getBlockCount() == dataInFirst());
  }

  private long dataInFirst() {
    return first.backingMap.values().stream().filter(entry -> !entry.metaBlock).count();
  }

  private void assertPolicyKnowsWhatIsThere() {
    FrequencyPromotionPolicy policy = policy();
    assertEquals(dataInFirst(), policy.getBlockCount());
    assertEquals(first.backingMap.values().stream().filter(entry -> !entry.metaBlock)
      .mapToLong(entry -> first.bucketSizeFor(entry.getLength())).sum(), policy.getUsedBytes());
  }

  private BlockCacheKey data(long offset) {
    return key(FILE, offset, BlockType.DATA);
  }

  private void put(BlockCacheKey key) {
    put(key, SIZE);
  }

  private void put(BlockCacheKey key, int size) {
    cache(cache, key, block(key.getBlockType(), key.getOffset(), size, pool));
    await(() -> isWritten(cache, key));
  }

  private void putData(int blocks) {
    for (int i = 0; i < blocks; i++) {
      put(data(i));
    }
  }

  /** Reads a block as a get does, and lets the writers of L1 finish. */
  private void read(BlockCacheKey key) {
    Cacheable block = cache.getBlock(key, true, false, true);
    assertNotNull(block);
    block.release();
    await(() -> first.ramCache.isEmpty());
  }

  private long hitsInFirst() {
    return first.getStats().getHitCount();
  }

  @Test
  public void testDataAskedForIsServedFromTheFirstTier() {
    open();
    for (BlockType type : new BlockType[] { BlockType.DATA, BlockType.ENCODED_DATA }) {
      long before = hitsInFirst();
      BlockCacheKey key = key(FILE, type.ordinal(), type);
      put(key);
      assertFalse(first.containsBlock(key));
      read(key);
      assertTrue(first.isAlreadyCached(key).get());
      assertTrue("L2 keeps its copy", second.containsBlock(key));
      Cacheable block = cache.getBlock(key, true, false, true);
      assertArrayEquals(content(block(type, key.getOffset(), SIZE)), content(block));
      block.release();
      assertEquals(before + 1, hitsInFirst());
    }
    assertEquals(2, policy().getPromotedCount());
    assertEquals(0, first.getMetaBlockCount());
    assertEquals(2, first.getDataBlockCount());
  }

  @Test
  public void testDataAskedForUnderAnotherTypeIsPromotedAsData() {
    open();
    BlockCacheKey key = data(0);
    put(key);
    read(key(FILE, 0, META));
    assertTrue(first.isAlreadyCached(key).get());
    assertEquals(0, first.getMetaBlockCount());
    assertEquals(1, policy().getBlockCount());
  }

  @Test
  public void testNothingIsPromotedWithNone() {
    conf.set(PROMOTION, "none");
    open();
    put(data(0));
    for (int i = 0; i < 10; i++) {
      read(data(0));
    }
    assertEquals(0, hitsInFirst());
    assertFalse(first.containsBlock(data(0)));
  }

  @Test
  public void testPromotionFollowsTheConfigurationAtRunTime() {
    conf.set(PROMOTION, "none");
    open();
    putData(10);
    read(data(0));
    assertEquals(0, first.getDataBlockCount());
    Configuration changed = new Configuration(conf);
    changed.set(PROMOTION, "frequency");
    cache.onConfigurationChange(changed);
    for (int i = 0; i < 10; i++) {
      read(data(i));
    }
    assertEquals(10, first.getDataBlockCount());
    cache.onConfigurationChange(conf);
    assertEquals(0, first.getDataBlockCount());
    read(data(0));
    assertEquals(0, first.getDataBlockCount());
    changed.set(PROMOTION, "sometimes");
    changed.set("hbase.bucketcache.l1.acceptfactor", "0.86");
    String message = assertThrows(IllegalArgumentException.class,
      () -> cache.onConfigurationChange(changed)).getMessage();
    assertEquals(
      PROMOTION + " is sometimes; must be frequency or none. Set one of these, or remove the key "
        + "for the default of frequency.",
      message);
    assertEquals("nothing else is changed", 0.95f, first.getAcceptableFactor(), 0);
    read(data(0));
    assertEquals(0, first.getDataBlockCount());
  }

  @Test
  public void testDataTakesNoMoreThanItsShare() {
    conf.set(DATA_MAX, "0.25");
    open();
    putData(400);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 400; i++) {
        read(data(i));
      }
    }
    long total = first.getAllocator().getTotalSize();
    assertTrue(first.getCurrentSize() <= total / 4);
    assertTrue(first.getCurrentSize() > total / 4 - 2 * ITEM_SIZE);
    Configuration changed = new Configuration(conf);
    changed.set(DATA_MAX, "0.1");
    cache.onConfigurationChange(changed);
    assertTrue(first.getCurrentSize() <= total / 10);
  }

  private void fillWithData(int blocks) {
    putData(blocks);
    for (int i = 0; i < blocks; i++) {
      read(data(i));
    }
    assertTrue(first.getCurrentSize() > 0.85 * first.acceptableSize());
  }

  private void metaTakesTheRoomOfData(int metaSize) {
    open();
    fillWithData(500);
    long taken = 0;
    int blocks = 0;
    // The loop inserts what fits beside the buckets that the allocator keeps for the other size.
    while (taken < 0.9 * first.acceptableSize()) {
      BlockCacheKey key = key(REGION, blocks, META);
      put(key, metaSize);
      await(() -> first.ramCache.isEmpty());
      assertTrue("block " + blocks, first.isAlreadyCached(key).get());
      blocks++;
      taken += first.bucketSizeFor(metaSize + 64);
    }
    assertEquals(blocks, first.getMetaBlockCount());
    assertEquals(0, first.getSpilledCount());
    assertEquals(0, first.getDroppedCount());
    assertEquals(0, first.getRejectedCount());
    assertTrue(policy().getDemotedCount() > 0);
  }

  @Test
  public void testMetaTakesTheRoomOfDataOfItsSize() {
    metaTakesTheRoomOfData(SIZE);
  }

  @Test
  public void testMetaTakesTheRoomOfDataOfAnotherSize() {
    metaTakesTheRoomOfData(8500);
  }

  @Test
  public void testDataDoesNotTakeTheRoomOfMeta() {
    open();
    int blocks = fillWithMeta().size();
    putData(400);
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 400; i++) {
        read(data(i));
      }
    }
    assertEquals(blocks, first.getMetaBlockCount());
    assertEquals(0, first.getSpilledCount());
    assertEquals(0, first.getStats().getEvictedCount());
    // What meta blocks leave is room for data again.
    cache.evictBlocksByHfileName(REGION);
    for (int i = 0; i < 100; i++) {
      read(data(i));
    }
    assertTrue(first.getDataBlockCount() > 90);
  }

  /** Fills L1 with meta blocks of a size. */
  private List<BlockCacheKey> fillWithMeta() {
    List<BlockCacheKey> keys = new ArrayList<>();
    for (HFileBlock meta = block(META, 0, SIZE); first.hasSpaceFor(meta);) {
      keys.add(key(REGION, keys.size(), META));
      put(keys.get(keys.size() - 1));
      await(() -> first.ramCache.isEmpty());
    }
    return keys;
  }

  private void endIdlePeriod() {
    try {
      first.idleMeta().periodEnds();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void readAll(List<BlockCacheKey> keys) {
    keys.forEach(this::read);
  }

  @Test
  public void testMetaThatNobodyAsksForGivesWayToData() {
    open();
    List<BlockCacheKey> meta = fillWithMeta();
    List<BlockCacheKey> dead = meta.subList(0, meta.size() / 2);
    List<BlockCacheKey> live = meta.subList(meta.size() / 2, meta.size());
    List<BlockCacheKey> wanted = put(0, 100, SIZE);
    // The idle periods end here, not in a thread, so that live blocks are read in each period,
    // however slow the machine is.
    await(() -> {
      readAll(live);
      readAll(wanted);
      endIdlePeriod();
      return wanted.stream().allMatch(key -> first.isAlreadyCached(key).get());
    });
    live.forEach(key -> assertTrue("asked for", first.isAlreadyCached(key).get()));
    List<BlockCacheKey> gone = new ArrayList<>(dead);
    gone.removeIf(key -> first.isAlreadyCached(key).get());
    assertTrue(gone.size() + " are gone", gone.size() >= 90);
    assertEquals(gone.size(), gauge("IdleMetaEvictedCount"));
    assertEquals(gone.size(), first.getSpilledCount());
    assertEquals(0, first.getDroppedCount());
    // They are in L2, and promoted again when they are read.
    readAll(gone);
    gone.forEach(key -> assertTrue("back", first.isAlreadyCached(key).get()));
    assertEquals(gone.size(), cache.getReturnedBlockCount());
  }

  @Test
  public void testMetaThatNobodyAsksForGivesItsBucketsToDataOfAnotherSize() {
    openWithLargeBuckets();
    fillWithMeta();
    List<BlockCacheKey> wanted = put(0, 60, LARGE_SIZE);
    first.setMetaIdleMs(400);
    await(() -> {
      readAll(wanted);
      return wanted.stream().allMatch(key -> first.isAlreadyCached(key).get());
    });
  }

  private void readForASecond(List<BlockCacheKey> keys) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
    while (System.nanoTime() < end) {
      readAll(keys);
    }
  }

  private void assertMetaStays(List<BlockCacheKey> wanted) {
    List<BlockCacheKey> meta = fillWithMeta();
    readForASecond(wanted);
    assertEquals(0, gauge("IdleMetaEvictedCount"));
    meta.forEach(key -> assertTrue(first.isAlreadyCached(key).get()));
  }

  @Test
  public void testMetaStaysForGoodIfItIsNeverTakenForIdle() {
    open();
    first.setMetaIdleMs(200);
    first.setMetaIdleMs(0);
    assertMetaStays(put(0, 100, SIZE));
  }

  @Test
  public void testMetaThatNobodyAsksForStaysIfNobodyWantsItsPlace() {
    open();
    first.setMetaIdleMs(200);
    put(0, 100, SIZE);
    assertMetaStays(new ArrayList<>());
  }

  @Test
  public void testMetaThatNobodyAsksForStaysIfDataMayNotHaveItsPlace() {
    conf.set(DATA_MAX, "0.1");
    open();
    List<BlockCacheKey> wanted = put(0, 100, SIZE);
    readAll(wanted);
    first.setMetaIdleMs(200);
    for (int i = 0; i < 100; i++) {
      put(key(REGION, i, META));
    }
    readForASecond(wanted);
    assertEquals(100, first.getMetaBlockCount());
    assertEquals(0, gauge("IdleMetaEvictedCount"));
  }

  @Test
  public void testHowLongMetaStaysFollowsTheConfigurationAtRunTime() {
    conf.set("hbase.bucketcache.composite.l1.meta.idle.ms", "0");
    open();
    fillWithMeta();
    List<BlockCacheKey> wanted = put(0, 100, SIZE);
    readAll(wanted);
    conf.set("hbase.bucketcache.composite.l1.meta.idle.ms", "1000");
    cache.onConfigurationChange(conf);
    await(() -> {
      readAll(wanted);
      return gauge("IdleMetaEvictedCount") > 0;
    });
  }

  @Test
  public void testMetaComesBackInPlaceOfData() {
    open();
    fillWithData(500);
    BlockCacheKey key = key(REGION, 0, META);
    cache(second, key, block(META, 0, SIZE, pool));
    await(() -> isWritten(second, key));
    assertEquals(true, first.blockFitsIntoTheCache(block(META, 0, SIZE)).get());
    read(key);
    assertTrue(first.isAlreadyCached(key).get());
    assertEquals(1, cache.getReturnedBlockCount());
  }

  @Test
  public void testBlocksOfASizeThatCameLaterFindPlaces() {
    open();
    putData(400);
    for (int i = 0; i < 400; i++) {
      read(data(i));
    }
    cache.evictBlocksRangeByHfileName(FILE, 0, 300);
    for (int i = 1000; i < 1100; i++) {
      put(data(i), 8500);
    }
    for (int round = 0; round < 8; round++) {
      for (int i = 1000; i < 1100; i++) {
        read(data(i));
      }
    }
    long large = first.backingMap.values().stream().filter(entry -> entry.getLength() > 8000)
      .count();
    assertTrue("found " + large, large >= 4);
  }

  /** Room for 52 small blocks or 28 large ones in each of 15 buckets. */
  private void openWithLargeBuckets() {
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216,66560");
    conf.set("hbase.bucketcache.l1.size", "4");
    open();
  }

  private List<BlockCacheKey> put(int from, int to, int size) {
    List<BlockCacheKey> keys = new ArrayList<>();
    for (int i = from; i < to; i++) {
      keys.add(data(i));
      put(data(i), size);
    }
    return keys;
  }

  private long gauge(String name) {
    AtomicLong value = new AtomicLong();
    first.forEachMetric((kind, gauge, of) -> {
      if (gauge.equals(name)) {
        value.set(of.getAsLong());
      }
    });
    return value.get();
  }

  @Test
  public void testBlocksOfAnotherSizeTakeTheBucketsOfThoseThatNobodyWants() {
    openWithLargeBuckets();
    // Their file is not closed, as when a table is dropped or moves away. All were hot.
    List<BlockCacheKey> old = put(0, 700, SIZE);
    for (int round = 0; round < 20; round++) {
      old.forEach(this::read);
    }
    long before = policy().getBlockCount();
    assertTrue(before > 650);
    List<BlockCacheKey> wanted = put(1000, 1060, LARGE_SIZE);
    await(() -> {
      long hits = hitsInFirst();
      wanted.forEach(this::read);
      return hitsInFirst() - hits == wanted.size();
    });
    long reassigned = gauge("ReassignedBucketCount");
    assertTrue("two more buckets were needed", reassigned >= 2);
    assertTrue("a bucket has 52 of the others; those of other buckets stay",
      policy().getBlockCount() >= before - 52 * reassigned);
  }

  @Test
  public void testBucketsStayWithBlocksThatAreWantedMore() {
    openWithLargeBuckets();
    List<BlockCacheKey> hot = put(0, 700, SIZE);
    for (int round = 0; round < 5; round++) {
      hot.forEach(this::read);
    }
    assertTrue(policy().getBlockCount() > 650);
    List<BlockCacheKey> others = put(1000, 1300, LARGE_SIZE);
    AtomicInteger turn = new AtomicInteger();
    Set<Thread> looked = new HashSet<>();
    await(() -> {
      hot.forEach(this::read);
      // Each is read, but a fifth as often.
      int from = turn.getAndIncrement() % 5 * 60;
      others.subList(from, from + 60).forEach(this::read);
      Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().endsWith("-BucketCacheReassign")).forEach(looked::add);
      // The first has made its decisions once there is another.
      return looked.size() > 1;
    });
    assertTrue("there was a shortage", gauge("UnplacedPromotionCount") > 0);
    assertEquals(0, gauge("ReassignedBucketCount"));
  }

  @Test
  public void testScanOfBlocksOfAnotherSizeTakesNoBucket() {
    openWithLargeBuckets();
    List<BlockCacheKey> idle = put(0, 700, SIZE);
    idle.forEach(this::read);
    List<BlockCacheKey> scanned = put(1000, 2000, LARGE_SIZE);
    long start = System.nanoTime();
    for (BlockCacheKey key : scanned) {
      read(key);
      // The scan lasts longer than the decision takes.
      while (System.nanoTime() - start < (key.getOffset() - 1000) * 2_500_000) {
        Thread.yield();
      }
    }
    assertTrue("there was a shortage", gauge("UnplacedPromotionCount") > 0);
    assertEquals(0, gauge("ReassignedBucketCount"));
  }

  @Test
  public void testLookupsThatDoNotAskDoNotPromote() {
    open();
    put(data(0));
    for (int i = 0; i < 5; i++) {
      // A prefetch, a compaction or a scan that is not to cache, and a reference read like this.
      cache.getBlock(data(0), true, false, false).release();
      cache.getBlock(data(0), false, false, true).release();
      cache.getBlock(key(FILE + "." + REGION, 0, BlockType.DATA), true, false, true).release();
    }
    assertFalse(first.containsBlock(data(0)));
    assertEquals(0, policy().getPromotedCount() + policy().getRejectedCount());
  }

  @Test
  public void testDemotionWritesNothing() {
    open();
    fillWithData(500);
    long used = second.getAllocator().getUsedSize();
    assertTrue(policy().evict(20 * ITEM_SIZE) >= 20 * ITEM_SIZE);
    settle();
    assertTrue(policy().getDemotedCount() >= 20);
    assertEquals(0, first.getSpilledCount() + first.getDroppedCount());
    assertEquals(used, second.getAllocator().getUsedSize());
  }

  @Test
  public void testBlockInUseByAReaderIsNotDemoted() {
    open();
    put(data(0));
    read(data(0));
    Cacheable block = cache.getBlock(data(0), true, false, true);
    assertEquals(0, policy().evict(ITEM_SIZE));
    assertTrue(first.containsBlock(data(0)));
    block.release();
    assertEquals(ITEM_SIZE, policy().evict(ITEM_SIZE));
    assertFalse(first.containsBlock(data(0)));
  }

  @Test
  public void testPromotionNeedsNoWriterThread() throws Exception {
    open();
    putData(5);
    first.stopWriterThreads();
    for (int i = 0; i < 5; i++) {
      cache.getBlock(data(i), true, false, true).release();
      assertTrue(first.isAlreadyCached(data(i)).get());
    }
    assertEquals(5, policy().getBlockCount());
    assertEquals(5, first.getBlockCount());
    assertTrue(first.ramCache.isEmpty());
  }

  @Test
  public void testBytesOfPromotedBlocksAreCounted() {
    open();
    putData(5);
    for (int i = 0; i < 5; i++) {
      read(data(i));
    }
    long bytes = 5 * block(BlockType.DATA, 0, SIZE).getSerializedLength();
    assertEquals(bytes, first.size());
    assertEquals(bytes, first.getCurrentDataSize());
    assertEquals(5 * ITEM_SIZE, first.getCurrentSize());
    cache.evictBlock(data(0));
    assertEquals(bytes / 5 * 4, first.size());
    assertEquals(0, first.getRegionCachedInfo().map(Map::size).orElse(0).intValue());
  }

  @Test
  public void testBlockWithoutAPlaceStaysInTheSecondTierAndIsForgotten() {
    open();
    putData(5);
    // Every place is taken by somebody whom the policy does not know.
    int taken = 0;
    try {
      while (true) {
        first.getAllocator().allocateBlock(ITEM_SIZE);
        taken++;
      }
    } catch (IOException full) {
      assertTrue(taken > 100);
    }
    read(data(0));
    assertFalse(first.containsBlock(data(0)));
    assertEquals(0, policy().getBlockCount());
    assertEquals(0, policy().getUsedBytes());
    for (int i = 0; i < first.getAllocator().getBuckets().length; i++) {
      BucketAllocator.Bucket bucket = first.getAllocator().getBuckets()[i];
      int size = bucket.getItemAllocationSize();
      for (int item = bucket.usedCount() - 1; size == ITEM_SIZE && item >= 0; item--) {
        first.getAllocator().freeBlock(bucket.getBaseOffset() + (long) item * size, ITEM_SIZE);
      }
    }
  }

  /** Evicts the file at the moment that a block of it is on its way. */
  private static final class Interfering extends L1BucketCache {
    private Runnable before = () -> {
    };
    private Runnable after = () -> {
    };

    Interfering(TierSettings tier, FileEvictionGuard guard)
      throws IOException {
      super("L1", tier, guard);
    }

    @Override
    public int sizeOf(Cacheable block) {
      before.run();
      return super.sizeOf(block);
    }

    @Override
    public void promote(BlockCacheKey key, Cacheable block) {
      after.run();
      super.promote(key, block);
    }
  }

  @Test
  public void testFileEvictedWhileItsBlockMovesLeavesNothing() throws Exception {
    CompositeBucketCacheSettings settings = CompositeBucketCacheSettings.of(conf);
    FileEvictionGuard guard = new FileEvictionGuard();
    Interfering tier = new Interfering(settings.first(), guard);
    open(new CompositeBucketCache(tier, new BucketCacheTier("L2", settings.second()), guard));
    cache.onConfigurationChange(conf);
    Runnable evict = () -> cache.evictBlocksByHfileName(FILE);
    put(data(0));
    tier.before = evict;
    read(data(0));
    tier.before = () -> {
    };
    assertNull(cache.getBlock(data(0), true, false, true));
    put(data(1));
    tier.after = evict;
    read(data(1));
    tier.after = () -> {
    };
    assertNull(cache.getBlock(data(1), true, false, true));
    settle();
    assertEquals(0, first.getBlockCount());
  }

  @Test
  public void testClosedCachePromotesNothing() {
    open();
    putData(2);
    read(data(0));
    cache.evictBlocksByHfileName(FILE);
    cache.shutdown();
    assertNull(cache.getBlock(data(0), true, false, true));
    cache.onConfigurationChange(conf);
    assertNull(cache.getBlock(data(1), true, false, true));
  }
}
