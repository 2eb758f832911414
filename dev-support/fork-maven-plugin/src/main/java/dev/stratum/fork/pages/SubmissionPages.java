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
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.UpstreamEdits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The texts of JIRA issues and pull requests: a page for each patch that is to go upstream, made
 * from its header, and an index in the order of submission.
 */
public final class SubmissionPages {
  /** The folder of the design notes of features. */
  private static final String DESIGN = "docs/upstream/design/";

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

  /** Returns the pages by name: one for each patch that is to go upstream, and the index. */
  public SortedMap<String, byte[]> pages() throws IOException {
    SortedMap<String, byte[]> pages = new TreeMap<>();
    List<PatchFile> order = SubmissionOrder.of(series, root);
    UpstreamEdits edits = UpstreamEdits.read(root, series, new TreeMap<>());
    for (PatchFile patch : order) {
      Path design = root.resolve(DESIGN).resolve(patch.header().feature() + ".md");
      pages.put(patch.stem() + ".md", bytes(new SubmissionPage(patch, needs(patch), base,
        Files.exists(design) ? DESIGN + design.getFileName() : null, edits.mainDiff(patch))
          .text()));
    }
    pages.put("index.md", bytes(new SubmissionIndex(order).page()));
    return pages;
  }

  private List<PatchFile> needs(PatchFile patch) {
    return series.needed(patch).stream().filter(need -> !need.header().staysInFork()).toList();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Checks that every fix says what a JIRA issue must.
   * @throws ForkException if one does not
   */
  public void check() throws IOException {
    for (PatchFile patch : SubmissionOrder.of(series, root)) {
      if (SubmissionOrder.isFix(patch)) {
        require(patch, "Component", patch.header().component().isEmpty());
        require(patch, "Lines", patch.header().lines().isEmpty());
      }
    }
  }

  private static void require(PatchFile patch, String key, boolean missing) {
    if (missing) {
      throw new ForkException("%s is a fix with an empty '%s:', which its JIRA issue needs; "
        + "patches/README.md has the values.", patch.shown(), key);
    }
  }
}
