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
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;

/** Converts patches to commits and back: fork:checkout, work with the real git, fork:rebuild. */
public class TestRoundTrip {
  private static final String OWN = Repo.JAVA + "Own.java";
  private static final String TEST = Repo.TESTS + "TestOwn.java";
  private static final String CRLF = Repo.RESOURCES + "dos.txt";
  private static final String OPEN_END = Repo.RESOURCES + "open-end.txt";
  private static final String LOGO = Repo.RESOURCES + "hbase-webapps/logo.png";

  @Rule
  public final Repo repo = new Repo();

  @Before
  public void setUp() throws Exception {
    repo.base(CRLF, "one\r\ntwo\r\nthree\r\n");
    repo.base(OPEN_END, "one\ntwo");
    repo.base(LOGO, "\u0089PNG\r\n\u001a\n\0\0");
    repo.checkout();
  }

  /** Rebuilds, and proves that doing it all again changes nothing. */
  private void rebuild() throws Exception {
    repo.rebuild();
    SortedMap<String, String> files = repo.snapshot();
    SortedMap<String, String> tree = Repo.harvest(repo.tree);
    repo.checkout();
    assertEquals(tree, Repo.harvest(repo.tree));
    assertEquals(List.of(), repo.rebuild());
    assertEquals(files, repo.snapshot());
    assertEquals(tree, Repo.text(repo.history().tip()));
  }

  private String patch(String name) throws Exception {
    String text = repo.read("patches/" + name);
    return text.substring(text.indexOf("\n\n") + 2).replaceAll("index .*\n", "");
  }

  private static void assertHas(String text, String... parts) {
    for (String part : parts) {
      assertTrue(text + " has " + part, text.contains(part));
    }
  }

  @Test
  public void testEmptySeries() throws Exception {
    rebuild();
    assertEquals("# The order.\n", repo.read("patches/series"));
  }

  @Test
  public void testEditGoesIntoThePatchWithoutContext() throws Exception {
    repo.edit(Repo.A, "a 7\n", "seven\nand a half\n");
    repo.edit(Repo.A, "a 20\n", "");
    repo.commit("HBASE-1 Count better");
    rebuild();
    assertEquals("# The order.\nHBASE-1-count-better.patch\n", repo.read("patches/series"));
    assertEquals("diff --git a/" + Repo.A + " b/" + Repo.A + "\n--- a/" + Repo.A + "\n+++ b/"
      + Repo.A + "\n@@ -7 +7,2 @@\n-a 7\n+seven\n+and a half\n@@ -20 +20,0 @@\n-a 20\n",
      patch("HBASE-1-count-better.patch"));
  }

  @Test
  public void testNewFilesBecomeSourcesOfTheRepository() throws Exception {
    repo.edit(OWN, "class Own { }\n");
    repo.edit(TEST, "class TestOwn { }\n");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("Add our own");
    rebuild();
    assertEquals("class Own { }\n", repo.read(OWN));
    assertEquals(List.of(OWN, TEST), repo.series().adds());
    assertFalse(repo.read("patches/STRATUM-add-our-own.patch").contains("class Own"));
  }

  @Test
  public void testNewFileBelongsToTheFirstCommitThatAddsIt() throws Exception {
    repo.edit(OWN, "one\n");
    repo.commit("First");
    repo.edit(OWN, "two\n");
    repo.edit(TEST, "test\n");
    repo.commit("Second");
    rebuild();
    assertEquals("two\n", repo.read(OWN));
    assertEquals(List.of(OWN), repo.series().patches().get(0).header().adds());
    assertEquals(List.of(TEST), repo.series().patches().get(1).header().adds());
  }

