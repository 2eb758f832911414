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
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
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
 * One get of a row through the RegionServer by each of two threads, in microseconds and in bytes of
 * heap allocated: from the parsed request to the encoded response, without a client and without a
 * connection. Standalone mode in the measured JVM, on local files; nothing but the block cache is
 * read while it measures, and no get misses it. A row is 10 cells of 100 bytes, a block of 32 KB
 * holds 21 rows, the table is one compacted file with row bloom filter.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=CompositeBucketCacheGetBenchmark
 * mvn -pl bench jmh:run -Djmh.include=CompositeBucketCacheGetBenchmark \
 *   -Djmh.params=deviceMicros=100
 * </pre>
 *
 * CompositeBucketCache on the fork is compared with CombinedBlockCache on stock. Both have the same
 * memory: L1 is 32 MB, an eighth of the data, off the heap on the fork and on the heap
 * on stock, where it holds index and bloom (less than 1 MB) and cannot hold data; the heap is the
 * same. L2 of both is an equal file with all of the data, in the page cache.
 * <p>
 * Rows are requested by YCSB's zipfian generator with its constant of 0.99 (Cooper et al., SoCC
 * 2010) over the rows, hot rows lying anywhere in the table. YCSB's own scrambled generator draws
 * from 10^10 items whatever the number of rows, so that over half of its draws are uniform here;
 * this one is not flattened, and the most requested eighth of the blocks takes 64 % of the
 * gets. Not in the headline set, for which it takes too long. See HBASE-23296.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Threads(2)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 1)
public class CompositeBucketCacheGetBenchmark extends PinnedJvm {
  private static final int DATA_TO_L1 = 8;
  /** The part of the data that is requested if it is to fit: half of L1. */
  private static final int DATA_TO_FITTING = 2 * DATA_TO_L1;
  private static final int WARM_UP_GETS_BY_MEGABYTE = 1000;

  /**
   * The rows that are requested: <code>zipfian</code>, <code>uniform</code>, or <code>fits</code>,
   * uniformly those of blocks that fit into L1 together.
   */
  @Param({ "zipfian", "uniform", "fits" })
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
  public int megabytes = 256;

  /** Whether gets are served without scanners on the fork. */
  public boolean pointGets;

  /** The part of L1's memory that is the row cache's on the fork, in percent. */
  public int rowCachePercent;

  private Engine storage;
  private DelayedReads delayedReads;
  RowServer server;
  private int[] trace;

  /** A thread's place in the trace. */
  @State(Scope.Thread)
  public static class Cursor {
    /** A power of two, and long enough that a thread does not see a pattern. */
    static final int TRACE_LENGTH = 1 << 20;

    private int next = ThreadLocalRandom.current().nextInt(TRACE_LENGTH);

    int next() {
      next = next + 1 & TRACE_LENGTH - 1;
      return next;
    }
  }

  @Setup(Level.Trial)
  public void fill() throws Exception {
    storage = new Engine("file");
    int l1Megabytes = megabytes / DATA_TO_L1;
    int rowCacheMegabytes = l1Megabytes * rowCachePercent / 100;
    Configuration conf = HBaseConfiguration.create();
    storage.configure(conf, promotion, l1Megabytes - rowCacheMegabytes, 2 * megabytes + 64);
    // The built-in sizes need a tier of 29 MB at least.
    conf.set("hbase.bucketcache.l1.bucket.sizes", "5120,34816,132096");
    conf.setBoolean("hbase.regionserver.point.get.enabled", pointGets);
    conf.setInt("hbase.regionserver.row.cache.size.mb", rowCacheMegabytes);
    float onHeap = (float) l1Megabytes * (1 << 20) / Runtime.getRuntime().maxMemory();
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY,
      ForkClass.COMPOSITE_BUCKET_CACHE.isPresent() ? 0 : onHeap);
    server = new RowServer(conf, (long) megabytes << 20);
    trace = trace(server.rows());
    Cursor cursor = new Cursor();
    for (int i = 0; i < megabytes * WARM_UP_GETS_BY_MEGABYTE; i++) {
      get(cursor);
    }
    delayedReads = new DelayedReads(deviceMicros);
  }

  private int[] trace(int rows) {
    int[] shuffled = new int[rows];
    Random random = new Random(1);
    for (int i = 0; i < rows; i++) {
      int other = random.nextInt(i + 1);
      shuffled[i] = shuffled[other];
      shuffled[other] = i;
    }
    ZipfianGenerator zipfian = new ZipfianGenerator(rows);
    int[] asked = new int[Cursor.TRACE_LENGTH];
    for (int i = 0; i < asked.length; i++) {
      asked[i] = keys.equals("zipfian")
        ? shuffled[zipfian.nextValue().intValue()]
        : random.nextInt(keys.equals("fits") ? rows / DATA_TO_FITTING : rows);
    }
    return asked;
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (delayedReads != null) {
      delayedReads.close();
    }
    if (server != null) {
      server.close();
    }
    storage.close();
  }

  /** @return the size of the response's cells, in bytes */
  @Benchmark
  public int get(Cursor cursor) throws IOException {
    return server.get(trace[cursor.next()]);
  }
}
