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
package org.apache.hadoop.hbase.io.hfile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Reads of a thread that do not wait for a device: between {@link #begin} and {@link #end}, the
 * thread's read of a block that is not cached in memory ends with {@link WouldWaitException}. What
 * the reads are to count, hits of caches and answers of Bloom filters, is counted by {@link
 * #count()} only: a reader that has to begin anew elsewhere counts nothing twice.
 * <p>
 * The locks of a block cache are waited for, as those of any map: none is held while a device is
 * read or written. Used by one thread. In this package, since it uses protected members of
 * {@link HFileReaderImpl}.
 */
@InterfaceAudience.Private
public final class MemoryReads {

  /** A read that would wait. Has no stack trace, as it says nothing about an error. */
  public static final class WouldWaitException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public WouldWaitException() {
      super("not in memory, or locked", null, false, false);
    }
  }

  /** A block cache that counts hits otherwise than its statistics do. */
  public interface HitCounter {

    /** Returns what counts the hit of a block that was found in memory. */
    Runnable hit(BlockCacheKey key, Cacheable block, boolean caching);
  }

  private static final ThreadLocal<MemoryReads> CURRENT = new ThreadLocal<>();
  /** Whether any thread has begun such reads: other servers look at no thread's. */
  private static volatile boolean used;

  private final List<Runnable> counts = new ArrayList<>(8);
  private int blocksLeft;

  private MemoryReads(int maxBlocks) {
    this.blocksLeft = maxBlocks;
  }

  /**
   * Begins reads of this thread. They are to be ended in a finally block.
   * @param maxBlocks number of blocks that it may read
   */
  public static MemoryReads begin(int maxBlocks) {
    used = true;
    MemoryReads reads = new MemoryReads(maxBlocks);
    CURRENT.set(reads);
    return reads;
  }

  /** Returns the reads that this thread has begun, null if it has not. */
  static MemoryReads current() {
    return used ? CURRENT.get() : null;
  }

  /** Returns whether this thread has begun reads, so that nothing but memory is to be read. */
  public static boolean isCurrent() {
    return current() != null;
  }

  /** Has something counted later. */
  void defer(Runnable count) {
    counts.add(count);
  }

  /**
   * Returns a block from memory, for its reader.
   * @throws WouldWaitException if it is not there, can be used only after a repair, or data of its
   *                            file is cached compressed or encrypted
   */
  HFileBlock read(HFileReaderImpl reader, BlockCacheKey key, boolean caching,
    DataBlockEncoding encoding) throws IOException {
    BlockCache cache = reader.cacheConf.getBlockCache().orElse(null);
    if (
      cache == null || --blocksLeft < 0
        || !reader.cacheConf.shouldReadBlockFromCache(key.getBlockType())
        || isCachedPacked(reader)
    ) {
      throw new WouldWaitException();
    }
    HFileBlock block =
      reader.getCachedBlock(key, caching, true, false, key.getBlockType(), encoding);
    if (block == null) {
      throw new WouldWaitException();
    }
    if (
      block.getBlockType().isData()
        && block.getDataBlockEncoding() != reader.dataBlockEncoder.getDataBlockEncoding()
    ) {
      block.release();
      throw new WouldWaitException();
    }
    defer(hit(cache, key, block, caching));
    return block;
  }

  /** Returns whether data has to be decompressed or decrypted when it is read from the cache. */
  private static boolean isCachedPacked(HFileReaderImpl reader) {
    return reader.cacheConf.shouldCacheCompressed(BlockCategory.DATA)
      && reader.hfileContext.isCompressedOrEncrypted();
  }

  private static Runnable hit(BlockCache cache, BlockCacheKey key, HFileBlock block,
    boolean caching) {
    boolean data = block.getBlockType().isData();
    Runnable hit = cache instanceof HitCounter
      ? ((HitCounter) cache).hit(key, block, caching)
      : () -> tier(cache, data).getStats().hit(caching, key.isPrimary(), key.getBlockType());
    return !data ? hit : () -> {
      hit.run();
      HFile.DATABLOCK_READ_COUNT.increment();
    };
  }

  /** Returns the cache that has the statistics of a kind of blocks. */
  private static BlockCache tier(BlockCache cache, boolean data) {
    BlockCache[] tiers = cache.getBlockCaches();
    return tiers == null || tiers.length < 2 ? cache : tiers[data ? 1 : 0];
  }

  /** Ends the reads of this thread. */
  public void end() {
    CURRENT.remove();
  }

  /** Counts the reads, which have ended. To be called once, if what was read is used. */
  public void count() {
    counts.forEach(Runnable::run);
  }
}
