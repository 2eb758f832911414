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
package dev.stratum.fork.check;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.Repo;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchApplier;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** How patches fare on another line. */
@Category(LargeTests.class)
public class TestLineCheck {
  private static final String C = "hbase-client/src/main/java/org/x/C.java";
  private static final String OWN = Repo.JAVA + "Own.java";

  @Rule
  public final Repo repo = new Repo();
  private final SortedMap<String, byte[]> line = new TreeMap<>();
  private final TreeSet<String> modules = new TreeSet<>(Modules.ALL);
  private final Map<String, byte[]> variants = new HashMap<>();

  @Before
  public void setUp() throws Exception {
    repo.checkout();
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.edit(OWN, "class Own { }\n");
    repo.commit("HBASE-1 Seven");
    line.putAll(repo.base);
  }

  private void line(String path, String from, String to) {
    String text = Repo.text(line).get(path);
    line.put(path, Repo.bytes(text.replace(from, to)));
  }

  private List<LineCheck.Outcome> outcomes() throws Exception {
    repo.rebuild();
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      return check(store).outcomes();
    }
  }

  private LineCheck check(GitStore store) throws Exception {
    return new LineCheck(store, repo.history(), line, modules,
      new LineVariants("3.1.0-hadoop3", line, variants));
  }

  private void assertFirst(LineCheck.Kind kind, String... details) throws Exception {
    LineCheck.Outcome outcome = outcomes().get(0);
    assertEquals(kind, outcome.kind());
    assertEquals(List.of(details), outcome.details());
  }

  @Test
  public void testSameFileApplies() throws Exception {
    assertFirst(LineCheck.Kind.APPLIES);
  }

  @Test
  public void testOtherLineNumbersApply() throws Exception {
    line(Repo.A, "a 1\n", "new\nnewer\na 1\n");
    assertFirst(LineCheck.Kind.APPLIES);
  }

  @Test
  public void testOtherContextAppliesWithChanges() throws Exception {
    line(Repo.A, "a 5\n", "five\n");
    assertFirst(LineCheck.Kind.CHANGES);
  }

  @Test
  public void testEditsThatAreThereAreUpstream() throws Exception {
    line(Repo.A, "a 7\n", "seven\n");
    assertFirst(LineCheck.Kind.UPSTREAM);
  }

  @Test
  public void testPatchThatTheLineHasInItsOwnWayIsUpstream() throws Exception {
    line(Repo.A, "a 7\n", "VII\n");
    for (String upstream : List.of("in 3.1.0", "in 3.0.1, 3.1.0 and 4.0.0 (PR 1)")) {
      Repo.git(repo.tree, "commit", "-q", "--amend", "-m",
        "HBASE-1 Seven\n\nUpstream: " + upstream);
      assertFirst(LineCheck.Kind.UPSTREAM);
    }
    Repo.git(repo.tree, "commit", "-q", "--amend", "-m",
      "HBASE-1 Seven\n\nUpstream: not submitted, in spite of 3.1.0");
    assertFirst(LineCheck.Kind.CONFLICTS, Repo.A + ":7");
  }

  @Test
  public void testPlaceOfAConflictIsNamed() throws Exception {
    line(Repo.A, "a 1\n", "new\na 1\n");
    line(Repo.A, "a 7\n", "VII\n");
    assertFirst(LineCheck.Kind.CONFLICTS, Repo.A + ":8");
  }

  @Test
  public void testMissingFileIsAConflict() throws Exception {
    line.remove(Repo.A);
    assertFirst(LineCheck.Kind.CONFLICTS, Repo.A + " (does not exist)");
  }

  @Test
  public void testAddedFileThatIsThereIsAConflict() throws Exception {
    line.put(OWN, Repo.bytes("class Own { int other; }\n"));
    assertFirst(LineCheck.Kind.CONFLICTS, OWN + " (exists already)");
  }

  @Test
  public void testConflictIsNotInheritedByThePatchAfterIt() throws Exception {
    repo.edit(Repo.A, "seven\n", "seven, really\n");
    repo.commit("HBASE-2 Really");
    line(Repo.A, "a 7\n", "VII\n");
    List<LineCheck.Outcome> outcomes = outcomes();
    assertEquals(LineCheck.Kind.CONFLICTS, outcomes.get(0).kind());
    assertEquals(LineCheck.Kind.APPLIES, outcomes.get(1).kind());
  }

  @Test
  public void testModuleThatIsNotPublishedIsNotTried() throws Exception {
    repo.edit(C, "c 3\n", "three\n");
    repo.commit("HBASE-2 Three");
    modules.remove("hbase-client");
    line.remove(C);
    List<LineCheck.Outcome> outcomes = outcomes();
    assertEquals(LineCheck.Kind.APPLIES, outcomes.get(0).kind());
    assertEquals(LineCheck.Kind.UNKNOWN, outcomes.get(1).kind());
  }

  @Test
  public void testGeneratedClassThatIsNotPublishedIsNotTried() throws Exception {
    String page = "hbase-server/src/main/java/org/apache/hadoop/hbase/tmpl/Page.java";
    repo.reset();
    repo.base(page, "page 1\n");
    repo.checkout();
    repo.edit(page, "page 1\n", "page one\n");
    repo.commit("HBASE-1 Page");
    repo.edit(page, "page one\n", "page 1.0\n");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("HBASE-2 Page and more");
    List<LineCheck.Outcome> outcomes = outcomes();
    assertEquals(LineCheck.Kind.UNKNOWN, outcomes.get(0).kind());
    assertEquals(LineCheck.Kind.APPLIES, outcomes.get(1).kind());
    assertEquals("applies in part", outcomes.get(1).shown());
    assertEquals(List.of(page), outcomes.get(1).untried());
  }

  @Test
  public void testEditsOfAModuleThatIsNotPublishedAreTold() throws Exception {
    repo.edit(C, "c 3\n", "three\n");
    repo.edit(Repo.B, "b 3\n", "three\n");
    repo.commit("HBASE-2 Three");
    modules.remove("hbase-client");
    LineCheck.Outcome outcome = outcomes().get(1);
    assertEquals("applies in part", outcome.shown());
    assertEquals(List.of(C), outcome.untried());
    line(Repo.B, "b 1\n", "one\n");
    assertEquals("applies in part with changes", outcomes().get(1).shown());
  }

  /** What stands in for a jar that is not published may lack what the line's own files need. */
  @Test
  public void testFileThatDoesNotCompileWithoutThePatchEitherSaysNothing() throws Exception {
    repo.reset();
    repo.base(OWN, "class Own {\n  int a;\n\n\n\n\n}\n");
    repo.checkout();
    repo.edit(OWN, "  int a;\n", "  int a;\n  int b;\n");
    repo.commit("HBASE-1 Own");
    line.clear();
    line.putAll(repo.base);
    line(OWN, "}\n", "  Nowhere c;\n}\n");
    String said = compiled().get("HBASE-1-own.patch");
    assertTrue(said, said.startsWith("cannot be compiled: " + OWN + ":8: cannot find symbol"));
  }

  /** With an insertion, whose place nothing but its line number tells. */
  private byte[] variant(byte[] madeAgainst, int shift) {
    return Repo.bytes("Variant for this line.\n\ndiff --git a/" + Repo.A + " b/" + Repo.A
      + "\nindex " + PatchApplier.blobId(madeAgainst) + "..0123456789 100644\n--- a/" + Repo.A
      + "\n+++ b/" + Repo.A + "\n@@ -" + (2 + shift) + ",0 +" + (3 + shift)
      + " @@\n+inserted\n@@ -" + (7 + shift) + " +" + (8 + shift) + " @@\n-VII\n+seven\n");
  }

  @Test
  public void testVariantTakesThePlaceOfThePatch() throws Exception {
    line(Repo.A, "a 7\n", "VII\n");
    variants.put("HBASE-1-seven.patch", variant(line.get(Repo.A), 0));
    assertFirst(LineCheck.Kind.VARIANT);
  }

  @Test
  public void testVariantOfOneFileLeavesTheOthersToThePatch() throws Exception {
    String page = "hbase-server/src/main/java/org/apache/hadoop/hbase/tmpl/Page.java";
    repo.reset();
    repo.base(page, "page 1\n");
    repo.checkout();
    repo.edit(page, "page 1\n", "page one\n");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.edit(Repo.B, "b 7\n", "seven\n");
    repo.edit(C, "c 3\n", "three\n");
    repo.commit("HBASE-1 Seven");
    line(Repo.A, "a 7\n", "VII\n");
    modules.remove("hbase-client");
    variants.put("HBASE-1-seven.patch", Repo.bytes("Replaces: files\n"
      + new String(variant(line.get(Repo.A), 0), StandardCharsets.UTF_8)));
    LineCheck.Outcome outcome = outcomes().get(0);
    assertEquals(LineCheck.Kind.VARIANT, outcome.kind());
    assertEquals(Set.of(page, C), Set.copyOf(outcome.untried()));
    line(Repo.B, "b 7\n", "VII\n");
    assertEquals(List.of(Repo.B + " of the variant that is kept"), outcomes().get(0).details());
  }

  @Test
  public void testVariantIsOfThePublishedFileWhateverIsPatchedBefore() throws Exception {
    repo.reset();
    repo.checkout();
    repo.edit(Repo.A, "a 1\n", "a 1\none\nand a half\n");
    repo.commit("HBASE-0 One");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("HBASE-1 Seven");
    repo.edit(Repo.A, "a 4\n", "four\n");
    repo.commit("HBASE-2 Four");
    line(Repo.A, "a 7\n", "VII\n");
    variants.put("HBASE-1-seven.patch", variant(line.get(Repo.A), 0));
    List<LineCheck.Outcome> outcomes = outcomes();
    assertEquals(LineCheck.Kind.APPLIES, outcomes.get(0).kind());
    assertEquals(LineCheck.Kind.VARIANT, outcomes.get(1).kind());
    // In the lines beside it stands what the variant put there, if at its place.
    assertEquals(LineCheck.Kind.CHANGES, outcomes.get(2).kind());
  }

  @Test
  public void testVariantThatAnotherPatchIsInTheWayOfIsAConflict() throws Exception {
    repo.reset();
    repo.checkout();
    repo.edit(Repo.A, "a 2\n", "two\n");
    repo.commit("HBASE-0 Two");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("HBASE-1 Seven");
    line(Repo.A, "a 7\n", "VII\n");
    variants.put("HBASE-1-seven.patch", variant(line.get(Repo.A), 0));
    LineCheck.Outcome outcome = outcomes().get(1);
    assertEquals(LineCheck.Kind.CONFLICTS, outcome.kind());
    assertEquals(List.of(Repo.A + " of the variant that is kept"), outcome.details());
  }

  @Test
  public void testEmptyVariantIsUpstream() throws Exception {
    line(Repo.A, "a 7\n", "VII\n");
    variants.put("HBASE-1-seven.patch", Repo.bytes("The line has it in another way.\n"));
    assertFirst(LineCheck.Kind.UPSTREAM);
    assertEquals(Map.of(), compiled());
  }

  @Test
  public void testVariantIsCompiledWithTheFilesThatThePatchAdds() throws Exception {
    repo.reset();
    repo.base(OWN, "class Own {\n  int a;\n}\n");
    repo.checkout();
    repo.edit(OWN, "  int a;\n", "  int a;\n  New b;\n");
    repo.edit(Repo.JAVA + "New.java", "class New { }\n");
    repo.commit("HBASE-1 New");
    line.clear();
    line.putAll(repo.base);
    line(OWN, "  int a;\n", "  long a;\n");
    variants.put("HBASE-1-new.patch", Repo.bytes("diff --git a/" + OWN + " b/" + OWN
      + "\nindex " + PatchApplier.blobId(line.get(OWN)) + "..0123456789 100644\n--- a/" + OWN
      + "\n+++ b/" + OWN + "\n@@ -2,0 +3 @@\n+  New b;\n"));
    assertEquals(Map.of("HBASE-1-new.patch", "compiles"), compiled());
  }

  @Test
  public void testVariantIsCompiledWithoutWhatIsLeftOutBeforeIt() throws Exception {
    repo.reset();
    repo.base(OWN, "class Own {\n  int a;\n\n\n\n  int b;\n}\n");
    repo.checkout();
    repo.edit(OWN, "  int a;\n", "  int a;\n  Nowhere c;\n  int d;\n");
    repo.commit("HBASE-0 Left out");
    repo.edit(OWN, "  int b;\n", "  int b;\n  int e;\n");
    repo.commit("HBASE-1 Variant");
    line.clear();
    line.putAll(repo.base);
    line(OWN, "  int b;\n", "  long b;\n");
    variants.put("HBASE-1-variant.patch", Repo.bytes("diff --git a/" + OWN + " b/" + OWN
      + "\nindex " + PatchApplier.blobId(line.get(OWN)) + "..0123456789 100644\n--- a/" + OWN
      + "\n+++ b/" + OWN + "\n@@ -6,0 +7 @@\n+  long e;\n"));
    Map<String, String> compiled = compiled();
    assertEquals("compiles", compiled.get("HBASE-1-variant.patch"));
    assertTrue(compiled.toString(),
      compiled.get("HBASE-0-left-out.patch").startsWith("does not compile: " + OWN + ":3"));
  }

  /** Own classes that compile on a plain JDK, so that patches can be left out by what they are. */
  private Map<String, String> compiled() throws Exception {
    repo.rebuild();
    try (GitStore store = GitStore.inMemory(Repo.TIME);
      StateCheck states = new StateCheck(line, repo.newFolder(), List.of(),
        StateCompiler.RELEASE, null)) {
      LineCheck check = check(store);
      return check.compile(check.outcomes(), states);
    }
  }

  @Test
  public void testWhatNeedsAPatchInConflictWaits() throws Exception {
    repo.edit(Repo.JAVA + "Two.java", "class Two { }\n");
    repo.commit("HBASE-2 Two", "", "Needs: HBASE-1");
    repo.edit(Repo.JAVA + "Three.java", "class Three { }\n");
    repo.commit("HBASE-3 Three");
    repo.edit(Repo.JAVA + "Four.java", "class Four { Nowhere field; }\n");
    repo.commit("HBASE-4 Four");
    line(Repo.A, "a 7\n", "VII\n");
    assertEquals(Map.of("HBASE-2-two.patch", "waits for HBASE-1-seven", "HBASE-3-three.patch",
      "compiles", "HBASE-4-four.patch", "does not compile: " + Repo.JAVA + "Four.java:1: cannot "
        + "find symbol symbol: class Nowhere location: class Four"), compiled());
  }
}
