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

import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;

/** Evicts an entry of a bucket cache whose bytes turned out not to be a block. */
final class UnreadableBlock {

  private UnreadableBlock() {
  }

  /**
   * Evicts the entry, be it cached under {@code key} or, for a reference, under the key of the file
   * it refers to. Takes the write lock of the entry's offset; the caller must not hold its read
   * lock.
   * @param key the key by which the entry was read
   */
  static void evict(BucketCache cache, BlockCacheKey key, BucketEntry entry) {
    if (cache.doEvictBlock(key, entry, false)) {
      return;
    }
    String referred = ReferredFile.of(key.getHfileName());
    if (referred != null) {
      cache.doEvictBlock(new BlockCacheKey(referred, key.getOffset()), entry, false);
    }
  }
}
