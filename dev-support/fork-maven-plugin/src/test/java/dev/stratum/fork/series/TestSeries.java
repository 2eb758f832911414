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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import dev.stratum.fork.Repo;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.Rule;
import org.junit.Test;

/** Reading patches/, and the sentence for everything that is wrong there. */
public class TestSeries {
  private static final String OWN = Repo.JAVA + "Own.java";

  @Rule
  public final Repo repo = new Repo();

  private void assertRefused(String... parts) {
    Repo.assertRefused(repo::series, parts);
  }

  private static String edit(String path) {
    return Repo.section(path, Repo.bytes("a\n"), "@@ -1 +1 @@\n-a\n+b\n");
  }

  @Test
  public void testHeaderValuesMayGoOnInIndentedLines() throws Exception {
    repo.write(OWN, "x");
    repo.write(Repo.TESTS + "TestOwn.java", "x");
    String header = "Subject: Do it\nJIRA: HBASE-1 and follow-ups\nFeature: x\n"
      + "Reason: first\n second\n"
      + "Upstream: none\nComponent: BlockCache, regionserver\nTest: TestOwn\n"
      + "Lines: 2.6.6 there, test;\n 3.0.0 fixed, read (HBASE-2 and more)\nCompatibility: none\n"
      + "Release-note: Say\n it.\nReviews:\nNeeds: none\nAdds:\n " + OWN + "\n " + Repo.TESTS
      + "TestOwn.java\n";
    repo.write("patches/a.patch", header + "\n");
    repo.write("patches/series", "a.patch\n");
    PatchHeader parsed = repo.series().patches().get(0).header();
    assertEquals("Do it", parsed.subject());
    assertEquals("HBASE-1", parsed.jira());
    assertEquals("first second", parsed.reason());
    assertEquals(List.of(), parsed.needs());
    assertEquals(List.of(OWN, Repo.TESTS + "TestOwn.java"), parsed.adds());
    assertEquals("BlockCache, regionserver", parsed.text(PatchHeader.COMPONENT));
    assertEquals(List.of("TestOwn"), parsed.tests());
    assertEquals(List.of(new PatchHeader.Verdict("2.6.6", "there", "test", ""),
      new PatchHeader.Verdict("3.0.0", "fixed", "read", "HBASE-2 and more")), parsed.lines());
    assertEquals("", parsed.text(PatchHeader.COMPATIBILITY));
    assertEquals("Say it.", parsed.text(PatchHeader.RELEASE_NOTE));
    assertEquals("", parsed.text(PatchHeader.REVIEWS));
    assertEquals(header, parsed.text());
  }

  @Test
  public void testPatchMissingOrNotNamed() throws Exception {
    repo.write("patches/series", "gone.patch # a comment\n");
    assertRefused("patches/series names gone.patch", "add the file or remove the line");
    repo.write("patches/series", "");
    repo.write("patches/extra.patch", Repo.header("x", "", ""));
    assertRefused("patches/extra.patch is not in patches/series");
    repo.write("patches/series", "extra.patch\nextra.patch\n");
    assertRefused("names extra.patch twice");
  }

  @Test
  public void testHeaderKeys() throws Exception {
    repo.write("patches/series", "p.patch\n");
    repo.write("patches/p.patch", "Subject: x\nJIRA: -\nFeature: fix\nReason: r\n"
      + "Upstream: -\nComponent: wal\nTest:\nLines:\nCompatibility:\nRelease-note:\nReviews:\n"
      + "Needs:\n");
    assertRefused("patches/p.patch has no 'Adds:' line");
    repo.write("patches/p.patch", Repo.header("x", "", "").replace("Needs:", "Need:"));
    assertRefused("patches/p.patch line 12 is no header line: 'Need: '");
    repo.write("patches/p.patch", Repo.header("x", "", "") + "JIRA: HBASE-1\n");
    assertRefused("patches/p.patch has 'JIRA:' twice");
    repo.write("patches/p.patch", Repo.header("", "", ""));
    assertRefused("patches/p.patch has an empty 'Subject:'");
    for (String slug : new String[] { "", "Fix", "two words" }) {
      repo.write("patches/p.patch", Repo.header("x", Map.of("Feature", slug)));
      assertRefused("patches/p.patch has 'Feature: " + slug + "'", "slug");
    }
  }

