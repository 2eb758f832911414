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
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.util.VersionInfo;
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

/**
 * Every {@link UpdateMethod}, by 1 to 128 clients, over 12,000 rows: updates per second, and p50
 * and p99 over time. The shape is that of the comparisons of Increment with reading and writing
 * that are made with YCSB, whose generator draws the rows. All of a side and kind of keys is done
 * in one JVM with one server, a line of the table in each iteration, so that the whole is a matter
 * of minutes; JMH's own figure is how long a line took, which says nothing. What counts is in
 * <code>bench/target/counters</code>: <code>counters.html</code> with plots,
 * <code>counters.md</code> with the table, and <code>fork-zipfian.json</code> and the like, which
 * later runs add to.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=CounterTableBenchmark -Djmh.alternate=iteration
 * </pre>
 *
 * takes a quarter of an hour.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsAppend = { "-Xms2g", "-Xmx2g" })
@Warmup(iterations = 0)
@Measurement(iterations = CounterTableBenchmark.LINES)
public class CounterTableBenchmark extends PinnedJvm {
  /** Five methods by five numbers of clients. */
  static final int LINES = 25;
  private static final int[] CLIENTS = { 1, 4, 16, 64, 128 };

  /** How a row is drawn. */
  @Param({ "zipfian", "uniform" })
  public String keys;

  /** How long each number of clients is measured with each method. */
  @Param("2")
  public double seconds;

  private CounterServer server;
  private CounterTable table;
  private CounterReport page;
  private String name;

  @Setup(Level.Trial)
  public void open() throws Exception {
    server = new CounterServer(HBaseConfiguration.create());
    // The plugin gives a folder below target/jmh, which it empties before each run.
    Path target = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath().getParent();
    page = new CounterReport(target.resolveSibling("counters"));
    String side = VersionInfo.getVersion().contains("stratum") ? "fork" : "stock";
    name = side + "-" + keys;
    table = new CounterTable(server, side, keys, CLIENTS,
      Math.round(seconds * 1000 / CounterTable.INTERVALS));
    if (table.size() != LINES) {
      throw new IllegalStateException(table.size() + " lines instead of " + LINES);
    }
    table.warmUp();
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (server != null) {
      server.close();
    }
  }

  /** Measures the next line of one side's table. */
  @Benchmark
  public int table() throws Exception {
    List<CounterPoint> points = table.measureNext();
    page.write(name, points);
    return points.size();
  }
}
