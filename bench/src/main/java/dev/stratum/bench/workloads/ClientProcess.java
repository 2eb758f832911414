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

import dev.stratum.childprocess.Conversation;
import dev.stratum.processes.HangWatch;
import dev.stratum.processes.Operations;
import dev.stratum.processes.SiteFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;

/**
 * The clients, in a JVM of their own with one connection, or several if the case says so.
 * Requests:
 * <ul>
 * <li><code>start</code> with <code>site</code>, see {@link SiteFile};</li>
 * <li><code>load</code> with a case's <code>properties</code>: makes the table and fills it;</li>
 * <li><code>deleteColumns</code> with <code>table</code> and <code>columns</code>: deletes so many
 * of each row, the first ones;</li>
 * <li><code>compact</code> with <code>table</code>: requests a major compaction;</li>
 * <li><code>scan</code> with <code>table</code>: reads all of it, answers the number of rows;</li>
 * <li><code>truncate</code> and <code>drop</code> with <code>table</code>;</li>
 * <li><code>run</code> with the properties of each of a case's <code>kinds</code> of clients, how
 * many <code>threads</code> there are at most, <code>seconds</code> and <code>rate</code>: begins a
 * {@link LoadRun};</li>
 * <li><code>result</code>: of that run, and what this JVM has used meanwhile, or nothing if it has
 * not ended yet;</li>
 * <li><code>slowOperations</code>: {@link Operations#slow} of that run;</li>
 * <li><code>counters</code>: what this JVM has used;</li>
 * <li><code>profile</code>, and <code>flameGraph</code> with <code>title</code> and
 * <code>file</code>: what was sampled between the two.</li>
 * </ul>
 * A case with <code>hdfs</code> among its properties has a file of HDFS in the place of its table,
 * and reads that: see {@link HdfsReads}.
 */
final class ClientProcess implements Conversation.Answers {
  private static final int LOADING_THREADS = 4;
  private static final int LOADING_BATCH = 200;
  private static final int PROGRESS_STEPS = 50;
  /**
   * The first pause between two polls whether the master is done, in ms. It grows a hundredfold and
   * more: with the default, the end of a procedure of nine seconds is noticed after eighteen.
   */
  private static final int ADMIN_PAUSE_MILLIS = 10;
  private static final int ADMIN_RETRIES = 100;
  /**
   * The timeout of a procedure, in ms. Truncating a table with a full memstore takes up to 30 s.
   */
  private static final int ADMIN_TIMEOUT_MILLIS = 120_000;

  /** The number of records of each table that grows. */
  private final Map<String, Long> records = new HashMap<>();
  private Configuration conf;
  private Connection connection;
  /** The connections of a case that has several, {@link #connection} included. */
  private final List<Connection> connections = new ArrayList<>();
  /** The connection for requests to the master. */
  private Connection master;
  private FlameGraph flameGraph;
  private Operations operations;
  private FutureTask<JsonObject> running;

