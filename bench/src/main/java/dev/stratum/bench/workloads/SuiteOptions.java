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
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * The options of a run and the sizes of <code>workloads/suite.properties</code>. The plugin passes
 * them as a file of properties, in which a key that is no option is one of <code>--with</code>.
 */
@Command(name = "WorkloadSuite", sortOptions = false)
final class SuiteOptions {
  private static final String SIZES = "workloads/suite.properties";
  /** Prefix of a key of HBase's for the fork's side. */
  private static final String FORK_PREFIX = "fork.";
  private static final String HBASE_PREFIX = "hbase.";
  private static final String FORK_HBASE_PREFIX = FORK_PREFIX + HBASE_PREFIX;
  private static final String HANDLERS = "handlers";
  /** Keys of <code>--with</code> that replace a property of every case. */
  private static final Set<String> CASE_KEYS = Set.of("rows.max", "regions.max", "flame");
  private static final List<String> L2_ENGINES = List.of("file", "segments");
  /** Sizes with a value of their own in a quick run, <code>quick.KEY</code>. */
  private static final List<String> QUICK_KEYS = List.of("first.warmup.seconds",
    "first.warmup.window", "warmup.seconds", "seconds", "rounds", "compiling.max");

  @Option(names = "--directory", required = true, description = "where results and logs go")
  private Path directory;

  @Option(names = "--fork.class.path", description = "class path of the fork's side")
  private String forkClassPath;

  @Option(names = "--stock.class.path", description = "class path of stock's side")
  private String stockClassPath;

  @Option(names = "--quick", arity = "0..1", description = "few short rounds and fewer rows")
  private boolean isQuick;

  @Option(names = "--list", arity = "0..1", description = "print the cases and run none")
  private boolean isList;

  @Option(names = "--include", description = "regular expression found in the name of each case")
  private String include;

  @Option(names = "--command", description = "the command that the report prints")
  private String command = "";

  @Option(names = "--with", description = "a key of " + SIZES + ", or " + FORK_PREFIX
    + " and a key of HBase's for the fork's side, with its value")
  private Map<String, String> with = new LinkedHashMap<>();

  private final Properties defaults;
  private final Properties sizes = new Properties();

  private SuiteOptions() throws IOException {
    defaults = WorkloadCase.properties(SIZES);
  }

  /** @param file properties with the names of options as keys, and keys of <code>--with</code> */
  static SuiteOptions read(Path file) throws IOException, SuiteException {
    Properties arguments = new Properties();
    try (Reader in = Files.newBufferedReader(file)) {
      arguments.load(in);
    }
    return of(arguments);
  }

  /**
   * @param arguments as {@link #read} reads them
   * @throws SuiteException if a key is unknown or a value is out of range
   */
  static SuiteOptions of(Properties arguments) throws IOException, SuiteException {
    SuiteOptions options = new SuiteOptions();
    CommandLine commandLine = new CommandLine(options);
    List<String> args = new ArrayList<>();
    for (String key : new TreeSet<>(arguments.stringPropertyNames())) {
      String option = "--" + key;
      boolean isOption = commandLine.getCommandSpec().findOption(option) != null;
      args.add(isOption
        ? option + "=" + arguments.getProperty(key)
        : "--with=" + key + "=" + arguments.getProperty(key));
    }
    try {
      commandLine.parseArgs(args.toArray(new String[0]));
    } catch (ParameterException e) {
      throw new SuiteException("workloads: " + e.getMessage(), e);
    }
    options.checkSizes();
    options.setSizes();
    return options;
  }

