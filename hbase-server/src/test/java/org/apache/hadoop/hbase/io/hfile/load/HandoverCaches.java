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

import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheAccesses;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;

/** The caches between whose blocks hot ones are handed over. */
public enum HandoverCaches {
  /** On-heap cache for meta blocks, bucket cache outside the heap for data. */
  LRU_AND_OFFHEAP,
  /** On-heap cache for meta blocks, bucket cache on a file for data. */
  LRU_AND_FILE,
  /** One bucket cache for all. */
  BUCKET_ONLY,
  /** Two bucket caches, the second one on a file. */
  COMPOSITE,
  /** The same, without copies of data in the first one. */
  COMPOSITE_WITHOUT_PROMOTION,
  /** A bucket cache, and segments in files. */
  COMPOSITE_SEGMENTS;

  /**
   * The key for the length of writer queues. Unless a test sets it, no block is refused because a
   * queue is full.
   */
  public static final String QUEUE_LENGTH_KEY = "hbase.bucketcache.writer.queuelength";

  private static final int QUEUE_LENGTH = 8192;
  private static final int MB = 1 << 20;
  private static final int BLOCK = 64 << 10;

  /**
   * Returns those that there are: segments are another patch, which may not be there. Without
   * <code>-Dhandover.caches=all</code> those are left out that differ from another one in what the
   * hand-over does not see.
   */
  public static HandoverCaches[] present() {
    EnumSet<HandoverCaches> present = EnumSet.allOf(HandoverCaches.class);
    if (BlockCache.class.getResource("segment/SegmentCache.class") == null) {
      present.remove(COMPOSITE_SEGMENTS);
    }
    if (!"all".equals(System.getProperty("handover.caches"))) {
      present.remove(LRU_AND_OFFHEAP);
      present.remove(COMPOSITE_WITHOUT_PROMOTION);
    }
    return present.toArray(new HandoverCaches[0]);
  }

  /** @param folder for the files of a cache that has some */
  public BlockCache open(Configuration conf, File folder) throws IOException {
    switch (this) {
      case LRU_AND_OFFHEAP:
        return new CombinedBlockCache(new LruBlockCache(32 * MB, BLOCK, true, conf),
          bucket("offheap", conf));
      case LRU_AND_FILE:
        return new CombinedBlockCache(new LruBlockCache(32 * MB, BLOCK, true, conf),
          bucket("file:" + new File(folder, "cache"), conf));
      case BUCKET_ONLY:
        return bucket("offheap", conf);
      default:
        Configuration own = new Configuration(conf);
        own.setBoolean("hbase.bucketcache.composite.enabled", true);
        own.set("hfile.block.cache.size", "0");
        own.set("hbase.bucketcache.l1.size", "40");
        own.set("hbase.bucketcache.l2.ioengine",
          (this == COMPOSITE_SEGMENTS ? "segments:" : "file:") + new File(folder, "cache"));
        own.set("hbase.bucketcache.l2.size", "80");
        own.setInt("hbase.segmentcache.segment.mb", 1);
        own.setInt("hbase.segmentcache.expected.block.kb", 1);
        own.setInt(QUEUE_LENGTH_KEY, conf.getInt(QUEUE_LENGTH_KEY, QUEUE_LENGTH));
        if (this == COMPOSITE_WITHOUT_PROMOTION) {
          own.set("hbase.bucketcache.composite.promotion", "none");
        }
        return BlockCacheFactory.createBlockCache(own);
    }
  }

  private static BucketCache bucket(String engine, Configuration conf) throws IOException {
    return new BucketCache(engine, 80 * MB, BLOCK, null, 2,
      conf.getInt(QUEUE_LENGTH_KEY, QUEUE_LENGTH), null);
  }

  public static HotBlockCache accessesOf(BlockCache cache) {
    return cache instanceof HotBlockCache ? (HotBlockCache) cache : BucketCacheAccesses.of(cache);
  }

  /** Returns the value of a metric; 0 if there was no hand-over yet. */
  public static long count(String metric) {
    return MetricRegistries.global().get(HandoverMetrics.INFO)
      .flatMap(registry -> registry.get(metric)).map(count -> ((Counter) count).getCount())
      .orElse(0L);
  }

  /** Caches blocks of a file that is not there until others would have to be evicted. */
  public static void fill(BlockCache cache) {
    // Each size fills whole buckets, since the allocator keeps one bucket of each size.
    int[] sizes = { 9, 17, 33, 41, 49, 57, 65, 97, 129, 193, 257, 385, 513 };
    long offset = 0;
    HotBlockCache accesses = accessesOf(cache);
    for (int i = 0; accesses.hasSpareSpaceFor(1024); i++) {
      assertTrue("Blocks are evicted", offset < 100L * MB);
      int size = sizes[i % sizes.length] << 10;
      int bucket = 4 * 513 / sizes[i % sizes.length];
      for (int n = 0; n < bucket && accesses.hasSpareSpaceFor(1024); n++) {
        BlockCacheKey key = CachedBlockFixture.key("others", offset, BlockType.DATA);
        long at = offset;
        // Segments refuse a block while too many wait to be written.
        CachedBlockFixture.await(() -> {
          CachedBlockFixture.cache(cache, key,
            CachedBlockFixture.block(BlockType.DATA, at, size - 512));
          return accesses.accesses(key) != HotBlockCache.NOT_CACHED;
        });
        offset += size;
        CachedBlockFixture.awaitWriters(cache);
      }
    }
  }

  /** Returns the names of the files that have blocks in the cache. */
  public static Set<String> files(BlockCache cache) {
    Set<String> files = new TreeSet<>();
    cache.forEach(block -> files.add(block.getFilename()));
    return files;
  }

  /**
   * Waits until these files are the ones that have blocks in the cache. A block that is evicted
   * while it is written is in the cache for a moment, after it has left the writer queue.
   */
  public static void awaitFiles(BlockCache cache, Set<String> expected) {
    CachedBlockFixture.await(() -> files(cache).equals(expected));
  }

  /** Releases all blocks: a cache that shuts down forgets them, which would look like a leak. */
  public static void close(BlockCache cache) {
    CachedBlockFixture.awaitWriters(cache);
    CachedBlockFixture.close(cache);
  }
}
