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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.diff.FileChange;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.ReviewPlan;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Cuts what the patches of a feature change into the pull requests of its {@link ReviewPlan}. Each
 * class is in the one that names it, and so are the edits of a class of HBase that is named; all
 * other edits and files of a patch are in the one that names the patch, or else the last of its
 * classes. A test whose name begins with that of a class, as TestRowCacheStats with RowCache, is in
 * that of the class, all other tests are where the edits are, and none is before a class that it
 * uses. What tests share is in the first one that uses it.
 */
final class ReviewCut {

  /**
   * One patch applied to the files before it.
   * @param patch  the patch
   * @param before the files before
   * @param after  the files after
   */
  record Applied(PatchFile patch, SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after) {
  }

  /**
   * One pull request.
   * @param pullRequest its row
   * @param before      the files before
   * @param after       the files after
   */
  record Part(ReviewPlan.PullRequest pullRequest, SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after) {
  }

  private static final Pattern WORD = Pattern.compile("\\b[A-Z]\\w*");
  private static final String TESTS = "/src/test/";

  private final ReviewPlan plan;
  /** Which pull request has a file, by its path. */
  private final Map<String, Integer> places = new HashMap<>();
  /** The paths of the files that are added, by the simple names of their classes. */
  private final Map<String, String> classes = new HashMap<>();
  /** The paths of added files that the code of an added file names, by its path. */
  private final Map<String, Set<String>> uses = new HashMap<>();

  ReviewCut(ReviewPlan plan) {
    this.plan = plan;
  }

  /** Returns whether the plan has a patch: its name, or a class that it adds. */
  boolean has(PatchFile patch) {
    return place(patch) >= 0;
  }

  private int place(PatchFile patch) {
    int place = plan.indexOf(patch.stem());
    if (place < 0) {
      for (String path : patch.header().adds()) {
        place = Math.max(place, plan.indexOf(simple(path)));
      }
    }
    return place;
  }

  /** Returns which pull request has the edits that a patch makes in a file. */
  private int place(PatchFile patch, FileChange edit) {
    int named = plan.indexOf(simple(edit.oldPath()));
    return named >= 0 ? named : place(patch);
  }

  /**
   * Cuts the changes of patches.
   * @param applied all that the plan has, each on the files after the one before it
   * @throws ForkException if the plan has edits of one file in another order than the patches
   */
  List<Part> cut(List<Applied> applied) {
    SortedMap<String, byte[]> first = applied.get(0).before();
    SortedMap<String, byte[]> last = applied.get(applied.size() - 1).after();
    place(applied, first, last);
    List<Part> parts = new ArrayList<>();
    SortedMap<String, byte[]> before = first;
    for (int i = 0; i < plan.pullRequests().size(); i++) {
      SortedMap<String, byte[]> after = new TreeMap<>(before);
      for (Map.Entry<String, Integer> file : places.entrySet()) {
        if (file.getValue() == i) {
          after.put(file.getKey(), last.get(file.getKey()));
        }
      }
      for (Applied one : applied) {
        for (FileChange change : edits(one, first)) {
          if (place(one.patch(), change) == i) {
            change(change, after);
          }
        }
      }
      parts.add(new Part(plan.pullRequests().get(i), before, after));
      before = after;
    }
    return parts;
  }

  private static void change(FileChange change, SortedMap<String, byte[]> tree) {
    if (change.oldPath() != null) {
      tree.remove(change.oldPath());
    }
    if (change.newPath() != null) {
      tree.put(change.newPath(), change.after());
    }
  }

  /** Returns what a patch changes of files that are there without the feature. */
  private static List<FileChange> edits(Applied one, SortedMap<String, byte[]> first) {
    return FileChange.between(one.before(), one.after(), Map.of()).stream()
      .filter(change -> change.oldPath() != null && first.containsKey(change.oldPath())).toList();
  }

