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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.cache;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.tierMetric;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.bucket.RecoveredEntryAllocator;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.segment.index.PagePool;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentStoreSettings;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** A tier of segments by configuration; each bad setting stops the start. */
@Category({ IOTests.class, SmallTests.class })
public class TestSegmentCacheSettings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentCacheSettings.class);

  private static final String ENGINE = "hbase.bucketcache.l2.ioengine";
  private static final String SIZE = "hbase.bucketcache.l2.size";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private Configuration conf;

  @Before
  public void setUp() {
    conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.composite.promotion", "none");
    conf.set(SIZE, "33");
    conf.set(ENGINE, "segments:" + path("one"));
    conf.set(SegmentCacheSettings.SEGMENT_MB_KEY, "1");
  }

  private String path(String name) {
    return new File(folder.getRoot(), name).getPath();
  }

  private void assertRefused(String key, String value, String remedy) {
    String before = conf.get(key);
    conf.set(key, value);
    String message = assertThrows(IllegalArgumentException.class,
      () -> BlockCacheFactory.createBlockCache(conf)).getMessage();
    assertTrue(message, message.startsWith(key + " is " + value + "; must be "));
    assertTrue("one line: " + message, message.endsWith(".") && !message.contains("\n"));
    assertTrue(message, message.contains(remedy));
    if (before == null) {
      conf.unset(key);
    } else {
      conf.set(key, before);
    }
  }

  private SegmentCacheSettings settings() {
    return (SegmentCacheSettings) CompositeBucketCacheSettings.of(conf).second().getDeviceTier();
  }

  @Test
  public void testWhatIsNotSetHasItsDefault() {
    conf.unset(SegmentCacheSettings.SEGMENT_MB_KEY);
    conf.set(SIZE, "500");
    SegmentStoreSettings store = settings().store();
    assertEquals(16 << 20, store.segmentSize);
    assertEquals(5, store.bufferCount);
    assertEquals(0.25, store.rewriteShare, 0);
    assertEquals(0, store.writeLimit);
    assertEquals(500L << 20, store.capacity);
    assertEquals(1, store.paths.size());
    assertEquals(path("one.index"), settings().snapshot().toString());
    assertTrue(CompositeBucketCacheSettings.isPersistent(conf));
  }

  @Test
  public void testWhatIsSetIsTaken() {
    conf.set(SIZE, "34");
    conf.set(ENGINE, "segments:" + path("one") + "," + path("two"));
    conf.set(SegmentCacheSettings.SEGMENT_MB_KEY, "2");
    conf.set(SegmentCacheSettings.BUFFERS_KEY, "9");
    conf.set(SegmentCacheSettings.REWRITE_SHARE_KEY, "0.1");
    conf.set(SegmentCacheSettings.WRITE_LIMIT_KEY, "50");
    conf.set("hbase.bucketcache.l2.persistent.path", path("snapshot"));
    SegmentStoreSettings store = settings().store();
    assertEquals(2 << 20, store.segmentSize);
    assertEquals(9, store.bufferCount);
    assertEquals(0.1, store.rewriteShare, 0);
    assertEquals(50L << 20, store.writeLimit);
    assertEquals(2, store.paths.size());
    assertEquals(path("two"), store.paths.get(1));
    assertEquals(path("snapshot"), settings().snapshot().toString());
  }

  @Test
  public void testAnotherEngineIsNoTierOfSegments() {
    conf.set(ENGINE, "file:" + path("one"));
    conf.set(SIZE, "64");
    conf.set(SegmentCacheSettings.SEGMENT_MB_KEY, "nonsense");
    assertNull(settings());
    assertFalse(CompositeBucketCacheSettings.isPersistent(conf));
  }

  @Test
  public void testNonsenseIsRefused() {
    for (String bad : new String[] { "0", "65", "-1", "1.5", "a" }) {
      assertRefused(SegmentCacheSettings.SEGMENT_MB_KEY, bad, "from 1 to 64");
    }
    for (String bad : new String[] { "0", "16384", "-1", "1.5", "a" }) {
      assertRefused(SegmentCacheSettings.EXPECTED_BLOCK_KB_KEY, bad, "from 1 to 16383");
    }
    for (String bad : new String[] { "2", "-3", "x" }) {
      assertRefused(SegmentCacheSettings.BUFFERS_KEY, bad, "from 3 to 1024");
    }
    for (String bad : new String[] { "-0.1", "0.6", "NaN", "x" }) {
      assertRefused(SegmentCacheSettings.REWRITE_SHARE_KEY, bad, "from 0 to 0.5");
    }
    for (String bad : new String[] { "-1", "x", "0.5" }) {
      assertRefused(SegmentCacheSettings.WRITE_LIMIT_KEY, bad, "of at least 0");
    }
    assertRefused(SIZE, "7", "Raise it, or lower hbase.segmentcache.segment.mb");
    assertRefused(ENGINE, "segments:", "segments:PATH");
    assertRefused(ENGINE, "segments:" + path("no/such/directory"), "Create it");
    assertRefused(ENGINE, "segments:" + path("one") + "," + path("one"), "Give each its own path");
    assertRefused("hbase.bucketcache.l1.ioengine", "segments:" + path("two"), "offheap");
    conf.set(ENGINE, "segments:" + path("one") + "," + path("two"));
    assertRefused(SIZE, "16", "at least 18 for 2 path(s)");
  }

  @Test
  public void testIndexHasMemoryForTheExpectedBlocks() {
    long min = 4L * PagePool.SLAB_BYTES;
    assertEquals(33 << 20 >> 15, settings().expectedBlocks());
    assertEquals(min, settings().maxIndexBytes());
    conf.set(SIZE, "65536");
    assertEquals(2 << 20, settings().expectedBlocks());
    // The index takes 48 MB at 24 bytes a block, and 2 MB.
    assertEquals(50L * PagePool.SLAB_BYTES, settings().maxIndexBytes());
    conf.set(SegmentCacheSettings.EXPECTED_BLOCK_KB_KEY, "1");
    // This is more than the direct memory of this process.
    assertEquals((24L * 64 + 2) * PagePool.SLAB_BYTES,
      SegmentCacheSettings.of(conf.get(ENGINE), SIZE, 65536L << 20, null, conf).maxIndexBytes());
    conf.set(SegmentCacheSettings.EXPECTED_BLOCK_KB_KEY, "16383");
    assertEquals(4096, settings().expectedBlocks());
    assertEquals(min, settings().maxIndexBytes());
  }

  @Test
  public void testDirectMemoryIsRequiredForEachComponent() {
    assertEquals(0, CompositeBucketCacheSettings.warnings(conf).size());
    long mb = 1 << 20;
    long limit = DirectMemoryUtils.getDirectMemorySize();
    conf.set(SegmentCacheSettings.BUFFERS_KEY, "5");
    conf.set("hbase.regionserver.offheap.global.memstore.size", "7");
    // Joined reads take 2 MB.
    long required = (5 + 7 + 2) * mb + settings().maxIndexBytes();
    long l1 = (limit - required) / mb - 1;
    conf.set("hbase.bucketcache.l1.size", String.valueOf(l1));
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 1);
    int pool = (int) (limit - required - l1 * mb);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, pool);
    assertReserveIsAWarning(limit);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, pool + 1);
    assertRefused("hbase.bucketcache.l1.size", String.valueOf(l1),
      "within the " + limit / mb + " MB of direct memory of this process, and "
        + "hbase.bucketcache.l1.size=" + l1 + " (" + l1 + " MB) + "
        + SegmentCacheSettings.BUFFERS_KEY + "=5 (5 MB) + index at "
        + SegmentCacheSettings.EXPECTED_BLOCK_KB_KEY + "=32 (5 MB) + joined reads (2 MB) + "
        + "hbase.regionserver.offheap.global.memstore.size=7 (7 MB) + "
        + ByteBuffAllocator.MAX_BUFFER_COUNT_KEY + "=1 of " + ByteBuffAllocator.BUFFER_SIZE_KEY
        + "=" + (pool + 1) + " (2 MB) make " + (limit / mb + 1) + " MB. Lower one of them, or "
        + "raise -XX:MaxDirectMemorySize to " + (limit / mb + 1) + "m or more.");
    assertEquals("what is refused is no warning", 0,
      CompositeBucketCacheSettings.warnings(conf).size());
    conf.setBoolean(ByteBuffAllocator.ALLOCATOR_POOL_ENABLED_KEY, false);
    settings();
  }

  /** The index can grow less if others need the memory. */
  private void assertReserveIsAWarning(long limit) {
    long need = limit + PagePool.reserveBytes() >> 20;
    List<String> warnings = CompositeBucketCacheSettings.warnings(conf);
    assertEquals(warnings.toString(), 1, warnings.size());
    assertTrue(warnings.get(0), warnings.get(0).contains("reserve of the index for others ("));
    assertTrue(warnings.get(0), warnings.get(0).contains("may come to " + need + " MB"));
    assertTrue(warnings.get(0),
      warnings.get(0).contains("raise -XX:MaxDirectMemorySize to " + need + "m"));
  }

  @Test
  public void testPathsLargerThanTheirFileSystemAreAWarning() {
    long total = folder.getRoot().getTotalSpace() >> 20;
    conf.unset(SegmentCacheSettings.SEGMENT_MB_KEY);
    conf.set(SegmentCacheSettings.EXPECTED_BLOCK_KB_KEY, "16383");
    conf.setLong(SIZE, total + 100);
    List<String> warnings = CompositeBucketCacheSettings.warnings(conf);
    assertEquals(warnings.toString(), 1, warnings.size());
    assertTrue(warnings.get(0), warnings.get(0).startsWith(SIZE + " is " + (total + 100)
      + "; the tiers take " + (total + 100) + " MB in " + folder.getRoot()));
    assertTrue(warnings.get(0), warnings.get(0).endsWith(" of " + total
      + " MB free. Lower it, or set a path on a larger file system."));
  }

  private ByteBuffAllocator pool() {
    Configuration of = new Configuration(conf);
    of.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 4);
    of.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 0);
    return ByteBuffAllocator.create(of, true);
  }

  @Test
  public void testTheTierOfSegmentsTakesDataAndOutlivesTheCache() {
    for (int round = 0; round < 2; round++) {
      BlockCache both = BlockCacheFactory.createBlockCache(conf);
      try {
        CompositeBucketCache composite = (CompositeBucketCache) both;
        SegmentCache second = (SegmentCache) composite.getSecondLevelCache();
        assertEquals("segments:" + path("one"), second.getIoEngine());
        ByteBuffAllocator pool = pool();
        // The first store that is opened does the same.
        RecoveredEntryAllocator.use(both, pool);
        assertEquals(round > 0, second.containsBlock(key("data", 0, BlockType.DATA)));
        cache(both, key("data", 0, BlockType.DATA), block(BlockType.DATA, 0, 1000));
        cache(both, key("data", 5000, BlockType.DATA),
          block(BlockType.LEAF_INDEX, 5000, 1000));
        assertEquals(1, second.getBlockCount());
        both.getBlock(key("data", 0, BlockType.DATA), true, false, true).release();
        assertEquals("read into the pool", 1, pool.getUsedBufferCount());
        assertEquals("given back", 1, pool.getFreeBufferCount());
        both.getBlock(key("data", 5000, BlockType.LEAF_INDEX), true, false, true).release();
        assertEquals(1, tierMetric("L2DataBlockCount"));
        assertEquals(1, tierMetric("L2HitCount"));
        both.evictBlock(key("data", 5000, BlockType.LEAF_INDEX));
      } finally {
        both.shutdown();
      }
    }
  }
}
