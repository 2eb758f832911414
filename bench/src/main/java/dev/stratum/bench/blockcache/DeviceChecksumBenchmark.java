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
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
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
 * One look-up of a random data block in L2, which is a device and has it, in
 * microseconds and in bytes of heap allocated. On the fork each block's checksum is checked, or is
 * not (<code>checksum</code>); stock, which has none, reads the same blocks on both lines. So the
 * fork's two lines say what the sum costs, and each ratio what the tier costs against stock.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=DeviceChecksumBenchmark
 * </pre>
 *
 * The file is in the page cache, which is the hardest case: a real device takes ten times as long
 * to read, and the sum as long as here. Otherwise the shape is {@link BucketCacheBenchmark}'s. That
 * a cache on flash checks what it reads follows CacheLib (Berg et al., The CacheLib Caching
 * Engine, OSDI 2020).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class DeviceChecksumBenchmark extends PinnedJvm {
  /** The engine of L2, as <code>hbase.bucketcache.ioengine</code> names it. */
  @Param({ "file", "mmap", "pmem" })
  public String engine;

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  @Param({ "32768" })
  public int size;

  /** Whether the fork checks what it reads. */
  @Param({ "true", "false" })
  public boolean checksum;

  /** The bytes of blocks in the cache, in MB. */
  int megabytes = 16;

  private Engine storage;
  private StoreFileBlocks blocks;
  private CombinedBlockCache cache;
  private BlockCache second;
  private StoreFileBlocks.Location[] order;
  private int next;

  @Setup(Level.Trial)
  public void fill() throws IOException, InterruptedException {
    storage = new Engine(engine);
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.l2.checksum.enabled", checksum);
    storage.configure(conf, "none", 64, 2 * megabytes + 64);
    cache = (CombinedBlockCache) BlockCacheFactory.createBlockCache(conf);
    second = cache.getSecondLevelCache();
    blocks = new StoreFileBlocks(conf, size, (long) megabytes << 20);
    List<StoreFileBlocks.Location> all = blocks.readAllThrough(cache);
    blocks.awaitCached(cache, all);
    order = StoreFileBlocks.shuffledData(all);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    cache.shutdown();
    storage.close();
    blocks.close();
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  public int read() {
    StoreFileBlocks.Location location = order[next];
    next = next + 1 == order.length ? 0 : next + 1;
    HFileBlock block = (HFileBlock) second.getBlock(blocks.key(location), true, false, true);
    int sizeWithHeader = block.getOnDiskSizeWithHeader();
    block.release();
    return sizeWithHeader;
  }
}
