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
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.SortedMap;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.ResetCommand.ResetType;
import org.eclipse.jgit.api.errors.GitAPIException;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.RefUpdate;
import org.eclipse.jgit.lib.Repository;

/**
 * A git repository with the published files of one version of HBase as the commit of branch
 * {@code base}, and a branch on it for each exported patch. A branch that was changed by hand is
 * not overwritten.
 */
public final class LineRepository implements AutoCloseable {
  private static final String BASE = "base";
  /** What a branch was when it was written here last. */
  private static final String WRITTEN = "refs/exported/";

  private final Path folder;
  private final Committer author;
  private final Instant time;
  private final Git git;
  private final GitStore store;
  private final ObjectId base;

  /**
   * Opens or makes the repository.
   * @param folder  where
   * @param version the version
   * @param files   the version's files
   * @param author  whom the commits are from
   * @param begin   the time of the commit that has the files
   * @param time    the time of the other commits
   */
  public LineRepository(Path folder, String version, SortedMap<String, byte[]> files,
    Committer author, Instant begin, Instant time) throws IOException {
    this.folder = folder;
    this.author = author;
    this.time = time;
    git = WorkTrees.open(folder, BASE);
    store = new GitStore(git.getRepository(), time);
    boolean isNew = git.getRepository().resolve(Constants.HEAD) == null;
    refuseToLoseChanges();
    base = store.commit(store.writeTree(files), List.of(),
      "The published sources of Apache HBase " + version + "\n", author.at(begin));
    update(Constants.R_HEADS + BASE, base);
    if (isNew) {
      // An export that is refused writes no branch that could be checked out.
      checkOut(BASE);
    }
  }

  private void refuseToLoseChanges() throws IOException {
    if (git.getRepository().resolve(Constants.HEAD) == null) {
      return;
    }
    try {
      List<String> changes = git.status().call().getUncommittedChanges().stream().sorted().toList();
      if (!changes.isEmpty()) {
        throw new ForkException("%s has changes that were not committed (%s); commit them there, "
          + "or delete the folder.", folder, changes.get(0));
      }
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
  }

  /**
   * Writes the branch of a patch.
   * @return the branch's name
   * @throws ForkException if the branch has commits that are not of an earlier export
   */
  public String write(LineExport.Exported exported) throws IOException {
    String name = exported.branch();
    Repository repository = git.getRepository();
    ObjectId there = repository.resolve(Constants.R_HEADS + name);
    if (there != null && !there.equals(repository.resolve(WRITTEN + name))) {
      throw new ForkException("The branch %s in %s was changed since it was exported; run git "
        + "branch -m %s ANOTHER-NAME there to keep it.", name, folder, name);
    }
    ObjectId tip = base;
    for (LineExport.Commit commit : exported.commits()) {
      tip = store.commit(store.writeTree(commit.after()), List.of(tip), commit.message(),
        author.at(time));
    }
    update(Constants.R_HEADS + name, tip);
    update(WRITTEN + name, tip);
    return name;
  }

  /** Makes the work tree that of a branch. */
  public void checkOut(String branch) throws IOException {
    try {
      git.getRepository().updateRef(Constants.HEAD).link(Constants.R_HEADS + branch);
      git.reset().setMode(ResetType.HARD).setRef(Constants.R_HEADS + branch).call();
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
  }

  private void update(String name, ObjectId id) throws IOException {
    RefUpdate update = git.getRepository().updateRef(name);
    update.setNewObjectId(id);
    update.forceUpdate();
  }

  @Override
  public void close() {
    store.close();
    git.close();
  }
}
