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

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.ProcessException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.ExternalResource;
import org.junit.rules.RuleChain;
import org.junit.rules.Timeout;

import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * Everything that can happen to servers with all of the fork's features happens, in random order,
 * under a load that checks every read. At the end no acknowledged write may be missing, but those
 * with ASYNC_WAL that a killed server had said it would lose; no read may have been wrong, no
 * operation have hung but for what happened, nothing leaked, no block of a file be cached that no
 * region has, and no thread or file be held that was not before. In half of the runs, permissions
 * are checked, and a user may read nothing whose permission was revoked. Handlers and call queues
 * are HBase's default; the load has more threads than a server has handlers.
 * <p>
 * <code>chaos.seconds</code> says for how long, at least each thing once; <code>chaos.seed</code>
 * repeats the order of a run; <code>chaos.only</code> is a regular expression of the names of the
 * things that happen, such as <code>kill.*|flush|region moves</code>.
 */
@Category(LargeTests.class)
public class TestChaos {
  private static final long SECONDS = Long.getLong("chaos.seconds", 5);
  private static final String ONLY = System.getProperty("chaos.only", ".*");
  /** More than a server has handlers. */
  private static final int THREADS = 64;
  private static final int ROWS = 250;
  private static final int MIN_REGIONS = 4;
  private static final int MAX_REGIONS = 12;
  private static final int OPERATIONS = 2;
  /** Pools that had not grown to their size, and connections that were not needed before. */
  private static final int THREADS_MORE = 25;
  private static final int FILES_MORE = 60;
  private static final int SECONDS_OF_A_FAULT = 3;

  /** Outside of the time limit, so that the processes end even if the test hangs. */
  @Rule
  public final RuleChain rules = RuleChain.outerRule(new ExternalResource() {
    @Override
    protected void before() throws IOException {
      cluster = new Cluster("chaos", 3);
      clocks = new ClockJumps(cluster);
    }

    @Override
    protected void after() {
      IOUtils.closeQuietly(visitor);
      cluster.close();
    }
  }).around(new Timeout(30 + 3 * SECONDS / 60, TimeUnit.MINUTES));

  private final long seed = seed();
  private final Random random = new Random(seed);
  private final List<Process> commands = new ArrayList<>();
  private final JsonArray losses = new JsonArray();
  private final Set<Cluster.Server> killed = new HashSet<>();
  private Cluster cluster;
  private ClockJumps clocks;
  /** Null if permissions are not checked. */
  private VisitorReads visitor;

  /** One thing that happens. */
  private interface Disturbance {
    void happen() throws Exception;
  }

  private static long seed() {
    String given = System.getProperty("chaos.seed", "");
    return given.isEmpty() ? System.nanoTime() : Long.parseLong(given);
  }

  @Test
  public void testNothingIsLostOrWrongOrLeftBehind() throws Exception {
    cluster.say("-Dchaos.seed=%d", seed);
    Map<Cluster.Server, Map<String, String>> keys = new HashMap<>();
    for (Cluster.Server server : cluster.servers()) {
      Map<String, String> own = new HashMap<>(server.number == 2
        ? Settings.segmentCache(server.cache)
        : Settings.compositeCache(server.cache));
      own.putAll(Settings.features());
      own.put("hbase.wal.provider", server.number == 1 ? "filesystem" : "asyncfs");
      keys.put(server, own);
    }
    // The master's value counts when it moves a region, whatever the server's is.
    cluster.setForAll("hbase.rs.evictblocksonclose", "true");
    // It is not always secured, since the hooks that check permissions rule out some paths of a
    // get.
    boolean secured = random.nextBoolean();
    if (secured) {
      VisitorReads.enable(cluster);
    }
    cluster.say("permissions are %s", secured ? "checked" : "not checked");
    cluster.start(Jars.FORK, keys, true);
    visitor = secured ? new VisitorReads(cluster) : null;
    cluster.startDataNode();
    cluster.load().start(List.of(Jars.FORK), THREADS, ROWS, seed);
    assertEquals("sockets that others can reach", List.of(), cluster.reachable());
    cluster.watch().run(this::disturbAndVerify);
    List<String> leaks = cluster.leaks();
    // A test that is repeated removes the servers' logs, so they are told here.
    leaks.forEach(leak -> cluster.say("%s", leak));
    assertEquals("leaks", List.of(), leaks);
  }

