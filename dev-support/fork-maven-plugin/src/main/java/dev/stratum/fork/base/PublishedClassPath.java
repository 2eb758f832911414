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
import org.apache.maven.RepositoryUtils;
import org.apache.maven.model.DependencyManagement;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.repository.RemoteRepository;
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
    BaseResolver modules = new BaseResolver(system, session, repositories);
    Modules.ALL.forEach(module -> jars.add(modules.resolve(module, version).jar()));
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
      for (ArtifactResult result : system
        .resolveDependencies(session, new DependencyRequest(collect, null))
        .getArtifactResults()) {
        Path jar = result.getArtifact().getFile().toPath();
        if (!jars.contains(jar)) {
          jars.add(jar);
        }
      }
    } catch (DependencyResolutionException e) {
      throw new ForkException("What tests need with HBase %s is in none of the Maven repositories "
        + "(%s); check the network and the version.", version, e.getMessage());
    }
    return jars;
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
