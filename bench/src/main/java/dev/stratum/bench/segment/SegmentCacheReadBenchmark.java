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

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.harness.Headline;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
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
 * One look-up of a random data block in a tier on a file in the page cache, in microseconds and in
 * bytes of heap allocated: a segment cache, which checks key and CRC32C of each, against a bucket
 * cache. Buffers are from the RegionServer's pool, but for a bucket cache that was opened again:
 * stock reads what it has recovered into the heap.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=SegmentCacheReadBenchmark
 * </pre>
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class SegmentCacheReadBenchmark extends PinnedJvm {

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  @Param({ "8192", "32768", "65536" })
  public int size;

  /** Whether the cache was shut down and opened again after it was filled. */
  @Param({ "false", "true" })
  public boolean recovered;

  /** The bytes of blocks that are looked up, in MB. */
  int megabytes = 128;

  /** The bytes of blocks that come behind these, in MB: what is written last is in memory. */
  int megabytesBehind = 32;

  private final Random random = new Random(1);
  private DeviceTier tier;
  private DataBlocks blocks;
  private BlockCache cache;
  private long readable;

  @Setup(Level.Trial)
  public void fill() throws IOException, InterruptedException {
    blocks = new DataBlocks(size);
    tier = new DeviceTier(4L * megabytes << 20, blocks.largest());
    cache = tier.open(blocks.allocator());
    insert(megabytes);
    readable = blocks.inserted();
    insert(megabytesBehind);
    blocks.awaitStored(cache);
    if (recovered) {
      cache.shutdown();
      cache = tier.open(blocks.allocator());
      blocks.awaitFound(cache);
    }
  }

  private void insert(int upTo) {
    for (long bytes = 0; bytes < (long) upTo << 20; bytes += size) {
      blocks.insertNext(cache);
    }
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    cache.shutdown();
    tier.close();
    blocks.close();
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  @Headline(value = "size=32768,recovered=true", feature = "segment-cache")
  public int hit() {
    HFileBlock block = (HFileBlock) cache
      .getBlock(blocks.key((long) (random.nextDouble() * readable)), true, false, true);
    int sizeWithHeader = block.getOnDiskSizeWithHeader();
    block.release();
    return sizeWithHeader;
  }
}
