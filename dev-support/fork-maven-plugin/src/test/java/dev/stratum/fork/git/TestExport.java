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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import dev.stratum.fork.Repo;
import dev.stratum.fork.series.ForkHistory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;

/** Exported patches, applied by the real git. */
public class TestExport {
  private static final String OWN = Repo.JAVA + "Own.java";
  private static final String OPEN_END = Repo.RESOURCES + "open-end.txt";

  @Rule
  public final Repo repo = new Repo();
  private Path plain;

  @Before
  public void setUp() throws Exception {
    repo.base(OPEN_END, "one\ntwo");
    repo.checkout();
    plain = repo.newFolder();
    Repo.plant(plain, repo.base);
  }

  private Path written(String name, byte[] content) throws Exception {
    return Files.write(repo.newFolder().resolve(name), content);
  }

  /** Lets git apply the exports in this order, with nothing but what it has been given before. */
  private void applyTogether(Map<String, byte[]> exports, String... names) throws Exception {
    assertEquals(Set.of(names), exports.keySet());
    for (String name : names) {
      Repo.git(plain, "am", "-q", "--keep-cr", written(name, exports.get(name)).toString());
    }
    assertEquals(Repo.text(repo.history().tip()), Repo.harvest(plain));
    assertEquals(Repo.harvest(repo.tree), Repo.harvest(plain));
  }

  @Test
  public void testEveryKindOfChangeAppliesToThePlainBase() throws Exception {
    repo.edit(OWN, "class Own { }\n");
    repo.edit(Repo.TESTS + "TestOwn.java", "class TestOwn { }");
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.edit(OPEN_END, "two", "TWO");
    repo.commit("HBASE-1 Edit and add");
    Files.delete(repo.tree.resolve(Repo.B));
    repo.move("hbase-client/src/main/java/org/x/C.java", "hbase-client/src/main/java/org/x/D.java");
    repo.edit("hbase-client/src/main/java/org/x/D.java", "c 3\n", "C 3\n");
    repo.commit("HBASE-2 Delete and rename");
    repo.rebuild();
    Map<String, byte[]> exports = repo.export();
    for (Map.Entry<String, byte[]> export : exports.entrySet()) {
      Repo.git(plain, "apply", "--check",
        written(export.getKey(), export.getValue()).toString());
    }
    applyTogether(exports, "HBASE-1.branch-2.6.001.patch", "HBASE-2.branch-2.6.001.patch");
  }

  @Test
  public void testFormat() throws Exception {
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.edit(OWN, "class Own { }\n");
    repo.commit("Count better", "", "JIRA: HBASE-1", "Reason: to be upstreamed. Numbers are "
      + "easier to read as words, and this sentence is longer than a line of an e-mail.");
    repo.rebuild();
    byte[] patch = repo.export().get("HBASE-1.branch-2.6.001.patch");
    assertArrayEquals(patch, repo.export().get("HBASE-1.branch-2.6.001.patch"));
    String text = new String(patch, StandardCharsets.UTF_8)
      .replaceAll("(From|index) [0-9a-f.]+ ", "$1 X ")
      .replaceAll("index 0000000000\\.\\.[0-9a-f]+", "index 0..X");
    assertEquals("From X Mon Sep 17 00:00:00 2001\nFrom: Tester <tester@localhost>\n"
      + "Date: Tue, 4 Nov 2025 00:00:00 +0000\nSubject: [PATCH] HBASE-1 Count better\n\n"
      + "Numbers are easier to read as words, and this sentence is longer than a\n"
      + "line of an e-mail.\n\n---\n"
      + "\ndiff --git a/" + Repo.A + " b/" + Repo.A + "\nindex X 100644\n--- a/" + Repo.A
      + "\n+++ b/" + Repo.A
      + "\n@@ -4,7 +4,7 @@\n a 4\n a 5\n a 6\n-a 7\n+seven\n a 8\n a 9\n a 10\n"
      + "diff --git a/" + OWN + " b/" + OWN + "\nnew file mode 100644\nindex 0..X\n--- /dev/null\n"
      + "+++ b/" + OWN + "\n@@ -0,0 +1 @@\n+class Own { }\n-- \nstratum 1\n\n", text);
  }

  @Test
  public void testIndependentEditsOfOneFileNeedNothing() throws Exception {
    repo.edit(Repo.A, "a 3\n", "three\nand more\n");
    repo.commit("HBASE-1 Start");
    repo.edit(Repo.A, "a 25\n", "25\n");
    repo.commit("HBASE-2 End");
    repo.rebuild();
    Map<String, byte[]> exports = repo.export();
    Repo.git(plain, "apply", "--check", written("two",
      exports.get("HBASE-2.branch-2.6.001.patch")).toString());
    applyTogether(exports, "HBASE-1.branch-2.6.001.patch", "HBASE-2.branch-2.6.001.patch");
  }

