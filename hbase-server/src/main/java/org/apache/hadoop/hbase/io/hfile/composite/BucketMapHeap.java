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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.lang.management.MemoryType;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.util.MemorySizeUtil;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.yetus.audience.InterfaceAudience;

/** The heap that the map of a bucket cache takes when the cache is full. */
@InterfaceAudience.Private
final class BucketMapHeap {
  /**
   * Heap for each block in bytes, with compressed object pointers: BucketEntry 64, its RefCnt and
   * recycler 48, its eviction flag 16, BlockCacheKey 40, the map's node 32 and table up to 11, the
   * index by file 36, and the share of a bucket of 2 MB 8. TestBucketMapHeap measures it.
   */
  static final int BYTES_PER_BLOCK = 255;

  private static final long MB = 1 << 20;

  private BucketMapHeap() {
  }

  /**
   * Checks that the map of a full tier is within the heap that the memstore leaves.
   * @param key      of the tier's size
   * @param value    of that key
   * @param capacity of the tier in bytes
   * @throws IllegalArgumentException if it is not; its message is for the operator
   */
  static void check(String key, String value, long capacity, Configuration conf) {
    int blockSize =
      conf.getInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY, HConstants.DEFAULT_BLOCKSIZE);
    long map = capacity / blockSize * BYTES_PER_BLOCK;
    long heap = Runtime.getRuntime().maxMemory();
    Pair<Long, MemoryType> memstore = MemorySizeUtil.getGlobalMemStoreSize(conf);
    long left =
      memstore.getSecond() == MemoryType.HEAP ? heap - memstore.getFirst() : heap;
    if (map > left) {
      throw SettingsReader.rejected(key, value,
        "at most " + left / BYTES_PER_BLOCK * blockSize / MB + " MB: the map of "
          + capacity / blockSize + " blocks of " + blockSize + " bytes takes " + map / MB
          + " MB of heap, and the memstore leaves " + left / MB + " of " + heap / MB + " MB",
        "Lower it, raise -Xmx, raise " + BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY
          + " if blocks are larger, or set " + CompositeBucketCacheSettings.L2_PREFIX
          + CompositeBucketCacheSettings.IOENGINE
          + " to segments:PATH, whose index is off the heap");
    }
  }
}
