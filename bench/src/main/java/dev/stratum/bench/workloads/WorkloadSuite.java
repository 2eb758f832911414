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

import dev.stratum.processes.LoopbackHdfs;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;
import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * Runs cases on both sides in turns, and writes <code>results.json</code>,
 * <code>summary.json</code>, <code>report.html</code> and <code>table.md</code> after each, so that
 * what was measured is there however the run ends.
 * <p>
 * Both sides' servers run all the time, and one of them works. A table is loaded on both sides at
 * once and used by all cases that name it. Cases with another number of handlers come last, on
 * servers that begin anew. Each round of a case is measured on one side and then on the other, the
 * sides taking turns at being first, so that what slows the machine down slows both.
 */
final class WorkloadSuite implements Closeable {
  private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm");
  /** Begins the name of an argument that is a key of HBase's for the fork's side. */
  private static final String HBASE_KEY = "fork.hbase.";
  private static final double START_GUESS = 30;
  private static final double LOAD_GUESS = 1.0 / 8000;
  /** What making, flushing and compacting a table takes, in the time of so many rows. */
  private static final int ROWS_OF_A_TABLE = 20_000;
  private static final double RUN_GUESS = 1.2;
  /** How often a round is measured again at most. */
  private static final int REPETITIONS = 2;
  private static final double EMPTY_GUESS = 5;
  /** Of the time that a warm-up may take. */
  private static final double WARM_GUESS = 0.5;
  private static final Pattern LINE_BREAKS = Pattern.compile("\\s*\\R\\s*");
  /** Arguments that are not sizes. */
  private static final List<String> ARGUMENTS = List.of("directory", "fork.class.path",
    "stock.class.path", "quick", "include", "command", "list", "rows.max", "flame");

  private final Properties arguments;
  private final Properties sizes;
  private final PrintStream out;
  private final Path directory;
  private final boolean quick;
  private final List<ClusterUnderTest> sides = new CopyOnWriteArrayList<>();
  private final EtaEstimator eta = new EtaEstimator();
  private final JsonObject results = new JsonObject();
  private final JsonArray caseResults = new JsonArray();
  /** What to ask for to sleep so many us, in ns. */
  private final Map<Integer, Long> sleeps = new HashMap<>();
  /** The tables that both sides have. */
  private final Set<String> loaded = new HashSet<>();
  private int starts;
  private volatile boolean closed;

  /**
   * @param arguments <code>directory</code>, <code>fork.class.path</code>,
   *                  <code>stock.class.path</code>, <code>quick</code>, <code>include</code> (a
   *                  regular expression), <code>command</code>, any key of
   *                  <code>workloads/suite.properties</code>, and <code>fork.</code> with a key of
   *                  HBase's behind it, for the fork's side; all but the first three optional
   */
  WorkloadSuite(Properties arguments, PrintStream out) throws IOException {
    this.arguments = arguments;
    this.out = out;
    this.directory = Path.of(arguments.getProperty("directory"));
    this.quick = Boolean.parseBoolean(arguments.getProperty("quick"));
    this.sizes = WorkloadCase.properties("workloads/suite.properties");
    if (quick) {
      for (String key : List.of("first.warmup.seconds", "first.warmup.window", "warmup.seconds",
        "seconds", "rounds", "compiling.max")) {
        sizes.setProperty(key, sizes.getProperty("quick." + key));
      }
    }
    sizes.putAll(arguments);
  }

