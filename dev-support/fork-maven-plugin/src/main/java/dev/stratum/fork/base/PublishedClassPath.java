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
package dev.stratum.fork.base;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.series.Modules;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.maven.RepositoryUtils;
import org.apache.maven.model.DependencyManagement;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;
import org.eclipse.aether.resolution.ArtifactResult;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.resolution.DependencyResolutionException;

/**
 * The class path of a module's tests with published jars in the place of those that are built here.
 * It needs nothing to be built or installed before.
 */
public final class PublishedClassPath {
  private static final String OURS = "dev.stratum";

  private final RepositorySystem system;
  private final RepositorySystemSession session;
  private final List<RemoteRepository> repositories;
  private final String forkVersion;
  private final String baseVersion;

  public PublishedClassPath(RepositorySystem system, RepositorySystemSession session,
    List<RemoteRepository> repositories, String forkVersion, String baseVersion) {
    this.system = system;
    this.session = session;
    this.repositories = repositories;
    this.forkVersion = forkVersion;
    this.baseVersion = baseVersion;
  }

  /**
   * Returns the jars, those of the modules first.
   * @param project the module whose dependencies are taken
   * @param version the HBase version that all of HBase is taken from
   * @throws ForkException if something of it is not in the repositories
   */
  public List<Path> of(MavenProject project, String version) {
    List<Path> jars = new ArrayList<>();
    for (Artifact artifact : artifacts(project, version)) {
      Path jar = artifact.getFile().toPath();
      if (!jars.contains(jar)) {
        jars.add(jar);
      }
    }
    return jars;
  }

  private List<Artifact> artifacts(MavenProject project, String version) {
    List<Artifact> artifacts = new ArrayList<>();
    BaseResolver modules = new BaseResolver(system, session, repositories);
    Modules.ALL.forEach(module -> artifacts.add(
      new DefaultArtifact(BaseResolver.GROUP, module, "jar", version)
        .setFile(modules.resolve(module, version).jar().toFile())));
    CollectRequest collect = new CollectRequest();
    collect.setRepositories(repositories);
    for (org.apache.maven.model.Dependency one : project.getDependencies()) {
      if (!one.getGroupId().equals(OURS)) {
        collect.addDependency(moved(one, version));
      }
    }
    DependencyManagement managed = project.getDependencyManagement();
    if (managed != null) {
      managed.getDependencies().forEach(one -> collect.addManagedDependency(moved(one, version)));
    }
    try {
      system.resolveDependencies(session, new DependencyRequest(collect, null))
        .getArtifactResults().stream().map(ArtifactResult::getArtifact).forEach(artifacts::add);
    } catch (DependencyResolutionException e) {
      throw new ForkException("What tests need with HBase %s is in none of the Maven repositories "
        + "(%s); check the network and the version.", version, e.getMessage());
    }
    return artifacts;
  }

  /**
   * The jars of a version that is not published as a whole.
   * @param jars      the jars
   * @param elsewhere the artifacts of HBase that are not published for the version, each with the
   *                  version that stands in for it
   */
  public record Filled(List<Path> jars, SortedMap<String, String> elsewhere) {

    /**
     * Returns a sentence about what stands in for what is not published, empty if nothing does.
     * @param version the version
     */
    public String note(String version) {
      if (elsewhere.isEmpty()) {
        return "";
      }
      SortedMap<String, List<String>> names = new TreeMap<>();
      elsewhere.forEach((name, other) -> names.computeIfAbsent(other, o -> new ArrayList<>())
        .add(name));
      String jars = names.entrySet().stream()
        .map(entry -> String.join(", ", entry.getValue()) + " of " + entry.getKey())
        .collect(Collectors.joining("; "));
      return "Compiled and run with what is published of " + version + ", and with " + jars + ".";
    }
  }

  /**
   * Returns the jars of a version, with the jars of other versions for those of HBase that are not
   * published.
   * @param project the module whose dependencies are taken
   * @param version the version
   * @param others  versions of HBase that replace what is missing, the best first; all of
   *                the base is published
   */
  public Filled filled(MavenProject project, String version, List<String> others) {
    SortedMap<String, String> elsewhere = new TreeMap<>();
    List<String> versions = new ArrayList<>();
    versions.add(version);
    versions.addAll(others);
    List<Path> jars = new ArrayList<>();
    for (Artifact artifact : artifacts(project, baseVersion)) {
      Path jar = artifact.getFile().toPath();
      if (artifact.getGroupId().equals(BaseResolver.GROUP)
        && artifact.getVersion().equals(baseVersion)) {
        for (String one : versions) {
          Path found = find(artifact.setVersion(one).setFile(null));
          if (found != null) {
            jar = found;
            if (!one.equals(version)) {
              elsewhere.put(artifact.getArtifactId(), one);
            }
            break;
          }
        }
      }
      if (!jars.contains(jar)) {
        jars.add(jar);
      }
    }
    return new Filled(jars, elsewhere);
  }

  private Path find(Artifact artifact) {
    try {
      return system.resolveArtifact(session, new ArtifactRequest(artifact, repositories, null))
        .getArtifact().getFile().toPath();
    } catch (ArtifactResolutionException e) {
      return null;
    }
  }

  /** Returns a jar by its coordinates, {@code group:name:version}. */
  public Path jar(String coordinates) {
    Path found = find(new DefaultArtifact(coordinates));
    if (found == null) {
      throw new ForkException("%s is in none of the Maven repositories; check the network.",
        coordinates);
    }
    return found;
  }

  private Dependency moved(org.apache.maven.model.Dependency dependency, String version) {
    Dependency one =
      RepositoryUtils.toDependency(dependency, session.getArtifactTypeRegistry());
    Artifact artifact = one.getArtifact();
    if (!artifact.getGroupId().equals(BaseResolver.GROUP)) {
      return one;
    }
    // What has another version is of no line, such as the categories of tests.
    String old = artifact.getVersion();
    return old.equals(forkVersion) || old.equals(baseVersion)
      ? one.setArtifact(artifact.setVersion(version))
      : one;
  }
}
