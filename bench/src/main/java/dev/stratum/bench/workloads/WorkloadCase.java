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

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * One case: what is done to which table by how many threads, and what the fork is to reach.
 * <p>
 * Cases come in files of a document each, <code>workloads/GROUP.properties</code> among the
 * resources: <code>title</code> and <code>source</code>; <code>cases</code>, the names in order;
 * <code>quick</code>, those of the quick form; properties of all cases, and
 * <code>NAME.property</code> of one. A case with <code>micros=0,100</code> is two, the second with
 * each read of the L2 file slowed by 100 us. A case with
 * <code>handlers.too=128</code> is there once more, on servers with so many handlers. A case with
 * <code>clients=KIND …</code> has clients of several kinds at the same time, with
 * <code>KIND.property</code> for those of one.
 * <p>
 * A file with <code>of</code>, full names of cases of other files, and <code>encodings</code> has
 * a twin of each of these cases for each encoding, on a table that has the properties
 * <code>ENCODING.property</code>.
 */
final class WorkloadCase {
  /** The files, in the order in which they are run. */
  static final List<String> GROUPS =
    List.of("throughput", "ycsb", "apsaradb", "increment", "log", "ssd", "warm", "encoded",
      "adverse");

  /** The target of the p99 of adverse cases. */
  private static final String ADVERSE_P99 = "1.1";
  private static final List<String> WRITES = List.of("updateproportion", "insertproportion",
    "incrementproportion", "readmodifywriteproportion", "checkandmutateproportion",
    "latestdeleteproportion");
  /** Names of the kinds of clients. */
  static final String CLIENTS = "clients";
  /** The name of a kind, among the properties of each of {@link #kinds}. */
  static final String KIND = "kind";
  private static final String HANDLERS = "handlers";
  /** Before what the servers of a case have and others have not. */
  private static final String SERVER_PREFIX = "server.";
  /** If {@link #SERVER_PREFIX} has an effect. */
  static final String OWN_SERVERS = "own.servers";

  private final String group;
  private final String name;
  private final int micros;
  private final boolean quick;
  private final Properties properties;

  private WorkloadCase(String group, String name, int micros, boolean quick,
    Properties properties) {
    this.group = group;
    this.name = name;
    this.micros = micros;
    this.quick = quick;
    this.properties = properties;
  }

  /**
   * All cases of a group.
   * @param defaults properties of a case that neither it nor its file says; <code>handlers</code>
   *                 is one of them
   */
  static List<WorkloadCase> read(String group, Properties defaults)
    throws IOException, SuiteException {
    Properties file = properties("workloads/" + group + ".properties");
    List<WorkloadCase> cases = file.containsKey("of")
      ? twins(group, file, defaults)
      : cases(group, file, defaults);
    for (WorkloadCase one : cases) {
      for (WorkloadCase kind : one.kinds()) {
        for (String key : List.of("title", "source", "table", "threads")) {
          if (kind.properties.getProperty(key) == null) {
            throw new SuiteException("workloads/" + group + ".properties says no " + key + " for "
              + kind.name + ": add one.");
          }
        }
      }
    }
    return cases;
  }

  private static List<WorkloadCase> cases(String group, Properties file, Properties defaults) {
    List<WorkloadCase> cases = new ArrayList<>();
    List<String> names = words(file, "cases");
    List<String> quick = words(file, "quick");
    for (String name : names) {
      Properties own = new Properties();
      own.putAll(defaults);
      for (String key : file.stringPropertyNames()) {
        int dot = key.indexOf('.');
        if (dot > 0 && names.contains(key.substring(0, dot))) {
          continue;
        }
        own.setProperty(key, file.getProperty(key));
      }
      own.putAll(below(file, name + "."));
      for (String micros : own.getProperty("micros", "0").split(",")) {
        int waits = Integer.parseInt(micros);
        String full = waits == 0 ? name : name + "-" + waits + "us";
        cases.add(new WorkloadCase(group, full, waits, quick.contains(full), own));
      }
      if (own.containsKey("handlers.too")) {
        String handlers = own.getProperty("handlers.too");
        Properties more = new Properties();
        more.putAll(own);
        more.setProperty(HANDLERS, handlers);
        String full = name + "-" + handlers + "handlers";
        cases.add(new WorkloadCase(group, full, 0, quick.contains(full), more));
      }
    }
    return cases;
  }

