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

import dev.stratum.bench.blockcache.TemporaryFiles;
import dev.stratum.bench.counter.CounterBenchmark.Way;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Table;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;

public class TestCounterBenchmark {
  private static final int UPDATES = 20;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final CounterBenchmark benchmark = new CounterBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  /** One client loses no update in any way; closing fails if some are lost. */
  @Test
  public void eachWayCounts() throws Exception {
    benchmark.rows = 3;
    benchmark.durability = Durability.SYNC_WAL;
    benchmark.way = Way.INCREMENT;
    benchmark.keys = "uniform";
    benchmark.open();
    CounterBenchmark.Client client = new CounterBenchmark.Client();
    long expected = 0;
    try (Table table = benchmark.table()) {
      client.setTable(table);
      for (Way way : Way.values()) {
        benchmark.way = way;
        benchmark.keys = way == Way.CHECK_AND_PUT ? "zipfian" : "uniform";
        for (int i = 0; i < UPDATES; i++) {
          benchmark.one(client);
        }
        expected += way == Way.INCREMENT_BATCH ? 10 * UPDATES : UPDATES;
        assertEquals(way.toString(), expected, benchmark.stored());
      }
    }
  }
}
