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

import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * When a server died: what was acknowledged with ASYNC_WAL in this time may be lost, nothing else.
 * @param from {@link System#nanoTime()} up to which, by the server's word, all was synced
 * @param to   {@link System#nanoTime()} when it was dead
 */
record LossPeriod(long from, long to) {
  static LossPeriod of(JsonObject json) {
    return new LossPeriod(json.get("from").getAsLong(), json.get("to").getAsLong());
  }

  JsonObject json() {
    JsonObject json = new JsonObject();
    json.addProperty("from", from);
    json.addProperty("to", to);
    return json;
  }

  /** Returns whether a write may be lost that was sent and acknowledged at these times. */
  boolean mayLose(long sent, long acknowledged) {
    return acknowledged - from >= 0 && to - sent >= 0;
  }
}
