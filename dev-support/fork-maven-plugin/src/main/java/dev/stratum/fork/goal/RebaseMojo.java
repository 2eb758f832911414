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
import dev.stratum.fork.base.BaseModule;
import dev.stratum.fork.git.Rebase;
import dev.stratum.fork.git.Rebuild;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Moves the series to another version of the base and says for each patch how it went. The variants
 * in {@code patches/lines/VERSION} replace the edits of their patches. A conflict is left in a git
 * work tree, {@code target/rebase/tree}; when all patches are through, they are in
 * {@code target/rebase/patches}.
 */
@Mojo(name = "rebase", aggregator = true, threadSafe = true)
public final class RebaseMojo extends AbstractSeriesMojo {

  /** The version of the new base. */
  @Parameter(property = "fork.to")
  private String version;

  /** The version of the new base, by its short name. */
  @Parameter(property = "to")
  private String shortVersion;

  @Override
  void run() throws IOException {
    String to = version != null ? version : shortVersion;
    if (to == null) {
      throw new ForkException("fork:rebase needs the version of the new base; give it as "
        + "-Dfork.to=VERSION.");
    }
    Path folder = root().resolve("target").resolve("rebase");
    Series series = Series.read(root());
    ForkHistory history = ForkHistory.of(baseTree(), series, root());
    SortedMap<String, byte[]> newBase = new TreeMap<>();
    TreeSet<String> modules = new TreeSet<>();
    List<String> sums = new ArrayList<>();
    readBase(to, newBase, modules, sums);
    LineVariants variants = LineVariants.read(root(), series, to, newBase);
    try (Rebase rebase = new Rebase(folder.resolve("tree"), to, time())) {
      Rebase.Report report = rebase.run(newBase, modules, history, variants);
      report.outcomes().forEach(outcome -> {
        if (outcome.kind() == Rebase.Outcome.Kind.CONFLICT) {
          getLog().warn(outcome.toString());
        } else {
          getLog().info(outcome.toString());
        }
      });
      long conflicts = report.outcomes().stream()
        .filter(outcome -> outcome.kind() == Rebase.Outcome.Kind.CONFLICT).count();
      getLog().info(conflicts + " of " + report.outcomes().size() + " patches in conflict");
      if (report.waiting() != null) {
        throw new ForkException("%s conflicts with %s; its conflict is in %s: resolve it there, "
          + "run git add -A and git commit --no-edit, then run fork:rebase again to go on.",
          report.waiting().shown(), to, folder.resolve("tree"));
      }
      if (modules.size() < Modules.ALL.size()) {
        getLog().warn("All edits of " + String.join(", ", modules) + " apply to " + to
          + "; without the other modules there is nothing to build, so no patches were written");
        return;
      }
      write(folder, rebase.plan(seriesFile()), sums, to);
    }
  }

  private byte[] seriesFile() throws IOException {
    Path series = root().resolve(PatchFile.FOLDER + Series.FILE);
    return Files.exists(series) ? Files.readAllBytes(series) : null;
  }

  private void readBase(String to, SortedMap<String, byte[]> tree, TreeSet<String> modules,
    List<String> sums) throws IOException {
    for (String name : Modules.ALL) {
      getLog().info("Reading " + name + " " + to);
      try {
        BaseModule module = resolver().resolve(name, to);
        tree.putAll(module.readTree());
        for (Path file : List.of(module.sources(), module.jar())) {
          sums.add(Digests.sha256(file) + "  " + file.getFileName() + "\n");
        }
        modules.add(name);
      } catch (ForkException e) {
        getLog().warn("Without " + name + ", whose edits are not tried: " + e.getMessage());
      }
    }
    if (modules.isEmpty()) {
      throw new ForkException("None of the modules %s has a version %s; correct fork.to.",
        String.join(", ", Modules.ALL), to);
    }
  }

  private void write(Path folder, Rebuild.Plan plan, List<String> sums, String to)
    throws IOException {
    Map<String, byte[]> patches = new TreeMap<>();
    Map<String, byte[]> sources = new TreeMap<>();
    for (Map.Entry<String, byte[]> file : plan.files().entrySet()) {
      if (file.getKey().startsWith(PatchFile.FOLDER)) {
        patches.put(file.getKey().substring(PatchFile.FOLDER.length()), file.getValue());
      } else {
        Path here = root().resolve(file.getKey());
        if (!Files.exists(here) || !Arrays.equals(Files.readAllBytes(here), file.getValue())) {
          sources.put(file.getKey(), file.getValue());
        }
      }
    }
    patches.put("base.sha256", String.join("", sums).getBytes(StandardCharsets.UTF_8));
    new OutputTree(folder.resolve("patches")).write(patches);
    new OutputTree(folder.resolve("sources")).write(sources);
    getLog().info("The series applies to " + to + "; to adopt it, look over the new sums, copy "
      + root().relativize(folder) + "/patches over patches"
      + (sources.isEmpty() ? "" : ", " + root().relativize(folder) + "/sources over the root")
      + (Files.isDirectory(root().resolve(LineVariants.FOLDER).resolve(to))
        ? ", delete " + LineVariants.FOLDER + to : "")
      + ", and set base.version and fork.version in pom.xml");
  }
}
