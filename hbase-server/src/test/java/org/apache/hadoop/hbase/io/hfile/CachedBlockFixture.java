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

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.Metric;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.nio.ByteBuff;

/** Blocks of a given type and size, as a reader hands them to a cache. */
public final class CachedBlockFixture {
  private static final HFileContext CONTEXT = new HFileContextBuilder().withIncludesMvcc(false)
    .withIncludesTags(false).withBytesPerCheckSum(0).withHBaseCheckSum(false).build();

  private CachedBlockFixture() {
  }

  /** Returns a block on the heap; its content follows from its offset. */
  public static HFileBlock block(BlockType type, long offset, int size) {
    return block(type, offset, size, ByteBuffAllocator.HEAP);
  }

  /** Returns a block in a buffer of this allocator; the caller releases it. */
  public static HFileBlock block(BlockType type, long offset, int size,
    ByteBuffAllocator allocator) {
    byte[] content = new byte[size];
    new Random(offset).nextBytes(content);
    ByteBuff buffer = allocator.allocate(HConstants.HFILEBLOCK_HEADER_SIZE_NO_CHECKSUM + size);
    buffer.position(HConstants.HFILEBLOCK_HEADER_SIZE_NO_CHECKSUM);
    buffer.put(content);
    buffer.rewind();
    return new HFileBlockBuilder().withBlockType(type).withOnDiskSizeWithoutHeader(size)
      .withUncompressedSizeWithoutHeader(size).withPrevBlockOffset(-1).withByteBuff(buffer)
      .withFillHeader(true).withOffset(offset).withNextBlockOnDiskSize(-1)
      .withOnDiskDataSizeWithHeader(size + HConstants.HFILEBLOCK_HEADER_SIZE_NO_CHECKSUM)
      .withHFileContext(CONTEXT).withByteBuffAllocator(allocator).withShared(!buffer.hasArray())
      .build();
  }

  public static BlockCacheKey key(String file, long offset, BlockType type) {
    return new BlockCacheKey(file, offset, true, type);
  }

  /** Caches a block and releases the caller's reference. */
  public static void cache(BlockCache cache, BlockCacheKey key, HFileBlock block) {
    try {
      cache.cacheBlock(key, block);
    } finally {
      block.release();
    }
  }

  /**
   * Returns the settings of a cache of two tiers.
   * @param l1Mb     the size of L1, which is off the heap
   * @param l2Mb     the size of L2
   * @param l2Engine as the key has it
   */
  public static Configuration tiers(int l1Mb, int l2Mb, String l2Engine) {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.setInt("hbase.bucketcache.l1.size", l1Mb);
    conf.setInt("hbase.bucketcache.l2.size", l2Mb);
    conf.set("hbase.bucketcache.l2.ioengine", l2Engine);
    return conf;
  }

  /** Returns the value of a metric of the tiers, such as L1HitCount. */
  public static long tierMetric(String name) {
    for (MetricRegistry registry : MetricRegistries.global().getMetricRegistries()) {
      if (registry.getMetricRegistryInfo().getMetricsName().equals("BlockCacheTiers")) {
        Metric metric = registry.get(name).get();
        return metric instanceof Counter
          ? ((Counter) metric).getCount()
          : (Long) ((Gauge<?>) metric).getValue();
      }
    }
    throw new AssertionError("There are no metrics of tiers");
  }

  /** Returns buffers of 2 KB, for blocks of 512 bytes or more. */
  public static ByteBuffAllocator pool(Configuration conf, int buffers) {
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, buffers);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 2048);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 512);
    return ByteBuffAllocator.create(conf, true);
  }

  /**
   * Evicts all blocks and shuts down. A cache that shuts down forgets its blocks without release,
   * which is no leak of memory but would be taken for one.
   */
  public static void close(BlockCache cache) {
    Set<String> files = new HashSet<>();
    cache.forEach(block -> files.add(block.getFilename()));
    files.forEach(cache::evictBlocksByHfileName);
    cache.shutdown();
  }

  /** Returns the block's bytes without header, so that those of different tiers compare equal. */
  public static byte[] content(Cacheable block) {
    ByteBuffer bytes = ByteBuffer.allocate(block.getSerializedLength());
    block.serialize(bytes, true);
    return bytes.array();
  }

  /** Returns whether a block is in a bucket cache or a tier of it, and in no writer queue. */
  public static boolean isWritten(BlockCache cache, BlockCacheKey key) {
    if (cache instanceof CombinedBlockCache) {
      CombinedBlockCache levels = (CombinedBlockCache) cache;
      return isWritten(levels.getFirstLevelCache(), key)
        || isWritten(levels.getSecondLevelCache(), key);
    }
    // A block is in the map for a moment before it leaves the queue, whose size this is.
    return ((BucketCache) cache).getBackingMap().containsKey(key)
      && ((BucketCache) cache).heapSize() <= 0;
  }

  /** Waits until no block is in a writer queue; an eviction by file would not find it there. */
  public static void awaitWriters(BlockCache cache) {
    BlockCache[] levels = cache.getBlockCaches();
    for (BlockCache level : levels == null ? new BlockCache[] { cache } : levels) {
      if (level instanceof BucketCache) {
        await(() -> ((BucketCache) level).heapSize() == 0);
      }
    }
  }

  /** Waits up to two minutes, looking every half millisecond. */
  public static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (!condition.getAsBoolean()) {
      assertTrue("Not within two minutes", System.nanoTime() < deadline);
      LockSupport.parkNanos(500_000);
    }
  }
}