  @Test
  public void testLinesThatDoNotParse() throws Exception {
    repo.write("patches/series", "p.patch\n");
    for (String entry : List.of("3.0.0 gone, read", "3.0.0 fixed", "fixed, read",
      "3.0.0 fixed, guess", "3.0.0 fixed, read HBASE-1", "3.0.0 fixed, read (HBASE-1")) {
      repo.write("patches/p.patch",
        Repo.header("x", Map.of("Lines", "2.6.6 there, read; " + entry)));
      assertRefused("patches/p.patch has '" + entry + "' in 'Lines:'", "'there', 'fixed' or");
    }
  }

  @Test
  public void testNamedTestIsAddedByThePatch() throws Exception {
    repo.write(Repo.TESTS + "TestOwn.java", "x");
    repo.write("patches/series", "p.patch\n");
    Map<String, String> values = new HashMap<>(Map.of("Adds", Repo.TESTS + "TestOwn.java"));
    values.put("Test", "TestOwn, TestOther");
    repo.write("patches/p.patch", Repo.header("x", values));
    assertRefused("patches/p.patch has 'Test: TestOther'", "'Adds:'", "simple name");
    values.put("Test", "Own");
    repo.write("patches/p.patch", Repo.header("x", values));
    assertRefused("patches/p.patch has 'Test: Own'");
    values.put("Test", "TestOwn");
    repo.write("patches/p.patch", Repo.header("x", values));
    assertEquals(List.of("TestOwn"), repo.series().patches().get(0).header().tests());
  }

  @Test
  public void testAddedFileExistsAndOnlyATestSourceIsOfTwoPatches() throws Exception {
    repo.patch("p.patch", "", OWN, "");
    assertRefused("patches/p.patch", OWN, "no such file");
    repo.write(OWN, "x");
    repo.patch("q.patch", "", OWN, "");
    assertRefused("patches/q.patch", OWN, "patches/p.patch", "only a test source");
    String shared = Repo.TESTS + "Fixture.java";
    repo.reset();
    repo.write(shared, "x");
    repo.patch("p.patch", "", shared, "");
    repo.patch("q.patch", "", shared, "");
    assertEquals(List.of(shared), repo.series().adds());
  }

  @Test
  public void testUnknownModule() throws Exception {
    repo.patch("p.patch", "", "", edit("hbase-shell/src/main/java/A.java"));
    assertRefused("patches/p.patch line 15", "hbase-shell/src/main/java/A.java",
      "in none of the modules hbase-common, hbase-client, hbase-server");
    repo.write("patches/p.patch", Repo.header("x", "", "pom.xml"));
    assertRefused("patches/p.patch 'Adds:' names pom.xml", "none of the modules");
    repo.write("patches/p.patch", Repo.header("x", "", "") + "\n" + edit("hbase-server/pom.xml"));
    assertRefused("hbase-server/pom.xml, which is not below hbase-server/src/");
  }

  @Test
  public void testNeedIsANameOrAnIssueOfAnEarlierPatch() throws Exception {
    repo.patch("HBASE-1-a.patch", Map.of("JIRA", "HBASE-1"), "");
    repo.patch("b.patch", "HBASE-1", "", "");
    repo.patch("c.patch", "b.patch, HBASE-1-a", "", "");
    Series series = repo.series();
    assertEquals(List.of("HBASE-1-a.patch", "b.patch"), series.needed(series.patches().get(2))
      .stream().map(PatchFile::name).toList());
    repo.patch("d.patch", "e", "", "");
    repo.patch("e.patch", "", "", "");
    assertRefused("patches/d.patch needs e", "no earlier patch");
  }

  @Test
  public void testSeriesFileKeepsCommentsWithTheLineBelow() {
    byte[] old = Repo.bytes("# head\n\n# about a\na.patch\n# about b\nb.patch # why\n# end\n");
    assertArrayEquals(old, Series.rewrite(old, List.of("a.patch", "b.patch")));
    assertEquals("# head\n\n# about b\nb.patch # why\nc.patch\n# about a\na.patch\n# end\n",
      new String(Series.rewrite(old, List.of("b.patch", "c.patch", "a.patch")),
        StandardCharsets.UTF_8));
    assertEquals("# head\n\n# about b\nb.patch # why\n# end\n",
      new String(Series.rewrite(old, List.of("b.patch")), StandardCharsets.UTF_8));
    assertEquals("a.patch\n",
      new String(Series.rewrite(null, List.of("a.patch")), StandardCharsets.UTF_8));
  }
}
