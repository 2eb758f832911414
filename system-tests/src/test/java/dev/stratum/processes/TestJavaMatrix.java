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
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeFalse;

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.ProcessException;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * A RegionServer with all features on, on each Java runtime whose folder <code>java.homes</code>
 * names, with G1 and, from Java 21 on, with generational ZGC: no operation may fail, no read be
 * wrong, no acknowledged write be lost. Then prints the latency of gets at a fixed rate. The server
 * is started as a daemon script starts it, since the processes of other tests need Java 17. The
 * base's Hadoop does not start on Java 24 and later; the test says so, and fails if it does not
 * start for another reason.
 */
@Category(LargeTests.class)
public class TestJavaMatrix {
  private static final String HOMES = System.getProperty("java.homes", "");
  private static final long SECONDS = Long.getLong("java.seconds", 20);
  /** The error of Hadoop before 3.5 on Java 24 and later, with stock's jars as well. */
  private static final String NOT_FOR_HADOOP = "getSubject is not supported";
  private static final int THREADS = 64;
  private static final int ROWS = 150;
  private static final int GETS_PER_SECOND = 500;
  private static final int GET_ROWS = 20_000;
  private static final int VALUE_BYTES = 1000;
  private static final TableName GETS = TableName.valueOf("gets");
  private static final byte[] FAMILY = Bytes.toBytes("f");

