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
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.Repo;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.lib.PersonIdent;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Commits for another version of HBase, applied by the real git to its plain files. */
@Category(LargeTests.class)
public class TestLineExport {
  private static final String C = "hbase-client/src/main/java/org/x/C.java";
  private static final String OWN = Repo.JAVA + "Own.java";
  private static final String PAGE =
    "hbase-server/src/main/java/org/apache/hadoop/hbase/tmpl/regionserver/PageTmplImpl.java";
  private static final PersonIdent AUTHOR = new PersonIdent("Ada Tester", "ada@localhost");

  @Rule
  public final Repo repo = new Repo();
  private final SortedMap<String, byte[]> line = new TreeMap<>();
  private final TreeSet<String> modules = new TreeSet<>(Modules.ALL);
  private final Map<String, byte[]> variants = new HashMap<>();
  private UpstreamEdits edits = UpstreamEdits.NONE;
  private String version = "2.6.6";

  @Before
  public void setUp() throws Exception {
    repo.base(PAGE, "page 1\npage 2\n");
    repo.checkout();
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.edit(OWN, "class Own { }\n");
    repo.commit("HBASE-1 Seven", "", "JIRA: HBASE-1", "Reason: to be upstreamed. Seven is a word, "
      + "and a word is what a reader of this file looks for in it.");
    line.putAll(repo.base);
  }

  private void line(String path, String from, String to) {
    String text = Repo.text(line).get(path);
    line.put(path, Repo.bytes(text.replace(from, to)));
  }

