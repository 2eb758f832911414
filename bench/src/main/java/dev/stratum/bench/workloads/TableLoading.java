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
package dev.stratum.bench.workloads;

import static dev.stratum.childprocess.ChildProcess.request;

import dev.stratum.childprocess.ChildProcess;
import java.util.function.DoubleConsumer;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/** Makes the table of a case on one side, and brings it into the state that runs begin with. */
final class TableLoading {
  private static final int MAX_PASSES = 8;
  /**
   * The maximum number of extra passes, while no files are found: a region that is split has none
   * until its daughters are open.
   */
  private static final int MAX_PASSES_OF_SPLITS = 100;
  /** A scan of a fully cached table still misses blocks of hbase:meta now and then. */
  private static final long MISSES_OF_OTHERS = 5;

  private final ClusterUnderTest cluster;
  private final WorkloadCase workload;
  private final String table;
  private final int rows;

  /** @param rows how many; none makes an empty table */
  TableLoading(ClusterUnderTest cluster, WorkloadCase workload, int rows) {
    this.cluster = cluster;
    this.workload = workload;
    this.table = workload.table();
    this.rows = rows;
  }

  /** @param progress is told how much of the filling is done, 0 to 1 */
  void load(DoubleConsumer progress) throws SuiteException {
    JsonObject properties = workload.json();
    properties.addProperty("rows", rows);
    JsonObject request = request("load");
    request.add("properties", properties);
    cluster.ask("client", request, ChildProcess.LIMIT, progress);
    cluster.awaitIdle();
    if (rows > 0 && workload.isCompacted()) {
      compactToOneFile();
    } else if (rows > 0) {
      flush();
    }
    if (workload.deletedColumns() > 0) {
      JsonObject delete = of("deleteColumns");
      delete.addProperty("columns", workload.deletedColumns());
      cluster.ask("client", delete);
      flush();
    }
    if (workload.isWarm()) {
      cacheTable();
    }
  }

  private JsonObject of(String what) {
    JsonObject request = request(what);
    request.addProperty("table", table);
    return request;
  }

  private void flush() throws SuiteException {
    cluster.ask("regionserver", of("flush"));
  }

  /**
   * Sees to it that each store has one file, as a second one would cost every read of this side: a
   * compaction leaves out what is flushed, or compacted by another, at the time.
   */
  private void compactToOneFile() throws SuiteException {
    int withoutFiles = 0;
    int files = 0;
    for (int pass = 0; pass < MAX_PASSES + withoutFiles; pass++) {
      flush();
      cluster.ask("client", of("compact"));
      cluster.awaitIdle();
      files = cluster.ask("regionserver", of("storeFiles")).getAsInt();
      if (files == 1) {
        return;
      }
      if (files == 0 && withoutFiles < MAX_PASSES_OF_SPLITS) {
        withoutFiles++;
      }
    }
    throw new SuiteException(table + " has a store of " + files + " files on the "
      + cluster.name() + " side after " + MAX_PASSES + " major compactions.");
  }

  /** Reads the table until the cache has all of it, or once if it has no room for that. */
  private void cacheTable() throws SuiteException {
    for (int pass = 0; pass < MAX_PASSES; pass++) {
      JsonObject before = cluster.counters("regionserver");
      long seen = cluster.ask("client", of("scan")).getAsLong();
      if (seen != rows) {
        throw new SuiteException("Of " + rows + " rows that the " + cluster.name() + " side's "
          + table + " was given it has " + seen + ".");
      }
      JsonObject asked = JvmCounters.difference(before, cluster.counters("regionserver"));
      if (
        !cluster.holdsTable() || !asked.has("cacheMisses")
          || asked.get("cacheMisses").getAsLong() <= MISSES_OF_OTHERS
      ) {
        return;
      }
    }
    throw new SuiteException("The " + cluster.name() + " side's block cache does not take all of "
      + table + ": make l2.mb larger.");
  }
}
