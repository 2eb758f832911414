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
import java.nio.file.Files;
import java.nio.file.Path;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.errors.GitAPIException;
import org.eclipse.jgit.errors.ConfigInvalidException;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.lib.StoredConfig;
import org.eclipse.jgit.storage.file.FileBasedConfig;
import org.eclipse.jgit.util.FS;
import org.eclipse.jgit.util.SystemReader;

/**
 * Opens git work trees so that nothing outside them has a say: the user's and the machine's git
 * settings are neither read nor written, and no file is converted.
 */
final class WorkTrees {

  private WorkTrees() {
  }

  /**
   * Opens the work tree in {@code folder}, making an empty one if there is none.
   * @param branch the branch of a new one
   */
  static Git open(Path folder, String branch) throws IOException {
    SystemReader reader = SystemReader.getInstance();
    if (!(reader instanceof Isolated)) {
      SystemReader.setInstance(new Isolated(reader));
    }
    Git git;
    try {
      git = Files.isDirectory(folder.resolve(".git"))
        ? Git.open(folder.toFile())
        : Git.init().setDirectory(folder.toFile()).setInitialBranch(branch).call();
    } catch (GitAPIException e) {
      throw new IOException(e);
    }
    // The settings are stored for the git that the user runs there.
    StoredConfig config = git.getRepository().getConfig();
    config.setString("core", null, "autocrlf", "false");
    config.setString("core", null, "fileMode", "false");
    config.save();
    Path attributes = git.getRepository().getDirectory().toPath().resolve("info/attributes");
    Files.createDirectories(attributes.getParent());
    Files.writeString(attributes, "* -text\n");
    return git;
  }

  /** Returns the user's own git settings, whether work trees were opened before or not. */
  static StoredConfig userConfig() throws IOException {
    SystemReader reader = SystemReader.getInstance();
    try {
      return (reader instanceof Isolated isolated ? isolated.users : reader).getUserConfig();
    } catch (ConfigInvalidException e) {
      throw new ForkException("git's settings cannot be read (%s); correct them.",
        e.getMessage());
    }
  }

  private static final class Isolated extends SystemReader.Delegate {
    private final SystemReader users;

    Isolated(SystemReader reader) {
      super(reader);
      users = reader;
    }

    @Override
    public FileBasedConfig openUserConfig(Config parent, FS fs) {
      return new NoConfig(parent, fs);
    }

    @Override
    public FileBasedConfig openSystemConfig(Config parent, FS fs) {
      return new NoConfig(parent, fs);
    }

    @Override
    public FileBasedConfig openJGitConfig(Config parent, FS fs) {
      return new NoConfig(parent, fs);
    }
  }

  private static final class NoConfig extends FileBasedConfig {
    NoConfig(Config parent, FS fs) {
      super(parent, null, fs);
    }

    @Override
    public void load() {
      // Stays empty.
    }

    @Override
    public void save() {
      // What JGit measures of the file system is not worth a file in the user's home.
    }

    @Override
    public boolean isOutdated() {
      return false;
    }
  }
}
