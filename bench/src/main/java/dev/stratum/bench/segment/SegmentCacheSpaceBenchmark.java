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
import dev.stratum.bench.harness.ForkClass;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much of a tier on a file has blocks in it while it is full and new ones come: a segment cache
 * against a bucket cache, with blocks of 32 KB. <code>:filledPercent</code> is what the blocks take
 * one after the other, in per cent of the tier's size, in the mean over the insertions; the time of
 * an insertion is beside it, in microseconds, and is that of the device. <code>fork.log</code> says
 * how large the writes to the device were, of all from opening the tier to its shutdown.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=SegmentCacheSpaceBenchmark
 * </pre>
 *
 * A tier of 4 GB has 256 segments, of which five are clean or open; the larger the tier, the less
 * that is. Target: at least 90 per cent, in writes of at least 1 MB.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 2, timeUnit = TimeUnit.SECONDS)
@Measurement(iterations = 3, time = 2, timeUnit = TimeUnit.SECONDS)
@Fork(jvmArgsAppend = { "-Xms2g", "-Xmx2g" })
public class SegmentCacheSpaceBenchmark extends PinnedJvm {
  private static final int INSERTIONS_BY_LOOK = 100;

  /** The size of the tier, in MB. */
  int megabytes = 4096;

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  int size = 32 * 1024;

  private DeviceTier tier;
  private DataBlocks data;
  private BlockCache cache;
  private double percentOfOneBlock;

  @Setup(Level.Trial)
  public void fill() throws IOException {
    data = new DataBlocks(size);
    tier = new DeviceTier((long) megabytes << 20, data.largest());
    percentOfOneBlock = 100.0 * data.mean() / ((long) megabytes << 20);
    cache = tier.open(data.allocator());
    data.insertUntilEvicted(cache);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    cache.shutdown();
    if (ForkClass.SEGMENT_CACHE.isPresent()) {
      System.out.printf("# writes to the device, mean: %d KB%n", meanWrite() >> 10);
    }
    tier.close();
    data.close();
  }

  long meanWrite() {
    return tier.meanWrite(cache);
  }

  /** How full it was in an iteration. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Space {
    private double sum;
    private int looks;

    @Setup(Level.Iteration)
    public void clear() {
      sum = 0;
      looks = 0;
    }

    /** Returns the mean, in per cent. */
    public double filledPercent() {
      return looks == 0 ? 0 : sum / looks;
    }
  }

  /** @return how many blocks were inserted so far */
  @Benchmark
  public long insert(Space space) {
    long inserted = data.insertNext(cache);
    if (inserted % INSERTIONS_BY_LOOK == 0) {
      space.sum += cache.getBlockCount() * percentOfOneBlock;
      space.looks++;
    }
    return inserted;
  }
}