  @Test
  public void testHeaderSharesATestSourceOfAnEarlierCommit() throws Exception {
    repo.edit(TEST, "test\n");
    repo.commit("First");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("Second", "", "Adds: " + TEST);
    repo.edit(Repo.B, "b 7\n", "seven\n");
    repo.commit("Third", "", "Adds: " + Repo.TESTS + "TestGone.java");
    rebuild();
    assertEquals(List.of(TEST), repo.series().patches().get(0).header().adds());
    assertEquals(List.of(TEST), repo.series().patches().get(1).header().adds());
    assertEquals(List.of(), repo.series().patches().get(2).header().adds());
    repo.checkout();
    assertEquals(List.of(), repo.rebuild());
  }

  @Test
  public void testRemovedSourceLeavesTheRepository() throws Exception {
    repo.edit(OWN, "one\n");
    repo.commit("First");
    rebuild();
    Files.delete(repo.tree.resolve(OWN));
    repo.commit("Second");
    rebuild();
    assertFalse(repo.exists(OWN));
    assertEquals(List.of(), repo.series().adds());
  }

  @Test
  public void testRenamedSourceIsRenamedInTheRepository() throws Exception {
    repo.edit(OWN, Repo.numbered("own", 20));
    repo.commit("First");
    rebuild();
    repo.move(OWN, TEST);
    repo.commit("Second");
    rebuild();
    assertFalse(repo.exists(OWN));
    assertEquals(Repo.numbered("own", 20), repo.read(TEST));
    assertEquals(List.of(TEST), repo.series().patches().get(1).header().adds());
  }

  @Test
  public void testDeletionOfABaseFileHoldsNoneOfItsText() throws Exception {
    Files.delete(repo.tree.resolve(Repo.B));
    repo.commit("Drop B");
    rebuild();
    assertEquals("diff --git a/" + Repo.B + " b/" + Repo.B + "\ndeleted file mode 100644\n",
      patch("STRATUM-drop-b.patch"));
    assertFalse(repo.history().tip().containsKey(Repo.B));
  }

  @Test
  public void testBaseFileThatIsMovedIsDeletedAndAdded() throws Exception {
    String to = "hbase-client/src/main/java/org/x/B.java";
    repo.move(Repo.B, to);
    repo.commit("Move B");
    rebuild();
    assertHas(patch("STRATUM-move-b.patch"), "deleted file mode");
    assertEquals(List.of(to), repo.series().adds());
    assertEquals(Repo.numbered("b", 30), repo.read(to));
  }

  @Test
  public void testBaseFileDeletedAndBroughtBack() throws Exception {
    Files.delete(repo.tree.resolve(Repo.B));
    repo.commit("Drop B");
    repo.edit(Repo.B, "another B\n");
    repo.commit("Bring B back");
    rebuild();
    assertHas(patch("STRATUM-bring-b-back.patch"), "new file mode", "+another B\n");
    assertFalse(repo.exists(Repo.B));
  }

  @Test
  public void testFileChangedByTwoPatches() throws Exception {
    repo.edit(Repo.A, "a 5\n", "five\nfive and a half\n");
    repo.commit("First");
    repo.edit(Repo.A, "a 10\n", "ten\n");
    repo.edit(Repo.A, "five and a half\n", "5.5\n");
    repo.commit("Second");
    rebuild();
    assertHas(patch("STRATUM-second.patch"), "@@ -6 +6 @@\n-five and a half\n+5.5\n",
      "@@ -11 +11 @@\n-a 10\n+ten\n");
  }

  @Test
  public void testCarriageReturnsMissingNewlinesAndBinariesStayAsTheyAre() throws Exception {
    repo.edit(CRLF, "two\r\n", "TWO\r\n");
    repo.edit(OPEN_END, "two", "TWO");
    repo.commit("Shout");
    rebuild();
    assertHas(patch("STRATUM-shout.patch"), "-two\r\n+TWO\r\n",
      "-two\n\\ No newline at end of file\n+TWO\n\\ No newline at end of file\n");
    assertEquals("\u0089PNG\r\n\u001a\n\0\0",
      Repo.text(repo.history().tip()).get(LOGO));
  }

