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

import dev.stratum.fork.OutputTree;
import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.MailPatch;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Writes JIRA-ready patches to {@code target/export}, each on the base plus its {@code Needs:} and
 * with the source files that it adds.
 */
@Mojo(name = "export", aggregator = true, threadSafe = true)
public final class ExportMojo extends AbstractSeriesMojo {

  /** The one patch to export, by JIRA key or file name; all that have a JIRA key if not given. */
  @Parameter(property = "fork.jira")
  private String jira;

  /** Whether to export patches without a JIRA key too. */
  @Parameter(property = "fork.all", defaultValue = "false")
  private boolean all;

  /** Who the patches are from. */
  @Parameter(property = "fork.author",
      defaultValue = GitStore.AUTHOR + " <" + GitStore.MAIL + ">")
  private String author;

  @Override
  void run() throws IOException {
    Series series = Series.read(root());
    getLog().info("Reading " + baseName());
    ForkHistory history = ForkHistory.of(baseTree(), series, root());
    try (GitStore store = GitStore.inMemory(time())) {
      MailPatch mail = new MailPatch(store, author, time(), forkVersion());
      Export export = new Export(store, series, history, mail, baseVersion());
      Path folder = root().resolve("target").resolve("export");
      Files.createDirectories(folder);
      if (jira != null) {
        for (PatchFile patch : series.named(jira)) {
          write(folder, export.one(patch));
        }
        return;
      }
      List<Export.Exported> exported = export.all();
      for (Path old : OutputTree.files(folder)) {
        Files.delete(old);
      }
      for (Export.Exported one : exported) {
        if (all || one.patch().header().jira() != null) {
          write(folder, one);
        } else {
          getLog().info("skipped  " + one.patch().shown() + " (no JIRA; -Dfork.all exports it)");
        }
      }
      getLog().info("Each applies to the base after its needs; all " + exported.size()
        + " together give the tree that the build compiles");
    }
  }

  private void write(Path folder, Export.Exported one) throws IOException {
    Path file = folder.resolve(one.fileName());
    Files.write(file, one.content());
    getLog().info("exported " + root().relativize(file));
  }
}
