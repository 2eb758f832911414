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
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;

/** A block that waits for a writer of the bucket cache. */
@InterfaceAudience.Private
final class QueuedBlock {

  private QueuedBlock() {
  }

  /**
   * Finds a waiting block, that of the referred-to file if the key is of a reference, as lookups of
   * what is written already do. Thread-safe. The block is not retained, so its size and type may be
   * looked at but not its content.
   * @return null if no such block waits
   */
  static Cacheable of(BucketCache.RAMCache queue, BlockCacheKey key) {
    BucketCache.RAMQueueEntry entry = queue.delegate.get(key);
    String referred =
      entry == null && !queue.isEmpty() ? ReferredFile.of(key.getHfileName()) : null;
    if (referred != null) {
      entry = queue.delegate.get(new BlockCacheKey(referred, key.getOffset()));
    }
    return entry == null ? null : entry.getData();
  }
}
