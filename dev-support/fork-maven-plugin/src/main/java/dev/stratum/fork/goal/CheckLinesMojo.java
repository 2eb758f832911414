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
package dev.stratum.fork.goal;

import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.base.Published;
import dev.stratum.fork.check.StateCheck;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.UpstreamEdits;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Tells whether fork:export can make each patch for other lines of HBase, and whether the export
 * compiles, with jars of other versions for those that are not published. Writes a table to
 * {@code target/check-lines/table.md}, and what does not apply or compile, and where, to
 * {@code target/check-lines/details.md}.
 */
@Mojo(name = "check-lines", aggregator = true, threadSafe = true)
public final class CheckLinesMojo extends AbstractForkMojo {
  /** The versions to try. */
  @Parameter(property = "fork.lines",
      defaultValue = "2.5.13-hadoop3,2.6.1-hadoop3,2.6.4,2.6.6,3.0.0-beta-1,3.0.0")
  private List<String> lines;

  @Override
  void run() throws IOException {
    ForkHistory history = history(Series.read(root()));
    Path folder = target("check-lines");
    Map<PatchFile, StringBuilder> rows = new TreeMap<>(PatchFile.BY_NAME);
    StringBuilder table = new StringBuilder("| patch |");
    StringBuilder details = new StringBuilder("# What does not apply to other lines\n");
    for (String line : lines) {
      table.append(' ').append(line).append(" |");
      check(line, history, folder.resolve(line), rows, details);
    }
    table.append("\n|---|").append("---|".repeat(lines.size())).append('\n');
    history.series().patches().forEach(patch -> table.append("| ").append(patch.stem())
      .append(" |").append(rows.get(patch)).append('\n'));
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("table.md"), table);
    Files.writeString(folder.resolve("details.md"), details);
    getLog().info("The table is in " + root().relativize(folder));
  }

  private void check(String line, ForkHistory history, Path folder,
    Map<PatchFile, StringBuilder> rows, StringBuilder details) throws IOException {
    LineSources sources = line(line);
    LineVariants variants =
      LineVariants.read(root(), history.series(), sources.version(), sources.tree());
    Published.ClassPath classPath = classPath(sources.versions());
    details.append("\n## ").append(line).append("\n\nPublished: ")
      .append(String.join(", ", sources.modules())).append(". ").append(classPath.note())
      .append("\n\n");
    Map<String, Integer> counts = new TreeMap<>();
    try (GitStore store = GitStore.inMemory(time())) {
      LineExport export = new LineExport(store, history, sources, variants, UpstreamEdits.NONE,
        GitStore.STRATUM, time());
      try (StateCheck states = new StateCheck(export.plain(), folder, classPath.jars(),
        sources.release(), null)) {
        for (PatchFile patch : history.series().patches()) {
          LineExport.Exported exported = export.export(patch);
          String said = said(exported, states);
          String word = said.split(": ")[0];
          boolean variant = variants.source(patch) == LineVariants.Source.VARIANT;
          rows.computeIfAbsent(patch, any -> new StringBuilder()).append(' ').append(word)
            .append(variant ? ", variant |" : " |");
          counts.merge(word, 1, Integer::sum);
          if (!said.equals(word)) {
            details.append("- ").append(patch.stem()).append(": ").append(said).append('\n');
          }
        }
      }
    }
    getLog().info(line + ": " + counts);
  }

  /** Returns one or two words for the table, and the reason after a colon if there is one. */
  static String said(LineExport.Exported exported, StateCheck states) throws IOException {
    switch (exported.status()) {
      case FORK_ONLY:
        return "fork only";
      case UPSTREAM:
        return "already upstream";
      case EMPTY:
        return "nothing to do";
      case CONFLICTS:
        return "conflicts: " + exported.why();
      case WAITS:
        return "waits: " + exported.why();
      default:
        List<String> errors = states.check(exported.own().tested(), List.of()).errors();
        if (errors.isEmpty()) {
          return "compiles";
        }
        boolean without = states.check(exported.untouched(), List.of()).errors().isEmpty();
        return (without ? "does not compile: " : "not compiled: ") + errors.get(0);
    }
  }
}
