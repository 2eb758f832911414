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

/** The operation that updates a counter. */
public enum UpdateMethod {
  /** One column. */
  INCREMENT("increment"),
  /** Five columns of a row at once; the first is the counter. */
  INCREMENT_FIVE_COLUMNS("increment of five columns"),
  /** Ten increments of independently drawn rows in one request. */
  INCREMENT_BATCH("batch of ten increments"),
  /** A get and a put without a lock, so that concurrent updates are lost. */
  READ_MODIFY_WRITE("get, then put"),
  /** A get and a check-and-put, repeated until the value read is still current. */
  CHECK_AND_PUT("get, then check-and-put until it takes"),
  /** No update: a get of a column that no row has, which is the cost of the RPC alone. */
  GET_NOTHING("get of nothing");

  static final int BATCH = 10;

  private final String text;

  UpdateMethod(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  /** Returns how many updates one operation is. */
  int updates() {
    return this == GET_NOTHING ? 0 : this == INCREMENT_BATCH ? BATCH : 1;
  }

  boolean mayLoseUpdates() {
    return this == READ_MODIFY_WRITE;
  }
}
