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

import dev.stratum.fork.check.JarCheck;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Checks the built jar of one module against the published one; see {@link JarCheck}. */
@Mojo(name = "check", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class CheckMojo extends AbstractForkMojo {

  /** The jar to check. */
  @Parameter(defaultValue = "${project.build.directory}/${project.build.finalName}.jar",
      required = true)
  private String jar;

  @Override
  void run() throws IOException {
    int published =
      JarCheck.check(published().module(project().getArtifactId(), baseVersion()),
        Series.read(root()), Path.of(jar));
    getLog().info("Holds the published jar with its " + published + " entries");
  }
}
