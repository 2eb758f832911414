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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.regionserver.WriteHistory.Client;
import org.apache.hadoop.hbase.regionserver.WriteHistory.Operation;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdge;
import org.apache.hadoop.hbase.wal.WAL;

/**
 * Executes the operations of a history in a separate region: one after the other, in the order and
 * at the times of the WAL. Fails if
 * <ul>
 * <li>a result differs from the result that the client has got;
 * <li>the WAL has the operations of a client in another order than the client has sent them;
 * <li>a read fits no state of its row between the client's operations before and after it. Failed
 * checks, refused increments, and the search for the newest version, to delete it, are reads.
 * </ul>
 * The states are those after each edit, as the cells of an edit become visible together.
 */
final class SerialWrites implements EnvironmentEdge {

  /** What a client has done in a region: a read, or a call's writes, which may be in any edits. */
  private static final class Step {
    private final Operation read;
    private final List<Operation> writes;

    private Step(Operation read, List<Operation> writes) {
      this.read = read;
      this.writes = writes;
    }
  }

  private final HRegion region;
  private final WriteHistory history;
  /** Steps of each client in each region. */
  private final Map<String, Deque<Step>> steps = new HashMap<>();
  /** The position of each client's last write. */
  private final Map<Client, Integer> last = new HashMap<>();
  private final Map<Long, Operation> missing;
  /** The keys of those whose next step is a read that no state has fitted yet. */
  private final Set<String> reading = new LinkedHashSet<>();
  private final ThreadLocal<Long> time = new ThreadLocal<>();
  private int sameRow;
  private int sameKey;
  private int merged;
  private int incrementsOfRows;

  SerialWrites(HRegion region, WriteHistory history, Collection<Client> clients) {
    this.region = region;
    this.history = history;
    missing = history.writes();
    for (Client client : clients) {
      for (List<Operation> sent : client.sent) {
        Deque<Step> own = steps.computeIfAbsent(of(sent.get(0)), any -> new ArrayDeque<>());
        sent.stream().filter(each -> each.newest() != null || !each.isWrite())
          .forEach(each -> own.add(new Step(each, new ArrayList<>())));
        List<Operation> writes =
          sent.stream().filter(Operation::isWrite).collect(Collectors.toList());
        if (!writes.isEmpty()) {
          own.add(new Step(null, writes));
        }
      }
    }
  }

  /** Returns the key of its steps. Edits of different regions become visible in any order. */
  private static String of(Operation operation) {
    return operation.client + (Bytes.compareTo(operation.row(), WriteHistory.SPLIT) < 0
      ? " in the first region"
      : " in the second region");
  }

  /** Returns the time of the operation that the thread executes. */
  @Override
  public long currentTime() {
    Long own = time.get();
    return own == null ? System.currentTimeMillis() : own;
  }

  /** Returns how many edits have operations of several clients on one row. */
  int sameRow() {
    return sameRow;
  }

  /** Returns how many edits have cells of equal keys. */
  int sameKey() {
    return sameKey;
  }

  /** Returns how many edits have several increments of a row. */
  int merged() {
    return merged;
  }

  /** Returns how many edits have increments of several rows. */
  int incrementsOfRows() {
    return incrementsOfRows;
  }

  /** @param edits in the order of their WAL */
  void execute(List<WAL.Entry> edits) throws IOException {
    List<List<Operation>> operations = new ArrayList<>(edits.size());
    for (WAL.Entry edit : edits) {
      operations.add(operations(edit));
    }
    assertEquals("acknowledged, and not in the WAL", "", missing.values().stream()
      .map(Operation::toString).collect(Collectors.joining(", ")));
    try {
      read(steps.keySet(), Collections.emptySet());
      for (List<Operation> edit : operations) {
        execute(edit, edit.stream().map(SerialWrites::of).collect(Collectors.toSet()));
      }
    } finally {
      time.remove();
    }
    assertTrue("fits no state: " + reading.stream().map(each -> steps.get(each).peek().read)
      .collect(Collectors.toList()), reading.isEmpty());
  }

