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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.util.BloomFilterFactory;
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
 * The block look-ups of one get in one store file, all of them hits, in microseconds and in bytes
 * of heap allocated: the bloom filter's chunk, the leaf block of the index, the data block.
 * CompositeBucketCache on the fork, with an off-heap L1, is compared with stock's
 * CombinedBlockCache, an on-heap LRU cache before a bucket cache; L2's engine is the
 * same on both sides. What the composite cache is for, a heap free of cached blocks, does not show
 * in this figure: what it costs a get does.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=CompositeBucketCacheBenchmark
 * </pre>
 *
 * The shape is that of HBASE-23296 and of <code>HFileReaderImpl.readBlock</code>: real blocks of a
 * store file that a reader put into the cache, a new key per look-up with the type that a get
 * expects, each block released after use. Rows are chosen at random, all equally often. Chunks of
 * bloom filter and index have 4 KB instead of 128 KB, so that a file of some megabytes has several
 * of them, as the files of a RegionServer have together; neither tier of them copies a block, so
 * that its size does not matter.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class CompositeBucketCacheBenchmark extends PinnedJvm {
  private static final int META_CHUNK_BYTES = 4 * 1024;
  private static final int FIRST_TIER_MEGABYTES = 64;

  /** The engine of L2, as <code>hbase.bucketcache.ioengine</code> names it. */
  @Param({ "offheap", "file", "mmap" })
  public String engine;

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  @Param({ "8192", "65536" })
  public int size;

  /** The bytes of blocks in the cache, in MB. */
  int megabytes = 16;

  private Engine storage;
  private StoreFileBlocks blocks;
  CombinedBlockCache cache;
  List<Lookup> order;
  private int next;

  /** What one get looks up. */
  static final class Lookup {
    final StoreFileBlocks.Location bloom;
    final StoreFileBlocks.Location index;
    final StoreFileBlocks.Location data;

    private Lookup(StoreFileBlocks.Location bloom, StoreFileBlocks.Location index,
      StoreFileBlocks.Location data) {
      this.bloom = bloom;
      this.index = index;
      this.data = data;
    }
  }

  @Setup(Level.Trial)
  public void fill() throws IOException, InterruptedException {
    storage = new Engine(engine);
    Configuration conf = HBaseConfiguration.create();
    conf.setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, META_CHUNK_BYTES);
    conf.setInt(BloomFilterFactory.IO_STOREFILE_BLOOM_BLOCK_SIZE, META_CHUNK_BYTES);
    // With promotion, all data would end up in L1, which has the room for it.
    storage.configure(conf, "none", FIRST_TIER_MEGABYTES, 2 * megabytes + 64);
    cache = (CombinedBlockCache) BlockCacheFactory.createBlockCache(conf);
    blocks = new StoreFileBlocks(conf, size, (long) megabytes << 20);
    List<StoreFileBlocks.Location> all = blocks.readAllThrough(cache);
    blocks.awaitCached(cache, all);
    order = lookups(all);
    Collections.shuffle(order, new Random(1));
  }

  /** A block of the bloom filter or the index follows the data blocks that it covers. */
  private static List<Lookup> lookups(List<StoreFileBlocks.Location> all) {
    List<Lookup> lookups = new ArrayList<>();
    StoreFileBlocks.Location bloom = null;
    StoreFileBlocks.Location index = null;
    for (int i = all.size() - 1; i >= 0; i--) {
      StoreFileBlocks.Location location = all.get(i);
      if (location.type == BlockType.BLOOM_CHUNK) {
        bloom = location;
      } else if (location.type == BlockType.LEAF_INDEX) {
        index = location;
      } else if (location.type.isData()) {
        if (bloom == null || index == null) {
          throw new IllegalStateException("The file lacks bloom filter or index blocks");
        }
        lookups.add(new Lookup(bloom, index, location));
      }
    }
    return lookups;
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    cache.shutdown();
    storage.close();
    blocks.close();
  }

  /** @return the size of the three blocks with their headers, in bytes */
  @Benchmark
  public int bloomIndexData() {
    Lookup lookup = order.get(next);
    next = next + 1 == order.size() ? 0 : next + 1;
    return get(lookup.bloom) + get(lookup.index) + get(lookup.data);
  }

  private int get(StoreFileBlocks.Location location) {
    HFileBlock block = (HFileBlock) cache.getBlock(blocks.key(location), true, false, true);
    int sizeWithHeader = block.getOnDiskSizeWithHeader();
    block.release();
    return sizeWithHeader;
  }
}
