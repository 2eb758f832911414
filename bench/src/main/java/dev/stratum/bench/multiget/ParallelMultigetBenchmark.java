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
package dev.stratum.bench.multiget;

import static net.bytebuddy.matcher.ElementMatchers.named;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.blockcache.RowServer;
import dev.stratum.bench.blockcache.DelayedReads;
import dev.stratum.bench.harness.CompilerWarmUp;
import dev.stratum.bench.harness.ForkClass;
import dev.stratum.bench.harness.Headline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.dynamic.loading.ClassReloadingStrategy;
import net.bytebuddy.implementation.FixedValue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
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
 * One multi of gets through the RegionServer, in microseconds: from the parsed request, which is
 * about to be queued, to the encoded response, without a client and without a connection; the JMH
 * thread is the handler. <code>served</code> is what <code>RSRpcServices.multi</code> does of it,
 * <code>client</code> is what a client sees of it, in the same JVM and over loopback.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=ParallelMultigetBenchmark.served
 * mvn -pl bench jmh:run -Djmh.include=ParallelMultigetBenchmark.client
 * mvn -pl bench jmh:run -Djmh.include=ParallelMultigetBenchmark.saturated
 * mvn -pl bench jmh:run -Djmh.include=ParallelMultigetBenchmark.saturated \
 *     -Djmh.params=threads=32,deviceMicros=1000
 * mvn -pl bench jmh:run -Djmh.include=ParallelMultigetBenchmark.mixed
 * mvn -pl bench jmh:run -Djmh.include=ParallelMultigetBenchmark.batch \
 *     -Djmh.params=threads=2,deviceMicros=100,dense=true,segments=single,joined
 * </pre>
 *
 * <code>hbase.regionserver.parallel.get.enabled</code> on the fork is compared with stock, which
 * has no such thing. Rows are requested uniformly, or side by side if <code>dense</code>, 10 cells
 * of 100 bytes each, 21 to a block of 32 KB, all of them cached: in memory, or, if reads are
 * delayed, in a file that is in the page cache. The batch of 50 is that of the throughput article
 * behind HBASE-23063.
 */
@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 6, time = 1)
@Measurement(iterations = 10, time = 1)
public class ParallelMultigetBenchmark extends PinnedJvm {
  private static final int LARGE_BATCH = 500;
  private static final int FIRST_TIER_MB = 64;
  /** Small, as the open segment is in memory. */
  private static final int SEGMENT_MB = 4;

  /** How many gets a multi has. */
  @Param("50")
  public int batch;

  /** <code>hbase.regionserver.parallel.get.enabled</code> on the fork. */
  @Param("true")
  public boolean parallel;

  /** <code>hbase.regionserver.point.get.enabled</code> on the fork. */
  @Param("false")
  public boolean pointGet;

  /** <code>hbase.regionserver.parallel.get.threads</code> on the fork. */
  @Param("2")
  public int threads;

  /**
   * How long each read of a block waits, in microseconds. An SSD takes about 100. With 0 the blocks
   * are in memory.
   */
  @Param("0")
  public int deviceMicros;

  /** Whether the rows of a multi are beside each other, and share blocks. */
  @Param("false")
  public boolean dense;

  /**
   * Whether the fork has the blocks in segments on a file, under an L1 without data, instead
   * of a bucket cache: <code>joined</code> if it reads blocks that lie side by side at once, as it
   * does, <code>single</code> if it is kept from that, <code>none</code> for a bucket cache.
   * Nothing to stock.
   */
  @Param("none")
  public String segments = "none";

  /** The bytes of data, in MB. */
  int megabytes = 64;

  private Path bucketFile;
  private DelayedReads delayedReads;
  private RowServer server;

  @Setup(Level.Trial)
  public void fillAndWarmUp(BenchmarkParams params) throws Exception {
    fill();
    delayedReads.pause();
    CompilerWarmUp.run(params.getThreads(), () -> multiget(batch), () -> {
    });
    delayedReads.resume();
  }

