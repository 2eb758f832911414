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

import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.NonceGenerator;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.regionserver.write.GroupAppend;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WALKey;

/**
 * Random operations of clients on a few rows that all clients write, with their results. Each write
 * can be recognized in the WAL: a put or delete has a column of {@link #MARKS} that is named by the
 * number of the operation, the delete of a row has a timestamp of its own, and the number is the
 * nonce of an increment or append. Cells have the server's timestamps, or some near them.
 * Thread-safe.
 */
final class WriteHistory implements NonceGenerator {
  /** A family that keeps all versions. */
  static final byte[] VERSIONS = Bytes.toBytes("f");
  /** A family that keeps one version, so that increments are merged. */
  static final byte[] LATEST = Bytes.toBytes("g");
  static final byte[] MARKS = Bytes.toBytes("m");
  /** The first row of the second region. */
  static final byte[] SPLIT = Bytes.toBytes("r4");
  private static final int ROWS_OF_A_REGION = 4;
  private static final byte[][] TEXTS = { Bytes.toBytes("a"), Bytes.toBytes("b") };
  private static final byte[][] NUMBERS = { Bytes.toBytes("n"), Bytes.toBytes("o") };
  private static final int MAX_BATCH = 6;
  /** The number of operations after which clients change what they send. */
  private static final int PHASE = 500;
  /** The distance of an explicit timestamp from now, in ms. */
  private static final int DISTANCE = 2;

  /** An operation, its result, and what the WAL says about it. */
  static final class Operation {
    final long number;
    final Client client;
    /** Its position, or that of its batch, in what the client has sent. */
    final int position;
    final Row action;
    /** A Result, whether a check succeeded, or null if the operation was refused. */
    Object outcome;
    /** The server's time when it executed the operation. */
    long now;
    /** The timestamp of the deleted version, if the operation deletes the newest of a column. */
    long found;

    private Operation(long number, Client client, Row action) {
      this.number = number;
      this.client = client;
      this.position = client.sent.size();
      this.action = action;
    }

    byte[] row() {
      return action.getRow();
    }

    boolean isWrite() {
      return !(action instanceof Get) && outcome != null && outcome != Boolean.FALSE;
    }

    /** Returns the mutation, also one with a condition; null if there is none. */
    Mutation mutation() {
      Row own = action instanceof CheckAndMutate ? ((CheckAndMutate) action).getAction() : action;
      return own instanceof Mutation ? (Mutation) own : null;
    }

    /** Returns the cell that deletes the newest version of a column, or null. */
    Cell newest() {
      Mutation mutation = mutation();
      List<Cell> cells = mutation instanceof Delete
        ? mutation.getFamilyCellMap().getOrDefault(VERSIONS, Collections.emptyList())
        : Collections.emptyList();
      Cell first = cells.isEmpty() ? null : cells.get(0);
      boolean newest = first != null && first.getType() == Cell.Type.Delete
        && first.getTimestamp() == HConstants.LATEST_TIMESTAMP;
      return newest ? first : null;
    }

    @Override
    public String toString() {
      return "operation " + number + " of " + client + ", " + action + ", which returned "
        + outcome;
    }
  }

  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong rowDeletes = new AtomicLong();
  private final Map<Long, Operation> operations = new ConcurrentHashMap<>();
  private final Map<Long, Operation> byTimestamp = new ConcurrentHashMap<>();
  private final ThreadLocal<Long> nonce = new ThreadLocal<>();
  private final AtomicLong otherNonces = new AtomicLong(Long.MIN_VALUE);
  /** No other client of the server has it. */
  private final long nonceGroup = ThreadLocalRandom.current().nextLong();

  @Override
  public long getNonceGroup() {
    return nonceGroup;
  }

  @Override
  public long newNonce() {
    Long own = nonce.get();
    return own == null ? otherNonces.incrementAndGet() : own;
  }

  /** Returns the writes, by their numbers. */
  Map<Long, Operation> writes() {
    Map<Long, Operation> writes = new HashMap<>(operations);
    writes.values().removeIf(operation -> !operation.isWrite());
    return writes;
  }

  /** Returns the write that has left a cell in {@link #MARKS}. */
  Operation marked(Cell cell) {
    return cell.getType() == Cell.Type.DeleteFamily
      ? byTimestamp.get(cell.getTimestamp())
      : operations.get(Bytes.toLong(CellUtil.cloneQualifier(cell)));
  }

