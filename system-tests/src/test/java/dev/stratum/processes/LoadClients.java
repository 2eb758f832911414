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

import static org.junit.Assert.assertEquals;

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.ProcessException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/** The clients of a {@link Cluster}, each a process with a {@link CheckedLoad} in some threads. */
final class LoadClients {
  private final ClusterProcesses processes;
  private final List<ChildProcess> clients = new CopyOnWriteArrayList<>();

  LoadClients(ClusterProcesses processes) {
    this.processes = processes;
  }

  List<ChildProcess> all() {
    return clients;
  }

  /** Starts one more client for each of these builds, which fills its rows. */
  void start(List<Jars> builds, int threads, int rows, long seed) throws Exception {
    List<Callable<?>> starts = new ArrayList<>();
    for (int i = 0; i < builds.size(); i++) {
      Jars jars = builds.get(i);
      long seedOfOne = seed + i * (long) threads;
      String name = "client" + (clients.size() + i);
      starts.add(() -> clients.add(startClient(name, jars, Map.of(), threads, rows, seedOfOne)));
    }
    ClusterProcesses.inParallel(starts);
    processes.say("clients on %s have written %d rows",
      builds.stream().map(Jars::version).collect(Collectors.joining(", ")),
      builds.size() * threads * rows);
  }

  /** Starts one more client, with keys of its own. */
  ChildProcess start(Map<String, String> keys, int threads, int rows, long seed)
    throws Exception {
    ChildProcess client =
      startClient("client" + clients.size(), Jars.FORK, keys, threads, rows, seed);
    clients.add(client);
    return client;
  }

  private ChildProcess startClient(String name, Jars jars, Map<String, String> keys, int threads,
    int rows, long seed) throws Exception {
    ChildProcess client = processes.launch(name, ClientProcess.class, jars, 192);
    JsonObject start = processes.start(name, keys);
    start.addProperty("name", name);
    start.addProperty("threads", threads);
    start.addProperty("rows", rows);
    start.addProperty("seed", seed);
    assertEquals(jars.version(), client.ask(start).getAsString());
    return client;
  }

  /** Waits until each thread of the load has done so many operations more. */
  void awaitOperations(int more) throws Exception {
    for (ChildProcess client : clients) {
      awaitOperations(client, more);
    }
  }

  static void awaitOperations(ChildProcess client, int more) throws Exception {
    long goal = progress(client).get("least").getAsLong() + more;
    Cluster.await("the load goes on", () -> progress(client).get("least").getAsLong() >= goal);
  }

  static JsonObject progress(ChildProcess client) throws ProcessException {
    return client.ask(ChildProcess.request("progress")).getAsJsonObject();
  }

  void run() throws ProcessException {
    run(false);
  }

  /** @param isClockAhead if that of a server is, where rows with a TTL look expired */
  void run(boolean isClockAhead) throws ProcessException {
    for (ChildProcess client : clients) {
      run(client, isClockAhead);
    }
  }

  static void run(ChildProcess client) throws ProcessException {
    run(client, false);
  }

  private static void run(ChildProcess client, boolean isClockAhead) throws ProcessException {
    JsonObject request = ChildProcess.request("run");
    request.addProperty("isClockAhead", isClockAhead);
    client.ask(request);
  }

  void pause() throws Exception {
    for (ChildProcess client : clients) {
      client.ask(ChildProcess.request("pause"));
    }
    for (ChildProcess client : clients) {
      Cluster.await("no operation is in flight",
        () -> progress(client).get("running").getAsInt() == 0);
    }
  }

  /** Has a client look for all that was acknowledged, and returns what it has found. */
  JsonObject verify(ChildProcess client, JsonArray losses) throws Exception {
    JsonObject request = ChildProcess.request("verify");
    request.add("losses", losses);
    client.ask(request);
    JsonElement[] verified = new JsonElement[1];
    Cluster.await("all is verified", () -> {
      verified[0] = client.ask(ChildProcess.request("verified"));
      return !verified[0].isJsonNull();
    });
    return verified[0].getAsJsonObject();
  }

  /**
   * Has all clients look for all that was acknowledged, and fails if an operation has failed, a
   * read was wrong, or a write is missing.
   */
  void assertNothingLostOrFailed() throws Exception {
    long[] incremented = new long[CheckedLoad.COUNTERS];
    long[] counters = new long[CheckedLoad.COUNTERS];
    for (ChildProcess client : clients) {
      JsonObject verified = verify(client, new JsonArray());
      processes.say("%s operations, verified %s", progress(client).get("operations"), verified);
      assertNothingWrong(client);
      assertEquals("lost", 0, verified.get("lostAsync").getAsLong());
      for (int i = 0; i < incremented.length; i++) {
        incremented[i] += verified.getAsJsonArray("incremented").get(i).getAsLong();
        counters[i] = verified.getAsJsonArray("counters").get(i).getAsLong();
      }
    }
    for (int i = 0; i < incremented.length; i++) {
      assertEquals("counter " + i, incremented[i], counters[i]);
    }
  }

  /** Fails if an operation has failed or a read was wrong. */
  static void assertNothingWrong(ChildProcess client) throws ProcessException {
    JsonObject progress = progress(client);
    assertEquals(new JsonArray(), progress.get("wrong"));
    assertEquals(new JsonArray(), progress.get("failures"));
  }

  List<Operation> slow() throws ProcessException {
    List<Operation> slow = new ArrayList<>();
    for (ChildProcess client : clients) {
      client.ask(ChildProcess.request("slow")).getAsJsonArray()
        .forEach(operation -> slow.add(Operation.of(operation.getAsJsonObject())));
    }
    return slow;
  }
}
