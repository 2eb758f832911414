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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.commons.io.FileUtils;
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
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * A cluster of processes on loopback: HDFS and ZooKeeper in one, a master, RegionServers and
 * clients, each on the jars it is told. All end with this JVM, however that ends. To be used by one
 * thread; another one watches, see {@link HangWatch}.
 */
final class Cluster implements Closeable {
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final int PARALLEL = 8;
  /** A client that has retried for some time waits up to 4 s before it does so again. */
  private static final Duration GRACE = Duration.ofSeconds(5);
  /** For a server that may not answer. */
  private static final int SECONDS_TO_TELL = 10;
  /** A server without a region of the table has fewer. */
  private static final int BLOCKS_OF_SYSTEM_TABLES = 20;

  private final Path folder;
  private final String label;
  private final long begin = System.nanoTime();
  private final Map<String, String> shared = Settings.shared();
  private final Map<ChildProcess, String> children = new ConcurrentHashMap<>();
  private final List<Server> servers = new ArrayList<>();
  private final List<ChildProcess> clients = new CopyOnWriteArrayList<>();
  private final HangWatch watch =
    new HangWatch(HangWatch.LIMIT, GRACE, this::slow, this::collect);
  private int started;
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

    /** Its own keys, as it was told last. */
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
    this.label = label;
    this.folder = Path.of(System.getProperty("stratum.processes"), label);
    FileUtils.deleteDirectory(folder.toFile());
    Files.createDirectories(folder);
    // A master waits for as many as this, and no longer.
    for (String bound : new String[] { "mintostart", "maxtostart" }) {
      shared.put("hbase.master.wait.on.regionservers." + bound, Integer.toString(servers));
    }
    for (int i = 0; i < servers; i++) {
      this.servers.add(new Server(i, folder));
    }
  }

  /** Says how far it is. */
  void say(String format, Object... arguments) {
    System.out.printf("[%s %4d s] %s%n", label,
      TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin),
      String.format(format, arguments));
  }

  List<Server> servers() {
    return servers;
  }

  /** For a connection of one's own. */
  Configuration conf() {
    return connection.getConfiguration();
  }

  Admin admin() {
    return admin;
  }

  List<ChildProcess> clients() {
    return clients;
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
    shared.put(key, value);
  }

  /**
   * Starts HDFS, ZooKeeper, the master and the servers, and makes the table.
   * @param isPrefetched whether its blocks are cached on write and when a file is opened
   */
  void start(Jars jars, Map<Server, Map<String, String>> keys, boolean isPrefetched)
    throws Exception {
    ChildProcess storage = launch("storage", StorageProcess.class, Jars.STOCK, 384);
    master = launch("master", MasterProcess.class, jars, 384);
    for (Server server : servers) {
      server.process = launchServer(server, jars);
    }
    ask(storage, start(site("storage", Map.of()))).getAsJsonObject().entrySet()
      .forEach(key -> shared.put(key.getKey(), key.getValue().getAsString()));
    Path site = site("shared", Map.of());
    List<Callable<?>> starts = new ArrayList<>();
    starts.add(() -> ask(master, start(site)));
    for (Server server : servers) {
      starts.add(() -> {
        start(server, jars, keys.get(server));
        return null;
      });
    }
    inParallel(starts);
    Configuration conf = HBaseConfiguration.create();
    conf.addResource(new org.apache.hadoop.fs.Path(site.toString()));
    connection = ConnectionFactory.createConnection(conf);
    admin = connection.getAdmin();
    admin.balancerSwitch(false, true);
    admin.createTable(TableDescriptorBuilder.newBuilder(CheckedLoad.TABLE)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(CheckedLoad.FAMILY)
        .setBlocksize(4096).setPrefetchBlocksOnOpen(isPrefetched)
        .setCacheDataOnWrite(isPrefetched).build())
      .build(), CheckedLoad.SPLITS);
    say("%d servers on %s", servers.size(), jars.version());
  }

  /** Starts one more DataNode, in a process of its own. */
  void startDataNode() throws Exception {
    dataNode = launch("datanode", DataNodeProcess.class, Jars.STOCK, 128);
    ask(dataNode, start(site("shared", Map.of())));
  }

  private static void inParallel(List<Callable<?>> tasks) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(PARALLEL);
    try {
      List<Future<?>> done = new ArrayList<>();
      tasks.forEach(task -> done.add(threads.submit(task)));
      for (Future<?> task : done) {
        task.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Starts one more client for each of these builds, which fills its rows. */
  void startClients(List<Jars> builds, int threads, int rows, long seed) throws Exception {
    List<Callable<?>> starts = new ArrayList<>();
    for (int i = 0; i < builds.size(); i++) {
      Jars jars = builds.get(i);
      long seedOfOne = seed + i * (long) threads;
      String name = "client" + (clients.size() + i);
      starts.add(() -> clients.add(startClient(name, jars, Map.of(), threads, rows, seedOfOne)));
    }
    inParallel(starts);
    say("clients on %s have written %d rows",
      builds.stream().map(Jars::version).collect(Collectors.joining(", ")),
      builds.size() * threads * rows);
  }

  /** Starts one more client, with keys of its own. */
  ChildProcess startClient(Map<String, String> keys, int threads, int rows, long seed)
    throws Exception {
    ChildProcess client =
      startClient("client" + clients.size(), Jars.FORK, keys, threads, rows, seed);
    clients.add(client);
    return client;
  }

  private ChildProcess startClient(String name, Jars jars, Map<String, String> keys, int threads,
    int rows, long seed) throws Exception {
    ChildProcess client = launch(name, ClientProcess.class, jars, 192);
    JsonObject start = start(site(name, keys));
    start.addProperty("name", name);
    start.addProperty("threads", threads);
    start.addProperty("rows", rows);
    start.addProperty("seed", seed);
    assertEquals(jars.version(), ask(client, start).getAsString());
    return client;
  }

  private synchronized ChildProcess launch(String name, Class<?> main, Jars jars, int heapMb)
    throws IOException {
    List<String> options = new ArrayList<>();
    options.add("-Xmx" + heapMb + "m");
    options.add("-XX:MaxDirectMemorySize=256m");
    // Nobody measures them, there are many of them, and they live for seconds.
    options.add("-XX:+UseSerialGC");
    options.add("-XX:TieredStopAtLevel=1");
    // A third of what it takes to start one; javac's classes need no proof.
    options.add("-XX:+UnlockDiagnosticVMOptions");
    options.add("-XX:-BytecodeVerificationRemote");
    options.add("-XX:+ExitOnOutOfMemoryError");
    options.add("-Dlog4j2.configurationFile=stratum-processes-log4j2.xml");
    options.add("-Dstratum.log.level=INFO");
    // All buffers: a leak that needs two rare things at once is not to be missed.
    options.add("-Dorg.apache.hbase.thirdparty.io.netty.leakDetection.level=paranoid");
    options.addAll(List.of(System.getProperty("test.jvm.opens").trim().split("\\s+")));
    String unique = name + "-" + started++;
    Path own = Files.createDirectories(folder.resolve(unique));
    ChildProcess child = new ChildProcess(label + "'s " + name, main, jars.classPath(), options,
      own, folder.resolve(unique + ".log"));
    children.put(child, unique);
    return child;
  }

  private ChildProcess launchServer(Server server, Jars jars) throws IOException {
    return launch("server" + server.number, RegionServerProcess.class, jars, 384);
  }

  private Path site(String name, Map<String, String> keys) throws IOException {
    Path site = folder.resolve(name + ".xml");
    Map<String, String> all = new LinkedHashMap<>(shared);
    all.putAll(keys);
    SiteFile.write(site, all);
    return site;
  }

  private static JsonObject start(Path site) {
    JsonObject request = request("start");
    request.addProperty("site", site.toString());
    return request;
  }

  static JsonObject request(String what) {
    JsonObject request = new JsonObject();
    request.addProperty("do", what);
    return request;
  }

  static JsonElement ask(ChildProcess child, JsonObject request) throws ProcessException {
    return child.ask(request);
  }

  JsonElement ask(Server server, String what) throws ProcessException {
    return ask(server.process, request(what));
  }

  private void start(Server server, Jars jars, Map<String, String> keys) throws Exception {
    tell(server, keys);
    JsonObject answer = ask(server.process, start(server.site)).getAsJsonObject();
    assertEquals(jars.version(), answer.get("version").getAsString());
    server.name = ServerName.valueOf(answer.get("name").getAsString());
  }

  /** Writes a server's settings, which it reads when it starts or is told to. */
  private void tell(Server server, Map<String, String> keys) throws IOException {
    server.keys = Map.copyOf(keys);
    site("server" + server.number, keys);
  }

  /** Changes a server's settings while it runs. */
  void reload(Server server, Map<String, String> keys) throws IOException {
    tell(server, keys);
    admin.updateConfiguration(server.name);
  }

  /**
   * As the guide says: moves regions away, stops, starts with other jars, moves them back.
   * @param keeps whether it has to come back with what its second tier had
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
    end(server.process);
    server.process = next;
    start(server, jars, keys);
    if (keeps) {
      await(server + " has found its cache", () -> blocks(server) > BLOCKS_OF_SYSTEM_TABLES);
    }
    say("%s runs %s; blocks in its second tier: %d, of %d", server, jars.version(), blocks(server),
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

  /** The table's regions that a server has. */
  List<RegionInfo> regions(Server server) throws IOException {
    return admin.getRegions(server.name).stream()
      .filter(region -> region.getTable().equals(CheckedLoad.TABLE)).collect(Collectors.toList());
  }

  /**
   * Flushes the table's regions, each on its server. The master's way to flush a table waits for
   * good if a region is just being flushed: its procedure may be told so before it waits to be.
   */
  void flush() throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
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

  /** Ends the master, and starts one on these jars. */
  void swapMaster(Jars jars) throws Exception {
    ChildProcess next = launch("master", MasterProcess.class, jars, 384);
    // One of another version moves system tables.
    try (HangWatch.Excuse excuse = watch.excuse("another master")) {
      ask(master, request("stop"));
      end(master);
      master = next;
      assertEquals(jars.version(), ask(master, start(site("shared", Map.of()))).getAsString());
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
    end(server.process);
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
      end(server.process);
      server.process = next;
      start(server, Jars.FORK, keys);
      awaitServed();
    }
  }

  private void end(ChildProcess child) {
    children.remove(child);
    child.close();
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
        throw new ProcessException("Waited in vain until " + what, last);
      }
      Thread.sleep(50);
    }
  }

  /** Waits until each thread of the load has done so many operations more. */
  void awaitOperations(int more) throws Exception {
    for (ChildProcess client : clients) {
      awaitOperations(client, more);
    }
  }

  static void awaitOperations(ChildProcess client, int more) throws Exception {
    long goal = progress(client).get("least").getAsLong() + more;
    await("the load goes on", () -> progress(client).get("least").getAsLong() >= goal);
  }

  static JsonObject progress(ChildProcess client) throws ProcessException {
    return ask(client, request("progress")).getAsJsonObject();
  }

  void runLoad() throws ProcessException {
    for (ChildProcess client : clients) {
      runLoad(client);
    }
  }

  static void runLoad(ChildProcess client) throws ProcessException {
    ask(client, request("run"));
  }

  void pauseLoad() throws Exception {
    for (ChildProcess client : clients) {
      ask(client, request("pause"));
    }
    for (ChildProcess client : clients) {
      await("no operation is under way", () -> progress(client).get("running").getAsInt() == 0);
    }
  }

  /** Has a client look for all that was acknowledged, and returns what it has found. */
  JsonObject verify(ChildProcess client, JsonArray losses) throws Exception {
    JsonObject request = request("verify");
    request.add("losses", losses);
    ask(client, request);
    JsonElement[] verified = new JsonElement[1];
    await("all is verified", () -> {
      verified[0] = ask(client, request("verified"));
      return !verified[0].isJsonNull();
    });
    return verified[0].getAsJsonObject();
  }

  /**
   * Has all clients look for all that was acknowledged, and fails if an operation has failed, a
   * read was wrong, or a write is missing.
   */
  void assertNothingLostOrFailed() throws Exception {
    long[] incremented = new long[CheckedLoad.COUNTERS];
    long[] counters = new long[CheckedLoad.COUNTERS];
    for (ChildProcess client : clients) {
      JsonObject verified = verify(client, new JsonArray());
      say("%s operations, verified %s", progress(client).get("operations"), verified);
      assertNothingWrong(client);
      assertEquals("lost", 0, verified.get("lostAsync").getAsLong());
      for (int i = 0; i < incremented.length; i++) {
        incremented[i] += verified.getAsJsonArray("incremented").get(i).getAsLong();
        counters[i] = verified.getAsJsonArray("counters").get(i).getAsLong();
      }
    }
    for (int i = 0; i < incremented.length; i++) {
      assertEquals("counter " + i, incremented[i], counters[i]);
    }
  }

  /** Fails if an operation has failed or a read was wrong. */
  static void assertNothingWrong(ChildProcess client) throws ProcessException {
    JsonObject progress = progress(client);
    assertEquals(new JsonArray(), progress.get("wrong"));
    assertEquals(new JsonArray(), progress.get("failures"));
  }

  private List<Operation> slow() throws ProcessException {
    List<Operation> slow = new ArrayList<>();
    for (ChildProcess client : clients) {
      ask(client, request("slow")).getAsJsonArray()
        .forEach(operation -> slow.add(Operation.of(operation.getAsJsonObject())));
    }
    return slow;
  }

  /** Writes the calls that the servers have, and the threads of all processes. */
  List<Path> collect(List<Operation> hanging) throws Exception {
    List<Path> written = new CopyOnWriteArrayList<>();
    Path evidence = Files.createDirectories(folder.resolve("hang"));
    Path operations = evidence.resolve("operations.txt");
    Files.write(operations,
      hanging.stream().map(watch::describe).collect(Collectors.toList()));
    written.add(operations);
    List<Callable<?>> tasks = new ArrayList<>();
    for (Server server : servers) {
      tasks.add(() -> written.add(calls(server, evidence.resolve("calls-of-server"
        + server.number + ".txt"))));
    }
    children.forEach((child, name) -> tasks.add(() -> written.add(ThreadDump
      .write(child.handle().pid(), evidence.resolve("threads-of-" + name + ".txt")))));
    try {
      inParallel(tasks);
    } catch (ExecutionException e) {
      // Such as one that has just been killed; what the others tell is worth as much.
      say("not all evidence could be collected: %s", e.getCause());
    }
    written.sort(Comparator.naturalOrder());
    return written;
  }

  private Path calls(Server server, Path file) throws Exception {
    FutureTask<JsonElement> answer = new FutureTask<>(() -> ask(server, "calls"));
    Thread thread = new Thread(answer, "asks " + server);
    thread.setDaemon(true);
    thread.start();
    String text;
    try {
      text = answer.get(SECONDS_TO_TELL, TimeUnit.SECONDS).getAsString();
    } catch (TimeoutException | ExecutionException e) {
      text = server + " did not tell: " + e + "\n";
    }
    Files.writeString(file, text);
    return file;
  }

  /** Where a process of the cluster listens that other machines could reach. */
  List<String> reachable() throws IOException {
    List<String> reachable = new ArrayList<>();
    for (ChildProcess child : children.keySet()) {
      for (String socket : ListeningSockets.beyondLoopback(child.handle().pid())) {
        reachable.add(child.command().get(child.command().size() - 1) + " at " + socket);
      }
    }
    return reachable;
  }

  /** The first lines of the servers' logs that tell of a leak. */
  List<String> leaks() throws Exception {
    for (Server server : servers) {
      ask(server, "collect");
    }
    List<String> leaks = new ArrayList<>();
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder, "server*.log")) {
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
    children.keySet().forEach(this::end);
    IOUtils.closeQuietly(connection);
    LoopbackHdfs.removeAbandoned();
  }
}
