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
package dev.stratum.dist;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Rolls a kit out to eight local processes as hosts. */
@Category(LargeTests.class)
public class TestRollout extends DropinFixture {
  private int count;

  private Path root;
  private Path hosts;
  private String output = "";

  @Before
  public void addRollout() throws Exception {
    Files.copy(Path.of(System.getProperty("stratum.kit"), "rollout"), kit.resolve("rollout"));
    root = folder.newFolder("hosts").toPath();
    hosts = root.resolve("list");
    // A login on a host begins in its folder.
    Dropin.tool(tools, "on-host",
      "cd \"" + root + "/$1\" && shift && JAVA_HOME=$PWD/jdk sh -c \"$1\"");
  }

  private void startHosts(int number) throws Exception {
    // What dropin asks a server with; a machine that builds need not have it.
    assumeTrue("curl is on the PATH", Stream.of(System.getenv("PATH").split(File.pathSeparator))
      .anyMatch(folder -> Files.isExecutable(Path.of(folder, "curl"))));
    count = number;
    List<String> names = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      String name = "rs" + i;
      names.add(name);
      home("hosts/" + name);
      Path bin = Files.createDirectory(home.resolve("bin"));
      Dropin.tool(bin, "start", "rm -f stop",
        "\"" + Path.of(System.getProperty("java.home"), "bin", "java")
          + "\" -Xmx32m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions"
          + " -XX:-BytecodeVerificationRemote -cp \""
          + System.getProperty("java.class.path") + "\" " + InfoServer.class.getName()
          + " \"$PWD\" " + BASE + " " + VERSION + " > log 2>&1 &",
        "while [ ! -e port ]; do sleep 0.02; done");
      Dropin.tool(bin, "stop", "touch stop", "while [ -e port ]; do sleep 0.02; done");
      // The script acts as the shell, whose state the hosts share, and as RegionMover, which moves
      // a file.
      Dropin.tool(bin, "hbase", "if [ \"$1\" = shell ]; then", "read -r command", "cat ../balancer",
        "echo \"${command#balance_switch }\" > ../balancer", "exit; fi",
        "echo \"$*\" >> mover; cat ../balancer >> mover; [ -e port ] || exit 1",
        "case $* in *unload*) mv regions moved ;; *load*) mv moved regions ;; esac");
      Files.writeString(home.resolve("regions"), "7\n");
      Files.writeString(home.resolve("requests"), "3\n");
      Dropin.tool(home, "java", "if [ \"$1\" = -version ]; then",
        "echo 'openjdk version \"17.0.1\"' >&2; else", "echo 'memory some'; fi");
      Path jdk = Files.createDirectories(home.resolve("jdk/bin"));
      Files.move(home.resolve("java"), jdk.resolve("java"));
    }
    Files.writeString(root.resolve("balancer"), "true\n");
    Files.writeString(hosts, "# the cluster\n" + String.join("\n", names) + "\n");
    for (String name : names) {
      assertEquals(0, sh(root.resolve(name), "bin/start"));
    }
  }

  @After
  public void stopHosts() throws Exception {
    for (int i = 1; i <= count; i++) {
      sh(root.resolve("rs" + i), "bin/stop");
    }
  }

  private int sh(Path directory, String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder("sh", "-c", command).directory(directory.toFile())
      .redirectErrorStream(true).redirectOutput(folder.newFile()).start();
    assertTrue(command, process.waitFor(1, TimeUnit.MINUTES));
    return process.exitValue();
  }

  private int rollout(String... options) throws Exception {
    List<String> command = new ArrayList<>(List.of("sh", kit.resolve("rollout").toString(),
      "--home", ".", "--kit", kit.toString(), "--soak", "0", "--wait", "20", "--stop", "bin/stop",
      "--start", "bin/start", "--url", "http://localhost:$(cat port)"));
    command.addAll(List.of(options));
    command.add(hosts.toString());
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("ROLLOUT_SSH", tools.resolve("on-host").toString());
    builder.environment().put("PATH", tools + ":" + System.getenv("PATH"));
    Process process = builder.start();
    process.getOutputStream().close();
    output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(2, TimeUnit.MINUTES));
    return process.exitValue();
  }

  private void assertRollout(int expected, int code) {
    assertEquals(output, expected, code);
  }

  /** Returns the number of hosts whose lib has the kit's jars. */
  private int installed() throws IOException {
    int installed = 0;
    for (int i = 1; i <= count; i++) {
      Path jar = root.resolve("rs" + i).resolve("lib/hbase-server-" + BASE + ".jar");
      installed += Files.readString(jar).startsWith(VERSION) ? 1 : 0;
    }
    return installed;
  }

  private long lines(String text) {
    return output.lines().filter(line -> line.contains(text)).count();
  }

  @Test
  public void testAllHostsAreInstalledAndASecondRunChangesNothing() throws Exception {
    startHosts(4);
    assertRollout(0, rollout());
    assertEquals(output, count, lines(": healthy"));
    assertTrue(output, output.contains("canary: next check in 0 s"));
    assertTrue(output, output.endsWith("all hosts are done\n"));
    assertEquals(count, installed());
    assertRollout(0, rollout());
    assertEquals(output, count, lines("runs the kit already"));
    assertRollout(0, rollout("--rollback"));
    assertEquals(output, count, lines(": healthy"));
    assertEquals(0, installed());
  }

  /** Returns what the mover of a host was asked, each with the state of the balancer. */
  private String moves(String name) throws IOException {
    return Files.readString(root.resolve(name).resolve("mover"));
  }

  @Test
  public void testRegionsAreMovedAwayAndBackWhileTheBalancerIsOff() throws Exception {
    startHosts(2);
    assertRollout(0, rollout());
    String mover = "org.apache.hadoop.hbase.util.RegionMover -o ";
    for (String name : List.of("rs1", "rs2")) {
      assertEquals(mover + "unload -r " + name + "\nfalse\n" + mover + "load -r " + name
        + "\nfalse\n", moves(name));
      assertEquals("7\n", Files.readString(root.resolve(name).resolve("regions")));
    }
    assertEquals("true\n", Files.readString(root.resolve("balancer")));
    Files.writeString(root.resolve("balancer"), "false\n");
    assertRollout(0, rollout("--rollback"));
    assertEquals("false\n", Files.readString(root.resolve("balancer")));
  }

  @Test
  public void testServerWithFewerRegionsThanBeforeIsNotHealthy() throws Exception {
    startHosts(2);
    // With the kit's jars, the server lacks one region after its restart.
    Path hbase = root.resolve("rs1/bin/hbase");
    Files.writeString(hbase, "if grep -q " + VERSION + " lib/hbase-server-" + BASE
      + ".jar; then echo 6; else echo 7; fi > regions\n", StandardOpenOption.APPEND);
    assertRollout(1, rollout("--wait", "1"));
    assertTrue(output, output.contains("rs1 has failed: it serves 6 regions, and served 7 before"));
    assertTrue(output, output.contains("rs1: runs the originals"));
    assertEquals("true\n", Files.readString(root.resolve("balancer")));
    assertEquals(0, installed());
  }

  @Test
  public void testServerThatServesNoRequestIsNotHealthy() throws Exception {
    startHosts(1);
    Files.createFile(root.resolve("rs1/idle"));
    assertRollout(1, rollout("--wait", "1"));
    assertTrue(output, output.contains("rs1 has failed: it has served no request, and served 3 a"));
    assertTrue(output, output.contains("rs1: runs the originals"));
    // If a server had no requests before, none are expected afterwards.
    Files.writeString(root.resolve("rs1/requests"), "0\n");
    assertRollout(0, rollout());
  }

  @Test
  public void testServerWithoutRegionsIsNoCanary() throws Exception {
    startHosts(2);
    Files.delete(root.resolve("rs1/regions"));
    assertRollout(1, rollout());
    assertTrue(output, output.contains("rs1 has failed: it serves no regions, and proves nothing"));
    assertEquals(0, installed());
    assertFalse(Files.exists(root.resolve("rs1/mover")));
  }

  @Test
  public void testRegionsThatCannotBeMovedLeaveTheServerAsItIs() throws Exception {
    startHosts(2);
    Dropin.tool(root.resolve("rs1/bin"), "stop", "touch was-stopped");
    Path hbase = root.resolve("rs1/bin/hbase");
    Files.writeString(hbase, "[ \"${3:-}\" != unload ] || exit 1\n", StandardOpenOption.APPEND);
    assertRollout(1, rollout());
    assertTrue(output, output.contains("rs1 has failed: its regions could not be moved"));
    assertFalse(Files.exists(root.resolve("rs1/was-stopped")));
    assertEquals("7\n", Files.readString(root.resolve("rs1/regions")));
    assertEquals(0, installed());
    Dropin.tool(root.resolve("rs1/bin"), "stop", "touch stop",
      "while [ -e port ]; do sleep 0.02; done");
  }

  @Test
  public void testDryRunPrintsTheStepsAndChangesNothing() throws Exception {
    startHosts(2);
    assertRollout(0, rollout("--dry-run"));
    for (String name : List.of("rs1", "rs2")) {
      String mover = name + "$ cd '.' && bin/hbase org.apache.hadoop.hbase.util.RegionMover -o ";
      assertTrue(output, output.contains(String.join("\n", mover + "unload -r " + name,
        name + "$ bin/stop", name + "$ sh '" + kit + "/dropin' install '.'", name + "$ bin/start",
        mover + "load -r " + name)));
    }
    assertTrue(output, output.contains("rs1$ cd '.' && echo 'balance_switch false' | bin/hbase"));
    assertEquals("true\n", Files.readString(root.resolve("balancer")));
    assertFalse(Files.exists(root.resolve("rs1/mover")));
    assertEquals(0, installed());
    assertRollout(0, rollout("--dry-run", "--rollback"));
    assertTrue(output, output.contains("rs2$ sh '" + kit + "/dropin' rollback '.'"));
  }

  @Test
  public void testHostThatFailsIsRolledBackAndTheRestIsLeft() throws Exception {
    startHosts(6);
    Dropin.tool(tools, "gate", "[ \"$1\" != rs4 ] || ! grep -q " + VERSION + " \"" + root
      + "/$1/lib/hbase-server-" + BASE + ".jar\"");
    assertRollout(1, rollout("--wait", "2", "--gate", tools.resolve("gate").toString()));
    assertTrue(output, output.contains("rs4: runs the originals"));
    assertTrue(output, output.contains("rollout: done: rs1 rs2 rs3\n"));
    assertTrue(output, output.contains("rollout: left: rs5 rs6\n"));
    assertTrue(output, output.contains("rs4 has failed: " + tools.resolve("gate") + " rs4 exits"));
    assertEquals(3, installed());
    // Continues where it ended.
    assertRollout(0, rollout());
    assertEquals(output, 3, lines("runs the kit already"));
    assertEquals(count, installed());
  }

  @Test
  public void testUndoRollsBackTheHostsDoneBefore() throws Exception {
    startHosts(4);
    Dropin.tool(tools, "gate", "[ \"$1\" != rs3 ] || ! grep -q " + VERSION + " \"" + root
      + "/$1/lib/hbase-server-" + BASE + ".jar\"");
    assertRollout(1,
      rollout("--undo", "--wait", "2", "--gate", tools.resolve("gate").toString()));
    assertEquals(output, 3, lines(": runs the originals"));
    assertTrue(output, output.contains("rollout: done: none\n"));
    assertEquals(0, installed());
  }

  @Test
  public void testFindingOnAnyHostEndsTheRolloutBeforeItBegins() throws Exception {
    startHosts(3);
    Dropin.tool(root.resolve("rs3/jdk/bin"), "java", "if [ \"$1\" = -version ]; then",
      "echo 'openjdk version \"17.0.1\"' >&2; else",
      "echo 'memory some'; echo 'refused a.key is 1; must be 2. Set 2.'; fi");
    assertRollout(1, rollout());
    assertTrue(output, output.contains("rollout: rs3: "));
    assertTrue(output, output.contains("bad   a.key is 1; must be 2. Set 2."));
    assertTrue(output, output.contains("1 hosts have findings; nothing has changed."));
    assertEquals(0, installed());
  }

  @Test
  public void testServerThatDoesNotStopIsLeftAsItIs() throws Exception {
    startHosts(2);
    Dropin.tool(root.resolve("rs2/bin"), "stop-fails", "exit 1");
    Files.copy(root.resolve("rs2/bin/stop"), root.resolve("rs2/bin/stop-works"));
    Files.move(root.resolve("rs2/bin/stop-fails"), root.resolve("rs2/bin/stop"),
      StandardCopyOption.REPLACE_EXISTING);
    assertRollout(1, rollout());
    assertTrue(output, output.contains("rs2 has failed: its server could not be stopped"));
    assertFalse(output, output.contains("put the originals back"));
    assertEquals(1, installed());
    Dropin.tool(root.resolve("rs2/bin"), "stop", "touch stop",
      "while [ -e port ]; do sleep 0.02; done");
  }

  /** Has a host's settings leave the base without a block cache. */
  private void withoutCacheInStock(String name) throws IOException {
    Files.createFile(root.resolve(name).resolve("no-cache"));
    Dropin.tool(root.resolve(name).resolve("jdk/bin"), "java", "if [ \"$1\" = -version ]; then",
      "echo 'openjdk version \"17.0.1\"' >&2; else", "echo 'memory some'",
      "echo 'rollback hfile.block.cache.size is 0; set it to 0.4.'; fi");
  }

  @Test
  public void testRollbackToAServerWithoutABlockCacheStopsNoServer() throws Exception {
    startHosts(2);
    assertRollout(0, rollout());
    withoutCacheInStock("rs2");
    Files.delete(root.resolve("rs1/mover"));
    assertRollout(1, rollout("--rollback"));
    assertTrue(output, output.contains("rollout: rs2: "));
    assertTrue(output, output.contains("bad   hfile.block.cache.size is 0; set it to 0.4."));
    assertTrue(output, output.contains("1 hosts have findings; nothing has changed."));
    assertFalse(Files.exists(root.resolve("rs1/mover")));
    assertEquals(count, installed());
  }

  @Test
  public void testHostThatFailsIsNotLeftWithoutABlockCache() throws Exception {
    startHosts(2);
    withoutCacheInStock("rs1");
    assertRollout(1, rollout("--wait", "1", "--gate", "false"));
    assertTrue(output, output.contains("rs1: before a rollback: hfile.block.cache.size is 0;"));
    assertTrue(output, output.contains("rs1: the originals are not put back"));
    assertFalse(output, output.contains("runs the originals"));
    assertEquals(1, installed());
    assertEquals(0, sh(root.resolve("rs1"), "test -e port"));
  }

  @Test
  public void testServerWithoutABlockCacheIsNotHealthy() throws Exception {
    startHosts(1);
    assertRollout(0, rollout());
    // The check of the settings has said otherwise.
    Files.createFile(root.resolve("rs1/no-cache"));
    assertRollout(1, rollout("--rollback"));
    assertTrue(output, output.contains("rs1 has failed: "));
    assertTrue(output, output.contains("has no block cache"));
  }

  /** Then there is no process to stop, either. */
  @Test
  public void testServerThatDoesNotStartWithTheKitIsRolledBack() throws Exception {
    startHosts(2);
    Path bin = root.resolve("rs1/bin");
    Files.move(bin.resolve("start"), bin.resolve("start-works"));
    Dropin.tool(bin, "start",
      "! grep -q " + VERSION + " lib/hbase-server-" + BASE + ".jar || exit 1",
      "exec bin/start-works");
    Dropin.tool(bin, "stop", "[ -e port ] || exit 1", "touch stop",
      "while [ -e port ]; do sleep 0.02; done");
    assertRollout(1, rollout());
    assertTrue(output, output.contains("rs1: runs the originals"));
    assertTrue(output, output.contains("rs1 has failed: its server could not be started"));
    assertEquals(0, installed());
  }

  @Test
  public void testMasterWithFewerServersIsNotHealthy() throws Exception {
    startHosts(2);
    // The number of live servers falls once one has been changed.
    Dropin.tool(tools, "curl", "case $* in",
      "*name=Master,sub=Server*) if grep -q " + VERSION + " \"" + root
      + "\"/rs1/lib/*server*.jar; then echo '\"numRegionServers\" : 7'; else"
      + " echo '\"numRegionServers\" : 8'; fi ;;",
      "*AssignmentManager*) echo '\"ritCount\" : 0' ;;",
      "*) exec " + Dropin.system("curl") + " \"$@\" ;;", "esac");
    assertRollout(1, rollout("--wait", "2", "--master", "http://master:16010"));
    assertTrue(output,
      output.contains("rs1 has failed: the master has 7 live servers, and had 8"));
    assertTrue(output, output.contains("rs1: runs the originals"));
    assertEquals(0, installed());
  }

  @Test
  public void testWrongArgumentsAreNamed() throws Exception {
    for (String[] wrong : new String[][] { { "--wait", "long" }, { "--fast" } }) {
      assertRollout(2, rollout(wrong));
      assertTrue(output, output.contains("usage: rollout [OPTION ...] HOSTS"));
    }
    Files.writeString(hosts, "rs1\nrs2\nrs1\n");
    assertRollout(1, rollout());
    assertTrue(output, output.contains("has a host twice"));
    try (Stream<Path> left = Files.list(kit)) {
      assertTrue(left.findAny().isPresent());
    }
  }
}
