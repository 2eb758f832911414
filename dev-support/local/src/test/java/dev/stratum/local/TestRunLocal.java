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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.operations.SizingTool;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * The program in JVMs of its own, as the script starts it, with few rows and free ports; without
 * and with settings of the fork.
 */
@Category(LargeTests.class)
public class TestRunLocal {
  private static final long PATIENCE_SECONDS = 240;
  private static final long PUBLICATION_SECONDS = 180;
  private static final int TERMINATED = 143;
  private static final Pattern MEMORY = Pattern.compile("-Xmx\\d+m|-XX:MaxDirectMemorySize=\\d+m");

  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  private Path folder;
  private Path output;
  private int zooKeeperPort;
  private Process process;

  @Before
  public void choosePlace() throws Exception {
    folder = temporary.newFolder("a folder with spaces").toPath();
    zooKeeperPort = freePort();
  }

  /** Returns a free port below those that the system chooses for sockets without a port. */
  private static int freePort() {
    while (true) {
      int port = 20_000 + ThreadLocalRandom.current().nextInt(10_000);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // The port is in use: try another one.
      }
    }
  }

  @After
  public void endProcess() throws Exception {
    if (process != null) {
      process.destroyForcibly().waitFor();
    }
  }

  private static String get(String address) throws Exception {
    HttpResponse<String> page = HttpClient.newHttpClient().send(
      HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
    assertEquals(address, 200, page.statusCode());
    return page.body();
  }

  private void start(boolean once, int rows, String... settings) throws Exception {
    start(List.of("-Xmx768m", "-XX:MaxDirectMemorySize=400m"), once, rows, settings);
  }

  private void start(List<String> memory, boolean once, int rows, String... settings)
    throws Exception {
    output = temporary.newFile().toPath();
    Files.createDirectories(folder.resolve("logs"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(System.getProperty("stratum.jvm.opens").trim().split("\\s+")));
    // Most of a short run is start-up, which the second compiler only slows down; a third of it is
    // the verification of javac's classes.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UnlockDiagnosticVMOptions",
      "-XX:-BytecodeVerificationRemote"));
    command.addAll(memory);
    // The RegionServer's pages are on the class path where run-local.sh has them.
    Path webapps = Path.of(System.getProperty("stratum.root"), "hbase-server/target/fork/webapps");
    command.addAll(List.of("-cp",
      System.getProperty("java.class.path") + File.pathSeparator + webapps,
      "-Dstratum.local.folder=" + folder, "-Dstratum.local.once=" + once,
      "-Dstratum.local.rows=" + rows, "-Dstratum.local.seconds=1", "-Dstratum.local.l1.mb=32",
      "-Dstratum.local.l2.mb=64", RunLocal.class.getName(),
      "hbase.localcluster.assign.random.ports=true",
      "hbase.zookeeper.property.clientPort=" + zooKeeperPort));
    command.addAll(List.of(settings));
    process = new ProcessBuilder(command).redirectErrorStream(true)
      .redirectOutput(output.toFile()).start();
  }

  private String awaitServing() throws Exception {
    awaitOutput("serving; Ctrl-C stops");
    Matcher address = Pattern.compile("http://localhost:\\d+/rs-status").matcher(output());
    assertTrue(output(), address.find());
    return address.group().replace("rs-status", "");
  }

  private void awaitOutput(String text) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!output().contains(text)) {
      assertTrue(output(), process.isAlive() && System.nanoTime() < deadline);
      Thread.sleep(50);
    }
  }

  private void assertEnds(int status, String... texts) throws Exception {
    assertTrue(output(), process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
    assertEquals(output(), status, process.exitValue());
    for (String text : texts) {
      assertTrue(output(), output().contains(text));
    }
  }

  private String output() throws Exception {
    return Files.readString(output);
  }

  @Test
  public void testServesFromBothTiersStopsRecoversAndReusesItsData() throws Exception {
    String address;
    // Another port is taken when this one is in use.
    try (ServerSocket taken =
      new ServerSocket(zooKeeperPort, 1, InetAddress.getLoopbackAddress())) {
      start(false, 5000);
      address = awaitServing();
    }
    assertTrue(output(), output().contains("loaded 5,000 rows of 10 x 100 B into usertable"));
    assertHitsInBothTiers();
    assertTrue(output(), output().contains("hbase.zookeeper.property.clientPort="));
    assertTrue(output(), output().contains(address + "tiers"));
    get(address + "rs-status");
    assertSaysWhatRuns(get(address + "jmx?qry=Hadoop:service=HBase,name=Info"));
    assertSecondRunIsRefused();
    process.destroy();
    assertEnds(TERMINATED, "s  stopped");

    // Killed before the flush, so that the last thousand rows are in the WAL only.
    start(false, 6000);
    awaitOutput("loaded 1,000 rows");
    assertTrue(output(), output().contains("usertable holds 5,000 rows from an earlier run"));
    process.destroyForcibly().waitFor();

    start(true, 6000);
    assertEnds(0, "usertable holds 6,000 rows from an earlier run");
    assertHitsInBothTiers();
  }

  @Test
  public void testSettingThatTheServerRefusesEndsTheRunWithItsSentence() throws Exception {
    start(true, 1, "hbase.bucketcache.l2.ioengine=floppy:/a=b");
    assertEnds(RunLocal.FAILED,
      "run-local: The servers refuse to start: hbase.bucketcache.l2.ioengine is floppy:/a=b; must",
      "run-local: the log is " + folder);
  }

  @Test
  public void testServerThatRunsOutOfMemorySaysCauseAndLog() throws Exception {
    // 800 MB for each writer thread's queue.
    start(true, 1, "hbase.bucketcache.l2.writer.queuelength=200000000");
    assertEnds(RunLocal.FAILED, "run-local: A server has run out of memory: Java heap space. Set",
      "run-local: the log is " + folder.resolve("logs/run.log"));
  }

  @Test
  public void testPortInUseEndsTheRunWithItsKey() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      start(true, 1, "hbase.master.port=" + taken.getLocalPort());
      assertEnds(RunLocal.FAILED, "run-local: The servers refuse to start: ",
        "" + taken.getLocalPort(), "'hbase.master.port'");
    }
  }

  private void assertSecondRunIsRefused() throws Exception {
    Process first = process;
    Path firstOutput = output;
    start(true, 1);
    assertEnds(RunLocal.FAILED, "run-local: Another run is using " + folder + "; stop it first.");
    process = first;
    output = firstOutput;
  }

  /**
   * Asserts the format that dropin reads: one attribute per line, each module from its own jar or
   * folder.
   */
  private static void assertSaysWhatRuns(String jmx) {
    for (String attribute : List.of("\"Version\" *: *\"" + VersionInfo.getVersion() + "\"",
      "\"CommonJar\" *: *\"[^\"]*/hbase-common/[^\"]*\"",
      "\"ClientJar\" *: *\"[^\"]*/hbase-client/[^\"]*\"",
      "\"ServerJar\" *: *\"[^\"]*/hbase-server/[^\"]*\"")) {
      assertTrue(attribute + " in " + jmx,
        Pattern.compile("(?m)^ *" + attribute + ",?$").matcher(jmx).find());
    }
  }

  /** Returns the columns of a tier in the table that is printed. */
  private List<String> columns(String tier) throws Exception {
    Matcher row = Pattern.compile("(?m)^  " + tier + " +(.*)$").matcher(output());
    assertTrue(output(), row.find());
    return List.of(row.group(1).replace(",", "").replace(" %", "").split(" +"));
  }

  private void assertHitsInBothTiers() throws Exception {
    for (String tier : List.of("L1", "L2")) {
      boolean first = tier.equals("L1");
      List<String> columns = columns(tier);
      assertEquals(output(), first ? "ByteBufferIOEngine" : "FileIOEngine", columns.get(0));
      // Data is in L2, and what is hot of it in L1 too, beside the meta blocks.
      long blocks = Long.parseLong(columns.get(3));
      long data = Long.parseLong(columns.get(4));
      assertTrue(output(), first ? data > 0 && data < blocks : data == blocks);
      assertTrue(output(), Long.parseLong(columns.get(5)) > 0);
      // Data blocks enter L1 by promotion only; a figure that L2 does not have is a dash.
      assertTrue(output(), first
        ? Long.parseLong(columns.get(8)) >= data
        : columns.get(8).equals("-"));
    }
  }

  /** L2 is a segment tier, which has all metrics of a bucket cache and more. */
  @Test
  public void testPrometheusHasTheNamesThatDashboardAndRulesUse() throws Exception {
    start(false, 3000, "hbase.bucketcache.l2.ioengine=segments:" + folder.resolve("l2"),
      "hbase.segmentcache.segment.mb=1", "hbase.rs.prefetchblocksonopen=true",
      "hbase.wal.async.sync.interval.ms=100", "hbase.regionserver.parallel.get.enabled=true",
      "hbase.regionserver.increment.coalesce.enabled=true",
      "hbase.regionserver.write.groups.enabled=true",
      "hbase.regionserver.point.get.enabled=true", "hbase.regionserver.row.cache.size.mb=1",
      "hbase.regionserver.row.cache.all.tables=true",
      // Else there is nothing to compact.
      "hbase.rs.compaction.cache.handover.enabled=true",
      "hbase.hregion.memstore.flush.size=1048576",
      "hbase.server.netty.flush.consolidation.enabled=true");
    String prometheus = awaitServing() + "prometheus";
    Set<String> used = PrometheusNames.used();
    assertTrue("names used: " + used.size(), used.size() > 100);
    // HBase publishes new registries every 10 s, and stops the metrics system for half a second
    // when it removes stale beans from JMX.
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PUBLICATION_SECONDS);
    String scrape = get(prometheus);
    while (
      !PrometheusNames.missing(used, scrape).isEmpty() && System.nanoTime() < deadline
    ) {
      Thread.sleep(500);
      scrape = get(prometheus);
    }
    assertEquals(Set.of(), PrometheusNames.missing(used, scrape));
    assertTrue(scrape, Pattern.compile("(?m)^build_info\\{[^}]*version=\""
      + Pattern.quote(VersionInfo.getVersion()) + "\"[^}]*\\} 1$").matcher(scrape).find());
    used.add("block_cache_tiers_l1hit_cuont");
    assertEquals(Set.of("block_cache_tiers_l1hit_cuont"),
      PrometheusNames.missing(used, scrape));
  }

  /** The settings of each preset, for a machine of 2 GB; -Dpresets.all=true for all loads. */
  @Test
  public void testServesWithTheSettingsOfAPreset() throws Exception {
    List<String> loads = Boolean.getBoolean("presets.all")
      ? List.of("serving", "ingest", "mixed")
      : List.of("mixed");
    for (String load : loads) {
      Path preset = temporary.newFolder().toPath();
      assertEquals(0, SizingTool.run("--memory", "2g", "--device", "1g", "--load", load, "--paths",
        folder.resolve("l2a") + "," + folder.resolve("l2b"), "--write", preset.toString()));
      Configuration site = new Configuration(false);
      site.addResource(
        new org.apache.hadoop.fs.Path(preset.resolve("hbase-site.xml").toUri()));
      List<String> settings =
        new ArrayList<>(List.of("hbase.bucketcache.composite.promotoin=none"));
      site.forEach(entry -> settings.add(entry.getKey() + "=" + entry.getValue()));
      start(MEMORY.matcher(Files.readString(preset.resolve("hbase-env.sh"))).results()
        .map(MatchResult::group).toList(), true, 5000, settings.toArray(new String[0]));
      assertEnds(0);
      assertEquals(output(), "segments", columns("L2").get(0));
      String log = Files.readString(folder.resolve("logs/run.log"));
      assertTrue("a start logs a misspelt key",
        log.contains("hbase.bucketcache.composite.promotoin is none; no key has this name, so the "
          + "value is ignored. Did you mean hbase.bucketcache.composite.promotion?"));
    }
  }
}
