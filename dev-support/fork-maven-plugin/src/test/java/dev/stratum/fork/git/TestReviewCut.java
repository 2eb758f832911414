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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.Repo;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.ReviewPlan;
import dev.stratum.fork.series.UpstreamEdits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A feature as the pull requests of its plan. */
@Category(LargeTests.class)
public class TestReviewCut {
  private static final String HEAD =
    "| PR | what | classes and patches | main lines | needs |\n|---|---|---|---|---|\n";
  private static final String PLAN = HEAD
    + "| 1 | the policy | `CachePolicy` | 3 | |\n"
    + "| 2 | HBASE-2: the `Cache` | `STRATUM-cache` | 9 | 1 |\n"
    + "| 3 | its metrics, an issue of its own | `STRATUM-cache-metrics` | 4 | 2 |\n";
  private static final Committer AUTHOR = new Committer("Ada Tester", "ada@localhost");

  @Rule
  public final Repo repo = new Repo();

  @Before
  public void setUp() throws Exception {
    repo.checkout();
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("HBASE-1 Seven", "", "JIRA: HBASE-1", "Reason: to be upstreamed. Seven.");
    repo.edit(Repo.B, "b 7\n", "new Cache();\n");
    repo.edit(Repo.JAVA + "Cache.java", "class Cache { CachePolicy policy; }\n");
    repo.edit(Repo.JAVA + "CachePolicy.java", "/** For a Cache. */\nclass CachePolicy { }\n");
    repo.edit(Repo.JAVA + "package-info.java", "package org.x;\n");
    repo.edit(Repo.TESTS + "TestCachePolicySizes.java", "class T { Fixture f; }\n");
    repo.edit(Repo.TESTS + "TestCachePolicyInUse.java", "class T { Cache cache; }\n");
    repo.edit(Repo.TESTS + "TestWholeServer.java", "class T { }\n");
    repo.edit(Repo.TESTS + "Fixture.java", "class Fixture { CachePolicy policy; }\n");
    repo.edit(Repo.TESTS + "NotUsed.java", "class NotUsed { }\n");
    repo.commit("Cache", "", "Needs: HBASE-1", "Reason: to be upstreamed. A cache.");
    repo.edit(Repo.B, "new Cache();\n", "new Cache(metrics);\n");
    repo.edit(Repo.JAVA + "CacheMetrics.java", "class CacheMetrics { Cache cache; }\n");
    repo.commit("Cache metrics", "", "Needs: STRATUM-cache",
      "Reason: to be upstreamed. Metrics.");
  }

  private LineExport.Exported export(String plan) throws Exception {
    repo.rebuild();
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      return new LineExport(store, repo.series(), repo.history(),
        new LineSources("2.6.6", new TreeSet<>(Modules.ALL), repo.base),
        new LineVariants("2.6.6", repo.base, Map.of()), (before, after) -> after,
        (patch, tree) -> new TreeMap<>(), UpstreamEdits.NONE, AUTHOR, Repo.TIME)
        .export(ReviewPlan.parse("cache", plan));
    }
  }

  private static List<String> names(LineExport.Commit commit) {
    return commit.paths().stream().map(path -> path.substring(path.lastIndexOf('/') + 1)).sorted()
      .toList();
  }

  @Test
  public void testEachCommitHasItsClassesAndTheirTests() throws Exception {
    LineExport.Exported exported = export(PLAN);
    assertEquals("cache", exported.branch());
    List<LineExport.Commit> commits = exported.commits();
    assertEquals(4, commits.size());
    assertEquals("HBASE-1 Seven", commits.get(0).message().split("\n")[0]);
    assertEquals("HBASE-NNNNN The policy\n\nPart 1 of: Cache\n", commits.get(1).message());
    assertEquals("HBASE-2 The Cache", commits.get(2).message().split("\n")[0]);
    assertEquals("HBASE-NNNNN Its metrics", commits.get(3).message().split("\n")[0]);
    assertEquals(List.of("CachePolicy.java", "Fixture.java", "TestCachePolicySizes.java",
      "package-info.java"), names(commits.get(1)));
    assertEquals(List.of("B.java", "Cache.java", "NotUsed.java", "TestCachePolicyInUse.java",
      "TestWholeServer.java"), names(commits.get(2)));
    assertEquals(List.of("B.java", "CacheMetrics.java"), names(commits.get(3)));
  }

  @Test
  public void testCommitsTogetherAreThePatches() throws Exception {
    Path plain = repo.newFolder();
    Repo.plant(plain, repo.base);
    for (LineExport.Commit commit : export(PLAN).commits()) {
      Path mail = repo.newFolder().resolve(commit.fileName());
      Files.write(mail, commit.content());
      Repo.git(plain, "am", "-q", mail.toString());
    }
    Map<String, String> files = Repo.harvest(plain);
    assertTrue(files.get(Repo.B).contains("new Cache(metrics);\n"));
    assertTrue(files.get(Repo.A).contains("seven\n"));
    for (String path : repo.series().patches().get(1).header().adds()) {
      assertEquals(repo.read(path), files.get(path));
    }
  }

  @Test
  public void testEditsInAnotherOrderAreRefused() throws Exception {
    ForkException refused = assertThrows(ForkException.class, () -> export(HEAD
      + "| 1 | metrics | `STRATUM-cache-metrics` | 4 | |\n| 2 | a | `STRATUM-cache` | 9 | |\n"));
    assertTrue(refused.getMessage(), refused.getMessage().contains("move PR 1 behind PR 2"));
  }

  @Test
  public void testAPatchThatIsNeededOutsideOfThePlanIsACommitOfItsOwn() throws Exception {
    repo.edit(Repo.A, "a 9\n", "nine\n");
    repo.commit("Between", "", "Needs: STRATUM-cache", "Reason: to be upstreamed. Nine.");
    repo.edit(Repo.A, "a 12\n", "twelve\n");
    repo.commit("Behind", "", "Needs: STRATUM-between", "Reason: to be upstreamed. Twelve.");
    LineExport.Exported exported = export(PLAN + "| 4 | more | `STRATUM-behind` | 2 | 3 |\n");
    assertEquals(List.of("HBASE-1 Seven", "HBASE-NNNNN Cache", "HBASE-NNNNN Between",
      "HBASE-NNNNN Its metrics", "HBASE-NNNNN More"),
      exported.commits().stream().map(commit -> commit.message().split("\n")[0]).toList());
    assertEquals(List.of("STRATUM-cache is a commit as a whole: STRATUM-between, which is not in "
      + "the plan, needs it."), exported.notes());
  }
}
