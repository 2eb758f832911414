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
import dev.stratum.fork.base.ProtocolFiles;
import dev.stratum.fork.base.PublishedClassPath;
import dev.stratum.fork.check.RedGreen;
import dev.stratum.fork.check.StateCheck;
import dev.stratum.fork.git.Committer;
import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.LineRepository;
import dev.stratum.fork.git.MailPatch;
import dev.stratum.fork.pages.SubmissionPages;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.UpstreamEdits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Writes patches for upstream. With {@code fork.line}, commits on that version of HBase: to
 * {@code target/export/LINE/NAME}, and as branches of {@code target/upstream/LINE}; with
 * {@code fork.tests}, tested. Without a line, patches to {@code target/export}, each on the base
 * plus its {@code Needs:} and with the source files that it adds, exactly as they are kept here,
 * and to {@code target/export/issues} the texts of their JIRA issues and pull requests.
 */
@Mojo(name = "export", aggregator = true, threadSafe = true)
public final class ExportMojo extends AbstractTestMojo {
  /** The one patch to export, by JIRA key or file name; all that have a JIRA key if not given. */
  @Parameter(property = "fork.jira")
  private String jira;

  /** Whether to export patches without a JIRA key too; with a line, they are always. */
  @Parameter(property = "fork.all", defaultValue = "false")
  private boolean all;

  /** The version of HBase to export for. */
  @Parameter(property = "fork.line")
  private String line;

  /**
   * Versions of HBase whose jars replace those that are not published for the line, the
   * best first; the base is always the last of them.
   */
  @Parameter(property = "fork.substitutes")
  private List<String> substitutes;

  /** The author of the patches, as {@code Name <mail>}; with a line, the default is git's user. */
  @Parameter(property = "fork.author")
  private String author;

  /**
   * What makes commits.
   * @param upstream  makes those that are exported
   * @param published makes those that the published jars can be used for: the same without the
   *                  edits for upstream alone
   * @param protocol  the version that the edits' files of protocols are of
   */
  private record Exports(LineExport upstream, LineExport published, String protocol) {
  }

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
      Path issues = folder.resolve("issues");
      new OutputTree(issues).write(new SubmissionPages(series, root(), baseVersion()).pages());
      getLog().info("exported " + root().relativize(issues));
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
    Path target = root().resolve("target");
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    ExportReport report = new ExportReport(version);
    try (GitStore store = GitStore.inMemory(time())) {
      LineVariants variants = LineVariants.read(root(), series, version, sources.tree());
      ProtocolFiles protocol = ProtocolFiles.resolve(resolver(), versions(sources));
      UpstreamEdits edits = UpstreamEdits.read(root(), series, protocol.tree());
      LineExport export =
        new LineExport(store, series, history, sources, variants, edits, committer, now);
      Exports exports = new Exports(export, new LineExport(store, series, history, sources,
        variants, edits.undone(), committer, now), protocol.version());
      try (
        LineRepository repository = new LineRepository(target.resolve("upstream").resolve(version),
          version, export.plain(), committer, time(), now);
        StateCheck check = runsTests() ? check(sources, export.plain(), report) : null) {
        for (PatchFile patch : chosen) {
          exportPatch(patch, exports, repository, check, report);
        }
      }
    }
    Path file = target.resolve("export").resolve(version).resolve("report.md");
    Files.createDirectories(file.getParent());
    Files.writeString(file, report.text());
    getLog().info("The report is " + root().relativize(file));
    report.check();
  }

  /** Returns the version, and those that replace it where it is not published. */
  private List<String> versions(LineSources sources) {
    List<String> versions = new ArrayList<>(List.of(sources.version()));
    versions.addAll(substitutes == null || substitutes.isEmpty()
      ? sources.substitutes()
      : substitutes);
    versions.add(baseVersion());
    return versions;
  }

  private void exportPatch(PatchFile patch, Exports exports, LineRepository repository,
    StateCheck check, ExportReport report) throws IOException {
    LineExport.Exported exported;
    try {
      exported = exports.upstream().export(patch);
    } catch (ForkException e) {
      report.refused(patch, e.getMessage());
      getLog().warn(e.getMessage());
      return;
    }
    write(report.version(), exported, repository);
    noteEdits(exported, exports, report);
    report.exported(exported, check == null
      ? null
      : redGreen(exported.edited() ? exports.published().export(patch) : exported, check));
  }

  private void noteEdits(LineExport.Exported exported, Exports exports, ExportReport report) {
    if (exported.edited()) {
      String note = exported.patch().stem() + " has the edits of " + UpstreamEdits.FOLDER
        + ". They need classes that upstream's build generates: what is compiled and tested here "
        + "is the same without them.";
      getLog().info(note);
      report.note(note);
      if (!exports.protocol().equals(report.version())) {
        report.note(ProtocolFiles.MODULE + " " + report.version() + " is not published; its files "
          + "are those of " + exports.protocol() + ".");
      }
    }
  }

  private StateCheck check(LineSources sources, SortedMap<String, byte[]> plain,
    ExportReport report) throws IOException {
    List<String> versions = versions(sources);
    PublishedClassPath.Filled filled = published().filled(server(), sources.version(),
      versions.subList(1, versions.size()));
    report.classPath(filled.note(sources.version()));
    List<Path> classPath = new ArrayList<>(filled.jars());
    Path folder = root().resolve("target").resolve("export-tests").resolve(sources.version());
    return new StateCheck(plain, folder, classPath, sources.release(),
      tests(classPath, folder));
  }

  private RedGreen.Verdict redGreen(LineExport.Exported exported, StateCheck check)
    throws IOException {
    List<String> named = exported.patch().header().tests();
    List<String> tests = ownTests(exported.patch()).stream()
      .filter(test -> named.isEmpty() || named.contains(test.substring(test.lastIndexOf('.') + 1)))
      .toList();
    RedGreen.Verdict verdict = new RedGreen(check).of(exported.own().before(),
      exported.own().after(), tests, !named.isEmpty());
    getLog().info("Without the patch: " + verdict.before());
    getLog().info("With the patch: " + verdict.after());
    return verdict;
  }

  private void write(String version, LineExport.Exported exported, LineRepository repository)
    throws IOException {
    String branch = repository.write(exported);
    repository.checkOut(branch);
    Path folder = root().resolve("target").resolve("export").resolve(version)
      .resolve(exported.patch().stem());
    Map<String, byte[]> files = new TreeMap<>();
    exported.commits().forEach(commit -> files.put(commit.fileName(), commit.content()));
    new OutputTree(folder).write(files);
    files.keySet()
      .forEach(name -> getLog().info("exported " + root().relativize(folder.resolve(name))));
    getLog().info("branch " + branch + " of target/upstream/" + version);
    exported.notes().forEach(note -> getLog().info(note));
  }
}
