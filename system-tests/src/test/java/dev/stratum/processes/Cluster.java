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
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.zookeeper.ZKUtil;
import org.apache.hadoop.hbase.zookeeper.ZKWatcher;
import org.apache.hadoop.hbase.zookeeper.ZNodePaths;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * A cluster of processes on loopback: HDFS and ZooKeeper in one, a master, RegionServers and
 * clients, each on the jars it is told. All end with this JVM, however that ends. To be used by one
 * thread; another one watches, see {@link HangWatch}.
 */
final class Cluster implements Closeable {
  private static final int DATA_NODES = 2;
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);
  /** A client that has retried for some time waits up to 4 s before it does so again. */
  private static final Duration GRACE = Duration.ofSeconds(5);
  /** The time limit for a server that may not answer. */
  private static final Duration CALLS_LIMIT = Duration.ofSeconds(10);
  /** A server without a region of the table has fewer. */
  private static final int BLOCKS_OF_SYSTEM_TABLES = 20;

  private final ClusterProcesses processes;
  private final LoadClients load;
  private final List<Server> servers = new ArrayList<>();
  private final HangWatch watch;
  private ChildProcess dataNode;
  private ChildProcess master;
  private Connection connection;
  private Admin admin;

  /** A RegionServer, whichever process it is at the moment. */
  static final class Server {
    final int number;
    /** Where it keeps its cache. */
    final Path cache;
    private final Path site;
    private Map<String, String> keys = Map.of();
    private volatile ChildProcess process;
    private ServerName name;

    private Server(int number, Path folder) throws IOException {
      this.number = number;
      this.cache = Files.createDirectories(folder.resolve("cache" + number));
      this.site = folder.resolve("server" + number + ".xml");
    }

    ServerName name() {
      return name;
    }

    /** Returns its own keys, as it was told last. */
    Map<String, String> keys() {
      return keys;
    }

    long pid() {
      return process.handle().pid();
    }

    @Override
    public String toString() {
      return "server " + number;
    }
  }

  /** @param label of its folder and of the lines it prints */
  Cluster(String label, int servers) throws IOException {
    processes = new ClusterProcesses(label);
    load = new LoadClients(processes);
    watch = new HangWatch(HangWatch.LIMIT, GRACE, load::slow, this::collect);
    // A master waits for as many as this, and no longer.
    for (String bound : new String[] { "mintostart", "maxtostart" }) {
      setForAll("hbase.master.wait.on.regionservers." + bound, Integer.toString(servers));
    }
    for (int i = 0; i < servers; i++) {
      this.servers.add(new Server(i, processes.folder()));
    }
  }

  /** Says how far it is. */
  void say(String format, Object... arguments) {
    processes.say(format, arguments);
  }

  List<Server> servers() {
    return servers;
  }

  /** Returns the configuration for another connection. */
  Configuration conf() {
    return connection.getConfiguration();
  }

  Admin admin() {
    return admin;
  }

  /** The clients, none to begin with. */
  LoadClients load() {
    return load;
  }

  /** What explains that operations wait is to be told here. */
  HangWatch watch() {
    return watch;
  }

  ChildProcess dataNode() {
    return dataNode;
  }

  /** Sets a key for all processes. To be called before they are started. */
  void setForAll(String key, String value) {
    processes.shared().put(key, value);
  }

  /**
   * Starts HDFS, ZooKeeper, the master and the servers, and makes the table.
   * @param isPrefetched whether its blocks are cached on write and when a file is opened
   */
  void start(Jars jars, Map<Server, Map<String, String>> keys, boolean isPrefetched)
    throws Exception {
    ChildProcess storage = processes.launch("storage", StorageProcess.class, Jars.STOCK, 384);
    master = processes.launch("master", MasterProcess.class, jars, 384);
    for (Server server : servers) {
      server.process = launchServer(server, jars);
    }
    JsonObject request = processes.start("storage", Map.of());
    request.addProperty("dataNodes", DATA_NODES);
    storage.ask(request).getAsJsonObject().entrySet()
      .forEach(key -> setForAll(key.getKey(), key.getValue().getAsString()));
    Path site = processes.site("shared", Map.of());
    List<Callable<?>> starts = new ArrayList<>();
    starts.add(() -> master.ask(ClusterProcesses.start(site)));
    for (Server server : servers) {
      starts.add(() -> {
        start(server, jars, keys.get(server));
        return null;
      });
    }
    ClusterProcesses.inParallel(starts);
    Configuration conf = HBaseConfiguration.create();
    conf.addResource(new org.apache.hadoop.fs.Path(site.toString()));
    connection = ConnectionFactory.createConnection(conf);
    admin = connection.getAdmin();
    admin.balancerSwitch(false, true);
    admin.createTable(TableDescriptorBuilder.newBuilder(CheckedLoad.TABLE)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CheckedLoad.FAMILY)
        .setBlocksize(4096).setPrefetchBlocksOnOpen(isPrefetched)
        .setCacheDataOnWrite(isPrefetched).build())
      // Has an effect where there is a row cache.
      .setValue("ROW_CACHE_ENABLED", "true").build(), CheckedLoad.SPLITS);
    say("%d servers on %s", servers.size(), jars.version());
  }

  /** Starts one more DataNode, in a process of its own. */
  void startDataNode() throws Exception {
    dataNode = processes.launch("datanode", DataNodeProcess.class, Jars.STOCK, 128);
    dataNode.ask(processes.start("shared", Map.of()));
  }

  private ChildProcess launchServer(Server server, Jars jars) throws IOException {
    return processes.launch("server" + server.number, InspectedRegionServerProcess.class, jars,
      384);
  }

  JsonElement ask(Server server, String what) throws ProcessException {
    return server.process.ask(ChildProcess.request(what));
  }

  private void start(Server server, Jars jars, Map<String, String> keys) throws Exception {
    tell(server, keys);
    JsonObject answer =
      server.process.ask(ClusterProcesses.start(server.site)).getAsJsonObject();
    assertEquals(jars.version(), answer.get("version").getAsString());
    server.name = ServerName.valueOf(answer.get("name").getAsString());
  }

  /** Writes a server's settings, which it reads when it starts or is told to. */
  private void tell(Server server, Map<String, String> keys) throws IOException {
    server.keys = Map.copyOf(keys);
    processes.site("server" + server.number, keys);
  }

  /** Changes a server's settings while it runs. */
  void reload(Server server, Map<String, String> keys) throws IOException {
    tell(server, keys);
    admin.updateConfiguration(server.name);
  }

  /**
   * Replaces the jars of a server as the guide says: moves regions away, stops, starts with other
   * jars, moves them back.
   * @param keeps whether it must restart with the blocks that its L2 had
   */
  void roll(Server server, Jars jars, Map<String, String> keys, boolean keeps) throws Exception {
    ChildProcess next = launchServer(server, jars);
    List<RegionInfo> regions;
    long blocks;
    // System tables move when it stops.
    try (HangWatch.Excuse excuse = watch.excuse("regions leave " + server)) {
      regions = unload(server);
      blocks = blocks(server);
      ask(server, "stop");
    }
    processes.end(server.process);
    server.process = next;
    start(server, jars, keys);
    // A compaction just before the stop may have replaced the files whose blocks it had.
    if (keeps && blocks > BLOCKS_OF_SYSTEM_TABLES) {
      await(server + " has found its cache", () -> blocks(server) > BLOCKS_OF_SYSTEM_TABLES);
    }
    say("%s runs %s; blocks in its L2: %d, of %d", server, jars.version(), blocks(server),
      blocks);
    try (HangWatch.Excuse excuse = watch.excuse("regions return to " + server)) {
      for (RegionInfo region : regions) {
        admin.move(region.getEncodedNameAsBytes(), server.name);
      }
    }
  }

  /** Waits until all regions of the table are served. */
  void awaitServed() throws Exception {
    await("no region is in transition", () -> {
      int regions = 0;
      for (Server server : servers) {
        regions += regions(server).size();
      }
      return admin.getClusterMetrics().getRegionStatesInTransition().isEmpty()
        && regions == admin.getRegions(CheckedLoad.TABLE).size();
    });
  }

  private long blocks(Server server) throws ProcessException {
    return ask(server, "blocks").getAsLong();
  }

  /** Moves the table's regions to the other servers, and returns them. */
  private List<RegionInfo> unload(Server server) throws Exception {
    List<RegionInfo> moved = new ArrayList<>();
    await("the regions of " + server + " are moved", () -> {
      List<RegionInfo> regions = regions(server);
      for (RegionInfo region : regions) {
        Server other =
          servers.get((server.number + 1 + moved.size() % (servers.size() - 1)) % servers.size());
        admin.move(region.getEncodedNameAsBytes(), other.name);
        moved.add(region);
      }
      return regions.isEmpty();
    });
    return moved;
  }

  /** Returns the table's regions that a server has. */
  List<RegionInfo> regions(Server server) throws IOException {
    return admin.getRegions(server.name).stream()
      .filter(region -> region.getTable().equals(CheckedLoad.TABLE)).collect(Collectors.toList());
  }

  /**
   * Flushes the table's regions, each on its server. The master's way to flush a table waits for
   * good if a region is just being flushed: its procedure may be told so before it waits to be.
   */
  void flush() throws IOException, InterruptedException {
    long end = System.nanoTime() + PATIENCE_NANOS;
    for (RegionInfo region : admin.getRegions(CheckedLoad.TABLE)) {
      boolean flushed = false;
      while (!flushed) {
        try {
          admin.flushRegion(region.getRegionName());
          flushed = true;
        } catch (NotServingRegionException e) {
          // The master moves regions to a server that has just started.
          if (System.nanoTime() - end > 0) {
            throw e;
          }
          TimeUnit.MILLISECONDS.sleep(100);
        }
      }
    }
  }

  /**
   * Sets the clock of a server, while nothing is in flight: a server, also on stock's jars, drops
   * calls whose time seems to be over, and holds a queued flush back until it is that late again.
   * @param ahead how much it is ahead from now on
   */
  void setClock(Server server, Duration ahead) throws Exception {
    load.pause();
    await(server + " has no flush queued", () -> ask(server, "flushes").getAsInt() == 0);
    JsonObject request = ChildProcess.request("clock");
    request.addProperty("aheadMillis", ahead.toMillis());
    server.process.ask(request);
    load.run(!ahead.isZero());
  }

  /** Ends the master, and starts one on these jars. */
  void swapMaster(Jars jars) throws Exception {
    ChildProcess next = processes.launch("master", MasterProcess.class, jars, 384);
    // One of another version moves system tables.
    try (HangWatch.Excuse excuse = watch.excuse("another master")) {
      master.ask(ChildProcess.request("stop"));
      processes.end(master);
      master = next;
      assertEquals(jars.version(),
        master.ask(processes.start("shared", Map.of())).getAsString());
      awaitServed();
    }
    say("the master runs %s", jars.version());
  }

  /**
   * Kills a server as kill -9 does, and has ZooKeeper notice at once.
   * @return what may be lost of that
   */
  LossPeriod kill(Server server) throws Exception {
    long from = ask(server, "window").getAsLong();
    processes.end(server.process);
    LossPeriod period = new LossPeriod(from, System.nanoTime());
    try (ZKWatcher watcher = new ZKWatcher(connection.getConfiguration(), "test", null)) {
      ZKUtil.deleteNodeFailSilent(watcher, ZNodePaths
        .joinZNode(watcher.getZNodePaths().rsZNode, server.name.toString()));
    }
    return period;
  }

  /** Starts a server that was killed, with the settings it had. */
  void restart(Server server, Jars jars) throws Exception {
    server.process = launchServer(server, jars);
    start(server, jars, server.keys);
  }

  /** Stops a server, and starts it with other keys. Its regions are served when it returns. */
  void restart(Server server, Map<String, String> keys) throws Exception {
    ChildProcess next = launchServer(server, Jars.FORK);
    try (HangWatch.Excuse excuse = watch.excuse(server + " is restarted")) {
      ask(server, "stop");
      processes.end(server.process);
      server.process = next;
      start(server, Jars.FORK, keys);
      awaitServed();
    }
  }

  /** Something that a test waits for. */
  interface Condition {
    boolean holds() throws Exception;
  }

  /** Waits for as long as a machine that is busy may take; what fails meanwhile is tried again. */
  static void await(String what, Condition condition) throws Exception {
    long end = System.nanoTime() + PATIENCE_NANOS;
    Exception last = null;
    while (true) {
      try {
        if (condition.holds()) {
          return;
        }
      } catch (InterruptedIOException e) {
        throw e;
      } catch (IOException e) {
        last = e;
      }
      if (System.nanoTime() - end > 0) {
        throw new ProcessException("Waited too long until " + what, last);
      }
      Thread.sleep(50);
    }
  }

  /** Writes the calls that the servers have, and the threads of all processes. */
  List<Path> collect(List<Operation> hanging) throws Exception {
    List<Path> written = new CopyOnWriteArrayList<>();
    Path evidence = Files.createDirectories(processes.folder().resolve("hang"));
    Path operations = evidence.resolve("operations.txt");
    Files.write(operations,
      hanging.stream().map(watch::describe).collect(Collectors.toList()));
    written.add(operations);
    List<Callable<?>> tasks = new ArrayList<>();
    for (Server server : servers) {
      tasks.add(() -> written.add(calls(server, evidence.resolve("calls-of-server"
        + server.number + ".txt"))));
    }
    processes.running().forEach((child, name) -> tasks.add(() -> written.add(ThreadDump
      .write(child.handle().pid(), evidence.resolve("threads-of-" + name + ".txt")))));
    try {
      ClusterProcesses.inParallel(tasks);
    } catch (ExecutionException e) {
      // The process may just have been killed; what the others tell is worth as much.
      say("not all evidence could be collected: %s", e.getCause());
    }
    written.sort(Comparator.naturalOrder());
    return written;
  }

  private Path calls(Server server, Path file) throws IOException {
    String text;
    try {
      text = server.process.ask(ChildProcess.request("calls"), CALLS_LIMIT).getAsString();
    } catch (ProcessException e) {
      text = server + " did not tell: " + e + "\n";
    }
    Files.writeString(file, text);
    return file;
  }

  /** Returns where a process of the cluster listens that other machines could reach. */
  List<String> reachable() throws IOException {
    return processes.reachable();
  }

  /** The first lines of the servers' logs that tell of a leak. */
  List<String> leaks() throws Exception {
    for (Server server : servers) {
      ask(server, "collect");
    }
    List<String> leaks = new ArrayList<>();
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(processes.folder(), "server*.log")) {
      for (Path log : logs) {
        for (String line : Files.readAllLines(log, StandardCharsets.ISO_8859_1)) {
          if (line.contains("LEAK:")) {
            leaks.add(log + ": " + line);
          }
        }
      }
    }
    return leaks;
  }

  @Override
  public void close() {
    processes.close();
    IOUtils.closeQuietly(connection);
    LoopbackHdfs.removeAbandoned();
  }
}
