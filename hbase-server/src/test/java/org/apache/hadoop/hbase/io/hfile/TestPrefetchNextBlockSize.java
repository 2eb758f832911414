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

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * Prefetch skips a block that it finds cached. What it knew of the size of that block must
 * not be taken for the size of the one after it.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestPrefetchNextBlockSize {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchNextBlockSize.class);

  private static final int BLOCKS = 20;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private Configuration conf;
  private FileSystem fs;
  private Path path;
  private BlockCache cache;

  @Before
  public void setUp() throws Exception {
    conf = HBaseConfiguration.create();
    conf.set("hbase.bucketcache.ioengine", "offheap");
    conf.set("hbase.bucketcache.size", "32");
    fs = FileSystem.getLocal(conf);
    cache = BlockCacheFactory.createBlockCache(conf);
    path = new Path(
      new File(folder.newFolder("region", "f"), "0123456789abcdef0123456789abcdef").getPath());
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private CacheConfig cacheConfig() {
    return new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP);
  }

  /** One cell in a block, each of another size. */
  private List<Long> writeFile() throws Exception {
    HFileContext context = new HFileContextBuilder().withBlockSize(1).build();
    try (HFile.Writer writer = HFile.getWriterFactory(conf, cacheConfig()).withPath(fs, path)
      .withFileContext(context).create()) {
      for (int i = 0; i < BLOCKS; i++) {
        byte[] value = new byte[1000 + 100 * i];
        new Random(i).nextBytes(value);
        writer.append(new KeyValue(Bytes.toBytes(String.format("row%03d", i)), Bytes.toBytes("f"),
          Bytes.toBytes("q"), 1L, value));
      }
    }
    List<Long> offsets = new ArrayList<>();
    try (HFile.Reader reader = HFile.createReader(fs, path, CacheConfig.DISABLED, true, conf)) {
      long offset = 0;
      while (offset <= reader.getTrailer().getLastDataBlockOffset()) {
        HFileBlock block =
          reader.readBlock(offset, -1, false, true, false, true, null, null);
        if (block.getBlockType().isData()) {
          offsets.add(offset);
        }
        offset += block.getOnDiskSizeWithHeader();
        block.release();
      }
    }
    assertEquals(BLOCKS, offsets.size());
    return offsets;
  }

  @Test
  public void testBlockAfterACachedOneIsPrefetched() throws Exception {
    List<Long> offsets = writeFile();
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConfig(), true, conf)) {
      reader.readBlock(offsets.get(BLOCKS / 2), -1, true, true, false, true, BlockType.DATA, null)
        .release();
    }
    Waiter.waitFor(conf, 120_000, () -> isCached(offsets.get(BLOCKS / 2)));
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConfig(), true, conf)) {
      Waiter.waitFor(conf, 120_000, () -> PrefetchExecutor.isCompleted(path));
      for (Long offset : offsets) {
        Waiter.waitFor(conf, 120_000, () -> isCached(offset));
      }
    }
  }

  private boolean isCached(long offset) {
    return cache.isAlreadyCached(new BlockCacheKey(path.getName(), offset)).orElse(false);
  }
}
