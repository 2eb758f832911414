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
import dev.stratum.bench.blockcache.CompositeBucketCacheGetBenchmark.Cursor;
import dev.stratum.bench.harness.Headline;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import site.ycsb.generator.ZipfianGenerator;

/**
 * One look-up of a data block by each of two threads, in microseconds and in bytes of heap
 * allocated, where L2 is a file in the page cache and holds all the data, eight times
 * what L1 has room for. CompositeBucketCache on the fork, with hot data in its off-heap
 * L1, is compared with stock's CombinedBlockCache, whose L1 is for meta blocks
 * only.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=CompositeBucketCacheHotDataBenchmark
 * </pre>
 *
 * Data are 512 MB in some 16,000 blocks, of which an eighth finds room in L1: the most
 * frequent eighth of that many under zipfian keys is requested 80 times in 100, which no choice of
 * blocks that stays the same can exceed. 24 look-ups of each block come before the warm-up,
 * so that the policy has chosen by then.
 * <p>
 * The page cache is the hardest case for the fork: a read from a device costs many times what a
 * copy from the page cache does. Blocks are requested by YCSB's zipfian generator with its constant
 * of 0.99 (Cooper et al., SoCC 2010), hot blocks lying anywhere in the file, or all equally often.
 * The look-up itself has the shape of <code>HFileReaderImpl.getCachedBlock</code>, as in
 * {@link BucketCacheBenchmark}. The warm-up is a long one: until the policy's code
 * is compiled, it takes half of the time. See HBASE-23296.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Threads(2)
@Warmup(iterations = 8, time = 1)
@Measurement(iterations = 4, time = 1)
public class CompositeBucketCacheHotDataBenchmark extends PinnedJvm {
  private static final int BLOCK_BYTES = 32 * 1024;
  private static final int DATA_TO_L1 = 8;
  private static final int WARM_UP_LOOK_UPS_BY_MEGABYTE = 800;

  /** How blocks are requested: <code>zipfian</code> or <code>uniform</code>. */
  @Param({ "zipfian", "uniform" })
  public String keys;

  /** <code>hbase.bucketcache.composite.promotion</code> on the fork; stock has no such thing. */
  @Param({ "frequency", "none" })
  public String promotion;

  /**
   * How long each read of the L2 file waits in addition, in microseconds. An SSD takes
   * about 100.
   */
  @Param("0")
  public int deviceMicros;

  /** The bytes of data, in MB. */
  @Param("512")
  public int megabytes;

  private Engine storage;
  private DelayedReads delayedReads;
  private StoreFileBlocks blocks;
  CombinedBlockCache cache;
  private StoreFileBlocks.Location[] trace;

  @Setup(Level.Trial)
  public void fill() throws IOException, InterruptedException {
    storage = new Engine("file");
    Configuration conf = HBaseConfiguration.create();
    storage.configure(conf, promotion, l1Megabytes(), 2 * megabytes + 64);
    // The built-in sizes need a tier of 29 MB at least.
    conf.set("hbase.bucketcache.l1.bucket.sizes", "5120,34816,132096");
    cache = (CombinedBlockCache) BlockCacheFactory.createBlockCache(conf);
    blocks = new StoreFileBlocks(conf, BLOCK_BYTES, (long) megabytes << 20);
    List<StoreFileBlocks.Location> all = blocks.readAllThrough(cache);
    blocks.awaitCached(cache, all);
    trace = trace(StoreFileBlocks.shuffledData(all));
    Cursor cursor = new Cursor();
    for (int i = 0; i < megabytes * WARM_UP_LOOK_UPS_BY_MEGABYTE; i++) {
      get(cursor);
    }
    delayedReads = new DelayedReads(deviceMicros);
  }

  /**
   * Returns a size of L1 with space for an eighth of the data blocks: a twentieth of the tier is
   * kept free, a block takes a place that is 5 % larger than it is, and index and bloom blocks take
   * 2 MB.
   */
  private int l1Megabytes() {
    return 2 + megabytes / DATA_TO_L1 * 6 / 5;
  }

  private StoreFileBlocks.Location[] trace(StoreFileBlocks.Location[] data) {
    ZipfianGenerator zipfian = new ZipfianGenerator(data.length);
    StoreFileBlocks.Location[] asked = new StoreFileBlocks.Location[Cursor.TRACE_LENGTH];
    for (int i = 0; i < asked.length; i++) {
      asked[i] = data[keys.equals("zipfian")
        ? zipfian.nextValue().intValue()
        : ThreadLocalRandom.current().nextInt(data.length)];
    }
    return asked;
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    delayedReads.close();
    cache.shutdown();
    storage.close();
    blocks.close();
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  @Headline(value = "keys=zipfian,promotion=frequency,deviceMicros=100,megabytes=256",
      warmup = 2, measurement = 2, feature = "composite-bucket-cache")
  public int get(Cursor cursor) {
    HFileBlock block =
      (HFileBlock) cache.getBlock(blocks.key(trace[cursor.next()]), true, false, true);
    int sizeWithHeader = block.getOnDiskSizeWithHeader();
    block.release();
    return sizeWithHeader;
  }
}
