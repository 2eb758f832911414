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
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
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
 * The time that two threads take to scan four store files from end to end that were just written
 * and opened, in milliseconds, while these files are prefetched on open. All blocks
 * were cached as they were written, so that there is nothing to bring into the cache: what is
 * measured is what prefetch costs reads.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=ScanWhilePrefetchingBenchmark
 * </pre>
 *
 * Files of 24 MB on the local file system, in the page cache, of rows in YCSB's shape (Cooper et
 * al., SoCC 2010); the four prefetch threads of the defaults, without the delay before they begin,
 * which only puts off what they do. The first twenty or so scans are warm-up: until then compiling
 * takes more of two cores than prefetch does. The shape is that of HBASE-22888, whose authors
 * report 30 % more scan throughput from a change to what else reads the files that are scanned. See
 * HBASE-23355.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 24)
@Measurement(iterations = 24)
public class ScanWhilePrefetchingBenchmark extends PinnedJvm {
  private static final int FILES = 4;
  private static final int SCANS = 2;

  /**
   * <code>heap</code>: one cache on the heap for all; <code>bucket</code>: index and bloom blocks
   * on the heap, data in a bucket cache outside of it.
   */
  @Param({ "heap", "bucket" })
  public String cache;

  /** The size of a file, in MB. */
  int megabytes = 24;

  private StoreFiles files;
  BlockCache blockCache;
  private ExecutorService scans;
  private final List<HFile.Reader> readers = new ArrayList<>();

  @Setup(Level.Trial)
  public void open() throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0.4f);
    if (cache.equals("bucket")) {
      conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "offheap");
      conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 2 * FILES * megabytes + 64);
      conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0.1f);
      conf.setInt(BlockCacheFactory.BUCKET_CACHE_WRITER_QUEUE_KEY, 1 << 14);
    }
    blockCache = BlockCacheFactory.createBlockCache(conf);
    files = new StoreFiles(conf);
    scans = Executors.newFixedThreadPool(SCANS);
  }

  /** Writes the files, and opens them as a flush or a compaction does at its end. */
  @Setup(Level.Invocation)
  public void write() throws IOException {
    List<Path> paths = new ArrayList<>();
    for (int i = 0; i < FILES; i++) {
      paths.add(files.write(blockCache, megabytes));
    }
    for (Path path : paths) {
      readers.add(files.open(path, blockCache));
    }
  }

  @TearDown(Level.Invocation)
  public void delete() throws IOException {
    for (HFile.Reader reader : readers) {
      StoreFiles.awaitWarm(reader);
      files.evict(reader, blockCache);
      files.delete(reader.getPath());
    }
    readers.clear();
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    scans.shutdown();
    blockCache.shutdown();
    files.close();
  }

  /** @return the number of cells */
  @Benchmark
  public int scan() throws Exception {
    List<Future<Integer>> running = new ArrayList<>();
    for (int i = 0; i < SCANS; i++) {
      int first = i;
      running.add(scans.submit(() -> {
        int cells = 0;
        for (int file = first; file < FILES; file += SCANS) {
          cells += files.scan(readers.get(file));
        }
        return cells;
      }));
    }
    int cells = 0;
    for (Future<Integer> scan : running) {
      cells += scan.get();
    }
    return cells;
  }
}
