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
import dev.stratum.fork.base.GeneratedSources;
import dev.stratum.fork.series.CommitMessage;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.TreeMerge;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.ResetCommand.ResetType;
import org.eclipse.jgit.api.errors.GitAPIException;
import org.eclipse.jgit.dircache.DirCache;
import org.eclipse.jgit.dircache.DirCacheBuilder;
import org.eclipse.jgit.dircache.DirCacheEntry;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.RefUpdate;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.revwalk.RevCommit;

/**
 * Moves the series to another base, in a git work tree of its own. Every patch is tried, so that
 * one run tells all that has to be done; the first conflict is left in the work tree to be resolved
 * with git, and the next run continues after it.
 */
public final class Rebase implements AutoCloseable {

  /**
   * The outcome of one patch.
   * @param patch     the patch
   * @param shown     the path of the file with its edits, the patch or the variant for the base
   * @param kind      how it went
   * @param conflicts the files in conflict
   */
  public record Outcome(PatchFile patch, String shown, Kind kind,
    List<TreeMerge.Conflict> conflicts) {

    /** How it went. */
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

    @Override
    public String toString() {
      String line = String.format("%-8s %s", kind.name().toLowerCase(Locale.ROOT), shown);
      return conflicts.isEmpty()
        ? line
        : line + ": " + conflicts.stream().map(c -> c.path() + " " + c.reason())
          .collect(Collectors.joining(", "));
    }
  }

  /**
   * How the whole went.
   * @param outcomes one for each patch, in order
   * @param waiting  the patch whose conflict the work tree holds, {@code null} if there is none
   */
  public record Report(List<Outcome> outcomes, PatchFile waiting) {
  }

  private static final String STATE = "stratum.properties";
  private static final String TO = "to";
  private static final String BASE = "base";
  private static final String HANDLED = "handled";
  private static final String BRANCH = "rebase";

  private final Path folder;
  private final String to;
  private final Git git;
  private final GitStore store;

  /**
   * Opens or makes the work tree.
   * @param folder where
   * @param to     the version of the new base
   * @param time   the time of the commits
   */
  public Rebase(Path folder, String to, Instant time) throws IOException {
    this.folder = folder;
    this.to = to;
    git = WorkTrees.open(folder, BRANCH);
    store = new GitStore(git.getRepository(), time);
  }

  /**
   * Brings the patches over, going on where an earlier run stopped. For those after a patch in
   * conflict, that patch counts as applied with its own lines, so that each is told its own
   * conflicts only.
   * @param newBase  the files of the new base
   * @param modules  the modules that the new base has; edits in others are left out
   * @param history  the series on the present base
   * @param variants the variants for the new base
   */
  public Report run(SortedMap<String, byte[]> newBase, Set<String> modules, ForkHistory history,
    LineVariants variants) throws IOException {
    Properties state = state();
    ObjectId head = state.isEmpty() ? begin(newBase, state) : resume(state);
    Set<String> handled = new TreeSet<>(List.of(state.getProperty(HANDLED, "").split(" ")));
    Set<String> present = committed(state, head);
    SortedMap<String, byte[]> tree = store.readTree(head);
    List<Outcome> outcomes = new ArrayList<>();
    Outcome waiting = null;
    SortedMap<String, byte[]> conflicted = null;
    for (ForkHistory.Step step : history.steps()) {
      PatchFile patch = step.patch();
      String shown = variants.shown(patch);
      LineVariants.Source source = variants.source(patch);
      if (present.contains(patch.name())) {
        outcomes.add(new Outcome(patch, shown, Outcome.Kind.DONE, List.of()));
        continue;
      }
      if (source == LineVariants.Source.UPSTREAM) {
        outcomes.add(new Outcome(patch, shown, Outcome.Kind.UPSTREAM, List.of()));
        continue;
      }
      if (handled.contains(patch.name())) {
        outcomes.add(new Outcome(patch, shown, Outcome.Kind.DROPPED, List.of()));
        continue;
      }
      SortedMap<String, byte[]> next = new TreeMap<>(tree);
      TreeMerge merge = new TreeMerge(next, to, patch.stem());
      List<TreeMerge.Conflict> conflicts =
        merge.apply(published(variants.changes(step), modules, newBase));
      if (!conflicts.isEmpty()) {
        outcomes.add(new Outcome(patch, shown, Outcome.Kind.CONFLICT, conflicts));
        if (waiting == null) {
          waiting = outcomes.get(outcomes.size() - 1);
          conflicted = new TreeMap<>(next);
        }
        merge.settle();
        tree = next;
        continue;
      }
      boolean empty = FileChange.between(tree, next, Map.of()).isEmpty();
      Outcome.Kind kind =
        source == LineVariants.Source.VARIANT ? Outcome.Kind.VARIANT : Outcome.Kind.CLEAN;
      outcomes.add(new Outcome(patch, shown, empty ? Outcome.Kind.EMPTY : kind, conflicts));
      tree = next;
      if (waiting == null) {
        if (!empty) {
          head = store.commit(store.writeTree(next), List.of(head), CommitMessage.format(patch));
        }
        handled.add(patch.name());
      }
    }
    reset(head);
    if (waiting != null) {
      handled.add(waiting.patch().name());
      leave(waiting, conflicted, head);
    }
    state.setProperty(HANDLED, String.join(" ", handled).trim());
    save(state);
    return new Report(outcomes, waiting == null ? null : waiting.patch());
  }

