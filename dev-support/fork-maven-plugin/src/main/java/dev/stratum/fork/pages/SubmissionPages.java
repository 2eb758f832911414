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
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.PatchHeader;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The texts of JIRA issues and pull requests: a page for each patch that is to go upstream, made
 * from its header, and an index in the order of submission. That is the order of
 * patches/upstream-order, then that of the series, fixes first.
 */
public final class SubmissionPages {
  /** The folder of the design notes of features. */
  private static final String DESIGN = "docs/upstream/design/";
  private static final String ORDER = PatchFile.FOLDER + "upstream-order";

  private final Series series;
  private final Path root;
  private final String base;
  private final List<PatchFile> order;

  /**
   * @throws ForkException if patches/upstream-order names something that is not to be submitted
   */
  public SubmissionPages(Series series, Path root, String baseVersion) throws IOException {
    this.series = series;
    this.root = root;
    base = LineSources.release(baseVersion);
    Set<PatchFile> found = new LinkedHashSet<>();
    for (String name : Series.names(root, ORDER)) {
      found.add(named(name));
    }
    List<PatchFile> others = new ArrayList<>(series.patches());
    others.removeIf(patch -> patch.header().staysInFork());
    others.stream().filter(patch -> patch.header().isFix()).forEach(found::add);
    found.addAll(others);
    order = List.copyOf(found);
  }

  private PatchFile named(String name) {
    PatchFile found = series.patches().stream().filter(patch -> patch.stem().equals(name))
      .findFirst().orElseThrow(() -> new ForkException("%s names %s, which is no patch of "
        + "patches/series; write its file name without .patch, or remove the line.", ORDER, name));
    if (found.header().staysInFork()) {
      throw new ForkException("%s names %s, whose header says 'JIRA: none', that it stays in the "
        + "fork; remove the line, or write 'JIRA: none yet'.", ORDER, name);
    }
    return found;
  }

  /** Returns the pages by name: one for each patch that is to go upstream, and the index. */
  public SortedMap<String, byte[]> pages() throws IOException {
    SortedMap<String, byte[]> pages = new TreeMap<>();
    for (PatchFile patch : order) {
      String design = DESIGN + patch.header().feature() + ".md";
      List<PatchFile> needs = series.needed(patch).stream()
        .filter(need -> !need.header().staysInFork()).toList();
      pages.put(patch.stem() + ".md", new SubmissionPage(patch, needs, base,
        Files.exists(root.resolve(design)) ? design : null).text()
          .getBytes(StandardCharsets.UTF_8));
    }
    pages.put("index.md", index().getBytes(StandardCharsets.UTF_8));
    return pages;
  }

  /**
   * Checks that every fix says what a JIRA issue must.
   * @throws ForkException if one does not
   */
  public void check() {
    for (PatchFile patch : order) {
      for (String key : List.of(PatchHeader.COMPONENT, PatchHeader.LINES)) {
        if (patch.header().isFix() && patch.header().text(key).isEmpty()) {
          throw new ForkException("%s is a fix with an empty '%s:', which its JIRA issue needs; "
            + "patches/README.md has the values.", patch.shown(), key);
        }
      }
    }
  }

  private String index() {
    Set<String> lines = new TreeSet<>();
    order.forEach(patch -> patch.header().lines().forEach(line -> lines.add(line.line())));
    StringBuilder text = new StringBuilder("# Patches in the order of submission\n\n| patch | fix "
      + "or feature | component | " + String.join(" | ", lines) + " |\n|---|---|---|"
      + "---|".repeat(lines.size()) + "\n");
    for (PatchFile patch : order) {
      PatchHeader header = patch.header();
      Map<String, String> known = new TreeMap<>();
      header.lines()
        .forEach(line -> known.put(line.line(), line.verdict() + ", " + line.evidence()));
      text.append("| [").append(patch.stem()).append("](").append(patch.stem()).append(".md) | ")
        .append(header.feature()).append(" | ").append(header.text(PatchHeader.COMPONENT))
        .append(" |");
      lines.forEach(line -> text.append(' ').append(known.getOrDefault(line, "")).append(" |"));
      text.append('\n');
    }
    return text.toString();
  }
}
