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

import dev.stratum.fork.Digests;
import dev.stratum.fork.ForkException;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.ResetCommand.ResetType;
import org.eclipse.jgit.api.Status;
import org.eclipse.jgit.api.errors.GitAPIException;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.RefUpdate;

/**
 * The git work tree in which patches are edited: the base as one commit on the branch
 * {@code base}, and one commit for each patch on the branch {@code stratum}. It remembers which
 * commit the patches were last made from and what the repository's files were like then, so that
 * neither side's changes are lost.
 */
public final class ForkTree implements AutoCloseable {
  static final String BRANCH = "stratum";
  static final String BASE = "base";

  private static final String STATE = "stratum.properties";
  private static final String BASE_KEY = "base";
  private static final String TIP_KEY = "tip";
  private static final String FILE_KEY = "file ";

  private final Path folder;
  private final Git git;
  private final GitStore store;

  private ForkTree(Path folder, Git git, Instant time) {
    this.folder = folder;
    this.git = git;
    store = new GitStore(git.getRepository(), time);
  }

  /** Opens the work tree, making an empty one if there is none. */
  public static ForkTree open(Path folder, Instant time) throws IOException {
    return new ForkTree(folder, WorkTrees.open(folder, BRANCH), time);
  }

  public Path folder() {
    return folder;
  }

  public GitStore store() {
    return store;
  }

  Git git() {
    return git;
  }

  /** Returns the commit that is checked out, {@code null} if there is none yet. */
  public ObjectId head() throws IOException {
    return git.getRepository().resolve(Constants.HEAD);
  }

  /** Returns the commit of the base that the tree was made from, {@code null} if unknown. */
  public ObjectId base() throws IOException {
    String id = state().getProperty(BASE_KEY);
    return id == null ? null : ObjectId.fromString(id);
  }

  /** Returns paths with changes that no commit has, at most a few; empty if there are none. */
  public List<String> uncommitted() throws IOException {
    try {
      Status status = git.status().call();
      TreeSet<String> paths = new TreeSet<>(status.getUncommittedChanges());
      paths.addAll(status.getUntracked());
      return paths.stream().limit(5).toList();
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
  }

  /**
   * Stops if the tree has work that fork:rebuild has not written to patches/.
   * @param remedy what to do instead of rebuilding, as the end of a sentence
   */
  public void refuseToLoseWork(String remedy) throws IOException {
    if (head() == null) {
      return;
    }
    if (!head().name().equals(state().getProperty(TIP_KEY))) {
      throw new ForkException("%s has commits that were never rebuilt into patches; run "
        + "fork:rebuild %s.", folder, remedy);
    }
    List<String> changes = uncommitted();
    if (!changes.isEmpty()) {
      throw new ForkException("%s has changes that were never committed (%s); commit them and run "
        + "fork:rebuild %s.", folder, String.join(", ", changes), remedy);
    }
  }

  /**
   * Makes the tree's commits from a history and checks the last one out. What was there is kept as
   * a branch {@code before-...} if it differs.
   * @param history  the base and the patches
   * @param baseName the message of the base's commit
   * @param root     the repository whose files the history was made from
   */
  public void checkout(ForkHistory history, String baseName, Path root) throws IOException {
    ObjectId old = head();
    boolean dirty = old != null && !old.name().equals(state().getProperty(TIP_KEY));
    List<ObjectId> commits = store.commitHistory(history, baseName);
    ObjectId tip = commits.get(commits.size() - 1);
    if (dirty) {
      update(Constants.R_HEADS + "before-" + old.abbreviate(10).name(), old);
    }
    update(Constants.R_HEADS + BASE, commits.get(0));
    update(Constants.R_HEADS + BRANCH, tip);
    RefUpdate head = git.getRepository().updateRef(Constants.HEAD);
    head.link(Constants.R_HEADS + BRANCH);
    try {
      git.reset().setMode(ResetType.HARD).setRef(tip.name()).call();
      git.clean().setCleanDirectories(true).setForce(true).call();
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
    remember(commits.get(0), tip, repositoryFiles(history, root));
  }

  private static SortedMap<String, byte[]> repositoryFiles(ForkHistory history, Path root)
    throws IOException {
    SortedMap<String, byte[]> files = new TreeMap<>();
    for (ForkHistory.Step step : history.steps()) {
      files.put(step.patch().shown(), step.patch().content());
      for (String path : step.patch().header().adds()) {
        files.put(path, step.after().get(path));
      }
    }
    Path series = root.resolve(PatchFile.FOLDER + Series.FILE);
    if (Files.exists(series)) {
      files.put(PatchFile.FOLDER + Series.FILE, Files.readAllBytes(series));
    }
    return files;
  }

  private void update(String ref, ObjectId id) throws IOException {
    RefUpdate update = git.getRepository().updateRef(ref);
    update.setNewObjectId(id);
    update.forceUpdate();
  }

  /**
   * Writes patches, series and sources to the repository. A file that changed there since the
   * checkout, and is not what is to be written, stops everything before the first write.
   * @return what was done, one line for each file that changed
   */
  public List<String> writeBack(Rebuild.Plan plan, Path root) throws IOException {
    SortedMap<String, byte[]> target = plan.files();
    Properties state = state();
    TreeSet<String> paths = new TreeSet<>(target.keySet());
    state.stringPropertyNames().stream().filter(key -> key.startsWith(FILE_KEY))
      .forEach(key -> paths.add(key.substring(FILE_KEY.length())));
    List<String> actions = new ArrayList<>();
    List<String> lost = new ArrayList<>();
    Map<String, byte[]> writes = new TreeMap<>();
    for (String path : paths) {
      Path file = root.resolve(path);
      byte[] here = Files.exists(file) ? Files.readAllBytes(file) : null;
      byte[] wanted = target.get(path);
      if (Arrays.equals(here, wanted)) {
        continue;
      }
      String remembered = state.getProperty(FILE_KEY + path);
      String actual = here == null ? null : sum(here);
      if (actual == null ? remembered != null : !actual.equals(remembered)) {
        lost.add(path);
      }
      writes.put(path, wanted);
      actions.add((here == null ? "new      " : wanted == null ? "deleted  " : "changed  ") + path);
    }
    if (!lost.isEmpty()) {
      throw new ForkException("%s changed in the repository since fork:checkout and would be "
        + "overwritten from %s; nothing was written: put the change into a commit there, undo it "
        + "here, and run fork:rebuild again.", String.join(", ", lost), folder);
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
    remember(base(), head(), target);
    return actions;
  }

  private void remember(ObjectId base, ObjectId tip, SortedMap<String, byte[]> files)
    throws IOException {
    Properties state = new Properties();
    state.setProperty(BASE_KEY, base.name());
    state.setProperty(TIP_KEY, tip.name());
    files.forEach((path, content) -> state.setProperty(FILE_KEY + path, sum(content)));
    try (Writer out = Files.newBufferedWriter(stateFile(), StandardCharsets.UTF_8)) {
      state.store(out, "What fork:checkout and fork:rebuild last saw");
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

  private Path stateFile() {
    return git.getRepository().getDirectory().toPath().resolve(STATE);
  }

  private static String sum(byte[] content) {
    return Digests.sha256().add("", content).hex();
  }

  @Override
  public void close() {
    store.close();
    git.close();
  }
}
