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
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencySketch;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** What a tier knows of the accesses to its blocks, and that looking at it leaves no trace. */
@Category({ IOTests.class, MediumTests.class })
public class TestEntryAccesses {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestEntryAccesses.class);

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int SIZE = 4000;
  private static final BlockCacheKey KEY = key(FILE, 7, BlockType.DATA);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final Configuration conf = HBaseConfiguration.create();
  private CompositeBucketCache composite;
  private L1BucketCache first;
  private BucketCacheTier second;

  @Before
  public void setUp() {
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.composite.promotion", "none");
    conf.set("hbase.bucketcache.l1.size", "4");
    conf.set("hbase.bucketcache.l2.size", "16");
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    conf.set("hbase.bucketcache.writer.queuelength", "3");
    conf.set("hbase.bucketcache.queue.addition.waittime", "60000");
    conf.set("hbase.bucketcache.l2.ioengine",
      "file:" + new File(folder.getRoot(), "l2").getPath());
    open();
  }

  private void open() {
    composite = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (L1BucketCache) composite.getFirstLevelCache();
    second = (BucketCacheTier) composite.getSecondLevelCache();
  }

  @After
  public void tearDown() {
    close();
  }

  private void close() {
    composite.evictBlocksByHfileName(FILE);
    composite.shutdown();
  }

  private void insert(BlockCacheKey key) {
    HFileBlock block = block(key.getBlockType(), key.getOffset(), SIZE);
    composite.cacheBlock(key, block, false, true);
    block.release();
    awaitWriters();
  }

  private void awaitWriters() {
    await(() -> first.heapSize() == 0 && second.heapSize() == 0);
  }

  private void look(BlockCacheKey key, boolean caching, boolean counts) {
    Cacheable found = composite.getBlock(key, caching, false, counts);
    found.release();
  }

  @Test
  public void testLookupsOfReadersThatCacheAreAccesses() {
    assertEquals(HotBlockCache.NOT_CACHED, composite.accesses(KEY));
    insert(KEY);
    assertEquals("written, but never accessed", 0, composite.accesses(KEY));
    look(KEY, false, true);
    look(KEY, true, false);
    assertEquals("by a compaction, by a prefetch", 0, composite.accesses(KEY));
    for (int i = 1; i <= 40; i++) {
      look(KEY, true, true);
      assertEquals(Math.min(i, EntryAccesses.MAX), composite.accesses(KEY));
    }
    assertEquals("of one scale", FrequencySketch.MAX_FREQUENCY, HotBlockCache.MAX_ACCESSES);
    assertEquals(1, second.getDataBlockCount());
    assertEquals("the category is another", 0, second.getMetaBlockCount());
    long bytes = composite.cachedBytes(FILE);
    assertTrue(bytes + " bytes", bytes > SIZE && bytes < 5120);
    composite.evictBlocksByHfileName(FILE);
    assertEquals(0, composite.cachedBytes(FILE));
    assertEquals(HotBlockCache.NOT_CACHED, composite.accesses(KEY));
  }

  @Test
  public void testReferences() {
    insert(KEY);
    look(KEY, true, true);
    BlockCacheKey reference = key(FILE + ".fedcba9876543210fedcba9876543210", 7, BlockType.DATA);
    assertEquals(1, composite.accesses(reference));
    look(reference, true, true);
    assertEquals(2, composite.accesses(KEY));
  }

  @Test
  public void testPeekLeavesNoTrace() {
    BlockCacheKey index = key(FILE, 1, BlockType.LEAF_INDEX);
    insert(index);
    insert(key(FILE, 2, BlockType.LEAF_INDEX));
    BucketEntry entry = first.backingMap.get(index);
    long accessed = entry.getAccessCounter();
    long requests = composite.getStats().getRequestCount();
    HFileBlock block = composite.peek(index);
    assertEquals(1, block.getOffset());
    assertTrue(entry.isRpcRef());
    block.release();
    assertFalse(entry.isRpcRef());
    assertEquals(accessed, entry.getAccessCounter());
    assertEquals(BlockPriority.SINGLE, entry.getPriority());
    assertEquals(0, EntryAccesses.of(entry));
    assertNull(composite.peek(key(FILE, 3, BlockType.LEAF_INDEX)));
    assertEquals(requests, composite.getStats().getRequestCount());
    insert(KEY);
    assertNull("it is on a device", composite.peek(KEY));
  }

  @Test
  public void testHotBlockEntersHot() {
    insert(KEY);
    BlockCacheKey hot = key(FILE, 8, BlockType.DATA);
    HFileBlock block = block(BlockType.DATA, 8, SIZE);
    assertTrue(composite.cacheHot(hot, block, false, 5));
    block.release();
    awaitWriters();
    assertEquals(5, composite.accesses(hot));
    assertEquals(BlockPriority.MULTI, second.backingMap.get(hot).getPriority());
    assertEquals(BlockPriority.SINGLE, second.backingMap.get(KEY).getPriority());
    HFileBlock inMemory = block(BlockType.DATA, 9, SIZE);
    assertTrue(composite.cacheHot(key(FILE, 9, BlockType.DATA), inMemory, true, 99));
    inMemory.release();
    awaitWriters();
    assertEquals(EntryAccesses.MAX, composite.accesses(key(FILE, 9, BlockType.DATA)));
    assertEquals(BlockPriority.MEMORY,
      second.backingMap.get(key(FILE, 9, BlockType.DATA)).getPriority());
  }

  /** An insertion that would wait is dropped at once, and holds nothing. */
  @Test
  public void testFullQueue() throws Exception {
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 500);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 1024);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 64);
    ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
    second.stopWriterThreads();
    int cached = 0;
    for (int i = 0; i < 100; i++) {
      HFileBlock block = block(BlockType.DATA, i, SIZE, pool);
      if (composite.cacheHot(key(FILE, i, BlockType.DATA), block, false, 1)) {
        cached++;
        assertEquals(2, block.refCnt());
      } else {
        assertEquals(1, block.refCnt());
      }
      block.release();
    }
    assertTrue(cached + " fit", cached > 0 && cached < 20);
    assertEquals(100 - cached, second.getStats().getFailedInserts());
  }

  /** With promotion, the policy tells how hot a block is, and a new block becomes as hot. */
  @Test
  public void testFrequencyIsHandedOver() {
    close();
    conf.set("hbase.bucketcache.composite.promotion", "frequency");
    open();
    insert(KEY);
    assertEquals(0, composite.accesses(KEY));
    for (int i = 0; i < 50; i++) {
      look(KEY, true, true);
    }
    int accesses = composite.accesses(KEY);
    assertTrue(accesses + " accesses", accesses > 1);
    assertTrue(composite.isInL1(KEY));
    BlockCacheKey hot = key(FILE, 8, BlockType.DATA);
    HFileBlock block = block(BlockType.DATA, 8, SIZE);
    assertTrue(composite.cacheHot(hot, block, false, accesses));
    assertTrue(composite.copyToL1(hot, block, accesses));
    block.release();
    awaitWriters();
    assertEquals(accesses, composite.accesses(hot));
    assertTrue(composite.isInL1(hot));
    look(hot, true, true);
    composite.evictBlocksByHfileName(FILE);
    assertFalse(composite.isInL1(hot));
  }

  @Test
  public void testNoCopyInL1ThatEvictsAnother() {
    close();
    conf.set("hbase.bucketcache.composite.promotion", "frequency");
    open();
    int copies = 0;
    for (int i = 0; i < 2000; i++) {
      BlockCacheKey hot = key(FILE, i, BlockType.DATA);
      HFileBlock block = block(BlockType.DATA, i, SIZE);
      if (composite.cacheHot(hot, block, false, 3) && composite.copyToL1(hot, block, 3)) {
        copies++;
      }
      block.release();
      awaitWriters();
    }
    assertTrue(copies + " copies", copies > 100 && copies < 1000);
    for (int i = 0; i < 100; i++) {
      assertTrue(composite.isInL1(key(FILE, i, BlockType.DATA)));
    }
  }
}