  @Test
  public void testOverlapNamesThePatchToNeed() throws Exception {
    for (String second : new String[] { "three\n", "a 6\n" }) {
      setUpAgain();
      repo.edit(Repo.A, "a 3\n", "three\n");
      repo.commit("HBASE-1 Start");
      repo.edit(Repo.A, second, "other\n");
      repo.commit("HBASE-2 Go on");
      repo.rebuild();
      assertEquals("patches/HBASE-2-go-on.patch does not apply to the base and its 'Needs:' alone, "
        + "because in " + Repo.A + " it is within three lines of what HBASE-1-start changes; add "
        + "that to 'Needs:', or move the edit.", Repo.assertRefused(repo::export));
    }
  }

  private void setUpAgain() throws Exception {
    repo.reset();
    setUp();
  }

  @Test
  public void testNeedsAreAppliedFirstAndNothingElse() throws Exception {
    repo.edit(Repo.A, "a 3\n", "three\n");
    repo.commit("HBASE-1 Start");
    repo.edit(Repo.B, "b 3\n", "three\n");
    repo.commit("HBASE-2 Elsewhere");
    repo.edit(Repo.A, "three\n", "other\n");
    repo.commit("HBASE-3 Go on", "", "Needs: HBASE-1");
    repo.rebuild();
    Map<String, byte[]> exports = repo.export();
    Repo.git(plain, "am", "-q",
      written("one", exports.get("HBASE-1.branch-2.6.001.patch")).toString());
    Repo.git(plain, "apply", "--check",
      written("three", exports.get("HBASE-3.branch-2.6.001.patch")).toString());
    Repo.git(plain, "reset", "-q", "--hard", "HEAD~1");
    applyTogether(exports, "HBASE-1.branch-2.6.001.patch", "HBASE-2.branch-2.6.001.patch",
      "HBASE-3.branch-2.6.001.patch");
  }

  /** Either patch can be taken first; the other one then finds the test source there. */
  @Test
  public void testSharedTestSourceIsInEachExport() throws Exception {
    String shared = Repo.TESTS + "Fixture.java";
    repo.edit(Repo.A, "a 3\n", "three\n");
    repo.edit(shared, "class Fixture { }\n");
    repo.commit("HBASE-1 Start");
    repo.edit(Repo.B, "b 3\n", "three\n");
    repo.commit("HBASE-2 Elsewhere", "", "Adds: " + shared);
    repo.edit(Repo.B, "b 20\n", "twenty\n");
    repo.commit("HBASE-3 Needs both", "", "Needs: HBASE-1 HBASE-2", "Adds: " + shared);
    repo.rebuild();
    Map<String, byte[]> exports = repo.export();
    for (String first : new String[] { "HBASE-1", "HBASE-2" }) {
      String second = first.equals("HBASE-1") ? "HBASE-2" : "HBASE-1";
      for (String one : new String[] { first, second, "HBASE-3" }) {
        Repo.git(plain, "am", "-q", "-3",
          written(one, exports.get(one + ".branch-2.6.001.patch")).toString());
      }
      assertEquals("class Fixture { }\n", Repo.harvest(plain).get(shared));
      Repo.git(plain, "reset", "-q", "--hard", "HEAD~3");
    }
  }

  @Test
  public void testNameWithoutAnIssueOrWithASharedOne() throws Exception {
    repo.edit(Repo.A, "a 3\n", "three\n");
    repo.commit("Fork only");
    repo.edit(Repo.B, "b 3\n", "three\n");
    repo.commit("HBASE-1 Start");
    repo.edit(Repo.B, "b 20\n", "twenty\n");
    repo.commit("HBASE-1 End");
    repo.rebuild();
    assertEquals(Set.of("STRATUM-fork-only.branch-2.6.001.patch",
      "HBASE-1-start.branch-2.6.001.patch", "HBASE-1-end.branch-2.6.001.patch"),
      repo.export().keySet());
  }

  @Test
  public void testOnePatchIsExportedAlthoughAnotherOverlaps() throws Exception {
    repo.edit(Repo.A, "a 3\n", "three\n");
    repo.commit("HBASE-1 Start");
    repo.edit(Repo.A, "three\n", "other\n");
    repo.commit("HBASE-2 Go on");
    repo.rebuild();
    ForkHistory history = repo.history();
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      assertEquals("HBASE-1.branch-2.6.001.patch",
        new Export(store, history, GitStore.STRATUM, Repo.TIME, "1", "2.6.4")
          .one(history.series().patches().get(0)).fileName());
    }
  }
}
