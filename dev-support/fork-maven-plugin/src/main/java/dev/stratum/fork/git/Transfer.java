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

import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.TreeMerge;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Brings the patches of the series to the files of another version, one after the other. A patch in
 * conflict counts as applied for those after it, with its own lines where the sides disagree, so
 * that each is told its own conflicts and none that it inherits.
 */
public final class Transfer {

  /**
   * What became of one patch.
   * @param patch     the patch
   * @param source    which edits the version gets
   * @param tried     the changes that were merged
   * @param untried   the files that the patch edits and that are not published for the version,
   *                  because their module is not or because they are generated and it has others
   * @param before    the files that it was brought to
   * @param after     the files with it, with conflict markers if there are conflicts
   * @param conflicts what it disagrees with, none if it merges
   */
  public record Outcome(PatchFile patch, LineVariants.Source source, List<FileChange> tried,
    List<String> untried, SortedMap<String, byte[]> before, SortedMap<String, byte[]> after,
    List<TreeMerge.Conflict> conflicts) {

    /** Returns whether the version has all of it. */
    boolean isEmpty() {
      return FileChange.between(before, after).isEmpty();
    }
  }

  private final SortedMap<String, byte[]> published;
  private final Set<String> modules;
  private final LineVariants variants;
  private final String version;
  private SortedMap<String, byte[]> tree;

  /**
   * @param published the published files of the version
   * @param modules   the modules that they are of; edits in others are left out
   * @param variants  the variants for the version
   * @param version   what the version is called in conflict markers
   * @param tree      the files to begin with
   */
  public Transfer(SortedMap<String, byte[]> published, Set<String> modules, LineVariants variants,
    String version, SortedMap<String, byte[]> tree) {
    this.published = published;
    this.modules = modules;
    this.variants = variants;
    this.version = version;
    this.tree = tree;
  }

  /** Brings the next patch over. */
  public Outcome next(ForkHistory.Step step) {
    List<FileChange> tried = new ArrayList<>();
    List<String> untried = new ArrayList<>();
    for (FileChange change : variants.changes(step)) {
      String path = change.path();
      if (modules.contains(Modules.of(path)) && (change.before() == null
        || !LineSources.isPage(path) || published.containsKey(path))) {
        tried.add(change);
      } else if (change.before() != null) {
        untried.add(path);
      }
    }
    SortedMap<String, byte[]> before = tree;
    SortedMap<String, byte[]> after = new TreeMap<>(before);
    tree = after;
    TreeMerge merge = new TreeMerge(tree, version, step.patch().stem());
    List<TreeMerge.Conflict> conflicts = merge.apply(tried);
    if (!conflicts.isEmpty()) {
      after = new TreeMap<>(tree);
      merge.settle();
    }
    return new Outcome(step.patch(), variants.source(step.patch()), tried, untried, before, after,
      conflicts);
  }
}
