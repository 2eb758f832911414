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
package dev.stratum.fork.pages;

import dev.stratum.fork.git.MailPatch;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.PatchHeader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The page of one patch: its JIRA issue and its pull request as texts to paste. */
final class SubmissionPage {
  static final String ISSUES = "https://issues.apache.org/jira/browse/";
  private static final String NO_ISSUE = "HBASE-NNNNN";
  /** The branch that gets each change first. */
  private static final String MASTER = "master";
  /** The next release of {@link #MASTER}, as JIRA names it. */
  private static final String MASTER_RELEASE = "4.0.0-alpha-1";
  private static final int WIDTH = 100;

  private final PatchFile patch;
  private final PatchHeader header;
  private final List<PatchFile> needs;
  private final String base;
  private final String design;
  /** The lines with the defect, the base first; none for a feature. */
  private final List<String> affected = new ArrayList<>();

  /**
   * @param needs  the patches that it needs, to be submitted before it
   * @param design the path of the feature's design note, {@code null} for none
   */
  SubmissionPage(PatchFile patch, List<PatchFile> needs, String base, String design) {
    this.patch = patch;
    this.needs = needs;
    this.base = base;
    this.design = design;
    header = patch.header();
    if (header.isFix()) {
      affected.add(base);
      header.lines().stream().filter(line -> line.isThere() && !line.line().equals(MASTER))
        .forEach(line -> affected.add(line.line()));
    }
  }

  /** Returns the page as Markdown. */
  String text() {
    StringBuilder page = new StringBuilder();
    page.append("# ").append(patch.stem()).append("\n\nMade from the header of ")
      .append(patch.shown()).append(".\n");
    if (design != null) {
      page.append("The feature's design note is ").append(design).append(".\n");
    }
    String newest = affected.stream().filter(SubmissionPage::isRelease)
      .reduce(base, (older, newer) -> newer);
    String export = "mvn fork:export -Dfork.line=%s -Dfork.jira=" + patch.stem();
    section(page, "Branch", fenced(String.format(export, newest) + "\n"
      + (header.tests().isEmpty() ? "" : String.format(export, base) + " -Dfork.tests\n")));
    section(page, "JIRA issue",
      fields() + "\nDescription:\n\n" + fenced(description()));
    section(page, "Pull request", "Title:\n\n" + fenced(issue() + " " + summary() + "\n")
      + "\nBody:\n\n" + fenced(body()));
    String note = header.text(PatchHeader.RELEASE_NOTE);
    section(page, "Release note", note.isEmpty() ? "None.\n" : fenced(wrap(note)));
    String reviews = header.text(PatchHeader.REVIEWS);
    section(page, "What reviewers asked",
      wrap(reviews.isEmpty() ? "There was no earlier proposal." : reviews));
    return page.toString();
  }

  private String summary() {
    return header.subject().replaceFirst("^HBASE-[0-9]+ ", "");
  }

  private String issue() {
    return header.jira() == null ? NO_ISSUE : header.jira();
  }

