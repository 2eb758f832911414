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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.Repo;
import java.nio.charset.StandardCharsets;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.Before;
import org.junit.Test;

/** Applying a patch exactly, and the sentence for everything that is not exact. */
public class TestPatchApplier {
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
    String id = PatchApplier.blobId(tree.get(PATH)).substring(0, 8);
    return git("index " + id + "..1234567 100644\n--- a/" + PATH + "\n+++ b/" + PATH + "\n"
      + hunks);
  }

  private String apply(String diff) {
    byte[] patch = Repo.bytes(Repo.header("x", "", "") + "\n" + diff);
    PatchFile.parse("p.patch", patch).apply(null, tree);
    return tree.containsKey(PATH) ? text(PATH) : null;
  }

  private String text(String path) {
    return new String(tree.get(path), StandardCharsets.ISO_8859_1);
  }

  private String refused(String diff) {
    String message = assertThrows(ForkException.class, () -> apply(diff)).getMessage();
    assertTrue(message, message.startsWith("patches/p.patch line "));
    assertTrue(message, message.endsWith("."));
    return message;
  }

  private void assertRefused(String diff, String... parts) {
    String message = refused(diff);
    for (String part : parts) {
      assertTrue(message + " has " + part, message.contains(part));
    }
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
    assertEquals("x\ny\n", text(NEW_PATH));
    assertRefused(diff, NEW_PATH, "exists already");
  }

  @Test
  public void testDeletionWithAndWithoutContent() {
    assertEquals(null, apply(git("deleted file mode 100644\nindex "
      + PatchApplier.blobId(tree.get(PATH)) + "..0000000\n")));
    setUp();
    assertEquals(null, apply(git("deleted file mode 100644\n--- a/" + PATH + "\n+++ /dev/null\n"
      + "@@ -1,3 +0,0 @@\n-one\n-two\n-three\n")));
    setUp();
    assertRefused(git("deleted file mode 100644\n--- a/" + PATH + "\n+++ /dev/null\n"
      + "@@ -1,2 +0,0 @@\n-one\n-two\n"), "leaves 6 bytes");
    assertRefused(git("deleted file mode 100644\nindex 1234567..0000000\n"),
      "made against another " + PATH);
  }

  @Test
  public void testRenameWithAndWithoutChange() {
    apply("diff --git a/" + PATH + " b/" + NEW_PATH + "\nsimilarity index 66%\nrename from " + PATH
      + "\nrename to " + NEW_PATH + "\n--- a/" + PATH + "\n+++ b/" + NEW_PATH
      + "\n@@ -2 +2 @@\n-two\n+TWO\n");
    assertEquals("one\nTWO\nthree\n", text(NEW_PATH));
    assertFalse(tree.containsKey(PATH));
    apply("diff --git a/" + NEW_PATH + " b/" + PATH + "\nsimilarity index 100%\nrename from "
      + NEW_PATH + "\nrename to " + PATH + "\n");
    assertEquals("one\nTWO\nthree\n", text(PATH));
  }

  @Test
  public void testQuotedPath() {
    String path = "hbase-server/src/main/resources/\u00e4 b.txt";
    apply("diff --git \"a/hbase-server/src/main/resources/\\303\\244 b.txt\" "
      + "\"b/hbase-server/src/main/resources/\\303\\244 b.txt\"\nnew file mode 100644\n"
      + "--- /dev/null\n+++ \"b/hbase-server/src/main/resources/\\303\\244 b.txt\"\t\n"
      + "@@ -0,0 +1 @@\n+x\n");
    assertEquals("x\n", text(path));
  }

  @Test
  public void testHunkAtAnotherLineIsNotSearchedFor() {
    assertRefused(edit("@@ -1 +1 @@\n-two\n+TWO\n"), "line 19 does not match line 1 of " + PATH,
      "run fork:checkout");
    assertRefused(edit("@@ -9 +9 @@\n-two\n+TWO\n"), "does not fit " + PATH, "has 3 lines");
    assertRefused(edit("@@ -2 +3 @@\n-two\n+TWO\n"), "put them at line 2");
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
    assertRefused("diff --git a/" + PATH + " b/" + NEW_PATH + "\nsimilarity index 100%\ncopy from "
      + PATH + "\ncopy to " + NEW_PATH + "\n", "copies a file", "'Adds:'");
    assertRefused(edit("@@ -1 +1 @@\n-one\n+ONE\n") + edit("@@ -2 +2 @@\n-two\n+TWO\n"),
      "a second time");
    assertRefused(edit("@@ -1,2 +1 @@\n-one\n+ONE\n"), "says 2 old and 1 new");
    assertRefused(edit("@@ -1,2 +1 @@\n-one\nstray\n"), "ends in the middle of a hunk");
    assertRefused("stray\n", "is no part of a diff: 'stray'");
    assertRefused(git("--- x/" + PATH + "\n+++ b/" + PATH + "\n@@ -1 +1 @@\n-one\n+ONE\n"),
      "git's default prefixes");
    assertRefused(git("index 1234567..2345678 100644\n"), "changes nothing");
  }

  @Test
  public void testFileThatIsNotThere() {
    String path = "hbase-server/src/main/java/Missing.java";
    assertRefused("diff --git a/" + path + " b/" + path + "\n--- a/" + path + "\n+++ b/" + path
      + "\n@@ -1 +1 @@\n-one\n+ONE\n", path, "neither in the base nor left by an earlier patch");
  }
}
