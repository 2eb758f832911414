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
package dev.stratum.bench.writegroup;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.harness.CompilerWarmUp;
import dev.stratum.bench.harness.Headline;
import dev.stratum.bench.harness.TableOnHdfs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
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
 * Puts of random rows by several clients of one region with HBase's default number of handlers, as
 * a client sees them, in microseconds; HDFS with two DataNodes, ZooKeeper, master and RegionServer
 * are in this JVM. A put has one cell with a value of 100 bytes.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=WriteGroupsBenchmark -Djmh.forks=2 \
 *   -Djmh.params=durability=SYNC_WAL,batch=1
 * </pre>
 *
 * <code>hbase.regionserver.write.groups.enabled</code> is on; stock does not know it. The workloads
 * <code>log/sync-*</code> measure the same with every server in its own JVM.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(jvmArgsAppend = { "-Xms2g", "-Xmx2g" })
@Warmup(iterations = 10, time = 1)
@Measurement(iterations = 32, time = 1)
public class WriteGroupsBenchmark extends PinnedJvm {
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int VALUE_BYTES = 100;
  /** The number of puts in flight, which is that of the clients of <code>sixtyFour</code>. */
  private static final int IN_FLIGHT = 64;

  /** How a put is written. */
  @Param({ "SYNC_WAL", "ASYNC_WAL" })
  public Durability durability;

  /** How many puts an operation has. */
  @Param({ "1", "10" })
  public int batch;

  private TableOnHdfs server;

  /** What a client has for itself. */
  @State(Scope.Thread)
  public static class Client {
    Table table;

    @Setup(Level.Trial)
    public void open(WriteGroupsBenchmark benchmark) throws IOException {
      table = benchmark.server.table();
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      table.close();
    }
  }

  @Setup(Level.Trial)
  public void openAndWarmUp(BenchmarkParams params) throws Exception {
    open();
    CompilerWarmUp.run(params.getThreads(), () -> {
      try (Table table = server.table()) {
        put(table);
      }
    }, () -> {
    });
  }

  void open() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.regionserver.write.groups.enabled", true);
    server = new TableOnHdfs(conf);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (server != null) {
      server.close();
    }
  }

  Put randomPut() {
    byte[] value = new byte[VALUE_BYTES];
    ThreadLocalRandom.current().nextBytes(value);
    return new Put(Bytes.toBytes(ThreadLocalRandom.current().nextLong()))
      .addColumn(TableOnHdfs.FAMILY, QUALIFIER, value).setDurability(durability);
  }

  /** Performs one operation of each benchmark. Returns what it has put. */
  List<Put> put(Table table) throws IOException {
    List<Put> puts = new ArrayList<>(batch);
    for (int i = 0; i < batch; i++) {
      puts.add(randomPut());
    }
    if (batch == 1) {
      table.put(puts.get(0));
    } else {
      // The client takes away from its list what is written.
      table.put(new ArrayList<>(puts));
    }
    return puts;
  }

  /** Puts of one thread that does not wait for them, {@value #IN_FLIGHT} at most at a time. */
  @State(Scope.Thread)
  public static class AsyncClient {
    private final Semaphore free = new Semaphore(IN_FLIGHT);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private AsyncTable<?> table;

    @Setup(Level.Trial)
    public void open(WriteGroupsBenchmark benchmark) {
      table = benchmark.server.asyncTable();
    }

    @TearDown(Level.Iteration)
    public void await() {
      free.acquireUninterruptibly(IN_FLIGHT);
      free.release(IN_FLIGHT);
      if (failure.get() != null) {
        throw new IllegalStateException(failure.get());
      }
    }

    void put(Put put) {
      free.acquireUninterruptibly();
      table.put(put).whenComplete((done, error) -> {
        if (error != null) {
          failure.set(error);
        }
        free.release();
      });
    }
  }

  /** Puts by one thread with an AsyncTable: how long it takes until it may send the next put. */
  @Benchmark
  @Threads(1)
  public Put asyncTable(AsyncClient client) {
    Put put = randomPut();
    client.put(put);
    return put;
  }

  @Benchmark
  @Threads(1)
  public List<Put> one(Client client) throws IOException {
    return put(client.table);
  }

  @Benchmark
  @Threads(16)
  public List<Put> sixteen(Client client) throws IOException {
    return put(client.table);
  }

  /** Sixty-four clients. */
  @Benchmark
  @Threads(64)
  @Headline(value = "durability=SYNC_WAL,batch=1", warmup = 1, measurement = 2,
      feature = "write-groups")
  public List<Put> sixtyFour(Client client) throws IOException {
    return put(client.table);
  }
}
