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
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The base and what each patch of the series made of it: edits of the base's files and the files
 * of this repository that belong to the patch. The last state is the tree that the build compiles.
 * @param base  the base's files by path
 * @param steps one for each patch, in order
 */
public record ForkHistory(SortedMap<String, byte[]> base, List<Step> steps) {

  /**
   * One patch applied.
   * @param patch     the patch
   * @param before    the tree that it was applied to
   * @param after     the tree that it left
   * @param changes   the difference, and each test source that the patch shares with an earlier one
   * @param merged    the files that it had to be merged into, because they had changed
   * @param conflicts those of them where that failed, and which have conflict markers
   */
  public record Step(PatchFile patch, SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after, List<FileChange> changes, List<String> merged,
    List<String> conflicts) {
  }

  /** Finds the content of an abbreviated git blob id. */
  public interface Blobs {
    /** Returns the content, or {@code null} if it is not known. */
    byte[] find(String abbreviatedId) throws IOException;
  }

  /** Applies the series strictly. */
  public static ForkHistory of(SortedMap<String, byte[]> base, Series series, Path root)
    throws IOException {
    return of(base, series, root, null);
  }

  /**
   * Applies the series.
   * @param base   the base's files
   * @param series the patches
   * @param root   the repository that has the files named in {@code Adds:}
   * @param blobs  where to find the file that an edit was made against when that is not the one
   *               here, so that the edit can be merged; {@code null} to refuse such edits
   */
  public static ForkHistory of(SortedMap<String, byte[]> base, Series series, Path root,
    Blobs blobs) throws IOException {
    List<Step> steps = new ArrayList<>();
    Set<String> added = new HashSet<>();
    SortedMap<String, byte[]> tree = base;
    for (PatchFile patch : series.patches()) {
      Builder builder = new Builder(patch, new TreeMap<>(tree), blobs);
      for (FileEdit edit : patch.edits()) {
        builder.apply(edit);
      }
      for (String path : patch.header().adds()) {
        builder.add(path, Files.readAllBytes(root.resolve(path)), !added.add(path));
      }
      steps.add(builder.step(tree));
      tree = builder.tree;
    }
    return new ForkHistory(base, steps);
  }

  /** Returns the tree after the last patch. */
  public SortedMap<String, byte[]> tip() {
    return steps.isEmpty() ? base : steps.get(steps.size() - 1).after();
  }

  private static final class Builder {
    private final PatchFile patch;
    private final SortedMap<String, byte[]> tree;
    private final Blobs blobs;
    private final Map<String, String> renames = new HashMap<>();
    private final Set<String> merged = new LinkedHashSet<>();
    private final Set<String> conflicts = new LinkedHashSet<>();
    private final List<FileChange> shared = new ArrayList<>();

    Builder(PatchFile patch, SortedMap<String, byte[]> tree, Blobs blobs) {
      this.patch = patch;
      this.tree = tree;
      this.blobs = blobs;
    }

    void apply(FileEdit edit) throws IOException {
      byte[] origin = origin(edit);
      if (origin == null) {
        PatchApplier.apply(patch.shown(), edit, tree);
      } else {
        SortedMap<String, byte[]> there = new TreeMap<>(Map.of(edit.oldPath(), origin));
        PatchApplier.apply(patch.shown(), edit, there);
        FileChange change = new FileChange(edit.oldPath(), edit.newPath(), origin,
          edit.newPath() == null ? null : there.get(edit.newPath()));
        merged.add(edit.path());
        for (TreeMerge.Conflict conflict : new TreeMerge(tree, "earlier patches", patch.stem())
          .apply(List.of(change))) {
          conflicts.add(conflict.path());
        }
      }
      if (edit.kind() == FileEdit.Kind.RENAME) {
        renames.put(edit.newPath(), edit.oldPath());
      }
    }

    /** Returns what the edit was made against if it has to be merged, {@code null} otherwise. */
    private byte[] origin(FileEdit edit) throws IOException {
      byte[] here = edit.oldPath() == null ? null : tree.get(edit.oldPath());
      if (blobs == null || here == null || edit.oldBlob() == null
        || PatchApplier.blobId(here).startsWith(edit.oldBlob())) {
        return null;
      }
      return blobs.find(edit.oldBlob());
    }

    void add(String path, byte[] content, boolean again) {
      if (again) {
        shared.add(new FileChange(null, path, null, content));
      } else if (tree.containsKey(path)) {
        throw new ForkException("%s has %s in 'Adds:', but the base or an earlier patch has a file "
          + "there; give it another name, or edit the base's file with a patch.", patch.shown(),
          path);
      }
      tree.put(path, content);
    }

    Step step(SortedMap<String, byte[]> before) {
      List<FileChange> changes = new ArrayList<>(FileChange.between(before, tree, renames));
      changes.addAll(shared);
      return new Step(patch, before, tree, List.copyOf(changes),
        List.copyOf(merged), List.copyOf(conflicts));
    }
  }
}
