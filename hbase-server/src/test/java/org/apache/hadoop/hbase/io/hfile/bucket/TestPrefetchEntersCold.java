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
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Blocks that were not read yet, and what they may displace. */
@Category({ IOTests.class, MediumTests.class })
public class TestPrefetchEntersCold {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchEntersCold.class);

  private static final String HOT_FILE = "0123456789abcdef0123456789abcdef";
  private static final BlockType DATA = BlockType.DATA;
  private static final int SECOND_MEGABYTES = 16;
  private static final int ITEM_SIZE = 9216;
  private static final int HOT_SIZE = 8000;
  /** 2.5 MB: well below the half of L2 that blocks read twice are granted, and L1's room. */
  private static final int HOT_BLOCKS = 300;
  /** The number of rows, of 2 KB each, four to a data block: twice what L2 holds. */
  private static final int ROWS_OF_WARM_FILE = 16_000;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private Configuration conf;
  private FileSystem fs;
  private CompositeBucketCache tiers;
  private BucketCacheTier first;
  private BucketCacheTier second;

  @Before
  public void setUp() throws Exception {
    conf = CachedBlockFixture.tiers(8, SECOND_MEGABYTES,
      "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.set("hbase.bucketcache.bucket.sizes", "5120," + ITEM_SIZE + ",17408");
    conf.set("hbase.blockcache.minblocksize", "8192");
    conf.setInt("hfile.index.block.max.size", 4096);
    conf.setInt("io.storefile.bloom.block.size", 4096);
    // A prefetch waits where the queue is full. A longer queue would not do: the blocks that a
    // writer takes from it at once are neither hot nor cold to an eviction, and a large part of so
    // small a tier.
    conf.set("hbase.bucketcache.queue.addition.waittime", "10000");
    conf.setInt("hbase.hfile.prefetch.delay", 0);
    fs = FileSystem.getLocal(conf);
    tiers = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (BucketCacheTier) tiers.getFirstLevelCache();
    second = (BucketCacheTier) tiers.getSecondLevelCache();
  }

  @After
  public void tearDown() {
    CachedBlockFixture.close(tiers);
  }

  private void settle() {
    await(() -> first.heapSize() == 0 && second.heapSize() == 0);
  }

  private static BlockPriority priorityOf(BucketCacheTier tier, BlockCacheKey key) {
    return tier.backingMap.get(key).getPriority();
  }

  /** Asks as a get does. */
  private boolean ask(BlockCacheKey key) {
    Cacheable found = tiers.getBlock(key, true, false, true);
    if (found != null) {
      found.release();
    }
    return found != null;
  }

  @Test
  public void testABlockIsColdUntilItIsAskedFor() {
    BlockCacheKey data = key(HOT_FILE, 0, DATA);
    BlockCacheKey meta = key(HOT_FILE, 100_000, BlockType.LEAF_INDEX);
    cache(tiers, data, block(DATA, 0, HOT_SIZE));
    cache(tiers, meta, block(BlockType.LEAF_INDEX, 100_000, HOT_SIZE));
    settle();
    assertEquals(BlockPriority.SINGLE, priorityOf(second, data));
    assertEquals(BlockPriority.SINGLE, priorityOf(first, meta));
    assertTrue(ask(data));
    assertTrue(ask(meta));
    assertEquals(BlockPriority.MULTI, priorityOf(second, data));
    assertEquals(BlockPriority.MULTI, priorityOf(first, meta));
  }

  @Test
  public void testABlockOfAnInMemoryFamilyKeepsItsPriority() {
    BlockCacheKey data = key(HOT_FILE, 0, DATA);
    Cacheable block = block(DATA, 0, HOT_SIZE);
    tiers.cacheBlock(data, block, true);
    block.release();
    settle();
    assertEquals(BlockPriority.MEMORY, priorityOf(second, data));
    assertTrue(ask(data));
    assertEquals(BlockPriority.MEMORY, priorityOf(second, data));
  }

  @Test
  public void testPrefetchDisplacesNothingHot() throws Exception {
    List<BlockCacheKey> hot = makeHot();
    Path path = write();
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    HStoreFile file = new HStoreFile(
      StoreFileInfo.createStoreFileInfoForHFile(conf, fs, path, true), BloomType.ROW,
      cacheConfig());
    file.initReader();
    await(() -> second.getCurrentSize() > second.acceptableSize() * 9 / 10
      && PrefetchExecutor.isCompleted(path));
    settle();
    assertHot(hot);
    file.closeStoreFile(true);
  }

  @Test
  public void testCacheOnWriteDisplacesNothingHot() throws Exception {
    List<BlockCacheKey> hot = makeHot();
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_BLOOM_BLOCKS_ON_WRITE_KEY, true);
    long evicted = second.getStats().getEvictedCount();
    // L2 holds a fraction of this.
    write();
    write();
    settle();
    long left = second.getStats().getEvictedCount() - evicted;
    assertTrue("evicted " + left, left * ITEM_SIZE > (long) SECOND_MEGABYTES << 20);
    assertHot(hot);
  }

  /** Blocks that are read often: they are in both tiers. */
  private List<BlockCacheKey> makeHot() {
    List<BlockCacheKey> hot = new ArrayList<>();
    for (int i = 0; i < HOT_BLOCKS; i++) {
      BlockCacheKey key = key(HOT_FILE, (long) i * ITEM_SIZE, DATA);
      cache(tiers, key, block(DATA, key.getOffset(), HOT_SIZE));
      hot.add(key);
      if (i % 50 == 0) {
        settle();
      }
    }
    settle();
    await(() -> {
      hot.forEach(key -> assertTrue(ask(key)));
      settle();
      return first.getDataBlockCount() == HOT_BLOCKS;
    });
    return hot;
  }

  private void assertHot(List<BlockCacheKey> hot) {
    assertEquals("in L2", HOT_BLOCKS, hot.stream().filter(second::containsBlock).count());
    assertEquals("in L1", HOT_BLOCKS, hot.stream().filter(first::containsBlock).count());
  }

  private CacheConfig cacheConfig() {
    return new CacheConfig(conf, null, tiers, ByteBuffAllocator.HEAP);
  }

  private Path write() throws Exception {
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, cacheConfig(), fs)
      .withOutputDir(new Path(folder.newFolder().getPath())).withBloomType(BloomType.ROW)
      .withMaxKeyCount(ROWS_OF_WARM_FILE)
      .withFileContext(new HFileContextBuilder().withBlockSize(HOT_SIZE).build()).build();
    Random random = new Random(7);
    for (int i = 0; i < ROWS_OF_WARM_FILE; i++) {
      byte[] value = new byte[2000];
      random.nextBytes(value);
      writer.append(new KeyValue(Bytes.toBytes(String.format("%06d", i)), Bytes.toBytes("f"),
        Bytes.toBytes("q"), 1L, value));
    }
    writer.close();
    return writer.getPath();
  }
}
