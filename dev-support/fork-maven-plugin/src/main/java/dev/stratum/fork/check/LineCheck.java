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
package dev.stratum.fork.check;

import dev.stratum.fork.base.GeneratedSources;
import dev.stratum.fork.git.DiffWriter;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.series.ContentMerge;
import dev.stratum.fork.series.ContextApplier;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.TreeMerge;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.eclipse.jgit.diff.DiffEntry;

/**
 * Tells how the patches fare on another line of HBase, each on the line's files with the patches
 * before it. A patch in conflict counts as applied for those after it, with its own lines where the
 * sides disagree, so that each is told its own conflicts and none that it inherits.
 */
public final class LineCheck {

  /** How one patch fares. */
  public enum Kind {
    /** Its lines of context are there, as {@code git am} wants them, if at other line numbers. */
    APPLIES("applies"),
    /** It merges three ways, as with {@code git am -3}. */
    CHANGES("applies with changes"),
    /** A variant for the line is kept. */
    VARIANT("variant kept"),
    /** The line has all of the edits, or needs none: see {@link LineVariants.Source#UPSTREAM}. */
    UPSTREAM("already upstream"),
    /** It edits only what is not published for this line: a module, or generated classes. */
    UNKNOWN("not published"),
    CONFLICTS("conflicts");

    private final String shown;

    Kind(String shown) {
      this.shown = shown;
    }

    @Override
    public String toString() {
      return shown;
    }
  }

  /**
   * What became of one patch.
   * @param details each place in conflict, as {@code path:line} of the line's file
   * @param untried the files that the patch edits and that are not published for the line, because
   *                their module is not or because they are generated and the line has others
   */
  public record Outcome(PatchFile patch, Kind kind, List<String> details, List<String> untried) {
    Outcome(PatchFile patch, Kind kind, List<String> details) {
      this(patch, kind, details, List.of());
    }

    /** Returns the outcome in some words for a table. */
    public String shown() {
      if (kind == Kind.CONFLICTS) {
        return kind + " (" + details.size() + ")";
      }
      boolean part = !untried.isEmpty() && (kind == Kind.APPLIES || kind == Kind.CHANGES);
      return part ? kind.toString().replaceFirst("applies", "applies in part") : kind.toString();
    }
  }

  private final GitStore store;
  private final ForkHistory history;
  private final SortedMap<String, byte[]> line;
  private final Set<String> modules;
  private final LineVariants variants;

  /**
   * @param store    where to keep objects
   * @param history  the patches on the base
   * @param line     the line's files
   * @param modules  the modules that {@code line} has
   * @param variants the variants for this line
   */
  public LineCheck(GitStore store, ForkHistory history, SortedMap<String, byte[]> line,
    Set<String> modules, LineVariants variants) {
    this.store = store;
    this.history = history;
    this.line = line;
    this.modules = modules;
    this.variants = variants;
  }

  /** Tries all patches. */
  public List<Outcome> outcomes() throws IOException {
    SortedMap<String, byte[]> tree = new TreeMap<>(line);
    List<Outcome> outcomes = new ArrayList<>();
    for (ForkHistory.Step step : history.steps()) {
      outcomes.add(switch (variants.source(step.patch())) {
        case UPSTREAM -> new Outcome(step.patch(), Kind.UPSTREAM, List.of());
        case VARIANT -> applyVariant(step, tree);
        case PATCH -> apply(step, tree);
      });
    }
    return outcomes;
  }

  private Outcome applyVariant(ForkHistory.Step step, SortedMap<String, byte[]> tree) {
    PatchFile patch = step.patch();
    SortedMap<String, byte[]> next = new TreeMap<>(tree);
    List<FileChange> published = new ArrayList<>();
    List<String> untried = new ArrayList<>();
    for (FileChange change : variants.changes(step)) {
      if (modules.contains(Modules.of(change.path())) && !isMissingPage(change)) {
        published.add(change);
      } else if (change.oldPath() != null) {
        untried.add(change.path());
      }
    }
    List<TreeMerge.Conflict> conflicts = new TreeMerge(next, "line", "variant").apply(published);
    if (!conflicts.isEmpty()) {
      return new Outcome(patch, Kind.CONFLICTS, conflicts.stream()
        .map(conflict -> conflict.path() + " of the variant that is kept").toList(), untried);
    }
    tree.putAll(next);
    tree.keySet().retainAll(next.keySet());
    return new Outcome(patch, Kind.VARIANT, List.of(), untried);
  }

