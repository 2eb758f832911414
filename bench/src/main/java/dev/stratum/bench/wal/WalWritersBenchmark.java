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
import dev.stratum.bench.harness.RegionOnHdfs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.regionserver.wal.WALActionsListener;
import org.apache.hadoop.hbase.util.Bytes;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Puts by so many handlers that each wait for theirs, in microseconds a put, all of them together;
 * and what uses the CPU time: in per cent of that of the measured JVM, which has HDFS in it,
 * and how many puts a sync takes along. For what <code>SYNC_WAL</code> waits for, see the guide of
 * bounded-async-wal.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=WalWritersBenchmark -Djmh.params=provider=asyncfs \
 *   -Djmh.against=none
 * </pre>
 *
 * A put has one cell with a value of 100 bytes; rows are random.
 */
@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@BenchmarkMode(Mode.AverageTime)
@Fork(value = 1, jvmArgsAppend = { "-Xms2g", "-Xmx2g" })
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Threads(1)
public class WalWritersBenchmark extends PinnedJvm {
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int PUTS = 2048;
  private static final int VALUE_BYTES = 100;

  /** The kind of WAL: AsyncFSWAL or FSHLog. */
  @Param({ "asyncfs", "filesystem" })
  public String provider;

  /** How a put is written. */
  @Param("SYNC_WAL")
  public Durability durability;

  /** How many handlers there are. */
  @Param({ "1", "2", "4", "8", "16", "32", "64", "128" })
  public int writers;

  /** <code>hbase.wal.async.max.syncs.in.flight</code> on the fork; numbers for AsyncFSWAL. */
  @Param("0")
  public String syncsInFlight;

  /** <code>hbase.regionserver.hlog.syncer.count</code> on both sides; for FSHLog. */
  @Param("5")
  public int syncers;

  private final LongAdder syncs = new LongAdder();
  private RegionOnHdfs region;
  private ExecutorService handlers;

  @Setup(Level.Trial)
  public void open() throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.wal.async.max.syncs.in.flight", syncsInFlight);
    conf.setInt("hbase.regionserver.hlog.syncer.count", syncers);
    region = new RegionOnHdfs(conf, provider);
    region.wal().registerWALActionsListener(new WALActionsListener() {
      @Override
      public void postSync(long nanos, int handlerSyncs) {
        syncs.increment();
      }
    });
    AtomicInteger number = new AtomicInteger();
    handlers = Executors.newFixedThreadPool(writers,
      task -> new Thread(task, CpuShares.HANDLER + number.incrementAndGet()));
  }

  @Setup(Level.Iteration)
  public void startAnew() throws IOException {
    region.startAnew();
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (handlers != null) {
      handlers.shutdownNow();
    }
    if (region != null) {
      region.close();
    }
  }

  /** Where the CPU time of an iteration went, in per cent of it, and puts by sync. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Profile {
    private final CpuShares shares = new CpuShares();
    private long puts;
    private long syncs;

    @Setup(Level.Iteration)
    public void clear() {
      shares.clear();
      puts = 0;
      syncs = 0;
    }

    /** Returns how many puts a sync has taken along. */
    public double putsBySync() {
      return syncs == 0 ? 0 : (double) puts / syncs;
    }

    /** Returns the share of writing threads: the region, and waiting for the WAL. */
    public double handlers() {
      return shares.percent(CpuShares.Part.HANDLERS);
    }

    /** Returns the share of the WAL's threads, with what they do of HDFS's client in FSHLog. */
    public double wal() {
      return shares.percent(CpuShares.Part.WAL);
    }

    /** Returns the share of threads that send packets and take acknowledgements. */
    public double hdfsClient() {
      return shares.percent(CpuShares.Part.HDFS_CLIENT);
    }

    /** Returns the share of the two DataNodes. */
    public double dataNodes() {
      return shares.percent(CpuShares.Part.DATA_NODES);
    }
  }

  /** Writes {@value #PUTS} puts. */
  @Benchmark
  @OperationsPerInvocation(PUTS)
  public void puts(Profile profile) throws InterruptedException, ExecutionException {
    long before = syncs.sum();
    profile.shares.start();
    AtomicInteger left = new AtomicInteger(PUTS);
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < writers; i++) {
      running.add(handlers.submit(() -> {
        while (left.getAndDecrement() > 0) {
          region.region().put(put());
        }
        return null;
      }));
    }
    for (Future<?> one : running) {
      one.get();
    }
    profile.shares.stop();
    profile.puts += PUTS;
    profile.syncs += syncs.sum() - before;
  }

  private Put put() {
    byte[] value = new byte[VALUE_BYTES];
    ThreadLocalRandom.current().nextBytes(value);
    return new Put(Bytes.toBytes(ThreadLocalRandom.current().nextLong()))
      .addColumn(RegionOnHdfs.FAMILY, QUALIFIER, value).setDurability(durability);
  }
}
