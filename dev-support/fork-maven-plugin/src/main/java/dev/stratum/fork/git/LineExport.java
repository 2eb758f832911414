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
package dev.stratum.fork.git;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.base.GeneratedSources;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.diff.ContextApplier;
import dev.stratum.fork.diff.FileChange;
import dev.stratum.fork.diff.FileEdit;
import dev.stratum.fork.diff.Hunk;
import dev.stratum.fork.diff.TreeMerge;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.ReviewPlan;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.UpstreamEdits;
import dev.stratum.fork.style.ProjectWords;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.jgit.lib.ObjectId;

/**
 * Makes the commits that upstream's repository would be given for a patch on one version of HBase:
 * one for each patch under {@code Needs:} that the version lacks, and the patch's own. Variants for
 * the version replace the edits of their patches. What upstream's build generates is left out and
 * told. Every patch that is made has been applied to the version's files after those before it.
 */
public final class LineExport {

  /** Gives changed files the form that upstream requires. */
  public interface Style {
    /**
     * Returns {@code after} with each file that differs from {@code before} in upstream's style.
     */
    SortedMap<String, byte[]> apply(SortedMap<String, byte[]> before,
      SortedMap<String, byte[]> after) throws IOException;
  }

  /** Documents a patch in the files of a version. */
  public interface Docs {
    /**
     * Returns the files to add or change for a patch. A path without a folder is a file to put
     * beside the export.
     * @param tree the files without the patch
     */
    SortedMap<String, byte[]> of(PatchFile patch, SortedMap<String, byte[]> tree)
      throws IOException;
  }

  /**
   * One commit.
   * @param patch    the patch that it has
   * @param part     the pull request of a plan that it is, {@code null} for a whole patch
   * @param before   the tree that it is made on
   * @param after    the tree that it gives
   * @param message  its message
   * @param fileName the name of its patch as {@code git format-patch} has it
   * @param content  its patch
   */
  public record Commit(PatchFile patch, ReviewPlan.PullRequest part,
    SortedMap<String, byte[]> before, SortedMap<String, byte[]> after, String message,
    String fileName, byte[] content) {

    /** Returns the paths of the files that differ. */
    public List<String> paths() {
      return FileChange.between(before, after, Map.of()).stream().map(FileChange::path)
        .toList();
    }
  }

  /**
   * What is exported for a patch, or for a feature.
   * @param patch   the patch, the last one of a feature
   * @param name    the patch's name, or the feature's
   * @param commits the commits, the patch's own last
   * @param notes   sentences about what was left out or taken from elsewhere
   * @param beside  files that are no part of the commits, by name
   * @param edited  whether the commits have {@link UpstreamEdits}, which do not compile with the
   *                published jars
   */
  public record Exported(PatchFile patch, String name, List<Commit> commits, List<String> notes,
    SortedMap<String, byte[]> beside, boolean edited) {

    /** Returns the name of the branch with the commits. */
    public String branch() {
      return name.replaceFirst("^STRATUM-", "");
    }

    /** Returns the last commit. */
    public Commit own() {
      return commits.get(commits.size() - 1);
    }
  }

  /** @param part the pull request of a plan that it is, {@code null} for a whole patch */
  private record Step(PatchFile patch, ReviewPlan.PullRequest part,
    SortedMap<String, byte[]> before, SortedMap<String, byte[]> after) {

    String subject() {
      if (part == null) {
        return LineExport.subject(patch);
      }
      Matcher own = OWN_ISSUE.matcher(part.title());
      String issue = own.find() ? NO_ISSUE : LineExport.issue(patch);
      String title = own.replaceFirst("");
      Matcher named = NAMED_ISSUE.matcher(title);
      if (named.find()) {
        issue = named.group(1);
        title = named.replaceFirst("");
      }
      return issue + " " + title.substring(0, 1).toUpperCase(Locale.ROOT)
        + title.substring(1).replace("`", "");
    }

    String body() {
      return part == null
        ? MailPatch.description(patch)
        : "Part " + part.number() + " of: " + patch.header().subject() + "\n";
    }
  }

  private static final String NO_ISSUE = "HBASE-NNNNN";
  private static final int SLUG = 52;
  /** What a plan says of a pull request that needs an issue beside the feature's. */
  private static final Pattern OWN_ISSUE =
    Pattern.compile("^an issue of its own: |, an issue of its own$");
  private static final Pattern NAMED_ISSUE = Pattern.compile("^(HBASE-[0-9]+): ");

