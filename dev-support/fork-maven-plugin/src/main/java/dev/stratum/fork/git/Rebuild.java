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
import dev.stratum.fork.series.CommitMessage;
import dev.stratum.fork.series.ContentMerge;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.PatchHeader;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.SeriesFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.eclipse.jgit.diff.DiffEntry;
import org.eclipse.jgit.diff.DiffEntry.ChangeType;
import org.eclipse.jgit.lib.AnyObjectId;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.revwalk.RevCommit;
import org.eclipse.jgit.revwalk.RevWalk;

/**
 * Writes commits on the base as patches and source files. A commit's changes of files of the
 * base are its patch, with zero lines of context; a file that the base does not have is a
 * source file of this repository and belongs to the first commit that adds it, and to those later
 * ones whose header names it.
 */
public final class Rebuild {

  /**
   * The outcome.
   * @param patches the patches in order
   * @param series  the content of patches/series
   * @param sources the source files by repository path
   */
  public record Plan(List<PatchFile> patches, byte[] series, SortedMap<String, byte[]> sources) {

    /** Returns everything as content by repository path. */
    public SortedMap<String, byte[]> files() {
      SortedMap<String, byte[]> files = new TreeMap<>(sources);
      patches.forEach(patch -> files.put(patch.shown(), patch.content()));
      files.put(PatchFile.FOLDER + Series.FILE, series);
      return files;
    }
  }

  private final GitStore store;
  private final DiffWriter diffs;

  public Rebuild(GitStore store) {
    this.store = store;
    diffs = new DiffWriter(store, 0);
  }

  /**
   * Works out patches and sources; writes nothing.
   * @param base      the commit of the base
   * @param head      the last commit
   * @param oldSeries the content of patches/series so far, {@code null} if there is none
   */
  public Plan plan(ObjectId base, ObjectId head, byte[] oldSeries) throws IOException {
    SortedMap<String, byte[]> baseTree = store.readTree(base);
    SortedMap<String, byte[]> tip = store.readTree(head);
    List<Draft> drafts = new ArrayList<>();
    // What descends from the base: its own paths, and those that commits rename them to.
    Set<String> upstream = new HashSet<>(baseTree.keySet());
    Set<String> owned = new HashSet<>();
    for (RevCommit commit : commits(base, head)) {
      Draft draft = new Draft(commit);
      draft.read(baseTree.keySet(), upstream, owned, tip.keySet());
      for (Draft other : drafts) {
        if (other.message.name().equals(draft.message.name())) {
          throw new ForkException("%s and %s both belong to %s; squash them (git rebase -i), or "
            + "give one another 'Patch:' line.", other.title(), draft.title(),
            draft.message.name());
        }
      }
      drafts.add(draft);
    }
    checkFinished(baseTree, tip);
    List<PatchFile> patches = new ArrayList<>();
    SortedMap<String, byte[]> sources = new TreeMap<>();
    for (Draft draft : drafts) {
      PatchFile patch = draft.patch();
      patches.add(patch);
      patch.header().adds().forEach(path -> sources.put(path, tip.get(path)));
    }
    byte[] series =
      SeriesFile.rewrite(oldSeries, patches.stream().map(PatchFile::name).toList());
    verify(baseTree, patches, sources, tip);
    return new Plan(patches, series, sources);
  }

  /** Stops if a file that is not the base's has a line that opens a conflict. */
  static void checkFinished(SortedMap<String, byte[]> base,
    SortedMap<String, byte[]> tip) {
    tip.forEach((path, content) -> {
      if (content != base.get(path) && ContentMerge.isUnfinished(content)) {
        throw new ForkException("%s has a conflict that is not resolved (a line '%s'); correct it "
          + "and amend the commit.", path, ContentMerge.MARKER.trim());
      }
    });
  }

  /** Returns the commits after {@code base} up to {@code head}, the first one first. */
  List<RevCommit> commits(ObjectId base, ObjectId head) throws IOException {
    List<RevCommit> commits = new ArrayList<>();
    try (RevWalk walk = new RevWalk(store.reader())) {
      RevCommit commit = walk.parseCommit(head);
      while (!commit.equals((AnyObjectId) base)) {
        if (commit.getParentCount() > 1) {
          throw new ForkException("%s is a merge; a series is a line of commits, so rebase instead "
            + "(git rebase base).", title(commit));
        }
        if (commit.getParentCount() == 0) {
          throw new ForkException("The history does not begin with the base's commit %s; rebase "
            + "your commits onto the branch 'base'.", base.abbreviate(10).name());
        }
        commits.add(0, commit);
        commit = walk.parseCommit(commit.getParent(0));
      }
    }
    return commits;
  }

