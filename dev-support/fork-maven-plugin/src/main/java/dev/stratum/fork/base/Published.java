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
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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
 * Finds what HBase has published as Maven finds any other artifact: local repository first, then
 * remote.
 */
public final class Published {
  /** The module whose jar has the files that the messages of protocols are generated from. */
  public static final String PROTOCOL = "hbase-protocol-shaded";
  private static final String PROTOCOL_FOLDER = PROTOCOL + "/src/main/protobuf/";
  private static final String GROUP = "org.apache.hbase";
  private static final String OURS = "dev.stratum";

  private final RepositorySystem system;
  private final RepositorySystemSession session;
  private final List<RemoteRepository> repositories;

  /** Finds artifacts in these repositories. */
  public Published(RepositorySystem system, RepositorySystemSession session,
    List<RemoteRepository> repositories) {
    this.system = system;
    this.session = session;
    this.repositories = repositories;
  }

  /**
   * Returns the jar and the sources of a module.
   * @throws ForkException if the repositories do not have them
   */
  public BaseModule module(String module, String version) {
    return new BaseModule(module, file(artifact(module, "", version)),
      file(artifact(module, "sources", version)));
  }

  private static Artifact artifact(String module, String classifier, String version) {
    return new DefaultArtifact(GROUP, module, classifier, "jar", version);
  }

  private Path file(Artifact artifact) {
    try {
      return system.resolveArtifact(session, new ArtifactRequest(artifact, repositories, null))
        .getArtifact().getFile().toPath();
    } catch (ArtifactResolutionException e) {
      throw new ForkException("%s is in none of the Maven repositories (%s); check the network and "
        + "the version.", artifact, e.getMessage());
    }
  }

  /**
   * The files of protocols.
   * @param version the version that they are of
   * @param tree    content by the path in upstream's repository
   */
  public record Protocols(String version, SortedMap<String, byte[]> tree) {
  }

  /**
   * Returns the files of protocols of the first version that is published.
   * @param versions the best first
   */
  public Protocols protocols(List<String> versions) throws IOException {
    String version = first(versions, artifact(PROTOCOL, "", versions.get(0)));
    SortedMap<String, byte[]> tree = new TreeMap<>();
    BaseModule.read(file(artifact(PROTOCOL, "", version)), tree,
      name -> name.endsWith(".proto") ? PROTOCOL_FOLDER + name : null);
    return new Protocols(version, tree);
  }

  /** Returns the first of the versions that an artifact is published for, or the last one. */
  private String first(List<String> versions, Artifact artifact) {
    for (String version : versions.subList(0, versions.size() - 1)) {
      try {
        file(artifact.setVersion(version).setFile(null));
        return version;
      } catch (ForkException e) {
        continue; // What the last version lacks is told when it is resolved.
      }
    }
    return versions.get(versions.size() - 1);
  }

  /**
   * A class path.
   * @param jars the jars, those of the modules first
   * @param note a sentence about what replaces jars that are not published, empty if nothing does
   */
  public record ClassPath(List<Path> jars, String note) {
  }

  /**
   * Returns the class path of a module's tests, with published jars for those that are built here.
   * It needs nothing to be built or installed before.
   * @param versions    the version of HBase, then those whose jars replace what is not published
   *                    for it, the best first; all of the last one, the base, is published
   */
  public ClassPath classPath(MavenProject project, String forkVersion, List<String> versions) {
    String base = versions.get(versions.size() - 1);
    SortedMap<String, List<String>> elsewhere = new TreeMap<>();
    Set<Path> jars = new LinkedHashSet<>();
    for (Artifact artifact : artifacts(project, forkVersion, base)) {
      Artifact best = artifact;
      if (artifact.getGroupId().equals(GROUP) && artifact.getVersion().equals(base)) {
        best = artifact.setVersion(first(versions, artifact)).setFile(null);
        if (!best.getVersion().equals(versions.get(0))) {
          elsewhere.computeIfAbsent(best.getVersion(), version -> new ArrayList<>())
            .add(best.getArtifactId());
        }
      }
      jars.add(best.getFile() == null ? file(best) : best.getFile().toPath());
    }
    String others = elsewhere.entrySet().stream()
      .map(entry -> entry.getValue().stream().distinct().sorted().collect(Collectors.joining(", "))
        + " of " + entry.getKey())
      .collect(Collectors.joining("; "));
    return new ClassPath(List.copyOf(jars), others.isEmpty() ? ""
      : "Compiled and run with what is published of " + versions.get(0) + ", and with " + others
        + ".");
  }

  private List<Artifact> artifacts(MavenProject project, String forkVersion, String base) {
    List<Artifact> artifacts = new ArrayList<>();
    Modules.ALL.forEach(module -> artifacts.add(artifact(module, "", base)));
    CollectRequest collect = new CollectRequest();
    collect.setRepositories(repositories);
    project.getDependencies().stream().filter(one -> !one.getGroupId().equals(OURS))
      .forEach(one -> collect.addDependency(moved(one, forkVersion, base)));
    DependencyManagement managed = project.getDependencyManagement();
    if (managed != null) {
      managed.getDependencies()
        .forEach(one -> collect.addManagedDependency(moved(one, forkVersion, base)));
    }
    try {
      system.resolveDependencies(session, new DependencyRequest(collect, null))
        .getArtifactResults().stream().map(ArtifactResult::getArtifact).forEach(artifacts::add);
    } catch (DependencyResolutionException e) {
      throw new ForkException("What tests need with HBase %s is in none of the Maven repositories "
        + "(%s); check the network and the version.", base, e.getMessage());
    }
    return artifacts;
  }

  private Dependency moved(org.apache.maven.model.Dependency dependency, String forkVersion,
    String base) {
    Dependency one =
      RepositoryUtils.toDependency(dependency, session.getArtifactTypeRegistry());
    Artifact artifact = one.getArtifact();
    return artifact.getGroupId().equals(GROUP) && artifact.getVersion().equals(forkVersion)
      ? one.setArtifact(artifact.setVersion(base))
      : one;
  }
}