  private ClientProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new ClientProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    String what = request.get("do").getAsString();
    switch (what) {
      case "start":
        start(SiteFile.read(request));
        return null;
      case "load":
        load(properties(request.getAsJsonObject("properties")), conversation);
        return null;
      case "deleteColumns":
        deleteColumns(table(request), request.get("columns").getAsInt());
        return null;
      case "compact":
        compact(table(request));
        return null;
      case "scan":
        return new JsonPrimitive(scan(table(request)));
      case "truncate":
        truncate(table(request));
        return null;
      case "drop":
        drop(table(request));
        return null;
      case "run":
        begin(request);
        return null;
      case "result":
        return running.isDone() ? running.get() : null;
      case "slowOperations":
        JsonArray slow = new JsonArray();
        operations.slow().forEach(operation -> slow.add(operation.json()));
        return slow;
      case "counters":
        return JvmCounters.read();
      case "profile":
        flameGraph = new FlameGraph();
        return null;
      case "flameGraph":
        FlameGraph.finish(flameGraph, request);
        return null;
      default:
        throw new IllegalArgumentException("unknown request " + what);
    }
  }

  private static TableName table(JsonObject request) {
    return TableName.valueOf(request.get("table").getAsString());
  }

  private static Properties properties(JsonObject json) {
    Properties properties = new Properties();
    json.entrySet().forEach(e -> properties.setProperty(e.getKey(), e.getValue().getAsString()));
    return properties;
  }

  private void start(Configuration settings) throws IOException {
    conf = settings;
    connection = ConnectionFactory.createConnection(conf);
    connections.add(connection);
    Configuration adminConf = new Configuration(conf);
    adminConf.setInt(HConstants.HBASE_CLIENT_PAUSE, ADMIN_PAUSE_MILLIS);
    adminConf.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, ADMIN_RETRIES);
    adminConf.setInt("hbase.client.sync.wait.timeout.msec", ADMIN_TIMEOUT_MILLIS);
    master = ConnectionFactory.createConnection(adminConf);
    try (Admin admin = master.getAdmin()) {
      admin.balancerSwitch(false, true);
    }
  }

  private void load(Properties properties, Conversation conversation) throws Exception {
    if (properties.containsKey("hdfs")) {
      try (HdfsReads reads = new HdfsReads(conf, false)) {
        reads.create(Integer.parseInt(properties.getProperty("file.mb")));
      }
      return;
    }
    TableName name = TableName.valueOf(properties.getProperty("table"));
    try (Admin admin = master.getAdmin()) {
      TableOfCase table = new TableOfCase(properties);
      admin.createTable(table.descriptor(), table.splits());
    }
    int rows = Integer.parseInt(properties.getProperty("rows"));
    records.put(name.getNameAsString(), (long) Math.max(1, rows));
    if (rows == 0) {
      return;
    }
    Properties inserts = new Properties();
    inserts.putAll(properties);
    inserts.setProperty("recordcount", Integer.toString(rows));
    inserts.setProperty("batch",
      properties.getProperty("load.batch", Integer.toString(LOADING_BATCH)));
    // All of it is flushed before anything is measured.
    inserts.setProperty("durability", "SKIP_WAL");
    ExtendedCoreWorkload workload = ExtendedCoreWorkload.create(inserts);
    AtomicLong left = new AtomicLong(rows);
    AtomicReference<Exception> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < LOADING_THREADS; i++) {
      Thread thread = new Thread(() -> {
        try {
          HBaseBinding binding = new HBaseBinding(connection, inserts);
          for (long one = left.getAndDecrement(); one > 0; one = left.getAndDecrement()) {
            workload.doInsert(binding, null);
            if (one % Math.max(1, rows / PROGRESS_STEPS) == 0) {
              conversation.progress(1 - (double) one / rows);
            }
          }
          binding.flush();
          binding.cleanup();
        } catch (IOException | RuntimeException e) {
          failure.compareAndSet(null, e);
          left.set(0);
        }
      }, "load-" + i);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  private void deleteColumns(TableName name, int columns) throws IOException {
    try (Table table = connection.getTable(name);
      ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result row : scanner) {
        Delete delete = new Delete(row.getRow()).setDurability(Durability.SKIP_WAL);
        for (Cell cell : row.listCells().subList(0, columns)) {
          delete.addColumns(CellUtil.cloneFamily(cell), CellUtil.cloneQualifier(cell));
        }
        table.delete(delete);
      }
    }
  }

  private void compact(TableName name) throws IOException {
    try (Admin admin = master.getAdmin()) {
      admin.majorCompact(name);
    }
  }

  private long scan(TableName name) throws IOException {
    long rows = 0;
    try (Table table = connection.getTable(name);
      ResultScanner scanner = table.getScanner(new Scan().setCaching(LOADING_BATCH))) {
      for (Result result = scanner.next(); result != null; result = scanner.next()) {
        rows++;
      }
    }
    return rows;
  }

  private void truncate(TableName name) throws IOException {
    try (Admin admin = master.getAdmin()) {
      admin.disableTable(name);
      admin.truncateTable(name, true);
    }
    records.put(name.getNameAsString(), 1L);
  }

  private void drop(TableName name) throws IOException {
    if (records.remove(name.getNameAsString()) == null) {
      return;
    }
    try (Admin admin = master.getAdmin()) {
      admin.disableTable(name);
      admin.deleteTable(name);
    }
  }

  /** A thread with its own binding. */
  private static final class Client implements LoadRun.Worker {
    private final Kind kind;
    private final HBaseBinding binding;
    private String operation;

    Client(Kind kind, HBaseBinding binding) {
      this.kind = kind;
      this.binding = binding;
    }

    /** Chooses an operation. If the case has several kinds of clients, figures are by kind. */
    @Override
    public String choose() {
      operation = kind.workload.choose();
      return kind.properties.getProperty(WorkloadCase.KIND, operation);
    }

    @Override
    public void perform(String name) {
      kind.workload.perform(operation, binding);
    }

    @Override
    public double rate() {
      return Double.parseDouble(kind.properties.getProperty("rate", "0")) / kind.threads();
    }
  }

  /** Clients that are alike. */
  private record Kind(Properties properties, ExtendedCoreWorkload workload) {
    int threads() {
      return Integer.parseInt(properties.getProperty("threads"));
    }
  }

  private void begin(JsonObject request) {
    List<Properties> kinds = new ArrayList<>();
    request.getAsJsonArray("kinds").forEach(kind -> kinds.add(properties(kind.getAsJsonObject())));
    int threads = request.get("threads").getAsInt();
    double seconds = request.get("seconds").getAsDouble();
    double rate = request.get("rate").getAsDouble();
    operations = new Operations(HangWatch.LIMIT);
    running = new FutureTask<>(() -> kinds.get(0).containsKey("hdfs")
      ? runOnHdfs(kinds.get(0), threads, seconds, rate)
      : run(kinds, threads, seconds, rate));
    new Thread(running, "run").start();
  }

  private JsonObject run(List<Properties> all, int threads, double seconds, double rate)
    throws Exception {
    List<Kind> kinds = new ArrayList<>();
    for (Properties properties : all) {
      // A case that says how many rows it uses does not use those that others insert.
      properties.putIfAbsent("recordcount",
        Long.toString(records.get(properties.getProperty("table"))));
      kinds.add(new Kind(properties, ExtendedCoreWorkload.create(properties)));
    }
    List<Client> clients = clients(kinds, threads);
    JsonObject before = JvmCounters.read();
    JsonObject result = new LoadRun(clients, seconds, rate, operations).run();
    result.add("client", JvmCounters.difference(before, JvmCounters.read()));
    long rows = 0;
    long missing = 0;
    for (Client client : clients) {
      client.binding.flush();
      rows += client.binding.rows();
      if (!Boolean.parseBoolean(client.kind.properties.getProperty("missing.allowed"))) {
        missing += client.binding.missing();
      }
      client.binding.cleanup();
    }
    result.addProperty("rows", rows);
    if (missing > 0) {
      throw new SuiteException(missing + " of " + rows + " rows were not found.");
    }
    for (Kind kind : kinds) {
      records.merge(kind.properties.getProperty("table"), kind.workload.records(), Math::max);
    }
    return result;
  }

  /** Returns this many clients, of all kinds alternately as long as a kind has more of them. */
  private List<Client> clients(List<Kind> kinds, int threads) throws IOException {
    List<Client> clients = new ArrayList<>();
    for (int i = 0; clients.size() < threads; i++) {
      for (Kind kind : kinds) {
        int used = Integer.parseInt(kind.properties.getProperty("connections", "1"));
        while (connections.size() < used) {
          connections.add(ConnectionFactory.createConnection(conf));
        }
        if (i < kind.threads() && clients.size() < threads) {
          clients.add(new Client(kind,
            new HBaseBinding(connections.get(clients.size() % used), kind.properties)));
        }
      }
    }
    return clients;
  }

  private JsonObject runOnHdfs(Properties properties, int threads, double seconds, double rate)
    throws Exception {
    boolean isShortCircuit = properties.getProperty("hdfs").equals("shortcircuit");
    try (HdfsReads reads = new HdfsReads(conf, isShortCircuit)) {
      List<LoadRun.Worker> workers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        workers.add(reads.worker());
      }
      JsonObject before = JvmCounters.read();
      JsonObject result = new LoadRun(workers, seconds, rate, operations).run();
      result.add("client", JvmCounters.difference(before, JvmCounters.read()));
      result.addProperty("rows", result.getAsJsonObject("all").get("count").getAsLong());
      return result;
    }
  }
}
