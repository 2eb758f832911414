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

  /** The author of the patches, as {@code Name <mail>}; with a line, the default is git's user. */
  @Parameter(property = "fork.author")
  private String author;

  @Override
  void run() throws IOException {
    getLog().info("Reading " + baseName());
    ForkHistory history = history(Series.read(root()));
    try (GitStore store = GitStore.inMemory(time())) {
      if (line != null) {
        exportLine(history, store);
      } else {
        exportBase(history, store);
      }
    }
  }

  private void exportBase(ForkHistory history, GitStore store) throws IOException {
    Series series = history.series();
    Export export = new Export(store, history,
      author == null ? GitStore.STRATUM : LineRepository.committer(author), time(), forkVersion(),
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

  private void exportLine(ForkHistory history, GitStore store) throws IOException {
    PersonIdent committer = author != null
      ? LineRepository.committer(author)
      : LineRepository.committer(root());
    Series series = history.series();
    LineSources sources = line(line);
    String version = sources.version();
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    LineVariants variants = LineVariants.read(root(), series, version, sources.tree());
    List<String> versions = new ArrayList<>(sources.versions());
    versions.add(baseVersion());
    Published.Protocols protocols = published().protocols(versions);
    LineExport export = new LineExport(store, history, sources, variants,
      UpstreamEdits.read(root(), series, protocols.tree()), committer, now);
    Published.ClassPath classPath = runTests ? classPath(sources.versions()) : null;
    Path tests = target("export-tests", version);
    StringBuilder report = new StringBuilder("# Exports for " + version + "\n\n"
      + (!runTests || classPath.note().isEmpty() ? "" : classPath.note() + "\n\n")
      + "| patch | commits | branch |" + (runTests ? " without the patch | with it |" : "")
      + "\n|---|---|---|" + (runTests ? "---|---|" : "") + "\n");
    List<String> notes = new ArrayList<>();
    List<String> findings = new ArrayList<>();
    int exports = 0;
    try (
      LineRepository repository = new LineRepository(target("upstream", version), version,
        export.plain(), committer, now);
      StateCheck check = !runTests ? null
        : new StateCheck(export.plain(), tests, classPath.jars(), sources.release(),
          tests(classPath.jars(), tests))) {
      for (PatchFile patch : jira != null ? series.named(jira) : series.patches()) {
        LineExport.Exported exported = export.export(patch);
        if (exported.status() != LineExport.Status.EXPORTED) {
          getLog().warn(exported.why());
          notes.add("- " + patch.stem() + ": " + exported.why() + "\n");
          continue;
        }
        exports++;
        write(version, exported, repository);
        report.append("| ").append(patch.stem()).append(" | ").append(exported.commits().size())
          .append(" | ").append(exported.branch()).append(" |");
        report.append(runTests ? redGreen(exported, check, findings) : "").append('\n');
        exported.notes().forEach(note -> notes.add("- " + patch.stem() + ": " + note + "\n"));
        if (exported.edited()) {
          notes.add("- " + patch.stem() + " has the edits of " + UpstreamEdits.FOLDER + ", with "
            + Published.PROTOCOL + " " + protocols.version() + ". They need classes that "
            + "upstream's build generates: what is compiled and tested here is the same without "
            + "them.\n");
        }
      }
    }
    Path file = target("export", version, "report.md");
    Files.createDirectories(file.getParent());
    Files.writeString(file, report.append('\n').append(String.join("", notes)));
    getLog().info("The report is " + root().relativize(file));
    if (exports == 0 && !notes.isEmpty()) {
      throw new ForkException("Nothing was exported: %s", notes.get(0).substring(2).trim());
    }
    if (!findings.isEmpty()) {
      throw new ForkException("%d findings in %d exports for %s; the first: %s", findings.size(),
        exports, version, findings.get(0));
    }
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

  /** Runs a patch's tests without and with it; returns the cells of the report. */
  private String redGreen(LineExport.Exported exported, StateCheck check, List<String> findings)
    throws IOException {
    PatchFile patch = exported.patch();
    List<String> named = patch.header().tests();
    List<String> tests = StateCheck.tests(patch.header().adds()).stream()
      .filter(test -> named.isEmpty() || named.contains(RedGreen.simple(test))).toList();
    RedGreen.Verdict verdict = new RedGreen(check).of(exported.before(), exported.own().tested(),
      tests, !named.isEmpty());
    getLog().info("Without the patch: " + verdict.before());
    getLog().info("With the patch: " + verdict.after());
    if (!verdict.red()) {
      findings.add(patch.stem() + " is not shown to fix anything: " + verdict.before());
    } else if (!verdict.green()) {
      findings.add(patch.stem() + " does not pass its tests: " + verdict.after());
    }
    return " " + cell(verdict.before()) + " | " + cell(verdict.after()) + " |";
  }

  private static String cell(String text) {
    return text.replaceAll("\\s+", " ").replace("|", "\\|");
  }
}
