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
import dev.stratum.fork.series.ContextApplier;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.FileEdit;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.Hunk;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import dev.stratum.fork.series.TreeMerge;
import dev.stratum.fork.series.UpstreamEdits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.eclipse.jgit.lib.ObjectId;

/**
 * Makes the commits that upstream's repository would be given for a patch on one version of HBase:
 * one for each patch under {@code Needs:} that the version lacks, and the patch's own. Variants for
 * the version replace the edits of their patches. What upstream's build generates is left out and
 * told. Every patch that is made has been applied to the version's files after those before it.
 */
public final class LineExport {

  /**
   * One commit.
   * @param patch    the patch that it has
   * @param before   the tree that it is made on
   * @param after    the tree that it gives
   * @param message  its message
   * @param fileName the name of its patch as {@code git format-patch} has it
   * @param content  its patch
   */
  public record Commit(PatchFile patch, SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after, String message, String fileName, byte[] content) {

    /** Returns the paths of the files that differ. */
    public List<String> paths() {
      return FileChange.between(before, after, Map.of()).stream().map(FileChange::path)
        .toList();
    }
  }

  /**
   * What is exported for a patch.
   * @param patch   the patch
   * @param commits the commits, the patch's own last
   * @param notes   sentences about what was left out or taken from elsewhere
   * @param edited  whether the commits have {@link UpstreamEdits}, which do not compile with the
   *                published jars
   */
  public record Exported(PatchFile patch, List<Commit> commits, List<String> notes,
    boolean edited) {

    /** Returns the name of the branch with the commits. */
    public String branch() {
      return patch.stem().replaceFirst("^STRATUM-", "");
    }

    /** Returns the last commit. */
    public Commit own() {
      return commits.get(commits.size() - 1);
    }
  }

  private record Step(PatchFile patch, SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after) {
  }

  private static final String NO_ISSUE = "HBASE-NNNNN";
  private static final int SLUG = 52;

  private final GitStore store;
  private final Series series;
  private final ForkHistory history;
  private final LineSources line;
  private final LineVariants variants;
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
   * @param edits    what upstream's repository needs beside the patches
   * @param author   whom the commits are from
   * @param time     when they were made
   */
  public LineExport(GitStore store, Series series, ForkHistory history, LineSources line,
    LineVariants variants, UpstreamEdits edits, Committer author, Instant time) {
    this.store = store;
    this.series = series;
    this.history = history;
    this.line = line;
    this.variants = variants;
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
   *                       conflicts with the version, or if the version has it
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
    return new Exported(patch, commits(steps, made.notes()), made.notes(), made.edited());
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
  private record Made(List<Step> steps, List<String> notes, boolean edited) {
  }

  private Made make(Set<PatchFile> chain, PatchFile target) throws IOException {
    List<String> notes = new ArrayList<>();
    List<Step> steps = new ArrayList<>();
    SortedMap<String, byte[]> before = plain;
    boolean edited = false;
    for (PatchFile one : chain) {
      SortedMap<String, byte[]> after = new TreeMap<>(before);
      merge(one, target, after);
      String unfit = edits.apply(one, after);
      if (unfit != null) {
        notes.add("By hand: the edits of " + UpstreamEdits.FOLDER + one.name() + ", which do not "
          + "fit " + unfit + " of " + line.version() + ".");
      }
      edited |= unfit == null && edits.has(one);
      if (same(before, after)) {
        notes.add(one.header().subject() + ": " + line.version() + " has it.");
      } else {
        steps.add(new Step(one, before, after));
      }
      before = after;
    }
    notes.addAll(unpublished(chain));
    chain.forEach(one -> notes.addAll(generated(one)));
    return new Made(steps, notes, edited);
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
      String subject = subject(step.patch());
      String body = MailPatch.description(step.patch());
      String message = body.isEmpty() ? subject + "\n" : subject + "\n\n" + body.stripTrailing()
        + "\n";
      ObjectId oldTree = store.writeTree(step.before());
      ObjectId newTree = store.writeTree(step.after());
      parent = store.commit(newTree, List.of(parent), message, author.at(time));
      byte[] content = mail.write(new MailPatch.Text(subject, body,
        steps.size() == 1 ? "" : " " + number + "/" + steps.size(),
        number == steps.size() ? String.join("\n", notes) : ""), oldTree, newTree, parent);
      check(step, content, applied);
      commits.add(new Commit(step.patch(), step.before(), step.after(), message,
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
