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

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;

/**
 * The block caches that warm-up is tested with, small ones; where they can, they count how often a
 * block is inserted.
 */
public enum CountingCaches {
  /** One cache on the heap for all. */
  LRU_ONLY,
  /** On-heap cache for meta blocks, bucket cache outside the heap for data. */
  LRU_AND_OFFHEAP,
  /** On-heap cache for meta blocks, bucket cache on a file for data. */
  LRU_AND_FILE,
  /** One bucket cache for all. */
  BUCKET_ONLY,
  /** Two bucket caches. */
  COMPOSITE;

  private static final int MB = 1 << 20;

  /** Returns those that there are: {@link #COMPOSITE} is another patch, which may not be there. */
  static CountingCaches[] present() {
    return BlockCache.class.getResource("CompositeBucketCache.class") == null
      ? Arrays.copyOf(values(), COMPOSITE.ordinal())
      : values();
  }

  /** How often each block was inserted; empty if that is not counted. */
  public static final class Insertions {
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();

    private void count(BlockCacheKey key) {
      counts.merge(key.toString(), 1, Integer::sum);
    }

    public void clear() {
      counts.clear();
    }

    /** Returns the blocks of a file that were inserted more than once. */
    public Stream<String> repeated(String file) {
      return counts.entrySet().stream()
        .filter(e -> e.getValue() > 1 && e.getKey().startsWith(file + '_')).map(Object::toString);
    }

    /** Returns how many blocks of a file were inserted. */
    public int blocks(String file) {
      return (int) counts.keySet().stream().filter(key -> key.startsWith(file + '_')).count();
    }
  }

  /**
   * @param folder for the file of a cache that has one
   */
  public BlockCache open(Configuration conf, File folder, Insertions insertions)
    throws IOException {
    switch (this) {
      case LRU_ONLY:
        return lru(conf, insertions);
      case LRU_AND_OFFHEAP:
        return new CombinedBlockCache(lru(conf, insertions), bucket("offheap", insertions));
      case LRU_AND_FILE:
        return new CombinedBlockCache(lru(conf, insertions),
          bucket("file:" + new File(folder, "cache"), insertions));
      case BUCKET_ONLY:
        return bucket("offheap", insertions);
      default:
        Configuration own = new Configuration(conf);
        own.setBoolean("hbase.bucketcache.composite.enabled", true);
        own.set("hbase.bucketcache.l1.size", "40");
        own.set("hbase.bucketcache.l2.ioengine", "file:" + new File(folder, "cache"));
        own.set("hbase.bucketcache.l2.size", "80");
        own.setInt("hbase.bucketcache.writer.queuelength", 8192);
        return BlockCacheFactory.createBlockCache(own);
    }
  }

  /** Returns whether the cache knows that it has all of the file; some cannot tell. */
  static boolean hasWhole(BlockCache cache, String file) {
    return cache.getFullyCachedFiles().map(files -> files.containsKey(file)).orElse(true);
  }

  private static LruBlockCache lru(Configuration conf, Insertions insertions) {
    return new LruBlockCache(32 * MB, 64 << 10, true, conf) {
      @Override
      public void cacheBlock(BlockCacheKey key, Cacheable block, boolean inMemory) {
        insertions.count(key);
        super.cacheBlock(key, block, inMemory);
      }
    };
  }

  private static BucketCache bucket(String engine, Insertions insertions) throws IOException {
    return new BucketCache(engine, 80 * MB, 64 << 10, null, 2, 8192, null) {
      @Override
      public void cacheBlockWithWait(BlockCacheKey key, Cacheable block, boolean inMemory,
        boolean wait) {
        insertions.count(key);
        super.cacheBlockWithWait(key, block, inMemory, wait);
      }
    };
  }
}
