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

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Looks up blocks of a {@link LruBlockCache} without a trace in it. In this package, since the map
 * of the cache is package-private.
 */
@InterfaceAudience.Private
public final class LruBlockPeek {

  private LruBlockPeek() {
  }

  /**
   * Returns a block, which the caller releases. Counts no hit or miss, and does not change the
   * order of eviction.
   * @return null if it is not cached
   */
  public static HFileBlock peek(LruBlockCache cache, BlockCacheKey key) {
    LruCachedBlock found = cache.getMapForTests().computeIfPresent(key, (k, cached) -> {
      // The cache releases its reference after the block has left the map.
      cached.getBuffer().retain();
      return cached;
    });
    Cacheable block = found == null ? null : found.getBuffer();
    if (block == null || block instanceof HFileBlock) {
      return (HFileBlock) block;
    }
    block.release();
    return null;
  }
}