  private final GitStore store;
  private final Series series;
  private final ForkHistory history;
  private final LineSources line;
  private final LineVariants variants;
  private final Style style;
  private final Docs docs;
  private final UpstreamEdits edits;
  private final Committer author;
  private final Instant time;
  private final SortedMap<String, byte[]> plain;

  /**
   * @param store    where to keep trees
   * @param series   the patches
   * @param history  the same patches applied to the base
   * @param line     the version's files
   * @param variants the variants for the version
   * @param style    upstream's style for the version
   * @param docs     documents the patches
   * @param edits    what upstream's repository needs beside the patches
   * @param author   whom the commits are from
   * @param time     when they were made
   */
  public LineExport(GitStore store, Series series, ForkHistory history, LineSources line,
    LineVariants variants, Style style, Docs docs, UpstreamEdits edits, Committer author,
    Instant time) {
    this.store = store;
    this.series = series;
    this.history = history;
    this.line = line;
    this.variants = variants;
    this.style = style;
    this.docs = docs;
    this.edits = edits;
    this.author = author;
    this.time = time;
    plain = line.repository(history.base());
    plain.putAll(edits.files());
  }

  /** Returns the version's files as upstream's repository has them. */
  public SortedMap<String, byte[]> plain() {
    return plain;
  }

  /**
   * Makes the commits for a patch.
   * @throws ForkException if the patch is not for upstream, if it or something that it needs
   *                       conflicts with the version, if the version has it, or if the commits have
   *                       words that only this repository uses
   */
  public Exported export(PatchFile patch) throws IOException {
    refuseUnwanted(patch);
    Set<PatchFile> chain = new LinkedHashSet<>(series.closure(patch));
    chain.add(patch);
    Made made = make(chain, patch);
    List<Step> steps = made.steps();
    if (steps.isEmpty() || !steps.get(steps.size() - 1).patch().equals(patch)) {
      throw new ForkException("%s changes nothing on %s: what it edits is there already, or is "
        + "generated by upstream's build.", patch.shown(), line.version());
    }
    return new Exported(patch, patch.stem(), commits(steps, made.notes()), made.notes(),
      made.beside(), made.edited());
  }

  /**
   * Makes the commits for a feature: one for each patch that it needs, and one for each pull
   * request of its plan. A patch of the plan that one outside of it needs is a commit of its own.
   * @throws ForkException as {@link #export(PatchFile)}, or if the plan contradicts the patches
   */
  public Exported export(ReviewPlan plan) throws IOException {
    ReviewCut cut = new ReviewCut(plan);
    List<PatchFile> own = new ArrayList<>(series.patches().stream().filter(cut::has)
      .filter(patch -> variants.source(patch) != LineVariants.Source.UPSTREAM).toList());
    own.forEach(this::refuseUnwanted);
    Set<PatchFile> needed = new HashSet<>();
    own.forEach(patch -> needed.addAll(series.closure(patch)));
    List<String> whole = new ArrayList<>();
    for (PatchFile one : series.patches()) {
      if (needed.contains(one) && !own.contains(one)) {
        for (PatchFile behind : series.closure(one)) {
          if (own.remove(behind)) {
            whole.add(behind.stem() + " is a commit as a whole: " + one.stem()
              + ", which is not in the plan, needs it.");
          }
        }
      }
    }
    Set<PatchFile> chain = series.patches().stream()
      .filter(patch -> needed.contains(patch) && !own.contains(patch))
      .collect(Collectors.toCollection(LinkedHashSet::new));
    chain.addAll(own);
    PatchFile last = series.patches().stream().filter(chain::contains)
      .reduce((one, other) -> other).orElseThrow(() -> nothing(plan));
    Made made = make(chain, last);
    made.notes().addAll(whole);
    List<Step> steps = new ArrayList<>();
    List<ReviewCut.Applied> applied = new ArrayList<>();
    for (Step step : made.steps()) {
      if (own.contains(step.patch())) {
        applied.add(new ReviewCut.Applied(step.patch(), step.before(), step.after()));
      } else {
        steps.add(step);
      }
    }
    if (applied.isEmpty()) {
      throw nothing(plan);
    }
    PatchFile first = own.stream().filter(patch -> patch.header().jira() != null).findFirst()
      .orElse(own.get(0));
    List<ReviewCut.Part> parts = cut.cut(applied);
    if (!same(parts.get(parts.size() - 1).after(), applied.get(applied.size() - 1).after())) {
      throw new ForkException("The pull requests of %s do not give what its patches give; this is "
        + "a defect of fork:export.", plan.feature());
    }
    for (ReviewCut.Part part : parts) {
      if (!same(part.before(), part.after())) {
        steps.add(new Step(first, part.pullRequest(), part.before(), part.after()));
      }
    }
    return new Exported(last, plan.feature(), commits(steps, made.notes()),
      made.notes(), made.beside(), made.edited());
  }

