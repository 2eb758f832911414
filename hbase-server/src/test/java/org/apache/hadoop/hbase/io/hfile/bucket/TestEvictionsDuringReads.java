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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.SizeClassByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/**
 * Blocks are evicted and cached again while others read them: whoever gets a block gets the right
 * one for as long as he holds it, and afterwards pool and allocator are whole.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, MediumTests.class })
public class TestEvictionsDuringReads {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestEvictionsDuringReads.class);

  private static final int BLOCKS = 24;
  private static final int BLOCK_SIZE = 8 * 1024;
  private static final int EVICTIONS = 1500;
  private static final int READS = 200;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final String engine;
  private final boolean sizeClasses;
  private final int readers;
  private final int writers;
  private final ByteBuffAllocator pool;
  private final List<byte[]> contents = new ArrayList<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger hits = new AtomicInteger();
  private BucketCache cache;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  public TestEvictionsDuringReads(String engine, boolean sizeClasses, int readers, int writers) {
    this.engine = engine;
    this.sizeClasses = sizeClasses;
    this.readers = readers;
    this.writers = writers;
    conf.setBoolean(SizeClassByteBuffAllocator.ENABLED_KEY, sizeClasses);
    // The smaller blocks would not be pooled without size classes.
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1024);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 200);
    pool = ByteBuffAllocator.create(conf, true);
  }

  @Parameterized.Parameters(name = "{0}, size classes {1}, readers {2}, writers {3}")
  public static List<Object[]> parameters() {
    List<Object[]> parameters = new ArrayList<>();
    for (String engine : new String[] { "offheap", "file", "mmap", "pmem" }) {
      parameters.add(new Object[] { engine, true, 3, 2 });
    }
    parameters.add(new Object[] { "file", false, 3, 2 });
    // More readers than a server has handlers, and as many writers as it has by default, or one.
    parameters.add(new Object[] { "offheap", true, 64, BucketCache.DEFAULT_WRITER_THREADS });
    parameters.add(new Object[] { "file", false, 64, 1 });
    return parameters;
  }

  @Before
  public void fill() throws IOException {
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    String ioEngine = engine.equals("offheap") ? engine : engine + ":" + new File(dir, "cache");
    int[] bucketSizes = { BLOCK_SIZE + 1024 };
    cache = new BucketCache(ioEngine, 8 << 20, BLOCK_SIZE, bucketSizes, writers, 64, null, 60000,
      conf);
    for (int i = 0; i < BLOCKS; i++) {
      Cacheable block = CachedBlockFixture.block(BlockType.DATA, (long) i * BLOCK_SIZE, BLOCK_SIZE);
      contents.add(CachedBlockFixture.content(block));
      cache(i);
    }
  }

  @After
  public void close() {
    evictEach();
    cache.shutdown();
    pool.clean();
    util.cleanupTestDir();
  }

  private static BlockCacheKey key(int i) {
    return CachedBlockFixture.key("file", (long) i * BLOCK_SIZE, BlockType.DATA);
  }

  /** Evicts by key: the list of a file's blocks may lack one that was cached anew at once. */
  private void evictEach() {
    for (int i = 0; i < BLOCKS; i++) {
      cache.evictBlock(key(i));
    }
  }

  private void cache(int i) {
    CachedBlockFixture.cache(cache, key(i),
      CachedBlockFixture.block(BlockType.DATA, (long) i * BLOCK_SIZE, BLOCK_SIZE, pool));
  }

  @Test
  public void testReadersKeepWhatTheyHoldAndAllIsWholeAfterwards() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(readers);
    try {
      List<Future<?>> readers = new ArrayList<>();
      for (int i = 0; i < this.readers; i++) {
        long seed = i;
        readers.add(threads.submit(() -> read(new Random(seed))));
      }
      Random random = new Random(17);
      for (int i = 0; i < EVICTIONS || hits.get() < READS; i++) {
        int block = random.nextInt(BLOCKS);
        cache.evictBlock(key(block));
        cache(block);
        if (i % 100 == 0) {
          cache.evictBlocksByHfileName("file");
        }
      }
      over.set(true);
      for (Future<?> reader : readers) {
        reader.get();
      }
    } finally {
      over.set(true);
      threads.shutdownNow();
    }
    CachedBlockFixture.await(() -> cache.ramCache.isEmpty());
    evictEach();
    // A writer may still be at a block that was evicted under it.
    CachedBlockFixture.await(() -> cache.getAllocator().getUsedSize() == 0
      && cache.backingMap.isEmpty() && isPoolWhole());
  }

  /** Returns whether every buffer can be had again. */
  private boolean isPoolWhole() {
    List<ByteBuff> all = new ArrayList<>();
    long heapBefore = pool.getHeapAllocationBytes();
    for (int i = 0; i < pool.getTotalBufferCount(); i++) {
      all.add(pool.allocate(pool.getBufferSize()));
    }
    all.forEach(ByteBuff::release);
    // The allocator may keep one divided buffer of each of the four sizes.
    long lacking = (pool.getHeapAllocationBytes() - heapBefore) / pool.getBufferSize();
    return lacking <= (sizeClasses ? 4 : 0);
  }

  private Void read(Random random) {
    while (!over.get()) {
      int i = random.nextInt(BLOCKS);
      Cacheable block = cache.getBlock(key(i), true, false, true);
      if (block != null) {
        try {
          assertArrayEquals(contents.get(i), CachedBlockFixture.content(block));
          hits.incrementAndGet();
        } finally {
          block.release();
        }
      }
    }
    return null;
  }
}