  @Test
  public void testOwnBinaryCarriageReturnAndEmptyFiles() throws Exception {
    String empty = Repo.JAVA + "Empty.java";
    repo.edit(empty, "");
    repo.edit(CRLF, "");
    repo.edit(Repo.TESTS + "block.bin", "\0\1\2\r\n\u00ff");
    repo.edit(OWN, "a\r\nb");
    repo.commit("Own files");
    rebuild();
    assertEquals("\0\1\2\r\n\u00ff", repo.read(Repo.TESTS + "block.bin"));
    assertEquals("a\r\nb", repo.read(OWN));
    assertEquals("", repo.read(empty));
  }

  @Test
  public void testCommitIsAmendedReorderedAndDropped() throws Exception {
    for (int i = 1; i <= 3; i++) {
      repo.edit(Repo.A, "a " + i + "0\n", "changed " + i + "\n");
      repo.commit("Patch " + i);
    }
    rebuild();
    Repo.git(repo.tree, "reset", "-q", "--hard", "base");
    Repo.git(repo.tree, "cherry-pick", "stratum@{1}", "stratum@{1}~2");
    Repo.git(repo.tree, "commit", "-q", "--amend", "-m", "Patch one\n\nNeeds: STRATUM-patch-3\n"
      + "Patch: STRATUM-patch-1.patch");
    rebuild();
    assertEquals("# The order.\nSTRATUM-patch-3.patch\nSTRATUM-patch-1.patch\n",
      repo.read("patches/series"));
    assertFalse(repo.exists("patches/STRATUM-patch-2.patch"));
    assertEquals("Patch one", repo.series().patches().get(1).header().subject());
  }

  @Test
  public void testCommitsThatAreNoPatchAreRefused() throws Exception {
    repo.edit(Repo.A, "a 1\n", "one\n");
    repo.commit("Do it");
    for (String[] wrong : new String[][] {
      { Repo.A, "x\n", "both belong to STRATUM-do-it.patch", "squash them" },
      { LOGO, "\u0089PNG\0\1\2", "STRATUM-other.patch", "a binary file", "'Adds:'" },
      { Repo.RESOURCES + "a b.txt", "x\n", "adds '" + Repo.RESOURCES + "a b.txt'", "rename it" },
      { "pom.xml", "x\n", "'Other' touches pom.xml", "take it out of the commit" } }) {
      repo.edit(wrong[0], wrong[1]);
      repo.commit(wrong[0].equals(Repo.A) ? "Do it" : "Other");
      SortedMap<String, String> before = repo.snapshot();
      Repo.assertRefused(repo::rebuild, Arrays.copyOfRange(wrong, 2, wrong.length));
      assertEquals(before, repo.snapshot());
      Repo.git(repo.tree, "reset", "-q", "--hard", "HEAD~1");
    }
  }

  @Test
  public void testMergeIsRefused() throws Exception {
    Repo.git(repo.tree, "checkout", "-q", "-b", "side");
    repo.edit(OWN, "x\n");
    repo.commit("Side");
    Repo.git(repo.tree, "checkout", "-q", "stratum");
    repo.edit(TEST, "x\n");
    repo.commit("Main");
    Repo.git(repo.tree, "merge", "-q", "side", "-m", "Merge");
    Repo.assertRefused(repo::rebuild, "'Merge' is a merge", "git rebase base");
  }

  @Test
  public void testUncommittedWorkIsNotLost() throws Exception {
    repo.edit(OWN, "x\n");
    Repo.assertRefused(repo::rebuild, "never committed (" + OWN + ")");
    Repo.assertRefused(repo::checkout, "never committed (" + OWN + ")", "fork:rebuild first");
    repo.commit("Work");
    Repo.assertRefused(repo::checkout, "commits that were never rebuilt");
    repo.rebuild();
    repo.checkout();
  }

