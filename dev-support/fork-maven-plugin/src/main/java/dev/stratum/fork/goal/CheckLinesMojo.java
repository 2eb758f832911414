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
import dev.stratum.fork.check.LineCheck;
import dev.stratum.fork.check.StateCheck;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
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
import java.util.TreeSet;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Tells how each patch fares on other lines of HBase and writes the table into
 * {@code patches/README.md}, and what is in conflict, and where, into {@code patches/LINES.md}.
 * What applies is compiled where all of the line's modules are published. A patch for one line only
 * is kept as {@code patches/lines/VERSION/NAME.patch}.
 */
@Mojo(name = "check-lines", aggregator = true, threadSafe = true)
public final class CheckLinesMojo extends AbstractSeriesMojo {
  private static final String BEGIN = "<!-- fork:check-lines writes what follows -->\n";
  private static final String END = "<!-- as far as this -->\n";

  /** The versions to try. */
  @Parameter(property = "fork.lines",
      defaultValue = "2.5.13-hadoop3,2.6.1-hadoop3,2.6.6,3.0.0-beta-1,3.0.0")
  private List<String> lines;

  /** Whether to write the tables into patches/, or to target/check-lines alone. */
  @Parameter(property = "fork.write", defaultValue = "true")
  private boolean write;

  /** What was found out about one line. */
  record Found(String line, Set<String> modules, Map<String, LineCheck.Outcome> outcomes,
    Map<String, String> compiled) {
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
    String table = table(series, found);
    String details = details(series, found);
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("table.md"), table);
    Files.writeString(folder.resolve("LINES.md"), details);
    if (write) {
      Path readme = root().resolve(PatchFile.FOLDER + "README.md");
      Files.writeString(readme, replace(Files.readString(readme), table));
      Files.writeString(root().resolve(PatchFile.FOLDER + "LINES.md"), details);
    }
  }

  private Found check(String line, Series series, ForkHistory history, Path folder)
    throws IOException {
    LineSources sources = line(line);
    SortedMap<String, byte[]> tree = sources.tree();
    Set<String> modules = sources.modules();
    try (GitStore store = GitStore.inMemory(time())) {
      LineCheck check = new LineCheck(store, history, tree, modules,
        LineVariants.read(root(), series, line, tree));
      List<LineCheck.Outcome> outcomes = check.outcomes();
      Map<String, String> compiled = new HashMap<>();
      if (modules.containsAll(Modules.ALL)) {
        try (StateCheck states = new StateCheck(tree, folder.resolve(line), classPath(line),
          sources.release(), null)) {
          compiled.putAll(check.compile(outcomes, states));
        } catch (ForkException e) {
          getLog().warn(line + " is not compiled: " + e.getMessage());
        }
      }
      Map<String, LineCheck.Outcome> byName = new HashMap<>();
      outcomes.forEach(outcome -> byName.put(outcome.patch().name(), outcome));
      Map<LineCheck.Kind, Integer> counts = new TreeMap<>();
      outcomes.forEach(outcome -> counts.merge(outcome.kind(), 1, Integer::sum));
      getLog().info(line + ": " + counts + ", "
        + compiled.values().stream().filter("compiles"::equals).count() + " compile");
      return new Found(line, modules, byName, compiled);
    }
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
        text.append(' ').append(outcome.kind());
        if (outcome.kind() == LineCheck.Kind.CONFLICTS) {
          text.append(" (").append(outcome.details().size()).append(')');
        } else if (compiled.startsWith("does not")) {
          text.append(", does not compile");
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
    StringBuilder text = new StringBuilder("# What does not apply to other lines\n\nWritten by "
      + "`mvn fork:check-lines`. The numbers are lines of the other line's file, each the place "
      + "of one\nconflict; the table is in [README.md](README.md#on-other-lines).\n");
    for (Found one : found) {
      text.append("\n## ").append(one.line).append("\n\nPublished: ")
        .append(String.join(", ", one.modules)).append(".\n\n");
      int before = text.length();
      for (PatchFile patch : series.patches()) {
        LineCheck.Outcome outcome = one.outcomes.get(patch.name());
        String compiled = one.compiled.getOrDefault(patch.name(), "compiles");
        if (outcome.kind() == LineCheck.Kind.CONFLICTS) {
          text.append("- ").append(patch.stem()).append(": conflicts\n");
          outcome.details().forEach(place -> text.append("  - `").append(place).append("`\n"));
        } else if (!compiled.equals("compiles")) {
          text.append("- ").append(patch.stem()).append(": ")
            .append(compiled.replace('\n', ' ')).append('\n');
        }
      }
      if (text.length() == before) {
        text.append("Nothing.\n");
      }
    }
    return text.toString();
  }

  /** Returns the guide with another table. */
  public static String replace(String guide, String table) {
    int begin = guide.indexOf(BEGIN);
    int end = guide.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new ForkException("patches/README.md lacks the lines %s and %s; add them where the "
        + "table is to stand.", BEGIN.trim(), END.trim());
    }
    return guide.substring(0, begin + BEGIN.length()) + "\n" + table + "\n" + guide.substring(end);
  }
}
