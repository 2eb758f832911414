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
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.git.Committer;
import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.LineRepository;
import dev.stratum.fork.git.MailPatch;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Writes patches for upstream. With {@code fork.line}, commits as upstream wants them on that
 * version of HBase: to {@code target/export/LINE/NAME}, and as branches of
 * {@code target/upstream/LINE}. Without it, patches to {@code target/export}, each on the base plus
 * its {@code Needs:} and with the source files that it adds, exactly as they are kept here.
 */
@Mojo(name = "export", aggregator = true, threadSafe = true)
public final class ExportMojo extends AbstractSeriesMojo {

  /** The one patch to export, by JIRA key or file name; all that have a JIRA key if not given. */
  @Parameter(property = "fork.jira")
  private String jira;

  /** Whether to export patches without a JIRA key too; with a line, they are always. */
  @Parameter(property = "fork.all", defaultValue = "false")
  private boolean all;

  /** The version of HBase to export for, in upstream's form. */
  @Parameter(property = "fork.line")
  private String line;

  /** Who the patches are from, as {@code Name <mail>}; with a line, whom git's settings name. */
  @Parameter(property = "fork.author")
  private String author;

  @Override
  void run() throws IOException {
    if (line != null) {
      exportLine();
      return;
    }
    Series series = Series.read(root());
    getLog().info("Reading " + baseName());
    ForkHistory history = ForkHistory.of(baseTree(), series, root());
    try (GitStore store = GitStore.inMemory(time())) {
      MailPatch mail = new MailPatch(store,
        author != null ? author : GitStore.AUTHOR + " <" + GitStore.MAIL + ">", time(),
        forkVersion());
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
        if (old.getParent().equals(folder)) {
          Files.delete(old);
        }
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

  private void exportLine() throws IOException {
    Committer committer = author != null ? Committer.parse(author) : Committer.ofGit(root());
    Series series = Series.read(root());
    List<PatchFile> chosen = jira != null ? series.named(jira) : series.patches();
    ForkHistory history = ForkHistory.of(baseTree(), series, root());
    LineSources sources = line(line);
    String version = sources.version();
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    List<String> refused = new ArrayList<>();
    try (GitStore store = GitStore.inMemory(time())) {
      LineExport export = new LineExport(store, series, history, sources,
        LineVariants.read(root(), series, version, sources.tree()), (before, after) -> after,
        committer, now);
      try (LineRepository repository =
        new LineRepository(root().resolve("target").resolve("upstream").resolve(version), version,
          export.plain(), committer, time(), now)) {
        for (PatchFile patch : chosen) {
          try {
            LineExport.Exported exported = export.export(patch);
            write(version, exported);
            repository.checkOut(repository.write(exported));
          } catch (ForkException e) {
            refused.add(e.getMessage());
            getLog().warn(e.getMessage());
          }
        }
      }
    }
    if (chosen.size() == refused.size()) {
      throw new ForkException(refused.get(0));
    }
  }

  private void write(String version, LineExport.Exported exported) throws IOException {
    Path folder = root().resolve("target").resolve("export").resolve(version)
      .resolve(exported.patch().stem());
    Map<String, byte[]> files = new TreeMap<>();
    exported.commits().forEach(commit -> files.put(commit.fileName(), commit.content()));
    new OutputTree(folder).write(files);
    files.keySet()
      .forEach(name -> getLog().info("exported " + root().relativize(folder.resolve(name))));
    exported.notes().forEach(note -> getLog().info(note));
  }
}
