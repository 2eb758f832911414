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
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
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
 * Insertion into a bucket cache that is full, so that every insertion has to be paid for by an
 * eviction, in microseconds per insertion: the mean, whose inverse is the throughput, since one
 * thread inserts as fast as the cache takes blocks; the median, the 99th percentile and the worst,
 * which is how long an eviction of many blocks at once holds everything up.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=BucketCacheInsertBenchmark
 * </pre>
 *
 * The shape is that of a prefetch or of a compaction that caches what it writes, with
 * <code>hbase.bucketcache.queue.addition.waittime</code> set so that no block is dropped: real data
 * blocks, a thousand to a store file, every one inserted once.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 1, timeUnit = TimeUnit.SECONDS)
public class BucketCacheInsertBenchmark extends PinnedJvm {
  private static final int BLOCKS_PER_FILE = 1000;
  private static final int DISTINCT_BLOCKS = 16;
  private static final int WRITER_THREADS = 3;
  private static final int WRITER_QUEUE = 64;

  /** The engine, as <code>hbase.bucketcache.ioengine</code> names it, without a path. */
  @Param({ "offheap", "file", "mmap" })
  public String engine;

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  @Param({ "8192", "32768", "65536" })
  public int size;

  /** The capacity of the cache, in MB. */
  int megabytes = 512;

  private Engine storage;
  private StoreFileBlocks source;
  BucketCache cache;
  private final List<HFileBlock> blocks = new ArrayList<>();
  private String file;
  private long inserted;

  @Setup(Level.Trial)
  public void fill() throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.setLong(BucketCache.QUEUE_ADDITION_WAIT_TIME, TimeUnit.MINUTES.toMillis(1));
    source = new StoreFileBlocks(conf, size, 2L * DISTINCT_BLOCKS * size);
    source.readAll(block -> {
      if (block.getBlockType().isData() && blocks.size() < DISTINCT_BLOCKS) {
        blocks.add(block.retain());
      }
    });
    storage = new Engine(engine);
    cache = new BucketCache(storage.setting(), (long) megabytes << 20, size, null, WRITER_THREADS,
      WRITER_QUEUE, null, BucketCache.DEFAULT_ERROR_TOLERATION_DURATION, conf);
    while (cache.getStats().getEvictedCount() == 0) {
      insert();
    }
  }

  /** @throws IllegalStateException if a block was dropped, which is not what was to be measured */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    long dropped = cache.getStats().getFailedInserts();
    cache.shutdown();
    storage.close();
    blocks.forEach(HFileBlock::release);
    source.close();
    if (dropped > 0) {
      throw new IllegalStateException(dropped + " blocks were dropped");
    }
  }

  /** @return how many blocks were inserted so far */
  @Benchmark
  public long insert() {
    if (inserted % BLOCKS_PER_FILE == 0) {
      file = UUID.randomUUID().toString().replace("-", "");
    }
    HFileBlock block = blocks.get((int) (inserted % blocks.size()));
    BlockCacheKey key = new BlockCacheKey(file, inserted * size, true, BlockType.DATA);
    cache.cacheBlock(key, block, false, true);
    return ++inserted;
  }
}