  void fill() throws Exception {
    bucketFile = Files.createTempFile("stratum-bench", ".bucket");
    Configuration conf = HBaseConfiguration.create();
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY,
      deviceMicros == 0 ? "offheap" : "file:" + bucketFile);
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 2 * megabytes + 64);
    if (!segments.equals("none")) {
      conf.setBoolean("hbase.bucketcache.composite.enabled", true);
      conf.set("hbase.bucketcache.composite.promotion", "none");
      conf.setInt("hbase.bucketcache.l1.size", FIRST_TIER_MB);
      conf.set("hbase.bucketcache.l2.ioengine", "segments:" + bucketFile);
      conf.setInt("hbase.bucketcache.l2.size", 2 * megabytes + 64);
      conf.setInt("hbase.segmentcache.segment.mb", SEGMENT_MB);
    }
    if (segments.equals("single")) {
      readOneByOne();
    }
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0.1f);
    conf.setInt(BlockCacheFactory.BUCKET_CACHE_WRITER_QUEUE_KEY, 1 << 16);
    conf.setBoolean("hbase.regionserver.parallel.get.enabled", parallel);
    conf.setBoolean("hbase.regionserver.point.get.enabled", pointGet);
    conf.setInt("hbase.regionserver.parallel.get.threads", threads);
    server = new RowServer(conf, (long) megabytes << 20);
    delayedReads = new DelayedReads(deviceMicros);
  }

  /** Leaves a read of several blocks without the memory that it needs. */
  private static void readOneByOne() {
    ByteBuddyAgent.install();
    Class<?> reader = ForkClass.SEGMENT_READER.get();
    new ByteBuddy().redefine(reader).method(named("takeJoined")).intercept(FixedValue.nullValue())
      .make().load(reader.getClassLoader(), ClassReloadingStrategy.fromInstalledAgent());
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (delayedReads != null) {
      delayedReads.close();
    }
    if (server != null) {
      server.close();
    }
    Files.deleteIfExists(bucketFile);
    // Segments leave this file beside it.
    Files.deleteIfExists(Path.of(bucketFile + ".index"));
  }

  private int[] rows(int gets) {
    int[] rows = new int[gets];
    int first = ThreadLocalRandom.current().nextInt(server.rows() - gets);
    for (int i = 0; i < gets; i++) {
      rows[i] = dense ? first + i : ThreadLocalRandom.current().nextInt(server.rows());
    }
    return rows;
  }

  private int multiget(int gets) throws IOException {
    return server.multiget(rows(gets));
  }

  /** One request at a time. @return the size of the response's cells, in bytes */
  @Benchmark
  @BenchmarkMode(Mode.SampleTime)
  @Headline(value = "batch=50,deviceMicros=100,threads=16,parallel=true,dense=false,segments=none",
      warmup = 2, measurement = 2, feature = "parallel-multiget")
  public int batch() throws IOException {
    return multiget(batch);
  }

  /** A multi that is ready to be served, and has its response made outside the time measured. */
  @State(Scope.Thread)
  public static class Request {
    private RowServer.Multi multi;

    @Setup(Level.Invocation)
    public void receive(ParallelMultigetBenchmark benchmark) {
      multi = benchmark.server.multi(benchmark.rows(benchmark.batch));
    }

    @TearDown(Level.Invocation)
    public void respond() throws IOException {
      multi.respond();
    }
  }

  /**
   * Calls only <code>RSRpcServices.multi</code>, one request at a time.
   * @return what it answers
   */
  @Benchmark
  @BenchmarkMode(Mode.SampleTime)
  public Object served(Request request) throws IOException {
    return request.multi.serve();
  }

  /** A client, with a connection of its own. */
  @State(Scope.Thread)
  public static class Client {
    private Table table;

    @Setup(Level.Trial)
    public void open(ParallelMultigetBenchmark benchmark) throws IOException {
      table = benchmark.server.table();
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      table.close();
    }
  }

  /**
   * Sends one request at a time, as its client sees it.
   * @return the results
   */
  @Benchmark
  @BenchmarkMode(Mode.SampleTime)
  public Result[] client(Client client) throws IOException {
    List<Get> gets = new ArrayList<>(batch);
    for (int row : rows(batch)) {
      gets.add(server.clientGet(row));
    }
    return client.table.get(gets);
  }

  /**
   * Sends sixteen requests at a time.
   * @return the size of the response's cells, in bytes
   */
  @Benchmark
  @BenchmarkMode(Mode.SampleTime)
  @Threads(16)
  public int saturated() throws IOException {
    return multiget(batch);
  }

  /** Runs a plain get, which the feature has nothing to do with. */
  @Benchmark
  @BenchmarkMode(Mode.SampleTime)
  public int get() throws IOException {
    return server.get(ThreadLocalRandom.current().nextInt(server.rows()));
  }

  /** A get beside large multigets. */
  @Benchmark
  @BenchmarkMode(Mode.SampleTime)
  @Group("mixed")
  @GroupThreads(1)
  public int getBesideMultigets() throws IOException {
    return get();
  }

  /** A large multiget beside gets. */
  @Benchmark
  @BenchmarkMode(Mode.SampleTime)
  @Group("mixed")
  @GroupThreads(1)
  public int multigetBesideGets() throws IOException {
    return multiget(LARGE_BATCH);
  }
}
