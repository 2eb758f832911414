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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestCounterBenchmark {
  private static final int UPDATES = 20;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final CounterBenchmark benchmark = new CounterBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  private void open() throws Exception {
    benchmark.rows = 3;
    benchmark.warmUps = 0;
    benchmark.durability = Durability.SYNC_WAL;
    benchmark.way = UpdateMethod.INCREMENT;
    benchmark.keys = "zipfian";
    benchmark.open();
  }

  /** One client loses no update in any way; then all ways are measured, and a page is made. */
  @Test
  public void testEachWayCountsAndIsMeasured() throws Exception {
    open();
    long expected = benchmark.server().stored();
    CounterBenchmark.Client client = new CounterBenchmark.Client();
    client.open(benchmark);
    for (UpdateMethod method : UpdateMethod.values()) {
      benchmark.way = method;
      for (int i = 0; i < UPDATES; i++) {
        benchmark.one(client);
      }
      expected += UPDATES * method.updates();
      assertEquals(method.toString(), expected, benchmark.server().stored());
    }
    client.close();
    // What the measurement below adds is not this benchmark's.
    benchmark.way = UpdateMethod.READ_MODIFY_WRITE;

    CounterTable lines = new CounterTable(benchmark.server(), "fork", "uniform",
      new int[] { 1, 3 }, 20);
    assertEquals(2 * (UpdateMethod.values().length - 1), lines.size());
    List<CounterPoint> points = List.of();
    for (int i = 0; i < lines.size(); i++) {
      points = lines.measureNext();
    }
    assertEquals(lines.size(), points.size());
    for (CounterPoint point : points) {
      assertEquals(10, point.intervals.size());
      assertTrue(point.method + " " + point.all.p99, point.all.p99 >= point.all.p50);
    }
    Path folder = Files.createTempDirectory("counters");
    try {
      CounterReport report = new CounterReport(folder);
      report.write("fork-uniform", points);
      report.write("stock-zipfian", points.subList(0, 3));
      String html = Files.readString(folder.resolve("counters.html"));
      assertTrue(html, html.contains("<polyline class=\"fork p99\" points=\""));
      assertTrue(html, !html.contains("NaN") && !html.contains("Infinity"));
      String table = Files.readString(folder.resolve("counters.md"));
      assertTrue(table, table.contains("| get, then put | 3 |"));
      assertTrue(table, table.contains("**uniform**"));
    } finally {
      for (String name : new String[] { "fork-uniform.json", "stock-zipfian.json",
        "counters.html", "counters.md" }) {
        Files.deleteIfExists(folder.resolve(name));
      }
      Files.delete(folder);
    }
  }
}
