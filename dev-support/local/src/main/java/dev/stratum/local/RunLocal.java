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
package dev.stratum.local;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.LogManager;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The program behind {@code dev-support/run-local.sh}: a cluster of one in this JVM, YCSB's
 * usertable, reads, one table of figures, and then a server to try things on.
 */
@Command(name = "dev-support/run-local.sh", separator = " ")
final class RunLocal implements Callable<Integer> {
  static final int FAILED = 1;
  static final int WRONG_ARGUMENTS = 2;
  /** As the script, which answers --help and what it can see is wrong before it builds. */
  private static final String USAGE = "usage: dev-support/run-local.sh"
    + " [--once] [--rows N] [--l1-mb N] [--l2-mb N] [-Dkey=value ...]";
  /** A bucket allocator needs four of its largest buckets for each bucket size. */
  private static final int SMALLEST_TIER_MB = 32;
  private static final int MULTIGET_ROWS = 50;
  private static final int GET_THREADS = 8;
  private static final int MULTIGET_THREADS = 2;
  private static final int STOP_SECONDS = 60;
  private static final long WATCH_MILLIS = 500;
  /** Row keys, cell headers and the files of a compaction beside those that they replace. */
  private static final int DISK_BYTES_PER_ROW = 6 * Ycsb.FIELDS * Ycsb.FIELD_BYTES;

  @Option(names = "--once")
  private boolean once;

  @Option(names = "--rows", defaultValue = "200000")
  private int rows;

  @Option(names = "--l1-mb", defaultValue = "256")
  private int l1Mb;

  @Option(names = "--l2-mb", defaultValue = "1024")
  private int l2Mb;

  @Option(names = "-D")
  private Map<String, String> overrides = new LinkedHashMap<>();

  /** How long each kind of read runs; for tests, as the next one. */
  @Option(names = "--seconds", defaultValue = "5")
  private double seconds;

  @Option(names = "--folder", defaultValue = "target/local")
  private Path folder;

  @CommandLine.Spec
  private CommandLine.Model.CommandSpec spec;

  private final Stages stages;
  private final boolean terminal;
  private final AtomicReference<LocalCluster> running = new AtomicReference<>();
  private volatile boolean serving;
  private volatile boolean stopping;

  RunLocal(PrintStream out, boolean terminal) {
    this.stages = new Stages(out);
    this.terminal = terminal;
  }

  public static void main(String[] args) {
    boolean terminal = Boolean.getBoolean("stratum.local.terminal");
    // HBase leaves threads behind that would keep the JVM alive.
    System.exit(commandLine(new RunLocal(System.out, terminal)).execute(args));
  }

  static CommandLine commandLine(RunLocal program) {
    CommandLine commandLine = new CommandLine(program);
    commandLine.setParameterExceptionHandler((exception, args) -> {
      PrintWriter err = exception.getCommandLine().getErr();
      err.println("run-local: " + exception.getMessage());
      err.println(USAGE);
      return WRONG_ARGUMENTS;
    });
    return commandLine;
  }

  @Override
  public Integer call() {
    checkArguments();
    folder = folder.toAbsolutePath().normalize();
    Path logs = folder.resolve("logs");
    try {
      Files.createDirectories(logs);
    } catch (IOException e) {
      System.err.println("run-local: " + logs + " cannot be made (" + e + "); make it writable.");
      return FAILED;
    }
    // Before the first logger is made.
    System.setProperty("stratum.local.logs", logs.toString());
    LogManager.getLogManager().reset();
    OutOfMemoryReport memory = new OutOfMemoryReport(System.err, logs.resolve("run.log"),
      maxHeapMb(), directMemoryMb());
    memory.install();
    try (RunLock lock = RunLock.acquire(folder)) {
      run();
      return 0;
    } catch (OutOfMemoryError e) {
      memory.report(e);
      return failed("The servers ended.", e, logs);
    } catch (RunLocalException e) {
      return failed(e.getMessage(), e, logs);
    } catch (Exception e) {
      return failed("Something that was not foreseen: " + e + ".", e, logs);
    }
  }

  private void checkArguments() {
    atLeast("--rows", rows, 1);
    atLeast("--l1-mb", l1Mb, SMALLEST_TIER_MB);
    atLeast("--l2-mb", l2Mb, SMALLEST_TIER_MB);
  }

  private void atLeast(String option, int value, int least) {
    if (value < least) {
      throw new CommandLine.ParameterException(spec.commandLine(),
        "Invalid value for option '" + option + "': " + value + " is less than " + least);
    }
  }

  private int failed(String sentence, Throwable e, Path logs) {
    if (stopping) {
      // What fails after Ctrl-C fails because of it.
      return FAILED;
    }
    // No field: the log's folder is only known once the arguments are read.
    LoggerFactory.getLogger(RunLocal.class).error("{}", sentence, e);
    stages.stream().flush();
    System.err.println("run-local: " + sentence);
    System.err.println("run-local: the log is " + logs.resolve("run.log"));
    stop();
    return FAILED;
  }

