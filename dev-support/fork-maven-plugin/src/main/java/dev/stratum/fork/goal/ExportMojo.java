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
import dev.stratum.fork.base.Published;
import dev.stratum.fork.check.RedGreen;
import dev.stratum.fork.check.StateCheck;
import dev.stratum.fork.check.StateCompiler;
import dev.stratum.fork.git.Author;
import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.LineRepository;
import dev.stratum.fork.git.UpstreamEdits;
import dev.stratum.fork.pages.SubmissionPages;
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
import org.eclipse.jgit.lib.PersonIdent;

/**
 * Writes patches for upstream. With {@code fork.line}, commits on that version of HBase: to
 * {@code target/export/LINE/NAME}, and as branches of {@code target/upstream/LINE}; with
 * {@code fork.tests}, tested. Without a line, patches to {@code target/export}, each on the base
 * plus its {@code Needs:} and with the source files that it adds, exactly as they are kept here,
 * and to {@code target/export/issues} the texts of their JIRA issues and pull requests.
 */
@Mojo(name = "export", aggregator = true, threadSafe = true)
public final class ExportMojo extends AbstractForkMojo {
  /** The one patch to export, by JIRA key or file name; all that have a JIRA key if not given. */
  @Parameter(property = "fork.jira")
  private String jira;

  /** Whether to export patches without a JIRA key too; with a line, they are always. */
  @Parameter(property = "fork.all", defaultValue = "false")
  private boolean all;

  /** The version of HBase to export for. */
  @Parameter(property = "fork.line")
  private String line;

  /** With a line, whether to run each patch's tests without and with it. */
  @Parameter(property = "fork.tests", defaultValue = "false")
  private boolean runTests;

  /** Who the patches are from, as {@code Name <mail>}; with a line, whom git's settings name. */
  @Parameter(property = "fork.author")
  private String author;

  @Override
  void run() throws IOException {
    Series series = Series.read(root());
    getLog().info("Reading " + baseName());
    ForkHistory history = history(series);
    try (GitStore store = GitStore.inMemory(time())) {
      if (line != null) {
        exportLine(series, history, store);
      } else {
        exportBase(series, history, store);
      }
    }
  }

  private void exportBase(Series series, ForkHistory history, GitStore store) throws IOException {
    Export export = new Export(store, series, history,
      author == null ? GitStore.STRATUM : Author.parse(author), time(), forkVersion(),
      baseVersion());
    Path folder = target("export");
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
    new OutputTree(folder.resolve("issues"))
      .write(new SubmissionPages(series, root(), baseVersion()).pages());
    getLog().info("exported target/export/issues");
    getLog().info("All " + exported.size() + " together give the tree that the build compiles");
  }

  private void write(Path folder, Export.Exported one) throws IOException {
    Files.write(folder.resolve(one.fileName()), one.content());
    getLog().info("exported " + root().relativize(folder.resolve(one.fileName())));
  }

  private void exportLine(Series series, ForkHistory history, GitStore store) throws IOException {
    PersonIdent committer = author != null ? Author.parse(author) : Author.ofGit(root());
    LineSources sources = line(line);
    String version = sources.version();
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    LineVariants variants = LineVariants.read(root(), series, version, sources.tree());
    List<String> versions = new ArrayList<>(sources.versions());
    versions.add(baseVersion());
    Published.Protocols protocols = published().protocols(versions);
    LineExport export = new LineExport(store, series, history, sources, variants,
      UpstreamEdits.read(root(), series, protocols.tree()), committer, now);
    ExportReport report = new ExportReport(version);
    try (
      LineRepository repository = new LineRepository(target("upstream", version), version,
        export.plain(), committer, now);
      StateCheck check = runTests ? stateCheck(sources, export, report) : null) {
      for (PatchFile patch : jira != null ? series.named(jira) : series.patches()) {
        try {
          LineExport.Exported exported = export.export(patch);
          write(version, exported, repository);
          if (exported.edited()) {
            report.edited(patch, protocols.version());
          }
          report.exported(exported, check == null ? null : redGreen(exported, check));
        } catch (ForkException e) {
          report.refused(patch, e.getMessage());
          getLog().warn(e.getMessage());
        }
      }
    }
    Path file = target("export", version, "report.md");
    Files.createDirectories(file.getParent());
    Files.writeString(file, report.text());
    getLog().info("The report is " + root().relativize(file));
    report.check();
  }

  private void write(String version, LineExport.Exported exported, LineRepository repository)
    throws IOException {
    String branch = repository.write(exported);
    Path folder = target("export", version, exported.patch().stem());
    Map<String, byte[]> files = new TreeMap<>();
    exported.commits().forEach(commit -> files.put(commit.fileName(), commit.content()));
    new OutputTree(folder).write(files);
    files.keySet()
      .forEach(name -> getLog().info("exported " + root().relativize(folder.resolve(name))));
    getLog().info("branch " + branch + " of target/upstream/" + version);
    exported.notes().forEach(getLog()::info);
  }

  private StateCheck stateCheck(LineSources sources, LineExport export, ExportReport report) {
    Published.ClassPath classPath = classPath(sources.versions());
    report.classPath(classPath.note());
    Path folder = target("export-tests", sources.version());
    return new StateCheck(export.plain(), folder, classPath.jars(), sources.release(),
      tests(classPath.jars(), folder));
  }

  private RedGreen.Verdict redGreen(LineExport.Exported exported, StateCheck check)
    throws IOException {
    List<String> named = exported.patch().header().tests();
    List<String> tests = StateCompiler.tests(exported.patch().header().adds()).stream()
      .filter(test -> named.isEmpty() || named.contains(RedGreen.simple(test))).toList();
    RedGreen.Verdict verdict = new RedGreen(check).of(exported.before(), exported.own().tested(),
      tests, !named.isEmpty());
    getLog().info("Without the patch: " + verdict.before());
    getLog().info("With the patch: " + verdict.after());
    return verdict;
  }
}