  private void checkSizes() throws SuiteException {
    for (Map.Entry<String, String> size : with.entrySet()) {
      String key = size.getKey();
      String value = size.getValue();
      if (CASE_KEYS.contains(key) || key.startsWith(FORK_HBASE_PREFIX)) {
        continue;
      }
      if (!defaults.containsKey(key)) {
        throw new SuiteException("workloads.with: " + key + "=" + value + " is not a key of "
          + SIZES + ": use one of " + new TreeSet<>(defaults.keySet()) + ", or "
          + FORK_HBASE_PREFIX + " and a key of HBase's.");
      }
      if (key.equals("stock.cache") && !StockCache.names().contains(value)) {
        throw new SuiteException("workloads.with: " + key + "=" + value
          + " is no cache: use one of " + StockCache.names() + ".");
      }
      if (key.equals(WorkloadCase.OWN_SERVERS) && !value.matches("true|false")) {
        throw new SuiteException("workloads.with: " + key + "=" + value
          + " is neither true nor false.");
      }
      if (key.equals("l2.engine") && !L2_ENGINES.contains(value)) {
        throw new SuiteException("workloads.with: " + key + "=" + value
          + " is no engine: use one of " + L2_ENGINES + ".");
      }
      boolean isNumber = defaults.getProperty(key).matches("[\\d.]+");
      if (isNumber && (!value.matches("\\d+(\\.\\d+)?") || Double.parseDouble(value) <= 0)) {
        throw new SuiteException("workloads.with: " + key + "=" + value
          + " is not a number above 0: use one, such as " + defaults.getProperty(key) + ".");
      }
    }
  }

  private void setSizes() {
    sizes.putAll(defaults);
    if (isQuick) {
      for (String key : QUICK_KEYS) {
        sizes.setProperty(key, defaults.getProperty("quick." + key));
      }
    }
    sizes.putAll(with);
  }

  Path directory() {
    return directory;
  }

  /** @param side <code>fork</code> or <code>stock</code> */
  String classPath(String side) {
    return side.equals("fork") ? forkClassPath : stockClassPath;
  }

  boolean isQuick() {
    return isQuick;
  }

  boolean isList() {
    return isList;
  }

  /** Returns the regular expression of the cases' names, or null. */
  String include() {
    return include;
  }

  Pattern includePattern() throws SuiteException {
    try {
      return Pattern.compile(include == null ? "" : include);
    } catch (PatternSyntaxException e) {
      throw new SuiteException("workloads=" + include + " is no regular expression ("
        + e.getDescription() + "): use one, such as ycsb/a$.", e);
    }
  }

  String command() {
    return command;
  }

  /** Returns the sizes, with those of a quick run and of <code>--with</code> in their places. */
  Properties sizes() {
    return sizes;
  }

  double number(String key) {
    return Double.parseDouble(sizes.getProperty(key));
  }

  /** Properties of a case for which neither it nor its file has a value. */
  Properties caseDefaults() {
    Properties properties = new Properties();
    String prefix = "default.";
    sizes.stringPropertyNames().stream().filter(key -> key.startsWith(prefix))
      .forEach(key -> properties.setProperty(key.substring(prefix.length()),
        sizes.getProperty(key)));
    for (String key : List.of("rows.max", "regions.max", "flame", HANDLERS,
      WorkloadCase.OWN_SERVERS)) {
      if (sizes.containsKey(key)) {
        properties.setProperty(key, sizes.getProperty(key));
      }
    }
    return properties;
  }

  /**
   * The sizes of servers that differ from others. What <code>--with</code> says has priority, but
   * for the number of handlers.
   * @param servers see {@link WorkloadCase#servers}
   */
  Properties sizes(Map<String, String> servers) {
    Properties own = new Properties();
    own.putAll(sizes);
    servers.forEach((key, value) -> {
      if (defaults.containsKey(key) && (key.equals(HANDLERS) || !with.containsKey(key))) {
        own.setProperty(key, value);
      }
    });
    return own;
  }

  /** HBase's keys of both sides of servers that differ from others. */
  static Map<String, String> keys(Map<String, String> servers) {
    return below(servers, HBASE_PREFIX, HBASE_PREFIX);
  }

  /** Returns the same of the fork's side; what <code>--with</code> says has priority. */
  Map<String, String> forkKeys(Map<String, String> servers) {
    Map<String, String> keys = below(servers, FORK_HBASE_PREFIX, HBASE_PREFIX);
    keys.putAll(forkKeys());
    return keys;
  }

  /** Returns HBase's keys that <code>--with</code> sets on the fork's side only. */
  Map<String, String> forkKeys() {
    return below(with, FORK_HBASE_PREFIX, HBASE_PREFIX);
  }

  private static Map<String, String> below(Map<String, String> keys, String prefix, String other) {
    Map<String, String> below = new LinkedHashMap<>();
    keys.forEach((key, value) -> {
      if (key.startsWith(prefix)) {
        below.put(other + key.substring(prefix.length()), value);
      }
    });
    return below;
  }
}
