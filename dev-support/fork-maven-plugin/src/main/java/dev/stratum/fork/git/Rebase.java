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
package dev.stratum.fork.git;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.series.CommitMessage;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.TreeMerge;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.eclipse.jgit.dircache.DirCacheBuilder;
import org.eclipse.jgit.dircache.DirCacheEntry;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.StoredConfig;
import org.eclipse.jgit.revwalk.RevCommit;

/**
 * Moves the series to another base, in a git work tree of its own. Every patch is tried, so that
 * one run tells all that has to be done; the first conflict is left in the work tree to be resolved
 * with git, and the next run continues after it. A patch in conflict counts as applied for those
 * after it, with its own lines where the sides disagree, so that each is told its own conflicts and
 * none that it inherits.
 */
public final class Rebase extends WorkTree {

  /** How it went with one patch. */
  public enum Kind {
    /** Already in the work tree, from an earlier run. */
    DONE,
    /** Dealt with in an earlier run that left no commit for it. */
    DROPPED,
    CLEAN,
    /** The edits of the variant for the new base were merged. */
    VARIANT,
    /** The new base has all of it. */
    EMPTY,
    /** Skipped: see {@link LineVariants.Source#UPSTREAM}. */
    UPSTREAM,
    CONFLICT
  }

  /**
   * The outcome of one patch.
   * @param shown     the path of the file with its edits, the patch or the variant for the base
   * @param kind      how it went
   * @param conflicts the files in conflict
   */
  public record Outcome(String shown, Kind kind, List<TreeMerge.Conflict> conflicts) {
    @Override
    public String toString() {
      return String.format("%-8s %s", kind.name().toLowerCase(Locale.ROOT), shown)
        + (conflicts.isEmpty() ? "" : ": ")
        + conflicts.stream().map(Object::toString).collect(Collectors.joining(", "));
    }
  }

  private static final String BRANCH = "rebase";
  /** The section of the repository's settings in which this is remembered. */
  private static final String SECTION = "stratum";
  private static final String TO = "to";
  private static final String HANDLED = "handled";

  private final LineSources line;

  /** Opens or makes the work tree for moving to the base {@code line}. */
  public Rebase(Path folder, LineSources line, Instant time) throws IOException {
    super(folder, BRANCH, time);
    this.line = line;
  }

  /**
   * Brings the patches over, going on where an earlier run stopped.
   * @return one outcome for each patch, in order; the work tree holds the first conflict
   */
  public List<Outcome> run(ForkHistory history, LineVariants variants) throws IOException {
    StoredConfig config = repository().getConfig();
    ObjectId head = remembered(BASE) == null ? begin(config) : resume(config);
    Set<String> handled = new TreeSet<>(List.of(config.getStringList(SECTION, null, HANDLED)));
    Set<String> present = committed(head);
    SortedMap<String, byte[]> tree = store().readTree(head);
    List<Outcome> outcomes = new ArrayList<>();
    boolean waiting = false;
    for (ForkHistory.Step step : history.steps()) {
      PatchFile patch = step.patch();
      LineVariants.Source source = variants.source(patch);
      Kind kind = present.contains(patch.name()) ? Kind.DONE
        : source == LineVariants.Source.UPSTREAM ? Kind.UPSTREAM
        : handled.contains(patch.name()) ? Kind.DROPPED
        : source == LineVariants.Source.VARIANT ? Kind.VARIANT
        : Kind.CLEAN;
      if (kind != Kind.VARIANT && kind != Kind.CLEAN) {
        outcomes.add(new Outcome(variants.shown(patch), kind, List.of()));
        continue;
      }
      SortedMap<String, byte[]> after = new TreeMap<>(tree);
      TreeMerge merge = new TreeMerge(after, line.version(), patch.stem());
      List<TreeMerge.Conflict> conflicts = merge.apply(variants.changes(step).stream()
        .filter(this::isPublished).toList());
      kind = !conflicts.isEmpty() ? Kind.CONFLICT
        : FileChange.between(tree, after).isEmpty() ? Kind.EMPTY
        : kind;
      if (!waiting) {
        handled.add(patch.name());
        if (kind == Kind.CONFLICT) {
          waiting = true;
          checkOut(head);
          leave(patch, conflicts, tree, new TreeMap<>(after), head);
        } else if (kind != Kind.EMPTY) {
          head = store().commit(store().writeTree(after), List.of(head),
            CommitMessage.format(patch), GitStore.STRATUM);
        }
      }
      merge.settle();
      tree = after;
      outcomes.add(new Outcome(variants.shown(patch), kind, conflicts));
    }
    if (!waiting) {
      checkOut(head);
    }
    config.setStringList(SECTION, null, HANDLED, List.copyOf(handled));
    config.save();
    return outcomes;
  }

