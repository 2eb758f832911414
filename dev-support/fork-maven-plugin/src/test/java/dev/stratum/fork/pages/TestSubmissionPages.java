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
package dev.stratum.fork.pages;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.Repo;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;

/** The texts of issues and pull requests follow the headers of the patches. */
public class TestSubmissionPages {

  @Rule
  public final Repo repo = new Repo();

  @Before
  public void setUp() throws IOException {
    repo.write(Repo.TESTS + "TestOne.java", "");
    repo.write(Repo.TESTS + "TestTwo.java", "");
  }

  private void fix(String name, String... values) throws IOException {
    Map<String, String> header = new HashMap<>(Map.of("JIRA", "none yet", "Component",
      "BlockCache", "Lines", "2.6.6 there, read; 3.0.0 fixed, read (HBASE-9)"));
    for (int i = 0; i < values.length; i += 2) {
      header.put(values[i], values[i + 1]);
    }
    repo.patch(name + ".patch", header, "");
  }

  private SubmissionPages pages() throws IOException {
    return new SubmissionPages(repo.series(), repo.root, "2.6.4-hadoop3");
  }

  private String page(String name) throws IOException {
    return Repo.text(pages().pages()).get(name + ".md");
  }

  /** Asserts that the text has the parts in this order. */
  private static void assertHas(String text, String... parts) {
    int at = 0;
    for (String part : parts) {
      int found = text.indexOf(part, at);
      assertTrue("'" + part + "' after position " + at + " of " + text, found >= 0);
      at = found + part.length();
    }
  }

  @Test
  public void testFixSaysWhatItsIssueNeeds() throws IOException {
    fix("STRATUM-first");
    fix("STRATUM-replaced", "Reason", "to be upstreamed. It breaks | it.",
      "Test", "TestOne TestTwo", "Adds", Repo.TESTS + "TestOne.java " + Repo.TESTS + "TestTwo.java",
      "Needs", "STRATUM-first", "Release-note", "Note this.", "Compatibility", "One getter more.",
      "Reviews", "Why? Because.");
    assertHas(page("STRATUM-replaced"), "# STRATUM-replaced\n",
      "mvn fork:export -Dfork.line=2.6.6 -Dfork.jira=STRATUM-replaced\n",
      "mvn fork:export -Dfork.line=2.6.4 -Dfork.jira=STRATUM-replaced -Dfork.tests\n",
      "| Issue | to be filed |", "| Type | Bug |", "| Component | BlockCache |",
      "| Affects versions | 2.6.4, 2.6.6 |", "| Fix versions | 2.6.7 |",
      "| Submit after | [STRATUM-first](STRATUM-first.md) |",
      "```text\nIt breaks | it.\n", "TestOne and TestTwo fail without the change and pass",
      "mvn test -pl hbase-server -Dtest=TestOne,TestTwo\n",
      "2.6.6 has the defect (the sources were read). 3.0.0 does not have the defect, HBASE-9 (the",
      "HBASE-NNNNN ", "It breaks | it.\n", "One getter more.", "Generated-by: ",
      "## Release note\n\n```text\nNote this.\n", "## What reviewers asked\n\nWhy? Because.\n");
  }

  @Test
  public void testVersionsFollowTheLines() throws IOException {
    fix("STRATUM-all", "Lines", "2.6.6 there, test; 3.0.0 there, test");
    fix("STRATUM-not-master", "Lines", "3.0.0 there, read; master fixed, read");
    fix("HBASE-5-none", "JIRA", "HBASE-5", "Lines", "2.6.6 fixed, read; 3.0.0 unaffected, read");
    fix("STRATUM-beta", "Lines", "3.0.0-beta-1 there, read");
    fix("STRATUM-unread", "Lines", "none");
    assertHas(page("STRATUM-all"), "-Dfork.line=3.0.0 ",
      "| Affects versions | 2.6.4, 2.6.6, 3.0.0 |",
      "| Fix versions | 4.0.0-alpha-1, 3.0.1, 2.6.7 |",
      "2.6.6 and 3.0.0 have the defect (the test was run");
    assertHas(page("STRATUM-not-master"), "| Affects versions | 2.6.4, 3.0.0 |",
      "| Fix versions | 3.0.1 |");
    assertHas(page("HBASE-5-none"), "-Dfork.line=2.6.4 ",
      "[HBASE-5](https://issues.apache.org/jira/browse/HBASE-5)", "| Affects versions | 2.6.4 |",
      "| Fix versions | none: newer", "3.0.0 is not affected (");
    assertHas(page("STRATUM-beta"), "-Dfork.line=2.6.4 ",
      "| Affects versions | 2.6.4, 3.0.0-beta-1 |", "| Fix versions | 4.0.0-alpha-1 |");
    assertHas(page("STRATUM-unread"), "| Fix versions | not known: other lines were not examined");
  }