  /** Returns whether the change is that of a generated class which the line does not have. */
  private boolean isMissingPage(FileChange change) {
    return GeneratedSources.isPage(change.path()) && !line.containsKey(change.path());
  }

  private Outcome apply(ForkHistory.Step step, SortedMap<String, byte[]> tree)
    throws IOException {
    Set<Kind> kinds = new TreeSet<>();
    List<String> details = new ArrayList<>();
    List<String> untried = new ArrayList<>();
    int edits = 0;
    for (FileChange change : step.changes()) {
      edits += change.oldPath() == null ? 0 : 1;
      Kind kind = modules.contains(Modules.of(change.path()))
        ? apply(change, tree, details)
        : Kind.UNKNOWN;
      if (change.oldPath() != null && kind == Kind.UNKNOWN) {
        untried.add(change.path());
      } else if (change.oldPath() != null || kind == Kind.CONFLICTS) {
        kinds.add(kind);
      }
    }
    Kind kind;
    if (kinds.contains(Kind.CONFLICTS)) {
      kind = Kind.CONFLICTS;
    } else if (kinds.contains(Kind.CHANGES)) {
      kind = Kind.CHANGES;
    } else if (kinds.contains(Kind.APPLIES) || edits == 0) {
      kind = Kind.APPLIES;
    } else {
      kind = kinds.contains(Kind.UPSTREAM) ? Kind.UPSTREAM : Kind.UNKNOWN;
    }
    return new Outcome(step.patch(), kind, details, untried);
  }

  private Kind apply(FileChange change, SortedMap<String, byte[]> tree, List<String> details)
    throws IOException {
    byte[] ours = change.oldPath() == null ? null : tree.get(change.oldPath());
    if (ours == null && change.oldPath() != null && GeneratedSources.isPage(change.oldPath())) {
      return Kind.UNKNOWN;
    }
    if (ours != null && change.after() != null && fits(change, ours)) {
      tree.remove(change.oldPath());
      tree.put(change.newPath(), ContentMerge.preferTheirs(change.before(), ours, change.after()));
      return Kind.APPLIES;
    }
    List<TreeMerge.Conflict> conflicts = new TreeMerge(tree, "line", "patch")
      .apply(List.of(change));
    if (conflicts.isEmpty()) {
      boolean there = ours != null && change.newPath() != null
        && Arrays.equals(ours, tree.get(change.newPath()));
      return there ? Kind.UPSTREAM : Kind.CHANGES;
    }
    String reason = conflicts.get(0).reason();
    if (ours == null || change.after() == null) {
      details.add(change.path() + " (" + reason + ")");
      if (ours == null && change.oldPath() != null) {
        tree.remove(change.newPath());
      }
      return Kind.CONFLICTS;
    }
    for (int number : ContentMerge.conflicts(change.before(), ours, change.after())) {
      details.add(change.path() + ":" + number);
    }
    tree.put(change.newPath(), ContentMerge.preferTheirs(change.before(), ours, change.after()));
    return Kind.CONFLICTS;
  }

  /** Returns whether the change applies to {@code ours} as a patch with lines of context. */
  private boolean fits(FileChange change, byte[] ours) throws IOException {
    DiffWriter diffs = new DiffWriter(store, DiffWriter.CONTEXT);
    List<DiffEntry> entries = diffs.entries(
      store.writeTree(new TreeMap<>(Map.of(change.oldPath(), change.before()))),
      store.writeTree(new TreeMap<>(Map.of(change.newPath(), change.after()))), rename -> true);
    SortedMap<String, byte[]> tree = new TreeMap<>(Map.of(change.oldPath(), ours));
    for (DiffEntry entry : entries) {
      if (ContextApplier.apply("", diffs.section(entry), tree) != null) {
        return false;
      }
    }
    return true;
  }

