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

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a block that is read once and is not in the cache counts as one miss: a reader looks
 * it up a second time when it has got the lock of the block, and says so.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestCombinedBlockCacheRepeatedMiss {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCombinedBlockCacheRepeatedMiss.class);

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private CombinedBlockCache cache;
  private CacheStats l1;
  private CacheStats l2;

  @Before
  public void setUp() {
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "offheap");
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 32);
    cache = (CombinedBlockCache) BlockCacheFactory.createBlockCache(conf);
    l1 = cache.getFirstLevelCache().getStats();
    l2 = cache.getSecondLevelCache().getStats();
  }

  @After
  public void tearDown() {
    cache.shutdown();
    util.cleanupTestDir();
  }

  @Test
  public void testRepeatedLookupIsNoSecondMiss() {
    for (BlockType type : Arrays.asList(BlockType.DATA, BlockType.LEAF_INDEX, null)) {
      BlockCacheKey key = new BlockCacheKey("file", 0, true, type);
      assertNull(cache.getBlock(key, true, false, true));
      assertNull(cache.getBlock(key, true, true, true));
    }
    assertEquals(1, l1.getMissCount());
    assertEquals(1, l1.getLeafIndexMissCount());
    assertEquals(2, l2.getMissCount());
    assertEquals(2, l2.getMissCachingCount());
    assertEquals(3, cache.getStats().getRequestCount());
  }

  @Test
  public void testRepeatedLookupThatFindsTheBlockIsAHit() {
    BlockCacheKey key = new BlockCacheKey("file", 0, true, BlockType.DATA);
    assertNull(cache.getBlock(key, true, false, true));
    HFileBlock block = CacheTestUtils.generateHFileBlocks(1024, 1)[0].getBlock();
    cache.cacheBlock(key, block);
    cache.getBlock(key, true, true, true).release();
    assertEquals(1, l2.getMissCount());
    assertEquals(1, l2.getHitCount());
  }

  @Test
  public void testBlockReadFromTheFileIsOneMiss() throws IOException {
    FileSystem fs = FileSystem.getLocal(conf);
    Path path = new Path(util.getDataTestDir(), "file");
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
