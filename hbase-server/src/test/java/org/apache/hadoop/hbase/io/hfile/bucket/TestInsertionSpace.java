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
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A cache with 15 buckets of 32 KB, for blocks of 2 KB or 8 KB. */
@Category({ IOTests.class, SmallTests.class })
public class TestInsertionSpace {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestInsertionSpace.class);

  private static final int KB = 1024;
  private static final int SMALL = KB;
  private static final int LARGE = 7 * KB;

  private BucketCache cache;
  private InsertionSpace space;
  private int blocks;

  @Before
  public void setUp() throws IOException {
    cache = new BucketCache("offheap", 15 * 32 * KB, 8 * KB, new int[] { 2 * KB, 8 * KB }, 1, 1000,
      null);
    space = new InsertionSpace(cache);
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private void insert(int count, int size) {
    for (int i = 0; i < count; i++) {
      long offset = (long) blocks++ * 8 * KB;
      BlockCacheKey key = CachedBlockFixture.key("file", offset, BlockType.DATA);
      CachedBlockFixture.cache(cache, key,
        CachedBlockFixture.block(BlockType.DATA, offset, size));
      CachedBlockFixture.await(() -> CachedBlockFixture.isWritten(cache, key));
    }
  }

  /** Asks as long as the last look at the allocator may serve, and once more. */
  private boolean areThereAfterAnotherLook(int length) {
    for (int i = 0; i < InsertionSpace.RECHECK; i++) {
      space.isSpareFor(length);
    }
    return space.isSpareFor(length);
  }

  @Test
  public void testBlockOfEachSize() {
    assertTrue(space.isSpareFor(SMALL));
    assertFalse("at most 60 of them fit at all", space.isSpareFor(LARGE));
    assertFalse("none has so large a place", space.isSpareFor(9 * KB));
  }

  @Test
  public void testFewPlacesAreLeft() {
    assertTrue(space.isSpareFor(SMALL));
    // All but 4 of the buckets, and 16 places in each.
    insert(11 * 16, SMALL);
    assertFalse(areThereAfterAnotherLook(SMALL));
  }

  @Test
  public void testBucketsBelongToAnotherSize() {
    // 32 KB each, of which the small ones keep one, and all could still be in 85 % of 85 %.
    insert(9 * 4, LARGE);
    assertTrue(space.isSpare());
    insert(1, SMALL);
    assertEquals(37, cache.getBlockCount());
    assertTrue(areThereAfterAnotherLook(SMALL));
    insert(1 * 4, LARGE);
    assertFalse("the tier is nearly full", areThereAfterAnotherLook(SMALL));
  }

  @Test
  public void testBlocksThatWaitToBeWritten() throws InterruptedException {
    cache.stopWriterThreads();
    for (int i = 0; i < 11 * 16; i++) {
      CachedBlockFixture.cache(cache, CachedBlockFixture.key("file", i, BlockType.DATA),
        CachedBlockFixture.block(BlockType.DATA, i, SMALL));
    }
    assertFalse(space.isSpareFor(SMALL));
  }

  @Test
  public void testPlacesAreLeftAgain() {
    insert(11 * 16, SMALL);
    assertFalse(space.isSpareFor(SMALL));
    cache.evictBlocksByHfileName("file");
    assertTrue(areThereAfterAnotherLook(SMALL));
  }
}
