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

import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.LruBlockPeek;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link BucketCache} of the base, with or without an on-heap cache of index and bloom blocks in
 * front of it, as a {@link HotBlockCache}. Thread-safe.
 */
@InterfaceAudience.Private
public final class BucketCacheAccesses implements HotBlockCache {
  private static final Logger LOG = LoggerFactory.getLogger(BucketCacheAccesses.class);

  private final BucketCache cache;
  /** Null if index blocks are in the bucket cache. */
  private final LruBlockCache heap;
  private final LockFreeLookup lookup;
  private final InsertionSpace space;

  private BucketCacheAccesses(BucketCache cache, LruBlockCache heap) {
    this.cache = cache;
    this.heap = heap;
    this.lookup = new LockFreeLookup(cache, "bucket cache", entry -> {
    }, LOG);
    this.space = new InsertionSpace(cache);
  }

  /**
   * Returns a block cache as one that knows how hot its blocks are.
   * @return null if it does not, as it has no bucket cache
   */
  public static HotBlockCache of(BlockCache cache) {
    if (cache instanceof HotBlockCache) {
      return (HotBlockCache) cache;
    }
    if (cache instanceof BucketCache) {
      return new BucketCacheAccesses((BucketCache) cache, null);
    }
    BlockCache[] parts =
      cache instanceof CombinedBlockCache ? cache.getBlockCaches() : new BlockCache[0];
    if (parts.length != 2 || !(parts[1] instanceof BucketCache)) {
      return null;
    }
    return new BucketCacheAccesses((BucketCache) parts[1],
      parts[0] instanceof LruBlockCache ? (LruBlockCache) parts[0] : null);
  }

  @Override
  public int accesses(BlockCacheKey key) {
    return lookup.accesses(key);
  }

  @Override
  public HFileBlock peek(BlockCacheKey key) {
    if (heap != null) {
      return LruBlockPeek.peek(heap, key);
    }
    return cache.ioEngine.usesSharedMemory() && cache.isCacheEnabled()
      ? (HFileBlock) lookup.peek(key)
      : null;
  }

  /** Looks at all blocks of the file. */
  @Override
  public long cachedBytes(String hfileName) {
    long bytes = 0;
    for (
      BlockCacheKey key : cache.blocksByHFile.subSet(new BlockCacheKey(hfileName, 0), true,
        new BlockCacheKey(hfileName, Long.MAX_VALUE), true)
    ) {
      BucketEntry entry = cache.backingMap.get(key);
      bytes += entry == null ? 0 : entry.getLength();
    }
    return bytes;
  }

  @Override
  public boolean hasSpareSpaceFor(int serializedLength) {
    return space.isSpareFor(serializedLength);
  }

  @Override
  public boolean awaitInsertion(BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    return space.awaitQueue("the bucket cache", key, timeoutNanos);
  }

  @Override
  public boolean cacheHot(BlockCacheKey key, Cacheable block, boolean inMemory, int accesses) {
    return EntryAccesses.cacheHot(cache, key, block, inMemory, accesses);
  }
}
