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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.Transfer;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.PatchFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Tells how the patches fare on another line of HBase, each on the line's files with the patches
 * before it; see {@link Transfer}.
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
   * @param untried the files that the patch edits and that are not published for the line
   */
  public record Outcome(PatchFile patch, Kind kind, List<String> details, List<String> untried) {

    /** Returns the outcome in some words for a table. */
    public String shown() {
      if (kind == Kind.CONFLICTS) {
        return kind + " (" + details.size() + ")";
      }
      boolean part = !untried.isEmpty() && (kind == Kind.APPLIES || kind == Kind.CHANGES);
      return part ? kind.toString().replaceFirst("applies", "applies in part") : kind.toString();
    }
  }

  /** What {@link #compile} says of an export that compiles. */
  public static final String COMPILES = "compiles";

  private final GitStore store;
  private final ForkHistory history;
  private final LineSources line;
  private final LineVariants variants;

  /**
   * @param store    where to keep objects
   * @param history  the patches on the base
   * @param line     the line's files
   * @param variants the variants for this line
   */
  public LineCheck(GitStore store, ForkHistory history, LineSources line, LineVariants variants) {
    this.store = store;
    this.history = history;
    this.line = line;
    this.variants = variants;
  }

  /** Tries all patches. */
  public List<Outcome> outcomes() throws IOException {
    Transfer transfer = new Transfer(line.tree(), line.modules(), variants, "line", line.tree());
    List<Outcome> outcomes = new ArrayList<>();
    for (ForkHistory.Step step : history.steps()) {
      Transfer.Outcome outcome = transfer.next(step);
      boolean kept = outcome.source() == LineVariants.Source.VARIANT;
      outcomes.add(new Outcome(step.patch(), kind(outcome), outcome.conflicts().stream()
        .flatMap(conflict -> kept
          ? List.of(conflict.path() + " of the variant that is kept").stream()
          : conflict.places().stream())
        .toList(), outcome.untried()));
    }
    return outcomes;
  }

  private Kind kind(Transfer.Outcome outcome) throws IOException {
    if (outcome.source() == LineVariants.Source.UPSTREAM) {
      return Kind.UPSTREAM;
    }
    if (!outcome.conflicts().isEmpty()) {
      return Kind.CONFLICTS;
    }
    if (outcome.source() == LineVariants.Source.VARIANT) {
      return Kind.VARIANT;
    }
    List<FileChange> edits =
      outcome.tried().stream().filter(change -> change.before() != null).toList();
    List<FileChange> open = edits.stream().filter(change -> !Arrays
      .equals(outcome.before().get(change.path()), outcome.after().get(change.path()))).toList();
    if (open.isEmpty() && !edits.isEmpty()) {
      return Kind.UPSTREAM;
    }
    if (edits.isEmpty() && !outcome.untried().isEmpty()) {
      return Kind.UNKNOWN;
    }
    for (FileChange change : open) {
      if (!fits(change, outcome.before().get(change.path()))) {
        return Kind.CHANGES;
      }
    }
    return Kind.APPLIES;
  }

  /** Returns whether the change applies to {@code ours} as a patch with lines of context. */
  private boolean fits(FileChange change, byte[] ours) throws IOException {
    if (change.after() == null) {
      return Arrays.equals(change.before(), ours);
    }
    SortedMap<String, byte[]> tree = new TreeMap<>();
    tree.put(change.path(), ours);
    return store.apply(store.diff(change), tree) == null;
  }

  /** Returns whether the export of a patch compiles, and after a colon the reason if not. */
  public static String compile(PatchFile patch, LineExport export, StateCheck states)
    throws IOException {
    LineExport.Exported exported;
    try {
      exported = export.export(patch);
    } catch (ForkException e) {
      return "waits: " + e.getMessage();
    }
    List<String> errors = states.check(exported.own().tested(), List.of()).errors();
    if (errors.isEmpty()) {
      return COMPILES;
    }
    boolean without = states.check(exported.untouched(), List.of()).errors().isEmpty();
    return (without ? "does not compile: " : "not compiled: ") + errors.get(0);
  }
}