  private ForkException nothing(ReviewPlan plan) {
    return new ForkException("%s%s.md has nothing that %s lacks.", ReviewPlan.FOLDER,
      plan.feature(), line.version());
  }

  private void refuseUnwanted(PatchFile patch) {
    if (patch.header().staysInFork()) {
      throw new ForkException("%s is not for upstream, as its header says; there is nothing to "
        + "export.", patch.shown());
    }
    if (variants.source(patch) == LineVariants.Source.UPSTREAM) {
      throw new ForkException("%s is in %s already, as its header or an empty variant says; there "
        + "is nothing to export.", patch.shown(), line.version());
    }
  }

  /** What patches change, one after the other. */
  private record Made(List<Step> steps, List<String> notes, SortedMap<String, byte[]> beside,
    boolean edited) {
  }

  private Made make(Set<PatchFile> chain, PatchFile target) throws IOException {
    List<String> notes = new ArrayList<>();
    List<Step> steps = new ArrayList<>();
    SortedMap<String, byte[]> beside = new TreeMap<>();
    SortedMap<String, byte[]> raw = plain;
    SortedMap<String, byte[]> before = plain;
    boolean edited = false;
    for (PatchFile one : chain) {
      SortedMap<String, byte[]> next = new TreeMap<>(raw);
      merge(one, target, next);
      for (Map.Entry<String, byte[]> page : docs.of(one, raw).entrySet()) {
        (page.getKey().contains("/") ? next : beside).put(page.getKey(), page.getValue());
      }
      String unfit = edits.apply(one, next);
      if (unfit != null) {
        notes.add("By hand: the edits of " + UpstreamEdits.FOLDER + one.name() + ", which do not "
          + "fit " + unfit + " of " + line.version() + ".");
      }
      edited |= unfit == null && edits.has(one);
      // The whole difference to the plain files, so that an edit next to that of an earlier patch
      // is not merged into lines that were restyled.
      SortedMap<String, byte[]> after = style.apply(plain, next);
      if (same(before, after)) {
        notes.add(one.header().subject() + ": " + line.version() + " has it.");
      } else {
        steps.add(new Step(one, null, before, after));
      }
      raw = next;
      before = after;
    }
    notes.addAll(unpublished(chain));
    chain.forEach(one -> notes.addAll(generated(one)));
    return new Made(steps, notes, beside, edited);
  }

  private void merge(PatchFile patch, PatchFile target, SortedMap<String, byte[]> tree) {
    List<FileChange> changes = variants.changes(step(patch)).stream()
      .filter(change -> !GeneratedSources.contain(change.path())).toList();
    List<TreeMerge.Conflict> conflicts =
      new TreeMerge(tree, line.version(), patch.stem()).apply(changes);
    if (!conflicts.isEmpty()) {
      throw new ForkException("%s%s conflicts with %s in %s; write its edits for that version as "
        + "%s%s/%s.", patch.shown(),
        patch.equals(target) ? "" : ", which " + target.stem() + " needs,", line.version(),
        conflicts.stream().map(TreeMerge.Conflict::path).collect(Collectors.joining(", ")),
        LineVariants.FOLDER, line.version(), patch.name());
    }
  }

  private ForkHistory.Step step(PatchFile patch) {
    return history.steps().get(series.patches().indexOf(patch));
  }

