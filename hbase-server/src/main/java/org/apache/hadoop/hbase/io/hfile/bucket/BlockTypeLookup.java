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

import java.util.NavigableSet;
import java.util.Optional;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;

/**
 * Finds what a bucket cache knows of a block without reading it. A key of a reference stands for
 * the block of the file that it refers to, as lookups of what is written already do. Thread-safe.
 */
final class BlockTypeLookup {

  private BlockTypeLookup() {
  }

  /**
   * Returns the type of the block that is cached under this key or, for a reference, under the key
   * of the file it refers to; empty if there is none or its type is not known.
   */
  static Optional<BlockType> find(NavigableSet<BlockCacheKey> keys, BlockCacheKey key) {
    BlockCacheKey found = keys.ceiling(key);
    String referred = key.equals(found) ? null : ReferredFile.of(key.getHfileName());
    if (referred != null) {
      key = new BlockCacheKey(referred, key.getOffset());
      found = keys.ceiling(key);
    }
    return key.equals(found) ? Optional.ofNullable(found.getBlockType()) : Optional.empty();
  }

  /**
   * Finds a block that waits for a writer. It is not retained, so its size and type may be looked
   * at but not its content.
   * @return null if no such block waits
   */
  static Cacheable queued(BucketCache.RAMCache queue, BlockCacheKey key) {
    BucketCache.RAMQueueEntry entry = queue.delegate.get(key);
    String referred =
      entry == null && !queue.isEmpty() ? ReferredFile.of(key.getHfileName()) : null;
    if (referred != null) {
      entry = queue.delegate.get(new BlockCacheKey(referred, key.getOffset()));
    }
    return entry == null ? null : entry.getData();
  }
}