  /** Leaves out the edits of modules, and of generated classes, that the new base does not have. */
  private static List<FileChange> published(List<FileChange> changes, Set<String> modules,
    SortedMap<String, byte[]> newBase) {
    return changes.stream().filter(change -> modules.contains(Modules.of(change.path()))
      && (change.oldPath() == null || !GeneratedSources.isPage(change.oldPath())
        || newBase.containsKey(change.oldPath())))
      .toList();
  }

  /** Returns the patches and sources as they are on the new base, after a run without conflict. */
  public Rebuild.Plan plan(byte[] oldSeries) throws IOException {
    return new Rebuild(store).plan(ObjectId.fromString(state().getProperty(BASE)),
      git.getRepository().resolve(Constants.HEAD), oldSeries);
  }

  private ObjectId begin(SortedMap<String, byte[]> newBase, Properties state) throws IOException {
    ObjectId base =
      store.commit(store.writeTree(newBase), List.of(), "Apache HBase " + to + "\n");
    state.setProperty(TO, to);
    state.setProperty(BASE, base.name());
    return base;
  }

  private ObjectId resume(Properties state) throws IOException {
    if (!to.equals(state.getProperty(TO))) {
      throw new ForkException("%s holds a rebase to %s; finish it, or delete the folder to begin "
        + "one to %s.", folder, state.getProperty(TO), to);
    }
    Repository repository = git.getRepository();
    ObjectId head = repository.resolve(Constants.HEAD);
    List<String> changes;
    try {
      changes = git.status().call().getUncommittedChanges().stream().sorted().limit(5).toList();
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
    if (!changes.isEmpty()) {
      throw new ForkException("%s still has an unfinished patch (%s); resolve it, then run git add "
        + "-A and git commit there, or delete the folder to begin again.", folder,
        String.join(", ", changes));
    }
    ObjectId base = ObjectId.fromString(state.getProperty(BASE));
    Rebuild.checkFinished(store.readTree(base), store.readTree(head));
    return head;
  }

  private Set<String> committed(Properties state, ObjectId head) throws IOException {
    ObjectId base = ObjectId.fromString(state.getProperty(BASE));
    Set<String> names = new TreeSet<>();
    for (RevCommit commit : new Rebuild(store).commits(base, head)) {
      names.add(CommitMessage.parse(commit.name(), commit.getFullMessage()).name());
    }
    return names;
  }

  private void reset(ObjectId head) throws IOException {
    try {
      RefUpdate update =
        git.getRepository().updateRef(Constants.R_HEADS + BRANCH);
      update.setNewObjectId(head);
      update.forceUpdate();
      git.getRepository().updateRef(Constants.HEAD).link(Constants.R_HEADS + BRANCH);
      git.reset().setMode(ResetType.HARD).setRef(head.name()).call();
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
  }

  /** Leaves the tree as {@code git cherry-pick} does when it stops. */
  private void leave(Outcome waiting, SortedMap<String, byte[]> conflicted, ObjectId head)
    throws IOException {
    Repository repository = git.getRepository();
    SortedMap<String, byte[]> clean = store.readTree(head);
    for (FileChange change : FileChange.between(clean, conflicted, Map.of())) {
      if (change.newPath() == null) {
        Files.deleteIfExists(folder.resolve(change.oldPath()));
      } else {
        Path file = folder.resolve(change.newPath());
        Files.createDirectories(file.getParent());
        Files.write(file, change.after());
      }
    }
    Map<String, TreeMerge.Conflict> conflicts = waiting.conflicts().stream()
      .collect(Collectors.toMap(TreeMerge.Conflict::path, c -> c, (a, b) -> a, TreeMap::new));
    TreeSet<String> paths = new TreeSet<>(conflicted.keySet());
    paths.addAll(conflicts.keySet());
    DirCache index = repository.lockDirCache();
    DirCacheBuilder builder = index.builder();
    for (String path : paths) {
      TreeMerge.Conflict conflict = conflicts.get(path);
      if (conflict == null) {
        builder.add(store.entry(path, DirCacheEntry.STAGE_0, conflicted.get(path)));
      } else {
        stage(builder, path, DirCacheEntry.STAGE_1, conflict.base());
        stage(builder, path, DirCacheEntry.STAGE_2, conflict.ours());
        stage(builder, path, DirCacheEntry.STAGE_3, conflict.theirs());
      }
    }
    store.flush();
    builder.commit();
    String message = CommitMessage.format(waiting.patch());
    ObjectId picked = store.commit(store.writeTree(conflicted), List.of(head), message);
    repository.writeMergeCommitMsg(message);
    repository.writeCherryPickHead(picked);
  }

  private void stage(DirCacheBuilder builder, String path, int stage, byte[] content)
    throws IOException {
    if (content != null) {
      builder.add(store.entry(path, stage, content));
    }
  }

  private Properties state() throws IOException {
    Properties state = new Properties();
    if (Files.exists(stateFile())) {
      try (Reader in = Files.newBufferedReader(stateFile(), StandardCharsets.UTF_8)) {
        state.load(in);
      }
    }
    return state;
  }

  private void save(Properties state) throws IOException {
    try (Writer out = Files.newBufferedWriter(stateFile(), StandardCharsets.UTF_8)) {
      state.store(out, "What fork:rebase last did");
    }
  }

  private Path stateFile() {
    return git.getRepository().getDirectory().toPath().resolve(STATE);
  }

  @Override
  public void close() {
    store.close();
    git.close();
  }
}