  private List<Operation> operations(WAL.Entry edit) {
    List<Operation> all = new ArrayList<>();
    Set<String> keys = new HashSet<>();
    long last = 0;
    long first = Long.MAX_VALUE;
    boolean equal = false;
    for (Cell cell : edit.getEdit().getCells()) {
      equal |= !keys.add(key(cell));
      first = Math.min(first, cell.getTimestamp());
      if (CellUtil.matchingFamily(cell, WriteHistory.MARKS)) {
        Operation operation = history.marked(cell);
        assertNotNull("not of the history: " + cell, operation);
        operation.now = cell.getTimestamp();
        operation.found = last;
        all.add(operation);
      }
      last = cell.getTimestamp();
    }
    if (all.isEmpty()) {
      all.addAll(history.withNonces(edit.getKey()));
      for (Operation operation : all) {
        assertNotNull("of unknown nonces: " + edit, operation);
        operation.now = first;
      }
      merged += all.size() > byRow(all).size() ? 1 : 0;
      incrementsOfRows += byRow(all).size() > 1 ? 1 : 0;
    }
    Set<String> writers = new HashSet<>();
    Set<String> rows = new HashSet<>();
    for (Operation operation : all) {
      assertTrue("twice, or not acknowledged: " + operation,
        missing.remove(operation.number, operation));
      String row = Bytes.toString(operation.row());
      rows.add(row);
      writers.add(operation.client + " " + row);
    }
    sameRow += writers.size() > rows.size() ? 1 : 0;
    sameKey += equal ? 1 : 0;
    return all;
  }

  private static Collection<List<Operation>> byRow(List<Operation> edit) {
    return edit.stream()
      .collect(Collectors.groupingBy(operation -> Bytes.toString(operation.row()))).values();
  }

  private void execute(List<Operation> edit, Set<String> clients) throws IOException {
    Set<String> rows = new HashSet<>();
    for (Operation operation : edit) {
      Step step = steps.get(of(operation)).peek();
      if (step.read != null) {
        fail(step.read + ", fits no state before " + operation + ", the last one is "
          + texts(region.get(new Get(step.read.row()).readAllVersions())));
      }
      Operation next = step.writes.stream()
        .filter(each -> Bytes.equals(each.row(), operation.row())).findFirst().orElse(null);
      assertEquals("sent before, and later in the WAL", next, operation);
      step.writes.remove(operation);
      Integer before = last.put(operation.client, operation.position);
      assertTrue("sent before: " + operation, before == null || before <= operation.position);
      rows.add(Bytes.toString(operation.row()));
    }
    if (edit.get(0).action instanceof Increment) {
      for (List<Operation> increments : byRow(edit)) {
        if (increments.size() > 1) {
          increment(increments);
        } else {
          execute(increments.get(0));
        }
      }
    } else {
      for (Operation operation : edit) {
        execute(operation);
      }
    }
    Set<String> begun = new HashSet<>();
    for (String client : clients) {
      if (steps.get(client).peek().writes.isEmpty()) {
        steps.get(client).poll();
        begun.add(client);
      }
    }
    read(begun, rows);
  }

  /** Removes the steps that have read the present state. */
  private void read(Set<String> begun, Set<String> rows) throws IOException {
    reading.addAll(begun);
    for (String client : new ArrayList<>(reading)) {
      Deque<Step> own = steps.get(client);
      boolean fits = begun.contains(client)
        || rows.contains(Bytes.toString(own.peek().read.row()));
      while (fits && !own.isEmpty() && own.peek().read != null) {
        fits = fits(own.peek().read);
        if (fits) {
          own.poll();
        }
      }
      if (own.isEmpty() || own.peek().read == null) {
        reading.remove(client);
      }
    }
  }

  /** Returns whether the present state is one that the operation can have read. */
  private boolean fits(Operation operation) throws IOException {
    Row action = operation.action;
    if (action instanceof Get) {
      return texts((Result) operation.outcome).equals(texts(region.get((Get) action)));
    }
    if (action instanceof Increment) {
      Result stored = region.get(columns((Increment) action));
      return Arrays.stream(stored.rawCells()).anyMatch(cell -> cell.getValueLength() != 8);
    }
    if (operation.isWrite()) {
      Cell deleted = operation.newest();
      Result stored = region.get(new Get(operation.row()).addColumn(CellUtil.cloneFamily(deleted),
        CellUtil.cloneQualifier(deleted)));
      return operation.found
          == (stored.isEmpty() ? operation.now : stored.rawCells()[0].getTimestamp());
    }
    return !matches((CheckAndMutate) action);
  }

