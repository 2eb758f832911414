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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests that a map is not taken for the mapped file of another run. */
@Category({ IOTests.class, SmallTests.class })
public class TestMappedFileMismatch {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMappedFileMismatch.class);

  private static final int BLOCKS = 20;
  private static final int BLOCK_SIZE = 32 * 1024;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
  private File file;
  private File map;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Before
  public void makeFolder() {
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    file = new File(dir, "cache");
    map = new File(dir, "map");
  }

  @After
  public void deleteFolder() {
    pool.clean();
    util.cleanupTestDir();
  }

  @Test
  public void testMmapStartsEmptyAndCaches() throws IOException {
    assertStartsEmptyAndCaches("mmap:");
  }

  @Test
  public void testPmemStartsEmptyAndCaches() throws IOException {
    assertStartsEmptyAndCaches("pmem:");
  }

  private void assertStartsEmptyAndCaches(String engine) throws IOException {
    BucketCache before = open(engine);
    for (int i = 0; i < BLOCKS; i++) {
      cache(before, i);
    }
    before.shutdown();
    // Those of the process that is gone.
    before.backingMap.values().forEach(BucketEntry::markAsEvicted);
    try (RandomAccessFile changed = new RandomAccessFile(file, "rw")) {
      changed.write(new byte[BLOCKS * (BLOCK_SIZE + 1024)]);
    }
    assertTrue(file.setLastModified(file.lastModified() - 60_000));

    BucketCache cache = open(engine);
    new CacheConfig(conf, null, cache, pool);
    CachedBlockFixture.await(() -> cache.getBackingMapValidated().get());
    for (int i = 0; i < BLOCKS; i++) {
      assertNull("block " + i, cache.getBlock(key(i), true, false, true));
    }
    assertEquals(0, cache.backingMap.size());
    assertEquals(0, cache.blocksByHFile.size());
    assertEquals(0, cache.getAllocator().getUsedSize());
    assertEquals(0, cache.getCurrentDataSize());

    cache(cache, 0);
    cache.getBlock(key(0), true, false, true).release();
    cache.evictBlocksByHfileName("file");
    cache.shutdown();
  }

  private static void cache(BucketCache cache, int i) {
    CachedBlockFixture.cache(cache, key(i), block(i));
    CachedBlockFixture.await(() -> cache.backingMap.containsKey(key(i)));
  }

  private static BlockCacheKey key(int i) {
    return CachedBlockFixture.key("file", (long) i * BLOCK_SIZE, BlockType.DATA);
  }

  private static HFileBlock block(int i) {
    return CachedBlockFixture.block(BlockType.DATA, (long) i * BLOCK_SIZE, BLOCK_SIZE);
  }

  private BucketCache open(String engine) throws IOException {
    return new BucketCache(engine + file, 16 << 20, BLOCK_SIZE, new int[] { BLOCK_SIZE + 1024 }, 1,
      64, map.getPath(), 60000, conf);
  }
}
