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
import dev.stratum.bench.harness.Headline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
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
 * The time from the open of a large store file until prefetch has done with it, in milliseconds.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=OpenLargeFileBenchmark
 * </pre>
 *
 * A file of 512 MB on the local file system, in the page cache, which is the fastest that reading
 * it can be; rows in YCSB's shape (Cooper et al., SoCC 2010). The block cache is an on-heap one for
 * index and bloom and a bucket cache on a file for data, large enough for all. How many bytes are
 * read, and that a get then reads one data block, is shown by TestFilePrefetch. See HBASE-23355.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 5)
public class OpenLargeFileBenchmark extends PinnedJvm {

  /**
   * <code>hbase.rs.prefetch.full.max.bytes</code> in MB on the fork, half of the file or more than
   * it has; stock knows no limit.
   */
  @Param({ "256", "1024" })
  public int limit;

  /** The size of the file, in MB. */
  int megabytes = 512;

  private Path bucketFile;
  private StoreFiles files;
  private org.apache.hadoop.fs.Path path;
  BlockCache blockCache;
  HFile.Reader reader;

  @Setup(Level.Trial)
  public void write() throws IOException {
    bucketFile = Files.createTempFile("stratum-bench", ".bucket");
    Configuration conf = HBaseConfiguration.create();
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "file:" + bucketFile);
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 2 * megabytes + 64);
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0.1f);
    conf.setInt(BlockCacheFactory.BUCKET_CACHE_WRITER_QUEUE_KEY, 1 << 14);
    conf.setLong("hbase.rs.prefetch.full.max.bytes", (long) limit << 20);
    blockCache = BlockCacheFactory.createBlockCache(conf);
    files = new StoreFiles(conf);
    path = files.write(null, megabytes);
  }

  @TearDown(Level.Invocation)
  public void evict() throws IOException {
    files.evict(reader, blockCache);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    blockCache.shutdown();
    files.close();
    Files.deleteIfExists(bucketFile);
  }

  /** @return the number of blocks cached */
  @Benchmark
  @Headline(value = "limit=256", measurement = 3, feature = "prefetch-dedup")
  public long open() throws IOException {
    reader = files.open(path, blockCache);
    StoreFiles.awaitWarm(reader);
    return blockCache.getBlockCount();
  }
}
