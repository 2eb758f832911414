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
import dev.stratum.fork.OutputTree;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Edits that only the exports for upstream have: of files from which upstream's build generates
 * classes, and of the code that uses these classes. This build takes the generated classes as they
 * are published, so that its own code has to do without. {@code patches/upstream/NAME.patch} has
 * those that belong to {@code patches/NAME.patch}: a git diff with lines of context, on the files
 * as that patch leaves them.
 * @param diffs each diff by the file name of the patch that it belongs to
 * @param files the files that are edited and that the published sources lack, by path
 */
public record UpstreamEdits(Map<String, String> diffs, SortedMap<String, byte[]> files) {
  /** The folder of the edits, with a slash at the end. */
  public static final String FOLDER = PatchFile.FOLDER + "upstream/";
  /** No edits. */
  public static final UpstreamEdits NONE = new UpstreamEdits(Map.of(), new TreeMap<>());

  /**
   * Reads the edits.
   * @param others files of upstream's repository that the published sources lack, by path
   * @throws ForkException if one is that of no patch
   */
  public static UpstreamEdits read(Path root, Series series, SortedMap<String, byte[]> others)
    throws IOException {
    Map<String, String> diffs = new TreeMap<>();
    for (Path file : OutputTree.files(root.resolve(FOLDER))) {
      String name = OutputTree.slashed(root.resolve(FOLDER).relativize(file));
      if (series.patches().stream().noneMatch(patch -> patch.name().equals(name))) {
        throw new ForkException("%s%s belongs to no patch of patches/series; give it the name of "
          + "one, or delete it.", FOLDER, name);
      }
      diffs.put(name, Files.readString(file));
    }
    SortedMap<String, byte[]> files = new TreeMap<>(others);
    files.keySet().removeIf(path -> diffs.values().stream()
      .noneMatch(diff -> diff.contains("\n--- a/" + path + "\n")));
    return new UpstreamEdits(diffs, files);
  }

  /** Returns whether a patch has such edits. */
  public boolean has(PatchFile patch) {
    return diffs.containsKey(patch.name());
  }

  /**
   * Makes the edits of a patch, all or none.
   * @param tree the files with the patch, changed in place
   * @return the path that they do not fit, {@code null} if they were made or there are none
   */
  String apply(GitStore store, PatchFile patch, SortedMap<String, byte[]> tree)
    throws IOException {
    if (!has(patch)) {
      return null;
    }
    SortedMap<String, byte[]> edited = new TreeMap<>(tree);
    String unfit =
      store.apply(diffs.get(patch.name()).getBytes(StandardCharsets.UTF_8), edited);
    if (unfit == null) {
      tree.clear();
      tree.putAll(edited);
    }
    return unfit;
  }

  /**
   * Checks that the edits of each patch can be made on what the patch and those before it leave.
   * @throws ForkException if they cannot
   */
  public void check(GitStore store, ForkHistory history) throws IOException {
    SortedMap<String, byte[]> others = new TreeMap<>(files);
    for (ForkHistory.Step step : history.steps()) {
      if (has(step.patch())) {
        SortedMap<String, byte[]> tree = new TreeMap<>(step.after());
        tree.putAll(others);
        String unfit = apply(store, step.patch(), tree);
        if (unfit != null) {
          throw new ForkException("%s%s does not fit %s; write it again as a git diff on that file "
            + "with the patches up to this one.", FOLDER, step.patch().name(), unfit);
        }
        others.replaceAll((path, content) -> tree.get(path));
      }
    }
  }
}
