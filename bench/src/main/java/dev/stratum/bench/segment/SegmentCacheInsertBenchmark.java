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
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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
 * Insertion into a tier on a file that is full, so that each has to be paid for by an eviction, in
 * microseconds: a segment cache against a bucket cache. The mean, whose inverse is the throughput;
 * the median, the 99th percentile and the worst, which is how long an eviction holds everything up
 * and, in a bucket cache, the longer the more blocks there are.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=SegmentCacheInsertBenchmark
 * </pre>
 *
 * The shape is that of a prefetch or of a compaction that caches what it writes, by one thread that
 * waits rather than drop a block. Blocks are small, so that there can be many.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 1, timeUnit = TimeUnit.SECONDS)
@Fork(jvmArgsAppend = { "-Xms6g", "-Xmx6g" })
public class SegmentCacheInsertBenchmark extends PinnedJvm {

  /** How many blocks the cache has room for. */
  @Param({ "200000", "2000000" })
  public int blocks;

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  int size = 1024;

  private DeviceTier tier;
  private DataBlocks data;
  BlockCache cache;

  @Setup(Level.Trial)
  public void fill() throws IOException {
    data = new DataBlocks(size);
    tier = new DeviceTier((long) blocks * (data.largest() + 256), data.largest());
    cache = tier.open(data.allocator());
    data.insertUntilEvicted(cache);
  }

  /** @throws IllegalStateException if a block was dropped, which is not what was to be measured */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    long dropped = cache.getStats().getFailedInserts();
    cache.shutdown();
    tier.close();
    data.close();
    if (dropped > 0) {
      throw new IllegalStateException(dropped + " blocks were dropped");
    }
  }

  /** @return how many blocks were inserted so far */
  @Benchmark
  public long insert() {
    return data.insertNext(cache);
  }
}
