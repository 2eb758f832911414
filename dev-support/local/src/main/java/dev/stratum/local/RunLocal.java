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
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.LogManager;
import org.apache.commons.lang3.exception.ExceptionUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The program behind {@code dev-support/run-local.sh}: a cluster of one in this JVM, YCSB's
 * usertable, reads, one table of figures, and then a server to try things on. The script checks the
 * arguments and passes them as system properties; the program's own are keys of HBase.
 */
final class RunLocal {
  static final int FAILED = 1;
  private static final Logger LOG = LoggerFactory.getLogger(RunLocal.class);
  private static final long START_NANOS = System.nanoTime();
  private static final int MULTIGET_ROWS = 50;
  private static final int GET_THREADS = 8;
  private static final int MULTIGET_THREADS = 2;
  private static final int STOP_SECONDS = 60;
  private static final long WATCH_MILLIS = 500;
  private static final String ADDRESSES = """
        web UI        http://localhost:%d/master-status
                      http://localhost:%d/rs-status
                      http://localhost:%<d/features
        client        %s=%s
                      %s=%s

      """;
  /** Priority of a hook that runs before Hadoop closes the file systems. */
  private static final int STOP_PRIORITY = 100;

  private final Path folder = Path.of(System.getProperty("stratum.local.folder"));
  private final boolean once = Boolean.getBoolean("stratum.local.once");
  private final int l2Mb = Integer.getInteger("stratum.local.l2.mb");
  private final int rows = Integer.getInteger("stratum.local.rows");
  /** How long each kind of read runs; shorter in tests. */
  private final int seconds = Integer.getInteger("stratum.local.seconds", 5);
  private final Configuration conf;
  private final LocalCluster cluster;
  /** Set by the first failure, Ctrl-C, or the end: what fails later fails because of it. */
  private final AtomicBoolean ending = new AtomicBoolean();
  private volatile boolean up;
  /** Referred to, since a channel without a reference is closed. */
  private FileChannel lock;

  /** Ends the run with one sentence for the user; the cause is in the log. */
  static final class Failure extends Exception {
    private static final long serialVersionUID = 1L;

    /** @param sentence what is wrong and what to do about it, ending in a full stop */
    Failure(String sentence) {
      super(sentence);
    }

    Failure(String sentence, Throwable cause) {
      super(sentence, cause);
    }
  }

  private RunLocal(String[] settings) {
    conf = LocalSettings.create(folder, Integer.getInteger("stratum.local.l1.mb"), l2Mb, settings);
    cluster = new LocalCluster(conf);
  }

  public static void main(String[] settings) {
    LogManager.getLogManager().reset();
    // HBase leaves threads behind that would keep the JVM alive.
    System.exit(new RunLocal(settings).run());
  }

