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
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.ResizableBlockCache;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.io.hfile.bucket.L1BucketCache;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** The composite as its callers see it, over real tiers: off-heap and a file. */
@Category({ IOTests.class, MediumTests.class })
public class TestCompositeBucketCache {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCache.class);

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final String REGION = "fedcba9876543210fedcba9876543210";
  private static final int SIZE = 4000;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private Configuration conf;
  private CompositeBucketCache cache;
  private L1BucketCache first;
  private BucketCacheTier second;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(4, 16, "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.composite.promotion", "none");
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
  }

  @After
  public void tearDown() {
    if (cache == null) {
      return;
    }
    CachedBlockFixture.close(cache);
  }

  private void open() {
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (L1BucketCache) cache.getFirstLevelCache();
    second = (BucketCacheTier) cache.getSecondLevelCache();
  }

  /** Caches a block and waits until no tier has it in its queue any more. */
  private void put(BlockCacheKey key, BlockType type) throws Exception {
    put(cache, key, type, SIZE);
  }

  private void put(BlockCache target, BlockCacheKey key, BlockType type, int size)
    throws Exception {
    cache(target, key, block(type, key.getOffset(), size));
    await(() -> isWritten(target, key));
  }

  private Cacheable get(BlockCacheKey key) {
    return cache.getBlock(key, true, false, true);
  }

  private void assertServed(BlockCacheKey key, BlockType type) {
    Cacheable block = get(key);
    assertNotNull(block);
    assertEquals(type, block.getBlockType());
    HFileBlock expected = block(type, key.getOffset(), SIZE);
    assertArrayEquals(content(expected), content(block));
    expected.release();
    block.release();
  }

  @Test
  public void testEveryMetaBlockGoesToTheFirstTierAndEveryDataBlockToTheSecond() throws Exception {
    open();
    Set<BlockType> data = EnumSet.of(BlockType.DATA, BlockType.ENCODED_DATA);
    long offset = 0;
    for (BlockType type : BlockType.values()) {
      // Callers that do not know the type leave the default, which is DATA.
      BlockCacheKey key = new BlockCacheKey(FILE, offset += SIZE);
      put(key, type);
      assertEquals(type.toString(), !data.contains(type), first.containsBlock(key));
      assertEquals(type.toString(), data.contains(type), second.containsBlock(key));
      assertServed(key, type);
    }
    int types = BlockType.values().length;
    assertEquals(types, cache.getBlockCount());
    assertEquals(data.size(), cache.getDataBlockCount());
    assertEquals(types - data.size(), first.getMetaBlockCount());
    assertEquals(0, first.getDataBlockCount());
    assertEquals(0, second.getMetaBlockCount());
    assertEquals(first.getMetaBlockSize() + second.size(), cache.size());
    assertEquals(second.size(), cache.getCurrentDataSize());
  }

  @Test
  public void testTypeInTheKeyDecidesNothing() throws Exception {
    open();
    BlockCacheKey meta = key(FILE, 0, null);
    BlockCacheKey data = key(FILE, SIZE, BlockType.LEAF_INDEX);
    put(meta, BlockType.BLOOM_CHUNK);
    put(data, BlockType.DATA);
    assertTrue(first.containsBlock(meta));
    assertTrue(second.containsBlock(data));
    assertEquals("corrected on insertion", BlockType.BLOOM_CHUNK, meta.getBlockType());
    assertEquals("corrected on insertion", BlockType.DATA, data.getBlockType());
    for (BlockType asked : new BlockType[] { null, BlockType.DATA, BlockType.BLOOM_CHUNK }) {
      assertServed(key(FILE, 0, asked), BlockType.BLOOM_CHUNK);
      assertServed(key(FILE, SIZE, asked), BlockType.DATA);
    }
  }

  @Test
  public void testEvictBlockReachesBothTiers() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, BlockType.LEAF_INDEX);
    put(first, key, BlockType.LEAF_INDEX, SIZE);
    put(second, key, BlockType.LEAF_INDEX, SIZE);
    assertTrue(cache.evictBlock(key));
    assertFalse(first.containsBlock(key));
    assertFalse(second.containsBlock(key));
    assertNull(get(key));
    assertFalse(cache.evictBlock(key));
    assertEmpty();
  }

  @Test
  public void testEvictByFileReachesBothTiersAndOnlyThatFile() throws Exception {
    open();
    for (int i = 0; i < 4; i++) {
      put(key(FILE, i, BlockType.DATA), i % 2 == 0 ? BlockType.DATA : BlockType.LEAF_INDEX);
      put(key(REGION, i, BlockType.DATA), i % 2 == 0 ? BlockType.DATA : BlockType.LEAF_INDEX);
    }
    assertEquals(4, cache.evictBlocksByHfileName(FILE));
    assertEquals(4, cache.getBlockCount());
    assertEquals(2, cache.evictBlocksRangeByHfileName(REGION, 1, 2));
    assertEquals(2, cache.evictBlocksByHfileName(REGION));
    assertEmpty();
  }

  @Test
  public void testIsAlreadyCachedAsksBothTiers() throws Exception {
    open();
    BlockCacheKey meta = key(FILE, 0, BlockType.DATA);
    BlockCacheKey data = key(FILE, SIZE, BlockType.DATA);
    assertEquals(Optional.of(false), cache.isAlreadyCached(meta));
    put(meta, BlockType.LEAF_INDEX);
    put(data, BlockType.DATA);
    assertEquals(Optional.of(true), cache.isAlreadyCached(meta));
    assertEquals(Optional.of(true), cache.isAlreadyCached(data));
    int size = SIZE + 33 - 9;
    assertEquals(Optional.of(size), cache.getBlockSize(meta));
    assertEquals(Optional.of(size), cache.getBlockSize(data));
  }

  @Test
  public void testHitCountsWhereItIsAndAMissOnce() throws Exception {
    open();
    BlockCacheKey meta = key(FILE, 0, BlockType.LEAF_INDEX);
    BlockCacheKey data = key(FILE, SIZE, BlockType.DATA);
    // The lookup before the lock and the one under it are one miss.
    assertNull(cache.getBlock(meta, true, false, true));
    assertNull(cache.getBlock(meta, true, true, true));
    assertNull(cache.getBlock(data, true, false, true));
    assertNull(cache.getBlock(data, true, true, true));
    assertEquals(1, first.getStats().getMissCount());
    assertEquals(1, first.getStats().getLeafIndexMissCount());
    assertEquals(1, second.getStats().getMissCount());
    assertEquals(1, second.getStats().getDataMissCount());
    put(meta, BlockType.LEAF_INDEX);
    put(data, BlockType.DATA);
    assertServed(meta, BlockType.LEAF_INDEX);
    assertServed(data, BlockType.DATA);
    assertServed(data, BlockType.DATA);
    assertEquals(1, first.getStats().getHitCount());
    assertEquals(2, second.getStats().getHitCount());
    assertEquals(3, cache.getStats().getHitCount());
    assertEquals(2, cache.getStats().getMissCount());
    assertEquals(5, cache.getStats().getRequestCount());
    assertEquals(0.6, cache.getStats().getHitRatio(), 0.001);
    // A lookup that is not to count does not.
    cache.getBlock(meta, true, false, false).release();
    assertNull(cache.getBlock(key(FILE, 9, BlockType.DATA), true, false, false));
    assertEquals(5, cache.getStats().getRequestCount());
  }

  @Test
  public void testStatsAndMetricsKnowBothLevels() throws Exception {
    open();
    CombinedBlockCache.CombinedCacheStats stats =
      (CombinedBlockCache.CombinedCacheStats) cache.getStats();
    assertSame(first.getStats(), stats.getLruCacheStats());
    assertSame(second.getStats(), stats.getBucketCacheStats());
    assertEquals(2, cache.getBlockCaches().length);
    assertEquals(first.getMaxSize() + second.getMaxSize(), cache.getMaxSize());
    put(key(FILE, 0, BlockType.DATA), BlockType.DATA);
    put(key(FILE, SIZE, BlockType.DATA), BlockType.LEAF_INDEX);
    Set<Long> offsets = new HashSet<>();
    for (CachedBlock block : cache) {
      offsets.add(block.getOffset());
    }
    assertEquals(2, offsets.size());
    assertEquals(5120 * 2, cache.getCurrentSize());
    assertEquals(first.getFreeSize() + second.getFreeSize(), cache.getFreeSize());
  }

  @Test
  public void testGaugesTellEachTierApart() throws Exception {
    open();
    put(key(FILE, 0, BlockType.DATA), BlockType.DATA);
    put(key(FILE, SIZE, BlockType.DATA), BlockType.DATA);
    put(key(FILE, 2 * SIZE, BlockType.DATA), BlockType.LEAF_INDEX);
    assertServed(key(FILE, 2 * SIZE, BlockType.LEAF_INDEX), BlockType.LEAF_INDEX);
    assertNull(get(key(FILE, 9, BlockType.DATA)));
    assertEquals(4L << 20, gauge("L1Capacity"));
    assertEquals(16L << 20, gauge("L2Capacity"));
    assertEquals(5120, gauge("L1Used"));
    assertEquals(2 * 5120, gauge("L2Used"));
    assertEquals(1, gauge("L1MetaBlockCount"));
    assertEquals(first.getMetaBlockSize(), gauge("L1MetaBlockSize"));
    assertEquals(0, gauge("L1DataBlockCount"));
    assertEquals(2, gauge("L2DataBlockCount"));
    assertEquals(second.size(), gauge("L2DataBlockSize"));
    assertEquals(1, gauge("L1HitCount"));
    assertEquals(0, gauge("L1MissCount"));
    assertEquals(1, gauge("L2MissCount"));
    for (String name : new String[] { "L1SpilledBlockCount", "L1SpilledBytes",
      "L1DroppedBlockCount", "L1RejectedBlockCount", "L1ReturnedBlockCount",
      "L1EvictedBlockCount", "L2EvictedBlockCount", "L2RefusedInsertCount" }) {
      assertEquals(name, 0, gauge(name));
    }
    assertEquals("Hadoop:service=HBase,name=RegionServer,sub=BlockCacheTiers",
      "Hadoop:service=HBase,name=" + CompositeBucketCacheMetrics.INFO.getMetricsJmxContext());
    cache.evictBlocksByHfileName(FILE);
    cache.shutdown();
    assertFalse(MetricRegistries.global().get(CompositeBucketCacheMetrics.INFO).isPresent());
  }

  private static long gauge(String name) {
    return CachedBlockFixture.tierMetric(name);
  }

  @Test
  public void testMetaBlockTooLargeForTheFirstTierGoesToTheSecond() throws Exception {
    conf.set("hbase.bucketcache.l2.bucket.sizes", "5120,131072");
    open();
    BlockCacheKey key = key(FILE, 0, BlockType.BLOOM_CHUNK);
    put(cache, key, BlockType.BLOOM_CHUNK, 60_000);
    assertTrue(second.containsBlock(key));
    get(key).release();
    assertFalse("it does not fit there on the way back either", first.containsBlock(key));
    assertEquals(0, cache.getReturnedBlockCount());
  }

  @Test
  public void testMetaBlockFoundInTheSecondTierComesBackWhileThereIsRoom() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, BlockType.LEAF_INDEX);
    put(second, key, BlockType.LEAF_INDEX, SIZE);
    // The caller may take it for data.
    assertServed(key(FILE, 0, BlockType.DATA), BlockType.LEAF_INDEX);
    await(() -> isWritten(first, key));
    assertTrue("L2 keeps its copy", second.containsBlock(key));
    assertEquals(1, cache.getReturnedBlockCount());
    assertServed(key, BlockType.LEAF_INDEX);
    assertEquals(1, first.getStats().getHitCount());
    assertEquals(1, first.getMetaBlockCount());
  }

  @Test
  public void testDataBlockStaysInTheSecondTier() throws Exception {
    open();
    BlockCacheKey key = key(FILE, 0, BlockType.DATA);
    put(key, BlockType.DATA);
    for (int i = 0; i < 10; i++) {
      assertServed(key, BlockType.DATA);
    }
    assertFalse(first.containsBlock(key));
  }

  @Test
  public void testMetaBlockOfAReferenceIsFoundUnderTheFileReferredTo() throws Exception {
    open();
    put(key(FILE, 0, BlockType.LEAF_INDEX), BlockType.LEAF_INDEX);
    put(key(FILE, SIZE, BlockType.DATA), BlockType.DATA);
    put(second, key(FILE, 2 * SIZE, BlockType.BLOOM_CHUNK), BlockType.BLOOM_CHUNK, SIZE);
    String reference = FILE + "." + REGION;
    assertServed(key(reference, 0, BlockType.LEAF_INDEX), BlockType.LEAF_INDEX);
    assertServed(key(reference, SIZE, BlockType.DATA), BlockType.DATA);
    assertServed(key(reference, 2 * SIZE, BlockType.BLOOM_CHUNK), BlockType.BLOOM_CHUNK);
    assertEquals("no second copy under the reference's name", 0,
      cache.evictBlocksByHfileName(reference));
    assertEquals(Optional.of(true), cache.isAlreadyCached(key(reference, 0, BlockType.DATA)));
  }

  @Test
  public void testMetaBlockFitsIfEitherTierHasSpace() throws Exception {
    open();
    HFileBlock meta = block(BlockType.LEAF_INDEX, 0, SIZE);
    HFileBlock data = block(BlockType.DATA, 0, SIZE);
    assertEquals(Optional.of(true), cache.blockFitsIntoTheCache(meta));
    fill(first);
    HFileBlock large = block(BlockType.LEAF_INDEX, 0, 9000);
    assertEquals(Optional.of(false), first.blockFitsIntoTheCache(large));
    assertEquals(Optional.of(true), cache.blockFitsIntoTheCache(large));
    assertEquals(Optional.of(true), cache.blockFitsIntoTheCache(meta));
    assertEquals(Optional.of(true), cache.blockFitsIntoTheCache(data));
  }

  /** Fills a tier with meta blocks of another file to just below where it starts to evict. */
  private void fill(BucketCacheTier tier) throws Exception {
    HFileBlock block = block(BlockType.LEAF_INDEX, 0, SIZE);
    for (int i = 0; tier.hasSpaceFor(block); i++) {
      put(tier, key("other", i, BlockType.LEAF_INDEX), BlockType.LEAF_INDEX, SIZE);
    }
  }

  @Test
  public void testOnlyTheSecondTierSaysWhetherAFileIsCachedWhole() throws Exception {
    open();
    Path path = new Path("/data/default/t/" + REGION + "/f/" + FILE);
    put(key(FILE, 0, BlockType.DATA), BlockType.DATA);
    put(key(FILE, SIZE, BlockType.DATA), BlockType.DATA);
    put(key(FILE, 2 * SIZE, BlockType.LEAF_INDEX), BlockType.LEAF_INDEX);
    put(key(FILE, 3 * SIZE, BlockType.BLOOM_CHUNK), BlockType.BLOOM_CHUNK);
    cache.notifyFileCachingCompleted(path, 4, 2, 4 * SIZE);
    assertTrue(cache.getFullyCachedFiles().get().containsKey(FILE));
    assertTrue(first.getFullyCachedFiles().get().isEmpty());
    assertFalse(cache.getRegionCachedInfo().get().containsKey("other"));
    assertEquals(Optional.of(false), cache.shouldCacheFile(named(FILE), conf));
    assertEquals(Optional.of(true), cache.shouldCacheFile(named("other"), conf));
    cache.evictBlocksByHfileName(FILE);
    assertEquals(Optional.of(true), cache.shouldCacheFile(named(FILE), conf));
    assertEquals(Optional.of(true), cache.shouldCacheBlock(key(FILE, 0, BlockType.DATA), 1, conf));
  }

  private static HFileInfo named(String file) {
    HFileInfo info = mock(HFileInfo.class);
    when(info.getHFileContext()).thenReturn(new HFileContextBuilder().withHFileName(file).build());
    return info;
  }

  @Test
  public void testFileWithDataMissingIsNotCachedWhole() throws Exception {
    open();
    put(key(FILE, 0, BlockType.DATA), BlockType.DATA);
    put(key(FILE, SIZE, BlockType.LEAF_INDEX), BlockType.LEAF_INDEX);
    cache.notifyFileCachingCompleted(new Path("/data/default/t/" + REGION + "/f/" + FILE), 3, 2,
      3 * SIZE);
    assertTrue(cache.getFullyCachedFiles().get().isEmpty());
  }

  @Test
  public void testReadersOfBothTiersCount() throws Exception {
    open();
    BlockCacheKey meta = key(FILE, 0, BlockType.LEAF_INDEX);
    put(meta, BlockType.LEAF_INDEX);
    assertEquals(0, cache.getRpcRefCount(meta));
    Cacheable block = get(meta);
    assertEquals(1, cache.getRpcRefCount(meta));
    // Evicted by force, the block stays readable and its place taken until the reader is done.
    assertTrue(cache.evictBlock(meta));
    assertEquals(5120, first.getAllocator().getUsedSize());
    assertEquals(BlockType.LEAF_INDEX, block.getBlockType());
    block.release();
    assertEmpty();
  }

  @Test
  public void testHeapMemoryTunerCannotResizeIt() throws Exception {
    open();
    long max = cache.getMaxSize();
    cache.setMaxSize(1);
    ((ResizableBlockCache) cache.getFirstLevelCache()).setMaxSize(1);
    assertEquals(max, cache.getMaxSize());
    assertTrue(first.hasSpaceFor(block(BlockType.LEAF_INDEX, 0, SIZE)));
  }

  @Test
  public void testEachTierFollowsItsOwnKeysAtRunTime() throws Exception {
    conf.set("hbase.bucketcache.l1.acceptfactor", "0.9");
    conf.set("hbase.bucketcache.acceptfactor", "0.8");
    conf.set("hbase.bucketcache.minfactor", "0.7");
    open();
    assertEquals(0.9f * first.getAllocator().getTotalSize(), first.acceptableSize(), 1f);
    assertEquals(0.8f * second.getAllocator().getTotalSize(), second.acceptableSize(), 1f);
    Configuration changed = new Configuration(conf);
    changed.set("hbase.bucketcache.l2.acceptfactor", "0.75");
    cache.onConfigurationChange(changed);
    assertEquals(0.9f * first.getAllocator().getTotalSize(), first.acceptableSize(), 1f);
    assertEquals(0.75f * second.getAllocator().getTotalSize(), second.acceptableSize(), 1f);
  }

  private static Configuration with(Configuration conf, String... keysAndValues) {
    Configuration changed = new Configuration(conf);
    for (int i = 0; i < keysAndValues.length; i += 2) {
      changed.set("hbase.bucketcache." + keysAndValues[i], keysAndValues[i + 1]);
    }
    return changed;
  }

  @Test
  public void testInvalidFactorOfEitherTierChangesNothing() throws Exception {
    open();
    long acceptableInFirst = first.acceptableSize();
    long acceptableInSecond = second.acceptableSize();
    for (String[] invalid : new String[][] { { "l1.minfactor", "0.9" },
      { "l2.minfactor", "0.9" }, { "l1.acceptfactor", "1.5" }, { "l2.acceptfactor", "-0.5" },
      { "l1.minfactor", "-1" }, { "l2.extrafreefactor", "-1" }, { "l1.single.factor", "0.9" },
      { "l2.multi.factor", "1.5" }, { "l1.memory.factor", "-0.25" },
      { "l2.acceptfactor", "much" } }) {
      Configuration changed =
        with(conf, "l1.acceptfactor", "0.6", "l1.minfactor", "0.5", "l2.acceptfactor", "0.6",
          "l2.minfactor", "0.5", invalid[0], invalid[1]);
      assertThrows(invalid[0], IllegalArgumentException.class,
        () -> cache.onConfigurationChange(changed));
      assertEquals(invalid[0], acceptableInFirst, first.acceptableSize());
      assertEquals(invalid[0], acceptableInSecond, second.acceptableSize());
      assertThrows(invalid[0], IllegalArgumentException.class, () -> {
        if (invalid[0].startsWith("l1")) {
          first.onConfigurationChange(TierSettings.ofTier(changed, "hbase.bucketcache.l1."));
        } else {
          second.onConfigurationChange(TierSettings.ofTier(changed, "hbase.bucketcache.l2."));
        }
      });
      assertEquals(invalid[0], acceptableInFirst, first.acceptableSize());
      assertEquals(invalid[0], acceptableInSecond, second.acceptableSize());
    }
    cache.onConfigurationChange(with(conf, "acceptfactor", "0.6", "minfactor", "0.5",
      "extrafreefactor", "0", "single.factor", "0.2", "multi.factor", "0.3", "memory.factor",
      "0.5"));
    assertEquals(0.6f * first.getAllocator().getTotalSize(), first.acceptableSize(), 1f);
    assertEquals(0.6f * second.getAllocator().getTotalSize(), second.acceptableSize(), 1f);
  }

  @Test
  public void testThreadsOfTheTiersAreToldApart() {
    open();
    Set<String> names = new HashSet<>();
    Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
    String me = Thread.currentThread().getName();
    for (int i = 0; i < 3; i++) {
      assertTrue(names.contains(me + "-L1-BucketCacheWriter-" + i));
      assertTrue(names.contains(me + "-L2-BucketCacheWriter-" + i));
    }
  }

  @Test
  public void testNothingIsCachedAfterShutdown() throws Exception {
    open();
    BlockCacheKey meta = key(FILE, 0, BlockType.LEAF_INDEX);
    BlockCacheKey data = key(FILE, SIZE, BlockType.DATA);
    put(meta, BlockType.LEAF_INDEX);
    put(data, BlockType.DATA);
    assertEquals(2, cache.evictBlocksByHfileName(FILE));
    cache.shutdown();
    cache(cache, meta, block(BlockType.LEAF_INDEX, 0, SIZE));
    assertNull(get(meta));
    assertNull(get(data));
    assertFalse(cache.evictBlock(meta));
    cache.shutdown();
  }

  private void assertEmpty() {
    assertEquals(0, first.getAllocator().getUsedSize());
    assertEquals(0, second.getAllocator().getUsedSize());
    assertEquals(0, cache.getBlockCount());
    assertEquals(0, cache.size());
    assertEquals(0, first.getMetaBlockCount());
    assertEquals(0, first.getMetaBlockSize());
    assertEquals(0, second.getMetaBlockSize());
  }
}
