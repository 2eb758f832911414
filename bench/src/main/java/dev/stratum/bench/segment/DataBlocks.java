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
package dev.stratum.bench.segment;

import dev.stratum.bench.blockcache.StoreFileBlocks;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;

/**
 * Inserts as many blocks as a cache can take: a few real data blocks, again and again under the
 * keys of store files that have a thousand blocks each.
 */
final class DataBlocks implements Closeable {
  private static final int BLOCKS_PER_FILE = 1000;
  private static final int DISTINCT_BLOCKS = 16;

  private final int size;
  private final StoreFileBlocks source;
  private final List<HFileBlock> blocks = new ArrayList<>();
  private final List<String> files = new ArrayList<>();
  private long inserted;

  /** @param size of data blocks in bytes, before the last cell that makes them full */
  DataBlocks(int size) throws IOException {
    this.size = size;
    source = new StoreFileBlocks(HBaseConfiguration.create(), size, 4L * DISTINCT_BLOCKS * size);
    source.readAll(block -> {
      if (block.getBlockType().isData() && blocks.size() < DISTINCT_BLOCKS) {
        blocks.add(block.retain());
      }
    });
  }

  ByteBuffAllocator allocator() {
    return source.allocator();
  }

  /** Returns what the largest block takes when it is stored, in bytes. */
  int largest() {
    return blocks.stream().mapToInt(HFileBlock::getSerializedLength).max().getAsInt();
  }

  /** Returns what a block takes in the mean when it is stored, in bytes. */
  double mean() {
    return blocks.stream().mapToInt(HFileBlock::getSerializedLength).average().getAsDouble();
  }

  /** Inserts blocks until the first has to go. */
  void insertUntilEvicted(BlockCache cache) {
    while (cache.getStats().getEvictedCount() == 0) {
      insertNext(cache);
    }
  }

  /** Inserts the next block. Returns how many have been. */
  long insertNext(BlockCache cache) {
    nameFiles(inserted + 1);
    cache.cacheBlock(key(inserted), block(inserted), false, true);
    return ++inserted;
  }

  /** Makes keys for so many blocks. */
  void nameFiles(long count) {
    while (files.size() * (long) BLOCKS_PER_FILE < count) {
      files.add(UUID.randomUUID().toString().replace("-", ""));
    }
  }

  /** Returns what is cached as the block of this number, from 0 on. */
  HFileBlock block(long number) {
    return blocks.get((int) (number % blocks.size()));
  }

  /**
   * Waits until all blocks that were inserted are where they stay: a bucket cache still has some of
   * them in a queue, counts those, and forgets them when it is shut down.
   * @throws IllegalStateException if they are not there after a minute
   */
  void awaitStored(BlockCache cache) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    for (long number = 0; number < inserted; number++) {
      while (!cache.isAlreadyCached(key(number)).orElse(false)) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("Block " + number + " of " + inserted + " is not stored");
        }
        Thread.sleep(1);
      }
    }
  }

  /**
   * Waits until a cache that was opened again knows of all blocks. It costs no more than a look at
   * its count, which has none of a queue yet.
   * @throws IllegalStateException if it does not after a minute
   */
  void awaitFound(BlockCache cache) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (cache.getBlockCount() < inserted) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(cache.getBlockCount() + " of " + inserted + " blocks");
      }
      Thread.sleep(1);
    }
  }

  /** Returns a new key for the block of this number, from 0 on. */
  BlockCacheKey key(long number) {
    return new BlockCacheKey(files.get((int) (number / BLOCKS_PER_FILE)),
      number % BLOCKS_PER_FILE * 2 * size, true, BlockType.DATA);
  }

  long inserted() {
    return inserted;
  }

  @Override
  public void close() throws IOException {
    blocks.forEach(HFileBlock::release);
    source.close();
  }
}
