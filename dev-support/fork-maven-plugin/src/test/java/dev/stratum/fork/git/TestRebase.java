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
package dev.stratum.fork.git;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.Repo;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Moving the series to another base, with conflicts resolved by the real git. */
@Category(LargeTests.class)
public class TestRebase {
  private static final Set<String> ALL = Set.copyOf(Modules.ALL);
  private static final String OWN = Repo.JAVA + "Own.java";

  @Rule
  public final Repo repo = new Repo();
  private Path tree;
  private final SortedMap<String, byte[]> newBase = new TreeMap<>();
  private final Map<String, byte[]> variants = new TreeMap<>();

  @Before
  public void setUp() throws Exception {
    repo.checkout();
    repo.edit(Repo.A, "a 5\n", "five\n");
    repo.edit(OWN, "class Own { }\n");
    repo.commit("First");
    repo.edit(Repo.A, "a 15\n", "fifteen\n");
    repo.commit("Second");
    repo.edit(Repo.B, "b 5\n", "five\n");
    repo.commit("Third");
    repo.rebuild();
    tree = repo.root.resolve("target/rebase/tree");
    newBase.putAll(repo.base);
  }

  private void newBase(String path, String old, String now) {
    String text = Repo.text(newBase).get(path);
    assertTrue(text.contains(old));
    newBase.put(path, Repo.bytes(text.replace(old, now)));
  }

  private List<String> run() throws Exception {
    return run("2.7", ALL);
  }

  private List<String> run(String version, Set<String> modules) throws Exception {
    try (
      Rebase rebase = new Rebase(tree, new LineSources(version, modules, newBase), Repo.TIME)) {
      return rebase.run(repo.history(), new LineVariants(version, newBase, variants)).stream()
        .map(Object::toString).toList();
    }
  }

  private SortedMap<String, String> plan() throws Exception {
    try (Rebase rebase = new Rebase(tree, new LineSources("2.7", ALL, newBase), Repo.TIME)) {
      return Repo.text(rebase.plan(repo.root));
    }
  }

  private long patches() throws Exception {
    return plan().keySet().stream().filter(path -> path.endsWith(".patch")).count();
  }

  private static final List<String> CLEAN = List.of("clean    patches/STRATUM-first.patch",
    "clean    patches/STRATUM-second.patch", "clean    patches/STRATUM-third.patch");

  @Test
  public void testCleanRebaseGivesPatchesForTheNewBase() throws Exception {
    newBase(Repo.A, "a 1\n", "new\nlines\na 1\n");
    newBase(Repo.B, "b 30\n", "");
    assertEquals(CLEAN, run());
    assertTrue(plan().get("patches/STRATUM-first.patch")
      .contains("@@ -7 +7 @@\n-a 5\n+five\n"));
    assertEquals("class Own { }\n", plan().get(OWN));
  }

  @Test
  public void testSameBaseGivesTheSamePatches() throws Exception {
    assertEquals(CLEAN, run());
    assertEquals(repo.snapshot(), plan());
  }

  @Test
  public void testConflictIsLeftForGitAndTheRestIsReported() throws Exception {
    newBase(Repo.A, "a 15\n", "xv\n");
    assertEquals(List.of(CLEAN.get(0), "conflict patches/STRATUM-second.patch: " + Repo.A
      + " is changed in the same lines", CLEAN.get(2)), run());
    assertEquals("UU " + Repo.A + "\n", Repo.git(tree, "status", "--short"));
    assertTrue(Repo.harvest(tree).get(Repo.A)
      .contains("<<<<<<< 2.7\nxv\n=======\nfifteen\n>>>>>>> STRATUM-second\n"));
    String message = assertThrows(ForkException.class, this::run).getMessage();
    assertTrue(message, message.contains("still has an unfinished patch (" + Repo.A + ")"));

    Repo.write(tree.resolve(Repo.A), Repo.text(newBase).get(Repo.A).replace("a 5", "five")
      .replace("xv\n", "XV\n"));
    Repo.git(tree, "add", "-A");
    Repo.git(tree, "commit", "-q", "--no-edit");
    assertEquals(List.of("done     patches/STRATUM-first.patch",
      "done     patches/STRATUM-second.patch", CLEAN.get(2)), run());
    assertEquals(3, patches());
    assertTrue(plan().get("patches/STRATUM-second.patch")
      .contains("@@ -15 +15 @@\n-xv\n+XV\n"));
  }

  /** The patches after one in conflict are told as fork:check-lines tells them. */
  @Test
  public void testConflictIsNotInheritedByThePatchAfterIt() throws Exception {
    repo.edit(Repo.A, "fifteen\n", "fifteen, really\n");
    repo.edit(OWN, "class Own { }\n", "class Own { int a; }\n");
    repo.commit("Fourth");
    repo.rebuild();
    newBase(Repo.A, "a 15\n", "xv\n");
    List<String> lines = run();
    assertEquals(List.of(CLEAN.get(0), "conflict patches/STRATUM-second.patch: " + Repo.A
      + " is changed in the same lines", CLEAN.get(2), "clean    patches/STRATUM-fourth.patch"),
      lines);
    Repo.write(tree.resolve(Repo.A),
      Repo.harvest(tree).get(Repo.A).replaceAll("(?s)<<<<<<<.*>>>>>>>[^\n]*\n", "XV\n"));
    Repo.git(tree, "add", "-A");
    Repo.git(tree, "commit", "-q", "--no-edit");
    assertTrue(run().get(3).startsWith("conflict patches/STRATUM-fourth.patch"));
  }

