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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.ResetCommand.ResetType;
import org.eclipse.jgit.api.Status;
import org.eclipse.jgit.api.errors.GitAPIException;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.RefUpdate;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.lib.StoredConfig;

/** A git work tree below target/. No file in it is converted, whatever the user's settings are. */
abstract class WorkTree implements AutoCloseable {
  /** The branch that has the files that patches are made on. */
  static final String BASE = "base";
  /** The refs in which a goal remembers commits. */
  private static final String REMEMBERED = "refs/stratum/";
  private static final int SHOWN = 5;

  private final Path folder;
  private final Git git;
  private final GitStore store;

  /** Opens the work tree in {@code folder}, making an empty one if there is none. */
  WorkTree(Path folder, String branch, Instant time) throws IOException {
    this.folder = folder;
    try {
      git = Files.isDirectory(folder.resolve(".git"))
        ? Git.open(folder.toFile())
        : Git.init().setDirectory(folder.toFile()).setInitialBranch(branch).call();
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
    StoredConfig config = repository().getConfig();
    config.setString("core", null, "autocrlf", "false");
    config.setString("core", null, "fileMode", "false");
    config.save();
    Path attributes = repository().getDirectory().toPath().resolve("info/attributes");
    Files.createDirectories(attributes.getParent());
    Files.writeString(attributes, "* -text\n");
    store = new GitStore(repository(), time);
  }

  /** Returns where it is. */
  public final Path folder() {
    return folder;
  }

  /** Returns the objects of the repository. */
  public final GitStore store() {
    return store;
  }

  final Repository repository() {
    return git.getRepository();
  }

  /** Returns the commit that is checked out, {@code null} if there is none yet. */
  public final ObjectId head() throws IOException {
    return repository().resolve(Constants.HEAD);
  }

  /**
   * Returns paths with changes that no commit has, at most a few; empty if there are none.
   * @param untracked whether to look for new files too
   */
  final List<String> uncommitted(boolean untracked) throws IOException {
    try {
      Status status = git.status().call();
      TreeSet<String> paths = new TreeSet<>(status.getUncommittedChanges());
      paths.addAll(untracked ? status.getUntracked() : List.of());
      return paths.stream().limit(SHOWN).toList();
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
  }

  /** Returns the commit that is remembered under a name, {@code null} for none. */
  final ObjectId remembered(String name) throws IOException {
    return repository().resolve(REMEMBERED + name);
  }

  final void remember(String name, ObjectId id) throws IOException {
    update(REMEMBERED + name, id);
  }

  /** Returns the tip of a branch, {@code null} if there is no such branch. */
  final ObjectId tip(String branch) throws IOException {
    return repository().resolve(Constants.R_HEADS + branch);
  }

  final void branch(String name, ObjectId id) throws IOException {
    update(Constants.R_HEADS + name, id);
  }

  private void update(String ref, ObjectId id) throws IOException {
    RefUpdate update = repository().updateRef(ref);
    update.setNewObjectId(id);
    update.forceUpdate();
  }

  /**
   * Makes the work tree that of a branch.
   * @param clean whether to delete files that no commit has
   */
  final void checkOut(String branch, boolean clean) throws IOException {
    try {
      repository().updateRef(Constants.HEAD).link(Constants.R_HEADS + branch);
      git.reset().setMode(ResetType.HARD).setRef(Constants.R_HEADS + branch).call();
      if (clean) {
        git.clean().setCleanDirectories(true).setForce(true).call();
      }
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
  }

  @Override
  public final void close() {
    store.close();
    git.close();
  }
}