  private int run() {
    // A RegionServer that runs out of memory logs the error and halts the JVM.
    AbstractAppender outOfMemory =
      new AbstractAppender("out-of-memory", null, null, true, Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
          reportOutOfMemory(event.getThrown());
        }
      };
    outOfMemory.start();
    LoggerContext.getContext(false).getRootLogger().addAppender(outOfMemory);
    try {
      lock();
      LocalSettings.check(conf, folder, l2Mb, rows);
      done("HBase %s: hbase-common, hbase-client and hbase-server are the jars built here",
        runningVersion(Path.of(System.getProperty("stratum.local.root"))));
      ShutdownHookManager.get().addShutdownHook(this::stop, STOP_PRIORITY, STOP_SECONDS,
        TimeUnit.SECONDS);
      Thread watch = new Thread(this::watch, "watch");
      watch.setDaemon(true);
      watch.start();
      work();
      while (!once) {
        Thread.sleep(WATCH_MILLIS);
      }
      ending.set(true);
      return 0;
    } catch (Failure e) {
      failed(e.getMessage(), e);
    } catch (Exception | OutOfMemoryError e) {
      reportOutOfMemory(e);
      failed("Something that was not foreseen: " + e + ".", e);
    }
    return FAILED;
  }

  /** Keeps two runs from using one folder; the system releases the lock of a killed one. */
  private void lock() throws IOException, Failure {
    Path file = folder.resolve("lock");
    lock = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (lock.tryLock() == null) {
      throw new Failure("Another run (process " + Files.readString(file) + ") is using " + folder
        + "; stop it first.");
    }
    lock.truncate(0).write(ByteBuffer.wrap(Bytes.toBytes("" + ProcessHandle.current().pid())));
  }

  /** Returns the version of the three modules, which run from folders within {@code root}. */
  static String runningVersion(Path root) throws Exception {
    for (Class<?> type : List.of(HBaseConfiguration.class, ConnectionFactory.class,
      HRegionServer.class)) {
      Path source = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
      if (!source.startsWith(root)) {
        throw new Failure("The running " + type.getSimpleName() + " is in " + source + ", not in "
          + root + "; rebuild with mvn clean install.");
      }
    }
    return VersionInfo.getVersion();
  }

  /** Clients and a starting cluster wait for minutes for a server that has ended; this does not. */
  private void watch() {
    try {
      String ended;
      do {
        Thread.sleep(WATCH_MILLIS);
        ended = cluster.endedServer();
      } while (ended == null);
      failed("The " + ended + " has ended by itself.", null);
      System.exit(FAILED);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void work() throws Exception {
    cluster.start();
    up = true;
    done("master and RegionServer are up, files in %s", folder);
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      UserTable table = new UserTable(connection, cluster.regionServer());
      table.fill(rows);
      read(table);
    }
    if (!once) {
      System.out.printf(ADDRESSES, cluster.masterInfoPort(),
        cluster.regionServer().getInfoServer().getPort(), HConstants.ZOOKEEPER_QUORUM,
        conf.get(HConstants.ZOOKEEPER_QUORUM), HConstants.ZOOKEEPER_CLIENT_PORT,
        conf.get(HConstants.ZOOKEEPER_CLIENT_PORT));
      done("serving; Ctrl-C stops");
    }
  }

  private void read(UserTable table) throws Exception {
    CacheTiers tiers = new CacheTiers(cluster.blockCache());
    String multiget = "multiget of " + MULTIGET_ROWS;
    table.read("get", GET_THREADS, 1, rows, seconds / 2.0);
    table.read(multiget, MULTIGET_THREADS, MULTIGET_ROWS, rows, seconds / 2.0);
    done("warm-up completed");
    List<List<String>> reads = List.of(
      List.of("reads", "threads", "ops", "ops/s", "p50 ms", "p99 ms", "p999 ms"),
      table.read("get", GET_THREADS, 1, rows, seconds),
      table.read(multiget, MULTIGET_THREADS, MULTIGET_ROWS, rows, seconds));
    done("read with zipfian keys, the client in the same JVM as the server");
    System.out.println("\n" + table(reads));
    System.out.println("  block cache, counted from the first read, warm-up included");
    System.out.println(table(tiers.rows()));
  }

  /** Runs when the JVM ends, for whatever reason. */
  private void stop() {
    if (!ending.getAndSet(true)) {
      System.out.println();
      done("stopping");
    }
    cluster.stop();
    done(up ? "stopped, regions flushed and WAL closed" : "stopped");
  }

  /** @param cause to be logged; null if it has been */
  private void failed(String sentence, Throwable cause) {
    if (!ending.getAndSet(true)) {
      if (cause != null) {
        LOG.error("{}", sentence, cause);
      }
      System.out.flush();
      System.err.println("run-local: " + sentence);
      System.err.println("run-local: the log is " + folder.resolve("logs/run.log"));
    }
  }

  private void reportOutOfMemory(Throwable thrown) {
    OutOfMemoryError error = ExceptionUtils.throwableOfType(thrown, OutOfMemoryError.class);
    if (error != null) {
      failed(outOfMemory(String.valueOf(error.getMessage()), megabytes("MaxHeapSize"),
        megabytes("MaxDirectMemorySize")), null);
    }
  }

  /** Returns the cause, the keys that determine the memory, and the remedy. */
  static String outOfMemory(String message, long heapMb, long directMb) {
    String cause = "A server has run out of memory: " + message + ". ";
    if (message.contains("thread")) {
      return cause + "The limit is that of this user or container; raise ulimit -u.";
    }
    return cause + (message.contains("direct")
      ? "-XX:MaxDirectMemorySize is " + directMb + " MB; L1 (hbase.bucketcache.l1.size, --l1-mb)"
        + " and the buffers of RPC and HDFS are in it. Raise it with"
        + " HBASE_OPTS=-XX:MaxDirectMemorySize=" + 2 * directMb + "m, or lower --l1-mb."
      : "-Xmx is " + heapMb + " MB; the memstore (hbase.regionserver.global.memstore.size) and the"
        + " map of L2 (hbase.bucketcache.l2.size, --l2-mb) are in it. Raise it with HBASE_OPTS=-Xmx"
        + 2 * heapMb + "m, or lower one of the keys.");
  }

  /** Returns an option of this JVM, which is a size, in MB. */
  static long megabytes(String option) {
    return Long.parseLong(ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
      .getVMOption(option).getValue()) >> 20;
  }

  /** Prints a line that says what has just been done, with the seconds since the start. */
  static void done(String format, Object... args) {
    System.out.printf(Locale.ROOT, "%6.1f s  %s%n", (System.nanoTime() - START_NANOS) / 1e9,
      String.format(Locale.ROOT, format, args));
  }

  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** Returns columns as wide as their widest cells, right-aligned but for the first. */
  static String table(List<List<String>> rows) {
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = rows.stream().mapToInt(other -> other.get(column).length()).max().getAsInt();
        text.append(String.format("  %" + (i == 0 ? "-" : "") + width + "s", row.get(i)));
      }
      text.append(System.lineSeparator());
    }
    return text.toString();
  }
}
