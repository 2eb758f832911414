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
import dev.stratum.fork.check.StateCheck;
import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Checks that a committer can take the patches one by one. Every state of the series, and every
 * patch on the base with nothing but its {@code Needs:}, is compiled with the files that its
 * patches add, tests too; on request a patch's own tests are run in both. Only what the patches
 * change is compiled, against the published jars. What did not change since the last run is not
 * looked at again. The table is in {@code target/check-series/report.md}.
 */
@Mojo(name = "check-series", aggregator = true, threadSafe = true)
public final class CheckSeriesMojo extends AbstractForkMojo {
  private static final int HEAD = 20;

  /** The patches to check, by JIRA key or file name, with commas between them; all if not given. */
  @Parameter(property = "fork.jira")
  private List<String> jira;

  /** Whether to run each patch's own tests too. */
  @Parameter(property = "fork.tests", defaultValue = "false")
  private boolean runTests;

  @Override
  void run() throws IOException {
    Series series = Series.read(root());
    ForkHistory history = history(series);
    List<Path> jars = classPath(List.of()).jars();
    Path folder = target("check-series");
    Set<PatchFile> chosen = new HashSet<>();
    for (String name : jira == null ? List.<String>of() : jira) {
      chosen.addAll(series.named(name));
    }
    StringBuilder report =
      new StringBuilder("| patch | in series order | alone after its needs |\n|---|---|---|\n");
    List<String> findings = new ArrayList<>();
    try (GitStore store = GitStore.inMemory(time());
      StateCheck check = new StateCheck(history.base(), folder, jars, StateCheck.RELEASE,
        runTests ? tests(jars, folder) : null)) {
      Export export = export(store, history);
      for (ForkHistory.Step step : history.steps()) {
        PatchFile patch = step.patch();
        if (chosen.isEmpty() || chosen.contains(patch)) {
          List<String> names = StateCheck.tests(patch.header().adds());
          StateCheck.Verdict inOrder = check.check(step.after(), names);
          StateCheck.Verdict alone = check.check(export.alone(patch), names);
          report.append(String.format("| %s | %s | %s |\n", patch.stem(), inOrder.shown(),
            alone.shown()));
          getLog().info(String.format("%-40s in order %s, alone after its needs %s", patch.stem(),
            inOrder.shown(), alone.shown()));
          tell(patch.stem() + " in order: ", inOrder, findings);
          tell(patch.stem() + " alone after its needs: ", alone, findings);
        }
      }
      getLog().info(check.compiled() + " states compiled and " + check.ran()
        + " test classes run; the rest was known");
    }
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("report.md"), report);
    if (!findings.isEmpty()) {
      findings.stream().limit(HEAD).forEach(getLog()::error);
      throw new ForkException("%d states are not as they should be: name what is missing under "
        + "'Needs:', give files to the patch that they belong to under 'Adds:', or correct the "
        + "code; the first is %s", findings.size(), findings.get(0));
    }
  }

  private static void tell(String state, StateCheck.Verdict verdict, List<String> findings) {
    if (!verdict.errors().isEmpty()) {
      findings.add(state + String.join("\n  ", verdict.errors()));
    }
    verdict.failures().forEach((test, failure) -> findings.add(state + test + ": " + failure));
  }
}
