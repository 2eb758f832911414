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
package dev.stratum.bench.rowcache;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.blockcache.CompositeBucketCacheGetBenchmark;
import dev.stratum.bench.blockcache.CompositeBucketCacheGetBenchmark.Cursor;
import dev.stratum.bench.harness.CompilerWarmUp;
import dev.stratum.bench.harness.Headline;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * One get of a row through the RegionServer by each of two threads, in microseconds and in bytes of
 * heap allocated, as {@link CompositeBucketCacheGetBenchmark}, whose servers, rows and caches are
 * used. The row cache takes a part of the memory of L1, so that both sides have equal memory.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=RowCacheBenchmark -Djmh.forks=2
 * mvn -pl bench jmh:run -Djmh.include=RowCacheBenchmark -Djmh.forks=2 \
 *   -Djmh.params=rowCachePercent=0
 * </pre>
 *
 * The second command shows what the fork does without a row cache. The zipfian keys are those of
 * YCSB's generator with its constant of 0.99, hot rows lying anywhere in the table.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Threads(2)
@Warmup(iterations = 8, time = 1)
@Measurement(iterations = 5, time = 1)
public class RowCacheBenchmark extends PinnedJvm {

  /**
   * The rows that are requested: <code>zipfian</code>, <code>uniform</code>, or <code>hits</code>,
   * uniformly those that the row cache holds together.
   */
  @Param({ "zipfian", "uniform", "hits" })
  public String keys;

  /** The part of L1's memory that is the row cache's on the fork, in percent. */
  @Param("75")
  public int rowCachePercent;

  /** The bytes of data, in MB. */
  @Param("256")
  public int megabytes;

  private final CompositeBucketCacheGetBenchmark gets = new CompositeBucketCacheGetBenchmark();

  @Setup(Level.Trial)
  public void fillAndWarmUp(BenchmarkParams params) throws Exception {
    gets.megabytes = megabytes;
    gets.keys = keys.equals("hits") ? "fits" : keys;
    gets.promotion = "frequency";
    gets.pointGets = true;
    gets.rowCachePercent = rowCachePercent;
    gets.fill();
    CompilerWarmUp.run(params.getThreads(), () -> gets.get(new Cursor()), () -> {
    });
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    gets.close();
  }

  /** @return the size of the response's cells, in bytes */
  @Benchmark
  @Headline(value = "keys=zipfian,rowCachePercent=75,megabytes=128", warmup = 1, measurement = 2,
      feature = "row-cache")
  public int get(Cursor cursor) throws IOException {
    return gets.get(cursor);
  }
}
