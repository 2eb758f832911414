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

import static dev.stratum.processes.CheckedRows.LETTERS;
import static dev.stratum.processes.CheckedRows.VALUE;
import static dev.stratum.processes.CheckedRows.VERSION;
import static dev.stratum.processes.CheckedRows.versionOf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * One thread's mixed load on rows that are its own, so that it knows what each read has to give:
 * puts one by one and in batches, deletes, checkAndMutate, bulk loads, gets, multigets, scans, rows
 * that expire, and writes with ASYNC_WAL to rows that are written once; and increments of counters
 * that all threads share. What a write was, if it failed, is not known, and both outcomes are taken
 * from then on. Versions are given by the client, so that a late request cannot hide a newer one.
 * {@link LoadPhases} says when it sends what, {@link CheckedRows} what its rows are.
 * <p>
 * {@link #run} by one thread at a time; {@link #pause}, {@link #operations}, {@link #wrong} and
 * {@link #failures} by any; all else while it does not run.
 */
final class CheckedLoad {
  static final TableName TABLE = TableName.valueOf("checked");
  static final byte[] FAMILY = Bytes.toBytes("f");
  static final int COUNTERS = 3;
  /** Between them are the rows' first letters, so every thread has rows in each region. */
  static final byte[][] SPLITS = Bytes.toByteArrays(new String[] { "3", "6", "9", "b", "d" });

  private static final int BATCH = 8;
  private static final int MULTIGET = 20;
  private static final int SCAN = 15;
  private static final int FILL_BATCH = 200;
  private static final int MAX_TOLD = 10;
  /** One of so many operations of the last choice is a bulk load, which takes long. */
  private static final int BULK_LOADS_OF_CHOICE = 4;
  /** A get, a multiget, a put, an increment and a put with ASYNC_WAL, see {@link #perform}. */
  private static final int[] STORMS = { 0, 25, 41, 80, 92 };
  /** Prime to the number of letters, so that each is used. */
  private static final int LETTER_STEP = 7;

  private final Connection connection;
  private final String name;
  private final Operations.Client watched;
  private final SplittableRandom random;
  private final CheckedRows own;
  private final ExpiringRow expiring;
  private final List<long[]> asyncWrites = new ArrayList<>();
  private final CheckedCounters counters;
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private long version;
  private volatile long operations;
  private volatile boolean paused;

  private interface Request<T, E extends Exception> {
    T send() throws IOException, E;
  }

  CheckedLoad(Connection connection, String name, Operations operations, int rows, long seed) {
    this.connection = connection;
    this.name = name;
    this.watched = operations.client(name);
    this.random = new SplittableRandom(seed);
    this.own = new CheckedRows(name, rows);
    this.counters = new CheckedCounters(watched);
    this.expiring = new ExpiringRow(name, watched);
  }

  long operations() {
    return operations;
  }

  /** Sentences about reads that gave what they must not. */
  Queue<String> wrong() {
    return wrong;
  }

  /** Operations that failed in spite of the client's retries. */
  Queue<String> failures() {
    return failures;
  }

  long asyncWrites() {
    return asyncWrites.size();
  }

  /** Returns the sum of what each counter was incremented by, as acknowledged. */
  long[] incremented() {
    return counters.incremented();
  }

  void pause() {
    paused = true;
  }

  void fill() throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      for (int from = 0; from < own.count(); from += FILL_BATCH) {
        List<Put> puts = new ArrayList<>();
        int to = Math.min(own.count(), from + FILL_BATCH);
        for (int row = from; row < to; row++) {
          puts.add(own.put(row, 1));
        }
        table.put(puts);
        for (int row = from; row < to; row++) {
          own.acknowledge(row, 1);
        }
      }
    }
    version = 1;
  }

  void run(boolean isClockAhead) {
    paused = false;
    expiring.reset(isClockAhead);
    try (Table table = connection.getTable(TABLE)) {
      while (!paused) {
        LoadPhases.await();
        long tick = LoadPhases.tick();
        if (LoadPhases.isStorm()) {
          perform(table, STORMS[(int) (LoadPhases.cycle(tick) % STORMS.length)]);
        } else if (LoadPhases.isDue(tick, name.hashCode())) {
          perform(table, random.nextInt(100));
        } else {
          continue;
        }
        operations++;
      }
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
      tell(failures, "a thread of the load has ended: " + e);
    }
  }

  private void perform(Table table, int choice) {
    if (choice < 25) {
      get(table);
    } else if (choice < 35) {
      multiget(table);
    } else if (choice < 41) {
      scan(table);
    } else if (choice < 60) {
      write(List.of(randomRow()), table);
    } else if (choice < 68) {
      Set<Integer> rows = new HashSet<>();
      for (int i = 0; i < BATCH; i++) {
        rows.add(randomRow());
      }
      write(new ArrayList<>(rows), table);
    } else if (choice < 72) {
      delete(table);
    } else if (choice < 80) {
      checkAndPut(table);
    } else if (choice < 92) {
      increment(table);
    } else if (choice < 96) {
      writeAsync(table);
    } else if (choice < 99 || random.nextInt(BULK_LOADS_OF_CHOICE) > 0) {
      useExpiring(table);
    } else {
      bulkLoad();
    }
  }

  private int randomRow() {
    int row = random.nextInt(own.count());
    long tick = LoadPhases.tick();
    boolean isStorm = LoadPhases.isStorm();
    if (!isStorm && tick % 2 == 0) {
      return row;
    }
    long turn = isStorm ? LoadPhases.cycle(tick) : tick;
    int sameLetter = row - row % LETTERS + (int) (turn * LETTER_STEP % LETTERS);
    return sameLetter < own.count() ? sameLetter : sameLetter - LETTERS;
  }

  private <T, E extends Exception> T send(Object what, Request<T, E> request)
    throws IOException, E {
    watched.begin(what);
    try {
      return request.send();
    } finally {
      watched.end();
    }
  }

  private byte[] asyncKey(int number) {
    return Bytes.toBytes(String.format("%x-%s-async-%07d", number % LETTERS, name, number));
  }

  private void write(List<Integer> rows, Table table) {
    long written = ++version;
    try {
      if (rows.size() == 1) {
        put(own.put(rows.get(0), written), table);
      } else {
        List<Row> puts = new ArrayList<>();
        rows.forEach(row -> puts.add(own.put(row, written)));
        Object[] results = new Object[puts.size()];
        send(puts, () -> {
          table.batch(puts, results);
          return null;
        });
      }
      rows.forEach(row -> own.acknowledge(row, written));
    } catch (IOException | InterruptedException e) {
      rows.forEach(row -> own.mayBe(row, written));
      tell(failures, "put: " + e);
    }
  }

  private void put(Put put, Table table) throws IOException {
    send(put, () -> {
      table.put(put);
      return null;
    });
  }

  private Result get(byte[] key, Table table) throws IOException {
    Get get = new Get(key);
    return send(get, () -> table.get(get));
  }

  private void delete(Table table) {
    int row = randomRow();
    long deleted = ++version;
    Delete delete = new Delete(own.key(row), deleted);
    try {
      send(delete, () -> {
        table.delete(delete);
        return null;
      });
      own.acknowledge(row, -deleted);
    } catch (IOException e) {
      own.mayBe(row, -deleted);
      tell(failures, "delete: " + e);
    }
  }

  private void checkAndPut(Table table) {
    int row = randomRow();
    if (own.isUncertain(row)) {
      write(List.of(row), table);
      return;
    }
    long written = ++version;
    CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(own.key(row));
    if (own.acknowledged(row) > 0) {
      builder.ifEquals(FAMILY, VERSION, Bytes.toBytes(own.acknowledged(row)));
    } else {
      builder.ifNotExists(FAMILY, VERSION);
    }
    try {
      CheckAndMutate check = builder.build(own.put(row, written));
      boolean done = send(check, () -> table.checkAndMutate(check)).isSuccess();
      if (done) {
        own.acknowledge(row, written);
      } else {
        // If the client has repeated a request that had succeeded, it reports a failed check,
        // although the new version is stored. Otherwise the row was not what it had to be.
        long found = versionOf(get(own.key(row), table));
        if (found != written) {
          tell(wrong,
            "checkAndMutate of " + own.describe(row) + " was refused, and found " + found);
        }
        own.acknowledge(row, written);
      }
    } catch (IOException e) {
      own.mayBe(row, written);
      tell(failures, "checkAndMutate: " + e);
    }
  }

  private void increment(Table table) {
    int counter = LoadPhases.isStorm()
      ? (int) (LoadPhases.cycle(LoadPhases.tick()) % COUNTERS)
      : random.nextInt(COUNTERS);
    try {
      tellIfWrong(counters.increment(counter, 1 + random.nextInt(3), table));
    } catch (IOException e) {
      tell(failures, "increment: " + e);
    }
  }

  private void writeAsync(Table table) {
    int number = asyncWrites.size();
    long sent = System.nanoTime();
    try {
      put(new Put(asyncKey(number)).addColumn(FAMILY, VALUE, own.value(number, 0))
        .setDurability(Durability.ASYNC_WAL), table);
      asyncWrites.add(new long[] { sent, System.nanoTime() });
    } catch (IOException e) {
      tell(failures, "put with ASYNC_WAL: " + e);
    }
  }

  private void useExpiring(Table table) {
    try {
      tellIfWrong(expiring.use(table));
    } catch (IOException e) {
      tell(failures, "row with a TTL: " + e);
    }
  }

  /** Loads files in bulk; this is not watched, as it is many requests. */
  private void bulkLoad() {
    long written = ++version;
    List<Integer> rows = own.neighbours(randomRow(), BATCH);
    try {
      RowFiles.load(connection.getConfiguration(), own, rows, written);
      rows.forEach(row -> own.acknowledge(row, written));
    } catch (IOException | InterruptedException e) {
      rows.forEach(row -> own.mayBe(row, written));
      tell(failures, "bulk load: " + e);
    }
  }

  private void get(Table table) {
    int row = randomRow();
    try {
      check(row, get(own.key(row), table), "get");
    } catch (IOException e) {
      tell(failures, "get: " + e);
    }
  }

  private void multiget(Table table) {
    List<Get> gets = new ArrayList<>();
    int[] rows = new int[MULTIGET];
    for (int i = 0; i < MULTIGET; i++) {
      rows[i] = randomRow();
      gets.add(new Get(own.key(rows[i])));
    }
    try {
      Result[] results = get(gets, table);
      for (int i = 0; i < MULTIGET; i++) {
        check(rows[i], results[i], "multiget");
      }
    } catch (IOException e) {
      tell(failures, "multiget: " + e);
    }
  }

  private Result[] get(List<Get> gets, Table table) throws IOException {
    return send(gets, () -> table.get(gets));
  }

  private void scan(Table table) {
    int first = randomRow();
    try {
      scan(table, first, first + SCAN * LETTERS);
    } catch (IOException e) {
      tell(failures, "scan: " + e);
    }
  }

  /** Reads the rows of one letter; returns how many there are. */
  private long scan(Table table, int first, int end) throws IOException {
    Map<Integer, Result> found = new HashMap<>();
    // ':' follows the digits.
    byte[] stop = end < own.count()
      ? own.key(end)
      : Bytes.toBytes(String.format("%x-%s-:", first % LETTERS, name));
    Scan scan = new Scan().withStartRow(own.key(first)).withStopRow(stop);
    for (Result result : send(scan, () -> results(table, scan))) {
      String key = Bytes.toString(result.getRow());
      int row = Integer.parseInt(key.substring(key.lastIndexOf('-') + 1));
      if (found.put(row, result) != null) {
        tell(wrong, "a scan gave " + own.describe(row) + " twice");
      }
    }
    long count = found.size();
    for (int row = first; row < Math.min(end, own.count()); row += LETTERS) {
      Result result = found.remove(row);
      check(row, result == null ? Result.EMPTY_RESULT : result, "scan");
    }
    if (!found.isEmpty()) {
      tell(wrong, "a scan gave rows that are not in it: " + found.keySet());
    }
    return count;
  }

  private static List<Result> results(Table table, Scan scan) throws IOException {
    List<Result> results = new ArrayList<>();
    try (ResultScanner scanner = table.getScanner(scan)) {
      scanner.forEach(results::add);
    }
    return results;
  }

  private void check(int row, Result result, String what) {
    long found = versionOf(result);
    if (!own.mayHave(row, found)) {
      tell(wrong, what + " of " + own.describe(row) + " gave version " + found);
    } else if (found > 0 && !Arrays.equals(result.getValue(FAMILY, VALUE), own.value(row, found))) {
      tell(wrong, what + " of " + own.describe(row) + " gave another value");
    }
  }

  private void tellIfWrong(String sentence) {
    if (sentence != null) {
      tell(wrong, sentence);
    }
  }

  private static void tell(Queue<String> list, String sentence) {
    if (list.size() < MAX_TOLD) {
      list.add(sentence);
    }
  }

  /** Reads all rows; what is wrong is told of as that of any other read. */
  long verify() throws IOException {
    long count = 0;
    try (Table table = connection.getTable(TABLE)) {
      for (int letter = 0; letter < LETTERS; letter++) {
        count += scan(table, letter, own.count());
      }
    }
    return count;
  }

  /**
   * Looks for all writes with ASYNC_WAL.
   * @return how many of them are lost, as they may
   */
  long verifyAsync(List<LossPeriod> periods) throws IOException {
    long lost = 0;
    try (Table table = connection.getTable(TABLE)) {
      for (int from = 0; from < asyncWrites.size(); from += FILL_BATCH) {
        List<Get> gets = new ArrayList<>();
        for (int i = from; i < Math.min(asyncWrites.size(), from + FILL_BATCH); i++) {
          gets.add(new Get(asyncKey(i)));
        }
        Result[] results = get(gets, table);
        for (int i = 0; i < results.length; i++) {
          int number = from + i;
          long[] times = asyncWrites.get(number);
          if (results[i].isEmpty()) {
            lost++;
            if (periods.stream().noneMatch(period -> period.mayLose(times[0], times[1]))) {
              tell(wrong, "lost: " + Bytes.toString(asyncKey(number)) + ", acknowledged at "
                + times[1] + ", in none of " + periods);
            }
          } else if (!Arrays.equals(results[i].getValue(FAMILY, VALUE), own.value(number, 0))) {
            tell(wrong, "another value in " + Bytes.toString(asyncKey(number)));
          }
        }
      }
    }
    return lost;
  }

  /** Reads the counters. */
  long[] counters() throws IOException {
    try (Table table = connection.getTable(TABLE)) {
      return counters.read(table);
    }
  }
}
