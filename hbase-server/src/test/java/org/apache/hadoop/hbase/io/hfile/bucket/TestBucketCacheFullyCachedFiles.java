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

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils.HFileBlockPair;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;
import org.mockito.Mockito;

/**
 * Tests that a file of which a block has been evicted is no longer taken for fully cached, so that
 * its blocks are cached again when they are read, whatever the engine.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestBucketCacheFullyCachedFiles {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBucketCacheFullyCachedFiles.class);

  private static final int BLOCK_SIZE = 2048;
  private static final int BLOCKS = 4;

  @Parameters(name = "{0}")
  public static Iterable<String> engines() {
    return Arrays.asList("offheap", "file", "mmap");
  }

  @Parameter
  public String engine;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final Path path = new Path("/table/region/family/8e8ab58dcf39412da19833fcd8f687ac");
  private BucketCache cache;

  @After
  public void tearDown() {
    cache.shutdown();
    util.cleanupTestDir();
  }

  @Test
  public void testEvictedBlocksOfAFullyCachedFileAreCachedAgain() throws IOException {
    BlockCacheKey[] keys = cacheWholeFile();
    assertFalse(readsAreCached());

    assertTrue(cache.evictBlockIfNoRpcReferenced(keys[BLOCKS - 1]));

    assertFalse(cache.getFullyCachedFiles().get().containsKey(path.getName()));
    assertTrue(readsAreCached());
  }

  @Test
  public void testFileIsNotFullyCachedAfterSpaceWasFreed() throws IOException {
    cacheWholeFile();
    HFileBlockPair[] others = CacheTestUtils.generateHFileBlocks(BLOCK_SIZE,
      (int) (cache.getMaxSize() / (BLOCK_SIZE + 1024)));
    for (HFileBlockPair other : others) {
      cache.cacheBlockWithWait(other.getBlockName(), other.getBlock(), false, true);
    }
    Waiter.waitFor(conf, 120_000, 5, () -> cache.ramCache.isEmpty());
    assertTrue("no space was freed", cache.getStats().getEvictedCount() > 0);
    long cached = cache.blocksByHFile.stream()
      .filter(key -> key.getHfileName().equals(path.getName())).count();
    assertTrue("no block of the file was evicted", cached < BLOCKS);

    assertTrue(readsAreCached());
  }

  private BlockCacheKey[] cacheWholeFile() throws IOException {
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    String name = engine.equals("offheap") ? engine : engine + ":" + new File(dir, "cache");
    conf.setLong(BucketCache.QUEUE_ADDITION_WAIT_TIME, 10000);
    cache = new BucketCache(name, 2 << 20, BLOCK_SIZE, new int[] { BLOCK_SIZE + 1024 }, 1, 64, null,
      60000, conf);
    HFileBlockPair[] blocks = CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, BLOCKS);
    BlockCacheKey[] keys = new BlockCacheKey[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      keys[i] = new BlockCacheKey(path, (long) i * BLOCK_SIZE, true, BlockType.DATA);
      cache.cacheBlock(keys[i], blocks[i].getBlock());
    }
    Waiter.waitFor(conf, 120_000, 5, () -> cache.ramCache.isEmpty());
    cache.notifyFileCachingCompleted(path, BLOCKS, BLOCKS, BLOCKS * BLOCK_SIZE);
    assertTrue(cache.getFullyCachedFiles().get().containsKey(path.getName()));
    return keys;
  }

  /** Returns what the reader of the file asks before it caches a data block that it has read. */
  private boolean readsAreCached() {
    HFileInfo info = Mockito.mock(HFileInfo.class);
    Mockito.when(info.getHFileContext())
      .thenReturn(new HFileContextBuilder().withHFileName(path.getName()).build());
    return new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP)
      .shouldCacheBlockOnRead(BlockCategory.DATA, info, conf);
  }
}