  /** Cases of other groups on tables with other encodings; their targets are those of the file. */
  private static List<WorkloadCase> twins(String group, Properties file, Properties defaults)
    throws IOException, SuiteException {
    List<WorkloadCase> twins = new ArrayList<>();
    for (String encoding : words(file, "encodings")) {
      for (String of : words(file, "of")) {
        WorkloadCase one = read(of.substring(0, of.indexOf('/')), defaults).stream()
          .filter(other -> other.fullName().equals(of)).findFirst()
          .orElseThrow(() -> new SuiteException("workloads/" + group + ".properties has a twin of "
            + of + ", which is no case."));
        Properties own = new Properties();
        own.putAll(one.properties);
        own.stringPropertyNames().stream().filter(key -> key.startsWith("target."))
          .forEach(own::remove);
        List.of("title", "source", "adverse")
          .forEach(key -> own.setProperty(key, file.getProperty(key, "")));
        own.setProperty("table", one.table() + "-" + encoding);
        own.putAll(below(file, encoding + "."));
        twins.add(new WorkloadCase(group, one.name + "-" + encoding, 0, false, own));
      }
    }
    return twins;
  }

  /** The properties with a prefix, without it. */
  private static Properties below(Properties properties, String prefix) {
    Properties below = new Properties();
    properties.stringPropertyNames().stream().filter(key -> key.startsWith(prefix)).forEach(
      key -> below.setProperty(key.substring(prefix.length()), properties.getProperty(key)));
    return below;
  }

  /** Returns each kind of clients as a case; this case if all its clients are alike. */
  List<WorkloadCase> kinds() {
    if (!properties.containsKey(CLIENTS)) {
      return List.of(this);
    }
    List<WorkloadCase> kinds = new ArrayList<>();
    for (String kind : words(properties, CLIENTS)) {
      Properties own = new Properties();
      own.putAll(properties);
      own.remove(CLIENTS);
      own.setProperty(KIND, kind);
      own.putAll(below(properties, kind + "."));
      kinds.add(new WorkloadCase(group, name + " " + kind, micros, quick, own));
    }
    return kinds;
  }

  static Properties properties(String resource) throws IOException {
    try (InputStream in = WorkloadCase.class.getClassLoader().getResourceAsStream(resource)) {
      Properties properties = new Properties();
      properties.load(new InputStreamReader(in, StandardCharsets.UTF_8));
      return properties;
    }
  }

  private static List<String> words(Properties properties, String key) {
    return List.of(properties.getProperty(key, "").trim().split("\\s+"));
  }

  /** Returns the name for selection and headings, such as <code>throughput/get-zipfian</code>. */
  String fullName() {
    return group + "/" + name;
  }

  String group() {
    return group;
  }

  /** Returns whether it is part of the quick form. */
  boolean isQuick() {
    return quick;
  }

  /** Returns how long each read of the L2 file is to wait, in microseconds. */
  int micros() {
    return micros;
  }

  /** Returns how long each positional read of HDFS is to wait, in microseconds. */
  int hdfsMicros() {
    return Integer.parseInt(properties.getProperty("hdfs.micros", "0"));
  }

  /** Returns how much later each sync of a WAL is to end, in milliseconds. */
  int syncMillis() {
    return Integer.parseInt(properties.getProperty("sync.millis", "0"));
  }

  String get(String key, String otherwise) {
    return properties.getProperty(key, otherwise);
  }

  String table() {
    return properties.getProperty("table");
  }

  /** Returns the tables of all kinds of clients. */
  Set<String> tables() {
    return kinds().stream().map(WorkloadCase::table)
      .collect(Collectors.toCollection(TreeSet::new));
  }

  int threads() {
    return kinds().stream()
      .mapToInt(kind -> Integer.parseInt(kind.properties.getProperty("threads"))).sum();
  }

  /** Returns how many general handlers the servers have. */
  int handlers() {
    return Integer.parseInt(properties.getProperty(HANDLERS));
  }

