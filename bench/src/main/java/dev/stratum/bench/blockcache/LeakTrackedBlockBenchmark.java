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
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The time of a look-up of a block in memory that Netty's leak detector watches, as it does one of
 * 128 by default, in microseconds.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=LeakTrackedBlockBenchmark
 * </pre>
 *
 * In a server a look-up has sixty callers and more, and what a stack trace takes grows with them.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(jvmArgsAppend = "-Dorg.apache.hbase.thirdparty.io.netty.leakDetection.samplingInterval=1")
public class LeakTrackedBlockBenchmark extends PinnedJvm {
  private static final int BLOCK = 32768;

  /** How many calls deep the look-up is done. */
  @Param("60")
  public int depth;

  private StoreFileBlocks blocks;
  private BucketCache cache;
  private StoreFileBlocks.Location location;

  @Setup(Level.Trial)
  public void fill() throws IOException, InterruptedException {
    Configuration conf = HBaseConfiguration.create();
    blocks = new StoreFileBlocks(conf, BLOCK, 1 << 20);
    cache = new BucketCache("offheap", 64 << 20, BLOCK, null, 3, 1 << 10, null);
    List<StoreFileBlocks.Location> all = blocks.readAllThrough(cache);
    blocks.awaitCached(cache, all);
    location = all.get(0);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    cache.shutdown();
    blocks.close();
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  public int hit() {
    return hit(depth);
  }

  private int hit(int deeper) {
    if (deeper > 0) {
      return hit(deeper - 1);
    }
    HFileBlock block = (HFileBlock) cache.getBlock(blocks.key(location), true, false, true);
    int sizeWithHeader = block.getOnDiskSizeWithHeader();
    block.release();
    return sizeWithHeader;
  }
}
