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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.OutputTree;
import dev.stratum.fork.base.BaseModule;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.base.Published;
import dev.stratum.fork.check.TestProcess;
import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;
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

  /** What else the JVM of a test is given, as surefire gives it. */
  @Parameter(property = "test.jvm.opens")
  private String opens;

  /** The heap of a test's JVM. */
  @Parameter(property = "test.heap", defaultValue = "2g")
  private String heap;

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
    return Path.of(rootDirectory);
  }

  /** Returns a folder or file below target/ of the root. */
  final Path target(String... names) {
    return Path.of(rootDirectory, "target").resolve(Path.of("", names));
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

  final Published published() {
    return new Published(repositorySystem, session.getRepositorySession(),
      project.getRemoteProjectRepositories());
  }

  /** Returns the verified files of the base, all modules in one tree. */
  final SortedMap<String, byte[]> baseTree() throws IOException {
    SortedMap<String, byte[]> tree = new TreeMap<>();
    for (String name : Modules.ALL) {
      BaseModule module = published().module(name, baseVersion);
      module.verify(root());
      tree.putAll(module.readTree());
    }
    return tree;
  }

  /** Applies the series to the base. */
  final ForkHistory history(Series series) throws IOException {
    return ForkHistory.of(baseTree(), series, root());
  }

  /** Returns what exports patches for an issue tracker. */
  final Export export(GitStore store, ForkHistory history) {
    return new Export(store, history, GitStore.STRATUM, time(), forkVersion, baseVersion);
  }

  /**
   * Returns the published sources of a version. The base's release is the base, whichever Hadoop it
   * is for; the sources are the same.
   */
  final LineSources line(String version) throws IOException {
    return LineSources.resolve(published(),
      LineSources.release(baseVersion).equals(version) ? baseVersion : version, getLog()::warn);
  }

  /** Returns the message of the commit that holds the base. */
  final String baseName() {
    return "Apache HBase " + baseVersion;
  }

  /** Returns where the editable work tree is. */
  final Path forkTree() {
    return target("forktree");
  }

  /**
   * Returns what the tests of hbase-server, whose dependencies are those of all modules, run with.
   * @param versions as of {@link Published#classPath}, without the base
   */
  final Published.ClassPath classPath(List<String> versions) {
    List<String> all = new ArrayList<>(versions);
    all.add(baseVersion);
    MavenProject server = session.getProjects().stream()
      .filter(one -> one.getArtifactId().equals(Modules.ALL.get(Modules.ALL.size() - 1)))
      .findFirst().orElseThrow(() -> new ForkException("The goal needs the modules' POMs; run it "
        + "in the root, without -N or -pl."));
    return published().classPath(server, forkVersion, all);
  }

  /** Returns what runs tests. */
  final TestProcess tests(List<Path> classPath, Path folder) {
    List<Path> behind = new ArrayList<>();
    Modules.ALL.stream().map(module -> root().resolve(module).resolve("src/test/resources"))
      .filter(Files::isDirectory).forEach(behind::add);
    behind.addAll(classPath);
    List<String> options = new ArrayList<>(List.of("-Xmx" + heap, "-XX:MaxDirectMemorySize=1g",
      "-ea", "-XX:+IgnoreUnrecognizedVMOptions", "-Djava.awt.headless=true",
      "-Djava.net.preferIPv4Stack=true", "-Djava.security.egd=file:/dev/./urandom"));
    Stream.of(opens == null ? new String[0] : opens.split("\\s+"))
      .filter(word -> !word.isEmpty()).forEach(options::add);
    return new TestProcess(behind, options, folder.resolve("tests"));
  }

  /** Returns a digest of this plugin's own code: other code may generate other sources. */
  static String ownCode() throws IOException {
    Path code;
    try {
      code = Path.of(AbstractForkMojo.class.getProtectionDomain().getCodeSource().getLocation()
        .toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
    return Files.isRegularFile(code)
      ? DigestUtils.sha256Hex(Files.readAllBytes(code))
      : new OutputTree(code).listing();
  }
}
