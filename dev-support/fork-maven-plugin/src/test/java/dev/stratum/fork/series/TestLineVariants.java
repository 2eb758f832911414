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

import dev.stratum.fork.Repo;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;

/** Reading the variants for another version. */
public class TestLineVariants {
  private static final String OWN = Repo.JAVA + "Own.java";
  private static final String PATCH = "HBASE-1-seven.patch";
  private static final String SECOND = "HBASE-2-twelve.patch";
  private static final String VARIANT = "patches/lines/3.1.0/" + PATCH;

  @Rule
  public final Repo repo = new Repo();

  @Before
  public void setUp() throws Exception {
    repo.write(OWN, "class Own { }\n");
    repo.patch(PATCH, "", OWN, diff("@@ -7 +7 @@\n-a 7\n+seven\n"));
  }

  private String diff(String hunks) {
    return Repo.section(Repo.A, repo.base.get(Repo.A), hunks);
  }

  /** Returns the variants of a line whose files are those of the base. */
  private LineVariants read() throws Exception {
    return LineVariants.read(repo.root, repo.series(), "3.1.0", repo.base);
  }

  private List<FileChange> changes() throws Exception {
    return read().changes(repo.history().steps().get(0));
  }

  private PatchFile patch() throws Exception {
    return repo.series().patches().get(0);
  }

  private void assertRefused(String... parts) {
    Repo.assertRefused(this::read, parts);
  }

  @Test
  public void testWithoutVariantThePatchIsUsed() throws Exception {
    repo.write("patches/lines/3.1.1/" + PATCH, "");
    assertEquals(LineVariants.Source.PATCH, read().source(patch()));
    assertEquals("patches/" + PATCH, read().shown(patch()));
    assertEquals(2, changes().size());
  }

  @Test
  public void testVariantReplacesTheEditsAndKeepsTheAddedFiles() throws Exception {
    repo.write(VARIANT, "Variant.\n\n" + diff("@@ -8 +8 @@\n-a 8\n+eight\n"));
    assertEquals(LineVariants.Source.VARIANT, read().source(patch()));
    assertEquals(VARIANT, read().shown(patch()));
    assertEquals(List.of(Repo.A, OWN), changes().stream().map(FileChange::path).toList());
    assertEquals(Repo.numbered("a", 30).replace("a 8\n", "eight\n"),
      new String(changes().get(0).after()));
    assertEquals("class Own { }\n", new String(changes().get(1).after()));
  }

  @Test
  public void testModulesThatTheVariantLeavesAloneKeepTheEditsOfThePatch() throws Exception {
    String client = "hbase-client/src/main/java/org/x/C.java";
    repo.write("patches/" + PATCH, repo.read("patches/" + PATCH)
      + Repo.section(client, repo.base.get(client), "@@ -2 +2 @@\n-c 2\n+two\n"));
    repo.write(VARIANT, diff("@@ -8 +8 @@\n-a 8\n+eight\n"));
    assertEquals(Set.of(Repo.A, OWN, client),
      changes().stream().map(FileChange::path).collect(Collectors.toSet()));
  }

  @Test
  public void testVariantMayReplaceTheEditsOfItsFilesOnly() throws Exception {
    repo.write("patches/" + PATCH, repo.read("patches/" + PATCH)
      + Repo.section(Repo.B, repo.base.get(Repo.B), "@@ -2 +2 @@\n-b 2\n+two\n"));
    String edits = diff("@@ -8 +8 @@\n-a 8\n+eight\n");
    repo.write(VARIANT, "Variant.\nReplaces: files\n\n" + edits);
    assertEquals(Set.of(Repo.A, Repo.B, OWN),
      changes().stream().map(FileChange::path).collect(Collectors.toSet()));
    assertEquals(Repo.numbered("a", 30).replace("a 8\n", "eight\n"),
      new String(changes().get(0).after()));
    repo.write(VARIANT, "Variant.\n\n" + edits);
    assertEquals(Set.of(Repo.A, OWN),
      changes().stream().map(FileChange::path).collect(Collectors.toSet()));
  }

