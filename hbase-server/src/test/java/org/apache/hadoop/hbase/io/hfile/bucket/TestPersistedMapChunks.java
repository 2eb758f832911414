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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils.HFileBlockPair;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.generated.BucketCacheProtos;

/**
 * Tests that a persisted map holds as many chunks as its header announces, and at least the first
 * one, which every reader needs: one that misses fails the start of a server without HBASE-28839,
 * and costs it its whole cache with it.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestPersistedMapChunks {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPersistedMapChunks.class);

  private static final int BLOCKS = 5;
  private static final int BLOCK_SIZE = 2048;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private File dir;
  private File map;

  @Before
  public void setUp() {
    // Only the test persists the map
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    conf.setLong(BucketCache.BACKING_MAP_PERSISTENCE_CHUNK_SIZE, 2);
    dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    map = new File(dir, "map");
  }

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testLastBlockEvictedWhileTheMapIsWritten() throws Exception {
    testBlocksEvictedWhileTheMapIsWritten(1);
  }

  @Test
  public void testTwoBlocksEvictedWhileTheMapIsWritten() throws Exception {
    testBlocksEvictedWhileTheMapIsWritten(2);
  }

  private void testBlocksEvictedWhileTheMapIsWritten(int evicted) throws Exception {
    EvictingCache cache = new EvictingCache();
    for (HFileBlockPair block : CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, BLOCKS)) {
      cache.cacheBlock(block.getBlockName(), block.getBlock());
      Waiter.waitFor(conf, 120_000, 5, () -> cache.backingMap.containsKey(block.getBlockName())
        && !cache.ramCache.containsKey(block.getBlockName()));
    }
    // These are the last ones in the order of the map.
    List<BlockCacheKey> keys = new ArrayList<>(cache.backingMap.keySet());
    cache.victims = keys.subList(BLOCKS - evicted, BLOCKS);
    cache.persistToFile();
    assertNull("nothing was evicted", cache.victims);
    assertEquals(BLOCKS - evicted, cache.backingMap.size());

    BucketCache restored = new BucketCache("file:" + new File(dir, "cache"), 32 << 20, BLOCK_SIZE,
      null, 1, 64, map.getPath(), 60000, conf);
    assertEquals(new HashSet<>(keys.subList(0, BLOCKS - evicted)), restored.backingMap.keySet());
    restored.shutdown();
    cache.shutdown();
  }

  /** A stock server must be able to read the layout as well. */
  @Test
  public void testMapWithoutBlocksHasItsFirstChunk() throws Exception {
    BucketCache cache = new EvictingCache();
    cache.shutdown();

    try (DataInputStream in = new DataInputStream(new FileInputStream(map))) {
      byte[] magic = new byte[BucketProtoUtils.PB_MAGIC_V2.length];
      in.readFully(magic);
      assertEquals(2, in.readLong());
      assertTrue(in.readLong() <= 1);
      BucketCacheProtos.BucketCacheEntry first =
        BucketCacheProtos.BucketCacheEntry.parseDelimitedFrom(in);
      assertNotNull("no first chunk", first);
      assertEquals(cache.getMaxSize(), first.getCacheCapacity());
      assertEquals(0, first.getBackingMap().getEntryCount());
      assertEquals(-1, in.read());
    }
  }

  /** Evicts blocks when the first chunk is being written, as any thread might. */
  private final class EvictingCache extends BucketCache {
    private List<BlockCacheKey> victims;

    EvictingCache() throws IOException {
      super("file:" + new File(dir, "cache"), 32 << 20, BLOCK_SIZE, null, 1, 64, map.getPath(),
        60000, conf);
    }

    @Override
    public long getMaxSize() {
      if (victims != null) {
        List<BlockCacheKey> keys = victims;
        victims = null;
        keys.forEach(this::evictBlock);
      }
      return super.getMaxSize();
    }
  }
}
