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
package dev.stratum.bench.blockcache;

import dev.stratum.bench.PinnedJvm;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * One look-up in a bucket cache, in microseconds and in bytes of heap allocated: a random data
 * block that is cached ({@link #hit}), and one that is not ({@link #miss}).
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=blockcache.BucketCacheBenchmark
 * </pre>
 *
 * The shape is <code>HFileReaderImpl.getCachedBlock</code>'s: a new key per look-up, real data
 * blocks of a store file, buffers from the RegionServer's pooled allocator, metrics updated, the
 * block released after use. A hit on the engines <code>file</code> and <code>mmap</code> copies the
 * block out; on <code>offheap</code> it does not (HBASE-11425). That allocation is part of the
 * claim is that of HBASE-22802, which made <code>file</code> take its buffers from the pool.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class BucketCacheBenchmark extends PinnedJvm {
  /** The engine, as <code>hbase.bucketcache.ioengine</code> names it, without a path. */
  @Param({ "offheap", "file", "mmap" })
  public String engine;

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  @Param({ "8192", "32768", "65536" })
  public int size;

  /** The bytes of blocks in the cache, in MB. */
  int megabytes = 16;

  private Engine storage;
  private StoreFileBlocks blocks;
  private BucketCache cache;
  private StoreFileBlocks.Location[] order;
  private int next;

  @Setup(Level.Trial)
  public void fill() throws IOException, InterruptedException {
    Configuration conf = HBaseConfiguration.create();
    blocks = new StoreFileBlocks(conf, size, (long) megabytes << 20);
    storage = new Engine(engine);
    // The allocator hands out whole buckets, which takes twice the space; the queue takes
    // everything.
    cache = new BucketCache(storage.setting(), (2L * megabytes + 64) << 20, size, null, 3, 1 << 16,
      null, BucketCache.DEFAULT_ERROR_TOLERATION_DURATION, conf);
    List<StoreFileBlocks.Location> all = blocks.readAll(block -> {
      if (block.getBlockType().isData()) {
        cache.cacheBlock(blocks.key(block), block);
      }
    });
    order = StoreFileBlocks.shuffledData(all);
    blocks.awaitCached(cache, List.of(order));
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    cache.shutdown();
    storage.close();
    blocks.close();
  }

  private StoreFileBlocks.Location next() {
    StoreFileBlocks.Location location = order[next];
    next = next + 1 == order.length ? 0 : next + 1;
    return location;
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  public int hit() {
    HFileBlock block = (HFileBlock) cache.getBlock(blocks.key(next()), true, false, true);
    int sizeWithHeader = block.getOnDiskSizeWithHeader();
    block.release();
    return sizeWithHeader;
  }

  /** @return null, or else there is an error */
  @Benchmark
  public Cacheable miss() {
    Cacheable block = cache.getBlock(blocks.strangersKey(next()), true, false, true);
    if (block != null) {
      throw new IllegalStateException("A block that was never cached is in the cache: " + block);
    }
    return block;
  }
}
