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

import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Allocates buffers for the entries that a bucket cache recovers from its persisted map. An entry
 * that was cached in this process remembers the allocator of the block it was made of, and a read
 * of it is a read into that pool. When a map is recovered, there is no block and no pool yet: the
 * cache is older than the server's first store. So these entries are given this stub, which
 * passes on to the pool of the first store that reads through the cache. Until then, and where no
 * pool is in use, it is {@link ByteBuffAllocator#HEAP}, where each read allocates a whole block.
 * <p>
 * Thread-safe. A buffer is returned to the pool that it was allocated from, even if the pool has
 * changed.
 */
@InterfaceAudience.Private
public final class RecoveredEntryAllocator extends ByteBuffAllocator {

  private volatile ByteBuffAllocator pool = ByteBuffAllocator.HEAP;

  /** A cache that has one allocator for all it reads. */
  @InterfaceAudience.Private
  public interface Reader {
    /** Has what is read from now on be read into buffers of this pool, unless there is one. */
    void useAllocator(ByteBuffAllocator allocator);
  }

  RecoveredEntryAllocator() {
    super(false, 0, DEFAULT_BUFFER_SIZE, Integer.MAX_VALUE);
  }

  /**
   * Lets the recovered entries of {@code cache}, and of each cache that it consists of, be read
   * into buffers of {@code allocator}, if that has a pool and they have none yet.
   * @param cache     may be null
   * @param allocator may be null
   */
  public static void use(BlockCache cache, ByteBuffAllocator allocator) {
    if (cache == null || allocator == null || !allocator.isReservoirEnabled()) {
      return;
    }
    if (cache instanceof BucketCache) {
      ((BucketCache) cache).recoveredEntryAllocator.use(allocator);
      return;
    }
    if (cache instanceof Reader) {
      ((Reader) cache).useAllocator(allocator);
      return;
    }
    BlockCache[] parts = cache.getBlockCaches();
    if (parts != null) {
      for (BlockCache part : parts) {
        if (part != cache) {
          use(part, allocator);
        }
      }
    }
  }

  private synchronized void use(ByteBuffAllocator allocator) {
    if (allocator != this && !pool.isReservoirEnabled()) {
      pool = allocator;
    }
  }

  @Override
  public ByteBuff allocate(int size) {
    return pool.allocate(size);
  }

  @Override
  public SingleByteBuff allocateOneBuffer() {
    return pool.allocateOneBuffer();
  }

  @Override
  public boolean isReservoirEnabled() {
    return pool.isReservoirEnabled();
  }

  @Override
  public int getBufferSize() {
    return pool.getBufferSize();
  }

  @Override
  public int getTotalBufferCount() {
    return pool.getTotalBufferCount();
  }

  @Override
  public int getUsedBufferCount() {
    return pool.getUsedBufferCount();
  }

  @Override
  public int getFreeBufferCount() {
    return pool.getFreeBufferCount();
  }

  @Override
  public long getHeapAllocationBytes() {
    return pool.getHeapAllocationBytes();
  }

  @Override
  public long getPoolAllocationBytes() {
    return pool.getPoolAllocationBytes();
  }
}
