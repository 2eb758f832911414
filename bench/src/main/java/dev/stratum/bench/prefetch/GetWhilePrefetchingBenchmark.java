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
package dev.stratum.bench.prefetch;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.blockcache.RowServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.HFile;
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
 * One get of a row through the RegionServer by one thread, in microseconds, while files that are
 * not cached are prefetched all the time: from the parsed request to the encoded response, without
 * a client and without a connection. The requested rows are cached; what is measured is how much
 * prefetch slows it down, the 99th percentile above all.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=GetWhilePrefetchingBenchmark
 * </pre>
 *
 * Standalone mode in the measured JVM on local files, rows in YCSB's shape (Cooper et al., SoCC
 * 2010), requested uniformly; an on-heap cache for index and bloom and a bucket cache on a file for
 * data, all of it in the page cache. Four files of 64 MB are opened, prefetched by the four
 * threads of the defaults, closed, evicted and opened again. See HBASE-23355.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 6, time = 2)
public class GetWhilePrefetchingBenchmark extends PinnedJvm {
  private static final int FILES = 4;
  private static final int WARM_UP_GETS = 100_000;

  /**
   * <code>none</code>: no prefetch; otherwise <code>hbase.rs.prefetch.limit.mb.per.sec</code>
   * on the fork, 0 for no limit. Stock knows no limit.
   */
  @Param({ "none", "50", "0" })
  public String limit;

  /** Bytes of the requested data, in MB. */
  int megabytes = 128;

  /** The size of a file that is prefetched, in MB. */
  int fileMegabytes = 64;

  private Path bucketFile;
  private StoreFiles files;
  private RowServer server;
  private Thread warming;
  private volatile boolean stopped;
  private final LongAdder prefetched = new LongAdder();
  private long began;

  @Setup(Level.Trial)
  public void start() throws Exception {
    bucketFile = Files.createTempFile("stratum-bench", ".bucket");
    Configuration conf = HBaseConfiguration.create();
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "file:" + bucketFile);
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 2 * (megabytes + FILES * fileMegabytes) + 64);
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0.1f);
    conf.setInt(BlockCacheFactory.BUCKET_CACHE_WRITER_QUEUE_KEY, 1 << 14);
    conf.set("hbase.rs.prefetch.limit.mb.per.sec", limit.equals("none") ? "0" : limit);
    server = new RowServer(conf, (long) megabytes << 20);
    files = new StoreFiles(conf);
    for (int i = 0; i < WARM_UP_GETS; i++) {
      get();
    }
    if (!limit.equals("none")) {
      List<org.apache.hadoop.fs.Path> paths = new ArrayList<>();
      for (int i = 0; i < FILES; i++) {
        paths.add(files.write(null, fileMegabytes));
      }
      began = System.nanoTime();
      warming = new Thread(() -> warm(paths), "warming");
      warming.start();
    }
  }

  private void warm(List<org.apache.hadoop.fs.Path> paths) {
    BlockCache cache = server.blockCache();
    try {
      while (!stopped) {
        List<HFile.Reader> readers = new ArrayList<>();
        for (org.apache.hadoop.fs.Path path : paths) {
          readers.add(files.open(path, cache));
        }
        for (HFile.Reader reader : readers) {
          while (!stopped && !reader.prefetchComplete()) {
            Thread.sleep(1);
          }
          if (!stopped) {
            prefetched.add(reader.length());
          }
        }
        for (HFile.Reader reader : readers) {
          files.evict(reader, cache);
        }
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns how many MB have been prefetched. */
  double prefetchedMegabytes() {
    return prefetched.sum() / (double) (1 << 20);
  }

  @TearDown(Level.Trial)
  public void close() throws Exception {
    if (warming != null) {
      System.out.printf("Warmed at %.1f MB/s%n",
        prefetchedMegabytes() / ((System.nanoTime() - began) / 1e9));
      stopped = true;
      warming.join();
    }
    if (files != null) {
      files.close();
    }
    if (server != null) {
      server.close();
    }
    Files.deleteIfExists(bucketFile);
  }

  /** @return the size of the response's cells, in bytes */
  @Benchmark
  public int get() throws IOException {
    return server.get(ThreadLocalRandom.current().nextInt(server.rows()));
  }
}
