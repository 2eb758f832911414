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
import java.util.function.IntConsumer;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Inserts promoted data blocks into a {@link L1BucketCache}, in the thread of the reader that found
 * the block in L2: without a queue, another thread, or a lock but the allocator's, which is held
 * briefly. Thread-safe.
 */
@InterfaceAudience.Private
final class PromotedBlockInserter {

  private final BucketCacheTier cache;
  private final IntConsumer sizeExhausted;
  /** Bytes of the engine that copies take, as the superclass counts those of its insertions. */
  private final LongAdder usedBytes = new LongAdder();

  /** @param sizeExhausted receives the bytes of each item that was not found */
  PromotedBlockInserter(BucketCacheTier cache, IntConsumer sizeExhausted) {
    this.cache = cache;
    this.sizeExhausted = sizeExhausted;
  }

  /** Returns the bytes of the engine that promoted blocks take. */
  long getUsedBytes() {
    return usedBytes.sum();
  }

  /**
   * Copies a block.
   * @return whether it was inserted into the map, even if it was evicted since
   * @throws IOException if it could not be written
   */
  boolean insert(BlockCacheKey key, HFileBlock block) throws IOException {
    int length = block.getSerializedLength();
    if (!cache.device().claimWrite()) {
      return false;
    }
    L1Entry entry;
    try {
      entry = write(block, length, cache.getAllocator().allocateBlock(length));
    } catch (CacheFullException e) {
      sizeExhausted.accept(cache.bucketSizeFor(length));
      return false;
    }
    boolean inserted = false;
    try {
      inserted = cache.putCopyIntoBackingMap(key, entry);
    } finally {
      if (!inserted) {
        entry.markAsEvicted();
      }
    }
    if (inserted && !cache.isCacheEnabled()) {
      // Shut down meanwhile, and the map may have been cleared before.
      cache.evictCopy(key, entry);
    }
    return inserted;
  }

  private L1Entry write(HFileBlock block, int length, long offset) throws IOException {
    L1Entry entry = null;
    IOEngine engine = cache.ioEngine;
    try {
      engine.write(block.getBufferReadOnly(), offset);
      ByteBuffer metadata =
        block.getMetaData(ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE));
      engine.write(metadata, offset + length - HFileBlock.BLOCK_METADATA_SPACE);
      int checksum = cache.device().checksumOf(block, metadata);
      // With this time the entry is the first victim if the superclass evicts by recency.
      entry = new L1Entry(offset, length, block.getOnDiskSizeWithHeader(), Long.MIN_VALUE,
        false, this::recycler, block.getByteBuffAllocator());
      entry.setDeserializerReference(block.getDeserializer());
      entry.checksum = checksum;
      usedBytes.add(length);
      cache.device().writeSucceeded();
      return entry;
    } catch (IOException | RuntimeException | InternalError e) {
      throw cache.device().writeFailed(e);
    } finally {
      if (entry == null) {
        cache.getAllocator().freeBlock(offset, length);
      }
    }
  }

  private ByteBuffAllocator.Recycler recycler(BucketEntry entry) {
    return () -> {
      cache.getAllocator().freeBlock(entry.offset(), entry.getLength());
      usedBytes.add(-entry.getLength());
    };
  }
}
