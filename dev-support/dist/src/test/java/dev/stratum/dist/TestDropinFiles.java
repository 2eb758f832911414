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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.Test;

/** What dropin does to lib, with jars that are a few bytes each, at every point it may end at. */
public class TestDropinFiles extends DropinFixture {
  @Test
  public void testInstallsAndRollsBackAsOftenAsAskedTo() throws Exception {
    for (int i = 0; i < 2; i++) {
      assertEquals(dropin.output(), 0, install());
      assertInstalled(VERSION);
    }
    assertTrue(dropin.output(), dropin.output().contains("installed in " + lib + " already"));
    for (int i = 0; i < 2; i++) {
      assertEquals(dropin.output(), 0, rollback());
      assertEquals(before, Dropin.listing(lib));
    }
    assertTrue(dropin.output(), dropin.output().contains("nothing to roll back"));
  }

  /** Checks that a server which is started at any moment finds whole jars that go together. */
  private void assertRunnable(String when) throws IOException {
    String forks = "";
    for (String module : Dropin.MODULES) {
      String content = Files.readString(jar(module));
      assertTrue(when + ": " + content,
        content.equals(content("stock", module)) || content.equals(content(VERSION, module)));
      forks += content.startsWith("stock") ? "-" : "f";
    }
    assertTrue(when + ": " + forks, List.of("---", "f--", "ff-", "fff").contains(forks));
  }

  /** Has the program that is the {@code at}th to change something do what {@code how} says. */
  private void disturb(int at, String how) throws IOException {
    Path count = tools.resolve("count");
    Files.writeString(count, "0");
    dropin.with("COUNT", count.toString()).with("AT", String.valueOf(at)).with("HOW", how);
    for (String name : CHANGING) {
      Dropin.tool(tools, name, "read -r n < \"$COUNT\"; n=$((n + 1)); echo $n > \"$COUNT\"",
        "if [ $n = $AT ]; then case $HOW in",
        "  kill) kill -9 $PPID; exit 1 ;;",
        "  fail) echo 'No space left on device' >&2; exit 1 ;;",
        "  term) kill -TERM $PPID ;;",
        "esac; fi",
        name.equals("sync") ? NO_SYNC : "exec " + Dropin.system(name) + " \"$@\"");
    }
  }

  private boolean wasDisturbed(int at) throws IOException {
    return Integer.parseInt(Files.readString(tools.resolve("count")).trim()) >= at;
  }

  private interface Command {
    int run() throws Exception;
  }

  /**
   * Kills a command before each change that it makes, and returns how many there are. What it
   * leaves after a change is what it leaves before the next.
   */
  private int killAnywhere(Command prepare, Command command, Command next, boolean installed)
    throws Exception {
    for (int at = 1;; at++) {
      String when = "before change " + at;
      prepare.run();
      disturb(at, "kill");
      int code = command.run();
      calm();
      if (!wasDisturbed(at)) {
        assertEquals(when + ": " + dropin.output(), 0, code);
        return at - 1;
      }
      assertNotEquals(when, 0, code);
      assertRunnable(when);
      assertEquals(when + ": " + dropin.output(), 0, next.run());
      if (installed) {
        assertInstalled(VERSION);
      } else {
        assertEquals(when, before, Dropin.listing(lib));
      }
    }
  }

  @Test
  public void testInstallThatIsKilledAnywhereIsCompletedByTheNext() throws Exception {
    int points = killAnywhere(this::rollback, this::install, this::install, true);
    assertTrue("points: " + points, points >= 12);
  }

  @Test
  public void testInstallThatIsKilledAnywhereIsUndoneByRollback() throws Exception {
    killAnywhere(() -> 0, this::install, this::rollback, false);
  }

  @Test
  public void testRollbackThatIsKilledAnywhereIsCompletedByTheNext() throws Exception {
    int points = killAnywhere(this::install, this::rollback, this::rollback, false);
    assertTrue("points: " + points, points >= 6);
  }

  @Test
  public void testInstallWhoseDiskFailsAnywhereLeavesAllOrNothing() throws Exception {
    endsAnywhere("fail");
  }

  @Test
  public void testInstallThatIsTerminatedAnywhereLeavesAllOrNothing() throws Exception {
    endsAnywhere("term");
  }