  private void disturbAndVerify() throws Exception {
    cluster.load().run();
    Map<String, Disturbance> all = new HashMap<>(harmless());
    all.put("kill -9 of a RegionServer", () -> explained("kill -9", this::kill));
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    do {
      each(all);
    } while (System.nanoTime() - end < 0);
    calm();
    Map<Cluster.Server, JsonObject> before = held();
    Map<Cluster.Server, Set<String>> recovered = new HashMap<>();
    for (Cluster.Server server : cluster.servers()) {
      recovered.put(server, killed.contains(server) ? orphans(server).keySet() : Set.of());
    }
    each(harmless());
    calm();
    cluster.load().pause();
    awaitNoMoreHeldThan(before);
    awaitNoOrphans(recovered);
    verify();
  }

  /** Returns all but what takes a server's JVM with it. */
  private Map<String, Disturbance> harmless() {
    Map<String, Disturbance> things = new HashMap<>();
    things.put("SIGSTOP of a DataNode", this::stopDataNode);
    things.put("full cache disk", this::fill);
    things.put("cache file truncated", () -> device(any()).truncate());
    things.put("bits flipped in the cache file", () -> device(any()).flipBits());
    things.put("cache directory removed", this::remove);
    things.put("region moves", () -> explained("region moves", this::move));
    things.put("split", () -> explained("a split", this::split));
    things.put("merge", () -> explained("a merge", this::merge));
    things.put("flush", cluster::flush);
    things.put("compaction", () -> cluster.admin().compact(CheckedLoad.TABLE));
    things.put("major compaction", () -> cluster.admin().majorCompact(CheckedLoad.TABLE));
    things.put("clock an hour ahead and back", () -> clocks.jump(any(), OPERATIONS));
    things.put("config reload", this::reload);
    things.put("alter",
      () -> explained("an alter", () -> Alteration.apply(cluster.admin(), random)));
    if (visitor != null) {
      things.put("grant and revoke", visitor::grantAndRevoke);
    }
    return things;
  }

  private void each(Map<String, Disturbance> things) throws Exception {
    // They are sorted first, as a map's order depends on more than the seed.
    List<String> order = things.keySet().stream().filter(name -> name.matches(ONLY)).sorted()
      .collect(Collectors.toCollection(ArrayList::new));
    Collections.shuffle(order, random);
    for (String name : order) {
      cluster.say("%s", name);
      Cluster.await(name + " is done", () -> {
        things.get(name).happen();
        return true;
      });
      cluster.load().awaitOperations(OPERATIONS);
      assertNothingWrong();
    }
  }

  /** Does what operations may have to wait for, until all regions are served again. */
  private void explained(String reason, Disturbance disturbance) throws Exception {
    try (HangWatch.Excuse excuse = cluster.watch().excuse(reason)) {
      disturbance.happen();
      cluster.awaitServed();
    }
  }

  private Cluster.Server any() {
    return cluster.servers().get(random.nextInt(cluster.servers().size()));
  }

  private CacheDevice device(Cluster.Server server) {
    return new CacheDevice(server.cache, random);
  }

  private long dataNode() {
    return cluster.dataNode().handle().pid();
  }

  /** Does one thing now and another one after some seconds, even if this JVM has ended by then. */
  private void during(String now, String then) throws Exception {
    // It may have been killed meanwhile.
    String script = now + " || exit 1; sleep " + SECONDS_OF_A_FAULT + "; " + then + " || :";
    Process process = new ProcessBuilder("sh", "-c", script)
      .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    commands.add(process);
  }

