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
package dev.stratum.processes;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** What one thread knows of counters that all threads increment. Not thread-safe. */
final class CheckedCounters {
  private final Operations.Client watched;
  private final long[] incremented = new long[CheckedLoad.COUNTERS];
  private final long[] lastSeen = new long[CheckedLoad.COUNTERS];

  CheckedCounters(Operations.Client watched) {
    this.watched = watched;
  }

  /** Returns the sum of what each counter was incremented by, as acknowledged. */
  long[] incremented() {
    return incremented;
  }

  private static byte[] key(int counter) {
    return Bytes.toBytes(String.format("%x-counter", counter * 5));
  }

  /**
   * Increments a counter.
   * @return what was wrong, null if nothing was
   */
  String increment(int counter, long delta, Table table) throws IOException {
    Increment increment =
      new Increment(key(counter)).addColumn(CheckedLoad.FAMILY, CheckedRows.VERSION, delta);
    Result result;
    watched.begin(increment);
    try {
      result = table.increment(increment);
    } finally {
      watched.end();
    }
    incremented[counter] += delta;
    // An increment that is sent again, and that a killed server's WAL has, is answered with no
    // cell, by stock too: it is read as of a time before all writes.
    long seen = result.isEmpty() ? read(counter, table) : CheckedRows.versionOf(result);
    long least = lastSeen[counter] + delta;
    lastSeen[counter] = seen;
    return seen < least ? "a counter went from " + (least - delta) + " to " + seen : null;
  }

  private long read(int counter, Table table) throws IOException {
    Get get = new Get(key(counter));
    watched.begin(get);
    try {
      return CheckedRows.versionOf(table.get(get));
    } finally {
      watched.end();
    }
  }

  /** Reads all counters. */
  long[] read(Table table) throws IOException {
    long[] values = new long[CheckedLoad.COUNTERS];
    for (int i = 0; i < values.length; i++) {
      values[i] = read(i, table);
    }
    return values;
  }
}
