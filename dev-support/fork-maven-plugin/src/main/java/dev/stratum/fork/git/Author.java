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
import org.eclipse.jgit.errors.ConfigInvalidException;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;
import org.eclipse.jgit.util.RawParseUtils;
import org.eclipse.jgit.util.SystemReader;

/** Whom exported patches are from. */
public final class Author {

  private Author() {
  }

  /** Reads {@code Name <mail>}. */
  public static PersonIdent parse(String text) {
    PersonIdent author = RawParseUtils.parsePersonIdent(text);
    if (author == null || author.getName().isBlank() || author.getEmailAddress().isBlank()) {
      throw new ForkException("fork.author is '%s'; write it as 'Name <mail>'.", text);
    }
    return author;
  }

  /**
   * Returns the person that git's settings name, those of the repository before those of the user.
   * @throws ForkException if they name none
   */
  public static PersonIdent ofGit(Path root) throws IOException {
    FileRepositoryBuilder builder = new FileRepositoryBuilder().findGitDir(root.toFile());
    if (builder.getGitDir() == null) {
      try {
        return of(SystemReader.getInstance().getUserConfig());
      } catch (ConfigInvalidException e) {
        throw new ForkException("git's settings cannot be read (%s); correct them.",
          e.getMessage());
      }
    }
    try (Repository repository = builder.build()) {
      return of(repository.getConfig());
    }
  }

  static PersonIdent of(Config config) {
    String name = config.getString("user", null, "name");
    String mail = config.getString("user", null, "email");
    if (name == null || mail == null) {
      throw new ForkException("git does not know whom the patch is from; run git config --global "
        + "user.name 'Your Name' and git config --global user.email you@example.org, or give "
        + "-Dfork.author='Your Name <you@example.org>'.");
    }
    return new PersonIdent(name, mail);
  }
}
