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
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.series.CommitMessage;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.TreeMerge;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.PersonIdent;

/**
 * Makes patches for an issue tracker. Each is made on the base plus what its header says it needs,
 * and nothing else, so that one without needs applies to the plain base. What is exported has been
 * applied: one patch to the base after its needs, and all of them in series order, which must give
 * the tree that the build compiles.
 */
public final class Export {

  /** One exported patch. */
  public record Exported(PatchFile patch, String fileName, byte[] content) {
  }

  private record Made(PatchFile patch, byte[] content, SortedMap<String, byte[]> after) {
  }

  private final GitStore store;
  private final Series series;
  private final ForkHistory history;
  private final MailPatch mail;
  private final String branch;
  private final Map<PatchFile, Made> made = new LinkedHashMap<>();

  public Export(GitStore store, ForkHistory history, PersonIdent author, Instant time,
    String forkVersion, String baseVersion) {
    this.store = store;
    this.history = history;
    series = history.series();
    mail = new MailPatch(store, author, time, forkVersion);
    branch = "branch-" + LineSources.release(baseVersion).replaceFirst("^(\\d+\\.\\d+)\\..*", "$1");
  }

  /** Returns every patch, having applied them all. */
  public List<Exported> all() throws IOException {
    SortedMap<String, byte[]> tree = new TreeMap<>(history.base());
    List<Exported> all = new ArrayList<>();
    for (PatchFile patch : series.patches()) {
      check(make(patch), tree, history.step(patch).after());
      all.add(exported(patch));
    }
    return all;
  }

  /** Returns one patch, having applied it after its needs. */
  public Exported one(PatchFile patch) throws IOException {
    SortedMap<String, byte[]> tree = new TreeMap<>(history.base());
    for (PatchFile one : series.closure(patch)) {
      check(make(one), tree, null);
    }
    check(make(patch), tree, alone(patch));
    return exported(patch);
  }

  /** Returns the tree that a patch gives on the base with its needs, and nothing else. */
  public SortedMap<String, byte[]> alone(PatchFile patch) throws IOException {
    return make(patch).after;
  }

  private Exported exported(PatchFile patch) throws IOException {
    String issue = patch.header().jira();
    boolean alone = issue != null && series.patches().stream()
      .filter(other -> issue.equals(other.header().jira())).count() == 1;
    return new Exported(patch, (alone ? issue : patch.stem()) + "." + branch + ".001.patch",
      make(patch).content);
  }

  private Made make(PatchFile patch) throws IOException {
    if (made.containsKey(patch)) {
      return made.get(patch);
    }
    SortedMap<String, byte[]> before = new TreeMap<>(history.base());
    for (PatchFile need : series.closure(patch)) {
      merge(need, patch, before);
    }
    SortedMap<String, byte[]> after = new TreeMap<>(before);
    merge(patch, patch, after);
    ObjectId oldTree = store.writeTree(before);
    ObjectId newTree = store.writeTree(after);
    ObjectId parent = store.commit(oldTree, List.of(), "Base and needs\n", GitStore.STRATUM);
    ObjectId commit =
      store.commit(newTree, List.of(parent), CommitMessage.format(patch), GitStore.STRATUM);
    String subject = patch.header().subject();
    String issue = patch.header().jira();
    List<String> needs = patch.header().needs();
    MailPatch.Text said = new MailPatch.Text(
      issue == null || subject.contains(issue) ? subject : issue + " " + subject,
      MailPatch.description(patch)
        + (needs.isEmpty() ? "" : "Applies after: " + String.join(", ", needs) + "\n\n"), "", "");
    made.put(patch, new Made(patch, mail.write(said, oldTree, newTree, commit), after));
    return made.get(patch);
  }

  private void merge(PatchFile patch, PatchFile target, SortedMap<String, byte[]> tree) {
    List<TreeMerge.Conflict> conflicts =
      new TreeMerge(tree, "base", patch.stem()).apply(history.step(patch).changes());
    if (!conflicts.isEmpty()) {
      throw overlap(target, conflicts.get(0).path());
    }
  }

  /**
   * Applies an exported patch.
   * @param tree     changed in place
   * @param expected the tree that it must give, {@code null} if any
   */
  private void check(Made one, SortedMap<String, byte[]> tree, SortedMap<String, byte[]> expected)
    throws IOException {
    String path = store.apply(one.content, tree);
    if (path == null && expected != null) {
      path = FileChange.between(tree, expected).stream().map(FileChange::path).findFirst()
        .orElse(null);
    }
    if (path != null) {
      throw overlap(one.patch, path);
    }
  }

  private ForkException overlap(PatchFile patch, String path) {
    Set<PatchFile> needs = series.closure(patch);
    List<String> others = new ArrayList<>();
    for (PatchFile other : series.patches().subList(0, series.patches().indexOf(patch))) {
      if (!needs.contains(other) && history.step(other).changes().stream()
        .anyMatch(change -> path.equals(change.path()))) {
        others.add(other.stem());
      }
    }
    return new ForkException("%s does not apply to the base and its 'Needs:' alone, because in %s "
      + "it is within three lines of what %s changes; add that to 'Needs:', or move the edit.",
      patch.shown(), path, others.isEmpty() ? "an earlier patch" : String.join(" or ", others));
  }
}
