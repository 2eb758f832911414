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

import static org.junit.Assert.assertTrue;

import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The cache counts a file's blocks when prefetch is over. Blocks that are written while it counts
 * are neither counted nor waiting any more; the file is fully cached nevertheless.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestFileCachedWhileWritten {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFileCachedWhileWritten.class);

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  @Test
  public void testBlocksWrittenDuringTheCountAreNotMissed() throws Exception {
    BucketCache cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 8192, null) {
      @Override
      protected void startWriterThreads() {
        // Started in the middle of the count.
      }
    };
    AtomicBoolean counted = new AtomicBoolean();
    cache.blocksByHFile =
      new ConcurrentSkipListSet<BlockCacheKey>(cache.blocksByHFile.comparator()) {
        @Override
        public NavigableSet<BlockCacheKey> subSet(BlockCacheKey from, boolean fromInclusive,
          BlockCacheKey to, boolean toInclusive) {
          NavigableSet<BlockCacheKey> found =
            new TreeSet<>(super.subSet(from, fromInclusive, to, toInclusive));
          if (counted.compareAndSet(false, true)) {
            cache.writerThreads[0].start();
            Waiter.waitFor(files.conf(), 120_000, 1, cache.ramCache::isEmpty);
          }
          return found;
        }
      };
    files.cacheAllOnWrite();
    Path path = files.write(new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    int data = (int) files.blocks(path).stream().filter(block -> block.type().isData()).count();
    cache.notifyFileCachingCompleted(path, data + 1, data, 1);
    assertTrue(cache.getFullyCachedFiles().get().containsKey(path.getName()));
    cache.shutdown();
  }
}
