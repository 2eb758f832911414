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
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.FileEdit;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.TreeMerge;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.PersonIdent;

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
   * @param tested   the files with the patch, without {@link UpstreamEdits}: these need classes
   *                 that the published jars lack
   * @param files    the files that it gives
   * @param message  its message
   * @param fileName the name of its patch as {@code git format-patch} has it
   * @param content  its patch
   */
  public record Commit(PatchFile patch, SortedMap<String, byte[]> tested,
    SortedMap<String, byte[]> files, String message, String fileName, byte[] content) {
  }

  /** What became of a patch. */
  public enum Status {
    EXPORTED,
    /** Its header says that it is not for upstream. */
    FORK_ONLY,
    /** The version has it: see {@link LineVariants.Source#UPSTREAM}. */
    UPSTREAM,
    /** The version has its edits, or they are only of what upstream's build generates. */
    EMPTY,
    CONFLICTS,
    /** A patch that it needs conflicts. */
    WAITS
  }

  /**
   * What is exported for a patch.
   * @param patch   the patch
   * @param status  whether it was exported; if not, there are no commits
   * @param why     a sentence that says why it was not exported
   * @param commits the commits, the patch's own last
   * @param before  the files without the patch and without {@link UpstreamEdits}
   * @param notes   sentences about what was left out or taken from elsewhere
   * @param edited  whether the commits have {@link UpstreamEdits}
   */
  public record Exported(PatchFile patch, Status status, String why, List<Commit> commits,
    SortedMap<String, byte[]> before, List<String> notes, boolean edited) {

    /** Returns the name of the branch with the commits. */
    public String branch() {
      return patch.stem().replaceFirst("^STRATUM-", "");
    }

    /**
     * Returns the files without the patch, each that it edits with another line at its end: what
     * compiles them compiles the same Java files as for the patch.
     */
    public SortedMap<String, byte[]> untouched() {
      SortedMap<String, byte[]> files = new TreeMap<>(before);
      for (FileChange change : FileChange.between(before, own().tested())) {
        if (change.before() != null && change.path().endsWith(".java")) {
          byte[] longer = Arrays.copyOf(change.before(), change.before().length + 1);
          longer[change.before().length] = '\n';
          files.put(change.path(), longer);
        }
      }
      return files;
    }

    /** Returns the last commit. */
    public Commit own() {
      return commits.get(commits.size() - 1);
    }
  }

  /** What a patch becomes: the files with it, without and with {@link UpstreamEdits}. */
  private record Step(PatchFile patch, SortedMap<String, byte[]> tested,
    SortedMap<String, byte[]> files) {
  }

  private static final String NO_ISSUE = "HBASE-NNNNN";
  private static final int SLUG = 52;

  private final GitStore store;
  private final ForkHistory history;
  private final LineSources line;
  private final LineVariants variants;
  private final UpstreamEdits edits;
  private final PersonIdent author;
  private final MailPatch mail;
  private final SortedMap<String, byte[]> plain;

  public LineExport(GitStore store, ForkHistory history, LineSources line, LineVariants variants,
    UpstreamEdits edits, PersonIdent author, Instant time) {
    this.store = store;
    this.history = history;
    this.line = line;
    this.variants = variants;
    this.edits = edits;
    this.author = author;
    mail = new MailPatch(store, author, time, line.version());
    plain = line.repository(history.base());
    plain.putAll(edits.files());
  }

  /** Returns the version's files as upstream's repository has them. */
  public SortedMap<String, byte[]> plain() {
    return plain;
  }

  /** Makes the commits for a patch. */
  public Exported export(PatchFile patch) throws IOException {
    if (patch.header().staysInFork()) {
      return refused(patch, Status.FORK_ONLY, "%s is not for upstream, as its header says; "
        + "there is nothing to export.", patch.shown());
    }
    if (variants.source(patch) == LineVariants.Source.UPSTREAM) {
      return refused(patch, Status.UPSTREAM, "%s is in %s already, as its header or an empty "
        + "variant says; there is nothing to export.", patch.shown(), line.version());
    }
    List<PatchFile> chain = new ArrayList<>(history.series().closure(patch));
    chain.add(patch);
    List<String> notes = new ArrayList<>();
    List<Step> steps = new ArrayList<>();
    List<PatchFile> edited = new ArrayList<>();
    SortedMap<String, byte[]> before = plain;
    for (PatchFile one : chain) {
      SortedMap<String, byte[]> tested = new TreeMap<>(before);
      List<TreeMerge.Conflict> conflicts =
        new TreeMerge(tested, line.version(), one.stem()).apply(variants
          .changes(history.step(one)).stream()
          .filter(change -> !LineSources.isGenerated(change.path())).toList());
      if (!conflicts.isEmpty()) {
        return refused(patch, one == patch ? Status.CONFLICTS : Status.WAITS, "%s%s conflicts with "
          + "%s in %s; write its edits for that version as %s%s/%s.", one.shown(),
          one == patch ? "" : ", which " + patch.stem() + " needs,", line.version(),
          conflicts.stream().flatMap(conflict -> conflict.positions().stream())
            .collect(Collectors.joining(", ")),
          LineVariants.FOLDER, line.version(), one.name());
      }
      SortedMap<String, byte[]> files = new TreeMap<>(tested);
      for (PatchFile earlier : edited) {
        edits.apply(store, earlier, files);
      }
      String unfit = edits.apply(store, one, files);
      if (unfit != null) {
        notes.add("By hand: the edits of " + UpstreamEdits.FOLDER + one.name() + ", which do not "
          + "fit " + unfit + " of " + line.version() + ".");
      } else if (edits.has(one)) {
        edited.add(one);
      }
      if (FileChange.between(before, tested).isEmpty()) {
        notes.add(one.header().subject() + ": " + line.version() + " has it.");
      } else {
        steps.add(new Step(one, tested, files));
        before = one == patch ? before : tested;
      }
    }
    if (steps.isEmpty() || steps.get(steps.size() - 1).patch() != patch) {
      return refused(patch, Status.EMPTY, "%s changes nothing on %s: what it edits is there "
        + "already, or is generated by upstream's build.", patch.shown(), line.version());
    }
    notes.addAll(unpublished(chain));
    chain.forEach(one -> notes.addAll(generated(one)));
    return new Exported(patch, Status.EXPORTED, "", commits(steps, notes), before, notes,
      !edited.isEmpty());
  }

  private static Exported refused(PatchFile patch, Status status, String why, Object... args) {
    return new Exported(patch, status, String.format(why, args), List.of(), new TreeMap<>(),
      List.of(), false);
  }

  private List<Commit> commits(List<Step> steps, List<String> notes) throws IOException {
    List<Commit> commits = new ArrayList<>();
    ObjectId tree = store.writeTree(plain);
    ObjectId parent = store.commit(tree, List.of(), line.version() + "\n", author);
    SortedMap<String, byte[]> applied = new TreeMap<>(plain);
    for (Step step : steps) {
      int number = commits.size() + 1;
      String subject = subject(step.patch());
      String body = MailPatch.description(step.patch());
      String message = (subject + "\n\n" + body).stripTrailing() + "\n";
      ObjectId before = tree;
      tree = store.writeTree(step.files());
      parent = store.commit(tree, List.of(parent), message, author);
      byte[] content = mail.write(new MailPatch.Text(subject, body,
        steps.size() == 1 ? "" : " " + number + "/" + steps.size(),
        number == steps.size() ? String.join("\n", notes) : ""), before, tree, parent);
      String path = store.apply(content, applied);
      if (path != null || !FileChange.between(applied, step.files()).isEmpty()) {
        throw new ForkException("The export of %s for %s does not apply to that version's files%s; "
          + "this is a defect of fork:export.", step.patch().shown(), line.version(),
          path == null ? "" : ", in " + path);
      }
      commits.add(new Commit(step.patch(), step.tested(), step.files(), message,
        String.format("%04d-%s.patch", number, slug(subject)), content));
    }
    return commits;
  }

  private static String subject(PatchFile patch) {
    String subject = patch.header().subject();
    String issue = patch.header().jira();
    return subject.matches("HBASE-[0-9]+ .*")
      ? subject
      : (issue == null ? NO_ISSUE : issue) + " " + subject;
  }

  private static String slug(String subject) {
    String slug = subject.replaceAll("[^A-Za-z0-9._]+", "-");
    return slug.substring(0, Math.min(SLUG, slug.length())).replaceAll("[.-]+$", "");
  }

  private List<String> unpublished(List<PatchFile> chain) {
    return chain.stream().flatMap(patch -> variants.changes(history.step(patch)).stream())
      .filter(change -> change.before() != null).map(change -> Modules.of(change.path()))
      .filter(module -> !line.modules().contains(module)).distinct().sorted()
      .map(module -> "The sources of " + module + " " + line.version() + " are not published; the "
        + "edits of its files are made on another version and not checked.")
      .toList();
  }

  /** Returns what a person has to edit instead of each generated class that the patch edits. */
  private List<String> generated(PatchFile patch) {
    List<String> notes = new ArrayList<>();
    if (variants.source(patch) != LineVariants.Source.PATCH) {
      return notes;
    }
    for (FileEdit edit : patch.edits()) {
      if (LineSources.isPage(edit.path())) {
        String origin = LineSources.origin(edit.path());
        StringBuilder note = new StringBuilder(line.tree().containsKey(edit.path())
          ? origin + " needs the same lines:"
          : line.version() + " has neither " + origin + " nor its class; what replaces it needs "
            + "the like of these lines:");
        note.setCharAt(0, Character.toUpperCase(note.charAt(0)));
        for (byte[] one : edit.lines()) {
          String text = new String(one, StandardCharsets.UTF_8).stripTrailing();
          note.append("\n  ").append(text.charAt(0)).append(' ').append(text.substring(1));
        }
        notes.add(note.toString());
      }
    }
    return notes;
  }
}
