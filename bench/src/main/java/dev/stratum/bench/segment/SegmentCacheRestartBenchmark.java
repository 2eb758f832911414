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
import dev.stratum.bench.harness.ForkOnly;
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
 * Measures the time from the opening of a tier on a file that was in use until all its blocks are
 * known again, in milliseconds: a segment cache compared with a bucket cache, in the page cache. A
 * segment cache serves from the start; after a shutdown it has an index, after a kill it reads the
 * ends of its segments. What stock has after a kill depends on when it last persisted its map.
 * <p>
 * Target: every block that was written is found, after a shutdown and after a kill, or an operation
 * fails after a minute; and the fork takes at most a tenth of stock's time after a shutdown.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=SegmentCacheRestartBenchmark
 * </pre>
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 1)
@Measurement(iterations = 3)
@Fork(jvmArgsAppend = { "-Xms6g", "-Xmx6g" })
public class SegmentCacheRestartBenchmark extends PinnedJvm {

  /** How many blocks are in the cache. */
  @Param("1000000")
  public int blocks;

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  int size = 1024;

  private DeviceTier tier;
  private DataBlocks data;
  BlockCache cache;

  @Setup(Level.Trial)
  public void fill() throws IOException, InterruptedException {
    data = new DataBlocks(size);
    // The tier has so much space that no block is evicted before all are inserted.
    tier = new DeviceTier((long) blocks * (data.largest() + 256) * 3 / 2, data.largest());
    cache = tier.open(data.allocator());
    while (data.inserted() < blocks) {
      data.insertNext(cache);
    }
    data.awaitStored(cache);
    cache.shutdown();
  }

  @TearDown(Level.Invocation)
  public void shutDown() {
    cache.shutdown();
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    tier.close();
    data.close();
  }

  /** @return the number of blocks that are there */
  @Benchmark
  public long afterShutdown() throws IOException, InterruptedException {
    return open();
  }

  /** @return the number of blocks that are there */
  @Benchmark
  @ForkOnly
  public long afterKill() throws IOException, InterruptedException {
    tier.deleteIndex();
    return open();
  }

  private long open() throws IOException, InterruptedException {
    cache = tier.open(data.allocator());
    data.awaitFound(cache);
    return cache.getBlockCount();
  }
}
