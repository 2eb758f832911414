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
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jgit.errors.ConfigInvalidException;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.StoredConfig;
import org.eclipse.jgit.storage.file.FileBasedConfig;
import org.eclipse.jgit.util.FS;

/**
 * The person that a patch is from.
 * @param name the name
 * @param mail the e-mail address
 */
public record Committer(String name, String mail) {
  private static final Pattern SHOWN = Pattern.compile("\\s*([^<>]*[^<>\\s])\\s*<([^<>\\s]+)>\\s*");

  /** Reads {@code Name <mail>}. */
  public static Committer parse(String text) {
    Matcher matcher = SHOWN.matcher(text);
    if (!matcher.matches()) {
      throw new ForkException("fork.author is '%s'; write it as 'Name <mail>'.", text);
    }
    return new Committer(matcher.group(1), matcher.group(2));
  }

  /**
   * Returns the person that git's settings name, those of the repository before those of the user.
   * @param root the repository's root
   * @throws ForkException if they name none
   */
  public static Committer ofGit(Path root) throws IOException {
    StoredConfig user = WorkTrees.userConfig();
    File file = root.resolve(".git").resolve("config").toFile();
    FileBasedConfig own = new FileBasedConfig(user, file, FS.DETECTED);
    try {
      own.load();
    } catch (ConfigInvalidException e) {
      throw new ForkException("%s cannot be read (%s); correct it.", file, e.getMessage());
    }
    return of(own);
  }

  static Committer of(Config config) {
    String name = config.getString("user", null, "name");
    String mail = config.getString("user", null, "email");
    if (name == null || mail == null) {
      throw new ForkException("git does not know whom the patch is from; run git config --global "
        + "user.name 'Your Name' and git config --global user.email you@example.org, or give "
        + "-Dfork.author='Your Name <you@example.org>'.");
    }
    return new Committer(name, mail);
  }

  PersonIdent at(Instant time) {
    return new PersonIdent(name, mail, time, ZoneOffset.UTC);
  }

  @Override
  public String toString() {
    return name + " <" + mail + ">";
  }
}
