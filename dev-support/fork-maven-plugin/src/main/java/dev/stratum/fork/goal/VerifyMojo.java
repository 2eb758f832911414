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
import dev.stratum.fork.base.ProtocolFiles;
import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.MailPatch;
import dev.stratum.fork.git.Rebuild;
import dev.stratum.fork.pages.SubmissionPages;
import dev.stratum.fork.series.FeatureTable;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.UpstreamEdits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.eclipse.jgit.lib.ObjectId;

/**
 * Checks the series as a whole: fork:checkout and fork:rebuild would leave every patch and source
 * file as it is, every patch can be exported, every source file belongs to a patch, every variant
 * for another version has the name of a patch, the edits for upstream alone and the patches of
 * plans fit, and CONTRIBUTING.md has the table of features that the headers give.
 */
@Mojo(name = "verify", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class VerifyMojo extends AbstractSeriesMojo {

  @Override
  void run() throws IOException {
    Series series = Series.read(root());
    checkOwners(series);
    LineVariants.checkNames(root(), series);
    byte[] page = new FeatureTable(series, root()).page();
    if (page != null
      && !Arrays.equals(page, Files.readAllBytes(root().resolve(FeatureTable.FILE)))) {
      throw new ForkException("The table of features in %s is not as the patches' headers have it; "
        + "run fork:checkout, then fork:rebuild.", FeatureTable.FILE);
    }
    new SubmissionPages(series, root(), baseVersion()).check();
    SortedMap<String, byte[]> base = baseTree();
    ForkHistory history = ForkHistory.of(base, series, root());
    UpstreamEdits.read(root(), series,
      ProtocolFiles.resolve(resolver(), List.of(baseVersion())).tree()).check(history);
    try (GitStore store = GitStore.inMemory(time())) {
      checkRoundTrip(history, store);
      MailPatch mail = new MailPatch(store, GitStore.AUTHOR + " <" + GitStore.MAIL + ">", time(),
        forkVersion());
      int exported = new Export(store, series, history, mail, baseVersion()).all().size();
      getLog().info(exported + " patches round-trip and can be exported");
    }
  }

  /** A file that no patch has would be missing from what is exported. */
  private void checkOwners(Series series) throws IOException {
    Set<String> orphans = new TreeSet<>();
    for (String module : Modules.ALL) {
      for (Path file : OutputTree.files(root().resolve(module).resolve("src"))) {
        orphans.add(OutputTree.slashed(root().relativize(file)));
      }
    }
    series.adds().forEach(orphans::remove);
    for (String orphan : orphans) {
      if (orphan.contains("/src/main/")) {
        throw new ForkException("%s belongs to no patch; name it in the 'Adds:' of one.", orphan);
      }
      getLog().warn(orphan + " belongs to no patch and would not be exported");
    }
  }

  private void checkRoundTrip(ForkHistory history, GitStore store) throws IOException {
    List<ObjectId> commits = store.commitHistory(history, baseName());
    Path seriesFile = root().resolve(PatchFile.FOLDER + Series.FILE);
    Rebuild.Plan plan = new Rebuild(store).plan(commits.get(0), commits.get(commits.size() - 1),
      Files.exists(seriesFile) ? Files.readAllBytes(seriesFile) : null);
    for (Map.Entry<String, byte[]> file : plan.files().entrySet()) {
      Path here = root().resolve(file.getKey());
      if (Files.exists(here) && !Arrays.equals(Files.readAllBytes(here), file.getValue())) {
        throw new ForkException("%s is not as fork:rebuild writes it; run fork:checkout, then "
          + "fork:rebuild.", file.getKey());
      }
    }
  }
}
