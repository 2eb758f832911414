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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;

/**
 * Moves victims of a {@link L1BucketCache} to its victim cache.
 * <p>
 * A victim is copied first. A block of a memory engine shares the reference count of its bucket
 * entry. The block itself would keep that space allocated until the victim cache has written it,
 * while the eviction is to free the space. Copies are allocated from the pool that the block's
 * reader used, and there are never more of them than the queue of the victim cache holds.
 * <p>
 * The evicting thread, which is never a reader, waits for space in that queue, at most
 * {@value #VICTIM_WAIT_MS} ms at a time. After a wait without success it does not wait again until
 * the queue has had space. Thread-safe.
 */
@InterfaceAudience.Private
final class VictimTransfer {
  static final long VICTIM_WAIT_MS = 200;

  private final Logger log;
  private final LongAdder spilled = new LongAdder();
  private final LongAdder spilledBytes = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  /** Whether the last wait succeeded. Set by threads that evict, of which there are at most two. */
  private volatile boolean queueHadSpace = true;

  /** @param log of the tier, whose log level operators set */
  VictimTransfer(Logger log) {
    this.log = log;
  }

  /**
   * Returns a copy of a block, which the caller releases; null if the block is not in the cache any
   * more, or cannot be read or copied.
   */
  Cacheable copyOf(BucketCache cache, BlockCacheKey key) {
    Cacheable block = cache.getBlock(key, false, true, false);
    if (block == null) {
      return null;
    }
    if (!cache.ioEngine.usesSharedMemory()) {
      // Such an engine has read a copy.
      return block;
    }
    try {
      return block instanceof HFileBlock ? copyOf((HFileBlock) block) : null;
    } catch (IOException e) {
      log.warn("Could not copy block {}, it is dropped", key, e);
      return null;
    } finally {
      block.release();
    }
  }

  private static HFileBlock copyOf(HFileBlock block) throws IOException {
    ByteBuffAllocator allocator = block.getByteBuffAllocator();
    ByteBuff source = block.getBufferReadOnly();
    int length = source.limit();
    ByteBuff target = allocator.allocate(length + HFileBlock.BLOCK_METADATA_SPACE);
    boolean done = false;
    try {
      target.put(0, source, 0, length);
      target.position(length);
      byte[] metadata =
        block.getMetaData(ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE)).array();
      target.put(metadata);
      target.rewind();
      HFileBlock copy = (HFileBlock) block.getDeserializer().deserialize(target, allocator);
      done = true;
      return copy;
    } finally {
      if (!done) {
        target.release();
      }
    }
  }

  /**
   * Inserts a copy into the victim cache, or drops it if the queue has no space.
   * @return whether it was inserted
   */
  boolean insert(CacheTier victims, BlockCacheKey key, Cacheable copy) {
    try {
      queueHadSpace = victims.awaitVictimInsertion(key,
        queueHadSpace ? TimeUnit.MILLISECONDS.toNanos(VICTIM_WAIT_MS) : 0);
    } catch (InterruptedException e) {
      // The tier shuts down, and the evicting writer thread ends by this flag.
      Thread.currentThread().interrupt();
      queueHadSpace = false;
    }
    if (queueHadSpace) {
      victims.cacheBlock(key, copy);
      if (victims.containsBlock(key)) {
        spilled.increment();
        spilledBytes.add(copy.getSerializedLength());
        return true;
      }
    }
    dropped.increment();
    return false;
  }

  /** Returns how many blocks were inserted into the victim cache. */
  long getSpilledCount() {
    return spilled.sum();
  }

  /** Returns the bytes of the blocks that {@link #getSpilledCount} counts. */
  long getSpilledBytes() {
    return spilledBytes.sum();
  }

  /** Returns how many blocks were dropped because the victim cache did not accept them. */
  long getDroppedCount() {
    return dropped.sum();
  }
}
