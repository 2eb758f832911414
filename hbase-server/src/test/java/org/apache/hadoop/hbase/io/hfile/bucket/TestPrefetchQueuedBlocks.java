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

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A block that waits for a writer of the bucket cache counts as cached. */
@Category({ IOTests.class, MediumTests.class })
public class TestPrefetchQueuedBlocks {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchQueuedBlocks.class);

  private static final String PARENT_REGION = "0123456789abcdef0123456789abcdef";

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private final AtomicInteger insertions = new AtomicInteger();
  private final AtomicInteger finished = new AtomicInteger();
  private BucketCache cache;

  @Before
  public void setUp() throws Exception {
    cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 8192, null) {
      @Override
      protected void startWriterThreads() {
        // The inserted blocks are still queued.
      }

      @Override
      public void cacheBlockWithWait(BlockCacheKey key, Cacheable block, boolean inMemory,
        boolean wait) {
        insertions.incrementAndGet();
        super.cacheBlockWithWait(key, block, inMemory, wait);
      }

      @Override
      public void notifyFileCachingCompleted(Path path, int blocks, int dataBlocks, long size) {
        // Would wait until all is written.
        finished.incrementAndGet();
      }
    };
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  @Test
  public void testWaitingBlocksAreNotReadAgain() throws Exception {
    files.cacheAllOnWrite();
    Path path = files.write(new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    int written = insertions.get();
    assertTrue(written >= files.blocks(path).size());
    assertEquals(0, cache.getBackingMap().size());
    files.prefetch(path, cache, () -> {
    });
    assertEquals(1, finished.get());
    assertEquals(written, insertions.get());
  }

  @Test
  public void testWaitingBlockIsKnownWithItsSizeAndType() throws Exception {
    files.cacheAllOnWrite();
    Path path = files.write(new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    for (StoreFileFixture.Block block : files.blocks(path)) {
      assertKnown(block, block.key());
      assertKnown(block, new BlockCacheKey(path.getName() + "." + PARENT_REGION, block.offset()));
    }
  }

  private void assertKnown(StoreFileFixture.Block block, BlockCacheKey key) {
    assertTrue("not known: " + block, cache.isAlreadyCached(key).get());
    assertEquals(block.size(), (int) cache.getBlockSize(key).get());
    assertEquals(block.type(), cache.getBlockType(key).get());
  }
}
