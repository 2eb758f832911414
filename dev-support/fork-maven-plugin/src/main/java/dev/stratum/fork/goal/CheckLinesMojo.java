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
import dev.stratum.fork.check.LineCheck;
import dev.stratum.fork.check.StateCheck;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.UpstreamEdits;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Tells how each patch fares on other lines of HBase. Writes a table to
 * {@code target/check-lines/table.md}, and what is in conflict, and where, to
 * {@code target/check-lines/conflicts.md}. What applies is exported as fork:export does for the
 * line, and compiled, with jars of other versions for those that are not published. A patch for one
 * line only is kept as {@code patches/lines/VERSION/NAME.patch}.
 */
@Mojo(name = "check-lines", aggregator = true, threadSafe = true)
public final class CheckLinesMojo extends AbstractForkMojo {
  /** What is not exported. */
  private static final Set<LineCheck.Kind> LEFT_OUT = Set.of(LineCheck.Kind.CONFLICTS,
    LineCheck.Kind.UPSTREAM, LineCheck.Kind.UNKNOWN);

  /** The versions to try. */
  @Parameter(property = "fork.lines",
      defaultValue = "2.5.13-hadoop3,2.6.1-hadoop3,2.6.4,2.6.6,3.0.0-beta-1,3.0.0")
  private List<String> lines;

  @Override
  void run() throws IOException {
    Series series = Series.read(root());
    ForkHistory history = history(series);
    Path folder = target("check-lines");
    // A row for each patch.
    Map<String, StringBuilder> rows = new TreeMap<>();
    series.patches().forEach(
      patch -> rows.put(patch.name(), new StringBuilder("| " + patch.stem() + " |")));
    StringBuilder table = new StringBuilder("| patch |");
    StringBuilder details = new StringBuilder("# What does not apply to other lines\n\nThe numbers "
      + "are lines of the other line's file, each the place of one conflict.\n");
    for (String line : lines) {
      table.append(' ').append(line).append(" |");
      details.append("\n## ").append(line).append("\n\n");
      check(line, series, history, folder.resolve(line), rows, details);
    }
    table.append("\n|---|").append("---|".repeat(lines.size())).append('\n');
    series.patches().forEach(patch -> table.append(rows.get(patch.name())).append('\n'));
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("table.md"), table);
    Files.writeString(folder.resolve("conflicts.md"), details);
    getLog().info("The table is in " + root().relativize(folder));
  }

  private void check(String line, Series series, ForkHistory history, Path folder,
    Map<String, StringBuilder> rows, StringBuilder details) throws IOException {
    LineSources sources = line(line);
    LineVariants variants =
      LineVariants.read(root(), series, sources.version(), sources.tree());
    Map<String, Integer> counts = new TreeMap<>();
    try (GitStore store = GitStore.inMemory(time())) {
      LineExport export = new LineExport(store, series, history, sources, variants,
        UpstreamEdits.NONE, GitStore.STRATUM, time());
      Published.ClassPath classPath = classPath(sources.versions());
      details.append("Published: ").append(String.join(", ", sources.modules())).append(".\n\n")
        .append(classPath.note()).append(classPath.note().isEmpty() ? "" : "\n\n");
      int before = details.length();
      try (StateCheck states = new StateCheck(export.plain(), folder, classPath.jars(),
        sources.release(), null)) {
        for (LineCheck.Outcome outcome
          : new LineCheck(store, history, sources, variants).outcomes()) {
          String compiled =
            LEFT_OUT.contains(outcome.kind())
            ? ""
            : LineCheck.compile(outcome.patch(), export, states);
          counts.merge(outcome.kind().toString(), 1, Integer::sum);
          counts.merge(LineCheck.COMPILES, compiled.equals(LineCheck.COMPILES) ? 1 : 0, Integer::sum);
          rows.get(outcome.patch().name()).append(' ').append(outcome.shown())
            .append(compiled.isEmpty() ? "" : ", " + compiled.split(":")[0]).append(" |");
          tell(outcome, compiled, details);
        }
      }
      details.append(details.length() == before ? "Nothing.\n" : "");
    }
    getLog().info(line + ": " + counts);
  }

  private static void tell(LineCheck.Outcome outcome, String compiled, StringBuilder details) {
    boolean conflicts = outcome.kind() == LineCheck.Kind.CONFLICTS;
    String said = conflicts ? "conflicts" : compiled.isEmpty() ? outcome.shown() : compiled;
    if (conflicts || !outcome.untried().isEmpty()
      || !compiled.isEmpty() && !compiled.equals(LineCheck.COMPILES)) {
      details.append("- ").append(outcome.patch().stem()).append(": ")
        .append(said.replace('\n', ' ')).append('\n');
      outcome.details().forEach(place -> details.append("  - `").append(place).append("`\n"));
      outcome.untried()
        .forEach(path -> details.append("  - not published: `").append(path).append("`\n"));
    }
  }
}
