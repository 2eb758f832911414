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
 * An operation of a client that took longer than an operation may.
 * @param client     the thread that waits or waited for it
 * @param what       the operation
 * @param began      {@link System#nanoTime()}, the same in all processes of a Linux machine
 * @param ended      the same, now if it is in flight
 * @param isInFlight whether the client still waits
 */
public record Operation(String client, String what, long began, long ended, boolean isInFlight) {
  public static Operation of(JsonObject json) {
    return new Operation(json.get("client").getAsString(), json.get("what").getAsString(),
      json.get("began").getAsLong(), json.get("ended").getAsLong(),
      json.get("isInFlight").getAsBoolean());
  }

  public JsonObject json() {
    JsonObject json = new JsonObject();
    json.addProperty("client", client);
    json.addProperty("what", what);
    json.addProperty("began", began);
    json.addProperty("ended", ended);
    json.addProperty("isInFlight", isInFlight);
    return json;
  }
}
