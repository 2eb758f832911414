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
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a block that has replaced another one with the same key, see
 * {@link org.apache.hadoop.hbase.io.hfile.BlockCacheUtil#shouldReplaceExistingCacheBlock}, is
 * evicted with the blocks of its file.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestReplacedBlockEviction {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReplacedBlockEviction.class);

  private static final String FILE = "8e8ab58dcf39412da19833fcd8f687ac";
  private static final int SIZE = 2048;

  private final Configuration conf = HBaseConfiguration.create();
  private BucketCache cache;

  @Before
  public void setUp() throws Exception {
    cache = new BucketCache("offheap", 32 << 20, SIZE, null, 1, 64, null, 60000, conf);
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  @Test
  public void testReplacedBlockIsEvictedWithItsFile() {
    BlockCacheKey key = new BlockCacheKey(FILE, 0, true, BlockType.DATA);
    cacheAndWait(key, block(-1));
    BucketEntry first = cache.backingMap.get(key);
    // A block that includes the size of the next one replaces a cached block that does not.
    cache.cacheBlock(key, block(SIZE));
    Waiter.waitFor(conf, 120_000, 5,
      () -> cache.ramCache.isEmpty() && cache.backingMap.get(key) != first);
    assertEquals(0, first.refCnt());
    assertTrue(cache.blocksByHFile.contains(key));

    assertEquals(1, cache.evictBlocksByHfileName(FILE));

    assertEquals(0, cache.backingMap.size());
    assertEquals(0, cache.blocksByHFile.size());
    assertEquals(0, cache.getCurrentSize());
  }

  private void cacheAndWait(BlockCacheKey key, HFileBlock block) {
    cache.cacheBlock(key, block);
    Waiter.waitFor(conf, 120_000, 5,
      () -> cache.ramCache.isEmpty() && cache.backingMap.containsKey(key));
  }

  private static HFileBlock block(int nextBlockOnDiskSize) {
    return new HFileBlock(BlockType.DATA, SIZE, SIZE, -1, ByteBuff.wrap(ByteBuffer.allocate(SIZE)),
      HFileBlock.FILL_HEADER, 0, nextBlockOnDiskSize, SIZE, new HFileContextBuilder().build(),
      ByteBuffAllocator.HEAP);
  }
}
