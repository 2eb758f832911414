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
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.UpstreamEdits;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.Series;
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
  private static final String PAGE =
    "hbase-server/src/main/java/org/apache/hadoop/hbase/tmpl/Page.java";
  private static final String FIRST = "HBASE-1-seven.patch";

  @Rule
  public final Repo repo = new Repo();
  private final SortedMap<String, byte[]> line = new TreeMap<>();
  private final TreeSet<String> modules = new TreeSet<>(Modules.ALL);
  private final Map<String, byte[]> variants = new HashMap<>();

  @Before
  public void setUp() throws Exception {
    repo.base(PAGE, "page 1\n");
    repo.base(Repo.JAVA + "Old.java", "class Old {\n  int a;\n\n\n\n\n}\n");
    repo.checkout();
    line.putAll(repo.base);
  }

  /** Commits another word for line 7 of A, and an added file. */
  private void seven() throws Exception {
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.edit(OWN, "class Own { }\n");
    repo.commit("HBASE-1 Seven");
  }

  private void line(String path, String from, String to) {
    String text = Repo.text(line).get(path);
    line.put(path, Repo.bytes(text.replace(from, to)));
  }

  private LineSources sources() {
    return new LineSources("3.1.0-hadoop3", modules, line);
  }

  private List<LineCheck.Outcome> outcomes() throws Exception {
    repo.rebuild();
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      return new LineCheck(store, repo.history(), sources(),
        new LineVariants("3.1.0-hadoop3", line, variants)).outcomes();
    }
  }

  private List<String> shown() throws Exception {
    return outcomes().stream().map(LineCheck.Outcome::shown).toList();
  }

  private void assertFirst(LineCheck.Kind kind, String... details) throws Exception {
    LineCheck.Outcome outcome = outcomes().get(0);
    assertEquals(kind, outcome.kind());
    assertEquals(List.of(details), outcome.details());
  }

  @Test
  public void testLinesOfContextTellHowItApplies() throws Exception {
    seven();
    assertFirst(LineCheck.Kind.APPLIES);
    line(Repo.A, "a 1\n", "new\nnewer\na 1\n");
    assertFirst(LineCheck.Kind.APPLIES);
    line(Repo.A, "a 5\n", "five\n");
    assertFirst(LineCheck.Kind.CHANGES);
    line(Repo.A, "a 7\n", "seven\n");
    assertFirst(LineCheck.Kind.UPSTREAM);
  }

  @Test
  public void testPatchThatTheLineHasInItsOwnWayIsUpstream() throws Exception {
    seven();
    line(Repo.A, "a 7\n", "VII\n");
    for (String upstream : List.of("in 3.1.0", "in 3.0.1, 3.1.0 and 4.0.0 (PR 1)")) {
      Repo.git(repo.tree, "commit", "-q", "--amend", "-m",
        "HBASE-1 Seven\n\nUpstream: " + upstream);
      assertFirst(LineCheck.Kind.UPSTREAM);
    }
    Repo.git(repo.tree, "commit", "-q", "--amend", "-m",
      "HBASE-1 Seven\n\nUpstream: not submitted, in spite of 3.1.0");
    assertFirst(LineCheck.Kind.CONFLICTS, Repo.A + ":7");
    variants.put(FIRST, Repo.bytes("The line has it in another way.\n"));
    assertFirst(LineCheck.Kind.UPSTREAM);
  }

  @Test
  public void testPlaceOfAConflictIsNamed() throws Exception {
    seven();
    line(Repo.A, "a 1\n", "new\na 1\n");
    line(Repo.A, "a 7\n", "VII\n");
    assertFirst(LineCheck.Kind.CONFLICTS, Repo.A + ":8");
    line.remove(Repo.A);
    assertFirst(LineCheck.Kind.CONFLICTS, Repo.A + " (does not exist)");
    line.put(Repo.A, repo.base.get(Repo.A));
    line.put(OWN, Repo.bytes("class Own { int other; }\n"));
    assertFirst(LineCheck.Kind.CONFLICTS, OWN + " (exists already)");
  }

  @Test
  public void testConflictIsNotInheritedByThePatchAfterIt() throws Exception {
    seven();
    repo.edit(Repo.A, "seven\n", "seven, really\n");
    repo.commit("HBASE-2 Really");
    line(Repo.A, "a 7\n", "VII\n");
    assertEquals(List.of("conflicts (1)", "applies"), shown());
  }

  @Test
  public void testWhatIsNotPublishedIsNotTriedButTold() throws Exception {
    seven();
    repo.edit(C, "c 3\n", "three\n");
    repo.commit("HBASE-2 Module");
    repo.edit(PAGE, "page 1\n", "page one\n");
    repo.commit("HBASE-3 Page");
    repo.edit(C, "three\n", "3\n");
    repo.edit(PAGE, "page one\n", "page 1.0\n");
    repo.edit(Repo.B, "b 7\n", "seven\n");
    repo.commit("HBASE-4 All");
    modules.remove("hbase-client");
    line.remove(PAGE);
    assertEquals(List.of("applies", "not published", "not published", "applies in part"), shown());
    assertEquals(List.of(C, PAGE), outcomes().get(3).untried());
    line(Repo.B, "b 5\n", "five\n");
    assertEquals("applies in part with changes", shown().get(3));
  }

  /** With an insertion, whose place nothing but its line number tells. */
  private void variant(String head) {
    variants.put(FIRST, Repo.bytes(head + "\n" + Repo.section(Repo.A, line.get(Repo.A),
      "@@ -2,0 +3 @@\n+inserted\n@@ -7 +8 @@\n-VII\n+seven\n")));
  }

  @Test
  public void testVariantIsOfThePublishedFileWhateverIsPatchedBefore() throws Exception {
    repo.edit(Repo.A, "a 1\n", "a 1\none\nand a half\n");
    repo.commit("HBASE-0 One");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("HBASE-1 Seven");
    repo.edit(Repo.A, "a 4\n", "four\n");
    repo.commit("HBASE-2 Four");
    line(Repo.A, "a 7\n", "VII\n");
    variant("Variant.\n");
    // In the lines beside the last one stands what the variant put there, if at its place.
    assertEquals(List.of("applies", "variant kept", "applies with changes"), shown());
  }

  @Test
  public void testVariantOfOneFileLeavesTheOthersToThePatch() throws Exception {
    repo.edit(PAGE, "page 1\n", "page one\n");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.edit(Repo.B, "b 7\n", "seven\n");
    repo.edit(C, "c 3\n", "three\n");
    repo.commit("HBASE-1 Seven");
    line(Repo.A, "a 7\n", "VII\n");
    line.remove(PAGE);
    modules.remove("hbase-client");
    variant("Replaces: files\n");
    LineCheck.Outcome outcome = outcomes().get(0);
    assertEquals(LineCheck.Kind.VARIANT, outcome.kind());
    assertEquals(Set.of(PAGE, C), Set.copyOf(outcome.untried()));
    line(Repo.B, "b 7\n", "VII\n");
    assertEquals(List.of(Repo.B + " of the variant that is kept"), outcomes().get(0).details());
  }

  /** Own classes that compile on a plain JDK, so that patches are told by what they are. */
  private String compiled(String name) throws Exception {
    repo.rebuild();
    Series series = repo.series();
    LineVariants published = new LineVariants("3.1.0-hadoop3", line, variants);
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      LineExport export = new LineExport(store, series, repo.history(), sources(), published,
        UpstreamEdits.NONE, GitStore.STRATUM, Repo.TIME);
      try (StateCheck states = new StateCheck(export.plain(), repo.newFolder(), List.of(),
        StateCompiler.RELEASE, null)) {
        return LineCheck.compile(series.named(name).get(0), export, states);
      }
    }
  }

  @Test
  public void testExportIsCompiledWithItsNeeds() throws Exception {
    repo.edit(Repo.JAVA + "One.java", "class One { }\n");
    repo.commit("HBASE-1 One");
    repo.edit(Repo.JAVA + "Two.java", "class Two { One one; }\n");
    repo.commit("HBASE-2 Two", "", "Needs: HBASE-1");
    repo.edit(Repo.JAVA + "Three.java", "class Three { One one; }\n");
    repo.commit("HBASE-3 Three");
    assertEquals("compiles", compiled("HBASE-2-two"));
    assertEquals("does not compile: " + Repo.JAVA + "Three.java:1: cannot find symbol symbol: class "
      + "One location: class Three", compiled("HBASE-3-three"));
  }

  @Test
  public void testWhatNeedsAPatchInConflictWaits() throws Exception {
    seven();
    repo.edit(Repo.JAVA + "Two.java", "class Two { }\n");
    repo.commit("HBASE-2 Two", "", "Needs: HBASE-1");
    line(Repo.A, "a 7\n", "VII\n");
    String said = compiled("HBASE-2-two");
    assertTrue(said, said.startsWith("waits: patches/HBASE-1-seven.patch, which HBASE-2-two needs"));
  }

  /** What replaces a jar that is not published may lack what the line's own files need. */
  @Test
  public void testFileThatDoesNotCompileWithoutThePatchEitherSaysNothing() throws Exception {
    String old = Repo.JAVA + "Old.java";
    repo.edit(old, "  int a;\n", "  int a;\n  int b;\n");
    repo.commit("HBASE-1 Old");
    assertEquals("compiles", compiled("HBASE-1-old"));
    line(old, "}\n", "  Nowhere c;\n}\n");
    String said = compiled("HBASE-1-old");
    assertTrue(said, said.startsWith("not compiled: " + old + ":8: cannot find symbol"));
  }
}
