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
package org.apache.hadoop.hbase.regionserver.write;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * What was done to the counter of a row, and whether one after the other could have done it. Each
 * increment adds one to a second column, whose value says its position in that order. Thread-safe.
 */
final class CounterHistory {

  static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] POSITION = Bytes.toBytes("position");
  private static final byte[] TOTAL = Bytes.toBytes("total");

  private static final class Done {
    private final long position;
    private final long total;
    private final long amount;
    private final long begun;
    private final long ended;

    private Done(long position, long total, long amount, long begun, long ended) {
      this.position = position;
      this.total = total;
      this.amount = amount;
      this.begun = begun;
      this.ended = ended;
    }
  }

  private final byte[] row;
  private final List<Done> done = new ArrayList<>();

  CounterHistory(byte[] row) {
    this.row = row;
  }

  byte[] row() {
    return row;
  }

  Increment increment(long amount) {
    return new Increment(row).addColumn(FAMILY, TOTAL, amount).addColumn(FAMILY, POSITION, 1);
  }

  /**
   * @param begun  before the increment was sent, in nanoseconds
   * @param result what came back just now
   */
  synchronized void add(long amount, long begun, Result result) {
    done.add(new Done(number(result, POSITION), number(result, TOTAL), amount, begun,
      System.nanoTime()));
  }

  private static long number(Result result, byte[] column) {
    byte[] value = result.getValue(FAMILY, column);
    return value == null ? 0 : Bytes.toLong(value);
  }

  synchronized int size() {
    return done.size();
  }

  /** Fails unless the row holds the sum of all that was acknowledged. */
  synchronized void assertSum(Result stored) {
    assertEquals("increments", done.size(), number(stored, POSITION));
    assertEquals("their sum", done.stream().mapToLong(d -> d.amount).sum(),
      number(stored, TOTAL));
  }

  /**
   * Fails unless one after the other could have returned all these values, none before one that had
   * ended when it began.
   */
  synchronized void assertLinear() {
    done.sort(Comparator.comparingLong(d -> d.position));
    long total = 0;
    for (int i = 0; i < done.size(); i++) {
      Done d = done.get(i);
      total += d.amount;
      assertEquals("each position once", i + 1, d.position);
      assertEquals("the total at position " + d.position, total, d.total);
    }
    long ended = Long.MAX_VALUE;
    for (int i = done.size() - 1; i >= 0; i--) {
      assertTrue((i + 1) + " is before one that had ended", done.get(i).begun <= ended);
      ended = Math.min(ended, done.get(i).ended);
    }
  }
}