  /** Returns whether the new base has the module, and the generated class, that is changed. */
  private boolean isPublished(FileChange change) {
    return line.modules().contains(Modules.of(change.path())) && (change.before() == null
      || !LineSources.isPage(change.path()) || line.tree().containsKey(change.path()));
  }

  /** Returns the patches and sources as they are on the new base, after a run without conflict. */
  public SortedMap<String, byte[]> plan(Path root) throws IOException {
    return new Rebuild(store()).plan(remembered(BASE), head(), root);
  }

  private ObjectId begin(StoredConfig config) throws IOException {
    ObjectId base = store().commit(store().writeTree(line.tree()), List.of(),
      "Apache HBase " + line.version() + "\n", GitStore.STRATUM);
    config.setString(SECTION, null, TO, line.version());
    config.save();
    remember(BASE, base);
    return base;
  }

  private ObjectId resume(StoredConfig config) throws IOException {
    String to = config.getString(SECTION, null, TO);
    if (!line.version().equals(to)) {
      throw new ForkException("%s holds a rebase to %s; finish it, or delete the folder to begin "
        + "one to %s.", folder(), to, line.version());
    }
    List<String> changes = uncommitted(false);
    if (!changes.isEmpty()) {
      throw new ForkException("%s still has an unfinished patch (%s); resolve it, then run git add "
        + "-A and git commit there, or delete the folder to begin again.", folder(),
        String.join(", ", changes));
    }
    Rebuild.checkFinished(store().readTree(remembered(BASE)), store().readTree(head()));
    return head();
  }

  private Set<String> committed(ObjectId head) throws IOException {
    Set<String> names = new TreeSet<>();
    for (RevCommit commit : new Rebuild(store()).commits(remembered(BASE), head)) {
      names.add(CommitMessage.parse(commit.name(), commit.getFullMessage()).name());
    }
    return names;
  }

  private void checkOut(ObjectId head) throws IOException {
    branch(BRANCH, head);
    checkOut(BRANCH, false);
  }

  /** Leaves the tree as {@code git cherry-pick} does when it stops. */
  private void leave(PatchFile patch, List<TreeMerge.Conflict> conflicts,
    SortedMap<String, byte[]> before, SortedMap<String, byte[]> conflicted, ObjectId head)
    throws IOException {
    for (FileChange change : FileChange.between(before, conflicted)) {
      Path file = folder().resolve(change.path());
      if (change.after() == null) {
        Files.deleteIfExists(file);
      } else {
        Files.createDirectories(file.getParent());
        Files.write(file, change.after());
      }
    }
    Map<String, TreeMerge.Conflict> byPath = new TreeMap<>();
    conflicts.forEach(conflict -> byPath.put(conflict.path(), conflict));
    TreeSet<String> paths = new TreeSet<>(conflicted.keySet());
    paths.addAll(byPath.keySet());
    DirCacheBuilder builder = repository().lockDirCache().builder();
    for (String path : paths) {
      TreeMerge.Conflict conflict = byPath.get(path);
      if (conflict == null) {
        builder.add(store().entry(path, DirCacheEntry.STAGE_0, conflicted.get(path)));
      } else {
        stage(builder, path, DirCacheEntry.STAGE_1, conflict.change().before());
        stage(builder, path, DirCacheEntry.STAGE_2, conflict.ours());
        stage(builder, path, DirCacheEntry.STAGE_3, conflict.change().after());
      }
    }
    store().flush();
    builder.commit();
    String message = CommitMessage.format(patch);
    repository().writeMergeCommitMsg(message);
    repository().writeCherryPickHead(store().commit(store().writeTree(conflicted), List.of(head),
      message, GitStore.STRATUM));
  }

  private void stage(DirCacheBuilder builder, String path, int stage, byte[] content)
    throws IOException {
    if (content != null) {
      builder.add(store().entry(path, stage, content));
    }
  }
}
