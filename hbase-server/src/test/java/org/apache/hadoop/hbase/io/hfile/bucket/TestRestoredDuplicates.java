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

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A map that is persisted while blocks are evicted and inserted may have two blocks at one place.
 * One of them is restored, so that the place is freed once.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestRestoredDuplicates {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRestoredDuplicates.class);

  private static final int SIZE = 1024;
  private static final int CAPACITY = 16 * SIZE;
  private static final int BLOCKS = 3;

  private final Map<BlockCacheKey, BucketEntry> map = new ConcurrentHashMap<>();

  private void add(String file, long offset) {
    map.put(new BlockCacheKey(file, offset),
      new BucketEntry(offset, SIZE, SIZE, 0, false, entry -> ByteBuffAllocator.NONE,
        ByteBuffAllocator.HEAP));
  }

  @Test
  public void testOneOfTwoBlocksAtAPlaceIsRestored() throws Exception {
    for (int i = 0; i < BLOCKS; i++) {
      add("file", i * SIZE);
    }
    add("other", SIZE);
    LongAdder size = new LongAdder();
    BucketAllocator allocator = new BucketAllocator(CAPACITY, new int[] { SIZE }, map, size);
    assertEquals(BLOCKS, map.size());
    assertEquals(BLOCKS * SIZE, size.sum());
    assertEquals(BLOCKS * SIZE, allocator.getUsedSize());
    for (BucketEntry entry : map.values()) {
      allocator.freeBlock(entry.offset(), entry.getLength());
    }
    assertEquals(0, allocator.getUsedSize());
  }
}