  private String fields() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("Issue", header.jira() == null
      ? "to be filed"
      : "[" + header.jira() + "](" + ISSUES + header.jira() + ")");
    fields.put("Type", header.isFix() ? "Bug" : "Improvement");
    fields.put("Summary", summary());
    fields.put("Component", header.text(PatchHeader.COMPONENT));
    fields.put("Affects versions", String.join(", ", affected));
    fields.put("Fix versions", fixVersions());
    fields.put("Upstream", header.text(PatchHeader.UPSTREAM));
    fields.put("Submit after", needs.stream()
      .map(need -> "[" + need.stem() + "](" + need.stem() + ".md)")
      .collect(Collectors.joining(", ")));
    StringBuilder table = new StringBuilder("| field | value |\n|---|---|\n");
    fields.forEach((field, value) -> table.append(value.isEmpty() ? ""
      : "| " + field + " | " + value.replace("|", "\\|") + " |\n"));
    return table.toString();
  }

  /** Returns the next releases of the affected lines, the newest first. */
  private String fixVersions() {
    List<PatchHeader.Verdict> lines = header.lines();
    if (!header.isFix()) {
      return MASTER_RELEASE;
    }
    if (lines.isEmpty()) {
      return "not known: other lines were not examined";
    }
    List<String> releases = lines.stream()
      .filter(line -> line.isThere() && isRelease(line.line())).map(line -> next(line.line()))
      .collect(Collectors.toCollection(ArrayList::new));
    // What is not said of master is what holds for the last line that is named.
    if (lines.stream().filter(line -> line.line().equals(MASTER)).findFirst()
      .orElse(lines.get(lines.size() - 1)).isThere()) {
      releases.add(MASTER_RELEASE);
    }
    Collections.reverse(releases);
    return releases.isEmpty()
      ? "none: newer releases do not have the defect"
      : String.join(", ", releases);
  }

  /** Returns whether the line is a release, and neither a branch nor what precedes a release. */
  private static boolean isRelease(String line) {
    return line.matches("\\d+(\\.\\d+)*");
  }

  private static String next(String release) {
    int dot = release.lastIndexOf('.');
    return release.substring(0, dot + 1) + (Integer.parseInt(release.substring(dot + 1)) + 1);
  }

  /** Returns the reason without its first sentence if that only says where the change is from. */
  private String reason() {
    return wrap(header.reason().replaceFirst("^backport.*?\\. ", ""));
  }

  private String description() {
    StringBuilder text = new StringBuilder(reason());
    if (!header.tests().isEmpty()) {
      text.append('\n').append(wrap(failing(""))).append('\n');
      Map<String, List<String>> byModule = new TreeMap<>();
      header.tests().forEach(test -> header.adds().stream()
        .filter(path -> path.endsWith("/" + test + ".java")).forEach(path -> byModule
          .computeIfAbsent(Modules.of(path), module -> new ArrayList<>()).add(test)));
      byModule.forEach((module, tests) -> text.append("mvn test -pl ").append(module)
        .append(" -Dtest=").append(String.join(",", tests)).append('\n'));
    }
    if (!header.lines().isEmpty()) {
      text.append('\n').append(wrap(String.join(" ", lines())));
    }
    return text.toString();
  }

  private String failing(String quote) {
    List<String> tests = header.tests().stream().map(test -> quote + test + quote).toList();
    return join(tests) + (tests.size() == 1
      ? " fails without the change and passes with it."
      : " fail without the change and pass with it.");
  }

  /** Returns a sentence for each group of lines of which the same is known. */
  private List<String> lines() {
    Map<PatchHeader.Verdict, List<String>> groups = new LinkedHashMap<>();
    header.lines().forEach(line -> groups
      .computeIfAbsent(new PatchHeader.Verdict("", line.verdict(), line.evidence(), line.note()),
        group -> new ArrayList<>())
      .add(line.line()));
    List<String> sentences = new ArrayList<>();
    groups.forEach((known, lines) -> {
      boolean one = lines.size() == 1;
      String what = switch (known.verdict()) {
        case "there" -> one ? "has the defect" : "have the defect";
        case "fixed" -> one ? "does not have the defect" : "do not have the defect";
        default -> one ? "is not affected" : "are not affected";
      };
      sentences.add(join(lines) + " " + what + (known.note().isEmpty() ? "" : ", " + known.note())
        + (known.evidence().equals("test")
          ? " (the test was run)."
          : " (the sources were read)."));
    });
    return sentences;
  }

  private static String join(List<String> words) {
    int last = words.size() - 1;
    return last == 0
      ? words.get(0)
      : String.join(", ", words.subList(0, last)) + " and " + words.get(last);
  }

  private String body() {
    String compatibility = header.text(PatchHeader.COMPATIBILITY);
    return "JIRA: " + ISSUES + issue() + "\n\n" + reason() + "\n### Tests\n\n"
      + wrap(header.tests().isEmpty()
        ? "The tests of the change are part of it."
        : failing("`"))
      + "\n### Compatibility\n\n" + wrap(compatibility.isEmpty()
        ? "No change of an API, a default, a wire format or persisted data."
        : compatibility)
      + "\n### Disclosure\n\n" + wrap("Parts of this change were made with a generative tool. The "
        + "submitter has reviewed and tested it, and knows of no third-party material in it.")
      + "\nGenerated-by: NAME AND VERSION OF THE TOOL\n";
  }

  private static void section(StringBuilder page, String title, String content) {
    page.append("\n## ").append(title).append("\n\n").append(content);
  }

  private static String fenced(String text) {
    return "```text\n" + text + "```\n";
  }

  private static String wrap(String text) {
    return MailPatch.wrap(text, WIDTH);
  }
}