  @Test
  public void testWorkSetAsideIsKeptAsABranch() throws Exception {
    repo.edit(OWN, "x\n");
    repo.commit("Work");
    String id = Repo.git(repo.tree, "rev-parse", "--short=10", "HEAD").trim();
    try (ForkTree tree = new ForkTree(repo.tree, Repo.TIME)) {
      tree.checkout(repo.history(), "Base", repo.root);
    }
    assertFalse(Files.exists(repo.tree.resolve(OWN)));
    assertEquals("x\n", Repo.git(repo.tree, "show", "before-" + id + ":" + OWN));
  }

  @Test
  public void testChangeInTheRepositoryIsNotOverwritten() throws Exception {
    repo.edit(OWN, "one\n");
    repo.commit("First");
    rebuild();
    repo.write(OWN, "changed in the repository\n");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.edit(OWN, "changed in the tree\n");
    repo.commit("Second");
    SortedMap<String, String> before = repo.snapshot();
    Repo.assertRefused(repo::rebuild, OWN + " changed in the repository since fork:checkout",
      "nothing was written");
    assertEquals(before, repo.snapshot());
    repo.edit(OWN, "changed in the repository\n");
    repo.commit("Third");
    rebuild();
  }

  @Test
  public void testPatchChangedInTheRepositoryIsNotOverwritten() throws Exception {
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("First");
    rebuild();
    String name = "patches/STRATUM-first.patch";
    repo.write(name, repo.read(name).replace("+seven", "+SEVEN"));
    repo.edit(Repo.A, "a 8\n", "eight\n");
    repo.commit("Second");
    Repo.assertRefused(repo::rebuild, name + " changed in the repository");
  }

  @Test
  public void testPatchWhoseFileChangedBelowItIsMerged() throws Exception {
    repo.edit(Repo.A, "a 20\n", "twenty\n");
    repo.commit("Second");
    rebuild();
    // A patch made elsewhere, against the plain base, precedes it.
    repo.write("patches/first.patch", Repo.header("First", "", "") + "\n"
      + Repo.section(Repo.A, repo.base.get(Repo.A), "@@ -3,0 +4,2 @@\n+new\n+lines\n"));
    repo.write("patches/series", "first.patch\nSTRATUM-second.patch\n");
    Repo.assertRefused(repo::history,
      "patches/STRATUM-second.patch line 15 was made against another " + Repo.A, "fork:checkout");
    repo.checkout();
    assertEquals(List.of("changed  patches/STRATUM-second.patch",
      "changed  patches/first.patch"), repo.rebuild());
    assertHas(patch("STRATUM-second.patch"), "@@ -22 +22 @@\n-a 20\n+twenty\n");
    rebuild();
  }

  @Test
  public void testPatchThatCannotBeMergedGetsConflictMarkersInItsCommit() throws Exception {
    repo.edit(Repo.A, "a 20\n", "twenty\n");
    repo.commit("Second");
    rebuild();
    repo.write("patches/first.patch", Repo.header("First", "", "") + "\n"
      + Repo.section(Repo.A, repo.base.get(Repo.A), "@@ -20 +20 @@\n-a 20\n+XX\n"));
    repo.write("patches/series", "first.patch\nSTRATUM-second.patch\n");
    repo.checkout();
    assertHas(Repo.harvest(repo.tree).get(Repo.A),
      "<<<<<<< earlier patches\nXX\n=======\ntwenty\n>>>>>>> STRATUM-second\n");
    Repo.assertRefused(repo::rebuild, Repo.A, "conflict", "<<<<<<<");
    repo.edit(Repo.A, "<<<<<<< earlier patches\nXX\n=======\ntwenty\n>>>>>>> STRATUM-second\n",
      "XX twenty\n");
    Repo.git(repo.tree, "commit", "-q", "-a", "--amend", "--no-edit");
    rebuild();
  }

  @Test
  public void testFolderThatCheckoutDidNotMake() throws Exception {
    Repo.git(repo.tree, "update-ref", "-d", "refs/stratum/base");
    Repo.assertRefused(repo::rebuild, "was not made by fork:checkout");
  }
}