  private void stopDataNode() throws Exception {
    cluster.watch().excuse("SIGSTOP of a DataNode",
      System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_OF_A_FAULT));
    during("kill -STOP " + dataNode(), "kill -CONT " + dataNode());
  }

  /** Writes beyond the first MB of a file fail, as on a disk that is full. */
  private void fill() throws Exception {
    String limit = "prlimit --pid " + any().pid() + " --fsize=";
    during(limit + "1048576:", limit + "unlimited:");
  }

  private void remove() throws Exception {
    Cluster.Server server = any();
    CacheDevice device = device(server);
    device.remove();
    cluster.load().awaitOperations(OPERATIONS);
    device.mend();
  }

  private void kill() throws Exception {
    Cluster.Server server = any();
    losses.add(cluster.kill(server).json());
    killed.add(server);
    device(server).mend();
    cluster.restart(server, Jars.FORK);
  }

  private void move() throws Exception {
    Cluster.Server from = any();
    for (RegionInfo region : cluster.regions(from)) {
      cluster.admin().move(region.getEncodedNameAsBytes(), any().name());
    }
  }

  private void split() throws Exception {
    List<RegionInfo> regions = cluster.admin().getRegions(CheckedLoad.TABLE);
    if (regions.size() < MAX_REGIONS) {
      RegionInfo region = regions.get(random.nextInt(regions.size()));
      try {
        cluster.admin().splitRegionAsync(region.getRegionName()).get(5, TimeUnit.MINUTES);
      } catch (ExecutionException e) {
        // A region without enough data, or one that is being moved, is not split.
        cluster.say("not split: %s", e.getCause().getMessage());
      }
    }
  }

  private void merge() throws Exception {
    List<RegionInfo> regions = cluster.admin().getRegions(CheckedLoad.TABLE);
    regions.sort(RegionInfo.COMPARATOR);
    int first = random.nextInt(regions.size() - 1);
    if (regions.size() > MIN_REGIONS) {
      try {
        cluster.admin().mergeRegionsAsync(new byte[][] { regions.get(first).getRegionName(),
          regions.get(first + 1).getRegionName() }, false).get(5, TimeUnit.MINUTES);
      } catch (ExecutionException e) {
        // A region that has references to a parent's files is not merged.
        cluster.say("not merged: %s", e.getCause().getMessage());
      }
    }
  }

  private void reload() throws Exception {
    Cluster.Server server = any();
    Map<String, String> keys = new HashMap<>(server.keys());
    keys.put("hbase.bucketcache.composite.promotion",
      random.nextBoolean() ? "none" : "frequency");
    keys.put("hbase.bucketcache.composite.l1.data.max", random.nextBoolean() ? "0.3" : "1");
    keys.put("hbase.rs.prefetch.limit.mb.per.sec", random.nextBoolean() ? "1" : "0");
    for (String feature : new String[] { "hbase.regionserver.parallel.get.enabled",
      "hbase.regionserver.increment.coalesce.enabled",
      "hbase.regionserver.write.groups.enabled" }) {
      keys.put(feature, Boolean.toString(random.nextBoolean()));
    }
    cluster.reload(server, keys);
  }

  /** Nothing is stopped or full any more, and all regions are served. */
  private void calm() throws Exception {
    for (Process command : commands) {
      assertEquals("what stops and limits processes", 0, command.waitFor());
    }
    commands.clear();
    cluster.awaitServed();
    cluster.load().awaitOperations(5 * OPERATIONS);
  }

  private Map<Cluster.Server, JsonObject> held() throws Exception {
    Map<Cluster.Server, JsonObject> held = new HashMap<>();
    for (Cluster.Server server : cluster.servers()) {
      held.put(server, cluster.ask(server, "held").getAsJsonObject());
    }
    cluster.say("held: %s", held);
    return held;
  }

  private void awaitNoMoreHeldThan(Map<Cluster.Server, JsonObject> before) throws Exception {
    for (Cluster.Server server : cluster.servers()) {
      JsonObject then = before.get(server);
      Cluster.await(server + " holds no more threads or files than " + then, () -> {
        JsonObject now = cluster.ask(server, "held").getAsJsonObject();
        return now.get("threads").getAsLong() <= then.get("threads").getAsLong() + THREADS_MORE
          && now.get("files").getAsLong() <= then.get("files").getAsLong() + FILES_MORE;
      });
    }
    held();
  }

  private JsonObject orphans(Cluster.Server server) throws ProcessException {
    return cluster.ask(server, "orphans").getAsJsonObject();
  }

  /**
   * @param recovered files of which a server that was killed may have blocks, as it has found them
   *                  on its device and could not know that their region is elsewhere now
   */
  private void awaitNoOrphans(Map<Cluster.Server, Set<String>> recovered) throws Exception {
    for (Cluster.Server server : cluster.servers()) {
      JsonObject[] told = { new JsonObject() };
      Cluster.await(server + " caches no block of a file that it does not have", () -> {
        JsonObject left = orphans(server);
        recovered.get(server).forEach(left::remove);
        if (!left.equals(told[0])) {
          cluster.say("%s still caches blocks of %s", server, left);
          told[0] = left;
        }
        return left.size() == 0;
      });
    }
  }

  private void assertNothingWrong() throws ProcessException {
    for (ChildProcess client : cluster.load().all()) {
      assertEquals(new JsonArray(), LoadClients.progress(client).get("wrong"));
    }
  }

  private void verify() throws Exception {
    for (ChildProcess client : cluster.load().all()) {
      JsonObject verified = cluster.load().verify(client, losses);
      JsonObject progress = LoadClients.progress(client);
      cluster.say("%s operations, failures %s, wrong %s, verified %s", progress.get("operations"),
        progress.get("failures"), progress.get("wrong"), verified);
      for (int i = 0; i < CheckedLoad.COUNTERS; i++) {
        long acknowledged = verified.getAsJsonArray("incremented").get(i).getAsLong();
        long found = verified.getAsJsonArray("counters").get(i).getAsLong();
        assertTrue(found + " of " + acknowledged, found >= acknowledged);
      }
    }
    assertNothingWrong();
  }
}
