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
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.SharedBlockView;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A block's place in a {@link L1BucketCache}. If readers share the memory of the engine, the entry
 * keeps what is needed to return the block again; see {@link SharedBlockView}. Thread-safe.
 */
@InterfaceAudience.Private
final class L1Entry extends BucketEntry {

  private volatile SharedBlockView inPlace;

  /**
   * @param accessCounter the higher, the later it is evicted for lack of space
   */
  L1Entry(long offset, int length, int onDiskSizeWithHeader, long accessCounter,
    boolean inMemory, Function<BucketEntry, ByteBuffAllocator.Recycler> createRecycler,
    ByteBuffAllocator allocator) {
    super(offset, length, onDiskSizeWithHeader, accessCounter, inMemory, createRecycler,
      allocator);
  }

  /**
   * Reads the block. The caller holds a reference to this entry, which the block takes over if the
   * engine's memory is the readers' too.
   * @throws IOException if there is no block to be made of what is there
   */
  Cacheable read(IOEngine engine) throws IOException {
    SharedBlockView known = inPlace;
    return known == null ? readInPlace(engine) : known.newBlock();
  }

  /** Two readers may do this at the same time; it does not matter whose result stays. */
  private Cacheable readInPlace(IOEngine engine) throws IOException {
    Cacheable block = engine.read(this);
    if (
      engine.usesSharedMemory() && block instanceof HFileBlock && checksum == EntryChecksum.NONE
    ) {
      // A block with a checksum is not kept, since its checksum is verified at each read.
      inPlace = new SharedBlockView((HFileBlock) block);
    }
    return block;
  }
}