  private boolean matches(CheckAndMutate check) throws IOException {
    Get get = new Get(check.getRow());
    if (check.hasFilter()) {
      return !region.get(get.setFilter(check.getFilter())).isEmpty();
    }
    byte[] stored = region.get(get.addColumn(check.getFamily(), check.getQualifier()))
      .getValue(check.getFamily(), check.getQualifier());
    return Arrays.equals(check.getValue(), stored);
  }

  private void execute(Operation operation) throws IOException {
    Row action = operation.action;
    operation.mutation().setDurability(Durability.SKIP_WAL);
    if (operation.newest() != null) {
      // Another write may have come between the search for the version and the delete.
      PrivateCellUtil.setTimestamp(operation.newest(), operation.found);
    }
    time.set(operation.now);
    Object outcome = Result.EMPTY_RESULT;
    if (action instanceof Put) {
      region.put((Put) action);
    } else if (action instanceof Delete) {
      region.delete((Delete) action);
    } else if (action instanceof Append) {
      outcome = region.append((Append) action);
    } else if (action instanceof Increment) {
      outcome = region.increment((Increment) action);
    } else {
      outcome = region.checkAndMutate((CheckAndMutate) action).isSuccess();
    }
    if (outcome instanceof Result) {
      assertEquals(operation.toString(), texts((Result) outcome),
        texts((Result) operation.outcome));
    } else if (outcome != null) {
      assertEquals(operation.toString(), outcome, operation.outcome);
    }
  }

  /**
   * Executes increments of the same columns of a row that have one edit. Their values are those of
   * one after the other; the time is that of their sum, as each would be a millisecond after the
   * one before.
   */
  private void increment(List<Operation> all) throws IOException {
    Map<String, Long> totals = new TreeMap<>();
    Get get = columns((Increment) all.get(0).action);
    for (Cell cell : region.get(get).rawCells()) {
      totals.put(column(cell), PrivateCellUtil.getValueAsLong(cell));
    }
    Increment sum = new Increment(all.get(0).row()).setDurability(Durability.SKIP_WAL);
    Map<String, Long> amounts = new HashMap<>();
    for (Operation operation : all) {
      Increment increment = (Increment) operation.action;
      assertEquals("merged with others: " + operation, get.getFamilyMap(),
        columns(increment).getFamilyMap());
      Map<String, Long> returned = new TreeMap<>();
      for (Cell cell : increment.getFamilyCellMap().get(WriteHistory.LATEST)) {
        long amount = PrivateCellUtil.getValueAsLong(cell);
        amounts.merge(column(cell), amount, Long::sum);
        returned.put(column(cell), totals.merge(column(cell), amount, Long::sum));
      }
      Map<String, Long> outcome = new TreeMap<>();
      for (Cell cell : ((Result) operation.outcome).rawCells()) {
        outcome.put(column(cell), PrivateCellUtil.getValueAsLong(cell));
      }
      assertEquals(operation.toString(),
        increment.isReturnResults() ? returned : Collections.emptyMap(), outcome);
    }
    amounts.forEach((column, amount) -> sum.addColumn(WriteHistory.LATEST, Bytes.toBytes(column),
      amount));
    time.set(all.get(0).now);
    region.increment(sum);
  }

  private static String column(Cell cell) {
    return Bytes.toString(CellUtil.cloneQualifier(cell));
  }

  private static Get columns(Increment increment) {
    Get get = new Get(increment.getRow());
    increment.getFamilyCellMap().forEach((family, cells) -> cells
      .forEach(cell -> get.addColumn(family, CellUtil.cloneQualifier(cell))));
    return get;
  }

  /** Returns what a client sees of the cells. */
  static List<String> texts(Result result) {
    return result == null || result.isEmpty()
      ? Collections.emptyList()
      : result.listCells().stream().map(SerialWrites::text).collect(Collectors.toList());
  }

  static String text(Cell cell) {
    return key(cell) + "=" + Bytes.toStringBinary(CellUtil.cloneValue(cell));
  }

  private static String key(Cell cell) {
    return String.join("/", Bytes.toString(CellUtil.cloneRow(cell)),
      Bytes.toString(CellUtil.cloneFamily(cell)),
      Bytes.toStringBinary(CellUtil.cloneQualifier(cell)), cell.getTimestamp() + "",
      cell.getType().toString());
  }
}
