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
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.regionserver.SizingTool;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The program in JVMs of its own, as the script starts it, with few rows and free ports. */
public class TestRunLocal {
  private static final long PATIENCE_SECONDS = 240;
  private static final long PUBLICATION_SECONDS = 60;
  private static final int TERMINATED = 143;

  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  private Path folder;
  private Path output;
  private int zooKeeperPort;
  private Process process;

  @Before
  public void choosePlace() throws Exception {
    folder = temporary.newFolder("a folder with spaces").toPath();
    try (ServerSocket socket = new ServerSocket(0)) {
      zooKeeperPort = socket.getLocalPort();
    }
  }

  @After
  public void endProcess() throws Exception {
    if (process != null) {
      process.destroyForcibly().waitFor();
    }
  }

  @Test
  public void testServesFromBothTiersStopsRecoversAndReusesItsData() throws Exception {
    start("--rows", "5000");
    awaitOutput("serving; Ctrl-C stops");
    assertTrue(output(), output().contains("loaded 5,000 rows of 10 x 100 B into usertable"));
    assertHitsInBothTiers();
    assertTrue(output(),
      output().contains("hbase.zookeeper.property.clientPort=" + zooKeeperPort));
    Matcher address = Pattern.compile("http://localhost:\\d+/rs-status").matcher(output());
    assertTrue(output(), address.find());
    get(address.group());
    assertSaysWhatRuns(get(address.group().replace("rs-status",
      "jmx?qry=Hadoop:service=HBase,name=Info")));
    assertTrue(output(), output().contains(address.group().replace("rs-status", "tiers")));
    process.destroy();
    assertEquals(TERMINATED, awaitEnd());
    assertTrue(output(), output().contains("stopped, regions flushed and WAL closed"));

    // Killed before the flush, so that the last thousand rows are in the WAL only.
    start("--rows", "6000");
    awaitOutput("loaded 1,000 rows");
    assertTrue(output(), output().contains("usertable holds 5,000 rows from an earlier run"));
    process.destroyForcibly().waitFor();

    start("--once", "--rows", "6000");
    assertEquals(output(), 0, awaitEnd());
    assertTrue(output(), output().contains("usertable holds 6,000 rows from an earlier run"));
    assertHitsInBothTiers();
  }

  @Test
  public void testSettingThatTheServerRefusesEndsTheRunWithItsSentence() throws Exception {
    start("--once", "-Dhbase.bucketcache.l2.ioengine=floppy:/a");
    assertEquals(RunLocal.FAILED, awaitEnd());
    assertTrue(output(), output().contains(
      "run-local: The servers refuse to start: hbase.bucketcache.l2.ioengine is floppy:/a; must"));
    assertTrue(output(), output().contains("run-local: the log is " + folder));
  }

  @Test
  public void testServerThatRunsOutOfMemorySaysCauseKeyAndLog() throws Exception {
    // 800 MB for each writer thread's queue.
    start("--once", "-Dhbase.bucketcache.l2.writer.queuelength=200000000");
    assertEquals(RunLocal.FAILED, awaitEnd());
    assertTrue(output(), output().contains(
      "run-local: A server has run out of memory: Java heap space. -Xmx is 768 MB;"));
    assertTrue(output(), output().contains("hbase.bucketcache.l2.size"));
    assertTrue(output(),
      output().contains("run-local: the log is " + folder.resolve("logs/run.log")));
  }

  @Test
  public void testPortInUseEndsTheRunWithASentence() throws Exception {
    try (ServerSocket taken = new ServerSocket(zooKeeperPort)) {
      start("--once");
      assertEquals(RunLocal.FAILED, awaitEnd());
    }
    assertTrue(output(), output().contains("run-local: Port " + zooKeeperPort
      + " (hbase.zookeeper.property.clientPort) is in use;"));
  }

