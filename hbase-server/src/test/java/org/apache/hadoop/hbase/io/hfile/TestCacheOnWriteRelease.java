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
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that the writer of a file returns the pooled buffers of the blocks that it offers to the
 * cache, whether the cache takes them or not.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestCacheOnWriteRelease {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCacheOnWriteRelease.class);

  private static final int ROWS = 2000;

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private ByteBuffAllocator allocator;

  @Before
  public void setUp() {
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
    // Chunks are small, so that a small file has a level of intermediate index blocks.
    conf.setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 512);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 4096);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 4096);
    // No block is too small for the pool
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1);
    allocator = ByteBuffAllocator.create(conf, true);
  }

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testBlocksThatAreNotToBeCachedAreReleased() throws IOException {
    BucketCache cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 8192, null) {
      @Override
      public Optional<Boolean> shouldCacheBlock(BlockCacheKey key, long maxTimestamp,
        Configuration conf) {
        return Optional.of(false);
      }
    };
    writeFile(cache);
    assertAllBuffersReturned(cache);
  }

  @Test
  public void testCachedBlocksAreReleased() throws IOException {
    BucketCache cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 8192, null);
    writeFile(cache);
    assertAllBuffersReturned(cache);
  }

  private void writeFile(BlockCache cache) throws IOException {
    CacheConfig cacheConf = new CacheConfig(conf, null, cache, allocator);
    FileSystem fs = FileSystem.getLocal(conf);
    Path path = new Path(util.getDataTestDir(), "file");
    HFileContext context = new HFileContextBuilder().withBlockSize(1024).build();
    byte[] value = new byte[256];
    new Random(17).nextBytes(value);
    try (HFile.Writer writer =
      new HFileWriterImpl(conf, cacheConf, path, fs.create(path), context)) {
      for (int i = 0; i < ROWS; i++) {
        writer.append(new KeyValue(Bytes.toBytes(String.format("row%08d", i)), Bytes.toBytes("f"),
          Bytes.toBytes("q"), value));
      }
    }
    try (HFile.Reader reader = HFile.createReader(fs, path, new CacheConfig(conf), true, conf)) {
      assertTrue("no intermediate index block", reader.getTrailer().getNumDataIndexLevels() > 2);
    }
  }

  private void assertAllBuffersReturned(BucketCache cache) {
    assertTrue("the pool was not used", allocator.getUsedBufferCount() > 0);
    // The cache holds a buffer until its writer thread has copied it
    Waiter.waitFor(conf, 120_000, 10, false,
      () -> allocator.getFreeBufferCount() == allocator.getUsedBufferCount());
    cache.evictBlocksByHfileName("file");
    cache.shutdown();
    assertEquals(allocator.getUsedBufferCount(), allocator.getFreeBufferCount());
  }
}