  private LineExport.Exported export(String name) throws Exception {
    repo.rebuild();
    ForkHistory history = repo.history();
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      return new LineExport(store, history, new LineSources(version, modules, line),
        new LineVariants(version, line, variants), edits, AUTHOR, Repo.TIME)
          .export(history.series().named(name).get(0));
    }
  }

  private void assertRefused(LineExport.Status status, String name, String part) throws Exception {
    LineExport.Exported exported = export(name);
    assertEquals(status, exported.status());
    assertTrue(exported.why(), exported.why().contains(part));
  }

  private static List<String> paths(LineExport.Exported exported) {
    return FileChange.between(exported.before(), exported.own().files()).stream()
      .map(FileChange::path).toList();
  }

  /** Lets git apply the commits, none of which names the fork, and returns what they gave. */
  private Map<String, String> am(LineExport.Exported exported) throws Exception {
    Path plain = repo.newFolder();
    SortedMap<String, byte[]> files = new TreeMap<>(line);
    files.remove(PAGE);
    files.putAll(edits.files());
    Repo.plant(plain, files);
    Path mails = repo.newFolder();
    for (LineExport.Commit commit : exported.commits()) {
      String text = new String(commit.content(), StandardCharsets.UTF_8);
      assertFalse(text, text.toLowerCase(Locale.ROOT).contains("stratum"));
      Files.write(mails.resolve(commit.fileName()), commit.content());
      Repo.git(plain, "am", "-q", mails.resolve(commit.fileName()).toString());
    }
    messages = Repo.git(plain, "log", "--reverse", "--format=%an <%ae>%n%B",
      "-" + exported.commits().size());
    return Repo.harvest(plain);
  }

  private String messages;

  @Test
  public void testPatchAppliesToTheLinesPlainFiles() throws Exception {
    line(Repo.A, "a 1\n", "new\na 1\n");
    LineExport.Exported exported = export("HBASE-1");
    assertEquals("0001-HBASE-1-Seven.patch", exported.own().fileName());
    assertEquals(List.of(), exported.notes());
    Map<String, String> files = am(exported);
    assertTrue(files.get(Repo.A), files.get(Repo.A).startsWith("new\na 1\n"));
    assertTrue(files.get(Repo.A).contains("a 6\nseven\na 8\n"));
    assertEquals("class Own { }\n", files.get(OWN));
    assertEquals("Ada Tester <ada@localhost>\nHBASE-1 Seven\n\nSeven is a word, and a word is what "
      + "a reader of this file looks for in\nit.\n\n", messages);
  }

  @Test
  public void testNeedsAreCommitsOfTheirOwnAndThoseThatTheLineHasAreLeftOut() throws Exception {
    repo.edit(Repo.A, "seven\n", "seven, really\n");
    repo.commit("Really", "", "Needs: HBASE-1");
    repo.edit(Repo.B, "b 7\n", "seven\n");
    repo.commit("HBASE-3 Both", "", "JIRA: HBASE-3", "Needs: STRATUM-really");
    LineExport.Exported exported = export("HBASE-3");
    assertEquals(List.of("0001-HBASE-1-Seven.patch", "0002-HBASE-NNNNN-Really.patch",
      "0003-HBASE-3-Both.patch"),
      exported.commits().stream().map(LineExport.Commit::fileName).toList());
    assertTrue(am(exported).get(Repo.A).contains("seven, really\n"));
    assertFalse(messages, messages.contains("Applies after"));

    variants.put("HBASE-1-seven.patch", Repo.bytes("2.6.6 has it in its own way.\n"));
    line(Repo.A, "a 7\n", "seven\n");
    exported = export("HBASE-3");
    assertEquals(List.of("0001-HBASE-NNNNN-Really.patch", "0002-HBASE-3-Both.patch"),
      exported.commits().stream().map(LineExport.Commit::fileName).toList());
    assertEquals(List.of("HBASE-1 Seven: 2.6.6 has it."), exported.notes());
    assertTrue(am(exported).get(Repo.A).contains("seven, really\n"));
  }

  @Test
  public void testWhatIsNotForUpstreamIsRefused() throws Exception {
    repo.edit(Repo.B, "b 7\n", "seven\n");
    repo.commit("Own", "", "JIRA: none");
    assertRefused(LineExport.Status.FORK_ONLY, "STRATUM-own", "is not for upstream");
  }

  @Test
  public void testVariantReplacesTheEdits() throws Exception {
    line(Repo.A, "a 7\n", "VII\n");
    String diff = Repo.section(Repo.A, line.get(Repo.A), "@@ -7 +7 @@\n-VII\n+seven\n");
    assertRefused(LineExport.Status.CONFLICTS, "HBASE-1", "conflicts with 2.6.6 in " + Repo.A);
    variants.put("HBASE-1-seven.patch", Repo.bytes(diff));
    Map<String, String> files = am(export("HBASE-1"));
    assertTrue(files.get(Repo.A).contains("a 6\nseven\na 8\n"));
    assertEquals("class Own { }\n", files.get(OWN));
  }

  @Test
  public void testConflictOfANeedNamesBoth() throws Exception {
    repo.edit(Repo.B, "b 7\n", "seven\n");
    repo.commit("HBASE-2 Both", "", "JIRA: HBASE-2", "Needs: HBASE-1");
    line(Repo.A, "a 7\n", "VII\n");
    assertRefused(LineExport.Status.WAITS, "HBASE-2",
      "patches/HBASE-1-seven.patch, which HBASE-2-both needs, conflicts with 2.6.6");
  }

  @Test
  public void testPatchThatTheLineHasIsRefused() throws Exception {
    variants.put("HBASE-1-seven.patch", Repo.bytes("2.6.6 has it in its own way.\n"));
    assertRefused(LineExport.Status.UPSTREAM, "HBASE-1", "is in 2.6.6 already");
    variants.clear();
    line(Repo.A, "a 7\n", "seven\n");
    line.put(OWN, Repo.bytes("class Own { }\n"));
    assertRefused(LineExport.Status.EMPTY, "HBASE-1", "changes nothing on 2.6.6");
  }

  @Test
  public void testGeneratedClassIsLeftOutAndItsLinesAreTold() throws Exception {
    repo.edit(PAGE, "page 2\n", "page two\n");
    repo.edit(Repo.B, "b 7\n", "seven\n");
    repo.commit("HBASE-2 Page", "", "JIRA: HBASE-2");
    LineExport.Exported exported = export("HBASE-2");
    assertEquals(List.of(Repo.B), paths(exported));
    String note = "The Jamon template PageTmpl.jamon needs the same lines:\n  - page 2\n"
      + "  + page two";
    assertEquals(List.of(note), exported.notes());
    assertTrue(new String(exported.own().content(), StandardCharsets.UTF_8)
      .contains("\n---\n" + note + "\n"));
    am(exported);
    assertFalse(messages, messages.contains("Jamon"));
    line.remove(PAGE);
    assertEquals(List.of("2.6.6 has neither the Jamon template PageTmpl.jamon nor its class; what "
      + "replaces it needs the like of these lines:\n  - page 2\n  + page two"),
      export("HBASE-2").notes());
  }

  @Test
  public void testModuleThatIsNotPublishedIsTakenFromTheBaseAndTold() throws Exception {
    repo.edit(C, "c 3\n", "three\n");
    repo.commit("HBASE-2 Three", "", "JIRA: HBASE-2");
    modules.remove("hbase-client");
    byte[] client = line.remove(C);
    LineExport.Exported exported = export("HBASE-2");
    assertEquals(List.of("The sources of hbase-client 2.6.6 are not published; the edits of its "
      + "files are made on another version and not checked."), exported.notes());
    line.put(C, client);
    assertTrue(am(exported).get(C).contains("c 2\nthree\nc 4\n"));
  }

  @Test
  public void testEditsForUpstreamAloneAreInTheCommit() throws Exception {
    String proto = "hbase-protocol-shaded/src/main/protobuf/Own.proto";
    edits = new UpstreamEdits(
      Map.of("HBASE-1-seven.patch", "Why.\n\n" + Repo.diff(proto, 2, "  int32 one = 1;\n",
        "  int32 one = 1;\n  int32 two = 2;\n")
        + Repo.diff(OWN, 1, "class Own { }\n", "class Own { Two two; }\n")),
      new TreeMap<>(Map.of(proto, Repo.bytes("message Own {\n  int32 one = 1;\n}\n"))));
    LineExport.Exported exported = export("HBASE-1");
    assertTrue(exported.edited());
    assertEquals(List.of(proto, Repo.A, OWN), paths(exported));
    assertEquals("class Own { }\n", Repo.text(exported.own().tested()).get(OWN));
    Map<String, String> files = am(exported);
    assertEquals("message Own {\n  int32 one = 1;\n  int32 two = 2;\n}\n", files.get(proto));
    assertEquals("class Own { Two two; }\n", files.get(OWN));
  }

  @Test
  public void testEditsForUpstreamAloneThatDoNotFitAreTold() throws Exception {
    edits = new UpstreamEdits(Map.of("HBASE-1-seven.patch",
      Repo.diff(OWN, 1, "class Own { int old; }\n", "class Own { int now; }\n")), new TreeMap<>());
    LineExport.Exported exported = export("HBASE-1");
    assertEquals(List.of("By hand: the edits of patches/upstream/HBASE-1-seven.patch, which do not "
      + "fit " + OWN + " of 2.6.6."), exported.notes());
    assertFalse(exported.edited());
    assertEquals("class Own { }\n", am(exported).get(OWN));
  }

  @Test
  public void testCommitterIsWhomGitNames() throws Exception {
    Config config = new Config();
    Repo.assertRefused(() -> LineRepository.committer(config), "git config --global user.name",
      "-Dfork.author=");
    config.setString("user", null, "name", "Ada Tester");
    config.setString("user", null, "email", "ada@localhost");
    assertCommitter(LineRepository.committer(config));
    assertCommitter(LineRepository.committer("Ada Tester <ada@localhost>"));
    Repo.assertRefused(() -> LineRepository.committer("ada@localhost"), "Name <mail>");
    Path here = repo.newFolder();
    Repo.git(here, "init", "-q");
    Repo.git(here, "config", "user.name", "Ada Tester");
    Repo.git(here, "config", "user.email", "ada@localhost");
    assertCommitter(LineRepository.committer(here));
  }

  private static void assertCommitter(PersonIdent author) {
    assertEquals("Ada Tester <ada@localhost>",
      author.getName() + " <" + author.getEmailAddress() + ">");
  }

  @Test
  public void testBranchIsNotLost() throws Exception {
    LineExport.Exported exported = export("HBASE-1");
    Path folder = repo.newFolder();
    for (int i = 0; i < 2; i++) {
      try (LineRepository branches =
        new LineRepository(folder, version, line, AUTHOR, Repo.TIME)) {
        branches.write(exported);
      }
      assertEquals("HBASE-1-seven\n", Repo.git(folder, "branch", "--show-current"));
      assertEquals("", Repo.git(folder, "status", "--short"));
      assertTrue(Repo.harvest(folder).get(Repo.A).contains("a 6\nseven\na 8\n"));
      assertEquals("Ada Tester HBASE-1 Seven\n",
        Repo.git(folder, "log", "--format=%cn %s", "base..HEAD"));
    }
    Repo.write(folder.resolve(OWN), "class Own { int mine; }\n");
    Repo.assertRefused(() -> new LineRepository(folder, version, line, AUTHOR,
      Repo.TIME).close(), "has changes that were not committed");
    Repo.git(folder, "commit", "-q", "-a", "-m", "Mine");
    try (LineRepository branches =
      new LineRepository(folder, version, line, AUTHOR, Repo.TIME)) {
      Repo.assertRefused(() -> branches.write(exported), "was changed since it was exported");
    }
    assertTrue(Repo.git(folder, "log", "HBASE-1-seven").contains("Mine"));
  }

  @Test
  public void testAfterARefusedExportTheRepositoryHasTheLinesFiles() throws Exception {
    Path folder = repo.newFolder().resolve("upstream");
    // The first one writes no branch.
    for (int i = 0; i < 2; i++) {
      new LineRepository(folder, version, line, AUTHOR, Repo.TIME).close();
      assertEquals("base\n", Repo.git(folder, "branch", "--show-current"));
      assertEquals("", Repo.git(folder, "status", "--short"));
    }
    assertTrue(Repo.harvest(folder).get(Repo.A).contains("a 6\na 7\n"));
  }
}
