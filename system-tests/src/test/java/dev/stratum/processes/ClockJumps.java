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

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * The clock of a server jumps an hour ahead, beside the load, and is set back. Meanwhile rows of a
 * table of its own look expired, by the TTL of their family or of their cells, in the memstore and
 * in files. Gets, multigets and scans must agree on them at each time, and find all of them again
 * when the clock is right. Nothing flushes or compacts the table, which would remove them for good.
 */
final class ClockJumps {
  private static final TableName TABLE = TableName.valueOf("expiring");
  private static final byte[] TTL_OF_FAMILY = Bytes.toBytes("f");
  private static final byte[] TTL_OF_CELLS = Bytes.toBytes("c");
  private static final Duration AHEAD = Duration.ofHours(1);
  private static final Duration TTL = AHEAD.dividedBy(2);
  private static final int ROWS = 40;
  /** The second read may be answered by a cache that the first one has filled. */
  private static final int READS = 3;

  private final Cluster cluster;
  private int jumps;

  ClockJumps(Cluster cluster) {
    this.cluster = cluster;
  }

  /**
   * The clock of a server jumps.
   * @param operations how many of the load's operations each thread does meanwhile
   * @throws AssertionError if a row is read that looks expired, or one that does not is missing
   */
  void jump(Cluster.Server server, int operations) throws Exception {
    Set<String> rows = write(server);
    assertRead("before its clock jumped", server, rows);
    try {
      cluster.setClock(server, AHEAD);
      assertRead("an hour ahead", server, Set.of());
      cluster.load().awaitOperations(operations);
      assertRead("still an hour ahead", server, Set.of());
    } finally {
      cluster.setClock(server, Duration.ZERO);
    }
    assertRead("after its clock was set back", server, rows);
    cluster.say("%s was an hour ahead, where %d rows looked expired", server, rows.size());
  }

  /** Has the server serve the table, and writes all rows anew, half of them to a file. */
  private Set<String> write(Cluster.Server server) throws Exception {
    Admin admin = cluster.admin();
    if (!admin.tableExists(TABLE)) {
      admin.createTable(TableDescriptorBuilder.newBuilder(TABLE)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(TTL_OF_FAMILY)
          .setTimeToLive((int) TTL.toSeconds()).build())
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(TTL_OF_CELLS))
        .setCompactionEnabled(false)
        // Has an effect where there is a row cache.
        .setValue("ROW_CACHE_ENABLED", "true").build());
    }
    RegionInfo region = admin.getRegions(TABLE).get(0);
    admin.move(region.getEncodedNameAsBytes(), server.name());
    Cluster.await(server + " serves " + TABLE,
      () -> admin.getRegions(server.name()).contains(region));
    jumps++;
    Set<String> rows = new HashSet<>();
    try (Table table = connection().getTable(TABLE)) {
      for (int i = 0; i < ROWS; i++) {
        if (i == ROWS / 2) {
          admin.flushRegion(region.getRegionName());
        }
        // Both families have rows in the file and in the memstore.
        byte[] family = i % 2 == 0 ? TTL_OF_FAMILY : TTL_OF_CELLS;
        Put put = new Put(Bytes.toBytes(i)).addColumn(family, family, Bytes.toBytes(jumps));
        if (family == TTL_OF_CELLS) {
          put.setTTL(TTL.toMillis());
        }
        table.put(put);
        rows.add(row(i, jumps));
      }
    }
    return rows;
  }

  private Connection connection() {
    return cluster.admin().getConnection();
  }

  private void assertRead(String when, Cluster.Server server, Set<String> expected)
    throws IOException {
    List<Get> gets = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      gets.add(new Get(Bytes.toBytes(i)));
    }
    try (Table table = connection().getTable(TABLE)) {
      for (int i = 0; i < READS; i++) {
        List<Result> got = new ArrayList<>();
        for (Get get : gets) {
          got.add(table.get(get));
        }
        assertEquals("gets of " + server + ", " + when, expected, rows(got));
        assertEquals("a multiget of " + server + ", " + when, expected,
          rows(List.of(table.get(gets))));
        List<Result> scanned = new ArrayList<>();
        try (ResultScanner scanner = table.getScanner(new Scan())) {
          scanner.forEach(scanned::add);
        }
        assertEquals("a scan of " + server + ", " + when, expected, rows(scanned));
      }
    }
  }

  private static Set<String> rows(List<Result> results) {
    return results.stream().filter(result -> !result.isEmpty())
      .map(result -> row(Bytes.toInt(result.getRow()), Bytes.toInt(result.value())))
      .collect(Collectors.toSet());
  }

  private static String row(int number, int jump) {
    return number + " of jump " + jump;
  }
}
