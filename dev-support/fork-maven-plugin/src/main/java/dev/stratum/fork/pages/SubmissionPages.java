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
package dev.stratum.fork.pages;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.OutputTree;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.UpstreamEdits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The pages of docs/upstream: one for each patch that is to go upstream, and the index in
 * README.md. A repository without that README.md has none. Other files of the folder are kept
 * unless they are pages of patches that do not exist any more.
 */
public final class SubmissionPages {
  /** The folder of the pages, with a slash at the end. */
  public static final String FOLDER = "docs/upstream/";
  /** The page that has the index. */
  private static final String INDEX = FOLDER + "README.md";
  /** The folder of the design notes of features, from a page. */
  private static final String DESIGN = "design/";

  private final Series series;
  private final Path root;
  private final String base;

  /**
   * @param series      the patches
   * @param root        the repository's root
   * @param baseVersion the version that the patches apply to
   */
  public SubmissionPages(Series series, Path root, String baseVersion) {
    this.series = series;
    this.root = root;
    base = baseVersion.replaceFirst("-hadoop\\d+$", "");
  }

  /** Returns the pages by repository path. */
  SortedMap<String, byte[]> pages() throws IOException {
    SortedMap<String, byte[]> pages = new TreeMap<>();
    if (!Files.exists(root.resolve(INDEX))) {
      return pages;
    }
    List<PatchFile> order = SubmissionOrder.of(series, root);
    UpstreamEdits edits = UpstreamEdits.read(root, series, new TreeMap<>());
    for (PatchFile patch : order) {
      String design = DESIGN + patch.header().feature() + ".md";
      pages.put(FOLDER + patch.stem() + ".md", bytes(new SubmissionPage(patch, needs(patch), base,
        Files.exists(root.resolve(FOLDER + design)) ? design : null, edits.mainDiff(patch))
          .text()));
    }
    pages.put(INDEX, bytes(new SubmissionIndex(order).page(INDEX,
      Files.readString(root.resolve(INDEX)))));
    return pages;
  }

  private List<PatchFile> needs(PatchFile patch) {
    return series.needed(patch).stream().filter(need -> !need.header().staysInFork()).toList();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Writes the pages, and deletes those of patches that are gone.
   * @return the paths that were written or deleted
   */
  public List<String> write() throws IOException {
    SortedMap<String, byte[]> pages = pages();
    List<String> changed = changed(pages);
    for (String path : changed) {
      if (pages.containsKey(path)) {
        Files.write(root.resolve(path), pages.get(path));
      } else {
        Files.delete(root.resolve(path));
      }
    }
    return changed;
  }

  /**
   * Checks that every page is as {@link #write()} leaves it, and that every fix says what a JIRA
   * issue must.
   * @throws ForkException if one is not
   */
  public void check() throws IOException {
    SortedMap<String, byte[]> pages = pages();
    if (pages.isEmpty()) {
      return;
    }
    for (PatchFile patch : SubmissionOrder.of(series, root)) {
      if (SubmissionOrder.isFix(patch)) {
        require(patch, "Component", patch.header().component().isEmpty());
        require(patch, "Lines", patch.header().lines().isEmpty());
      }
    }
    List<String> changed = changed(pages);
    if (!changed.isEmpty()) {
      throw new ForkException("%s %s not as the patches' headers have it; run mvn fork:pages.",
        String.join(", ", changed), changed.size() == 1 ? "is" : "are");
    }
  }

  private static void require(PatchFile patch, String key, boolean missing) {
    if (missing) {
      throw new ForkException("%s is a fix with an empty '%s:', which its JIRA issue needs; "
        + "patches/README.md has the values.", patch.shown(), key);
    }
  }

  private List<String> changed(Map<String, byte[]> pages) throws IOException {
    List<String> changed = new ArrayList<>();
    for (Map.Entry<String, byte[]> page : pages.entrySet()) {
      Path file = root.resolve(page.getKey());
      if (!Files.exists(file) || !Arrays.equals(Files.readAllBytes(file), page.getValue())) {
        changed.add(page.getKey());
      }
    }
    for (Path file : OutputTree.files(root.resolve(FOLDER))) {
      String path = OutputTree.slashed(root.relativize(file));
      if (
        !pages.isEmpty() && !pages.containsKey(path) && path.endsWith(".md")
          && Files.readString(file).contains("\n\n" + SubmissionPage.MARKER + " from")
      ) {
        changed.add(path);
      }
    }
    return changed;
  }
}