  private void run() throws Exception {
    Configuration conf = LocalSettings.create(folder, l1Mb, l2Mb, overrides);
    long diskMb = l2Mb + (long) rows * DISK_BYTES_PER_ROW / (1 << 20);
    Preconditions.enoughMemory(directMemoryMb());
    Preconditions.enoughDisk(folder, diskMb);
    Preconditions.portsFree(LocalSettings.fixedPorts(conf));
    Path root = Path.of(System.getProperty("stratum.local.root", "/"));
    stages.done("HBase %s: hbase-common, hbase-client and hbase-server are the jars built here",
      RunningJars.check(root));

    LocalCluster cluster = new LocalCluster(conf);
    running.set(cluster);
    Runtime.getRuntime().addShutdownHook(new Thread(this::stopOnSignal, "stop-local-cluster"));
    cluster.startZooKeeper();
    stages.done("ZooKeeper is up");
    cluster.startServers();
    serving = true;
    stages.done("master and RegionServer are up, files in %s", folder);
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      fill(new UserTable(connection), cluster);
      read(connection, cluster);
      if (!once) {
        printAddresses(connection);
      }
    }
    if (once) {
      stop();
    } else {
      serve(cluster);
    }
  }

  private void fill(UserTable table, LocalCluster cluster) throws Exception {
    int present = table.open();
    if (present >= rows) {
      stages.done("%s holds %s rows from an earlier run%s", UserTable.NAME,
        LoadProgress.count(present),
        present > rows ? ", of which the first " + LoadProgress.count(rows) + " are read" : "");
    } else {
      if (present > 0) {
        stages.done("%s holds %s rows from an earlier run; loading the rest", UserTable.NAME,
          LoadProgress.count(present));
      }
      try (LoadProgress progress = new LoadProgress(stages, rows - present, terminal)) {
        table.load(present, rows, progress);
      }
      stages.done("loaded %s rows of %d x %d B into %s", LoadProgress.count(rows - present),
        Ycsb.FIELDS, Ycsb.FIELD_BYTES, UserTable.NAME);
    }
    table.flush();
    table.compact(cluster.regionServer());
    stages.done("flushed and compacted: %s MB of files",
      LoadProgress.count(table.fileBytes(cluster.regionServer()) >> 20));
  }

  private void read(Connection connection, LocalCluster cluster) throws Exception {
    CacheTiers tiers = new CacheTiers(cluster.blockCache());
    List<ReadPhase> phases = List.of(new ReadPhase("get", GET_THREADS, 1),
      new ReadPhase("multiget of " + MULTIGET_ROWS, MULTIGET_THREADS, MULTIGET_ROWS));
    for (ReadPhase phase : phases) {
      phase.run(connection, rows, seconds / 2);
    }
    stages.done("warm-up completed");
    List<ReadPhase.Outcome> outcomes = new ArrayList<>();
    for (ReadPhase phase : phases) {
      outcomes.add(phase.run(connection, rows, seconds));
    }
    stages.done("read with zipfian keys, the client in the same JVM as the server");
    stages.text("");
    stages.text(ReadPhase.Outcome.report(outcomes).toString());
    stages.text("  block cache, counted from the first read, warm-up included");
    stages.text(tiers.report().toString());
  }

  private void printAddresses(Connection connection) throws IOException {
    Configuration conf = connection.getConfiguration();
    String url = "http://" + LocalSettings.HOST + ":";
    try (Admin admin = connection.getAdmin()) {
      stages.text("  web UI        " + url + admin.getMasterInfoPort() + "/master-status");
      for (ServerMetrics server : admin.getClusterMetrics().getLiveServerMetrics().values()) {
        String regionServer = "                " + url + server.getInfoServerPort();
        stages.text(regionServer + "/rs-status");
        stages.text(regionServer + "/tiers");
      }
    }
    stages.text("  client        " + HConstants.ZOOKEEPER_QUORUM + "="
      + conf.get(HConstants.ZOOKEEPER_QUORUM));
    stages.text("                " + HConstants.ZOOKEEPER_CLIENT_PORT + "="
      + conf.get(HConstants.ZOOKEEPER_CLIENT_PORT));
    stages.text("");
  }

  private void serve(LocalCluster cluster) throws InterruptedException, RunLocalException {
    stages.done("serving; Ctrl-C stops");
    while (true) {
      Thread.sleep(WATCH_MILLIS);
      String ended = cluster.endedServer();
      if (ended != null && !stopping) {
        throw new RunLocalException("The " + ended + " has ended by itself.");
      }
    }
  }

  private void stopOnSignal() {
    if (running.get() == null) {
      return;
    }
    stopping = true;
    stages.text("");
    stages.done("stopping");
    stop();
  }

  /** Stops what runs, once; a server that hangs does not keep the JVM from ending. */
  private void stop() {
    LocalCluster cluster = running.getAndSet(null);
    if (cluster == null) {
      return;
    }
    Thread stopper = new Thread(cluster::stop, "stop-servers");
    stopper.setDaemon(true);
    stopper.start();
    try {
      stopper.join(TimeUnit.SECONDS.toMillis(STOP_SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (stopper.isAlive()) {
      stages.done("not stopped within %d s; the next run recovers from the WAL", STOP_SECONDS);
    } else {
      stages.done(serving ? "stopped, regions flushed and WAL closed" : "stopped");
    }
    org.apache.logging.log4j.LogManager.shutdown();
  }

  /** As -Xmx says; the space that can be used is less with some collectors. */
  private static long maxHeapMb() {
    return Long.parseLong(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
      .getVMOption("MaxHeapSize").getValue()) >> 20;
  }

  private static long directMemoryMb() {
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith("-XX:MaxDirectMemorySize=") && argument.endsWith("m")) {
        return Long.parseLong(argument.replaceAll("\\D", ""));
      }
    }
    // The JVM's own limit where none is given.
    return maxHeapMb();
  }
}
