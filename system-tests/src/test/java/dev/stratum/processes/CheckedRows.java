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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * What one thread of the load knows of the rows that are its own. A row has a version, from which
 * its value follows. What a write was, if it failed, is not known, and both outcomes are taken from
 * then on. Not thread-safe.
 */
final class CheckedRows {
  static final byte[] VALUE = Bytes.toBytes("v");
  static final byte[] VERSION = Bytes.toBytes("n");
  /** What keys may begin with. */
  static final int LETTERS = 16;

  private final String name;
  /** Version of each row as acknowledged; 0 or less if it is deleted. */
  private final long[] acknowledged;
  /** What else a row may be, after writes that have failed. */
  private final Map<Integer, Set<Long>> possible = new HashMap<>();

  /** @param name of the thread, which is in its keys */
  CheckedRows(String name, int rows) {
    this.name = name;
    this.acknowledged = new long[rows];
  }

  int count() {
    return acknowledged.length;
  }

  byte[] key(int row) {
    return Bytes.toBytes(String.format("%x-%s-%05d", row % LETTERS, name, row));
  }

  byte[] value(int row, long ofVersion) {
    SplittableRandom bytes =
      new SplittableRandom(ofVersion * 1_000_003 + row * 31L + name.hashCode());
    byte[] value = new byte[40 + bytes.nextInt(1200)];
    bytes.nextBytes(value);
    return value;
  }

  Put put(int row, long ofVersion) {
    return new Put(key(row), ofVersion).addColumn(CheckedLoad.FAMILY, VALUE, value(row, ofVersion))
      .addColumn(CheckedLoad.FAMILY, VERSION, Bytes.toBytes(ofVersion));
  }

  /** Returns up to so many rows that follow each other, from one on. */
  List<Integer> neighbours(int first, int most) {
    List<Integer> rows = new ArrayList<>();
    for (int row = first; row < count() && rows.size() < most; row += LETTERS) {
      rows.add(row);
    }
    return rows;
  }

  void acknowledge(int row, long written) {
    acknowledged[row] = written;
    possible.remove(row);
  }

  void mayBe(int row, long written) {
    possible.computeIfAbsent(row, r -> new HashSet<>()).add(written);
  }

  /** Returns the version of a row as acknowledged; 0 or less if it is deleted. */
  long acknowledged(int row) {
    return acknowledged[row];
  }

  /** Returns whether a write to the row has failed since one was acknowledged. */
  boolean isUncertain(int row) {
    return possible.containsKey(row);
  }

  /** Returns whether the row may have this version, 0 if it is not there. */
  boolean mayHave(int row, long found) {
    return isVersion(acknowledged[row], found)
      || possible.getOrDefault(row, Set.of()).stream().anyMatch(may -> isVersion(may, found));
  }

  private static boolean isVersion(long expected, long found) {
    return found == Math.max(0, expected);
  }

  /** Returns the version in a result, 0 if it is empty. */
  static long versionOf(Result result) {
    byte[] found = result.getValue(CheckedLoad.FAMILY, VERSION);
    return found == null ? 0 : Bytes.toLong(found);
  }

  String describe(int row) {
    return Bytes.toString(key(row)) + " at version " + acknowledged[row]
      + (possible.containsKey(row) ? " or one of " + possible.get(row) : "");
  }
}
