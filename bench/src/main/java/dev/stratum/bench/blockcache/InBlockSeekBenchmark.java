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
import dev.stratum.bench.harness.ForkClass;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * The time to find a random row in a store file whose blocks are all in memory, in stock's bucket
 * cache and in L1 of the fork's CompositeBucketCache, as a get does, in microseconds: a look-up in
 * the index and in the cache, and then a walk through the block, half of it on average.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=InBlockSeekBenchmark
 * </pre>
 *
 * Rows have the shape of YCSB. The throughput article reads rows of ten cells of 100 bytes from
 * blocks of 32 KB; 64 KB is the default of HBase.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class InBlockSeekBenchmark extends PinnedJvm {
  /** The size of data blocks in bytes, before the last cell that makes them full. */
  @Param({ "8192", "32768", "65536" })
  public int size;

  private static final int MAX_WARM_UP_SEEKS = 1_000_000;

  /** The bytes of blocks in the cache, in MB. */
  int megabytes = 16;

  private final Configuration conf = HBaseConfiguration.create();
  private StoreFileBlocks blocks;
  private Engine storage;
  private BlockCache cache;
  private HFile.Reader reader;
  private Cell[] rows;
  private int next;

  @Setup(Level.Trial)
  public void open() throws IOException, InterruptedException {
    blocks = new StoreFileBlocks(conf, size, (long) megabytes << 20);
    cache = createCache();
    List<StoreFileBlocks.Location> all = blocks.readAllThrough(cache);
    blocks.awaitCached(cache, all);
    reader = HFile.createReader(FileSystem.newInstanceLocal(conf).getRaw(), blocks.path(),
      new CacheConfig(conf, null, cache, blocks.allocator()), true, conf);
    rows = new Cell[1 << 16];
    int count = (int) (reader.getEntries() / StoreFileBlocks.FIELDS);
    Random random = new Random(1);
    for (int i = 0; i < rows.length; i++) {
      byte[] row = StoreFileBlocks.row(1 + random.nextInt(count - 1));
      rows[i] = PrivateCellUtil.createFirstOnRow(row);
    }
    promoteAll(all.size());
  }

  private BlockCache createCache() throws IOException {
    int cacheMegabytes = 2 * megabytes + 64;
    if (!ForkClass.COMPOSITE_BUCKET_CACHE.isPresent()) {
      return new BucketCache("offheap", (long) cacheMegabytes << 20, size, null, 3, 1 << 16, null);
    }
    storage = new Engine("file");
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.composite.promotion", "frequency");
    conf.setInt("hbase.bucketcache.l1.size", cacheMegabytes);
    conf.set("hbase.bucketcache.l2.ioengine", storage.setting());
    conf.setInt("hbase.bucketcache.l2.size", cacheMegabytes);
    conf.setInt(BlockCacheFactory.BUCKET_CACHE_WRITER_QUEUE_KEY, 1 << 16);
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0);
    return BlockCacheFactory.createBlockCache(conf);
  }

  /** Reads rows until all blocks are in L1, on the fork. */
  private void promoteAll(int blockCount) throws IOException {
    for (int i = 0; i < MAX_WARM_UP_SEEKS && !isPromoted(blockCount); i++) {
      seek();
    }
    if (!isPromoted(blockCount)) {
      throw new IllegalStateException("Not all blocks are in L1");
    }
  }

  private boolean isPromoted(int blockCount) {
    BlockCache[] tiers = cache.getBlockCaches();
    return tiers == null || tiers.length == 0 || tiers[0].getBlockCount() >= blockCount;
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    reader.close();
    cache.shutdown();
    blocks.close();
    if (storage != null) {
      storage.close();
    }
  }

  /** @return whether the row was found */
  @Benchmark
  public boolean seek() throws IOException {
    Cell row = rows[next];
    next = (next + 1) % rows.length;
    HFileScanner scanner = reader.getScanner(conf, true, true, false);
    try {
      // If the key itself is not found, the scanner is at the cell before it, like a file's
      // scanner.
      if (scanner.seekTo(row) == 1) {
        scanner.next();
      }
      return CellUtil.matchingRows(scanner.getCell(), row);
    } finally {
      scanner.close();
    }
  }
}
