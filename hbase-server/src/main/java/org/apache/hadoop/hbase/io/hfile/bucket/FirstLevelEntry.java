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
import java.util.function.Function;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockInPlace;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.io.netty.util.IllegalReferenceCountException;

/**
 * A block's place in a {@link FirstLevelBucketCache}, read without a lock. A reader takes a
 * reference first, which only works while the place is still the block's: it is freed, and can be
 * given to another block, when the last reference is gone, and a count that was zero once stays
 * zero. So whoever got an entry from the map and a reference from the entry reads the right bytes,
 * whatever became of the map meanwhile.
 * <p>
 * Where the engine's memory is the readers' too, the entry keeps what is needed to hand out the
 * block again; see {@link BlockInPlace}. Thread-safe.
 */
@InterfaceAudience.Private
final class FirstLevelEntry extends BucketEntry {

  private volatile BlockInPlace inPlace;

  /**
   * @param accessCounter the higher, the later its turn to go for want of space comes
   */
  FirstLevelEntry(long offset, int length, int onDiskSizeWithHeader, long accessCounter,
    boolean inMemory, Function<BucketEntry, ByteBuffAllocator.Recycler> createRecycler,
    ByteBuffAllocator allocator) {
    super(offset, length, onDiskSizeWithHeader, accessCounter, inMemory, createRecycler,
      allocator);
  }

  /**
   * Reads the block.
   * @return null if the block has been evicted, and nobody held it any more
   * @throws IOException if there is no block to be made of what is there
   */
  Cacheable read(IOEngine engine) throws IOException {
    if (!retainIfAlive()) {
      return null;
    }
    boolean handedOver = false;
    try {
      if (!engine.usesSharedMemory()) {
        // A copy, so that the place is needed no longer than this.
        return engine.read(this);
      }
      BlockInPlace known = inPlace;
      Cacheable block = known == null ? readInPlace(engine) : known.newBlock();
      handedOver = true;
      return block;
    } finally {
      if (!handedOver) {
        release();
      }
    }
  }

  /** Two readers may do this at the same time; it does not matter whose result stays. */
  private Cacheable readInPlace(IOEngine engine) throws IOException {
    Cacheable block = engine.read(this);
    if (block instanceof HFileBlock && checksum == EntryChecksum.NONE) {
      // Else it is to be checked each time.
      inPlace = new BlockInPlace((HFileBlock) block);
    }
    return block;
  }

  private boolean retainIfAlive() {
    if (refCnt() <= 0) {
      return false;
    }
    try {
      retain();
      return true;
    } catch (IllegalReferenceCountException e) {
      // It died between the two; what was added to the count does not bring it back.
      return false;
    }
  }

  /**
   * Notes when the block was used. The clock is to stand still while nothing comes, for then
   * nothing has to go either, and the many uses of a hot block write to memory once.
   */
  void used(long clock) {
    if (getAccessCounter() != clock || getPriority() == BlockPriority.SINGLE) {
      access(clock);
    }
  }
}
