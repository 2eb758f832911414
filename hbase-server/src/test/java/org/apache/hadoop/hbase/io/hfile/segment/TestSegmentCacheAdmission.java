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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Proves which blocks that reads have missed reach L2, with segments as L2. */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentCacheAdmission {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentCacheAdmission.class);

  private static final String REGION = "0123456789abcdef0123456789abcdef";
  private static final String FILE = "11111111111111111111111111111111";
  private static final String FILLER = "22222222222222222222222222222222";
  private static final int SIZE = 30_000;
  /** About as many blocks as L2 holds. */
  private static final int TIER = (32 << 20) / SIZE;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private CompositeBucketCache cache;
  private SegmentCache second;

  @Before
  public void setUp() {
    Configuration conf = CachedBlockFixture.tiers(4, 33,
      SegmentCacheSettings.ENGINE + new File(folder.getRoot(), "l2").getPath());
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.composite.promotion", "none");
    conf.set("hbase.bucketcache.composite.l2.admission", "second-miss");
    conf.set("hbase.bucketcache.l1.bucket.sizes", "33792");
    conf.set("hbase.bucketcache.queue.addition.waittime", "60000");
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    second = (SegmentCache) cache.getSecondLevelCache();
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private static BlockCacheKey key(String file, int block) {
    return new BlockCacheKey(new Path("/hbase/data/default/t/" + REGION + "/f/" + file),
      (long) block * SIZE, true, BlockType.DATA);
  }

  private boolean insert(BlockCacheKey key, boolean waits) {
    HFileBlock block = block(BlockType.DATA, key.getOffset(), SIZE);
    try {
      cache.cacheBlock(key, block, false, waits);
    } finally {
      block.release();
    }
    return second.containsBlock(key);
  }

  private void prefetch(int from, int count) {
    for (int block = from; block < from + count; block++) {
      insert(key(FILLER, block), true);
    }
  }

  private long gauge(String name) {
    return CachedBlockFixture.tierMetric("L2" + name);
  }

  @Test
  public void testSpaceIsToSpareUntilTheTierIsFullAndAgainWhenAFileWasDropped() {
    assertTrue(second.hasSpareSpace());
    prefetch(0, TIER);
    await(() -> second.pending() == 0);
    for (int i = 0; i < 2 * TIER; i++) {
      prefetch(TIER + i, 1);
      assertFalse("after " + i + " more", second.hasSpareSpace());
    }
    assertTrue(gauge("ReclaimedSegmentCount") > 0);
    cache.evictBlocksByHfileName(FILLER);
    await(second::hasSpareSpace);
  }

  @Test
  public void testMissedBlockIsInsertedOnItsSecondMiss() {
    prefetch(0, 2 * TIER);
    await(() -> second.pending() == 0);
    long inserted = gauge("InsertedBlockCount");
    long refused = gauge("RefusedInsertCount");
    assertFalse(insert(key(FILE, 0), false));
    assertEquals(1, gauge("RejectedReadInsertCount"));
    assertEquals(inserted, gauge("InsertedBlockCount"));
    assertTrue(insert(key(FILE, 0), false));
    assertTrue("stored already", insert(key(FILE, 0), false));
    assertEquals(1, gauge("AdmittedReadInsertCount"));
    assertEquals(1, gauge("RejectedReadInsertCount"));
    assertEquals(inserted + 1, gauge("InsertedBlockCount"));
    assertEquals("a block that is rejected is not refused", refused, gauge("RefusedInsertCount"));
  }

  @Test
  public void testBlocksThatAreReadOnceAreNotWritten() {
    prefetch(0, 2 * TIER);
    await(() -> second.pending() == 0);
    long inserted = gauge("InsertedBlockCount");
    for (int block = 0; block < 2 * TIER; block++) {
      insert(key(FILE, block), false);
    }
    assertEquals(2 * TIER, gauge("RejectedReadInsertCount"), 5);
    assertEquals(inserted, gauge("InsertedBlockCount"), 5);
  }
}
