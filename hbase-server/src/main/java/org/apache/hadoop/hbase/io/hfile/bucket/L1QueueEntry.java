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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A block in the writer queue of a {@link L1BucketCache} whose writer evicts data blocks until the
 * block has space, and whose entry is an {@link L1Entry}. Used by one writer thread.
 */
@InterfaceAudience.Private
final class L1QueueEntry extends BucketCache.RAMQueueEntry {
  private final Predicate<Cacheable> evictData;
  private final BucketCache.RAMQueueEntry entry;
  /** Whether an {@link L1Entry} owns the space of the block. */
  private boolean owned;

  /**
   * @param evictData evicts data blocks for a block that found no space, and returns whether any
   *                  were evicted
   */
  L1QueueEntry(Predicate<Cacheable> evictData, BucketCache.RAMQueueEntry entry) {
    super(entry.getKey(), entry.getData(), 0, false, false);
    this.evictData = evictData;
    this.entry = entry;
  }

  @Override
  public BucketEntry writeToCache(IOEngine engine, BucketAllocator allocator,
    LongAdder realSize, Function<BucketEntry, ByteBuffAllocator.Recycler> createRecycler,
    ByteBuffer metaBuff) throws IOException {
    while (true) {
      try {
        BucketEntry written = entry.writeToCache(engine, allocator, realSize,
          unowned -> () -> free(unowned, allocator, realSize), metaBuff);
        return written == null ? null : owner(written, createRecycler);
      } catch (CacheFullException e) {
        if (!evictData.test(entry.getData())) {
          throw e;
        }
      }
    }
  }

  /** Returns an entry that owns the space of the written one, which is released. */
  private L1Entry owner(BucketEntry written,
    Function<BucketEntry, ByteBuffAllocator.Recycler> createRecycler) {
    try {
      L1Entry owner = new L1Entry(written.offset(), written.getLength(),
        written.getOnDiskSizeWithHeader(), 0,
        written.getPriority() == BlockPriority.MEMORY, createRecycler, written.allocator);
      owner.deserializerIndex = written.deserializerIndex;
      owned = true;
      return owner;
    } finally {
      written.release();
    }
  }

  /** Frees the space of a block that could not be written; its size was counted before. */
  private void free(BucketEntry written, BucketAllocator allocator, LongAdder realSize) {
    if (!owned) {
      allocator.freeBlock(written.offset(), written.getLength());
      realSize.add(-written.getLength());
    }
  }
}
