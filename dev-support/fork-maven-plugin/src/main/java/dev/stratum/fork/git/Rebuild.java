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
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.PatchHeader;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.TreeMerge;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.eclipse.jgit.diff.DiffEntry;
import org.eclipse.jgit.diff.DiffEntry.ChangeType;
import org.eclipse.jgit.diff.DiffFormatter;
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

  private final GitStore store;

  public Rebuild(GitStore store) {
    this.store = store;
  }

  /**
   * Works out patches, series and sources; writes nothing.
   * @return content by repository path
   */
  public SortedMap<String, byte[]> plan(ObjectId base, ObjectId head, Path root)
    throws IOException {
    SortedMap<String, byte[]> baseTree = store.readTree(base);
    SortedMap<String, byte[]> tip = store.readTree(head);
    List<PatchFile> patches = new ArrayList<>();
    SortedMap<String, byte[]> sources = new TreeMap<>();
    Set<String> owned = new HashSet<>();
    List<RevCommit> commits = commits(base, head);
    for (RevCommit commit : commits) {
      PatchFile patch = patch(commit, baseTree.keySet(), owned, tip.keySet());
      for (int i = 0; i < patches.size(); i++) {
        if (patches.get(i).name().equals(patch.name())) {
          throw new ForkException("%s and %s both belong to %s; squash them (git rebase -i), or "
            + "give one another 'Patch:' line.", title(commits.get(i)), title(commit),
            patch.name());
        }
      }
      patches.add(patch);
      patch.header().adds().forEach(path -> sources.put(path, tip.get(path)));
    }
    checkFinished(baseTree, tip);
    Path old = root.resolve(Series.FILE);
    byte[] series = Series.rewrite(Files.exists(old) ? Files.readAllBytes(old) : null,
      patches.stream().map(PatchFile::name).toList());
    SortedMap<String, byte[]> again = new TreeMap<>(baseTree);
    patches.forEach(patch -> patch.apply(null, again));
    again.putAll(sources);
    List<FileChange> different = FileChange.between(again, tip);
    if (!different.isEmpty()) {
      throw new ForkException("The patches made from the commits do not give back %s; nothing was "
        + "written, and this is a defect of the plugin.",
        different.stream().map(FileChange::path).collect(Collectors.joining(", ")));
    }
    patches.forEach(patch -> sources.put(patch.shown(), patch.content()));
    sources.put(Series.FILE, series);
    return sources;
  }

  /** Stops if a file that is not the base's has a line that opens a conflict. */
  static void checkFinished(SortedMap<String, byte[]> base, SortedMap<String, byte[]> tip) {
    tip.forEach((path, content) -> {
      if (content != base.get(path) && TreeMerge.isUnfinished(content)) {
        throw new ForkException("%s has a conflict that is not resolved (a line '%s'); correct it "
          + "and amend the commit.", path, TreeMerge.MARKER.trim());
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

  /**
   * Returns the patch of a commit.
   * @param base  the paths of the base
   * @param owned the sources of earlier commits, to which those of this one are added
   * @param tip   the paths of the last commit
   */
  private PatchFile patch(RevCommit commit, Set<String> base, Set<String> owned, Set<String> tip)
    throws IOException {
    CommitMessage message = CommitMessage.parse(title(commit), commit.getFullMessage());
    List<String> named = new ArrayList<>(message.header().adds());
    named.retainAll(owned);
    Set<String> adds = new TreeSet<>();
    ByteArrayOutputStream diff = new ByteArrayOutputStream();
    try (DiffFormatter formatter = store.formatter(diff, 0)) {
      for (DiffEntry entry : formatter.scan(commit.getParent(0), commit)) {
        String path = entry.getChangeType() == ChangeType.DELETE
          ? entry.getOldPath()
          : entry.getNewPath();
        checkPath(commit, path);
        if (base.contains(path)) {
          int start = diff.size();
          formatter.format(entry);
          formatter.flush();
          if (entry.getChangeType() == ChangeType.DELETE) {
            shorten(diff, start);
          }
        } else if (entry.getChangeType() == ChangeType.ADD && tip.contains(path)
          && owned.add(path)) {
          if (path.matches(".*[\\s,].*")) {
            throw new ForkException("%s adds '%s', but 'Adds:' takes no name with a space or a "
              + "comma; rename it.", title(commit), path);
          }
          adds.add(path);
        }
      }
    }
    List<String> paths = new ArrayList<>(message.header().adds());
    paths.removeIf(path -> !adds.contains(path) && !named.contains(path));
    adds.stream().filter(path -> !paths.contains(path)).forEach(paths::add);
    PatchHeader header = message.header().withAdds(paths);
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.writeBytes((header.text() + "\n").getBytes(StandardCharsets.UTF_8));
    content.writeBytes(diff.toByteArray());
    return PatchFile.parse(message.name(), content.toByteArray());
  }

  private static void checkPath(RevCommit commit, String path) {
    if (Series.problem(path) != null) {
      throw new ForkException("%s touches %s, which %s; take it out of the commit.", title(commit),
        path, Series.problem(path));
    }
  }

  /** Removes the content of a deleted file from the end of a diff. */
  private static void shorten(ByteArrayOutputStream diff, int start) {
    byte[] all = diff.toByteArray();
    String section = new String(all, start, all.length - start, StandardCharsets.ISO_8859_1);
    int content = section.indexOf("\n--- ");
    diff.reset();
    diff.write(all, 0, content < 0 ? all.length : start + content + 1);
  }
}