  private static int majorVersion(Path home) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(home.resolve("bin/java").toString(), "-version")
      .redirectErrorStream(true).start();
    try (BufferedReader reader = process.inputReader()) {
      String version = reader.readLine().replaceAll(".*\"(?:1[.])?(\\d+).*", "$1");
      process.waitFor();
      return Integer.parseInt(version);
    }
  }

  @Test
  public void testServerOnEachRuntime() throws Exception {
    assumeFalse("no runtimes are given", HOMES.isEmpty());
    for (String home : HOMES.split(",")) {
      int version = majorVersion(Path.of(home));
      run(Path.of(home), "java-" + version + "-g1", List.of("-XX:+UseG1GC"));
      if (version >= 21) {
        run(Path.of(home), "java-" + version + "-zgc", version < 24
          ? List.of("-XX:+UseZGC", "-XX:+ZGenerational")
          : List.of("-XX:+UseZGC"));
      }
    }
  }

  private void run(Path home, String label, List<String> collector) throws Exception {
    Process server = null;
    try (ClusterProcesses processes = new ClusterProcesses(label)) {
      for (String bound : new String[] { "mintostart", "maxtostart" }) {
        processes.shared().put("hbase.master.wait.on.regionservers." + bound, "1");
      }
      ChildProcess storage =
        processes.launch("storage", StorageProcess.class, Jars.STOCK, 384);
      ChildProcess master = processes.launch("master", MasterProcess.class, Jars.FORK, 384);
      JsonObject request = processes.start("storage", Map.of());
      request.addProperty("dataNodes", 2);
      storage.ask(request).getAsJsonObject().entrySet()
        .forEach(key -> processes.shared().put(key.getKey(), key.getValue().getAsString()));
      Path site = processes.site("shared", Map.of());
      server = startServer(processes, home, collector);
      // Is answered when a server is online.
      JsonObject start = ClusterProcesses.start(site);
      CompletableFuture<Void> online = CompletableFuture.runAsync(() -> {
        try {
          master.ask(start);
        } catch (ProcessException e) {
          throw new IllegalStateException(e);
        }
      });
      Process started = server;
      Cluster.await("the server is online or has ended",
        () -> !started.isAlive() || online.isDone());
      if (!server.isAlive()) {
        String log = Files.readString(processes.folder().resolve("server.log"));
        assertTrue(label + " has ended", log.contains(NOT_FOR_HADOOP));
        processes.say("the base's Hadoop does not run on this version");
        return;
      }
      online.get();
      Configuration conf = HBaseConfiguration.create();
      conf.addResource(new org.apache.hadoop.fs.Path(site.toString()));
      try (Connection connection = ConnectionFactory.createConnection(conf)) {
        load(processes, connection.getAdmin());
        report(processes, connection);
      }
      server.destroy();
      assertTrue("stops", server.waitFor(2, TimeUnit.MINUTES));
    } finally {
      if (server != null) {
        server.destroyForcibly();
      }
    }
  }

  private static Process startServer(ClusterProcesses processes, Path home,
    List<String> collector) throws IOException {
    Path cache = Files.createDirectories(processes.folder().resolve("cache"));
    Path conf = Files.createDirectories(processes.folder().resolve("conf"));
    Map<String, String> keys = Feature.worst().get(0).keys(cache);
    keys.put("hbase.shutdown.hook", "true");
    Files.copy(processes.site("server", keys), conf.resolve("hbase-site.xml"));
    List<String> command = new ArrayList<>();
    command.add(home.resolve("bin/java").toString());
    command.addAll(List.of("-Xmx512m", "-XX:MaxDirectMemorySize=256m"));
    command.addAll(collector);
    command.addAll(List.of("-Djava.net.preferIPv4Stack=true",
      "-Dlog4j2.configurationFile=stratum-processes-log4j2.xml", "-Dstratum.log.level=INFO"));
    command.addAll(List.of(System.getProperty("test.jvm.opens").trim().split("\\s+")));
    command.addAll(List.of("-cp", conf + File.pathSeparator + Jars.FORK.classPath(),
      HRegionServer.class.getName(), "start"));
    return new ProcessBuilder(command).redirectErrorStream(true)
      .redirectOutput(processes.folder().resolve("server.log").toFile()).start();
  }

  private static void load(ClusterProcesses processes, Admin admin) throws Exception {
    admin.createTable(TableDescriptorBuilder.newBuilder(CheckedLoad.TABLE)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CheckedLoad.FAMILY)
        .setBlocksize(4096).setPrefetchBlocksOnOpen(true).setCacheDataOnWrite(true).build())
      .build(), CheckedLoad.SPLITS);
    LoadClients load = new LoadClients(processes);
    ChildProcess client = load.start(Map.of(), THREADS, ROWS, 0);
    LoadClients.run(client);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    do {
      LoadClients.awaitOperations(client, 3);
      admin.flush(CheckedLoad.TABLE);
      LoadClients.assertNothingWrong(client);
    } while (System.nanoTime() - end < 0);
    load.pause();
    load.assertNothingLostOrFailed();
  }

  /** Prints the latency of gets, each from the time at which it was due. */
  private static void report(ClusterProcesses processes, Connection connection)
    throws Exception {
    Admin admin = connection.getAdmin();
    admin.createTable(TableDescriptorBuilder.newBuilder(GETS)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
    Random random = new Random(1);
    try (Table table = connection.getTable(GETS)) {
      byte[] value = new byte[VALUE_BYTES];
      List<Put> puts = new ArrayList<>();
      for (int row = 0; row < GET_ROWS; row++) {
        random.nextBytes(value);
        puts.add(new Put(Bytes.toBytes(row)).addColumn(FAMILY, FAMILY, value.clone()));
      }
      table.put(puts);
      admin.flush(GETS);
      gets(table, random);
      long[] nanos = gets(table, random);
      Arrays.sort(nanos);
      processes.say("gets at %d a second: p50 %d, p99 %d, p99.9 %d us", GETS_PER_SECOND,
        micros(nanos, 0.5), micros(nanos, 0.99), micros(nanos, 0.999));
    }
  }

  private static long[] gets(Table table, Random random) throws IOException {
    long[] nanos = new long[(int) (GETS_PER_SECOND * SECONDS)];
    long begin = System.nanoTime();
    for (int i = 0; i < nanos.length; i++) {
      long due = begin + i * TimeUnit.SECONDS.toNanos(1) / GETS_PER_SECOND;
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      assertEquals(1, table.get(new Get(Bytes.toBytes(random.nextInt(GET_ROWS)))).size());
      nanos[i] = System.nanoTime() - due;
    }
    return nanos;
  }

  private static long micros(long[] sorted, double quantile) {
    return TimeUnit.NANOSECONDS
      .toMicros(sorted[(int) Math.min(sorted.length - 1, quantile * sorted.length)]);
  }
}