  private void endsAnywhere(String how) throws Exception {
    for (int at = 1;; at++) {
      String when = how + " at change " + at;
      disturb(at, how);
      int code = install();
      calm();
      if (!wasDisturbed(at)) {
        break;
      }
      assertRunnable(when);
      if (Files.readString(jar("server")).startsWith("stock")) {
        assertNotEquals(when, 0, code);
        Map<String, String> after = Dropin.listing(lib);
        after.keySet().removeIf(name -> name.equals(".dropin.lock"));
        assertEquals(when + ": " + dropin.output(), before, after);
      }
      assertEquals(when + ": " + dropin.output(), 0, install());
      assertInstalled(VERSION);
      rollback();
    }
  }

  @Test
  public void testFolderThatCannotBeWrittenIsNamed() throws Exception {
    Dropin.tool(tools, "mkdir", "echo \"mkdir: Read-only file system\" >&2; exit 1");
    assertRefused(install(), lib.toString(), "make " + lib + " writable");
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testAnotherBaseIsRefused() throws Exception {
    Files.move(jar("server"), lib.resolve("hbase-server-0.9.jar"));
    before = Dropin.listing(lib);
    for (String command : List.of("install", "rollback", "check")) {
      assertRefused(dropin.run(command, home.toString()), "hbase-server-0.9.jar",
        "the build for that version");
      assertEquals(before, Dropin.listing(lib));
    }
    // Java would fail with a stack trace.
    assertRefused(dropin.run("check", home.toString()), "the settings in " + home.resolve("conf")
      + " are not checked, as the classes of these jars do not fit together; correct the above");
    assertFalse(dropin.output(), dropin.output().contains("what Java said"));
  }

  @Test
  public void testJarsPutThereByHandAreRefused() throws Exception {
    Files.move(jar("client"), lib.resolve("hbase-client-" + VERSION + ".jar"));
    assertRefused(install(), "hbase-client-" + VERSION + ".jar was put there by hand",
      "put hbase-client-" + BASE + ".jar of the original HBase in its place");
  }

  @Test
  public void testMissingJarsAndFoldersAreNamed() throws Exception {
    Files.delete(jar("common"));
    assertRefused(install(), jar("common") + " is missing");
    assertRefused(dropin.run("install", home.resolve("conf").toString()), "has no folder lib");
    assertRefused(dropin.run("check", home.resolve("none").toString()), "cannot be entered");
  }

  @Test
  public void testDamagedKitIsRefused() throws Exception {
    Files.writeString(kit.resolve("jars/hbase-client-" + VERSION + ".jar"), "cut");
    assertRefused(install(), "hbase-client-" + VERSION + ".jar is not what SHA256SUMS says");
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testLinkedFolderAndLinksToAJarStayAsTheyAre() throws Exception {
    Path elsewhere = folder.getRoot().toPath().resolve("lib elsewhere");
    Files.move(lib, elsewhere);
    Files.createSymbolicLink(lib, elsewhere);
    Files.createSymbolicLink(lib.resolve("hbase-server.jar"), jar("server").getFileName());
    assertEquals(dropin.output(), 0, install());
    assertTrue(Files.isSymbolicLink(lib));
    assertEquals(content(VERSION, "server"), Files.readString(lib.resolve("hbase-server.jar")));
    assertEquals(dropin.output(), 0, rollback());
    assertEquals(content("stock", "server"), Files.readString(lib.resolve("hbase-server.jar")));
    Files.delete(lib.resolve("hbase-server.jar"));
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testJarThatIsALinkIsOneAgainAfterwards() throws Exception {
    Path target = folder.getRoot().toPath().resolve("kept elsewhere.jar");
    Files.move(jar("server"), target);
    Files.createSymbolicLink(jar("server"), target);
    before = Dropin.listing(lib);
    assertEquals(dropin.output(), 0, install());
    assertFalse(Files.isSymbolicLink(jar("server")));
    assertEquals(content("stock", "server"), Files.readString(target));
    assertEquals(dropin.output(), 0, rollback());
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testWhereThereAreNoHardLinksTheOriginalIsCopied() throws Exception {
    Dropin.tool(tools, "ln", "exit 1");
    assertEquals(dropin.output(), 0, install());
    assertInstalled(VERSION);
    assertEquals(dropin.output(), 0, rollback());
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testLinkToAnotherJarIsRefused() throws Exception {
    Files.createSymbolicLink(lib.resolve("hbase-server.jar"), Path.of("hbase-http-1.0.jar"));
    assertRefused(install(), "hbase-server.jar points to another file");
  }

  @Test
  public void testJarsOfAnotherKitAreReplacedAndTheOriginalKept() throws Exception {
    Path newer = kit("a newer kit", "1.0-stratum-2");
    assertEquals(dropin.output(), 0, install());
    dropin = new Dropin(newer.resolve("dropin"), tools);
    assertEquals(dropin.output(), 0, install());
    assertInstalled("1.0-stratum-2");
    dropin = new Dropin(kit.resolve("dropin"), tools);
    assertEquals(dropin.output(), 0, rollback());
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testHbaseInstalledAnewOverTheForkIsNotTouched() throws Exception {
    assertEquals(dropin.output(), 0, install());
    for (String module : Dropin.MODULES) {
      Files.writeString(jar(module), content("new", module));
    }
    Map<String, String> anew = Dropin.listing(lib);
    assertRefused(install(), "neither the original", "remove " + stock("common"));
    assertRefused(rollback(), "neither the original");
    assertEquals(anew, Dropin.listing(lib));
    for (String module : Dropin.MODULES) {
      Files.delete(stock(module));
    }
    assertEquals(dropin.output(), 0, install());
    assertEquals(content("new", "server"), Files.readString(stock("server")));
  }

  @Test
  public void testWithoutOriginalsRollbackSaysWhatToPutBack() throws Exception {
    assertEquals(dropin.output(), 0, install());
    for (String module : Dropin.MODULES) {
      Files.delete(stock(module));
    }
    assertRefused(rollback(), "no original is beside it", "hbase-server-" + BASE + ".jar");
  }

  @Test
  public void testSecondAtTheSameTimeIsRefused() throws Exception {
    Path lock = Files.createDirectory(lib.resolve(".dropin.lock"));
    Files.writeString(lock.resolve("pid"), String.valueOf(ProcessHandle.current().pid()));
    assertRefusedWith(3, install(),
      "process " + ProcessHandle.current().pid() + " works on " + lib);
    assertTrue(Files.exists(lock));
  }

  private void assertTakenOver(long holder, String pid) throws Exception {
    Path lock = Files.createDirectory(lib.resolve(".dropin.lock"));
    Files.writeString(lock.resolve("pid"), pid);
    assertEquals(dropin.output(), 0, install());
    assertTrue(dropin.output(), dropin.output()
      .contains("process " + holder + ", which locked " + lib + ", has ended: its lock is taken"));
    assertInstalled(VERSION);
    assertEquals(dropin.output(), 0, rollback());
  }

  @Test
  public void testLockOfADeadProcessIsTakenOver() throws Exception {
    Process dead = new ProcessBuilder("true").start();
    dead.waitFor();
    assertTakenOver(dead.pid(), dead.pid() + "\n");
  }

  @Test
  public void testLockOfAnEarlierProcessWithTheNumberOfAnotherIsTakenOver() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/stat")));
    long pid = ProcessHandle.current().pid();
    assertTakenOver(pid, pid + " 1\n");
  }

  @Test
  public void testLockOfAZombieIsTakenOver() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/stat")));
    // The child ends only once the shell, which would wait for it, has been replaced.
    Process parent =
      new ProcessBuilder("sh", "-c", "exec 3<&0; read go <&3 & echo $!; exec sleep 600").start();
    try (BufferedReader out = parent.inputReader(); OutputStream in = parent.getOutputStream()) {
      long zombie = Long.parseLong(out.readLine());
      while (!Files.readString(Path.of("/proc/" + parent.pid() + "/comm")).equals("sleep\n")) {
        Thread.sleep(10);
      }
      in.write('\n');
      in.flush();
      while (!Files.readString(Path.of("/proc/" + zombie + "/stat")).contains(") Z ")) {
        Thread.sleep(10);
      }
      assertTakenOver(zombie, zombie + "\n");
    } finally {
      parent.destroyForcibly();
    }
  }

  @Test
  public void testLockHasTheStartTimeOfItsProcess() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/stat")));
    String seen = tools.resolve("seen").toString();
    Dropin.tool(tools, "ln", "cat \"" + lib + "/.dropin.lock/pid\" > \"" + seen + "\"",
      "sed 's/^.*) //' /proc/$PPID/stat | cut -d ' ' -f 20 >> \"" + seen + "\"", "exit 1");
    assertEquals(dropin.output(), 0, install());
    String[] words = Files.readString(Path.of(seen)).trim().split("\\s+");
    assertEquals(3, words.length);
    assertEquals(words[2], words[1]);
  }
}