  /**
   * Compiles the patches that apply, all together, and if that fails the halves of them one after
   * the other, down to the patches that do not compile. Those are left out, as is what needs
   * something that was left out.
   * @param outcomes of {@link #outcomes()}
   * @param check    what compiles
   * @return what to say of a patch, by its name
   */
  public Map<String, String> compile(List<Outcome> outcomes, StateCheck check)
    throws IOException {
    Compilation compilation = new Compilation(check);
    compilation.compile(outcomes.stream()
      .filter(outcome -> variants.source(outcome.patch()) != LineVariants.Source.UPSTREAM)
      .toList());
    return compilation.said;
  }

  /** What was compiled as yet and what was left out. */
  private final class Compilation {
    private final Series series =
      new Series(history.steps().stream().map(ForkHistory.Step::patch).toList());
    private final StateCheck check;
    private final Map<String, String> said = new HashMap<>();
    private Set<PatchFile> left = new LinkedHashSet<>();
    private SortedMap<String, byte[]> tree = new TreeMap<>(line);

    Compilation(StateCheck check) {
      this.check = check;
    }

    private List<String> errors(SortedMap<String, byte[]> state) throws IOException {
      return check.check(state, List.of()).errors();
    }

    void compile(List<Outcome> part) throws IOException {
      Set<PatchFile> leftNow = new LinkedHashSet<>(left);
      SortedMap<String, byte[]> next = new TreeMap<>(tree);
      List<PatchFile> taken = new ArrayList<>();
      for (Outcome outcome : part) {
        PatchFile patch = outcome.patch();
        Set<PatchFile> missing = new LinkedHashSet<>(series.closure(patch));
        missing.retainAll(leftNow);
        if (outcome.kind() == Kind.CONFLICTS) {
          leftNow.add(patch);
        } else if (!missing.isEmpty()) {
          leftNow.add(patch);
          said.put(patch.name(), "waits for "
            + missing.stream().map(PatchFile::stem).collect(Collectors.joining(", ")));
        } else if (!take(outcome, next)) {
          leftNow.add(patch);
          said.put(patch.name(), "overlaps what was left out");
        } else {
          taken.add(patch);
        }
      }
      if (taken.isEmpty()) {
        left = leftNow;
        return;
      }
      List<String> errors = errors(next);
      if (errors.isEmpty()) {
        taken.forEach(patch -> said.put(patch.name(), "compiles"));
        tree = next;
        left = leftNow;
      } else if (taken.size() == 1) {
        said.put(taken.get(0).name(),
          (compilesWithout(next) ? "does not compile: " : "cannot be compiled: ") + errors.get(0));
        left = leftNow;
        left.add(taken.get(0));
      } else {
        int half = part.indexOf(part.stream()
          .filter(outcome -> outcome.patch().equals(taken.get(taken.size() / 2))).findFirst()
          .orElseThrow());
        compile(part.subList(0, half));
        compile(part.subList(half, part.size()));
      }
    }

    /** Returns whether the files that a state edits compile without its edits. */
    private boolean compilesWithout(SortedMap<String, byte[]> next) throws IOException {
      SortedMap<String, byte[]> touched = new TreeMap<>(tree);
      for (FileChange change : FileChange.between(tree, next, Map.of())) {
        if (change.before() != null && change.path().endsWith(".java")) {
          byte[] same = Arrays.copyOf(change.before(), change.before().length + 1);
          same[same.length - 1] = '\n';
          touched.put(change.path(), same);
        }
      }
      return errors(touched).isEmpty();
    }

    private boolean take(Outcome outcome, SortedMap<String, byte[]> next) {
      PatchFile patch = outcome.patch();
      SortedMap<String, byte[]> after = new TreeMap<>(next);
      boolean taken = new TreeMerge(after, "line", patch.stem())
        .apply(variants.changes(step(patch)).stream()
          .filter(change -> !isMissingPage(change)).toList()).isEmpty();
      if (taken) {
        next.clear();
        next.putAll(after);
      }
      return taken;
    }
  }

  private ForkHistory.Step step(PatchFile patch) {
    return history.steps().stream().filter(step -> step.patch().equals(patch)).findFirst()
      .orElseThrow();
  }
}
