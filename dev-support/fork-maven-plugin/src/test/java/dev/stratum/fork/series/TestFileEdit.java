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
package dev.stratum.fork.series;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import dev.stratum.fork.Repo;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.Before;
import org.junit.Test;

/** Applying a patch exactly, and the sentence for everything that is not exact. */
public class TestFileEdit {
  private static final String PATH = "hbase-server/src/main/java/A.java";
  private static final String NEW_PATH = "hbase-server/src/main/java/B.java";

  private final SortedMap<String, byte[]> tree = new TreeMap<>();

  @Before
  public void setUp() {
    tree.put(PATH, Repo.bytes("one\ntwo\nthree\n"));
  }

  private static String git(String more) {
    return "diff --git a/" + PATH + " b/" + PATH + "\n" + more;
  }

  private String edit(String hunks) {
    return Repo.section(PATH, tree.get(PATH), hunks);
  }

  private String apply(String diff) {
    byte[] patch = Repo.bytes(Repo.header("x", "", "") + "\n" + diff);
    PatchFile.parse("p.patch", patch).apply(null, tree);
    return Repo.text(tree).get(PATH);
  }

  private void assertRefused(String diff, String... parts) {
    String message = Repo.assertRefused(() -> apply(diff), parts);
    assertEquals("patches/p.patch line ", message.substring(0, 21));
  }

  @Test
  public void testReplacesInsertsAndRemovesAtTheStatedLines() {
    assertEquals("zero\none\nTWO\nthree\n",
      apply(edit("@@ -0,0 +1 @@\n+zero\n@@ -2 +3 @@\n-two\n+TWO\n")));
    assertEquals("one\nTWO\nend\n",
      apply(edit("@@ -1 +0,0 @@\n-zero\n@@ -4 +3 @@\n-three\n+end\n")));
  }

  @Test
  public void testCarriageReturnsAreContent() {
    tree.put(PATH, Repo.bytes("one\r\ntwo\r\n"));
    assertEquals("one\r\nTWO\r\n", apply(edit("@@ -2 +2 @@\n-two\r\n+TWO\r\n")));
    assertRefused(edit("@@ -2 +2 @@\n-TWO\n+two\n"), "line 19 does not match line 2 of " + PATH);
  }

  @Test
  public void testMissingNewlineAtTheEndIsContent() {
    tree.put(PATH, Repo.bytes("one\ntwo"));
    assertEquals("one\nTWO",
      apply(edit("@@ -2 +2 @@\n-two\n\\ No newline at end of file\n+TWO\n"
        + "\\ No newline at end of file\n")));
    assertEquals("one\nTWO\n",
      apply(edit("@@ -2 +2 @@\n-TWO\n\\ No newline at end of file\n+TWO\n")));
    assertRefused(edit("@@ -2 +2 @@\n-TWO\n\\ No newline at end of file\n+x\n"),
      "does not match line 2");
  }

  @Test
  public void testNewFile() {
    String diff = "diff --git a/" + NEW_PATH + " b/" + NEW_PATH + "\nnew file mode 100644\n"
      + "index 0000000..1234567\n--- /dev/null\n+++ b/" + NEW_PATH + "\n@@ -0,0 +1,2 @@\n+x\n+y\n";
    apply(diff);
    assertEquals("x\ny\n", Repo.text(tree).get(NEW_PATH));
    assertRefused(diff, NEW_PATH, "exists already");
  }

  @Test
  public void testDeletionWithAndWithoutContent() {
    String id = FileEdit.blobId(tree.get(PATH)).name();
    String whole = "--- a/" + PATH + "\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n";
    for (String more : new String[] { "", whole }) {
      setUp();
      assertNull(apply(git("deleted file mode 100644\nindex " + id + "..0000000\n" + more)));
    }
    setUp();
    assertRefused(git("deleted file mode 100644\nindex 1234567..0000000\n"),
      "made against another " + PATH);
  }

  @Test
  public void testQuotedPath() {
    apply("diff --git \"a/hbase-server/src/main/resources/\\303\\244 b.txt\" "
      + "\"b/hbase-server/src/main/resources/\\303\\244 b.txt\"\nnew file mode 100644\n"
      + "--- /dev/null\n+++ \"b/hbase-server/src/main/resources/\\303\\244 b.txt\"\n"
      + "@@ -0,0 +1 @@\n+x\n");
    assertEquals("x\n", Repo.text(tree).get("hbase-server/src/main/resources/\u00e4 b.txt"));
  }

  @Test
  public void testHunkAtAnotherLineIsNotSearchedFor() {
    assertRefused(edit("@@ -1 +1 @@\n-two\n+TWO\n"), "line 19 does not match line 1 of " + PATH,
      "run fork:checkout");
    assertRefused(edit("@@ -9 +9 @@\n-two\n+TWO\n"), "does not fit " + PATH, "has 3 lines");
  }

  @Test
  public void testInsertionIntoAChangedFileIsRefused() {
    String diff = edit("@@ -1,0 +2 @@\n+x\n");
    tree.put(PATH, Repo.bytes("new\none\ntwo\nthree\n"));
    assertRefused(diff, "made against another " + PATH, "fork:checkout");
    assertRefused(git("--- a/" + PATH + "\n+++ b/" + PATH + "\n@@ -1,0 +2 @@\n+x\n"),
      "has no 'index' line");
  }

  @Test
  public void testWhatAPatchMayNotHave() {
    assertRefused(edit("@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"), "line 19 has lines of context");
    assertRefused(git("old mode 100644\nnew mode 100755\n"), "mode");
    assertRefused(git("index 1234567..2345678 100644\nGIT binary patch\nliteral 1\n"), "binary",
      "'Adds:'");
    for (String verb : new String[] { "copy", "rename" }) {
      assertRefused("diff --git a/" + PATH + " b/" + NEW_PATH + "\nsimilarity index 100%\n" + verb
        + " from " + PATH + "\n" + verb + " to " + NEW_PATH + "\n", "copies a file", "'Adds:'");
    }
    assertRefused(edit("@@ -1 +1 @@\n-one\n+ONE\n") + edit("@@ -2 +2 @@\n-two\n+TWO\n"),
      "a second time");
    assertRefused(edit("@@ -1,2 +1 @@\n-one\n+ONE\n"), "line 19: Truncated hunk");
    assertRefused(edit("@@ -1 +1 @@\n-one\n+ONE\nstray\n"), "line 22: Unexpected hunk trailer");
    assertRefused("stray\n", "line 15 is no header line: 'stray'");
    assertRefused(git("index 1234567..2345678 100644\n"), "changes nothing");
  }

  @Test
  public void testFileThatIsNotThere() {
    tree.remove(PATH);
    assertRefused(Repo.section(PATH, Repo.bytes("one\n"), "@@ -1 +1 @@\n-one\n+ONE\n"), PATH,
      "neither in the base nor left by an earlier patch");
  }
}
