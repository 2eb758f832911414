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

import dev.stratum.bench.harness.TableOnHdfs;
import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;

/**
 * A table of counters on a RegionServer with more handlers than any benchmark has threads. May be
 * used by several threads, which each bring a {@link Table} of their own.
 */
final class CounterServer implements Closeable {
  static final byte[] FAMILY = TableOnHdfs.FAMILY;
  private static final int HANDLERS = 160;
  private static final int WARM_ROWS = 1000;
  private static final int WARM_CLIENTS = 16;

  private final TableOnHdfs counters;

  CounterServer(Configuration conf) throws Exception {
    // Stock does not know the key.
    conf.setBoolean("hbase.regionserver.increment.coalesce.enabled", true);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT, HANDLERS);
    counters = new TableOnHdfs(conf);
  }

  /** Returns a table for one thread. */
  Table table() throws IOException {
    return counters.table();
  }

  /**
   * Has many clients increment many rows: the JIT compiler is done sooner than with increments that
   * wait for each other, and takes no time from what is measured then.
   */
  void warmUp(long millis) throws IOException, InterruptedException {
    new CounterLoad(this, "", "uniform", WARM_ROWS).run(UpdateMethod.INCREMENT, WARM_CLIENTS, 1,
      millis);
  }

  /** Returns the sum of all counters. */
  long stored() throws IOException {
    long sum = 0;
    Scan scan = new Scan().addColumn(FAMILY, CounterClient.COUNTER);
    try (Table table = table(); ResultScanner rows = table.getScanner(scan)) {
      for (Result counter : rows) {
        sum += CounterClient.number(counter.value());
      }
    }
    return sum;
  }

  @Override
  public void close() throws IOException {
    counters.close();
  }
}