  /** Returns the increments or the append of an edit, in order. */
  List<Operation> withNonces(WALKey key) {
    List<Operation> all = new ArrayList<>();
    byte[] others = key.getExtendedAttribute(GroupAppend.ATTRIBUTE);
    ByteBuffer pairs = ByteBuffer.allocate(2 * Long.BYTES + (others == null ? 0 : others.length));
    pairs.putLong(key.getNonceGroup()).putLong(key.getNonce());
    pairs.put(others == null ? HConstants.EMPTY_BYTE_ARRAY : others).flip();
    while (pairs.hasRemaining()) {
      all.add(pairs.getLong() == nonceGroup ? operations.get(pairs.getLong()) : null);
    }
    return all;
  }

  /** A client, and what it has sent, in order: each time an operation or a batch. */
  final class Client implements Callable<Void> {
    final List<List<Operation>> sent = new ArrayList<>();
    private final Table table;
    private final int number;
    private final int count;
    private final Random random;
    /** One of the cells that were read last. */
    private Cell read;

    /** @param count number of operations to send */
    Client(Table table, int number, int count, long seed) {
      this.table = table;
      this.number = number;
      this.count = count;
      this.random = new Random(seed + number);
    }

    @Override
    public String toString() {
      return "client " + number;
    }

    @Override
    public Void call() throws Exception {
      for (int written = 0; written < count;) {
        int kind = kind();
        if (kind < 4) {
          sendBatch();
        } else {
          long next = numbers.incrementAndGet();
          byte[] row = row(random.nextInt(2 * ROWS_OF_A_REGION));
          Operation operation = new Operation(next, this, action(kind, next, row));
          add(Collections.singletonList(operation));
          send(operation);
        }
        written += sent.get(sent.size() - 1).size();
      }
      return null;
    }

    /** Most of the time no client sends operations that own a row, so that groups are large. */
    private int kind() {
      boolean locks = numbers.get() / PHASE % 3 == 0;
      int kind = random.nextInt(20);
      return locks || kind >= 18 ? kind : kind % 9;
    }

    private Row action(int kind, long next, byte[] row) throws IOException {
      if (kind < 9) {
        return mutation(next, row, random.nextInt(4) == 0).setDurability(durability());
      }
      if (kind < 14) {
        return increment(row).setDurability(durability());
      }
      if (kind < 16) {
        return new Append(row).addColumn(family(), text(), Bytes.toBytes("+" + next))
          .setDurability(durability());
      }
      return kind < 18
        ? checkAndMutate(next, row)
        : new Get(row).addFamily(VERSIONS).addFamily(LATEST).readVersions(3);
    }

    private Durability durability() {
      Durability[] seldom = { Durability.ASYNC_WAL, Durability.FSYNC_WAL };
      int which = random.nextInt(20);
      return which < seldom.length ? seldom[which] : Durability.SYNC_WAL;
    }

    private byte[] row(int which) {
      return Bytes.toBytes("r" + which);
    }

    private byte[] family() {
      return random.nextBoolean() ? VERSIONS : LATEST;
    }

    private byte[] text() {
      return TEXTS[random.nextInt(TEXTS.length)];
    }

    private byte[] number() {
      return NUMBERS[random.nextInt(NUMBERS.length)];
    }

    private long now() {
      return System.currentTimeMillis() - DISTANCE + random.nextInt(2 * DISTANCE + 1);
    }

    private Mutation mutation(long next, byte[] row, boolean newest) {
      return random.nextInt(5) < 3 ? put(next, row) : delete(next, row, newest);
    }

    private Put put(long next, byte[] row) {
      Put put = new Put(row);
      for (int i = 0, cells = 1 + random.nextInt(3); i < cells; i++) {
        long timestamp = random.nextBoolean() ? HConstants.LATEST_TIMESTAMP : now();
        if (random.nextInt(3) > 0) {
          put.addColumn(family(), text(), timestamp, Bytes.toBytes(next + "." + i));
        } else {
          // Some values are no numbers, so that increments are refused.
          put.addColumn(family(), number(), timestamp, random.nextInt(20) == 0
            ? Bytes.toBytes(next + ".")
            : Bytes.toBytes(1_000_000 * next));
        }
      }
      return put.addColumn(MARKS, Bytes.toBytes(next), HConstants.EMPTY_BYTE_ARRAY);
    }

