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
import dev.stratum.fork.git.Rebase;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.codec.digest.DigestUtils;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Moves the series to another version of the base and says for each patch how it went. The variants
 * in {@code patches/lines/VERSION} replace the edits of their patches. A conflict is left in a git
 * work tree, {@code target/rebase/tree}; when all patches are through, they are in
 * {@code target/rebase/patches}.
 */
@Mojo(name = "rebase", aggregator = true, threadSafe = true)
public final class RebaseMojo extends AbstractForkMojo {

  /** The version of the new base. */
  @Parameter(property = "fork.to", defaultValue = "${to}")
  private String to;

  @Override
  void run() throws IOException {
    if (to == null) {
      throw new ForkException("fork:rebase needs the version of the new base; give it as "
        + "-Dfork.to=VERSION.");
    }
    Series series = Series.read(root());
    LineSources line = LineSources.resolve(published(), to, getLog()::warn);
    LineVariants variants = LineVariants.read(root(), series, to, line.tree());
    Path tree = target("rebase", "tree");
    try (Rebase rebase = new Rebase(tree, line, time())) {
      List<Rebase.Outcome> outcomes = rebase.run(history(series), variants);
      List<Rebase.Outcome> conflicts =
        outcomes.stream().filter(outcome -> outcome.kind() == Rebase.Kind.CONFLICT).toList();
      outcomes.forEach(outcome -> {
        if (conflicts.contains(outcome)) {
          getLog().warn(outcome.toString());
        } else {
          getLog().info(outcome.toString());
        }
      });
      getLog().info(conflicts.size() + " of " + outcomes.size() + " patches in conflict");
      if (!conflicts.isEmpty()) {
        throw new ForkException("%s conflicts with %s; its conflict is in %s: resolve it there, "
          + "run git add -A and git commit --no-edit, then run fork:rebase again to go on.",
          conflicts.get(0).shown(), to, tree);
      }
      if (line.modules().size() < Modules.ALL.size()) {
        getLog().warn("All edits of " + String.join(", ", line.modules()) + " apply to " + to
          + "; without the other modules there is nothing to build, so no patches were written");
        return;
      }
      write(rebase.plan(root()));
    }
  }

  private void write(Map<String, byte[]> files) throws IOException {
    Map<String, byte[]> patches = new TreeMap<>();
    Map<String, byte[]> sources = new TreeMap<>();
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      if (file.getKey().startsWith(PatchFile.FOLDER)) {
        patches.put(file.getKey().substring(PatchFile.FOLDER.length()), file.getValue());
      } else {
        Path here = root().resolve(file.getKey());
        if (!Files.exists(here) || !Arrays.equals(Files.readAllBytes(here), file.getValue())) {
          sources.put(file.getKey(), file.getValue());
        }
      }
    }
    StringBuilder sums = new StringBuilder();
    for (String name : Modules.ALL) {
      BaseModule module = published().module(name, to);
      for (Path file : List.of(module.sources(), module.jar())) {
        sums.append(DigestUtils.sha256Hex(Files.readAllBytes(file))).append("  ")
          .append(file.getFileName()).append('\n');
      }
    }
    patches.put("base.sha256", sums.toString().getBytes(StandardCharsets.UTF_8));
    new OutputTree(target("rebase", "patches")).write(patches);
    new OutputTree(target("rebase", "sources")).write(sources);
    getLog().info("The series applies to " + to + "; to adopt it, look over the new sums, copy "
      + "target/rebase/patches over patches"
      + (sources.isEmpty() ? "" : ", target/rebase/sources over the root")
      + (Files.isDirectory(root().resolve(LineVariants.FOLDER).resolve(to))
        ? ", delete " + LineVariants.FOLDER + to : "")
      + ", and set base.version and fork.version in pom.xml");
  }
}
