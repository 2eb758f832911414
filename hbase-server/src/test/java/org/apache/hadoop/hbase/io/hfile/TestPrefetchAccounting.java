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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests which blocks a prefetch reads and counts if it finds some of them cached. */
@Category({ IOTests.class, MediumTests.class })
public class TestPrefetchAccounting {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchAccounting.class);

  private static final int BLOCKS = 20;

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private boolean metaFits = true;
  private BucketCache cache;

  private void open() throws IOException {
    cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 8192, null) {
      @Override
      public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
        return metaFits || !isMetaBlock(block.getBlockType())
          ? super.blockFitsIntoTheCache(block)
          : Optional.of(false);
      }
    };
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private CacheConfig cacheConfig() {
    return new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP);
  }

  private void prefetch(Path path) throws IOException {
    files.prefetch(path, cache, () -> {
    });
  }

  private List<StoreFileFixture.Block> dataOf(Path path) throws IOException {
    return files.blocks(path).stream().filter(block -> block.type().isData())
      .collect(Collectors.toList());
  }

  private boolean isCached(StoreFileFixture.Block block) {
    return cache.isAlreadyCached(block.key()).get();
  }

  /** Writes a file with one cell in a block, each of another size. */
  private Path writeBlocksOfAllSizes() throws IOException {
    Path path = files.newFile();
    HFileContext context = new HFileContextBuilder().withBlockSize(1).build();
    try (HFile.Writer writer = HFile.getWriterFactory(files.conf(), CacheConfig.DISABLED)
      .withPath(files.fileSystem(), path).withFileContext(context).create()) {
      for (int i = 0; i < BLOCKS; i++) {
        byte[] value = new byte[1000 + 100 * i];
        new Random(i).nextBytes(value);
        writer.append(new KeyValue(Bytes.toBytes(String.format("row%03d", i)), Bytes.toBytes("f"),
          Bytes.toBytes("q"), 1L, value));
      }
    }
    return path;
  }

  /** The size of a block that is skipped must not be taken for that of the block after it. */
  @Test
  public void testBlockAfterACachedOneIsPrefetched() throws Exception {
    open();
    Path path = writeBlocksOfAllSizes();
    List<StoreFileFixture.Block> data = dataOf(path);
    assertEquals(BLOCKS, data.size());
    StoreFileFixture.Block cached = data.get(BLOCKS / 2);
    try (HFile.Reader reader =
      HFile.createReader(files.fileSystem(), path, cacheConfig(), true, files.conf())) {
      reader.readBlock(cached.offset(), -1, true, true, false, true, BlockType.DATA, null)
        .release();
    }
    Waiter.waitFor(files.conf(), 120_000, () -> isCached(cached));
    prefetch(path);
    for (StoreFileFixture.Block block : data) {
      Waiter.waitFor(files.conf(), 120_000, () -> isCached(block));
    }
  }

  /**
   * Prefetch tells the cache how many data blocks the file has, and the cache takes the file for
   * fully cached if it holds as many. Index and bloom blocks that were found cached are not data.
   */
  @Test
  public void testFileFoundCachedWithItsIndexIsFullyCached() throws Exception {
    open();
    files.cacheAllOnWrite();
    Path path = files.write(cacheConfig());
    Waiter.waitFor(files.conf(), 120_000, () -> files.blocks(path).stream()
      .allMatch(block -> cache.getBackingMap().containsKey(block.key())));
    prefetch(path);
    assertTrue(cache.getFullyCachedFiles().get().containsKey(path.getName()));
  }

  /** Index and bloom blocks may have another place than data blocks, and that may be full. */
  @Test
  public void testDataIsPrefetchedThoughIndexBlocksDoNotFit() throws Exception {
    metaFits = false;
    open();
    Path path = files.write(CacheConfig.DISABLED);
    prefetch(path);
    for (StoreFileFixture.Block block : dataOf(path)) {
      assertTrue("not prefetched: " + block, isCached(block));
    }
  }
}