  @Test
  public void testVariantMayAddAFileInAnotherState() throws Exception {
    repo.write(VARIANT, "diff --git a/" + OWN + " b/" + OWN + "\nnew file mode 100644\n"
      + "--- /dev/null\n+++ b/" + OWN + "\n@@ -0,0 +1 @@\n+class Own { int other; }\n");
    assertEquals(1, changes().size());
    assertEquals("class Own { int other; }\n", new String(changes().get(0).after()));
  }

  @Test
  public void testVariantWithoutEditsSaysThatThePatchIsNotNeeded() throws Exception {
    for (String content : List.of("", "Variant of a patch that 3.1.0 does not need.\n")) {
      repo.write(VARIANT, content);
      assertEquals(LineVariants.Source.UPSTREAM, read().source(patch()));
      assertEquals(List.of(), changes());
    }
    repo.write(VARIANT, diff("@@ -8 +8 @@\n-a 8\n+eight\n"));
    assertEquals(LineVariants.Source.VARIANT, read().source(patch()));
    repo.write("patches/" + PATCH,
      repo.read("patches/" + PATCH).replace("Upstream: none", "Upstream: in 3.1.0"));
    assertEquals(LineVariants.Source.UPSTREAM, read().source(patch()));
  }

  private void secondPatch() throws Exception {
    String first = repo.read("patches/" + PATCH);
    repo.write("patches/" + SECOND, first.substring(0, first.indexOf("diff --git"))
      .replace(" " + OWN, " " + Repo.JAVA + "Second.java")
      + Repo.section(Repo.A, repo.history().tip().get(Repo.A),
        "@@ -12 +12 @@\n-a 12\n+twelve\n"));
    repo.write(Repo.JAVA + "Second.java", "class Second { }\n");
    repo.write("patches/series", repo.read("patches/series") + SECOND + "\n");
  }

  @Test
  public void testVariantNextToAnotherIsMadeAfterIt() throws Exception {
    secondPatch();
    String before = Repo.numbered("a", 30).replace("a 8\n", "eight\nand a half\n");
    repo.write(VARIANT, diff("@@ -8 +8,2 @@\n-a 8\n+eight\n+and a half\n"));
    repo.write("patches/lines/3.1.0/" + SECOND,
      "Variant.\nAfter: " + PATCH + "\n\n"
        + Repo.section(Repo.A, Repo.bytes(before), "@@ -10 +10 @@\n-a 9\n+nine\n"));
    List<FileChange> second = read().changes(repo.history().steps().get(1));
    assertEquals(before, new String(second.get(0).before()));
    assertEquals(before.replace("a 9\n", "nine\n"), new String(second.get(0).after()));
  }

  @Test
  public void testVariantAfterOneThatIsNotThereOrIsAfterItIsRefused() throws Exception {
    secondPatch();
    String second = "patches/lines/3.1.0/" + SECOND;
    repo.write(second, "After: " + PATCH + "\n\n" + diff("@@ -9 +9 @@\n-a 9\n+nine\n"));
    assertRefused(second + " has After: " + PATCH + ", which is not there");
    repo.write(VARIANT, "After: " + SECOND + "\n\n" + diff("@@ -8 +8 @@\n-a 8\n+eight\n"));
    assertRefused("which is made after it");
  }

  @Test
  public void testVariantOfNoPatchIsRefused() throws Exception {
    for (String path : List.of("3.1.1/HBASE-2-gone.patch", PATCH)) {
      repo.write("patches/lines/" + path, "");
      assertRefused("patches/lines/" + path + " is the variant of no patch");
      Files.delete(repo.root.resolve("patches/lines/" + path));
    }
  }

  @Test
  public void testVariantThatIsNotOfThePublishedFileIsRefused() throws Exception {
    String[] whole = { VARIANT + " is not made against what is published of 3.1.0 (",
      "; make it with git diff -U0 against those files." };
    repo.write(VARIANT,
      Repo.section(Repo.A, Repo.bytes("other\n"), "@@ -2,0 +3 @@\n+inserted\n"));
    assertRefused(whole[0], "was made against another", whole[1]);
    repo.write(VARIANT, diff("@@ -8 +8 @@\n-a 7\n+seven\n"));
    assertRefused(whole[0], "does not match line 8", whole[1]);
    repo.write(VARIANT, diff("@@ -6,3 +6,3 @@\n a 6\n-a 7\n+seven\n a 8\n"));
    assertRefused(whole[0], "has lines of context", whole[1]);
  }
}
