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
import dev.stratum.fork.base.BaseModule;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.eclipse.jgit.diff.DiffEntry.ChangeType;

/**
 * Compares the built jar of one module with the published one: every entry of the published jar
 * must be there, but for anonymous classes of files that a patch edits. japicmp compares the
 * members of classes.
 */
@Mojo(name = "check", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class CheckMojo extends AbstractForkMojo {
  /** A class without a name, which no other source can refer to. */
  private static final Pattern ANONYMOUS = Pattern.compile("\\$\\d+(\\$|\\.class$)");
  private static final int SHOWN = 5;

  /** The jar to check. */
  @Parameter(defaultValue = "${project.build.directory}/${project.build.finalName}.jar",
      required = true)
  private String jar;

  @Override
  void run() throws IOException {
    int published = check(published().module(project().getArtifactId(), baseVersion()),
      Series.read(root()), Path.of(jar));
    getLog().info("Holds the published jar with its " + published + " entries");
  }

  static int check(BaseModule base, Series series, Path jar) throws IOException {
    Set<String> edited = new HashSet<>();
    Set<String> deleted = new HashSet<>();
    series.patches().forEach(patch -> patch.edits().forEach(edit -> {
      String entry = edit.path().replaceFirst("^[^/]*/src/main/(java|resources)/", "")
        .replaceFirst("\\.java$", "");
      (edit.type() == ChangeType.DELETE ? deleted : edited).add(entry);
    }));
    Set<String> missing = new TreeSet<>(base.published());
    int published = missing.size();
    missing.removeAll(BaseModule.entries(jar));
    missing.removeIf(entry -> {
      String source = entry.replaceFirst("(\\$.*)?\\.class$", "");
      return deleted.contains(source)
        || ANONYMOUS.matcher(entry).find() && edited.contains(source);
    });
    if (!missing.isEmpty()) {
      throw new ForkException("%s lacks %d entries of the published %s: %s; run mvn clean, and see "
        + "whether a patch removes them.", jar.getFileName(), missing.size(),
        base.jar().getFileName(),
        missing.stream().limit(SHOWN).collect(Collectors.joining(", ")));
    }
    return published;
  }
}