    /**
     * Never makes an older version visible in the family that keeps one: HBase does not specify
     * when older versions are removed.
     */
    private Delete delete(long next, byte[] row, boolean newest) {
      Delete delete = new Delete(row);
      byte[] column = random.nextInt(3) > 0 ? text() : number();
      long timestamp = random.nextBoolean() ? HConstants.LATEST_TIMESTAMP : now();
      switch (random.nextInt(newest ? 8 : 6)) {
        case 0:
          // The delete is of the whole row, so it has no column that could be its mark.
          long own = now();
          return delete.setTimestamp(rowDeletes.updateAndGet(last -> Math.max(last + 1, own)));
        case 1:
          delete.addFamily(family(), timestamp);
          break;
        case 2:
          delete.addFamilyVersion(VERSIONS, timestamp);
          break;
        case 3:
        case 4:
          delete.addColumns(family(), column, timestamp);
          break;
        case 5:
          delete.addColumn(VERSIONS, column, now());
          break;
        default:
          delete.addColumn(VERSIONS, column);
      }
      return delete.addColumns(MARKS, Bytes.toBytes(next));
    }

    private Increment increment(byte[] row) {
      byte[] family = random.nextInt(5) == 0 ? VERSIONS : LATEST;
      Increment increment =
        new Increment(row).addColumn(family, NUMBERS[0], random.nextInt(1000) - 300);
      if (random.nextInt(4) == 0) {
        increment.addColumn(family, NUMBERS[1], random.nextInt(1000));
      }
      return increment.setReturnResults(random.nextInt(10) > 0);
    }

    private CheckAndMutate checkAndMutate(long next, byte[] row) throws IOException {
      Mutation mutation = mutation(next, row, true).setDurability(durability());
      boolean hasRead = read != null && CellUtil.matchingRows(read, row);
      CheckAndMutate.Builder check = CheckAndMutate.newBuilder(row);
      if (hasRead && random.nextInt(3) > 0) {
        check.ifEquals(CellUtil.cloneFamily(read), CellUtil.cloneQualifier(read),
          CellUtil.cloneValue(read));
      } else if (random.nextBoolean()) {
        check.ifNotExists(family(), text());
      } else {
        check.ifMatches(new SingleColumnValueFilter(family(), text(), CompareOperator.LESS,
          Bytes.toBytes("5")));
      }
      return mutation instanceof Put ? check.build((Put) mutation) : check.build((Delete) mutation);
    }

    private void add(List<Operation> all) {
      sent.add(all);
      for (Operation operation : all) {
        operations.put(operation.number, operation);
        Mutation mutation = operation.mutation();
        if (mutation instanceof Delete && mutation.getFamilyCellMap().isEmpty()) {
          byTimestamp.put(mutation.getTimestamp(), operation);
        }
      }
    }

    private void send(Operation operation) throws IOException {
      Row action = operation.action;
      nonce.set(operation.number);
      operation.outcome = Result.EMPTY_RESULT;
      if (action instanceof Put) {
        table.put((Put) action);
      } else if (action instanceof Delete) {
        table.delete((Delete) action);
      } else if (action instanceof Append) {
        operation.outcome = table.append((Append) action);
      } else if (action instanceof CheckAndMutate) {
        operation.outcome = table.checkAndMutate((CheckAndMutate) action).isSuccess();
      } else if (action instanceof Get) {
        Result result = table.get((Get) action);
        operation.outcome = result;
        read = result.isEmpty() ? null : result.rawCells()[random.nextInt(result.size())];
      } else {
        try {
          operation.outcome = table.increment((Increment) action);
        } catch (DoNotRetryIOException e) {
          assertTrue(e.toString(), e.getMessage().contains("not a long"));
          operation.outcome = null;
        }
      }
    }

    /** Sends puts and deletes of rows of one region, some rows twice. */
    private void sendBatch() throws Exception {
      int region = random.nextInt(2) * ROWS_OF_A_REGION;
      List<Integer> rows = new ArrayList<>();
      for (int i = 0; i < MAX_BATCH; i++) {
        rows.add(region + random.nextInt(ROWS_OF_A_REGION));
      }
      // The region searches for the newest version before it applies the batch.
      boolean newest = random.nextInt(4) == 0;
      if (newest) {
        rows = rows.stream().distinct().collect(Collectors.toList());
      }
      List<Operation> batch = new ArrayList<>();
      Durability durability = durability();
      for (int row : rows.subList(0, 1 + random.nextInt(rows.size()))) {
        long next = numbers.incrementAndGet();
        batch.add(new Operation(next, this,
          mutation(next, row(row), newest).setDurability(durability)));
      }
      add(batch);
      Object[] results = new Object[batch.size()];
      table.batch(batch.stream().map(each -> each.action).collect(Collectors.toList()), results);
      for (int i = 0; i < results.length; i++) {
        batch.get(i).outcome = results[i];
      }
    }
  }
}
