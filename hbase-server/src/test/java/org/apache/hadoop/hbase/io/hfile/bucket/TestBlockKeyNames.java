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
import static org.junit.Assert.assertSame;

import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests that a file's name is one string, however many of its blocks are read or cached. */
@Category({ IOTests.class, SmallTests.class })
public class TestBlockKeyNames {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockKeyNames.class);

  private static final int BLOCKS = 50;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  @Test
  public void testKeysOfBlocksThatWereReadShareTheNameOfTheirFile() throws Exception {
    Configuration conf = files.conf();
    BucketCache cache = new BucketCache("offheap", 16 << 20, 1024, new int[] { 8192 }, 1, 1024,
      null, 60000, conf);
    Path path = files.write(new CacheConfig(conf));
    Set<Long> offsets = new HashSet<>();
    try (HFile.Reader reader = HFile.createReader(files.fileSystem(), path,
      new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP), true, conf)) {
      long offset = 0;
      for (int i = 0; i < BLOCKS; i++) {
        HFileBlock block = reader.readBlock(offset, -1, true, true, false, true, null, null);
        offsets.add(offset);
        offset += block.getOnDiskSizeWithHeader();
        block.release();
      }
      CachedBlockFixture.await(() -> cache.backingMap.size() == offsets.size());
      Set<Long> cached = new HashSet<>();
      String name = cache.backingMap.keySet().iterator().next().getHfileName();
      for (BlockCacheKey key : cache.backingMap.keySet()) {
        assertSame(name, key.getHfileName());
        assertEquals(path.getName(), key.getHfileName());
        cached.add(key.getOffset());
      }
      assertFalse(cached.isEmpty());
      assertEquals(offsets, cached);
    }
    cache.evictBlocksByHfileName(path.getName());
    cache.shutdown();
  }
}
