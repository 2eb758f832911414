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
import dev.stratum.fork.base.ForkIdentity;
import dev.stratum.fork.base.ModuleSources;
import dev.stratum.fork.pages.DefaultSettings;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.maven.model.Resource;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Unpacks, verifies and patches the base's sources of one module and adds them to the build. The
 * property {@code fork.srcChecksum} is set to a SHA-512 over all that the module is built from.
 */
@Mojo(name = "prepare", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public final class PrepareMojo extends AbstractForkMojo {

  /** Where to generate: java, resources and webapps. */
  @Parameter(defaultValue = "${project.build.directory}/fork", required = true)
  private String forkDirectory;

  @Override
  void run() throws IOException {
    long start = System.nanoTime();
    String module = project().getArtifactId();
    if (!Modules.ALL.contains(module)) {
      throw new ForkException("fork:prepare was called in %s, which is none of the modules %s; "
        + "remove the execution from its POM.", module, String.join(", ", Modules.ALL));
    }
    Series series = Series.read(root());
    ModuleSources sources = new ModuleSources(published().module(module, baseVersion()),
      project().getBasedir().toPath(), Path.of(forkDirectory));
    // Only hbase-common has hbase-default.xml, to which the settings are added.
    String settings = module.equals("hbase-common")
      ? DefaultSettings.of(Files.readString(root().resolve("docs/configuration.md")))
      : "";
    ModuleSources.Result result = sources.prepare(series, root(),
      new ForkIdentity(forkVersion(), time(), settings), ownCode());
    Path classes = Path.of(project().getBuild().getOutputDirectory());
    for (String resource : result.deletedResources()) {
      Files.deleteIfExists(classes.resolve(resource));
    }
    project().getProperties().setProperty("fork.srcChecksum", result.sourceChecksum());
    project().addCompileSourceRoot(Path.of(forkDirectory, ModuleSources.JAVA).toString());
    Resource resources = new Resource();
    resources.setDirectory(Path.of(forkDirectory, ModuleSources.RESOURCES).toString());
    project().addResource(resources);
    if (result.changed()) {
      getLog().info(String.format("Base %s with %d patches: %d files written in %d ms",
        baseVersion(), series.patches().size(), result.written().size(),
        (System.nanoTime() - start) / 1_000_000));
    } else {
      getLog().info("Base " + baseVersion() + " with " + series.patches().size()
        + " patches: up to date");
    }
  }
}
