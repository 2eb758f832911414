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

import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Evicts blocks of a file that wait in the writer queues of a {@link BucketCache}. The index by
 * file lists a block only once it is written (since HBASE-26305), so an eviction by file that looks
 * at the index alone misses a waiting block, which the writer then inserts after its file is gone.
 */
@InterfaceAudience.Private
final class QueuedBlockEviction {

  private QueuedBlockEviction() {
  }

  /**
   * Evicts the waiting blocks of a file from {@code first} to {@code last} offset, both inclusive,
   * also those that are being written. To be called before the index is read: a writer adds a block
   * to the index before it removes the block from the queue's map, so that a block is found in one
   * of the two. Thread-safe; looks at every waiting block of the cache.
   * @return the number of blocks evicted
   */
  static int evict(BucketCache cache, String hfileName, long first, long last) {
    int evicted = 0;
    for (BlockCacheKey key : cache.ramCache.delegate.keySet()) {
      if (
        key.getOffset() >= first && key.getOffset() <= last
          && key.getHfileName().equals(hfileName) && cache.evictBlock(key)
      ) {
        evicted++;
      }
    }
    return evicted;
  }
}