  private static String title(RevCommit commit) {
    return "Commit " + commit.abbreviate(10).name() + " '" + commit.getShortMessage() + "'";
  }

  private static void verify(SortedMap<String, byte[]> base, List<PatchFile> patches,
    SortedMap<String, byte[]> sources, SortedMap<String, byte[]> tip) {
    SortedMap<String, byte[]> tree = new TreeMap<>(base);
    patches.forEach(patch -> patch.apply(null, tree));
    tree.putAll(sources);
    Set<String> different = new TreeSet<>(tip.keySet());
    different.addAll(tree.keySet());
    different.removeIf(path -> Arrays.equals(tree.get(path), tip.get(path)));
    if (!different.isEmpty()) {
      throw new ForkException("The patches made from the commits do not give back %s; nothing was "
        + "written, and this is a defect of the plugin.", String.join(", ", different));
    }
  }

  /** One commit on its way to a patch. */
  private final class Draft {
    private final RevCommit commit;
    private final CommitMessage message;
    private final ByteArrayOutputStream diff = new ByteArrayOutputStream();
    private final Set<String> adds = new TreeSet<>();
    /** Sources of earlier commits that the header names as well. */
    private final Set<String> shared = new TreeSet<>();

    Draft(RevCommit commit) {
      this.commit = commit;
      message = CommitMessage.parse(title(), commit.getFullMessage());
    }

    String title() {
      return Rebuild.title(commit);
    }

    void read(Set<String> base, Set<String> upstream, Set<String> owned, Set<String> tip)
      throws IOException {
      for (DiffEntry entry : diffs.entries(commit.getParent(0), commit, rename ->
        upstream.contains(rename.getOldPath()) && !base.contains(rename.getNewPath()))) {
        read(entry, base, upstream, owned, tip);
      }
      shared.addAll(message.header().adds());
      shared.removeAll(adds);
      shared.retainAll(owned);
    }

    private void read(DiffEntry entry, Set<String> base, Set<String> upstream, Set<String> owned,
      Set<String> tip) throws IOException {
      ChangeType type = entry.getChangeType();
      String oldPath = type == ChangeType.ADD ? null : entry.getOldPath();
      String newPath = type == ChangeType.DELETE ? null : entry.getNewPath();
      checkPath(newPath != null ? newPath : oldPath);
      boolean fromUpstream = oldPath != null && upstream.contains(oldPath);
      if (type == ChangeType.RENAME) {
        diff.writeBytes(diffs.section(entry));
        upstream.remove(oldPath);
        upstream.add(newPath);
      } else if (type == ChangeType.DELETE && fromUpstream) {
        diff.writeBytes(diffs.shortDeletion(entry));
        upstream.remove(oldPath);
      } else if (type == ChangeType.MODIFY && fromUpstream) {
        diff.writeBytes(diffs.section(entry));
      } else if (type == ChangeType.ADD && base.contains(newPath)) {
        diff.writeBytes(diffs.section(entry));
        upstream.add(newPath);
      } else if (type == ChangeType.ADD && tip.contains(newPath) && owned.add(newPath)) {
        if (newPath.matches(".*[\\s,].*")) {
          throw new ForkException("%s adds '%s', but 'Adds:' takes no name with a space or a "
            + "comma; rename it.", title(), newPath);
        }
        adds.add(newPath);
      }
    }

    private void checkPath(String path) {
      if (!Modules.contain(path) || !path.startsWith(Modules.of(path) + "/src/")) {
        throw new ForkException("%s touches %s, which is in the src/ of none of the modules %s; "
          + "take it out of the commit.", title(), path, String.join(", ", Modules.ALL));
      }
    }

    PatchFile patch() {
      List<String> paths = new ArrayList<>(message.header().adds());
      paths.removeIf(path -> !adds.contains(path) && !shared.contains(path));
      adds.stream().filter(path -> !paths.contains(path)).forEach(paths::add);
      PatchHeader header = message.header().withAdds(paths);
      ByteArrayOutputStream content = new ByteArrayOutputStream();
      content.writeBytes((header.text() + "\n").getBytes(StandardCharsets.UTF_8));
      content.writeBytes(diff.toByteArray());
      return PatchFile.parse(message.name(), content.toByteArray());
    }
  }
}
