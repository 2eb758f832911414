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
import dev.stratum.fork.series.CommitMessage;
import dev.stratum.fork.series.ContextApplier;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.TreeMerge;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jgit.lib.ObjectId;

/**
 * Makes patches for an issue tracker. Each is made on the base plus what its header says it needs,
 * and nothing else, so that one without needs applies to the plain base. What is exported has been
 * applied: each to the base after its needs, and all of them in series order, which must give the
 * tree that the build compiles.
 */
public final class Export {

  /** One exported patch. */
  public record Exported(PatchFile patch, String fileName, byte[] content) {
  }

  private record Made(PatchFile patch, byte[] content, SortedMap<String, byte[]> after) {
  }

  private static final Pattern LINE = Pattern.compile("(\\d+\\.\\d+)\\..*");

  private final GitStore store;
  private final Series series;
  private final ForkHistory history;
  private final MailPatch mail;
  private final String branch;
  private final Map<PatchFile, Made> made = new LinkedHashMap<>();

  /**
   * @param store       where to keep trees
   * @param series      the patches
   * @param history     the same patches applied
   * @param mail        writes the patches
   * @param baseVersion the base's version, which gives the branch's name
   */
  public Export(GitStore store, Series series, ForkHistory history, MailPatch mail,
    String baseVersion) {
    this.store = store;
    this.series = series;
    this.history = history;
    this.mail = mail;
    Matcher matcher = LINE.matcher(baseVersion);
    branch = "branch-" + (matcher.matches() ? matcher.group(1) : baseVersion);
  }

  /** Returns every patch, having applied them all. */
  public List<Exported> all() throws IOException {
    for (PatchFile patch : series.patches()) {
      make(patch);
    }
    checkTogether();
    return made.values().stream().map(this::exported).toList();
  }

  /** Returns one patch, having applied it after its needs. */
  public Exported one(PatchFile patch) throws IOException {
    return exported(make(patch));
  }

  /** Returns the tree that a patch gives on the base with its needs, and nothing else. */
  public SortedMap<String, byte[]> alone(PatchFile patch) throws IOException {
    return make(patch).after;
  }

  private Exported exported(Made one) {
    String issue = one.patch.header().jira();
    boolean alone = issue != null && series.patches().stream()
      .filter(patch -> issue.equals(patch.header().jira())).count() == 1;
    return new Exported(one.patch,
      (alone ? issue : one.patch.stem()) + "." + branch + ".001.patch", one.content);
  }

  private Made make(PatchFile patch) throws IOException {
    Made known = made.get(patch);
    if (known != null) {
      return known;
    }
    Set<PatchFile> needs = series.closure(patch);
    SortedMap<String, byte[]> before = new TreeMap<>(history.base());
    for (PatchFile need : needs) {
      make(need);
      merge(need, patch, before);
    }
    SortedMap<String, byte[]> after = new TreeMap<>(before);
    merge(patch, patch, after);
    ObjectId oldTree = store.writeTree(before);
    ObjectId newTree = store.writeTree(after);
    ObjectId parent = store.commit(oldTree, List.of(), "Base and needs\n");
    ObjectId commit = store.commit(newTree, List.of(parent), CommitMessage.format(patch));
    Made result = new Made(patch, mail.write(patch, oldTree, newTree, commit), after);
    made.put(patch, result);
    checkAlone(result, needs);
    return result;
  }

  private void merge(PatchFile patch, PatchFile target, SortedMap<String, byte[]> tree) {
    List<TreeMerge.Conflict> conflicts =
      new TreeMerge(tree, "base", patch.stem()).apply(step(patch).changes());
    if (!conflicts.isEmpty()) {
      throw overlap(target, conflicts.get(0).path());
    }
  }

  private ForkHistory.Step step(PatchFile patch) {
    return history.steps().get(series.patches().indexOf(patch));
  }

  private void checkAlone(Made one, Set<PatchFile> needs) {
    SortedMap<String, byte[]> tree = new TreeMap<>(history.base());
    Set<PatchFile> chain = new LinkedHashSet<>(needs);
    chain.add(one.patch);
    for (PatchFile patch : chain) {
      String path = ContextApplier.apply(patch.name(), made.get(patch).content, tree);
      if (path != null) {
        throw overlap(patch, path);
      }
    }
    String path = firstDifference(tree, one.after);
    if (path != null) {
      throw overlap(one.patch, path);
    }
  }

  private void checkTogether() {
    SortedMap<String, byte[]> tree = new TreeMap<>(history.base());
    for (Made one : made.values().stream()
      .sorted(Comparator.comparingInt(m -> series.patches().indexOf(m.patch)))
      .toList()) {
      String path = ContextApplier.apply(one.patch.name(), one.content, tree);
      if (path != null) {
        throw overlap(one.patch, path);
      }
      path = firstDifference(tree, step(one.patch).after());
      if (path != null) {
        throw overlap(one.patch, path);
      }
    }
  }

  private static String firstDifference(SortedMap<String, byte[]> one,
    SortedMap<String, byte[]> other) {
    Set<String> paths = new TreeSet<>(one.keySet());
    paths.addAll(other.keySet());
    return paths.stream().filter(path -> !Arrays.equals(one.get(path), other.get(path)))
      .findFirst().orElse(null);
  }

  private ForkException overlap(PatchFile patch, String path) {
    Set<PatchFile> needs = series.closure(patch);
    List<String> others = new ArrayList<>();
    for (PatchFile other : series.patches().subList(0, series.patches().indexOf(patch))) {
      boolean touches = step(other).changes().stream()
        .anyMatch(change -> path.equals(change.path()) || path.equals(change.oldPath()));
      if (touches && !needs.contains(other)) {
        others.add(other.stem());
      }
    }
    return new ForkException("%s does not apply to the base and its 'Needs:' alone, because in %s "
      + "it is within three lines of what %s changes; add that to 'Needs:', or move the edit.",
      patch.shown(), path, others.isEmpty() ? "an earlier patch" : String.join(" or ", others));
  }
}
