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

import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The keys of a bucket cache's map, ordered by file and offset. The superclass of a tier changes
 * the map first and the index afterwards. If a block is evicted while another block is cached under
 * the same key, its index could lose a key that the map has, so that the block outlives its file,
 * or keep a key that the map has lost. This index removes a key only if the map does not have it,
 * atomically, and does not keep a key that the map has lost.
 * <p>
 * Thread-safe.
 */
@InterfaceAudience.Private
final class BlocksByHFileIndex extends ConcurrentSkipListSet<BlockCacheKey> {
  private static final long serialVersionUID = 1L;
  private final transient Map<BlockCacheKey, BucketEntry> blocks;

  /**
   * @param blocks the map, whose keys are added
   */
  BlocksByHFileIndex(Map<BlockCacheKey, BucketEntry> blocks) {
    super(Comparator.comparing(BlockCacheKey::getHfileName)
      .thenComparingLong(BlockCacheKey::getOffset));
    this.blocks = blocks;
    blocks.keySet().forEach(this::add);
  }

  @Override
  public boolean add(BlockCacheKey key) {
    boolean added = super.add(key);
    if (!blocks.containsKey(key)) {
      // The thread that evicted the block did not find the key here.
      remove(key);
    }
    return added;
  }

  @Override
  public boolean remove(Object key) {
    return blocks.compute((BlockCacheKey) key, (k, entry) -> {
      if (entry == null) {
        super.remove(k);
      }
      return entry;
    }) == null;
  }
}
