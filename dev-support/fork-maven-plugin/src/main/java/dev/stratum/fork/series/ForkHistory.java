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

import dev.stratum.fork.ForkException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The base and what each patch of the series made of it: edits of the base's files and the files
 * of this repository that belong to the patch. The last state is the tree that the build compiles.
 * @param base   the base's files by path
 * @param series the patches
 * @param steps  one for each patch, in order
 */
public record ForkHistory(SortedMap<String, byte[]> base, Series series, List<Step> steps) {

  /**
   * One patch applied.
   * @param patch     the patch
   * @param after     the tree that it left
   * @param changes   the difference, and each test source that the patch shares with an earlier one
   * @param merged    the files that it had to be merged into, because they had changed
   * @param conflicts those of them where that failed, and which have conflict markers
   */
  public record Step(PatchFile patch, SortedMap<String, byte[]> after, List<FileChange> changes,
    List<String> merged, List<String> conflicts) {
  }

  /** Finds the content of an abbreviated git blob id. */
  public interface Blobs {
    /** Returns the content, or {@code null} if it is not known. */
    byte[] find(String abbreviatedId) throws IOException;
  }

  /** Applies the series strictly. */
  public static ForkHistory of(SortedMap<String, byte[]> base, Series series, Path root)
    throws IOException {
    return of(base, series, root, id -> null);
  }

  /**
   * Applies the series.
   * @param blobs  where to find the file that an edit was made against when that is not the one
   *               here, so that the edit can be merged
   */
  public static ForkHistory of(SortedMap<String, byte[]> base, Series series, Path root,
    Blobs blobs) throws IOException {
    List<Step> steps = new ArrayList<>();
    Set<String> added = new HashSet<>();
    SortedMap<String, byte[]> before = base;
    for (PatchFile patch : series.patches()) {
      SortedMap<String, byte[]> tree = new TreeMap<>(before);
      List<String> merged = new ArrayList<>();
      List<String> conflicts = new ArrayList<>();
      for (FileEdit edit : patch.edits()) {
        byte[] here = tree.get(edit.path());
        byte[] origin = here == null || edit.isMadeAgainst(here)
          ? null
          : blobs.find(edit.oldBlob());
        if (origin == null) {
          edit.apply(tree);
        } else {
          SortedMap<String, byte[]> there = new TreeMap<>();
          there.put(edit.path(), origin);
          edit.apply(there);
          merged.add(edit.path());
          new TreeMerge(tree, "earlier patches", patch.stem())
            .apply(List.of(new FileChange(edit.path(), origin, there.get(edit.path()))))
            .forEach(conflict -> conflicts.add(conflict.path()));
        }
      }
      List<FileChange> shared = add(patch, root, added, tree);
      List<FileChange> changes = FileChange.between(before, tree);
      changes.addAll(shared);
      steps.add(new Step(patch, tree, changes, merged, conflicts));
      before = tree;
    }
    return new ForkHistory(base, series, steps);
  }

  /** Adds the files of a patch; returns those that an earlier patch has added too. */
  private static List<FileChange> add(PatchFile patch, Path root, Set<String> added,
    SortedMap<String, byte[]> tree) throws IOException {
    List<FileChange> shared = new ArrayList<>();
    for (String path : patch.header().adds()) {
      byte[] content = Files.readAllBytes(root.resolve(path));
      if (!added.add(path)) {
        shared.add(new FileChange(path, null, content));
      } else if (tree.containsKey(path)) {
        throw new ForkException("%s has %s in 'Adds:', but the base or an earlier patch has a file "
          + "there; give it another name, or edit the base's file with a patch.", patch.shown(),
          path);
      }
      tree.put(path, content);
    }
    return shared;
  }

  /** Returns the tree after the last patch. */
  public SortedMap<String, byte[]> tip() {
    return steps.isEmpty() ? base : steps.get(steps.size() - 1).after();
  }

  /** Returns the step of a patch. */
  public Step step(PatchFile patch) {
    return steps.get(series.patches().indexOf(patch));
  }
}