  private List<Commit> commits(List<Step> steps, List<String> notes) throws IOException {
    MailPatch mail = new MailPatch(store, author.toString(), time, line.version());
    List<Commit> commits = new ArrayList<>();
    ObjectId parent = store.commit(store.writeTree(plain), List.of(), line.version() + "\n");
    SortedMap<String, byte[]> applied = new TreeMap<>(plain);
    for (Step step : steps) {
      int number = commits.size() + 1;
      String subject = step.subject();
      String body = step.body();
      String message = body.isEmpty() ? subject + "\n" : subject + "\n\n" + body.stripTrailing()
        + "\n";
      ObjectId oldTree = store.writeTree(step.before());
      ObjectId newTree = store.writeTree(step.after());
      parent = store.commit(newTree, List.of(parent), message, author.at(time));
      byte[] content = mail.write(new MailPatch.Text(subject, body,
        steps.size() == 1 ? "" : " " + number + "/" + steps.size(),
        number == steps.size() ? String.join("\n", notes) : ""), oldTree, newTree, parent);
      check(step, content, applied);
      checkWords(step, message);
      commits.add(new Commit(step.patch(), step.part(), step.before(), step.after(), message,
        String.format("%04d-%s.patch", number, slug(subject)), content));
    }
    return commits;
  }

  private void check(Step step, byte[] content, SortedMap<String, byte[]> tree) {
    String path = ContextApplier.apply(step.patch().name(), content, tree);
    if (path != null || !same(tree, step.after())) {
      throw new ForkException("The export of %s for %s does not apply to that version's files%s; "
        + "this is a defect of fork:export.", step.patch().shown(), line.version(),
        path == null ? "" : ", in " + path);
    }
  }

  private void checkWords(Step step, String message) {
    List<ProjectWords.Found> words = ProjectWords.in(step.before(), step.after());
    words.addAll(ProjectWords.inText("message", message));
    if (!words.isEmpty()) {
      throw new ForkException("The export of %s for %s has words that only this repository uses: "
        + "%s. Replace them in its files or its header.", step.patch().shown(), line.version(),
        words.stream().map(Object::toString).collect(Collectors.joining(", ")));
    }
  }

  private static boolean same(SortedMap<String, byte[]> one, SortedMap<String, byte[]> other) {
    return one.keySet().equals(other.keySet()) && one.entrySet().stream()
      .allMatch(file -> Arrays.equals(file.getValue(), other.get(file.getKey())));
  }

  /** Returns the first line of the message of a patch's commit. */
  public static String subject(PatchFile patch) {
    String subject = patch.header().subject();
    if (subject.matches("HBASE-[0-9]+ .*")) {
      return subject;
    }
    return issue(patch) + " " + subject;
  }

  private static String issue(PatchFile patch) {
    return patch.header().jira() == null ? NO_ISSUE : patch.header().jira();
  }

  private static String slug(String subject) {
    String slug = subject.replaceAll("[^A-Za-z0-9._]+", "-");
    return slug.substring(0, Math.min(SLUG, slug.length())).replaceAll("[.-]+$", "");
  }

  private List<String> unpublished(Set<PatchFile> chain) {
    Set<String> modules = new TreeSet<>();
    for (PatchFile patch : chain) {
      variants.changes(step(patch)).stream().filter(change -> change.oldPath() != null)
        .map(change -> Modules.of(change.path()))
        .filter(module -> !line.modules().contains(module)).forEach(modules::add);
    }
    return modules.stream().map(module -> "The sources of " + module + " " + line.version()
      + " are not published; the edits of its files are made on another version and not checked.")
      .toList();
  }

  /** Returns what a person has to edit instead of each generated class that the patch edits. */
  private List<String> generated(PatchFile patch) {
    List<String> notes = new ArrayList<>();
    if (variants.source(patch) != LineVariants.Source.PATCH) {
      return notes;
    }
    for (FileEdit edit : patch.edits()) {
      if (GeneratedSources.isPage(edit.path())) {
        String origin = GeneratedSources.origin(edit.path());
        StringBuilder note = new StringBuilder(line.tree().containsKey(edit.path())
          ? origin + " needs the same lines:"
          : line.version() + " has neither " + origin + " nor its class; what replaces it needs "
            + "the like of these lines:");
        note.setCharAt(0, Character.toUpperCase(note.charAt(0)));
        for (Hunk hunk : edit.hunks()) {
          append(note, "  - ", hunk.oldLines());
          append(note, "  + ", hunk.newLines());
        }
        notes.add(note.toString());
      }
    }
    return notes;
  }

  private static void append(StringBuilder note, String sign, List<byte[]> lines) {
    for (byte[] one : lines) {
      note.append('\n').append(sign)
        .append(new String(one, StandardCharsets.UTF_8).stripTrailing());
    }
  }
}