  private void place(List<Applied> applied, SortedMap<String, byte[]> first,
    SortedMap<String, byte[]> last) {
    Map<String, Integer> edited = new HashMap<>();
    Map<String, Integer> owners = new HashMap<>();
    for (Applied one : applied) {
      for (FileChange change : edits(one, first)) {
        int place = place(one.patch(), change);
        Integer earlier = edited.put(change.oldPath(), place);
        if (earlier != null && earlier > place) {
          throw new ForkException("The plan of %s has the edits of %s in another order than "
            + "patches/series; move PR %d behind PR %d.", plan.feature(), change.oldPath(),
            plan.pullRequests().get(place).number(), plan.pullRequests().get(earlier).number());
        }
      }
      for (FileChange change : FileChange.between(one.before(), one.after(), Map.of())) {
        if (change.oldPath() == null) {
          owners.put(change.newPath(), place(one.patch()));
          classes.put(simple(change.newPath()), change.newPath());
        }
      }
    }
    owners.keySet().forEach(path -> uses.put(path, used(path, last.get(path))));
    owners.forEach((path, owner) -> {
      if (!path.contains(TESTS)) {
        int named = plan.indexOf(simple(path));
        places.put(path, named >= 0 ? named : owner);
      }
    });
    placePackages(owners.keySet());
    placeTests(owners);
  }

  /** Puts each description of a package to the first class of the package. */
  private void placePackages(Set<String> paths) {
    for (String path : paths) {
      if (path.endsWith("/package-info.java")) {
        String folder = path.substring(0, path.lastIndexOf('/') + 1);
        paths.stream().filter(other -> !other.equals(path) && other.startsWith(folder)
          && other.indexOf('/', folder.length()) < 0).mapToInt(places::get).min()
          .ifPresent(place -> places.put(path, place));
      }
    }
  }

  private void placeTests(Map<String, Integer> owners) {
    List<String> files =
      owners.keySet().stream().filter(path -> path.contains(TESTS)).sorted().toList();
    for (String path : files) {
      int named = plan.indexOf(simple(path));
      int of = simple(path).startsWith("Test") ? ofItsClass(path) : -1;
      int least = lowest(path, new HashSet<>());
      places.put(path, Math.max(least, named >= 0 ? named : of >= 0 ? of : owners.get(path)));
    }
    List<String> shared = files.stream().filter(path -> !simple(path).startsWith("Test")
      && plan.indexOf(simple(path)) < 0).toList();
    boolean moved = true;
    while (moved) {
      moved = false;
      for (String path : shared) {
        int first = files.stream().filter(other -> uses.get(other).contains(path))
          .mapToInt(places::get).min().orElse(places.get(path));
        moved |= places.put(path, first) != first;
      }
    }
  }

  /** Returns the pull request of the class that a test is named after, -1 if there is none. */
  private int ofItsClass(String path) {
    String name = simple(path).substring("Test".length());
    String longest = "";
    for (String one : classes.keySet()) {
      boolean whole = name.startsWith(one) && (name.length() == one.length()
        || Character.isUpperCase(name.charAt(one.length())));
      if (whole && one.length() > longest.length() && !classes.get(one).contains(TESTS)) {
        longest = one;
      }
    }
    return longest.isEmpty() ? -1 : places.get(classes.get(longest));
  }

  /** Returns the first pull request after which there is all that a file names. */
  private int lowest(String path, Set<String> seen) {
    int least = 0;
    for (String used : uses.get(path)) {
      if (!used.contains(TESTS)) {
        least = Math.max(least, places.get(used));
      } else if (seen.add(used)) {
        least = Math.max(least, lowest(used, seen));
      }
    }
    return least;
  }

  private Set<String> used(String path, byte[] content) {
    if (!path.endsWith(".java")) {
      return Set.of();
    }
    String code = new String(content, StandardCharsets.UTF_8)
      .replaceAll("(?s)/\\*.*?\\*/|//[^\n]*", "");
    return WORD.matcher(code).results().map(word -> classes.get(word.group()))
      .filter(other -> other != null && !other.equals(path)).collect(Collectors.toSet());
  }

  private static String simple(String path) {
    return path.substring(path.lastIndexOf('/') + 1).replaceFirst("\\.java$", "");
  }
}
