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
package dev.stratum.fork.guide;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.OutputTree;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.ReviewPlan;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * The plans of docs/upstream/design: in a table with the columns PR, what, classes and patches,
 * main lines, needs, each PR has at most 900 lines of main code, or says that it has more. A patch
 * stands for its edits, and for its classes, as far as no row of the page names them.
 */
public class TestReviewPlans {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final int MAX_LINES = 900;
  private static final Pattern EDIT = Pattern.compile("(?m)^[-+](?!--|\\+\\+)");

  /** The lines of each main class that a patch adds, by its simple name. */
  private static final Map<String, Integer> CLASSES = new HashMap<>();
  /** The lines of edits of each class of HBase, by each patch's name. */
  private static final Map<String, Map<String, Integer>> EDITS = new HashMap<>();
  private static final Map<String, List<String>> ADDED = new HashMap<>();
  private static final Set<String> TESTS = new HashSet<>();

  @BeforeClass
  public static void measure() throws IOException {
    // A failed test is repeated in the same JVM.
    List.of(CLASSES, EDITS, ADDED).forEach(Map::clear);
    TESTS.clear();
    List<PatchFile> patches = new ArrayList<>(Series.read(ROOT).patches());
    for (String feature : Series.ownPlans(ROOT)) {
      patches.addAll(Series.read(ROOT).forPlan(ROOT, feature).patches());
    }
    for (PatchFile patch : patches) {
      Map<String, Integer> edits = new HashMap<>();
      List<String> added = new ArrayList<>();
      String[] files = new String(patch.content(), StandardCharsets.UTF_8).split("\ndiff --git ");
      for (String file : List.of(files).subList(1, files.length)) {
        String path = file.split(" ")[0];
        String name = path.substring(path.lastIndexOf('/') + 1).replace(".java", "");
        int lines = (int) EDIT.matcher(file).results().count();
        if (!file.contains("\nnew file mode ")) {
          edits.put(name, lines);
        } else if (path.contains("/src/test/")) {
          TESTS.add(name);
        } else {
          assertNull(name + " is the name of two classes", CLASSES.put(name, lines));
          added.add(name);
        }
      }
      EDITS.put(patch.stem(), edits);
      for (String path : patch.header().adds()) {
        if (path.contains("/src/main/") && !path.endsWith("package-info.java")) {
          String name = path.substring(path.lastIndexOf('/') + 1).replace(".java", "");
          CLASSES.put(name, Files.readAllLines(ROOT.resolve(path)).size());
          added.add(name);
        } else if (path.contains("/src/test/")) {
          TESTS.add(path.substring(path.lastIndexOf('/') + 1).replace(".java", ""));
        }
      }
      ADDED.put(patch.stem(), added);
    }
  }

  private static int lines(ReviewPlan.PullRequest pr, Set<String> named, String where) {
    int lines = 0;
    for (String name : pr.names()) {
      if (name.startsWith("Test")) {
        assertTrue(where + " names " + name + ", which no patch adds", TESTS.contains(name));
      } else if (EDITS.containsKey(name)) {
        lines += ADDED.get(name).stream().filter(added -> !named.contains(added))
          .mapToInt(CLASSES::get).sum();
        lines += EDITS.get(name).entrySet().stream().filter(edit -> !named.contains(edit.getKey()))
          .mapToInt(Map.Entry::getValue).sum();
      } else if (named.stream().anyMatch(patch -> edits(patch, name) > 0)) {
        lines += named.stream().mapToInt(patch -> edits(patch, name)).sum();
      } else {
        assertTrue(where + " names " + name + ", which no patch adds", CLASSES.containsKey(name));
        lines += CLASSES.get(name);
      }
    }
    return lines;
  }

  private static int edits(String patch, String name) {
    return EDITS.getOrDefault(patch, Map.of()).getOrDefault(name, 0);
  }

  private static int check(String where, String page) {
    List<ReviewPlan.PullRequest> plan = ReviewPlan.parse(where, page).pullRequests();
    Set<String> named = new HashSet<>();
    plan.forEach(pr -> pr.names()
      .forEach(name -> assertTrue(where + " names " + name + " twice", named.add(name))));
    for (ReviewPlan.PullRequest pr : plan) {
      String which = where + ", PR " + pr.number();
      int lines = lines(pr, named, which);
      // Small changes of a class do not make a plan wrong.
      assertTrue(which + " has " + lines + " lines; the page says " + pr.lines(),
        Math.abs(lines - pr.lines()) <= Math.max(20, lines / 10));
      assertEquals(which + " has " + lines + " lines; say so with '(above 900)', or cut it",
        lines > MAX_LINES, pr.above());
    }
    return plan.size();
  }

  @Test
  public void testPullRequestsAreAsLargeAsTheirPlanSays() throws Exception {
    int pages = 0;
    for (Path note : OutputTree.files(ROOT.resolve("docs/upstream/design"))) {
      assertTrue(note + " has no plan",
        check(note.getFileName().toString(), Files.readString(note)) > 0);
      pages++;
    }
    assertTrue("pages: " + pages, pages >= 12);
  }

  @Test
  public void testAPlanThatIsWrongFails() {
    String head =
      "| PR | what | classes and patches | main lines | needs |\n|---|---|---|---|---|\n";
    int lines = CLASSES.get("CompositeBucketCache");
    assertEquals(1, check("a", head + "| 1 | a | `CompositeBucketCache` | " + lines + " | |\n"));
    for (String row : List.of("`CompositeBucketCache` | " + 2 * lines, "`NoSuchClass` | 1",
      "`CompositeBucketCache` | " + lines + " (above 900)",
      "`CompositeBucketCache`, `CompositeBucketCache` | " + 2 * lines)) {
      try {
        check("b", head + "| 1 | b | " + row + " | |\n");
      } catch (AssertionError e) {
        continue;
      }
      throw new AssertionError(row + " was accepted");
    }
  }
}
