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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;

/**
 * Index and bloom blocks in an on-heap L1 are known to be cached: prefetch neither
 * reads them again nor replaces them, whatever the policy of L1.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, MediumTests.class })
public class TestPrefetchL1Blocks {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchL1Blocks.class);

  @Parameters(name = "{0}")
  public static Iterable<String> policies() {
    return Arrays.asList("LRU", "IndexOnlyLRU", "AdaptiveLRU", "TinyLFU");
  }

  @Parameter
  public String policy;

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private CombinedBlockCache cache;

  @Before
  public void setUp() {
    files.conf().set(BlockCacheFactory.BLOCKCACHE_POLICY_KEY, policy);
    files.conf().set("hbase.bucketcache.ioengine", "offheap");
    files.conf().set("hbase.bucketcache.size", "32");
    files.conf().setInt("hbase.bucketcache.writer.queuelength", 4096);
    cache = (CombinedBlockCache) BlockCacheFactory.createBlockCache(files.conf());
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  @Test
  public void testIndexAndBloomBlocksOfTheFirstLevelStay() throws Exception {
    files.conf().setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
    files.conf().setBoolean(CacheConfig.CACHE_BLOOM_BLOCKS_ON_WRITE_KEY, true);
    Path path =
      files.write(new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    Map<StoreFileFixture.Block, Cacheable> before = new HashMap<>();
    for (StoreFileFixture.Block block : files.blocks(path)) {
      if (!block.type().isData()) {
        before.put(block, firstLevelBlock(block));
        assertTrue(cache.isAlreadyCached(block.key()).get());
        assertEquals(block.size(), (int) cache.getBlockSize(block.key()).get());
        assertEquals(block.type(), cache.getBlockType(block.key()).get());
      }
    }
    assertFalse(before.isEmpty());
    long blocks = cache.getFirstLevelCache().getBlockCount();
    long size = cache.getFirstLevelCache().getCurrentSize();
    files.prefetch(path, cache, () -> {
    });
    before.forEach(
      (block, cached) -> assertSame("replaced: " + block, cached, firstLevelBlock(block)));
    assertEquals(blocks, cache.getFirstLevelCache().getBlockCount());
    assertEquals(size, cache.getFirstLevelCache().getCurrentSize());
  }

  /** Data in L2 is found although L1 can tell now. */
  @Test
  public void testSecondLevelIsAskedToo() throws Exception {
    files.cacheAllOnWrite();
    Path path =
      files.write(new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    for (StoreFileFixture.Block block : files.blocks(path)) {
      Waiter.waitFor(files.conf(), 120_000, 10, () -> cache.isAlreadyCached(block.key()).get());
      assertEquals(block.size(), (int) cache.getBlockSize(block.key()).get());
      assertEquals(block.type(), cache.getBlockType(block.key()).get());
    }
  }

  private Cacheable firstLevelBlock(StoreFileFixture.Block block) {
    Cacheable cached = cache.getFirstLevelCache().getBlock(block.key(), false, true, false);
    cached.release();
    return cached;
  }
}