  @Test
  public void testGeneratedClassThatTheNewBaseLacksIsLeftOut() throws Exception {
    String page = "hbase-server/src/main/java/org/apache/hadoop/hbase/tmpl/Page.java";
    repo.reset();
    repo.base(page, "page 1\n");
    setUp();
    repo.edit(page, "page 1\n", "page one\n");
    repo.commit("Page");
    repo.rebuild();
    newBase.remove(page);
    assertEquals("empty    patches/STRATUM-page.patch", run().get(3));
  }

  @Test
  public void testConflictMarkersLeftInACommitAreRefused() throws Exception {
    newBase(Repo.A, "a 15\n", "xv\n");
    run();
    Repo.git(tree, "add", "-A");
    Repo.git(tree, "commit", "-q", "--no-edit");
    String message = assertThrows(ForkException.class, this::run).getMessage();
    assertTrue(message, message.contains(Repo.A) && message.contains("'<<<<<<<'"));
  }

  @Test
  public void testPatchDroppedInTheWorkTreeStaysDropped() throws Exception {
    newBase(Repo.A, "a 15\n", "xv\n");
    run();
    Repo.git(tree, "cherry-pick", "--abort");
    assertEquals(List.of("done     patches/STRATUM-first.patch",
      "dropped  patches/STRATUM-second.patch", CLEAN.get(2)), run());
    assertEquals(2, patches());
  }

  @Test
  public void testPatchThatTheNewBaseHasIsEmpty() throws Exception {
    newBase(Repo.B, "b 5\n", "five\n");
    assertEquals(List.of(CLEAN.get(0), CLEAN.get(1), "empty    patches/STRATUM-third.patch"),
      run());
    assertEquals(2, patches());
  }

  private void variant(String name, String hunk) {
    variants.put(name, Repo.bytes("Variant for 2.7.\n\n"
      + Repo.section(Repo.A, newBase.get(Repo.A), hunk)));
  }

  @Test
  public void testVariantReplacesTheEditsOfThePatch() throws Exception {
    newBase(Repo.A, "a 5\n", "v\n");
    variant("STRATUM-first.patch", "@@ -5 +5,2 @@\n-v\n+five\n+and a half\n");
    variant("STRATUM-second.patch", "@@ -15 +15 @@\n-a 15\n+XV\n");
    assertEquals(List.of("variant  patches/lines/2.7/STRATUM-first.patch",
      "variant  patches/lines/2.7/STRATUM-second.patch", CLEAN.get(2)), run());
    assertEquals("class Own { }\n", plan().get(OWN));
    String second = plan().get("patches/STRATUM-second.patch");
    assertTrue(second, second.startsWith("Subject: Second\n"));
    assertTrue(second, second.contains("@@ -16 +16 @@\n-a 15\n+XV\n"));
    assertEquals("done     patches/lines/2.7/STRATUM-second.patch", run().get(1));
  }

  @Test
  public void testVariantInConflictIsNamed() throws Exception {
    variant("STRATUM-second.patch", "@@ -5 +5 @@\n-a 5\n+V\n");
    assertEquals(List.of(CLEAN.get(0), "conflict patches/lines/2.7/STRATUM-second.patch: " + Repo.A
      + " is changed in the same lines", CLEAN.get(2)), run());
    assertTrue(Repo.harvest(tree).get(Repo.A)
      .contains("<<<<<<< 2.7\nfive\n=======\nV\n>>>>>>> STRATUM-second\n"));
  }

  @Test
  public void testPatchThatIsUpstreamIsSkipped() throws Exception {
    repo.edit(Repo.B, "b 15\n", "fifteen\n");
    repo.commit("Fourth", "", "Upstream: in 2.7 and 3.0");
    repo.rebuild();
    newBase(Repo.A, "a 15\n", "xv\n");
    newBase(Repo.B, "b 15\n", "xv\n");
    variants.put("STRATUM-second.patch", Repo.bytes("2.7 has it in another way.\n"));
    for (String verb : List.of("clean    ", "done     ")) {
      assertEquals(List.of(verb + "patches/STRATUM-first.patch",
        "upstream patches/lines/2.7/STRATUM-second.patch", verb + "patches/STRATUM-third.patch",
        "upstream patches/STRATUM-fourth.patch"), run());
    }
    assertEquals(2, patches());
  }

  @Test
  public void testFileGoneOrAlreadyThere() throws Exception {
    newBase.remove(Repo.B);
    newBase.put(OWN, Repo.bytes("class Own { int upstream; }\n"));
    assertEquals(List.of(
      "conflict patches/STRATUM-first.patch: " + OWN + " exists already", CLEAN.get(1),
      "conflict patches/STRATUM-third.patch: " + Repo.B + " does not exist"), run());
    assertFalse(Repo.git(tree, "status", "--short").isEmpty());
  }

  @Test
  public void testMissingModuleIsLeftOut() throws Exception {
    newBase.keySet().removeIf(path -> path.startsWith("hbase-client/"));
    repo.edit("hbase-client/src/main/java/org/x/C.java", "c 5\n", "five\n");
    repo.commit("Client");
    repo.rebuild();
    assertEquals("empty    patches/STRATUM-client.patch",
      run("2.7", Set.of("hbase-common", "hbase-server")).get(3));
  }

  @Test
  public void testOtherTargetIsRefusedWhileOneIsUnfinished() throws Exception {
    run();
    Repo.assertRefused(() -> run("3.0", ALL),
      "holds a rebase to 2.7; finish it, or delete the folder");
  }
}
