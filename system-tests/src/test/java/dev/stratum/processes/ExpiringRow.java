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
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A row of one thread whose cells live for two seconds. It is read twice each time, as a row cache
 * has it at the second read. Not thread-safe.
 */
final class ExpiringRow {
  private static final long TTL_MS = 2000;

  private final String name;
  private final Operations.Client watched;
  private int attempts;
  private long number;
  private long sentMs;
  private long acknowledgedMs;
  private boolean isWritten;
  private boolean isClockAhead;

  /** @param name of the thread, which is in its key */
  ExpiringRow(String name, Operations.Client watched) {
    this.name = name;
    this.watched = watched;
  }

  /**
   * Expects nothing of what was written before.
   * @param clockAhead if the clock of a server is, on which a row may be missing too early from now
   *                   on
   */
  void reset(boolean clockAhead) {
    isClockAhead = clockAhead;
    isWritten = false;
  }

  /**
   * Writes the row if the last write has expired for long, else reads it.
   * @return what was wrong, null if nothing was
   */
  String use(Table table) throws IOException {
    // A write that has failed may still come, so that its row is not used again.
    byte[] key =
      Bytes.toBytes(String.format("%x-%s-ttl-%d", attempts % CheckedRows.LETTERS, name, attempts));
    if (isWritten && System.currentTimeMillis() < acknowledgedMs + 2 * TTL_MS) {
      String first = read(key, table);
      return first == null ? read(key, table) : first;
    }
    write(key, table);
    return null;
  }

  private void write(byte[] key, Table table) throws IOException {
    isWritten = false;
    attempts++;
    sentMs = System.currentTimeMillis();
    // With the time of this clock, since a version of a server's that is ahead hides later ones.
    Put put = new Put(key, sentMs).addColumn(CheckedLoad.FAMILY, CheckedRows.VERSION,
      Bytes.toBytes(++number));
    put.setTTL(TTL_MS);
    watched.begin(put);
    try {
      table.put(put);
    } finally {
      watched.end();
    }
    acknowledgedMs = System.currentTimeMillis();
    isWritten = true;
    attempts--;
  }

  private String read(byte[] key, Table table) throws IOException {
    Get get = new Get(key);
    long beginMs = System.currentTimeMillis();
    watched.begin(get);
    long found;
    try {
      found = CheckedRows.versionOf(table.get(get));
    } finally {
      watched.end();
    }
    if (!isClockAhead && System.currentTimeMillis() < sentMs + TTL_MS && found != number) {
      return Bytes.toString(key) + " with a TTL has " + found + " instead of " + number;
    }
    return beginMs > acknowledgedMs + TTL_MS && found != 0
      ? Bytes.toString(key) + " is there " + (beginMs - acknowledgedMs) + " ms after its write"
      : null;
  }
}