  /**
   * Returns what its servers have: <code>handlers</code>, and of what other cases do not have, keys
   * of <code>suite.properties</code>, of HBase for both sides, and of HBase with <code>fork.</code>
   * before them for the fork's. Cases for which they are equal have the same servers.
   */
  Map<String, String> servers() {
    Map<String, String> servers = new TreeMap<>();
    if (isTrue(OWN_SERVERS)) {
      Properties below = below(properties, SERVER_PREFIX);
      below.stringPropertyNames().forEach(key -> servers.put(key, below.getProperty(key)));
    }
    servers.put(HANDLERS, properties.getProperty(HANDLERS));
    return servers;
  }

  /** Returns how many rows to load before the first case of the table; a quick run has fewer. */
  int rows(boolean isQuickRun) {
    String rows = properties.getProperty("rows", "0");
    return Math.min(Integer.parseInt(properties.getProperty("rows.max", rows)),
      Integer.parseInt(isQuickRun ? properties.getProperty("rows.quick", rows) : rows));
  }

  /** Returns whether the table's blocks are all brought into the cache before. */
  boolean isWarm() {
    return isTrue("table.cached") && isTrue("table.warm")
      && !properties.getProperty("rows", "0").equals("0");
  }

  /** Returns whether a compaction makes one file of each store of the table before. */
  boolean isCompacted() {
    return isTrue("table.compacted");
  }

  private boolean isTrue(String key) {
    return Boolean.parseBoolean(properties.getProperty(key, "true"));
  }

  /** Returns how many columns of each row are deleted before the first run, the first ones. */
  int deletedColumns() {
    return Integer.parseInt(properties.getProperty("table.deleted.columns", "0"));
  }

  /** Returns whether a run that is not among the results draws a flame graph of each side. */
  boolean isProfiled() {
    return Boolean.parseBoolean(properties.getProperty("flame"));
  }

  /** Returns the process whose time is the case's subject. */
  String subject() {
    return properties.containsKey("hdfs") ? "client" : "regionserver";
  }

  /** Returns whether each run begins with an empty table. */
  boolean isEmptied() {
    return Boolean.parseBoolean(properties.getProperty("emptied"));
  }

  /** Returns whether runs change the table. */
  boolean isWriting() {
    return kinds().stream().anyMatch(kind -> WRITES.stream()
      .anyMatch(key -> Double.parseDouble(kind.properties.getProperty(key, "0")) > 0));
  }

  /**
   * Returns whether it is a load that a feature was not made for: the fork is not to be slower, and
   * its requests are to get no exception of a type that they do not get on stock.
   */
  boolean isAdverse() {
    return Boolean.parseBoolean(properties.getProperty("adverse"));
  }

  /** Returns the {@link MaintenanceEvent} in the middle of each run; empty for none. */
  String event() {
    return properties.getProperty("event", "");
  }

  /** Runs shorter than this say nothing, as what the case waits for is too seldom; 0: none. */
  double minSeconds() {
    return Double.parseDouble(properties.getProperty("seconds.least", "0"));
  }

  /**
   * Returns the part of the slower side's throughput at which latency is measured too; more than 1:
   * operations per second; 0: not.
   */
  double fixedRate() {
    return Double.parseDouble(properties.getProperty("fixed.rate", "0"));
  }

  /**
   * Returns what the fork is to reach, as a ratio to stock.
   * @param figure <code>throughput</code> or <code>p99</code>
   * @return NaN if nothing is asked
   */
  double target(String figure) {
    String key = "target." + figure;
    return Double.parseDouble(properties.getProperty(micros > 0 ? key + "." + micros + "us" : key,
      isAdverse() && figure.equals("p99") ? ADVERSE_P99 : "NaN"));
  }

  JsonObject json() {
    JsonObject json = new JsonObject();
    for (String key : new TreeSet<>(properties.stringPropertyNames())) {
      if (!List.of("cases", "quick", "source", "title", OWN_SERVERS).contains(key)) {
        json.addProperty(key, properties.getProperty(key));
      }
    }
    return json;
  }

  @Override
  public String toString() {
    return fullName();
  }
}
