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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils.HFileBlockPair;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a block whose place in the file holds something else than the map says, as after a
 * crash, is evicted when a read finds it, with all that it had: its space, its place in the index
 * by file, its reference count, and its part of the counters.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestUnreadableBlockEviction {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestUnreadableBlockEviction.class);

  private static final int BLOCK_SIZE = 2048;
  private static final int BUCKET_SIZE = 3072;
  private static final String FILE = "8e8ab58dcf39412da19833fcd8f687ac";
  /** A half of FILE after a split of its region. */
  private static final String REFERENCE = FILE + ".1f9bd2b0a2c84f6d8ae4f8e6cf4f1c11";

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private File engineFile;
  private BucketCache cache;
  private final BlockCacheKey[] keys = new BlockCacheKey[2];
  private HFileBlockPair[] blocks;

  @Before
  public void setUp() throws IOException {
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    engineFile = new File(dir, "cache");
    cache = new BucketCache("file:" + engineFile, 32 << 20, BLOCK_SIZE, new int[] { BUCKET_SIZE },
      1, 64, new File(dir, "map").getPath(), 60000, conf);
    blocks = CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, keys.length);
    for (int i = 0; i < keys.length; i++) {
      BlockCacheKey key = new BlockCacheKey(FILE, i * BLOCK_SIZE, true, BlockType.DATA);
      keys[i] = key;
      cache.cacheBlock(key, blocks[i].getBlock());
      Waiter.waitFor(conf, 120_000, 5,
        () -> cache.backingMap.containsKey(key) && !cache.ramCache.containsKey(key));
    }
  }

  @After
  public void tearDown() {
    cache.evictBlocksByHfileName(FILE);
    cache.shutdown();
    util.cleanupTestDir();
  }

  @Test
  public void testUnreadableBlockLeavesNothingBehind() throws Exception {
    testUnreadableBlockLeavesNothingBehind(keys[0]);
  }

  @Test
  public void testBlockUnreadableByReferenceLeavesNothingBehind() throws Exception {
    testUnreadableBlockLeavesNothingBehind(new BlockCacheKey(REFERENCE,
      keys[0].getOffset(), true, BlockType.DATA));
  }

  private void testUnreadableBlockLeavesNothingBehind(BlockCacheKey readKey) throws Exception {
    BlockCacheKey key = keys[0];
    BucketEntry entry = cache.backingMap.get(key);
    BucketEntry other = cache.backingMap.get(keys[1]);
    Cacheable read = cache.getBlock(readKey, true, false, true);
    assertEquals(blocks[0].getBlock(), read);
    read.release();
    cache.fileCacheCompleted(new Path("/table/region/family/" + FILE), 2 * BLOCK_SIZE);
    overwriteCachedTime(entry);

    assertNull(cache.getBlock(readKey, true, false, true));
    assertNull(cache.getBlock(readKey, true, false, true));

    assertFalse(cache.backingMap.containsKey(key));
    assertFalse(cache.blocksByHFile.contains(key));
    assertEquals(0, entry.refCnt());
    assertEquals(1, cache.getBlockCount());
    assertEquals(other.getLength(), cache.size());
    assertEquals(BUCKET_SIZE, cache.getCurrentSize());
    assertEquals(2, cache.getStats().getMissCount());

    // The place can be used again, and the neighbour is still there
    cache.cacheBlock(key, blocks[0].getBlock());
    Waiter.waitFor(conf, 120_000, 5,
      () -> cache.backingMap.containsKey(key) && !cache.ramCache.containsKey(key));
    for (int i = 0; i < keys.length; i++) {
      Cacheable again = cache.getBlock(keys[i], true, false, true);
      assertNotNull(again);
      assertEquals(blocks[i].getBlock(), again);
      again.release();
    }
  }

  /** Each block is preceded by the time at which it was cached, if the map is persisted. */
  private void overwriteCachedTime(BucketEntry entry) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(engineFile, "rw")) {
      file.seek(entry.offset());
      file.writeLong(entry.getCachedTime() - 1);
    }
  }
}
