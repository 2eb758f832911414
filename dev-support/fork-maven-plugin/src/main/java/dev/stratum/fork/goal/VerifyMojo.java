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
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.Rebuild;
import dev.stratum.fork.git.UpstreamEdits;
import dev.stratum.fork.pages.FeatureTable;
import dev.stratum.fork.pages.SubmissionPages;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.eclipse.jgit.lib.ObjectId;

/**
 * Checks the series as a whole: fork:checkout and fork:rebuild would leave every patch and source
 * file as it is, every patch can be exported, every source file belongs to a patch, every variant
 * for another version has the name of a patch, the edits for upstream alone fit, each fix says what
 * its JIRA issue needs, and CONTRIBUTING.md has the table of features that the headers give.
 */
@Mojo(name = "verify", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class VerifyMojo extends AbstractForkMojo {

  @Override
  void run() throws IOException {
    Series series = Series.read(root());
    checkOwners(series);
    LineVariants.checkNames(root(), series);
    byte[] page = FeatureTable.page(series, root());
    if (page != null
      && !Arrays.equals(page, Files.readAllBytes(root().resolve(FeatureTable.FILE)))) {
      throw new ForkException("The table of features in %s is not as the patches' headers have it; "
        + "run fork:checkout, then fork:rebuild.", FeatureTable.FILE);
    }
    new SubmissionPages(series, root(), baseVersion()).check();
    ForkHistory history = history(series);
    try (GitStore store = GitStore.inMemory(time())) {
      UpstreamEdits.read(root(), series, published().protocols(List.of(baseVersion())).tree())
        .check(store, history);
      List<ObjectId> commits = store.commitHistory(history, baseName());
      Map<String, byte[]> files = new Rebuild(store)
        .plan(commits.get(0), commits.get(commits.size() - 1), root());
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        Path here = root().resolve(file.getKey());
        if (Files.exists(here) && !Arrays.equals(Files.readAllBytes(here), file.getValue())) {
          throw new ForkException("%s is not as fork:rebuild writes it; run fork:checkout, then "
            + "fork:rebuild.", file.getKey());
        }
      }
      getLog().info(export(store, history).all().size()
        + " patches round-trip and can be exported");
    }
  }

  /** Checks that each file has a patch: one without would be missing from what is exported. */
  private void checkOwners(Series series) throws IOException {
    Set<String> orphans = new TreeSet<>();
    for (String module : Modules.ALL) {
      for (Path file : OutputTree.files(root().resolve(module).resolve("src"))) {
        orphans.add(OutputTree.slashed(root().relativize(file)));
      }
    }
    series.adds().forEach(orphans::remove);
    // A test's resources may be for this build alone.
    orphans.removeIf(file -> file.contains("/src/test/") && !file.endsWith(".java"));
    if (!orphans.isEmpty()) {
      throw new ForkException("%s: of no patch; name it in the 'Adds:' of one.",
        String.join(", ", orphans));
    }
  }
}
