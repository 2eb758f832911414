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
package org.apache.hadoop.hbase.io.hfile.load;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture.Block;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** A cache that has some of a file, as after a restart or when its queue had to drop a block. */
@Category({ IOTests.class, MediumTests.class })
public class TestPrefetchAfterRestart {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchAfterRestart.class);

  private static final int NEXT_HEADER = 33;

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final ReadLog log = new ReadLog();

  private CombinedBlockCache startCache() throws Exception {
    BucketCache second = new BucketCache("file:" + new File(folder.getRoot(), "cache"), 96 << 20,
      64 << 10, null, 2, 8192, new File(folder.getRoot(), "map").getPath());
    Waiter.waitFor(files.conf(), 120_000, 5, () -> second.getBackingMapValidated().get());
    return new CombinedBlockCache(new LruBlockCache(32 << 20, 64 << 10, true, files.conf()),
      second);
  }

  private FilePrefetch warm(Path path, BlockCache cache) throws Exception {
    FileSystem fs = log.over(files.fileSystem());
    CacheConfig cacheConf = new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP);
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf, true, files.conf())) {
      log.clear();
      FilePrefetch warmUp = FilePrefetch.of(reader, cacheConf, files.conf());
      warmUp.run();
      assertEquals(FilePrefetch.Outcome.COMPLETE, warmUp.outcome());
      return warmUp;
    }
  }

  @Test
  public void testOnlyWhatTheRecoveredCacheLacksIsRead() throws Exception {
    Path whole = files.write(CacheConfig.DISABLED);
    Path partly = files.write(CacheConfig.DISABLED);
    List<Block> meta = files.blocks(whole).stream().filter(block -> !block.type().isData())
      .collect(Collectors.toList());
    long metaSize = meta.stream().mapToLong(Block::size).sum();
    Block missing = files.blocks(partly).get(100);
    assertTrue(missing.type().isData());
    CombinedBlockCache cache = startCache();
    warm(whole, cache);
    warm(partly, cache);
    assertTrue(cache.evictBlock(missing.key()));
    cache.shutdown();

    cache = startCache();
    FilePrefetch again = warm(whole, cache);
    assertEquals("index and bloom", metaSize, again.prefetchedBytes());
    assertTrue(log.bytes(whole.getName()) <= metaSize + (long) NEXT_HEADER * meta.size());
    assertEquals(0, log.opens(whole.getName()));
    again = warm(partly, cache);
    assertEquals(metaSize + missing.size(), again.prefetchedBytes());
    assertTrue(cache.isAlreadyCached(missing.key()).get());
    cache.shutdown();
  }

  /** Takes a block for queued that is not, and refuses it, the first time it is told to. */
  private static final class RefusingCache extends BucketCache {
    private final AtomicBoolean waiting = new AtomicBoolean();
    private long dropped;

    RefusingCache() throws IOException {
      super("offheap", 32 << 20, 64 << 10, null, 2, 8192, null);
    }

    @Override
    public Optional<Boolean> isAlreadyCached(BlockCacheKey key) {
      if (key.getOffset() == dropped && waiting.compareAndSet(true, false)) {
        // It is among the blocks on their way to the queue, which then refuses it.
        getStats().failInsert();
        return Optional.of(true);
      }
      return super.isAlreadyCached(key);
    }
  }

  private void assertRefusedBlockIsReadAfterAll(RefusingCache refusing, BlockCache cache)
    throws Exception {
    files.cacheAllOnWrite();
    Path path = files.write(new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    Block block = files.blocks(path).get(200);
    assertTrue(block.type().isData());
    refusing.dropped = block.offset();
    Waiter.waitFor(files.conf(), 120_000, 5,
      () -> refusing.getBackingMap().containsKey(block.key()));
    cache.evictBlock(block.key());
    refusing.waiting.set(true);
    FilePrefetch warmUp = warm(path, cache);
    assertEquals(1, warmUp.prefetchedBlocks());
    assertEquals(block.size() + NEXT_HEADER, log.bytes(path.getName()));
    assertTrue(cache.isAlreadyCached(block.key()).get());
    assertTrue(cache.getFullyCachedFiles().get().containsKey(path.getName()));
    cache.shutdown();
  }

  @Test
  public void testBlockThatAQueueRefusesIsReadAfterAll() throws Exception {
    RefusingCache refusing = new RefusingCache();
    assertRefusedBlockIsReadAfterAll(refusing, refusing);
  }

  @Test
  public void testBlockThatTheSecondLevelRefusesIsReadAfterAll() throws Exception {
    RefusingCache refusing = new RefusingCache();
    assertRefusedBlockIsReadAfterAll(refusing, new CombinedBlockCache(
      new LruBlockCache(32 << 20, 64 << 10, true, files.conf()) {
        @Override
        public Optional<Boolean> isAlreadyCached(BlockCacheKey key) {
          // It evicts all the time, which says nothing about room for data.
          getStats().evicted(0, true);
          return super.isAlreadyCached(key);
        }
      }, refusing));
  }
}
