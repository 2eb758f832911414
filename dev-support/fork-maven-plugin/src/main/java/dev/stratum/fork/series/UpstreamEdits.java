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
import dev.stratum.fork.OutputTree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Edits that only the exports for upstream have: of files from which upstream's build generates
 * classes, and of the code that uses these classes. This build takes the generated classes as they
 * are published, so that its own code has to do without. {@code patches/upstream/NAME.patch} has
 * those that belong to {@code patches/NAME.patch}: a git diff with lines of context, on the files
 * as that patch leaves them. Instances are immutable.
 */
public final class UpstreamEdits {
  /** The folder of the edits, with a slash at the end. */
  public static final String FOLDER = PatchFile.FOLDER + "upstream/";
  /** No edits. */
  public static final UpstreamEdits NONE = new UpstreamEdits(Map.of(), new TreeMap<>());

  private static final String DIFF = "diff --git ";
  private static final Pattern FILE = Pattern.compile("(?m)^(?=" + DIFF + ")");

  private final Map<String, byte[]> diffs;
  private final SortedMap<String, byte[]> files;

  private UpstreamEdits(Map<String, byte[]> diffs, SortedMap<String, byte[]> files) {
    this.diffs = Map.copyOf(diffs);
    this.files = Collections.unmodifiableSortedMap(files);
  }

  /**
   * Returns the edits that some diffs make.
   * @param diffs  each diff by the file name of the patch that it belongs to
   * @param others files of upstream's repository that the published sources lack, by path
   */
  public static UpstreamEdits of(Map<String, byte[]> diffs, SortedMap<String, byte[]> others) {
    SortedMap<String, byte[]> edited = new TreeMap<>();
    diffs.forEach((name, diff) -> {
      for (FileEdit edit : new DiffParser(FOLDER + name, true).parseBelowHead(diff)) {
        if (edit.oldPath() != null && others.containsKey(edit.oldPath())) {
          edited.put(edit.oldPath(), others.get(edit.oldPath()));
        }
      }
    });
    return new UpstreamEdits(diffs, edited);
  }

  /**
   * Reads the edits.
   * @param root   the repository's root
   * @param series the patches
   * @param others as of {@link #of}
   * @throws ForkException if one is that of no patch
   */
  public static UpstreamEdits read(Path root, Series series, SortedMap<String, byte[]> others)
    throws IOException {
    Map<String, byte[]> diffs = new HashMap<>();
    for (Path file : OutputTree.files(root.resolve(FOLDER))) {
      String name = OutputTree.slashed(root.resolve(FOLDER).relativize(file));
      if (series.patches().stream().noneMatch(patch -> patch.name().equals(name))) {
        throw new ForkException("%s%s belongs to no patch of patches/series; give it the name of "
          + "one, or delete it.", FOLDER, name);
      }
      diffs.put(name, Files.readAllBytes(file));
    }
    return of(diffs, others);
  }

  /** Returns the same files without any edits. */
  public UpstreamEdits undone() {
    return new UpstreamEdits(Map.of(), files);
  }

  /** Returns the files that are edited and that the published sources lack. */
  public SortedMap<String, byte[]> files() {
    return files;
  }

  /** Returns whether a patch has such edits. */
  public boolean has(PatchFile patch) {
    return diffs.containsKey(patch.name());
  }

  /** Returns the diff of a patch without that of tests, {@code null} if there is nothing else. */
  public String mainDiff(PatchFile patch) {
    if (!has(patch)) {
      return null;
    }
    String all = new String(diffs.get(patch.name()), StandardCharsets.UTF_8);
    String main = FILE.splitAsStream(all).filter(file -> file.startsWith(DIFF)
      && !file.substring(0, file.indexOf('\n')).contains("/src/test/"))
      .collect(Collectors.joining());
    return main.isEmpty() ? null : main;
  }

  /**
   * Makes the edits of a patch, all or none.
   * @param tree the files with the patch, changed in place
   * @return the path that they do not fit, {@code null} if they were made or there are none
   */
  public String apply(PatchFile patch, SortedMap<String, byte[]> tree) {
    if (!has(patch)) {
      return null;
    }
    SortedMap<String, byte[]> edited = new TreeMap<>(tree);
    String unfit =
      ContextApplier.apply(FOLDER + patch.name(), diffs.get(patch.name()), edited);
    if (unfit == null) {
      tree.keySet().retainAll(edited.keySet());
      tree.putAll(edited);
    }
    return unfit;
  }

  /**
   * Checks that the edits of each patch can be made on what the patch and those before it leave.
   * @throws ForkException if they cannot
   */
  public void check(ForkHistory history) {
    SortedMap<String, byte[]> others = new TreeMap<>(files);
    for (ForkHistory.Step step : history.steps()) {
      if (has(step.patch())) {
        SortedMap<String, byte[]> tree = new TreeMap<>(step.after());
        tree.putAll(others);
        String unfit = apply(step.patch(), tree);
        if (unfit != null) {
          throw new ForkException("%s%s does not fit %s; write it again as a git diff on that file "
            + "with the patches up to this one.", FOLDER, step.patch().name(), unfit);
        }
        others.replaceAll((path, content) -> tree.get(path));
      }
    }
  }
}
