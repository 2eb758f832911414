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

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.AllocatedBytes;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.SizeClassByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;

/**
 * Fails when one of the paths by which blocks move, other than the reads of a bucket cache and the
 * writes of a file, which have tests of their own, leaves more on the heap than the limits here: a
 * block read from a store file with its checksums verified, inserted into a bucket cache.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestBlockPathAllocation {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockPathAllocation.class);

  private static final int CALLS = 2000;
  /** Bytes for each block, of 8 KB or more, with half of them to spare. */
  private static final int GARBAGE = 2048;

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private final Configuration conf = files.conf();
  private final int size;
  private ByteBuffAllocator pool;

  public TestBlockPathAllocation(int size) {
    this.size = size;
  }

  @Parameterized.Parameters(name = "{0}")
  public static List<Object[]> sizes() {
    List<Object[]> sizes = new ArrayList<>();
    for (int kb = 8; kb <= 64; kb *= 2) {
      sizes.add(new Object[] { kb * 1024 });
    }
    return sizes;
  }

  @Before
  public void open() {
    // The leak detector would record each use of a tracked block on the heap.
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    conf.setBoolean(SizeClassByteBuffAllocator.ENABLED_KEY, true);
    pool = ByteBuffAllocator.create(conf, true);
  }

  @After
  public void close() {
    assertEquals("Bytes that the pool left to the heap", 0, pool.getHeapAllocationBytes());
    pool.clean();
  }

  private static void assertLittle(long perCall) {
    assertTrue("Allocated " + perCall + " bytes for each block", perCall <= GARBAGE);
  }

  @Test
  public void testReadByPositionWithChecksums() throws Exception {
    assertLittle(read(true));
  }

  @Test
  public void testReadOfAStreamWithChecksums() throws Exception {
    assertLittle(read(false));
  }

  private long read(boolean pread) throws Exception {
    Path path = files.write(CacheConfig.DISABLED,
      new HFileContextBuilder().withBlockSize(size).build());
    StoreFileFixture.Block block =
      files.blocks(path).stream().filter(b -> b.type().isData()).findFirst().get();
    try (FileSystem fs = ByteBufferReads.over(conf); HFile.Reader reader =
      HFile.createReader(fs, path, new CacheConfig(conf, null, null, pool), true, conf)) {
      assertTrue("no checksums", reader.getFileContext().isUseHBaseChecksum());
      return AllocatedBytes.ofThisThread().perCall(CALLS,
        () -> reader.readBlock(block.offset(), block.size(), false, pread, !pread, false,
          block.type(), null).release());
    }
  }

  @Test
  public void testInsertionIntoACacheThatPersists() throws Exception {
    assertLittle(insert(true));
  }

  @Test
  public void testInsertionIntoACacheThatDoesNotPersist() throws Exception {
    assertLittle(insert(false));
  }

  private long insert(boolean persistent) throws Exception {
    HBaseCommonTestingUtility util = new HBaseCommonTestingUtility(HBaseConfiguration.create());
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    Configuration cacheConf = util.getConfiguration();
    cacheConf.setLong(BucketCache.QUEUE_ADDITION_WAIT_TIME, TimeUnit.MINUTES.toMillis(1));
    cacheConf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    BucketCache cache = new BucketCache("file:" + new File(dir, "cache"), 32 << 20, size,
      new int[] { size + 1024 }, 1, 64, persistent ? new File(dir, "map").getPath() : null, 60000,
      cacheConf);
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 0, size, pool);
    long[] inserted = new long[1];
    try {
      return AllocatedBytes.ofThisThreadAnd("BucketCacheWriter").perCall(CALLS, () -> {
        cache.cacheBlock(key(inserted[0]), block, false, true);
        if (inserted[0] >= 128) {
          cache.evictBlock(key(inserted[0] - 128));
        }
        inserted[0]++;
      });
    } finally {
      // What is in a queue when a cache is shut down is not released by it.
      CachedBlockFixture.await(() -> block.refCnt() == 1);
      cache.shutdown();
      block.release();
      util.cleanupTestDir();
    }
  }

  private BlockCacheKey key(long index) {
    return CachedBlockFixture.key("file", index * size, BlockType.DATA);
  }
}
