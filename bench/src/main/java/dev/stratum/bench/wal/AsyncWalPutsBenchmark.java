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
import dev.stratum.bench.harness.CompilerWarmUp;
import dev.stratum.bench.harness.Headline;
import dev.stratum.bench.harness.RegionOnHdfs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.util.Bytes;
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
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * A batch of puts into a region whose WAL is in HDFS on loopback with two DataNodes, in
 * microseconds, without a client and a connection; each JMH thread is a handler. HBASE-16689.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=AsyncWalPutsBenchmark.one
 * mvn -pl bench jmh:run -Djmh.include=AsyncWalPutsBenchmark.sixteen \
 *   -Djmh.params=durability=SYNC_WAL,batch=1,syncsInFlight=1
 * </pre>
 *
 * <code>hbase.wal.async.sync.interval.ms</code> on the fork is compared with stock, which has no
 * such thing and syncs <code>ASYNC_WAL</code> writes when it happens to. A put has one cell with a
 * value of 100 bytes; rows are random. The region is flushed and the WAL rolled before each
 * iteration.
 */
@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@BenchmarkMode(Mode.SampleTime)
@Fork(jvmArgsAppend = { "-Xms4g", "-Xmx4g" })
@Warmup(iterations = 6, time = 1)
@Measurement(iterations = 16, time = 1)
public class AsyncWalPutsBenchmark extends PinnedJvm {
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int VALUE_BYTES = 100;

  /** The kind of WAL: AsyncFSWAL or FSHLog. */
  @Param({ "asyncfs", "filesystem" })
  public String provider;

  /** How a put is written. */
  @Param({ "ASYNC_WAL", "SYNC_WAL" })
  public Durability durability;

  /** How many puts a batch has. */
  @Param({ "1", "2", "100" })
  public int batch;

  /** <code>hbase.wal.async.sync.interval.ms</code> on the fork. */
  @Param("100")
  public int intervalMs;

  /** <code>hbase.wal.async.max.syncs.in.flight</code> on the fork; numbers for AsyncFSWAL. */
  @Param("0")
  public String syncsInFlight;

  /** <code>hbase.regionserver.hlog.syncer.count</code> on both sides; for FSHLog. */
  @Param("5")
  public int syncers;

  private RegionOnHdfs region;
  private CyclicBarrier handlers;

  /**
   * A thread that writes. They wait here for the one that starts anew: for what JMH has one thread
   * do before an iteration, it has the others spin, which takes the processors from that one and
   * counts as CPU time of the operations.
   */
  @State(Scope.Thread)
  public static class Handler {
    @Setup(Level.Iteration)
    public void startAnew(AsyncWalPutsBenchmark benchmark)
      throws InterruptedException, BrokenBarrierException {
      benchmark.handlers.await();
    }
  }

  @Setup(Level.Trial)
  public void openAndWarmUp(BenchmarkParams params) throws Exception {
    open();
    handlers = new CyclicBarrier(params.getThreads(), () -> {
      try {
        startAnew();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    });
    CompilerWarmUp.run(params.getThreads(), this::put, this::startAnew);
  }

  void open() throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.setInt("hbase.wal.async.sync.interval.ms", intervalMs);
    conf.set("hbase.wal.async.max.syncs.in.flight", syncsInFlight);
    conf.setInt("hbase.regionserver.hlog.syncer.count", syncers);
    region = new RegionOnHdfs(conf, provider);
  }

  void startAnew() throws IOException {
    region.startAnew();
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (region != null) {
      region.close();
    }
  }

  private Put[] puts() {
    Put[] puts = new Put[batch];
    for (int i = 0; i < batch; i++) {
      byte[] value = new byte[VALUE_BYTES];
      ThreadLocalRandom.current().nextBytes(value);
      puts[i] = new Put(Bytes.toBytes(ThreadLocalRandom.current().nextLong()))
        .addColumn(RegionOnHdfs.FAMILY, QUALIFIER, value).setDurability(durability);
    }
    return puts;
  }

  /** Returns the batch of one operation of each benchmark. */
  Put[] put() throws IOException {
    Put[] puts = puts();
    region.region().batchMutate(puts);
    return puts;
  }

  /** Returns whether the region has what {@code put} has put there. */
  boolean has(Put put) throws IOException {
    return Bytes.equals(
      region.region().get(new Get(put.getRow())).getValue(RegionOnHdfs.FAMILY, QUALIFIER),
      CellUtil.cloneValue(put.get(RegionOnHdfs.FAMILY, QUALIFIER).get(0)));
  }

  /** One batch at a time. */
  @Benchmark
  @Threads(1)
  @Headline(value = "provider=asyncfs,durability=ASYNC_WAL,batch=1,intervalMs=100,syncsInFlight=0,"
    + "syncers=5", warmup = 1, measurement = 2, feature = "bounded-async-wal")
  public Put[] one(Handler handler) throws IOException {
    return put();
  }

  @Benchmark
  @Threads(16)
  public Put[] sixteen(Handler handler) throws IOException {
    return put();
  }

  @Benchmark
  @Threads(64)
  public Put[] sixtyFour(Handler handler) throws IOException {
    return put();
  }
}
