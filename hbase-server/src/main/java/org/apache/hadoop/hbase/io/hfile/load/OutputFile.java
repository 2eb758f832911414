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
package org.apache.hadoop.hbase.io.hfile.load;

import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.yetus.audience.InterfaceAudience;

/** A file that a compaction writes, whose hot blocks are cached. Not thread-safe. */
@InterfaceAudience.Private
public final class OutputFile {
  private final HotBlockHandover handover;
  private final DeferredBlocks deferred = new DeferredBlocks();
  /** The accesses of the data block that ends now. */
  private int accesses;
  private boolean inL1;

  private OutputFile(HotBlockHandover handover) {
    this.handover = handover;
  }

  /**
   * Returns the output of a writer.
   * @return null if nothing is handed over to it
   */
  public static OutputFile of(CacheConfig cacheConf, String name) {
    if (!(cacheConf instanceof HandoverCacheConfig)) {
      return null;
    }
    HotBlockHandover handover = ((HandoverCacheConfig) cacheConf).handover();
    OutputFile output = new OutputFile(handover);
    handover.addOutput(name, output);
    return output;
  }

  /**
   * Returns whether a data block that has just ended is to be cached now.
   * @param first      its first cell
   * @param last       its last cell
   * @param onDiskSize its size in the file, with the header, in bytes
   * @param size       about its size in the cache, in bytes
   */
  public boolean isHot(Cell first, Cell last, long offset, int onDiskSize, int size) {
    handover.onWritten(onDiskSize, size);
    accesses = handover.accesses(first, last);
    if (accesses == 0) {
      return false;
    }
    inL1 = handover.isInL1();
    if (handover.admits(accesses, size)) {
      return true;
    }
    deferred.add(offset, onDiskSize, accesses, inL1);
    return false;
  }

  /** Caches a block: a data block for which {@link #isHot} said yes, or a meta block. */
  public void cacheBlock(BlockCache cache, BlockCacheKey key, HFileBlock block,
    boolean inMemory) {
    if (block.getBlockType().isData()) {
      handover.cacheHot(key, block, inMemory, accesses, inL1);
    } else {
      cache.cacheBlock(key, block, inMemory, false);
    }
  }

  /** Returns the hot blocks that did not fit. */
  DeferredBlocks deferred() {
    return deferred;
  }
}
