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
package dev.stratum.bench.handover;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.harness.ForkClass;
import dev.stratum.bench.harness.Headline;
import dev.stratum.bench.harness.RegionOnHdfs;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hdfs.client.HdfsClientConfigKeys;
import org.openjdk.jmh.annotations.AuxCounters;
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
import site.ycsb.generator.ZipfianGenerator;

/**
 * The first {@value #GETS} gets after a major compaction, together, in milliseconds; zipfian keys
 * that are scattered over a region in HDFS.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=GetAfterCompactionBenchmark
 * </pre>
 *
 * Both sides have a bucket cache on a file in the page cache, and an on-heap cache for meta blocks;
 * with <code>composite</code>, the fork has its two tiers instead, the second on that file.
 * Before each measurement a tenth of the rows is written again and flushed, three times as many
 * gets make blocks hot, and the region is compacted. Of 80 MB that the bucket cache has, blocks of
 * the region's size get 55 at most, which is room for half of a second copy of the data.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 5)
public class GetAfterCompactionBenchmark extends PinnedJvm {
  static final int GETS = 10_000;
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int VALUE_BYTES = 1000;
  /** The size of L1 in MB if there are two tiers. It has space for some hot blocks. */
  private static final int L1_MB = 16;
  /** Odd, so that it scatters the keys. */
  private static final int SCATTER = 0x9E3779B1;

  /** The size of the bucket cache, in MB. */
  @Param({ "192", "80" })
  public int cacheMb;

  /** <code>hbase.rs.compaction.cache.handover.enabled</code> on the fork. */
  @Param("true")
  public boolean handover;

  /** <code>hbase.bucketcache.composite.enabled</code> on the fork. */
  @Param("false")
  public boolean composite;

  /** Whether stock caches all of the compaction's output, which here is as hot as its input. */
  @Param("false")
  public boolean stockCaches;

  /** The rows of the region, of 1 KB each. */
  int rows = 32_000;

  private Path bucketFile;
  private BlockCache cache;
  private RegionOnHdfs region;
  private ZipfianGenerator zipfian;
  private final Random random = new Random(1);

  @Setup(Level.Trial)
  public void fill() throws IOException {
    bucketFile = Files.createTempFile("stratum-bench", ".bucket");
    Configuration conf = HBaseConfiguration.create();
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "file:" + bucketFile);
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, cacheMb);
    conf.setInt(BlockCacheFactory.BUCKET_CACHE_WRITER_QUEUE_KEY, 1 << 14);
    conf.setBoolean("hbase.bucketcache.composite.enabled", composite);
    conf.setInt("hbase.bucketcache.l1.size", L1_MB);
    // The built-in sizes need a tier of 29 MB at least.
    conf.set("hbase.bucketcache.l1.bucket.sizes", "5120,34816,66560,132096");
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + bucketFile);
    conf.setInt("hbase.bucketcache.l2.size", cacheMb);
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0.1f);
    conf.setBoolean("hbase.rs.compaction.cache.handover.enabled", handover);
    conf.setDouble("hbase.rs.compaction.cache.handover.peak.ratio", 1.2);
    conf.setBoolean(CacheConfig.CACHE_COMPACTED_BLOCKS_ON_WRITE_KEY,
      stockCaches && !ForkClass.COMPOSITE_BUCKET_CACHE.isPresent());
    conf.setBoolean("hbase.rs.cacheblocksonwrite", true);
    // By default a file's close sometimes waits 400 ms more, if a DataNode's report is late.
    conf.setInt(HdfsClientConfigKeys.BlockWrite.LOCATEFOLLOWINGBLOCK_INITIAL_DELAY_MS_KEY, 10);
    cache = BlockCacheFactory.createBlockCache(conf);
    region = new RegionOnHdfs(conf, "asyncfs", cache);
    zipfian = new ZipfianGenerator(rows);
    for (int i = 0; i < rows; i++) {
      put(i);
    }
    region.region().flush(true);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(i * SCATTER);
  }

  private void put(int i) throws IOException {
    byte[] value = new byte[VALUE_BYTES];
    random.nextBytes(value);
    region.region().put(new Put(row(i)).addColumn(RegionOnHdfs.FAMILY, QUALIFIER, value)
      .setDurability(Durability.SKIP_WAL));
  }

  /** Has the region two files, and hot blocks. */
  @State(Scope.Thread)
  public static class Heated {
    @Setup(Level.Invocation)
    public void heat(GetAfterCompactionBenchmark benchmark) throws IOException {
      benchmark.heat();
    }
  }

  /** Has the region compacted to one file after its blocks became hot. */
  @State(Scope.Thread)
  public static class Compacted {
    @Setup(Level.Invocation)
    public void compact(GetAfterCompactionBenchmark benchmark) throws IOException {
      benchmark.heat();
      benchmark.compact();
    }
  }

  /** What the compaction's thread has of a CPU. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class ThreadTime {
    public long threadMillis;

    @Setup(Level.Iteration)
    public void reset() {
      threadMillis = 0;
    }
  }

  void heat() throws IOException {
    // A server's chore does so. Else the cache fills with blocks of files that are gone.
    for (HStore store : region.region().getStores()) {
      store.closeAndArchiveCompactedFiles();
    }
    for (int i = 0; i < rows / 10; i++) {
      put(random.nextInt(rows));
    }
    region.region().flush(true);
    for (int i = 0; i < 3; i++) {
      gets();
    }
  }

  void compact() throws IOException {
    region.region().compact(true);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (region != null) {
      region.close();
    }
    if (cache != null) {
      cache.shutdown();
    }
    Files.deleteIfExists(bucketFile);
  }

  /** Returns the lookups of data blocks that missed. */
  long misses() {
    return cache.getStats().getDataMissCount();
  }

  /** @return the number of rows found */
  @Benchmark
  @Headline(value = "cacheMb=192", warmup = 1, measurement = 2, feature = "cache-handover")
  public int get(Compacted compacted) throws IOException {
    return gets();
  }

  /** Runs the major compaction, in a JVM that has done some already. */
  @Benchmark
  @Warmup(iterations = 8)
  @Measurement(iterations = 16)
  public void compaction(Heated heated, ThreadTime time) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long start = threads.getCurrentThreadCpuTime();
    compact();
    time.threadMillis += TimeUnit.NANOSECONDS.toMillis(threads.getCurrentThreadCpuTime() - start);
  }

  int gets() throws IOException {
    int found = 0;
    for (int i = 0; i < GETS; i++) {
      Get get = new Get(row(zipfian.nextValue().intValue()));
      found += region.region().get(get).isEmpty() ? 0 : 1;
    }
    return found;
  }
}
