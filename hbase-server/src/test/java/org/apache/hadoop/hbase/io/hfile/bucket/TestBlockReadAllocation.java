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

import com.sun.management.ThreadMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.SizeClassByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;

/**
 * Fails when a read of a bucket cache, on any engine and with blocks of any usual size, allocates
 * more than a little garbage on the heap.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestBlockReadAllocation {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockReadAllocation.class);

  private static final int BLOCKS = 8;
  private static final int READS = 15_000;
  /** Bytes for each read, half the smallest block, since not all code is compiled yet. */
  private static final int GARBAGE = 2048;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final List<BlockCacheKey> keys = new ArrayList<>();
  private final String engine;
  private final int size;
  private ByteBuffAllocator pool;
  private BucketCache cache;

  public TestBlockReadAllocation(String engine, int size) {
    this.engine = engine;
    this.size = size;
  }

  @Parameterized.Parameters(name = "{0} {1}")
  public static List<Object[]> parameters() {
    List<Object[]> parameters = new ArrayList<>();
    for (String engine : new String[] { "offheap", "file", "mmap" }) {
      for (int kb = 4; kb <= 128; kb *= 2) {
        parameters.add(new Object[] { engine, kb * 1024 });
      }
    }
    return parameters;
  }

  @Before
  public void fill() throws IOException {
    // Leak detection is off, since the paranoid level of tests allocates more than what it tracks.
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    conf.setBoolean(SizeClassByteBuffAllocator.ENABLED_KEY, true);
    pool = ByteBuffAllocator.create(conf, true);
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    String ioEngine = engine.equals("offheap") ? engine : engine + ":" + new File(dir, "cache");
    cache = new BucketCache(ioEngine, 8 << 20, size, new int[] { size + 1024 }, 1, 64, null,
      60000, conf);
    for (int i = 0; i < BLOCKS; i++) {
      BlockCacheKey key = CachedBlockFixture.key("file", (long) i * size, BlockType.DATA);
      CachedBlockFixture.cache(cache, key,
        CachedBlockFixture.block(BlockType.DATA, (long) i * size, size, pool));
      CachedBlockFixture.await(() -> cache.backingMap.containsKey(key)
        && !cache.ramCache.containsKey(key));
      keys.add(key);
    }
  }

  @After
  public void close() {
    cache.evictBlocksByHfileName("file");
    cache.shutdown();
    pool.clean();
    util.cleanupTestDir();
  }

  @Test
  public void testReadAllocatesNoBlock() {
    read();
    long heapBefore = pool.getHeapAllocationBytes();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(thread);
    read();
    long perRead = (threads.getThreadAllocatedBytes(thread) - before) / READS;
    assertTrue("Allocated " + perRead + " bytes per read", perRead <= GARBAGE);
    assertEquals("Bytes that the pool left to the heap", heapBefore,
      pool.getHeapAllocationBytes());
  }

  private void read() {
    for (int i = 0; i < READS; i++) {
      cache.getBlock(keys.get(i % BLOCKS), true, false, true).release();
    }
  }
}
