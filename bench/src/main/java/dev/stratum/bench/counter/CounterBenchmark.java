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
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
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
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * One update of a counter by each of several clients, as a client sees it, in microseconds; HDFS,
 * ZooKeeper, master and RegionServer are in this JVM. The ways to update: an increment of one
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
@Fork(jvmArgsAppend = "-Xmx2g")
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
public class CounterBenchmark extends PinnedJvm {
  private static final byte[][] COLUMNS = new byte[5][];
  private static final int BATCH = 10;

  static {
    for (int i = 0; i < COLUMNS.length; i++) {
      COLUMNS[i] = Bytes.toBytes("c" + i);
    }
  }

  /** How a counter is updated. */
  public enum Way {
    INCREMENT,
    INCREMENT_FIVE_COLUMNS,
    INCREMENT_BATCH,
    READ_MODIFY_WRITE,
    CHECK_AND_PUT
  }

  /** How a counter is updated. */
  @Param({ "INCREMENT", "INCREMENT_FIVE_COLUMNS", "INCREMENT_BATCH", "READ_MODIFY_WRITE",
    "CHECK_AND_PUT" })
  public Way way;

  /** How many counters there are. */
  @Param({ "1", "10", "1000", "12000" })
  public int rows;

  /** How a row is drawn: <code>uniform</code> or <code>zipfian</code>. */
  @Param({ "uniform", "zipfian" })
  public String keys;

  /** How a write is done. */
  @Param({ "SYNC_WAL", "ASYNC_WAL" })
  public Durability durability;

  private CounterServer server;
  private ScrambledZipfianGenerator zipfian;
  private final LongAdder updates = new LongAdder();

  /** What a client has for itself. */
  @State(Scope.Thread)
  public static class Client {
    private Table table;

    @Setup(Level.Trial)
    public void open(CounterBenchmark benchmark) throws IOException {
      table = benchmark.table();
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      table.close();
    }

    Table table() {
      return table;
    }

    void setTable(Table table) {
      this.table = table;
    }
  }

  @Setup(Level.Trial)
  public void open() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.regionserver.increment.coalesce.enabled", true);
    server = new CounterServer(conf);
    zipfian = new ScrambledZipfianGenerator(rows);
  }

  /** Says how many of the updates are in the table: all, unless the way loses some. */
  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (server == null) {
      return;
    }
    try {
      long stored = stored();
      long lost = updates.sum() - stored;
      System.out.println(updates.sum() + " updates, " + stored + " stored, " + lost + " lost");
      if (lost != 0 && way != Way.READ_MODIFY_WRITE) {
        throw new IllegalStateException(lost + " updates were lost");
      }
    } finally {
      server.close();
    }
  }

  Table table() throws IOException {
    return server.table();
  }

  /** Returns the sum of all counters. */
  long stored() throws IOException {
    long sum = 0;
    try (Table table = server.table()) {
      List<Get> gets = new ArrayList<>();
      for (int row = 0; row < rows; row++) {
        gets.add(new Get(key(row)).addColumn(CounterServer.FAMILY, COLUMNS[0]));
      }
      for (Result result : table.get(gets)) {
        sum += number(result.getValue(CounterServer.FAMILY, COLUMNS[0]));
      }
    }
    return sum;
  }

  private static long number(byte[] value) {
    return value == null ? 0 : Bytes.toLong(value);
  }

  private static byte[] key(long row) {
    return Bytes.toBytes(String.format("user%019d", row));
  }

  private byte[] draw() {
    return key(keys.equals("uniform") ? ThreadLocalRandom.current().nextInt(rows)
      : zipfian.nextValue());
  }

  private Increment increment(int columns) {
    Increment increment = new Increment(draw()).setDurability(durability);
    for (int i = 0; i < columns; i++) {
      increment.addColumn(CounterServer.FAMILY, COLUMNS[i], 1);
    }
    return increment;
  }

  private long update(Client client) throws Exception {
    updates.add(way == Way.INCREMENT_BATCH ? BATCH : 1);
    Table table = client.table();
    switch (way) {
      case INCREMENT:
        return table.increment(increment(1)).size();
      case INCREMENT_FIVE_COLUMNS:
        return table.increment(increment(COLUMNS.length)).size();
      case INCREMENT_BATCH:
        List<Row> batch = new ArrayList<>(BATCH);
        for (int i = 0; i < BATCH; i++) {
          batch.add(increment(1));
        }
        Object[] results = new Object[BATCH];
        table.batch(batch, results);
        return results.length;
      case READ_MODIFY_WRITE:
        byte[] row = draw();
        table.put(put(row, number(read(table, row)) + 1));
        return 1;
      default:
        return checkAndPut(table, draw());
    }
  }

  private static byte[] read(Table table, byte[] row) throws IOException {
    return table.get(new Get(row).addColumn(CounterServer.FAMILY, COLUMNS[0]))
      .getValue(CounterServer.FAMILY, COLUMNS[0]);
  }

  private Put put(byte[] row, long value) {
    return new Put(row).addColumn(CounterServer.FAMILY, COLUMNS[0], Bytes.toBytes(value))
      .setDurability(durability);
  }

  /** Returns how often it took. */
  private long checkAndPut(Table table, byte[] row) throws IOException {
    for (long tries = 1;; tries++) {
      byte[] old = read(table, row);
      Table.CheckAndMutateBuilder check =
        table.checkAndMutate(row, CounterServer.FAMILY).qualifier(COLUMNS[0]);
      check = old == null ? check.ifNotExists() : check.ifEquals(old);
      if (check.thenPut(put(row, number(old) + 1))) {
        return tries;
      }
    }
  }

  /** One client. */
  @Benchmark
  @Threads(1)
  public long one(Client client) throws Exception {
    return update(client);
  }

  /** Four clients. */
  @Benchmark
  @Threads(4)
  public long four(Client client) throws Exception {
    return update(client);
  }

  /** Sixteen clients. */
  @Benchmark
  @Threads(16)
  public long sixteen(Client client) throws Exception {
    return update(client);
  }

  /** Sixty-four clients. */
  @Benchmark
  @Threads(64)
  public long sixtyFour(Client client) throws Exception {
    return update(client);
  }

  /** A hundred and twenty-eight clients. */
  @Benchmark
  @Threads(128)
  public long hundredTwentyEight(Client client) throws Exception {
    return update(client);
  }
}
