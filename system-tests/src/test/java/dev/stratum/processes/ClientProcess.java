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

import dev.stratum.childprocess.Conversation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;

/**
 * A client with one connection and some threads, see {@link CheckedLoad}. Requests:
 * <ul>
 * <li><code>start</code> with <code>name</code>, <code>threads</code>, <code>rows</code> of each
 * and <code>seed</code>: fills the rows, and answers its version;</li>
 * <li><code>run</code> with <code>isClockAhead</code>, and <code>pause</code>, after which no
 * operation begins;</li>
 * <li><code>progress</code>: how many operations the slowest thread has done (<code>least</code>)
 * and all together, how many threads are <code>running</code>, and what was wrong
 * (<code>wrong</code>) or has failed (<code>failures</code>);</li>
 * <li><code>slow</code>: see {@link Operations#slow};</li>
 * <li><code>verify</code> with <code>losses</code>, the windows in which writes with ASYNC_WAL may
 * have been lost, when no thread runs: begins to read all that was acknowledged;</li>
 * <li><code>verified</code>: what is not there or wrong, or nothing as long as it still reads.</li>
 * </ul>
 * None of them waits for an operation, so that each is answered while operations hang.
 */
final class ClientProcess implements Conversation.Answers {
  private final List<CheckedLoad> loads = new ArrayList<>();
  private final Operations operations = new Operations(HangWatch.LIMIT);
  private ExecutorService threads;
  private List<Future<?>> running = List.of();
  private List<Future<Verified>> verifying = List.of();

  /** What one thread's load has found. */
  private record Verified(long rows, long lost, long[] counters) {
  }

  private ClientProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new ClientProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    switch (request.get("do").getAsString()) {
      case "start":
        start(request);
        return new JsonPrimitive(VersionInfo.getVersion());
      case "run":
        List<Future<?>> started = new ArrayList<>();
        boolean isClockAhead = request.get("isClockAhead").getAsBoolean();
        loads.forEach(load -> started.add(threads.submit(() -> load.run(isClockAhead))));
        running = started;
        return null;
      case "pause":
        loads.forEach(CheckedLoad::pause);
        return null;
      case "progress":
        return progress();
      case "slow":
        JsonArray slow = new JsonArray();
        operations.slow().forEach(operation -> slow.add(operation.json()));
        return slow;
      case "verify":
        verify(request.getAsJsonArray("losses"));
        return null;
      case "verified":
        return verified();
      default:
        throw new IllegalArgumentException(request.toString());
    }
  }

  private void start(JsonObject request) throws Exception {
    Configuration conf = SiteFile.read(request);
    Connection connection = ConnectionFactory.createConnection(conf);
    int count = request.get("threads").getAsInt();
    threads = Executors.newFixedThreadPool(count);
    List<Callable<Void>> fills = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      CheckedLoad load = new CheckedLoad(connection,
        request.get("name").getAsString() + "-" + i, operations,
        request.get("rows").getAsInt(), request.get("seed").getAsLong() + i);
      loads.add(load);
      fills.add(() -> {
        load.fill();
        return null;
      });
    }
    for (Future<Void> fill : threads.invokeAll(fills)) {
      fill.get();
    }
  }

  private JsonObject progress() {
    JsonObject progress = new JsonObject();
    progress.addProperty("least",
      loads.stream().mapToLong(CheckedLoad::operations).min().orElseThrow());
    progress.addProperty("operations", loads.stream().mapToLong(CheckedLoad::operations).sum());
    progress.addProperty("running", running.stream().filter(thread -> !thread.isDone()).count());
    JsonArray wrong = new JsonArray();
    JsonArray failures = new JsonArray();
    for (CheckedLoad load : loads) {
      load.wrong().forEach(wrong::add);
      load.failures().forEach(failures::add);
    }
    progress.add("wrong", wrong);
    progress.add("failures", failures);
    return progress;
  }

  private void verify(JsonArray losses) {
    List<LossPeriod> periods = new ArrayList<>();
    losses.forEach(period -> periods.add(LossPeriod.of(period.getAsJsonObject())));
    List<Future<Verified>> started = new ArrayList<>();
    for (CheckedLoad load : loads) {
      started.add(threads.submit(
        () -> new Verified(load.verify(), load.verifyAsync(periods), load.counters())));
    }
    verifying = started;
  }

  private JsonObject verified() throws Exception {
    if (!verifying.stream().allMatch(Future::isDone)) {
      return null;
    }
    JsonObject verified = new JsonObject();
    long rows = 0;
    long lost = 0;
    long[] acknowledged = new long[CheckedLoad.COUNTERS];
    for (int i = 0; i < loads.size(); i++) {
      rows += verifying.get(i).get().rows();
      lost += verifying.get(i).get().lost();
      long[] own = loads.get(i).incremented();
      for (int j = 0; j < own.length; j++) {
        acknowledged[j] += own[j];
      }
    }
    verified.addProperty("rows", rows);
    verified.addProperty("lostAsync", lost);
    verified.addProperty("async", loads.stream().mapToLong(CheckedLoad::asyncWrites).sum());
    verified.add("incremented", array(acknowledged));
    verified.add("counters", array(verifying.get(0).get().counters()));
    return verified;
  }

  private static JsonArray array(long[] values) {
    JsonArray array = new JsonArray();
    for (long value : values) {
      array.add(value);
    }
    return array;
  }
}
