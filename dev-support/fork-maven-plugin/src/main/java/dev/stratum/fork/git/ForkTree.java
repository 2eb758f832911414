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
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.eclipse.jgit.lib.ObjectId;

/**
 * The git work tree in which patches are edited: the base as one commit on the branch
 * {@code base}, and one commit for each patch on the branch {@code stratum}. It remembers which
 * commit the patches were last made from and what the repository's files were like then, so that
 * neither side's changes are lost.
 */
public final class ForkTree extends WorkTree {
  private static final String BRANCH = "stratum";
  private static final String TIP = "tip";
  /** A commit of the repository's files: patches, series and sources. */
  private static final String FILES = "files";

  /** Opens the work tree, making an empty one if there is none. */
  public ForkTree(Path folder, Instant time) throws IOException {
    super(folder, BRANCH, time);
  }

  /**
   * Stops if the tree has work that fork:rebuild has not written to patches/.
   * @param remedy what to do instead of rebuilding, as the end of a sentence
   */
  public void refuseToLoseWork(String remedy) throws IOException {
    if (head() == null) {
      return;
    }
    if (!head().equals(remembered(TIP))) {
      throw new ForkException("%s has commits that were never rebuilt into patches; run "
        + "fork:rebuild %s.", folder(), remedy);
    }
    List<String> changes = uncommitted(true);
    if (!changes.isEmpty()) {
      throw new ForkException("%s has changes that were never committed (%s); commit them and run "
        + "fork:rebuild %s.", folder(), String.join(", ", changes), remedy);
    }
  }

  /**
   * Makes the tree's commits from a history and checks the last one out. What was there is kept as
   * a branch {@code before-...} if it differs.
   * @param root     the repository whose files the history was made from
   */
  public void checkout(ForkHistory history, String baseName, Path root) throws IOException {
    ObjectId old = head();
    List<ObjectId> commits = store().commitHistory(history, baseName);
    if (old != null && !old.equals(remembered(TIP))) {
      branch("before-" + old.abbreviate(10).name(), old);
    }
    branch(BASE, commits.get(0));
    branch(BRANCH, commits.get(commits.size() - 1));
    checkOut(BRANCH, true);
    SortedMap<String, byte[]> files = new TreeMap<>();
    for (ForkHistory.Step step : history.steps()) {
      files.put(step.patch().shown(), step.patch().content());
      step.patch().header().adds().forEach(path -> files.put(path, step.after().get(path)));
    }
    if (Files.exists(root.resolve(Series.FILE))) {
      files.put(Series.FILE, Files.readAllBytes(root.resolve(Series.FILE)));
    }
    remember(commits.get(0), files);
  }

  private void remember(ObjectId base, SortedMap<String, byte[]> files) throws IOException {
    remember(BASE, base);
    remember(TIP, head());
    remember(FILES, store().commit(store().writeTree(files), List.of(),
      "What fork:checkout and fork:rebuild last saw\n", GitStore.STRATUM));
  }

  /**
   * Writes the tree's commits back to patches, series and sources. A file that changed there since
   * the checkout, and is not what is to be written, stops everything before the first write.
   * @return what was done, one line for each file that changed
   */
  public List<String> rebuild(Path root) throws IOException {
    List<String> changes = uncommitted(true);
    if (!changes.isEmpty()) {
      throw new ForkException("%s has changes that were never committed (%s); commit them first.",
        folder(), String.join(", ", changes));
    }
    ObjectId base = remembered(BASE);
    if (base == null || head() == null || remembered(FILES) == null) {
      throw new ForkException("%s was not made by fork:checkout; delete it and run fork:checkout.",
        folder());
    }
    SortedMap<String, byte[]> target = new Rebuild(store()).plan(base, head(), root);
    SortedMap<String, byte[]> seen = store().readTree(remembered(FILES));
    TreeSet<String> paths = new TreeSet<>(target.keySet());
    paths.addAll(seen.keySet());
    List<String> actions = new ArrayList<>();
    List<String> lost = new ArrayList<>();
    Map<String, byte[]> writes = new TreeMap<>();
    for (String path : paths) {
      Path file = root.resolve(path);
      byte[] here = Files.exists(file) ? Files.readAllBytes(file) : null;
      byte[] wanted = target.get(path);
      if (!Arrays.equals(here, wanted)) {
        writes.put(path, wanted);
        actions.add(String.format("%-8s %s",
          here == null ? "new" : wanted == null ? "deleted" : "changed", path));
        if (!Arrays.equals(here, seen.get(path))) {
          lost.add(path);
        }
      }
    }
    if (!lost.isEmpty()) {
      throw new ForkException("%s changed in the repository since fork:checkout and would be "
        + "overwritten from %s; nothing was written: put the change into a commit there, undo it "
        + "here, and run fork:rebuild again.", String.join(", ", lost), folder());
    }
    for (Map.Entry<String, byte[]> write : writes.entrySet()) {
      Path file = root.resolve(write.getKey());
      if (write.getValue() == null) {
        Files.delete(file);
      } else {
        Files.createDirectories(file.getParent());
        Files.write(file, write.getValue());
      }
    }
    remember(base, target);
    return actions;
  }
}
