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
package org.apache.hadoop.hbase.regionserver;

import static org.apache.hadoop.hbase.regionserver.HookEffects.A;
import static org.apache.hadoop.hbase.regionserver.HookEffects.COUNTER;
import static org.apache.hadoop.hbase.regionserver.HookEffects.COUNTERS;
import static org.apache.hadoop.hbase.regionserver.HookEffects.DROPPED;
import static org.apache.hadoop.hbase.regionserver.HookEffects.FAMILY;
import static org.apache.hadoop.hbase.regionserver.HookEffects.SECRET;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.BinaryComparator;
import org.apache.hadoop.hbase.filter.RowFilter;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.util.Bytes;

/** What a client does with some rows of a region, and what it sees of each operation. */
final class HookWorkload {
  private static final byte[] B = Bytes.toBytes("b");
  private static final byte[] E = Bytes.toBytes("e");
  private static final int AT_ONCE = 8;

  private final String prefix;
  private final HRegion region;
  private final Table table;
  private final AsyncTable<?> async;
  private final List<String> seen = new ArrayList<>();

  /** @param prefix of its rows, which no other one has */
  HookWorkload(Connection connection, AsyncConnection async, TableName name, HRegion region,
    String prefix) throws IOException {
    this.prefix = prefix;
    this.region = region;
    this.table = connection.getTable(name);
    this.async = async.getTable(name);
  }

  private byte[] row(int row) {
    return Bytes.toBytes(prefix + row);
  }

  private void see(String operation, Callable<?> work) {
    String outcome;
    try {
      outcome = text(work.call());
    } catch (Exception e) {
      outcome = failure(e);
    }
    seen.add(operation + ": " + outcome);
  }

  private static String failure(Throwable thrown) {
    Throwable cause = thrown;
    while (cause.getCause() != null || cause instanceof RetriesExhaustedWithDetailsException) {
      cause = cause instanceof RetriesExhaustedWithDetailsException
        ? ((RetriesExhaustedWithDetailsException) cause).getCause(0)
        : cause.getCause();
    }
    return cause.getClass().getSimpleName();
  }

  private String text(Object outcome) {
    if (outcome instanceof Object[]) {
      outcome = Arrays.asList((Object[]) outcome);
    }
    if (outcome instanceof List) {
      List<String> texts = new ArrayList<>();
      ((List<?>) outcome).forEach(each -> texts.add(text(each)));
      return texts.toString();
    }
    if (!(outcome instanceof Result)) {
      return outcome instanceof Throwable ? failure((Throwable) outcome) : String.valueOf(outcome);
    }
    Result result = (Result) outcome;
    if (result.getExists() != null) {
      return result.getExists().toString();
    }
    StringBuilder cells = new StringBuilder();
    for (Cell cell : result.isEmpty() ? new Cell[0] : result.rawCells()) {
      cells.append(Bytes.toString(CellUtil.cloneRow(cell)).substring(1)).append('/')
        .append(Bytes.toString(CellUtil.cloneQualifier(cell))).append('=')
        .append(Bytes.toStringBinary(CellUtil.cloneValue(cell))).append(' ');
    }
    return cells.toString();
  }

  private Get get(int row) {
    return new Get(row(row)).addFamily(FAMILY);
  }

  private Put put(int row) {
    return new Put(row(row)).addColumn(FAMILY, A, 100, E);
  }

  /** Writes some rows, to memstore and files, and reads them often enough to be cached. */
  void prepare() throws IOException {
    for (int row = 1; row <= 3; row++) {
      Put put = new Put(row(row));
      for (byte[] column : new byte[][] { A, B, DROPPED, SECRET }) {
        for (long time = 1; time <= 3; time++) {
          put.addColumn(FAMILY, column, time, Bytes.toBytes("v" + time));
        }
      }
      table.put(put.addColumn(FAMILY, COUNTER, 1, Bytes.toBytes(5L)));
    }
    region.flush(true);
    table.put(new Put(row(1)).addColumn(FAMILY, B, 4, Bytes.toBytes("v4")));
    for (int i = 0; i < 3; i++) {
      table.get(get(1));
      table.get(get(2));
    }
  }

  /**
   * Does all operations.
   * @param files whether to do reads again when the files have been written anew
   */
  void run(boolean files) {
    reads();
    writes();
    writesThatRead();
    if (files) {
      seen.add("flushed and compacted: " + flushAndCompact());
      reads();
    }
  }

  /** Returns what was seen. */
  List<String> seen() {
    return seen;
  }

  void reads() {
    for (int i = 0; i < 3; i++) {
      see("get", () -> table.get(get(1)));
      see("get of columns",
        () -> table.get(new Get(row(1)).addColumn(FAMILY, A).addColumn(FAMILY, SECRET)));
    }
    see("get of versions", () -> table.get(get(1).readAllVersions()));
    see("exists", () -> table.exists(get(2)));
    see("exists not", () -> table.exists(get(9)));
    see("multiget", () -> {
      List<Get> gets = new ArrayList<>();
      for (int row = 0; row < 12; row++) {
        gets.add(get(row % 6));
      }
      return table.get(gets);
    });
    see("exist", () -> Arrays.toString(table.exists(Arrays.asList(get(1), get(9)))));
    see("scan", () -> scan(new Scan()));
    see("scan of versions", () -> scan(new Scan().readAllVersions()));
    see("scan of other rows", () -> scan(new Scan()
      .setFilter(new RowFilter(CompareOperator.NOT_EQUAL, new BinaryComparator(row(2))))));
  }

