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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.base.PublishedClassPath;
import dev.stratum.fork.check.LineCheck;
import dev.stratum.fork.check.StateCheck;
import dev.stratum.fork.git.Committer;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.UpstreamEdits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
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
public final class CheckLinesMojo extends AbstractSeriesMojo {
  /** The versions to try. */
  @Parameter(property = "fork.lines",
      defaultValue = "2.5.13-hadoop3,2.6.1-hadoop3,2.6.4,2.6.6,3.0.0-beta-1,3.0.0")
  private List<String> lines;

  /** What was found out about one line. */
  record Found(String line, Set<String> modules, Map<String, LineCheck.Outcome> outcomes,
    Map<String, String> compiled, String classPath) {
  }

  @Override
  void run() throws IOException {
    Series series = Series.read(root());
    ForkHistory history = ForkHistory.of(baseTree(), series, root());
    Path folder = root().resolve("target").resolve("check-lines");
    List<Found> found = new ArrayList<>();
    for (String line : lines) {
      found.add(check(line, series, history, folder));
    }
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("table.md"), table(series, found));
    Files.writeString(folder.resolve("conflicts.md"), details(series, found));
    getLog().info("The table is in " + root().relativize(folder));
  }

  private Found check(String line, Series series, ForkHistory history, Path folder)
    throws IOException {
    LineSources sources = line(line);
    SortedMap<String, byte[]> tree = sources.filled(history.base());
    Set<String> modules = sources.modules();
    LineVariants variants =
      LineVariants.read(root(), series, sources.version(), sources.tree());
    try (GitStore store = GitStore.inMemory(time())) {
      LineCheck check = new LineCheck(store, history, tree, modules, variants);
      List<LineCheck.Outcome> outcomes = check.outcomes();
      LineExport export = new LineExport(store, series, history, sources, variants,
        UpstreamEdits.NONE, new Committer(GitStore.AUTHOR, GitStore.MAIL), time());
      Map<String, String> compiled = new HashMap<>();
      int exported = exports(export, outcomes, compiled);
      List<String> others = new ArrayList<>(sources.substitutes());
      others.add(baseVersion());
      PublishedClassPath.Filled filled = published().filled(server(), sources.version(), others);
      try (StateCheck states = new StateCheck(tree, folder.resolve(line), filled.jars(),
        sources.release(), null)) {
        check.compile(outcomes.stream().filter(one -> !compiled.containsKey(one.patch().name()))
          .toList(), states).forEach(compiled::putIfAbsent);
      }
      Map<String, LineCheck.Outcome> byName = new HashMap<>();
      outcomes.forEach(outcome -> byName.put(outcome.patch().name(), outcome));
      Map<LineCheck.Kind, Integer> counts = new TreeMap<>();
      outcomes.forEach(outcome -> counts.merge(outcome.kind(), 1, Integer::sum));
      getLog().info(line + ": " + counts + ", " + exported + " exported, "
        + compiled.values().stream().filter("compiles"::equals).count() + " compile");
      return new Found(line, modules, byName, compiled,
        filled.note(line));
    }
  }

  /**
   * Exports each patch that applies, which applies the export to the line's plain files.
   * @param waits is given what cannot be exported because of what it needs
   * @return how many were exported
   */
  private static int exports(LineExport export, List<LineCheck.Outcome> outcomes,
    Map<String, String> waits) throws IOException {
    int exported = 0;
    for (LineCheck.Outcome outcome : outcomes) {
      if (outcome.kind() != LineCheck.Kind.CONFLICTS && outcome.kind() != LineCheck.Kind.UPSTREAM
        && outcome.kind() != LineCheck.Kind.UNKNOWN) {
        try {
          export.export(outcome.patch());
          exported++;
        } catch (ForkException e) {
          waits.put(outcome.patch().name(), "waits: " + e.getMessage());
        }
      }
    }
    return exported;
  }

  static String table(Series series, List<Found> found) {
    StringBuilder text = new StringBuilder("| patch |");
    found.forEach(one -> text.append(' ').append(one.line).append(" |"));
    text.append("\n|---|").append("---|".repeat(found.size())).append('\n');
    for (PatchFile patch : series.patches()) {
      text.append("| ").append(patch.stem()).append(" |");
      for (Found one : found) {
        LineCheck.Outcome outcome = one.outcomes.get(patch.name());
        String compiled = one.compiled.getOrDefault(patch.name(), "");
        text.append(' ').append(outcome.shown());
        if (outcome.kind() == LineCheck.Kind.CONFLICTS
          || outcome.kind() == LineCheck.Kind.UNKNOWN) {
          text.append(" |");
          continue;
        }
        if (compiled.startsWith("does not")) {
          text.append(", does not compile");
        } else if (compiled.startsWith("cannot")) {
          text.append(", not compiled");
        } else if (compiled.startsWith("waits") || compiled.startsWith("overlaps")) {
          text.append(", waits");
        } else if (!compiled.isEmpty()) {
          text.append(", ").append(compiled);
        }
        text.append(" |");
      }
      text.append('\n');
    }
    return text.toString();
  }

  static String details(Series series, List<Found> found) {
    StringBuilder text = new StringBuilder("# What does not apply to other lines\n\nThe numbers "
      + "are lines of the other line's file, each the place of one conflict.\n");
    for (Found one : found) {
      text.append("\n## ").append(one.line).append("\n\nPublished: ")
        .append(String.join(", ", one.modules)).append(".\n\n");
      if (!one.classPath.isEmpty()) {
        text.append(one.classPath).append("\n\n");
      }
      int before = text.length();
      for (PatchFile patch : series.patches()) {
        LineCheck.Outcome outcome = one.outcomes.get(patch.name());
        String compiled = one.compiled.getOrDefault(patch.name(), "compiles");
        if (outcome.kind() == LineCheck.Kind.CONFLICTS) {
          text.append("- ").append(patch.stem()).append(": conflicts\n");
          outcome.details().forEach(place -> text.append("  - `").append(place).append("`\n"));
        } else if (!outcome.untried().isEmpty() || !compiled.equals("compiles")) {
          text.append("- ").append(patch.stem()).append(": ")
            .append(compiled.replace('\n', ' ')).append('\n');
          outcome.untried().forEach(path -> text.append("  - not published: `").append(path)
            .append("`\n"));
        }
      }
      if (text.length() == before) {
        text.append("Nothing.\n");
      }
    }
    return text.toString();
  }
}
