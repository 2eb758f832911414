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
 * with git, and the next run continues after it.
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

  /**
   * Opens or makes the work tree.
   * @param folder where
   * @param line   the new base
   * @param time   the time of the commits
   */
  public Rebase(Path folder, LineSources line, Instant time) throws IOException {
    super(folder, BRANCH, time);
    this.line = line;
  }

  /**
   * Brings the patches over, going on where an earlier run stopped; see {@link Transfer}.
   * @param history  the series on the present base
   * @param variants the variants for the new base
   * @return one outcome for each patch, in order; the work tree holds the first conflict
   */
  public List<Outcome> run(ForkHistory history, LineVariants variants) throws IOException {
    StoredConfig config = repository().getConfig();
    ObjectId head = remembered(BASE) == null ? begin(config) : resume(config);
    Set<String> handled = new TreeSet<>(List.of(config.getStringList(SECTION, null, HANDLED)));
    Set<String> present = committed(head);
    Transfer transfer =
      new Transfer(line.tree(), line.modules(), variants, line.version(), store().readTree(head));
    List<Outcome> outcomes = new ArrayList<>();
    Transfer.Outcome waiting = null;
    for (ForkHistory.Step step : history.steps()) {
      PatchFile patch = step.patch();
      LineVariants.Source source = variants.source(patch);
      Kind kind = present.contains(patch.name()) ? Kind.DONE
        : source == LineVariants.Source.UPSTREAM ? Kind.UPSTREAM
        : handled.contains(patch.name()) ? Kind.DROPPED
        : source == LineVariants.Source.VARIANT ? Kind.VARIANT
        : Kind.CLEAN;
      List<TreeMerge.Conflict> conflicts = List.of();
      if (kind == Kind.VARIANT || kind == Kind.CLEAN) {
        Transfer.Outcome outcome = transfer.next(step);
        conflicts = outcome.conflicts();
        kind = !conflicts.isEmpty() ? Kind.CONFLICT : outcome.isEmpty() ? Kind.EMPTY : kind;
        if (waiting == null) {
          handled.add(patch.name());
          if (kind == Kind.CONFLICT) {
            waiting = outcome;
          } else if (kind != Kind.EMPTY) {
            head = store().commit(store().writeTree(outcome.after()), List.of(head),
              CommitMessage.format(patch), GitStore.STRATUM);
          }
        }
      }
      outcomes.add(new Outcome(variants.shown(patch), kind, conflicts));
    }
    branch(BRANCH, head);
    checkOut(BRANCH, false);
    if (waiting != null) {
      leave(waiting, head);
    }
    config.setStringList(SECTION, null, HANDLED, List.copyOf(handled));
    config.save();
    return outcomes;
  }

  /** Returns the patches and sources as they are on the new base, after a run without conflict. */
  public Rebuild.Plan plan(Path root) throws IOException {
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

  /** Leaves the tree as {@code git cherry-pick} does when it stops. */
  private void leave(Transfer.Outcome waiting, ObjectId head) throws IOException {
    SortedMap<String, byte[]> conflicted = waiting.after();
    for (FileChange change : FileChange.between(waiting.before(), conflicted)) {
      Path file = folder().resolve(change.path());
      if (change.after() == null) {
        Files.deleteIfExists(file);
      } else {
        Files.createDirectories(file.getParent());
        Files.write(file, change.after());
      }
    }
    Map<String, TreeMerge.Conflict> conflicts = new TreeMap<>();
    waiting.conflicts().forEach(conflict -> conflicts.put(conflict.path(), conflict));
    TreeSet<String> paths = new TreeSet<>(conflicted.keySet());
    paths.addAll(conflicts.keySet());
    DirCacheBuilder builder = repository().lockDirCache().builder();
    for (String path : paths) {
      TreeMerge.Conflict conflict = conflicts.get(path);
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
    String message = CommitMessage.format(waiting.patch());
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
