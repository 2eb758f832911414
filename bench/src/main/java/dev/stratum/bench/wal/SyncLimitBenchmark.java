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
package dev.stratum.bench.wal;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.harness.ForkOnly;
import dev.stratum.bench.harness.RegionOnHdfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.hadoop.hbase.util.Bytes;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Puts of 64 handlers to an AsyncFSWAL while HDFS changes: at first each sync takes as long as on
 * loopback, then {@value #DELAY_MS} ms longer, as with a DataNode that is far away, and then as at
 * first. Prints puts per second of each of these phases, and writes a line per half second to
 * <code>sync-limit-SETTING.csv</code> in the folder: second, puts per second, limit (0: none).
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=SyncLimitBenchmark
 * </pre>
 */
@ForkOnly
@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.SECONDS)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(value = 1, jvmArgsAppend = { "-Xms4g", "-Xmx4g" })
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Threads(1)
public class SyncLimitBenchmark extends PinnedJvm {
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int WRITERS = 64;
  private static final int VALUE_BYTES = 100;
  private static final int DELAY_MS = 20;
  private static final int WARMUP_SECONDS = 20;
  private static final long SAMPLE_MS = 500;

  /** <code>hbase.wal.async.max.syncs.in.flight</code>. */
  @Param({ "0", "1", "auto" })
  public String syncsInFlight;

  /** How long each phase takes. */
  @Param("20")
  public int seconds;

  /** Where the samples are written to. */
  @Param("target/sync-limit")
  public String folder;

  /** Puts per second of the phases. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Phases {
    public long near;
    public long far;
    public long nearAgain;
  }

  private final LongAdder puts = new LongAdder();
  private final List<String> samples = new ArrayList<>();
  private RegionOnHdfs region;
  private ExecutorService handlers;
  private volatile boolean stopped;
  private List<Future<?>> running;

  @Setup(Level.Trial)
  public void open() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.wal.async.max.syncs.in.flight", syncsInFlight);
    conf.set(DelayedSyncWriter.KEY, DelayedSyncWriter.class.getName());
    region = new RegionOnHdfs(conf, "asyncfs");
    handlers = Executors.newFixedThreadPool(WRITERS);
    running = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      running.add(handlers.submit(() -> {
        while (!stopped) {
          region.region().put(put());
          puts.increment();
        }
        return null;
      }));
    }
    for (int i = 0; i < Math.min(WARMUP_SECONDS, seconds); i++) {
      Thread.sleep(1_000);
    }
    region.startAnew();
  }

  private static Put put() {
    byte[] value = new byte[VALUE_BYTES];
    ThreadLocalRandom.current().nextBytes(value);
    return new Put(Bytes.toBytes(ThreadLocalRandom.current().nextLong()))
      .addColumn(RegionOnHdfs.FAMILY, QUALIFIER, value).setDurability(Durability.SYNC_WAL);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException, InterruptedException, ExecutionException {
    stopped = true;
    DelayedSyncWriter.delay(0);
    for (Future<?> one : running) {
      one.get();
    }
    handlers.shutdown();
    region.close();
    Path file = Path.of(folder, "sync-limit-" + syncsInFlight + ".csv");
    Files.createDirectories(file.getParent());
    Files.write(file, samples);
  }

  /** Runs the three phases. */
  @Benchmark
  public void phases(Phases phases) throws InterruptedException, IOException {
    phases.near = phase(0, 0);
    phases.far = phase(1, DELAY_MS);
    phases.nearAgain = phase(2, 0);
  }

  private long phase(int number, int delay) throws InterruptedException {
    DelayedSyncWriter.delay(delay);
    long start = System.nanoTime();
    long before = puts.sum();
    long last = before;
    int count = (int) (seconds * 1_000 / SAMPLE_MS);
    for (int i = 1; i <= count; i++) {
      long end = start + TimeUnit.MILLISECONDS.toNanos(i * SAMPLE_MS);
      TimeUnit.NANOSECONDS.sleep(end - System.nanoTime());
      long now = puts.sum();
      samples.add(String.format(Locale.ROOT, "%.1f,%d,%d",
        number * seconds + i * SAMPLE_MS / 1_000.0, (now - last) * 1_000 / SAMPLE_MS, limit()));
      last = now;
    }
    return (last - before) / seconds;
  }

  private static long limit() {
    return MetricRegistries.global()
      .get(new MetricRegistryInfo("WALSyncLimit", "Syncs that WALs have in flight",
        "RegionServer,sub=WALSyncLimit", "regionserver", false))
      .flatMap(registry -> registry.get("MinSyncLimit"))
      .map(metric -> ((Number) ((Gauge<?>) metric).getValue()).longValue()).orElse(0L);
  }
}
