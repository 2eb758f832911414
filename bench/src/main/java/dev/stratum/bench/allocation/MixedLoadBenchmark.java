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
package dev.stratum.bench.allocation;

import dev.stratum.bench.PinnedJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One operation of a client on a table whose blocks are in a bucket cache on a file, by each of two
 * threads, in microseconds and in bytes of heap that client and server allocate together: a get, a
 * multiget of ten rows, a put, or the mix of 50 % gets, 25 % multigets and 25 % puts, with
 * everything cached when it is written, so that flushes and compactions are part of it. Standalone
 * mode in the measured JVM, on local files or on HDFS, which is in a process of its own.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=MixedLoadBenchmark -Djmh.forks=1
 * </pre>
 *
 * With <code>cache=restarted</code> the servers were stopped and started again before, so that the
 * cache's entries are those of its persisted map. With <code>pool=classes</code> the fork has a
 * pool with size classes, which the published jars do not know. The requested rows are
 * drawn uniformly. The article behind HBASE-21879 and HBASE-22802 has this mix of operations in
 * production.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Threads(2)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
public class MixedLoadBenchmark extends PinnedJvm {
  private static final int MULTIGET_ROWS = 10;

  /** Where HBase's files are: <code>local</code>, or <code>hdfs</code>. */
  @Param({ "local", "hdfs" })
  public String files;

  /** <code>fresh</code> or <code>restarted</code>. */
  @Param({ "fresh", "restarted" })
  public String cache;

  /** <code>mixed</code>, <code>get</code>, <code>multiget</code> or <code>put</code>. */
  @Param({ "mixed", "get", "multiget", "put" })
  public String operation;

  /** The size of data blocks in bytes. */
  @Param({ "4096", "8192", "65536" })
  public int size;

  /** The server's pool: <code>plain</code>, or <code>classes</code> for size classes. */
  @Param({ "plain", "classes" })
  public String pool;

  /** The rows of the table, of 1.5 KB. */
  int rows = 40_000;

  StandaloneTable table;

  /** What a thread needs. */
  @State(Scope.Thread)
  public static class Client {
    private static final AtomicInteger THREADS = new AtomicInteger();

    private final Random random = new Random(THREADS.incrementAndGet());
    private Table table;

    @Setup(Level.Trial)
    public void open(MixedLoadBenchmark benchmark) throws IOException {
      table = benchmark.table.table();
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      table.close();
    }
  }

  @Setup(Level.Trial)
  public void start() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.server.allocator.size.classes.enabled", pool.equals("classes"));
    table = new StandaloneTable(conf, "hdfs".equals(files), rows, size);
    if (cache.equals("restarted")) {
      table.restart();
    }
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (table != null) {
      table.close();
    }
  }

  /** @return the number of cells that were read or written */
  @Benchmark
  public int operation(Client client) throws IOException {
    switch (operation) {
      case "get":
        return get(client);
      case "multiget":
        return multiget(client);
      case "put":
        return put(client);
      default:
        int drawn = client.random.nextInt(4);
        return drawn < 2 ? get(client) : drawn == 2 ? multiget(client) : put(client);
    }
  }

  private int get(Client client) throws IOException {
    return cells(client.table.get(StandaloneTable.get(client.random.nextInt(rows))));
  }

  private int multiget(Client client) throws IOException {
    List<Get> gets = new ArrayList<>(MULTIGET_ROWS);
    for (int i = 0; i < MULTIGET_ROWS; i++) {
      gets.add(StandaloneTable.get(client.random.nextInt(rows)));
    }
    int cells = 0;
    for (Result result : client.table.get(gets)) {
      cells += cells(result);
    }
    return cells;
  }

  private int put(Client client) throws IOException {
    client.table.put(StandaloneTable.put(client.random.nextInt(rows), client.random));
    return StandaloneTable.FIELD_COUNT;
  }

  private static int cells(Result result) {
    if (result.size() != StandaloneTable.FIELD_COUNT) {
      throw new IllegalStateException(result.size() + " cells in " + result);
    }
    return result.size();
  }
}
