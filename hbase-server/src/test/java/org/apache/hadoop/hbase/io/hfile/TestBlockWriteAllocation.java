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

import static org.junit.Assert.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.KeyValue;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;

/** Tests what the thread that writes a file allocates for each block, and for the file. */
@Category({ IOTests.class, MediumTests.class })
public class TestBlockWriteAllocation {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockWriteAllocation.class);

  private static final Logger LOG = LoggerFactory.getLogger(TestBlockWriteAllocation.class);

  private static final int BLOCK_SIZE = 64 << 10;
  private static final int VALUE_LENGTH = 1000;
  /** The number of cells that fill a block, which fits into a buffer of the pool. */
  private static final int CELLS_OF_BLOCK = 64;
  private static final int FEW_BLOCKS = 20;
  private static final int MANY_BLOCKS = 220;
  private static final KeyValue[] CELLS = new KeyValue[MANY_BLOCKS * CELLS_OF_BLOCK];

  static {
    for (int i = 0; i < CELLS.length; i++) {
      CELLS[i] = new KeyValue(Bytes.toBytes(i), Bytes.toBytes("f"), Bytes.toBytes("q"),
        new byte[VALUE_LENGTH]);
    }
  }

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private int files;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testBlockThatIsOnlyWritten() throws Exception {
    assertGarbageOfBlock(new CacheConfig(conf), 1024);
  }

  @Test
  public void testBlockThatIsCachedAsWell() throws Exception {
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
    BucketCache cache = new BucketCache("offheap", 64 << 20, BLOCK_SIZE, null, 1, 1000, null);
    try {
      assertGarbageOfBlock(new CacheConfig(conf, null, cache, pool), 1400);
      assertTrue(pool.getPoolAllocationBytes() > 0);
      // What is queued cannot be evicted.
      CachedBlockFixture.await(() -> pool.getUsedBufferCount() == pool.getFreeBufferCount());
      for (int i = 0; i < files; i++) {
        cache.evictBlocksByHfileName("file" + i);
      }
    } finally {
      cache.shutdown();
      pool.clean();
    }
  }

  /** Stock copies the configuration for each file, which is 300 KB in a RegionServer. */
  @Test
  public void testFileCopiesNoConfiguration() throws Exception {
    for (int i = 0; i < 20_000; i++) {
      conf.set("test." + i, "x");
    }
    CacheConfig cacheConfig = new CacheConfig(conf);
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      best = Math.min(best, allocated(cacheConfig, 1));
    }
    assertTrue("Allocated " + best + " bytes to write a file of one block", best < 1_500_000);
  }

  private void assertGarbageOfBlock(CacheConfig cacheConfig, long limit) throws IOException {
    long few = Long.MAX_VALUE;
    long many = Long.MAX_VALUE;
    for (int i = 0; i < 12; i++) {
      few = Math.min(few, allocated(cacheConfig, FEW_BLOCKS));
      many = Math.min(many, allocated(cacheConfig, MANY_BLOCKS));
    }
    long each = (many - few) / (MANY_BLOCKS - FEW_BLOCKS);
    LOG.info("{} bytes for each block, {} for the file", each, few - each * FEW_BLOCKS);
    assertTrue("Allocated " + each + " bytes for each block", each < limit);
  }

  private long allocated(CacheConfig cacheConfig, int blocks) throws IOException {
    // At the level of the rule, each use of a reference count is recorded on the heap.
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(thread);
    Path path = write(cacheConfig, blocks);
    long allocated = threads.getThreadAllocatedBytes(thread) - before;
    cacheConfig.getBlockCache()
      .ifPresent(cache -> cache.evictBlocksByHfileName(path.getName()));
    return allocated;
  }

  private Path write(CacheConfig cacheConfig, int blocks) throws IOException {
    FileSystem fs = new RawLocalFileSystem();
    fs.initialize(URI.create("file:///"), conf);
    Path path = new Path(new File(util.getDataTestDir().toString(), "file" + files++).getPath());
    HFileContext context = new HFileContextBuilder().withBlockSize(BLOCK_SIZE).build();
    try (HFile.Writer writer = HFile.getWriterFactory(conf, cacheConfig).withPath(fs, path)
      .withFileContext(context).create()) {
      for (int i = 0; i < blocks * CELLS_OF_BLOCK; i++) {
        writer.append(CELLS[i]);
      }
    }
    fs.delete(path, false);
    return path;
  }
}