  /** @param args a file with the arguments, as properties */
  public static void main(String[] args) throws IOException {
    Properties arguments = new Properties();
    try (Reader in = Files.newBufferedReader(Path.of(args[0]))) {
      arguments.load(in);
    }
    WorkloadSuite suite = new WorkloadSuite(arguments, System.out);
    Runtime.getRuntime().addShutdownHook(new Thread(suite::close, "stop-workloads"));
    Thread parent = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {
          continue;
        }
      } catch (IOException e) {
        // Whoever started this is gone either way.
      }
      System.exit(1);
    }, "parent");
    parent.setDaemon(true);
    parent.start();
    int failures = 1;
    try {
      failures = suite.run();
    } catch (SuiteException e) {
      if (!suite.closed) {
        System.err.println(e.getMessage());
      }
    }
    System.exit(failures == 0 ? 0 : 1);
  }

  private double number(String key) {
    return Double.parseDouble(sizes.getProperty(key));
  }

  private void checkArguments() throws IOException, SuiteException {
    Properties known = WorkloadCase.properties("workloads/suite.properties");
    for (String key : arguments.stringPropertyNames()) {
      String value = arguments.getProperty(key);
      if (ARGUMENTS.contains(key) || key.startsWith(HBASE_KEY)) {
        continue;
      }
      if (!known.containsKey(key)) {
        throw new SuiteException("workloads.with: " + key + "=" + value + " is not a key of "
          + "workloads/suite.properties: use one of " + new TreeSet<>(known.keySet()) + ", or "
          + HBASE_KEY + " and a key of HBase's.");
      }
      boolean isNumber = known.getProperty(key).matches("[\\d.]+");
      if (isNumber && (!value.matches("\\d+(\\.\\d+)?") || Double.parseDouble(value) <= 0)) {
        throw new SuiteException("workloads.with: " + key + "=" + value
          + " is not a number above 0: use one, such as " + known.getProperty(key) + ".");
      }
    }
  }

  private static Pattern pattern(String include) throws SuiteException {
    try {
      return Pattern.compile(include == null ? "" : include);
    } catch (PatternSyntaxException e) {
      throw new SuiteException("workloads=" + include + " is no regular expression ("
        + e.getDescription() + "): use one, such as ycsb/a$.", e);
    }
  }

  /** The cases that the arguments choose, in the order in which they are run. */
  List<WorkloadCase> cases() throws IOException, SuiteException {
    checkArguments();
    Properties defaults = new Properties();
    sizes.stringPropertyNames().stream().filter(key -> key.startsWith("default."))
      .forEach(key -> defaults.setProperty(key.substring(8), sizes.getProperty(key)));
    for (String key : List.of("rows.max", "flame", "handlers")) {
      if (sizes.containsKey(key)) {
        defaults.setProperty(key, sizes.getProperty(key));
      }
    }
    String include = arguments.getProperty("include");
    Pattern pattern = pattern(include);
    List<WorkloadCase> chosen = new ArrayList<>();
    for (String group : WorkloadCase.GROUPS) {
      for (WorkloadCase one : WorkloadCase.read(group, defaults)) {
        boolean isChosen = include != null
          ? pattern.matcher(one.fullName()).find()
          : !quick || one.isQuick();
        if (isChosen) {
          chosen.add(one);
        }
      }
    }
    if (chosen.isEmpty()) {
      throw new SuiteException("workloads=" + include + " is found in the name of no case:"
        + " -Djmh.list prints their names.");
    }
    // A server has its handlers from its start on: each number has its cases together.
    int usual = (int) number("handlers");
    chosen.sort(Comparator.comparing((WorkloadCase one) -> one.handlers() != usual)
      .thenComparing(WorkloadCase::handlers));
    return chosen;
  }

  /** @return how many cases failed */
  int run() throws IOException, SuiteException {
    List<WorkloadCase> cases = cases();
    if (Boolean.parseBoolean(arguments.getProperty("list"))) {
      cases.forEach(one -> out.println(one + (one.isQuick() ? "  [quick]" : "")));
      return 0;
    }
    Files.createDirectories(directory.resolve("logs"));
    plan(cases);
    say("%d cases, %.0f rounds of %.0f s on each side, about %s", cases.size(), number("rounds"),
      number("seconds"), eta);
    start(cases.get(0).handlers());
    int failures = 0;
    for (int i = 0; i < cases.size(); i++) {
      WorkloadCase one = cases.get(i);
      if (i > 0 && one.handlers() != cases.get(i - 1).handlers()) {
        say("Servers with %d handlers", one.handlers());
        startAnew(cases.subList(i, cases.size()));
      }
      if (!hasResult(one, cases.subList(i, cases.size()))) {
        failures++;
      }
      write();
      List<WorkloadCase> left = cases.subList(i + 1, cases.size());
      boolean isUsedAgain = left.stream().anyMatch(other -> isOnSameTable(one, other));
      boolean isOnLastServers = left.isEmpty() || left.get(0).handlers() == one.handlers();
      if (!isUsedAgain && isOnLastServers && loaded.remove(one.table())) {
        drop(one.table(), left);
      }
    }
    out.println();
    out.print(new SummaryTable(results).text());
    out.println();
    out.println("Report: " + directory.resolve("report.html").toUri());
    return failures;
  }

  private static boolean isOnSameTable(WorkloadCase one, WorkloadCase other) {
    return one.table().equals(other.table()) && one.handlers() == other.handlers();
  }

  /**
   * Measures a case, and if that fails once more on servers that begin anew: what befell either
   * side for no fault of the case is to cost no case, and no later one.
   * @param left the cases that are left, this one first
   * @throws HangException if an operation hangs: that is a defect, and ends the run
   */
  private boolean hasResult(WorkloadCase one, List<WorkloadCase> left)
    throws IOException, SuiteException {
    String failedBefore = null;
    while (true) {
      JsonObject result = describe(one);
      if (failedBefore != null) {
        result.addProperty("failedBefore", failedBefore);
      }
      caseResults.add(result);
      try {
        if (!loaded.contains(one.table())) {
          load(one);
          loaded.add(one.table());
        }
        measure(one, result);
        return true;
      } catch (HangException e) {
        result.addProperty("failure", LINE_BREAKS.matcher(e.getMessage()).replaceAll(" "));
        write();
        throw e;
      } catch (SuiteException e) {
        if (closed) {
          throw e;
        }
        say("%s failed: %s", one, e.getMessage());
        if (failedBefore != null) {
          result.addProperty("failure", e.getMessage());
          startAnew(left.subList(1, left.size()));
          return false;
        }
        failedBefore = e.getMessage();
        caseResults.remove(result);
        startAnew(left);
      }
    }
  }

  private void drop(String table, List<WorkloadCase> left) throws IOException, SuiteException {
    try {
      both(side -> side.drop(table));
    } catch (SuiteException e) {
      if (closed) {
        throw e;
      }
      say("%s could not be dropped: %s", table, e.getMessage());
      startAnew(left);
    }
  }

  /**
   * Ends all processes and starts others in their place, with nothing loaded.
   * @param left the cases that are left; if there are none nothing is done
   */
  private void startAnew(List<WorkloadCase> left) throws IOException, SuiteException {
    if (left.isEmpty()) {
      return;
    }
    sides.forEach(ClusterUnderTest::close);
    sides.clear();
    loaded.clear();
    // What the ended ones kept is as much as the new ones are going to need.
    deleteKept();
    eta.dropPlan();
    plan(left);
    start(left.get(0).handlers());
  }

  private void plan(List<WorkloadCase> cases) {
    eta.plan("start", cases.stream().map(WorkloadCase::handlers).distinct().count(),
      START_GUESS);
    Set<String> tables = new HashSet<>();
    for (WorkloadCase one : cases) {
      if (tables.add(one.handlers() + " " + one.table())) {
        eta.plan("load", one.rows(quick) + ROWS_OF_A_TABLE, LOAD_GUESS);
      }
      eta.plan("warm", (one.fixedRate() > 0 ? 4 : 2) * number("first.warmup.seconds"),
        WARM_GUESS);
      eta.plan("run", secondsOf(one), RUN_GUESS);
      eta.plan("empty", one.isEmptied() ? 2 * (number("rounds") + 1) : 0, EMPTY_GUESS);
    }
  }

  private double secondsOf(WorkloadCase one) {
    double each =
      number("warmup.seconds") + seconds(one) + (one.fixedRate() > 0 ? seconds(one) : 0);
    return 2 * number("rounds") * each + (one.isProfiled() ? 2 * seconds(one) : 0);
  }

  private void start(int handlers) throws IOException, SuiteException {
    long start = System.nanoTime();
    ServerSettings settings = new ServerSettings(sizes);
    starts++;
    // What there is to be said of those that failed is not overwritten.
    Path logs = starts == 1
      ? directory.resolve("logs")
      : Files.createDirectories(directory.resolve("logs").resolve("start-" + starts));
    Path tmp = directory.resolve("tmp").resolve("start-" + starts);
    for (String name : List.of("stock", "fork")) {
      Path folder = Files.createDirectories(tmp.resolve(name));
      Path cacheFile = folder.resolve("l2.cache");
      Map<String, String> keys = new LinkedHashMap<>(settings.shared(handlers));
      Map<String, String> own =
        name.equals("fork") ? settings.fork(cacheFile) : settings.stock(cacheFile);
      String prefix = name + ".";
      arguments.stringPropertyNames().stream()
        .filter(key -> key.startsWith(prefix) && key.startsWith(HBASE_KEY)).forEach(
          key -> own.put(key.substring(prefix.length()), arguments.getProperty(key)));
      keys.putAll(own);
      synchronized (this) {
        if (closed) {
          throw new SuiteException("The run was stopped.");
        }
        sides.add(new ClusterUnderTest(name, arguments.getProperty(name + ".class.path"), keys,
          settings, folder, logs));
      }
      JsonObject json = new JsonObject();
      own.forEach(json::addProperty);
      results.add(name + "Settings", json);
    }
    both(ClusterUnderTest::start);
    JsonObject shared = new JsonObject();
    settings.shared((int) number("handlers")).forEach(shared::addProperty);
    results.add("sharedSettings", shared);
    for (ClusterUnderTest side : sides) {
      results.addProperty(side.name(), side.version());
      results.addProperty(side.name() + "Cache", side.cache());
      results.add(side.name() + "Commands", side.commands());
    }
    results.addProperty("command", arguments.getProperty("command", ""));
    results.addProperty("date", LocalDateTime.now().format(DATE));
    results.addProperty("machine", machine());
    results.add("cases", caseResults);
    done("start", 1, start);
    say("%s and %s are up", sides.get(0).version(), sides.get(1).version());
  }

  private static String machine() {
    return String.format(Locale.ROOT, "JDK %s, %s %s, %d processors, %s",
      System.getProperty("java.version"), System.getProperty("os.name"),
      System.getProperty("os.arch"), Runtime.getRuntime().availableProcessors(), processor());
  }

  private static String processor() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines.filter(line -> line.startsWith("model name")).findFirst()
        .map(line -> line.substring(line.indexOf(':') + 1).trim()).orElse("unknown");
    } catch (IOException | UncheckedIOException e) {
      return "unknown";
    }
  }

  private void load(WorkloadCase one) throws SuiteException {
    int rows = one.rows(quick);
    long start = System.nanoTime();
    both(side -> side.load(one, rows, part -> {
    }));
    done("load", rows + ROWS_OF_A_TABLE, start);
    if (rows > 0) {
      say("%s rows loaded into %s%s", String.format(Locale.ROOT, "%,d", rows), one.table(),
        one.isWarm() ? ", all of them cached" : "");
    }
  }

  private JsonObject describe(WorkloadCase one) {
    JsonObject json = new JsonObject();
    json.addProperty("name", one.fullName());
    json.addProperty("title", one.get("title", ""));
    json.addProperty("source", one.get("source", ""));
    json.addProperty("micros", one.micros());
    json.addProperty("handlers", sides.get(0).handlers());
    json.addProperty("warmupSeconds", number("warmup.seconds"));
    json.addProperty("seconds", seconds(one));
    json.addProperty("rowsLoaded", one.rows(quick));
    json.add("properties", one.json());
    for (String figure : List.of("throughput", "p99")) {
      if (!Double.isNaN(one.target(figure))) {
        json.addProperty(figure + "Aim", one.target(figure));
      }
    }
    json.add("runs", new JsonArray());
    json.add("discarded", new JsonArray());
    return json;
  }

  private void measure(WorkloadCase one, JsonObject result) throws SuiteException {
    int rounds = (int) number("rounds");
    double rate = 0;
    for (ClusterUnderTest side : sides) {
      warm(one, side, 0);
    }
    for (int round = 0; round < rounds; round++) {
      double slowest = measure(one, round, 0, result);
      if (one.fixedRate() > 0) {
        if (rate == 0) {
          // What both can do, and the same in all rounds.
          rate = Math.max(1, Math.round(one.fixedRate() * slowest));
          for (ClusterUnderTest side : sides) {
            warm(one, side, rate);
          }
        }
        measure(one, round, rate, result);
      }
    }
    if (one.isProfiled()) {
      profile(one, result);
    }
  }

  /**
   * Measures a case on both sides, and again while compilers take too much of what is measured.
   * @return the throughput of the slower one
   */
  private double measure(WorkloadCase one, int round, double rate, JsonObject result)
    throws SuiteException {
    for (int left = REPETITIONS;; left--) {
      List<JsonObject> runs = new ArrayList<>();
      for (int turn = 0; turn < sides.size(); turn++) {
        runs.add(run(one, sides.get((turn + round) % sides.size()), round, rate));
      }
      boolean counts = left == 0 || runs.stream().allMatch(run -> isCompiled(one, run));
      runs.forEach(result.getAsJsonArray(counts ? "runs" : "discarded")::add);
      if (counts) {
        return runs.stream().mapToDouble(run -> run.get("throughput").getAsDouble()).min()
          .getAsDouble();
      }
      say("%-30s round %d/%.0f  once more: compilers were at work", one, round + 1,
        number("rounds"));
    }
  }

  private boolean isCompiled(WorkloadCase one, JsonObject run) {
    long millis = Stream.of("client", "regionserver")
      .mapToLong(child -> run.getAsJsonObject(child).get("compileMillis").getAsLong()).sum();
    return millis <= number("compiling.max") * seconds(one) * 1000;
  }

  /** How long a run of a case is measured. */
  private double seconds(WorkloadCase one) {
    return quick ? number("seconds") : Math.max(number("seconds"), one.minSeconds());
  }

  /** Lets the compilers of the side's JVMs see the case before anything of it counts. */
  private void warm(WorkloadCase one, ClusterUnderTest side, double rate) throws SuiteException {
    if (one.isEmptied()) {
      empty(one, side);
    }
    double seconds = number("first.warmup.seconds");
    long start = System.nanoTime();
    slow(side, one.micros());
    if (rate > 0) {
      side.warmUp(one, seconds, number("first.warmup.window"), rate);
    } else {
      side.warmUp(one, seconds, number("first.warmup.window"));
    }
    slow(side, 0);
    done("warm", seconds, start);
  }

  private void empty(WorkloadCase one, ClusterUnderTest side) throws SuiteException {
    long start = System.nanoTime();
    side.truncate(one.table());
    done("empty", 1, start);
  }

  /** A run on each side that is sampled, and for that reason counts for nothing else. */
  private void profile(WorkloadCase one, JsonObject result) throws SuiteException {
    JsonArray files = new JsonArray();
    for (ClusterUnderTest side : sides) {
      long start = System.nanoTime();
      String file = "flame/" + one.fullName().replace('/', '-') + "-" + side.name() + ".html";
      if (one.isEmptied()) {
        side.truncate(one.table());
      }
      slow(side, one.micros());
      side.profile(one.subject());
      side.run(one, seconds(one), 0);
      side.flameGraph(one.subject(), one + ", " + side.version() + ", " + one.subject(),
        directory.resolve(file));
      slow(side, 0);
      files.add(file);
      done("run", seconds(one), start);
    }
    result.add("flameGraphs", files);
  }

  private JsonObject run(WorkloadCase one, ClusterUnderTest side, int round, double rate)
    throws SuiteException {
    if (one.isEmptied()) {
      empty(one, side);
    } else if (one.isWriting()) {
      side.awaitIdle();
    }
    long start = System.nanoTime();
    double warmup = rate > 0 ? 0 : number("warmup.seconds");
    slow(side, one.micros());
    if (warmup > 0) {
      side.run(one, warmup, 0);
      if (one.micros() > 0) {
        // Counted from here.
        slow(side, one.micros());
      }
    }
    JsonObject run = side.run(one, seconds(one), rate);
    JsonObject slowed = slow(side, 0);
    run.addProperty("side", side.name());
    run.addProperty("round", round);
    run.addProperty("rate", rate);
    if (one.micros() > 0) {
      run.add("slowed", slowed);
    }
    done("run", warmup + seconds(one), start);
    JsonObject all = run.getAsJsonObject("all");
    say("%-30s round %d/%.0f  %-5s  %10s ops/s  p99 %8s us%s", one, round + 1, number("rounds"),
      side.name(), String.format(Locale.ROOT, "%,.0f", run.get("throughput").getAsDouble()),
      String.format(Locale.ROOT, "%,.0f", all.get("p99").getAsDouble()),
      rate > 0 ? "  at a fixed rate" : "");
    return run;
  }

  /** The same sleep on both sides, found out once. */
  private JsonObject slow(ClusterUnderTest side, int micros) throws SuiteException {
    if (micros > 0 && !sleeps.containsKey(micros)) {
      sleeps.put(micros, side.calibrate(micros));
    }
    return side.delayReads(micros, sleeps.getOrDefault(micros, 0L));
  }

  private void done(String kind, double amount, long startNanos) {
    eta.done(kind, amount, (System.nanoTime() - startNanos) / 1e9);
  }

  private void say(String format, Object... values) {
    out.printf(Locale.ROOT, "[%5s to go]  %s%n", eta, String.format(Locale.ROOT, format, values));
  }

  /** Something that is done on a side. */
  private interface Step {
    void run(ClusterUnderTest side) throws SuiteException;
  }

  /** Does the same on both sides at once. */
  private void both(Step step) throws SuiteException {
    ExecutorService pool = Executors.newFixedThreadPool(sides.size());
    try {
      List<Future<Void>> steps = new ArrayList<>();
      for (ClusterUnderTest side : sides) {
        steps.add(pool.submit(() -> {
          step.run(side);
          return null;
        }));
      }
      for (Future<Void> one : steps) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof SuiteException
        ? (SuiteException) e.getCause()
        : new SuiteException(String.valueOf(e.getCause()), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SuiteException("The run was interrupted.", e);
    } finally {
      pool.shutdown();
    }
  }

  private void write() throws IOException {
    Gson gson = new GsonBuilder().disableHtmlEscaping().create();
    Files.writeString(directory.resolve("results.json"), gson.toJson(results) + "\n",
      StandardCharsets.UTF_8);
    Files.writeString(directory.resolve("summary.json"), ResultSummary.json(results));
    Files.writeString(directory.resolve("table.md"), new SummaryTable(results).markdown());
    Files.writeString(directory.resolve("report.html"), new WorkloadReport(results).html());
  }

  /** All processes that run on behalf of this suite. */
  List<ProcessHandle> processes() {
    List<ProcessHandle> handles = new ArrayList<>();
    sides.forEach(side -> handles.addAll(side.processes()));
    return handles;
  }

  /** Ends all processes and removes what they kept. May be called by any thread, several times. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    sides.forEach(ClusterUnderTest::close);
    deleteKept();
  }

  /** Removes what the ended processes kept. */
  private void deleteKept() {
    try {
      LoopbackHdfs.removeAbandoned();
      delete(directory.resolve("tmp"));
    } catch (IOException | UncheckedIOException e) {
      out.println("Not all of " + directory.resolve("tmp") + " could be removed: " + e);
    }
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
