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
package org.apache.hadoop.hbase.regionserver.writegroup;

import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;

/**
 * The writes in flight, in lanes: all of a row, or of a region, are in one lane. A write
 * that finds its lane empty has none to wait for, which is known without reading it. Increments of
 * different rows may share a lane by chance; then the later one is read to find out. Thread-safe;
 * no thread waits for a lane.
 */
@InterfaceAudience.Private
final class WritesInFlight {

  /** Lanes for which writes of different rows seldom share one; they take 100 KB. */
  private static final int BITS = 12;

  /**
   * How many groups of a lane may be synced while the next one is formed. With none, no write would
   * be appended during a sync; with more, groups are smaller.
   */
  static final int MAX_SYNCING = 1;

  /** The writes of a lane in flight, from the parsing of their requests to the responses. */
  static final class Lane {
    private int inFlight;
    private WriteCall first;
    private int syncing;
    private Runnable deferred;

    /**
     * Called when a group is appended.
     * @param pass what passes the leadership on
     * @return whether the caller is to run it now; else it is run when another group ends
     */
    synchronized boolean appended(Runnable pass) {
      boolean now = syncing++ < MAX_SYNCING;
      if (!now) {
        deferred = pass;
      }
      return now;
    }

    /** Called when a group that was appended has ended. Returns what is to be run now, or null. */
    synchronized Runnable synced() {
      syncing--;
      Runnable next = deferred;
      deferred = null;
      return next;
    }

    /** @return whether the lane was empty */
    synchronized boolean enter(WriteCall call) {
      if (inFlight++ > 0) {
        return false;
      }
      first = call;
      return true;
    }

    synchronized void leave(WriteCall call) {
      inFlight--;
      if (first == call) {
        first = null;
      }
    }

    /** Returns the call of a place that found the lane empty and is still in flight, or null. */
    synchronized WriteCall first(int place) {
      return first != null && first.place() == place ? first : null;
    }

    private synchronized int inFlight() {
      return inFlight;
    }
  }

  private final Lane[] lanes = new Lane[1 << BITS];

  WritesInFlight() {
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new Lane();
    }
  }

  /** @param place hash of a row or region */
  Lane at(int place) {
    // Fibonacci hashing: the upper bits depend on all of them.
    return lanes[place * 0x9E3779B9 >>> Integer.SIZE - BITS];
  }

  /** Returns how many writes are in flight. */
  int inFlight() {
    int all = 0;
    for (Lane lane : lanes) {
      all += lane.inFlight();
    }
    return all;
  }

  /**
   * Returns the hash of a row or region, equal for both types of its bytes.
   * @param row null if the row does not matter
   */
  static int place(ByteString region, ByteString row) {
    int place = 0;
    for (int i = 0; i < region.size(); i++) {
      place = place * 31 + region.byteAt(i);
    }
    for (int i = 0; row != null && i < row.size(); i++) {
      place = place * 31 + row.byteAt(i);
    }
    return place;
  }

  /** @param row null if the row does not matter */
  static int place(byte[] region, byte[] row) {
    int place = 0;
    for (byte b : region) {
      place = place * 31 + b;
    }
    for (int i = 0; row != null && i < row.length; i++) {
      place = place * 31 + row[i];
    }
    return place;
  }
}