  /** With L2 on segments, which has all metrics that a tier of buckets has and more. */
  @Test
  public void testPrometheusHasTheNamesThatDashboardAndRulesUse() throws Exception {
    start("--rows", "1000", "-Dhbase.bucketcache.l2.ioengine=segments:" + folder.resolve("l2"),
      "-Dhbase.segmentcache.segment.mb=1", "-Dhbase.rs.prefetchblocksonopen=true",
      "-Dhbase.wal.async.sync.interval.ms=100", "-Dhbase.regionserver.parallel.get.enabled=true",
      "-Dhbase.regionserver.increment.coalesce.enabled=true",
      "-Dhbase.server.netty.flush.consolidation.enabled=true");
    awaitOutput("serving; Ctrl-C stops");
    Matcher address = Pattern.compile("http://localhost:\\d+/rs-status").matcher(output());
    assertTrue(output(), address.find());
    String prometheus = address.group().replace("rs-status", "prometheus");
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
      Files.createDirectories(folder);
      assertEquals(0, SizingTool.run("--memory", "2g", "--device", "1g", "--load", load, "--paths",
        folder.resolve("l2a") + "," + folder.resolve("l2b"), "--write", preset.toString()));
      List<String> args = new ArrayList<>(List.of("--once", "--rows", "5000"));
      Presets.settings(preset).forEach((key, value) -> args.add("-D" + key + "=" + value));
      args.add("-Dhbase.bucketcache.composite.promotoin=none");
      start(Presets.memory(preset), args.toArray(new String[0]));
      assertEquals(output(), 0, awaitEnd());
      assertTrue(output(), output().contains("SegmentCache") || output().contains("segments"));
      assertTrue(output(), Pattern.compile("(?m)^  L2 ").matcher(output()).find());
      String log = Files.readString(folder.resolve("logs/run.log"));
      assertTrue("a start logs a misspelt key",
        log.contains("hbase.bucketcache.composite.promotoin is none; no key has this name, so the "
          + "value is ignored. Did you mean hbase.bucketcache.composite.promotion?"));
    }
  }

  private static String get(String address) throws Exception {
    HttpResponse<String> page = HttpClient.newHttpClient().send(
      HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
    assertEquals(address, 200, page.statusCode());
    return page.body();
  }

  /** As dropin reads it: an attribute in a line; each module from its own jar or folder. */
  private static void assertSaysWhatRuns(String jmx) {
    for (String attribute : List.of("\"Version\" *: *\"" + VersionInfo.getVersion() + "\"",
      "\"CommonJar\" *: *\"[^\"]*/hbase-common/[^\"]*\"",
      "\"ClientJar\" *: *\"[^\"]*/hbase-client/[^\"]*\"",
      "\"ServerJar\" *: *\"[^\"]*/hbase-server/[^\"]*\"")) {
      assertTrue(attribute + " in " + jmx,
        Pattern.compile("(?m)^ *" + attribute + ",?$").matcher(jmx).find());
    }
  }

  private void assertHitsInBothTiers() throws Exception {
    for (String tier : List.of("L1", "L2")) {
      Matcher row = Pattern.compile(
        "(?m)^  " + tier + " +(\\S+)( +[\\d.,]+){2} +([\\d,]+) +([\\d,]+) +([\\d,]+) ")
        .matcher(output());
      assertTrue(output(), row.find());
      assertTrue(output(), Long.parseLong(row.group(5).replace(",", "")) > 0);
      boolean first = tier.equals("L1");
      assertEquals(output(), first ? "ByteBufferIOEngine" : "FileIOEngine", row.group(1));
      // Data is in L2, and what is hot of it in L1 too, beside the meta blocks.
      long blocks = Long.parseLong(row.group(3).replace(",", ""));
      long data = Long.parseLong(row.group(4).replace(",", ""));
      assertTrue(output(), first ? data > 0 && data < blocks : data == blocks);
      // Data blocks enter L1 by promotion only; a figure that L2 does not have is a dash.
      Matcher moves = Pattern.compile("(?m)^  " + tier + " .* %  +(\\S+) +(\\S+) +(\\S+)$")
        .matcher(output());
      assertTrue(output(), moves.find());
      if (first) {
        assertTrue(output(), Long.parseLong(moves.group(1).replace(",", "")) >= data);
      } else {
        assertEquals(output(), "-", moves.group(1));
      }
    }
  }

  private void start(String... args) throws Exception {
    start(List.of("-Xmx768m", "-XX:MaxDirectMemorySize=400m"), args);
  }

  private void start(List<String> memory, String... args) throws Exception {
    output = temporary.newFile().toPath();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(System.getProperty("stratum.jvm.opens").trim().split("\\s+")));
    // The RegionServer's pages are on the class path where run-local.sh has them.
    String webapps =
      Path.of(System.getProperty("stratum.root"), "hbase-server", "target", "fork", "webapps")
        .toString();
    // Most of a short run is start-up, which the second compiler only slows down.
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(memory);
    command.addAll(List.of("-cp",
      System.getProperty("java.class.path") + File.pathSeparator + webapps,
      RunLocal.class.getName(), "--folder", folder.toString(), "--seconds", "1", "--l1-mb", "32",
      "--l2-mb", "64", "-Dhbase.localcluster.assign.random.ports=true",
      "-Dhbase.zookeeper.property.clientPort=" + zooKeeperPort));
    command.addAll(List.of(args));
    process = new ProcessBuilder(command).redirectErrorStream(true)
      .redirectOutput(output.toFile()).start();
  }

  private void awaitOutput(String text) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!output().contains(text)) {
      assertTrue(output(), process.isAlive() && System.nanoTime() < deadline);
      Thread.sleep(50);
    }
  }

  private int awaitEnd() throws Exception {
    assertTrue(output(), process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
    return process.exitValue();
  }

  private String output() throws Exception {
    return Files.readString(output);
  }
}
