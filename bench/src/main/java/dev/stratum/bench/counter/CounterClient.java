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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** A client that updates counters by any {@link UpdateMethod}. For one thread. */
final class CounterClient implements Closeable {
  private static final byte[][] COLUMNS = new byte[5][];

  static {
    for (int i = 0; i < COLUMNS.length; i++) {
      COLUMNS[i] = Bytes.toBytes("c" + i);
    }
  }

  /** What is counted in; the others are only there to be incremented too. */
  static final byte[] COUNTER = COLUMNS[0];

  private static final byte[] NOTHING = Bytes.toBytes("none");

  private final Table table;
  private final CounterKeys keys;
  private final Durability durability;

  CounterClient(Table table, CounterKeys keys, Durability durability) {
    this.table = table;
    this.keys = keys;
    this.durability = durability;
  }

  /** Returns something that depends on the answer. */
  long update(UpdateMethod method) throws IOException {
    switch (method) {
      case INCREMENT:
        return table.increment(increment(1)).size();
      case INCREMENT_FIVE_COLUMNS:
        return table.increment(increment(COLUMNS.length)).size();
      case INCREMENT_BATCH:
        return batch();
      case READ_MODIFY_WRITE:
        byte[] row = keys.draw();
        long old = number(read(row, COUNTER));
        table.put(put(row, old + 1));
        return old;
      case CHECK_AND_PUT:
        return checkAndPut(keys.draw());
      default:
        return number(read(keys.draw(), NOTHING));
    }
  }

  private Increment increment(int columns) {
    Increment increment = new Increment(keys.draw()).setDurability(durability);
    for (int i = 0; i < columns; i++) {
      increment.addColumn(CounterServer.FAMILY, COLUMNS[i], 1);
    }
    return increment;
  }

  private long batch() throws IOException {
    List<Row> batch = new ArrayList<>(UpdateMethod.BATCH);
    for (int i = 0; i < UpdateMethod.BATCH; i++) {
      batch.add(increment(1));
    }
    Object[] results = new Object[UpdateMethod.BATCH];
    try {
      table.batch(batch, results);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    return results.length;
  }

  private byte[] read(byte[] row, byte[] column) throws IOException {
    return table.get(new Get(row).addColumn(CounterServer.FAMILY, column))
      .getValue(CounterServer.FAMILY, column);
  }

  static long number(byte[] value) {
    return value == null ? 0 : Bytes.toLong(value);
  }

  private Put put(byte[] row, long value) {
    return new Put(row).addColumn(CounterServer.FAMILY, COUNTER, Bytes.toBytes(value))
      .setDurability(durability);
  }

  /** Returns how often it took. */
  private long checkAndPut(byte[] row) throws IOException {
    for (long tries = 1;; tries++) {
      byte[] old = read(row, COUNTER);
      Table.CheckAndMutateBuilder check =
        table.checkAndMutate(row, CounterServer.FAMILY).qualifier(COUNTER);
      check = old == null ? check.ifNotExists() : check.ifEquals(old);
      if (check.thenPut(put(row, number(old) + 1))) {
        return tries;
      }
    }
  }

  @Override
  public void close() throws IOException {
    table.close();
  }
}