  @Test
  public void testFeatureIsAnImprovementWithItsDesignNote() throws IOException {
    fix("HBASE-7-rows", "JIRA", "HBASE-7", "Feature", "row-cache", "Lines", "none", "Component",
      "regionserver");
    String page = page("HBASE-7-rows");
    assertHas(page, "| Type | Improvement |", "| Fix versions | 4.0.0-alpha-1 |",
      "HBASE-7 HBASE-7");
    assertFalse(page, page.contains("Affects") || page.contains("design note"));
    repo.write("docs/upstream/design/row-cache.md", "Rows.\n");
    assertHas(page("HBASE-7-rows"), "design note is docs/upstream/design/row-cache.md.");
  }

  @Test
  public void testLinesArePastedWithAtMostAHundredCharacters() throws IOException {
    fix("STRATUM-long", "Reason", "word ".repeat(200), "Reviews", "answer ".repeat(100));
    for (String line : page("STRATUM-long").split("\n")) {
      assertTrue(line, line.length() <= 120);
    }
  }

  @Test
  public void testIndexIsInTheOrderOfSubmission() throws IOException {
    fix("STRATUM-a");
    fix("STRATUM-b", "Lines", "2.6.6 fixed, read");
    fix("STRATUM-feature", "Feature", "rows", "Lines", "none");
    fix("STRATUM-fork", "JIRA", "none");
    fix("STRATUM-c", "Test", "TestOne", "Adds", Repo.TESTS + "TestOne.java", "Needs", "STRATUM-a");
    repo.write("patches/upstream-order", "# First.\nSTRATUM-c # why\n");
    String index = page("index");
    assertHas(index, "| patch | fix or feature | component | 2.6.6 | 3.0.0 |\n",
      "| [STRATUM-c](STRATUM-c.md) | fix | BlockCache | there, read | fixed, read |\n"
        + "| [STRATUM-a](STRATUM-a.md) | fix |",
      "| [STRATUM-b](STRATUM-b.md) | fix | BlockCache | fixed, read |  |\n",
      "| [STRATUM-feature](STRATUM-feature.md) | rows | BlockCache |  |  |\n");
    assertFalse(index, index.contains("STRATUM-fork"));
    assertFalse(pages().pages().containsKey("STRATUM-fork.md"));
  }

  @Test
  public void testOrderNamesPatchesThatAreSubmitted() throws IOException {
    fix("STRATUM-a");
    fix("STRATUM-fork", "JIRA", "none");
    repo.write("patches/upstream-order", "STRATUM-gone\n");
    Repo.assertRefused(() -> pages().pages(), "patches/upstream-order names STRATUM-gone");
    repo.write("patches/upstream-order", "STRATUM-a\nSTRATUM-a\n");
    Repo.assertRefused(() -> pages().pages(), "names STRATUM-a twice");
    repo.write("patches/upstream-order", "STRATUM-fork\n");
    Repo.assertRefused(() -> pages().pages(), "names STRATUM-fork", "stays in the fork");
  }

  @Test
  public void testFixWithoutWhatAnIssueNeedsIsRefused() throws IOException {
    fix("STRATUM-replaced", "Lines", "none");
    Repo.assertRefused(() -> pages().check(), "patches/STRATUM-replaced.patch", "'Lines:'");
    repo.write("patches/series", "");
    fix("STRATUM-replaced", "Component", "");
    Repo.assertRefused(() -> pages().check(), "'Component:'");
  }
}
