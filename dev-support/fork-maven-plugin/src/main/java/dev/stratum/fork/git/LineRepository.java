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
import org.eclipse.jgit.lib.AnyObjectId;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;
import org.eclipse.jgit.util.RawParseUtils;

/**
 * A git repository with the published files of one version of HBase as the commit of branch
 * {@code base}, and a branch on it for each exported patch. A branch that was changed by hand is
 * not overwritten.
 */
public final class LineRepository extends WorkTree {
  /** What a branch was when it was written here last is remembered under its name after this. */
  private static final String WRITTEN = "exported/";

  private final PersonIdent author;

  /** Reads a committer, {@code Name <mail>}. */
  public static PersonIdent committer(String text) {
    PersonIdent author = RawParseUtils.parsePersonIdent(text);
    if (author == null || author.getName().isBlank() || author.getEmailAddress().isBlank()) {
      throw new ForkException("fork.author is '%s'; write it as 'Name <mail>'.", text);
    }
    return author;
  }

  /**
   * Returns the committer that git's settings name, those of the repository before the user's.
   * @throws ForkException if they name none
   */
  public static PersonIdent committer(Path root) throws IOException {
    try (Repository repository =
      new FileRepositoryBuilder().findGitDir(root.toFile()).build()) {
      return committer(repository.getConfig());
    }
  }

  static PersonIdent committer(Config config) {
    String name = config.getString("user", null, "name");
    String mail = config.getString("user", null, "email");
    if (name == null || mail == null) {
      throw new ForkException("git does not know whom the patch is from; run git config --global "
        + "user.name 'Your Name' and git config --global user.email you@example.org, or give "
        + "-Dfork.author='Your Name <you@example.org>'.");
    }
    return new PersonIdent(name, mail);
  }

  /** Opens or makes the repository. */
  public LineRepository(Path folder, String version, SortedMap<String, byte[]> files,
    PersonIdent author, Instant time) throws IOException {
    super(folder, BASE, time);
    this.author = author;
    boolean isNew = head() == null;
    List<String> changes = isNew ? List.of() : uncommitted(false);
    if (!changes.isEmpty()) {
      throw new ForkException("%s has changes that were not committed (%s); commit them there, "
        + "or delete the folder.", folder, changes.get(0));
    }
    ObjectId tree = store().writeTree(files);
    if (isNew || !repository().parseCommit(tip(BASE)).getTree().equals((AnyObjectId) tree)) {
      branch(BASE, store().commit(tree, List.of(),
        "The published sources of Apache HBase " + version + "\n", author));
    }
    if (isNew) {
      // An export that is refused writes no branch that could be checked out.
      checkOut(BASE, false);
    }
  }

  /**
   * Writes the branch of a patch and checks it out.
   * @return the branch's name
   * @throws ForkException if the branch has commits that are not of an earlier export
   */
  public String write(LineExport.Exported exported) throws IOException {
    String name = exported.branch();
    ObjectId there = tip(name);
    if (there != null && !there.equals(remembered(WRITTEN + name))) {
      throw new ForkException("The branch %s in %s was changed since it was exported; run git "
        + "branch -m %s ANOTHER-NAME there to keep it.", name, folder(), name);
    }
    ObjectId tip = tip(BASE);
    for (LineExport.Commit commit : exported.commits()) {
      tip = store().commit(store().writeTree(commit.files()), List.of(tip), commit.message(),
        author);
    }
    branch(name, tip);
    remember(WRITTEN + name, tip);
    checkOut(name, false);
    return name;
  }
}