  private List<Result> scan(Scan scan) throws IOException {
    List<Result> rows = new ArrayList<>();
    scan.addFamily(FAMILY).setStartStopRowForPrefixScan(Bytes.toBytes(prefix));
    try (ResultScanner scanner = table.getScanner(scan)) {
      scanner.forEach(rows::add);
    }
    return rows;
  }

  private void writes() {
    see("put", () -> {
      table.put(put(4));
      return "";
    });
    see("get of put", () -> table.get(get(4)));
    see("puts at once", () -> {
      List<CompletableFuture<?>> puts = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        puts.add(async.put(put(20 + i)));
      }
      return outcomes(puts);
    });
    see("batch", () -> {
      List<Row> batch = Arrays.asList(put(5), put(6), new Delete(row(2)).addColumns(FAMILY, A),
        get(1), new Increment(row(6)).addColumn(FAMILY, COUNTER, 2), get(3));
      Object[] results = new Object[batch.size()];
      try {
        table.batch(batch, results);
      } catch (RetriesExhaustedWithDetailsException e) {
        // What failed is in the results.
        seen.add("batch failed");
      }
      return results;
    });
    see("puts", () -> {
      table.put(Arrays.asList(put(7), put(8)));
      return "";
    });
    see("delete of a column", () -> {
      table.delete(new Delete(row(7)).addColumns(FAMILY, A));
      return "";
    });
    see("delete of a row", () -> {
      table.delete(new Delete(row(8)));
      return "";
    });
    see("row mutations", () -> table.mutateRow(RowMutations.of(Arrays.<Mutation> asList(put(10),
      new Delete(row(10)).addColumns(FAMILY, B)))));
    see("scan of what was written", () -> scan(new Scan()));
  }

  private List<Object> outcomes(List<CompletableFuture<?>> calls) {
    List<Object> outcomes = new ArrayList<>();
    for (CompletableFuture<?> call : calls) {
      outcomes.add(call.handle((result, thrown) -> thrown == null ? result : thrown).join());
    }
    return outcomes;
  }

  private void writesThatRead() {
    for (int i = 0; i < 2; i++) {
      see("increment", () -> table.increment(new Increment(row(1)).addColumn(FAMILY, COUNTER, 1)));
    }
    see("increments at once", () -> {
      List<CompletableFuture<?>> calls = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        calls.add(async.increment(new Increment(row(3)).addColumn(COUNTERS, COUNTER, 1)));
      }
      List<String> texts = new ArrayList<>();
      outcomes(calls).forEach(outcome -> texts.add(text(outcome)));
      // The results are sorted into the order in which the increments were applied.
      Collections.sort(texts);
      return texts;
    });
    see("append", () -> table.append(new Append(row(1)).addColumn(FAMILY, B, E)));
    see("check and put", () -> table.checkAndMutate(CheckAndMutate.newBuilder(row(1))
      .ifEquals(FAMILY, A, Bytes.toBytes("v3"))
      .build(new Put(row(1)).addColumn(FAMILY, E, 100, E)))
      .isSuccess());
    see("check and delete", () -> table.checkAndMutate(CheckAndMutate.newBuilder(row(1))
      .ifNotExists(FAMILY, SECRET).build(new Delete(row(1)).addColumns(FAMILY, E))).isSuccess());
    see("check by filter", () -> table.checkAndMutate(CheckAndMutate.newBuilder(row(1))
      .ifMatches(new SingleColumnValueFilter(FAMILY, B, CompareOperator.NOT_EQUAL, E))
      .build(new Put(row(1)).addColumn(FAMILY, E, 200, E))).isSuccess());
    see("check and delete by filter", () -> table.checkAndMutate(CheckAndMutate.newBuilder(row(2))
      .ifMatches(new SingleColumnValueFilter(FAMILY, B, CompareOperator.EQUAL, E))
      .build(new Delete(row(2)).addColumns(FAMILY, E))).isSuccess());
    see("check and increment", () -> table.checkAndMutate(CheckAndMutate.newBuilder(row(1))
      .ifEquals(FAMILY, E, E).build(new Increment(row(1)).addColumn(FAMILY, COUNTER, 1)))
      .isSuccess());
    see("delete of the newest version", () -> {
      table.delete(new Delete(row(1)).addColumn(FAMILY, A));
      return "";
    });
    see("get of the rest", () -> table.get(get(1).readAllVersions()));
    see("counter", () -> table.get(new Get(row(3)).addColumn(COUNTERS, COUNTER)));
  }

  private String flushAndCompact() {
    try {
      region.flush(true);
      region.compact(true);
      return "";
    } catch (IOException e) {
      return failure(e);
    }
  }
}
