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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheStats;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.ManualEnvironmentEdge;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that reads from the engine of L2 are counted, as the RegionServer's page shows them, and
 * that each lookup counts once: a reader looks a block up a second time when it has got the lock of
 * the block, and says so.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestCombinedBlockCacheStats {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCombinedBlockCacheStats.class);

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final ManualEnvironmentEdge clock = new ManualEnvironmentEdge();
  private CombinedBlockCache cache;
  private CacheStats l1;
  private BucketCacheStats l2;
  private final BlockCacheKey key = new BlockCacheKey("file", 0, true, BlockType.DATA);

  @Before
  public void setUp() {
    EnvironmentEdgeManager.injectEdge(clock);
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "file:" + new File(dir, "cache"));
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 32);
    cache = (CombinedBlockCache) BlockCacheFactory.createBlockCache(conf);
    l1 = cache.getFirstLevelCache().getStats();
    l2 = (BucketCacheStats) cache.getSecondLevelCache().getStats();
    Cacheable block = CacheTestUtils.generateHFileBlocks(1024, 1)[0].getBlock();
    cache.cacheBlock(key, block);
    Waiter.waitFor(conf, 120_000, 5, () -> isReadFromTheEngine(block));
  }

  /** Returns whether the engine has the block; the queue has it for a moment after the write. */
  private boolean isReadFromTheEngine(Cacheable block) {
    Cacheable read = cache.getBlock(key, true, false, false);
    read.release();
    return read != block;
  }

  @After
  public void tearDown() {
    cache.shutdown();
    EnvironmentEdgeManager.reset();
    util.cleanupTestDir();
  }

  @Test
  public void testReadsFromTheEngineAreCounted() {
    for (int i = 0; i < 5; i++) {
      cache.getBlock(key, true, false, true).release();
    }
    assertEquals(5, l2.getHitCount());
    assertEquals(5, cache.getStats().getRequestCount());
    clock.incValue(1000);
    assertEquals(5, l2.getIOHitsPerSecond());
  }

  @Test
  public void testReadsWithoutMetricsAreNotCounted() {
    cache.getBlock(key, true, false, false).release();
    assertNull(cache.getBlock(new BlockCacheKey("file", 1), true, false, false));
    assertEquals(0, cache.getStats().getRequestCount());
    clock.incValue(1000);
    assertEquals(0, l2.getIOHitsPerSecond());
  }

  @Test
  public void testMissesCountInTheLevelTheBlockBelongsTo() {
    assertNull(
      cache.getBlock(new BlockCacheKey("file", 1, true, BlockType.DATA), true, false, true));
    assertNull(cache.getBlock(new BlockCacheKey("file", 1), true, false, true));
    assertEquals(2, l2.getMissCount());
    assertNull(
      cache.getBlock(new BlockCacheKey("file", 1, true, BlockType.LEAF_INDEX), true, false, true));
    assertEquals(2, l2.getMissCount());
    assertEquals(1, l1.getMissCount());
    assertEquals(3, cache.getStats().getRequestCount());
  }

  @Test
  public void testRepeatedLookupIsNoSecondMiss() {
    for (BlockType type : Arrays.asList(BlockType.DATA, BlockType.LEAF_INDEX, null)) {
      BlockCacheKey other = new BlockCacheKey("other", 0, true, type);
      assertNull(cache.getBlock(other, true, false, true));
      assertNull(cache.getBlock(other, true, true, true));
    }
    assertEquals(1, l1.getMissCount());
    assertEquals(1, l1.getLeafIndexMissCount());
    assertEquals(2, l2.getMissCount());
    assertEquals(2, l2.getMissCachingCount());
    assertEquals(3, cache.getStats().getRequestCount());
  }

  @Test
  public void testRepeatedLookupThatFindsTheBlockIsAHit() {
    BlockCacheKey other = new BlockCacheKey("other", 0, true, BlockType.DATA);
    assertNull(cache.getBlock(other, true, false, true));
    HFileBlock block = CacheTestUtils.generateHFileBlocks(1024, 1)[0].getBlock();
    cache.cacheBlock(other, block);
    cache.getBlock(other, true, true, true).release();
    assertEquals(1, l2.getMissCount());
    assertEquals(1, l2.getHitCount());
  }

  @Test
  public void testBlockReadFromTheFileIsOneMiss() throws IOException {
    FileSystem fs = FileSystem.getLocal(conf);
    Path path = new Path(util.getDataTestDir(), "another");
    CacheConfig cacheConf = new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP);
    try (HFile.Writer writer = new HFile.WriterFactory(conf, cacheConf).withPath(fs, path)
      .withFileContext(new HFileContextBuilder().build()).create()) {
      writer.append(new KeyValue(Bytes.toBytes("row"), Bytes.toBytes("family"),
        Bytes.toBytes("qualifier"), Bytes.toBytes("value")));
    }
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf, true, conf)) {
      for (int i = 0; i < 2; i++) {
        reader.readBlock(0, -1, true, true, false, true, BlockType.DATA, null).release();
      }
    }
    assertEquals(1, cache.getStats().getMissCount());
    assertEquals(1, cache.getStats().getDataMissCount());
    assertEquals(1, cache.getStats().getHitCount());
  }
}
