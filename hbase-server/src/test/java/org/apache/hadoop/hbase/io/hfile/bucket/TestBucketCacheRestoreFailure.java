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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils.HFileBlockPair;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a bucket cache starts empty and works when its persisted map cannot be read, whatever
 * the reason (HBASE-28839).
 */
@Category({ IOTests.class, SmallTests.class })
public class TestBucketCacheRestoreFailure {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBucketCacheRestoreFailure.class);

  /** Where the number of chunks is in the persisted map: after the magic and the chunk size. */
  private static final int NUM_CHUNKS_OFFSET = 4 + Long.BYTES;
  /** Whole buckets, be the largest block 6144 or 24576 bytes: four of them make a bucket. */
  private static final long CAPACITY = 320 * 4 * 24576;
  private static final int BLOCK_SIZE = 2048;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private File engineFile;
  private File persistedMap;

  @Before
  public void setUp() {
    // The map is persisted on shutdown only
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    engineFile = new File(dir, "cache");
    persistedMap = new File(dir, "map");
  }

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testStartsEmptyAfterAnUncheckedException() throws Exception {
    BucketCache cache = create(new int[] { 3072 });
    cacheBlocks(cache, 5, BLOCK_SIZE);
    cache.shutdown();
    // There is one chunk less: reading the second one gives null.
    try (RandomAccessFile map = new RandomAccessFile(persistedMap, "rw")) {
      map.seek(NUM_CHUNKS_OFFSET);
      map.writeLong(2);
    }

    assertStartsEmptyAndWorks(create(new int[] { 3072 }));
  }

  @Test
  public void testNothingIsLeftOfAMapThatIsRejected() throws Exception {
    BucketCache cache = create(new int[] { 3072, 6144 });
    cacheBlocks(cache, 4, BLOCK_SIZE);
    cacheBlocks(cache, 4, 2 * BLOCK_SIZE);
    cache.shutdown();

    // If the larger size is four times as large, the larger blocks are at invalid offsets, which
    // the restart detects when some blocks have been taken over.
    assertStartsEmptyAndWorks(create(new int[] { 3072, 24576 }));
  }

  private void assertStartsEmptyAndWorks(BucketCache cache) throws Exception {
    try {
      assertTrue(cache.isCacheEnabled());
      assertEquals(0, cache.backingMap.size());
      assertEquals(0, cache.blocksByHFile.size());
      assertEquals(0, cache.getFullyCachedFiles().get().size());
      assertEquals(0, cache.getBlockCount());
      assertEquals(0, cache.getAllocator().getUsedSize());
      assertEquals(0, cache.size());

      HFileBlockPair block = cacheBlocks(cache, 1, BLOCK_SIZE)[0];
      Cacheable read = cache.getBlock(block.getBlockName(), true, false, true);
      assertNotNull(read);
      assertEquals(block.getBlock(), read);
      read.release();
    } finally {
      cache.shutdown();
    }
  }

  private BucketCache create(int[] bucketSizes) throws IOException {
    return new BucketCache("file:" + engineFile, CAPACITY, BLOCK_SIZE, bucketSizes, 1, 64,
      persistedMap.getPath(), 60000, conf);
  }

  private HFileBlockPair[] cacheBlocks(BucketCache cache, int count, int size) {
    HFileBlockPair[] blocks = CacheTestUtils.generateHFileBlocks(size, count);
    for (HFileBlockPair block : blocks) {
      cache.cacheBlock(block.getBlockName(), block.getBlock());
      Waiter.waitFor(conf, 120_000, 5, () -> cache.backingMap.containsKey(block.getBlockName())
        && !cache.ramCache.containsKey(block.getBlockName()));
    }
    return blocks;
  }
}
