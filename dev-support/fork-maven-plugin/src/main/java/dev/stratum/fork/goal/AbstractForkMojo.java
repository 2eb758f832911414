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
package dev.stratum.fork.goal;

import dev.stratum.fork.Digests;
import dev.stratum.fork.ForkException;
import dev.stratum.fork.OutputTree;
import dev.stratum.fork.base.BaseResolver;
import dev.stratum.fork.base.PublishedClassPath;
import dev.stratum.fork.series.Modules;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.List;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;

/** What all goals share: where the repository is, which base, and how a problem is reported. */
public abstract class AbstractForkMojo extends AbstractMojo {

  @Component
  private RepositorySystem repositorySystem;

  @Parameter(defaultValue = "${session}", readonly = true, required = true)
  private MavenSession session;

  @Parameter(defaultValue = "${project}", readonly = true, required = true)
  private MavenProject project;

  /** The root of this repository: the folder that has .mvn, patches and the modules. */
  @Parameter(defaultValue = "${maven.multiModuleProjectDirectory}", readonly = true)
  private String rootDirectory;

  /** The published HBase version that the patches apply to. */
  @Parameter(property = "base.version", required = true)
  private String baseVersion;

  /** The version of the jars built here. */
  @Parameter(property = "fork.version", required = true)
  private String forkVersion;

  /** The time that everything generated carries, so that it can be reproduced. */
  @Parameter(defaultValue = "${project.build.outputTimestamp}", readonly = true)
  private String timestamp;

  @Override
  public final void execute() throws MojoExecutionException, MojoFailureException {
    try {
      run();
    } catch (ForkException e) {
      throw new MojoFailureException(e.getMessage(), e);
    } catch (IOException e) {
      throw new MojoExecutionException("Reading or writing failed: " + e, e);
    }
  }

  /** Does the goal's work. */
  abstract void run() throws IOException;

  final MavenProject project() {
    return project;
  }

  final Path root() {
    return Paths.get(rootDirectory);
  }

  final String baseVersion() {
    return baseVersion;
  }

  final String forkVersion() {
    return forkVersion;
  }

  final Instant time() {
    try {
      return OffsetDateTime.parse(timestamp).toInstant();
    } catch (DateTimeParseException e) {
      throw new ForkException("project.build.outputTimestamp is '%s'; write a time such as "
        + "2025-11-04T00:00:00Z.", timestamp);
    }
  }

  final BaseResolver resolver() {
    return new BaseResolver(repositorySystem, session.getRepositorySession(),
      project.getRemoteProjectRepositories());
  }

  /**
   * Returns what the tests of hbase-server run with on a version of HBase, all of it as published:
   * the jars of the modules that are built here first.
   * @throws ForkException if the repositories lack something of it
   */
  final List<Path> classPath(String version) {
    return published().of(server(), version);
  }

  /** Finds published jars. */
  final PublishedClassPath published() {
    return new PublishedClassPath(repositorySystem, session.getRepositorySession(),
      project.getRemoteProjectRepositories(), forkVersion, baseVersion);
  }

  /** Returns the module whose dependencies are those of all modules. */
  final MavenProject server() {
    return session.getProjects().stream()
      .filter(one -> one.getArtifactId().equals(Modules.ALL.get(Modules.ALL.size() - 1)))
      .findFirst().orElseThrow(() -> new ForkException("The goal needs the modules' POMs; run it "
        + "in the root, without -N or -pl."));
  }

  /** Returns a digest of this plugin's own code: other code may generate other sources. */
  static String ownCode() throws IOException {
    Path code;
    try {
      code = Paths.get(AbstractForkMojo.class.getProtectionDomain().getCodeSource().getLocation()
        .toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
    Digests digests = Digests.sha256();
    if (Files.isRegularFile(code)) {
      return Digests.sha256(code);
    }
    for (Path file : OutputTree.files(code)) {
      digests.add(OutputTree.slashed(code.relativize(file)), Files.readAllBytes(file));
    }
    return digests.hex();
  }
}
