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
package dev.stratum.bench.counter;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.harness.CompilerWarmUp;
import dev.stratum.bench.harness.Headline;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Durability;
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
 * One update of a counter by each of several clients, as a client sees it, in microseconds; HDFS,
 * ZooKeeper, master and RegionServer are in this JVM. The update methods: an increment of one
 * column or of five, a batch of ten, and what people do without increments: read and write without
 * a lock, which loses updates, and check-and-put until it succeeds.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=CounterBenchmark.sixteen -Djmh.forks=2 \
 *   -Djmh.params=way=INCREMENT,rows=1,durability=SYNC_WAL
 * </pre>
 *
 * <code>hbase.regionserver.increment.coalesce.enabled</code> is on; stock does not know it. Rows
 * are drawn uniformly, or as YCSB draws them (scrambled zipfian, 0.99).
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(jvmArgsAppend = { "-Xms2g", "-Xmx2g" })
@Warmup(iterations = 10, time = 1)
// A p99 of ten seconds differs by a tenth between runs of the same side.
@Measurement(iterations = 32, time = 1)
public class CounterBenchmark extends PinnedJvm {
  private static final int WARM_UP_MILLIS = 2000;

  /** How a counter is updated. */
  @Param({ "INCREMENT", "INCREMENT_FIVE_COLUMNS", "INCREMENT_BATCH", "READ_MODIFY_WRITE",
    "CHECK_AND_PUT" })
  public UpdateMethod way;

  /** How many counters there are. */
  @Param({ "1", "10", "1000", "12000" })
  public int rows;

  /** How a row is drawn: <code>uniform</code> or <code>zipfian</code>. */
  @Param({ "uniform", "zipfian" })
  public String keys;

  /** How a write is done. */
  @Param({ "SYNC_WAL", "ASYNC_WAL" })
  public Durability durability;

  /** Whether <code>hbase.server.netty.flush.consolidation.enabled</code> is on as well. */
  @Param("false")
  public boolean consolidated;

  /** Maximum number of rounds of warm-up of the server, before those of JMH. */
  int warmUps = 20;

  private CounterServer server;
  private long before;
  private CounterKeys draw;
  private final LongAdder updates = new LongAdder();

  /** What a client has for itself. */
  @State(Scope.Thread)
  public static class Client {
    private CounterClient client;

    @Setup(Level.Trial)
    public void open(CounterBenchmark benchmark) throws IOException {
      client = benchmark.client();
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      client.close();
    }
  }

  @Setup(Level.Trial)
  public void open() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.server.netty.flush.consolidation.enabled", consolidated);
    server = new CounterServer(conf);
    draw = new CounterKeys(rows, keys);
    CompilerWarmUp.untilQuiet(warmUps, () -> server.warmUp(WARM_UP_MILLIS));
    before = server.stored();
  }

  /** Says how many of the updates are in the table: all, unless the method loses some. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (server == null) {
      return;
    }
    try {
      long stored = server.stored() - before;
      long lost = updates.sum() - stored;
      System.out.println(updates.sum() + " updates, " + stored + " stored, " + lost + " lost");
      if (lost != 0 && !way.mayLoseUpdates()) {
        throw new IllegalStateException(lost + " updates were lost");
      }
    } finally {
      server.close();
    }
  }

  CounterServer server() {
    return server;
  }

  CounterClient client() throws IOException {
    return new CounterClient(server.table(), draw, durability);
  }

  private long update(Client client) throws IOException {
    updates.add(way.updates());
    return client.client.update(way);
  }

  @Benchmark
  @Threads(1)
  public long one(Client client) throws IOException {
    return update(client);
  }

  @Benchmark
  @Threads(4)
  public long four(Client client) throws IOException {
    return update(client);
  }

  /** Sixteen clients. */
  @Benchmark
  @Threads(16)
  @Headline(value = "way=INCREMENT,rows=1,keys=uniform,durability=SYNC_WAL", warmup = 1,
      measurement = 2, feature = "counter-coalescing")
  public long sixteen(Client client) throws IOException {
    return update(client);
  }

  @Benchmark
  @Threads(64)
  public long sixtyFour(Client client) throws IOException {
    return update(client);
  }

  @Benchmark
  @Threads(128)
  public long hundredTwentyEight(Client client) throws IOException {
    return update(client);
  }
}
