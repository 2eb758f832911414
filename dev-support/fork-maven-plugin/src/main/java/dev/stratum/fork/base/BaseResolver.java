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
import java.nio.file.Path;
import java.util.List;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;

/** Finds the base's artifacts as Maven finds any other: local repository first, then remote. */
public final class BaseResolver {
  static final String GROUP = "org.apache.hbase";

  private final RepositorySystem system;
  private final RepositorySystemSession session;
  private final List<RemoteRepository> repositories;

  public BaseResolver(RepositorySystem system, RepositorySystemSession session,
    List<RemoteRepository> repositories) {
    this.system = system;
    this.session = session;
    this.repositories = repositories;
  }

  /**
   * Returns the jar and the sources of a module.
   * @throws ForkException if the repositories do not have them
   */
  public BaseModule resolve(String module, String version) {
    return new BaseModule(module, file(module, "", version), file(module, "sources", version));
  }

  /**
   * Returns the jar of a module of HBase that is not built here.
   * @throws ForkException if the repositories do not have it
   */
  Path jar(String module, String version) {
    return file(module, "", version);
  }

  private Path file(String module, String classifier, String version) {
    Artifact artifact = new DefaultArtifact(GROUP, module, classifier, "jar", version);
    try {
      return system.resolveArtifact(session, new ArtifactRequest(artifact, repositories, null))
        .getArtifact().getFile().toPath();
    } catch (ArtifactResolutionException e) {
      throw new ForkException("%s is in none of the Maven repositories (%s); check the network and "
        + "the version.", artifact, e.getMessage());
    }
  }
}
