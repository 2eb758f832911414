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
package org.apache.hadoop.hbase.regionserver.operations;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.Collections;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Compares {@link ServerSizing} with a file that HBase wrote. */
@Category({ IOTests.class, MediumTests.class })
public class TestServerSizingOfFile {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestServerSizingOfFile.class);

  private static final String FAMILY = "family";
  private static final String QUALIFIER = "field";
  private static final int FIELDS = 10;
  private static final int FIELD_BYTES = 100;
  private static final int ROWS = 20_000;
  private static final int ROW_LENGTH = 23;
  private static final int BLOCK_SIZE = 32 * 1024;
  /** What a block takes in a bucket beyond the block size: the last cell, the header, the rest. */
  private static final double ITEM_TO_SIZE = 33792.0 / BLOCK_SIZE;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private Configuration conf;
  private CompositeBucketCache cache;
  private BucketCacheTier first;
  private BucketCacheTier second;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(32, 128, "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.set("hbase.bucketcache.queue.addition.waittime", "10000");
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_BLOOM_BLOCKS_ON_WRITE_KEY, true);
    // The file of 31 MB has index and bloom in blocks of their own, like a large one.
    conf.setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 4096);
    conf.setInt("io.storefile.bloom.block.size", 4096);
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (BucketCacheTier) cache.getFirstLevelCache();
    second = (BucketCacheTier) cache.getSecondLevelCache();
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private void write() throws Exception {
    FileSystem fs = FileSystem.getLocal(conf);
    StoreFileWriter writer = new StoreFileWriter.Builder(conf,
      new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP), fs)
      .withOutputDir(new Path(folder.newFolder().getPath())).withBloomType(BloomType.ROW)
      .withMaxKeyCount(ROWS * FIELDS)
      .withFileContext(new HFileContextBuilder().withBlockSize(BLOCK_SIZE).build()).build();
    Random random = new Random(7);
    byte[] value = new byte[FIELD_BYTES];
    for (int row = 0; row < ROWS; row++) {
      byte[] key = Bytes.toBytes(String.format("user%019d", row));
      assertEquals(ROW_LENGTH, key.length);
      for (int field = 0; field < FIELDS; field++) {
        random.nextBytes(value);
        writer.append(new KeyValue(key, Bytes.toBytes(FAMILY), Bytes.toBytes(QUALIFIER + field),
          1L, value));
      }
    }
    writer.close();
    CachedBlockFixture.await(() -> first.heapSize() == 0 && second.heapSize() == 0);
  }

  @Test
  public void testTheFormulasHoldForAFile() throws Exception {
    write();
    long blocks = second.getDataBlockCount();
    long rowsInABlock = ROWS / blocks;
    assertEquals("rows in a block", 21, rowsInABlock);
    long data = blocks * BLOCK_SIZE;
    ServerSizing sizing =
      new ServerSizing.Builder(64 * ServerSizing.GB, 100 * ServerSizing.GB,
        Collections.singletonList("/ssd")).data(data).block(BLOCK_SIZE).row((int) (data / ROWS))
        .key(ROW_LENGTH).build();
    assertEquals(blocks, sizing.blocks);
    assertClose("index and bloom", sizing.indexBytes + sizing.bloomBytes,
      first.getMetaBlockSize());
    assertClose("place of data", blocks * BLOCK_SIZE * ITEM_TO_SIZE, second.getCurrentSize());
  }

  /** Allows 8 %: small chunks have more headers, and the last one of each kind is not full. */
  private static void assertClose(String what, double formula, long measured) {
    assertTrue(what + ": " + formula + " by the formula, " + measured + " measured",
      Math.abs(measured / formula - 1) < 0.08);
  }
}
