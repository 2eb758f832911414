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
package dev.stratum.bench.workloads;

import static dev.stratum.childprocess.ChildProcess.request;

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.JvmCommand;
import dev.stratum.childprocess.ProcessException;
import dev.stratum.processes.HangWatch;
import dev.stratum.processes.LoopbackHdfs;
import dev.stratum.processes.Operation;
import dev.stratum.processes.SiteFile;
import dev.stratum.processes.ThreadDump;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleConsumer;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonNull;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * The cluster of one side of the comparison, fork or stock, with all of its processes: base (HDFS,
 * ZooKeeper, master), RegionServer and clients. Requests by one thread at a time; {@link #close} by
 * any.
 */
final class ClusterUnderTest implements Closeable {
  private static final Map<String, Class<?>> CHILDREN = Map.of("base", BaseProcess.class,
    "regionserver", MeasuredRegionServerProcess.class, "client", ClientProcess.class);
  private static final int DATA_NODES = 1;

  /** The warm-up ends after so many consecutive windows with compilation below this share. */
  private static final double MAX_COMPILATION = 0.2;
  private static final int COMPILED_WINDOWS = 2;
  private static final int COMPILER_PAUSE_MILLIS = 400;

  /** The pause between two polls whether a run has ended. */
  private static final int POLL_MILLIS = 50;
  /** The grace period after the machine stood still. */
  private static final Duration GRACE = Duration.ofSeconds(5);
  /** The time limit for a server that may not answer. */
  private static final Duration CALLS_LIMIT = Duration.ofSeconds(10);

  private final String name;
  private final Map<String, String> keys;
  private final Map<String, ChildProcess> children = new LinkedHashMap<>();
  private final boolean holdsTable;
  private final Path site;
  private final Path evidence;
  private final HangWatch watch =
    new HangWatch(HangWatch.LIMIT, GRACE, this::slowOperations, this::collectEvidence);
  private String version;
  private String cache;
  private int handlers;

  /**
   * Starts the JVMs, and nothing in them yet.
   * @param name   <code>fork</code> or <code>stock</code>
   * @param keys   HBase's, of all processes
   * @param folder where everything is kept
   * @param logs   folder for the processes' standard error, and for the findings when one hangs
   */
  ClusterUnderTest(String name, String classPath, Map<String, String> keys, ServerSettings settings,
    Path folder, Path logs) throws IOException {
    this.name = name;
    this.keys = new LinkedHashMap<>(keys);
    this.holdsTable = name.equals("fork") || settings.stockCache().holdsTable();
    this.site = folder.resolve("site.xml");
    this.evidence = logs.resolve("hang-" + name);
    try {
      for (Map.Entry<String, Class<?>> child : CHILDREN.entrySet()) {
        Path own = Files.createDirectories(folder.resolve(child.getKey()));
        JvmCommand command = new JvmCommand(child.getValue()).classPath(classPath)
          .options(settings.options(child.getKey())).tmpDir(own);
        children.put(child.getKey(), new ChildProcess(name + " side's " + child.getKey(), command,
          logs.resolve(name + "-" + child.getKey() + ".log")));
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  String name() {
    return name;
  }

  /** Returns what its jars say they are; known once it is started. */
  String version() {
    return version;
  }

  /** Returns the class of its block cache; known once it is started. */
  String cache() {
    return cache;
  }

  /** Returns whether its cache has room for whole tables. */
  boolean holdsTable() {
    return holdsTable;
  }

  /** Returns how many general handlers its RegionServer has; known once it is started. */
  int handlers() {
    return handlers;
  }

  /** Returns each process's command line, without the class path. */
  JsonObject commands() {
    JsonObject commands = new JsonObject();
    children.forEach(
      (child, process) -> commands.addProperty(child, String.join(" ", process.command())));
    return commands;
  }

  List<ProcessHandle> processes() {
    List<ProcessHandle> handles = new ArrayList<>();
    children.values().forEach(child -> handles.add(child.handle()));
    return handles;
  }

  /** Starts the servers and connects the clients. */
  void start() throws SuiteException {
    JsonObject request = request("start");
    request.addProperty("site", site.toString());
    request.addProperty("dataNodes", DATA_NODES);
    writeSite();
    ask("base", request).getAsJsonObject().entrySet()
      .forEach(key -> keys.put(key.getKey(), key.getValue().getAsString()));
    writeSite();
    JsonObject server = ask("regionserver", request).getAsJsonObject();
    version = server.get("version").getAsString();
    cache = server.get("cache").getAsString();
    handlers = server.get("handlers").getAsInt();
    ask("client", request);
  }

  private void writeSite() throws SuiteException {
    try {
      SiteFile.write(site, keys);
    } catch (IOException e) {
      throw new SuiteException("The settings cannot be written: " + e, e);
    }
  }

  /** Makes a request of one of the processes. */
  JsonElement ask(String child, JsonObject request) throws SuiteException {
    return ask(child, request, ChildProcess.LIMIT, part -> {
    });
  }

  JsonElement ask(String child, JsonObject request, Duration limit,
    DoubleConsumer progress) throws SuiteException {
    try {
      return children.get(child).ask(request, limit, progress);
    } catch (ProcessException e) {
      throw new SuiteException(e.getMessage(), e);
    }
  }

  /**
   * Makes a case's table and fills it.
   * @param rows     how many; none makes an empty table
   * @param progress is told how much of it is done, 0 to 1
   */
  void load(WorkloadCase workload, int rows, DoubleConsumer progress) throws SuiteException {
    new TableLoading(this, workload, rows).load(progress);
  }

  /** Waits until the RegionServer flushes and compacts no more. */
  void awaitIdle() throws SuiteException {
    ask("regionserver", request("awaitIdle"));
  }

  void truncate(String table) throws SuiteException {
    JsonObject request = request("truncate");
    request.addProperty("table", table);
    ask("client", request);
    awaitIdle();
  }

  void drop(String table) throws SuiteException {
    JsonObject request = request("drop");
    request.addProperty("table", table);
    ask("client", request);
  }

  /** Returns what to ask of the RegionServer's JVM for a sleep of so many us, in ns. */
  long calibrate(int micros) throws SuiteException {
    JsonObject request = request("calibrate");
    request.addProperty("micros", micros);
    return ask("regionserver", request).getAsLong();
  }

  /**
   * Delays reads of the L2 file and of HDFS, and syncs, from now on; 0 ends a delay.
   * @param nanos      what {@link #calibrate} said for <code>micros</code>, on whichever side
   * @param hdfsMicros how long each positional read of HDFS is to wait at least
   * @param syncMillis how much later each sync of a WAL is to end
   * @return the number of delayed reads of L2 since the last call, and their mean delay
   */
  JsonObject delay(int micros, long nanos, int hdfsMicros, int syncMillis)
    throws SuiteException {
    JsonObject request = request("delay");
    request.addProperty("micros", micros);
    request.addProperty("nanos", nanos);
    request.addProperty("hdfsMicros", hdfsMicros);
    request.addProperty("syncMillis", syncMillis);
    return ask("regionserver", request).getAsJsonObject();
  }

  /** Returns what one of the processes has used. */
  JsonObject counters(String child) throws SuiteException {
    return ask(child, request("counters")).getAsJsonObject();
  }

  /**
   * Runs a case.
   * @param rate operations per second; 0 for a closed loop
   * @return what the clients measured, and what <code>client</code>, <code>regionserver</code> and
   *         <code>base</code> used for it
   * @throws HangException if an operation takes longer than {@link HangWatch#LIMIT}
   */
  JsonObject run(WorkloadCase workload, double seconds, double rate) throws SuiteException {
    return run(workload, workload.threads(), seconds, rate);
  }

  /** Writes what the event of a case is to work on. */
  void prepareEvent(WorkloadCase workload) throws SuiteException {
    JsonObject request = request("prepareEvent");
    request.addProperty("table", workload.table());
    request.addProperty("event", workload.event());
    ask("regionserver", request);
  }

  /** Runs a case with the event that was prepared, of which the result has what became of reads. */
  JsonObject runWithEvent(WorkloadCase workload, double seconds, double rate)
    throws SuiteException {
    JsonObject request = request("beginEvent");
    request.addProperty("seconds", seconds);
    ask("regionserver", request);
    JsonObject result = run(workload, seconds, rate);
    result.add("event", ask("regionserver", request("endEvent")));
    return result;
  }

  private JsonObject run(WorkloadCase workload, int threads, double seconds, double rate)
    throws SuiteException {
    JsonArray kinds = new JsonArray();
    workload.kinds().forEach(kind -> kinds.add(kind.json()));
    JsonObject request = request("run");
    request.add("kinds", kinds);
    request.addProperty("threads", threads);
    request.addProperty("seconds", seconds);
    request.addProperty("rate", rate);
    JsonObject server = counters("regionserver");
    JsonObject base = counters("base");
    ask("client", request);
    JsonObject result = awaitResult(workload);
    result.add("regionserver", JvmCounters.difference(server, counters("regionserver")));
    result.add("base", JvmCounters.difference(base, counters("base")));
    return result;
  }

  /** Waits for the end of the run that the clients have begun. */
  private JsonObject awaitResult(WorkloadCase workload) throws SuiteException {
    List<JsonElement> result = new ArrayList<>();
    try {
      watch.run(() -> {
        JsonElement answer = JsonNull.INSTANCE;
        while (answer.isJsonNull()) {
          Thread.sleep(POLL_MILLIS);
          answer = ask("client", request("result"));
        }
        result.add(answer);
      });
    } catch (AssertionError e) {
      throw new HangException(workload + " hangs on the " + name + " side: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SuiteException("The run was interrupted.", e);
    } catch (SuiteException e) {
      throw e;
    } catch (Exception e) {
      throw new SuiteException(e.toString(), e);
    }
    return result.get(0).getAsJsonObject();
  }

  /** The clients' operations that take long. */
  private List<Operation> slowOperations() {
    List<Operation> slow = new ArrayList<>();
    try {
      ask("client", request("slowOperations")).getAsJsonArray()
        .forEach(operation -> slow.add(Operation.of(operation.getAsJsonObject())));
    } catch (SuiteException e) {
      // They have ended, which the run fails of.
    }
    return slow;
  }

  /** Writes the calls that the RegionServer has, and the threads of all processes. */
  private List<Path> collectEvidence(List<Operation> hanging)
    throws IOException, InterruptedException {
    Files.createDirectories(evidence);
    List<Path> written = new ArrayList<>();
    written.add(Files.write(evidence.resolve("operations.txt"),
      hanging.stream().map(watch::describe).toList()));
    written.add(Files.writeString(evidence.resolve("calls-of-regionserver.txt"), calls()));
    for (Map.Entry<String, ChildProcess> child : children.entrySet()) {
      Path file = evidence.resolve("threads-of-" + child.getKey() + ".txt");
      try {
        written.add(ThreadDump.write(child.getValue().handle().pid(), file));
      } catch (IOException e) {
        // What the others tell is worth as much.
        written.add(Files.writeString(file, e + "\n"));
      }
    }
    return written;
  }

  private String calls() {
    try {
      return ask("regionserver", request("calls"), CALLS_LIMIT, part -> {
      }).getAsString();
    } catch (SuiteException e) {
      return "The RegionServer did not tell: " + e + "\n";
    }
  }

  /**
   * Runs a case until the compilers of RegionServer and clients have little left to do with it: by
   * as many threads as there are processors, as beside more the compilers get a thread's share of
   * them and take several times as long, and then by its own number.
   * @param seconds how long at most, the pauses for the compilers included
   * @param window  how long at a time
   */
  void warmUp(WorkloadCase workload, double seconds, double window) throws SuiteException {
    int processors = Runtime.getRuntime().availableProcessors();
    if (workload.threads() > processors) {
      runUntilCompiled(workload, processors, seconds / 2, window, 0);
    }
    runUntilCompiled(workload, workload.threads(), seconds / 2, window, 0);
  }

  /**
   * Warms up at a rate: a server with spare CPU does what it did not do without.
   * @param rate operations per second
   */
  void warmUp(WorkloadCase workload, double seconds, double window, double rate)
    throws SuiteException {
    runUntilCompiled(workload, workload.threads(), seconds / 2, window, rate);
  }

  private void runUntilCompiled(WorkloadCase workload, int threads, double seconds, double window,
    double rate) throws SuiteException {
    long end = System.nanoTime() + (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    int compiledWindows = 0;
    double left = seconds;
    while (left > 0 && compiledWindows < COMPILED_WINDOWS) {
      long before = compileMillis();
      run(workload, threads, Math.min(window, left), rate);
      if (compileMillis() - before <= MAX_COMPILATION * window * 1000) {
        compiledWindows++;
      } else {
        compiledWindows = 0;
        awaitCompilers(end);
      }
      left = (end - System.nanoTime()) / (double) TimeUnit.SECONDS.toNanos(1);
    }
  }

  /**
   * Leaves the processors to the compilers until they have done with what the last window has asked
   * of them: beside a case's threads that takes them several times as long.
   */
  private void awaitCompilers(long end) throws SuiteException {
    long before;
    long now = compileMillis();
    do {
      before = now;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(COMPILER_PAUSE_MILLIS));
      now = compileMillis();
    } while (now - before > MAX_COMPILATION * COMPILER_PAUSE_MILLIS && end - System.nanoTime() > 0);
  }

  /** Returns the compile time of the clients and the RegionServer together. */
  private long compileMillis() throws SuiteException {
    long millis = 0;
    for (String child : List.of("client", "regionserver")) {
      millis += counters(child).get("compileMillis").getAsLong();
    }
    return millis;
  }

  /**
   * Samples a process from now on, until {@link #flameGraph}.
   * @param child <code>regionserver</code> or <code>client</code>
   */
  void profile(String child) throws SuiteException {
    ask(child, request("profile"));
  }

  void flameGraph(String child, String title, Path html) throws SuiteException {
    JsonObject request = request("flameGraph");
    request.addProperty("title", title);
    request.addProperty("file", html.toString());
    ask(child, request);
  }

  /** Ends all processes. */
  @Override
  public void close() {
    children.values().forEach(ChildProcess::close);
    LoopbackHdfs.removeAbandoned();
  }
}
