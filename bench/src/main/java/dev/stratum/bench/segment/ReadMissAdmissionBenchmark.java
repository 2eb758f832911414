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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.openjdk.jmh.annotations.AuxCounters;
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
import site.ycsb.generator.ZipfianGenerator;

/**
 * What <code>hbase.bucketcache.composite.l2.admission</code> saves of the writes to a device, and
 * what it does to the hit ratio and to warm-up: one thread looks blocks up in two tiers and inserts
 * what it misses, after a pause for the read from HDFS. The fork has segments on a file as L2,
 * stock a bucket cache on a file. The figures are counters of the whole trace: hits of 100 look-ups
 * (<code>:hitPercent</code>), MB that the process has written (<code>:writtenMb</code>, from the
 * kernel, so Linux only), and how many look-ups there are, as a multiple of the blocks that L2
 * holds, until half an L2 of them hits 0.95 as often as at the end (<code>:warmAfter</code>, of
 * zipfian traces).
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=ReadMissAdmissionBenchmark
 * </pre>
 *
 * The traces are those of <code>ReadMissAdmissionTraces</code>, which has a model for L2:
 * YCSB's zipfian keys over five times what L2 holds; these with a scan of ten times L2 beside as
 * many reads; blocks that are each read once. See RocksDB's second-hit rule for its secondary
 * cache, and LARC (Huang et al., MSST 2013).
 * <p>
 * Targets, with <code>second-miss</code> beside <code>all</code>: <code>zipf</code> has as many
 * hits less half a point, writes 0.8 times as much and is warm after 1.3 times as many look-ups;
 * <code>zipf-scan</code> has more hits and writes 0.3 times as much; <code>once</code> writes a
 * tenth.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Fork(jvmArgsAppend = { "-Xms1g", "-Xmx1g" })
public class ReadMissAdmissionBenchmark extends PinnedJvm {
  private static final int SIZE = 32 * 1024;
  private static final int L2_MB = 512;
  private static final int L2_BLOCKS = (L2_MB << 20) / SIZE;
  private static final int KEYS = 5 * L2_BLOCKS;
  private static final int WARM_UP = 30 * L2_BLOCKS;
  private static final int SCANNED = 10 * L2_BLOCKS;
  private static final int READ_ONCE = 20 * L2_BLOCKS;
  private static final int WINDOW = L2_BLOCKS / 2;
  private static final long HDFS_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  /** What is read: zipfian keys, those beside a scan, or each block once. */
  @Param({ "zipf", "zipf-scan", "once" })
  public String trace;

  /** The missed blocks that the fork's L2 admits; stock's L2 admits all. */
  @Param({ "all", "second-miss" })
  public String admission;

  private final Random random = new Random(42);
  private final int[] order = new int[KEYS];
  private Path file;
  private DataBlocks data;
  private BlockCache cache;
  private ZipfianGenerator zipf;

  /** What a trace gave. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Figures {
    public double hitPercent;
    public double writtenMb;
    public double warmAfter;
  }

  @Setup(Level.Trial)
  public void open() throws IOException {
    data = new DataBlocks(SIZE);
    data.nameFiles(KEYS + SCANNED + READ_ONCE);
    file = Files.createTempFile("stratum-bench", ".l2");
    Configuration conf = HBaseConfiguration.create();
    if (ForkClass.SEGMENT_CACHE.isPresent()) {
      conf.setBoolean("hbase.bucketcache.composite.enabled", true);
      conf.set("hbase.bucketcache.composite.promotion", "none");
      conf.set("hbase.bucketcache.composite.l2.admission", admission);
      conf.setInt("hbase.bucketcache.l1.size", 64);
      conf.set("hbase.bucketcache.l2.ioengine", "segments:" + file);
      conf.setInt("hbase.bucketcache.l2.size", L2_MB);
      conf.setInt("hbase.segmentcache.segment.mb", 2);
    } else {
      conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "file:" + file);
      conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, L2_MB);
    }
    cache = BlockCacheFactory.createBlockCache(conf);
    zipf = new ZipfianGenerator(KEYS);
    for (int i = 0; i < KEYS; i++) {
      int other = random.nextInt(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    cache.shutdown();
    data.close();
    Files.delete(file);
  }

  /** Looks a block up and inserts it if it is missed. */
  private boolean read(int number) {
    BlockCacheKey key = data.key(number);
    Cacheable found = cache.getBlock(key, true, false, true);
    if (found != null) {
      found.release();
      return true;
    }
    LockSupport.parkNanos(HDFS_NANOS);
    cache.cacheBlock(key, data.block(number), false, false);
    return false;
  }

  private boolean readZipf() {
    return read(order[zipf.nextValue().intValue()]);
  }

  private static long written() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
      if (line.startsWith("wchar: ")) {
        return Long.parseLong(line.substring("wchar: ".length()));
      }
    }
    throw new IOException("No count of what is written");
  }

  /** Reads by zipfian keys from an empty cache, and notes after how many reads it is warm. */
  private void warmUp(Figures figures) {
    double[] ratios = new double[WARM_UP / WINDOW];
    for (int i = 0; i < ratios.length; i++) {
      int hits = 0;
      for (int j = 0; j < WINDOW; j++) {
        hits += readZipf() ? 1 : 0;
      }
      ratios[i] = (double) hits / WINDOW;
    }
    double end = 0;
    for (int i = ratios.length / 2; i < ratios.length; i++) {
      end += ratios[i] / (ratios.length - ratios.length / 2);
    }
    int warm = 0;
    while (ratios[warm] < 0.95 * end) {
      warm++;
    }
    figures.warmAfter = (warm + 1) * (double) WINDOW / L2_BLOCKS;
  }

  /** Runs the whole trace. */
  @Benchmark
  public void run(Figures figures) throws IOException {
    if (trace.equals("once")) {
      for (int number = 0; number < 2 * L2_BLOCKS; number++) {
        read(number);
      }
    } else {
      warmUp(figures);
    }
    long start = written();
    int reads = trace.equals("once") ? READ_ONCE : SCANNED;
    int hits = 0;
    for (int i = 0; i < reads; i++) {
      if (trace.equals("once")) {
        hits += read(KEYS + SCANNED + i) ? 1 : 0;
      } else {
        hits += readZipf() ? 1 : 0;
        if (trace.equals("zipf-scan")) {
          read(KEYS + i);
        }
      }
    }
    figures.hitPercent = 100.0 * hits / reads;
    figures.writtenMb = (written() - start) / (double) (1 << 20);
  }
}
