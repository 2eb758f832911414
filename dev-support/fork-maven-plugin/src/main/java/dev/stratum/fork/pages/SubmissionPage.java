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

import dev.stratum.fork.series.LineVerdict;
import dev.stratum.fork.series.LineVerdict.Evidence;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.PatchHeader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The page of one patch: its JIRA issue and its pull request as texts to paste. */
final class SubmissionPage {
  private static final String ISSUES = "https://issues.apache.org/jira/browse/";
  private static final String NO_ISSUE = "HBASE-NNNNN";
  private static final int WIDTH = 100;

  private final PatchFile patch;
  private final PatchHeader header;
  private final Versions versions;
  private final List<PatchFile> needs;
  private final String base;
  private final String design;
  private final String edits;

  /**
   * @param patch  the patch
   * @param needs  the patches that it needs, to be submitted before it
   * @param base   the version that the patch is made against
   * @param design the path of the feature's design note, {@code null} for none
   * @param edits  the diff of the edits that only upstream has, {@code null} for none
   */
  SubmissionPage(PatchFile patch, List<PatchFile> needs, String base, String design,
    String edits) {
    this.patch = patch;
    this.needs = needs;
    this.base = base;
    this.design = design;
    this.edits = edits;
    header = patch.header();
    versions = new Versions(patch, base);
  }

  /** Returns the page as Markdown. */
  String text() {
    StringBuilder page = new StringBuilder();
    page.append("# ").append(patch.stem()).append("\n\nMade from the header of ")
      .append(patch.shown()).append(".\n");
    if (design != null) {
      page.append("The feature's design note is ").append(design).append(".\n");
    }
    section(page, "Branch", fenced("mvn fork:export -Dfork.line=" + versions.newest()
      + " -Dfork.jira=" + patch.stem() + "\n" + (header.tests().isEmpty()
        ? ""
        : "mvn fork:export -Dfork.line=" + base + " -Dfork.jira=" + patch.stem()
          + " -Dfork.tests\n")));
    if (edits != null) {
      section(page, "Edits for upstream alone", "The exported commit has these edits. They need "
        + "classes that upstream's build generates: what\n`fork:export` compiles and tests is the "
        + "same without them.\n\n" + fenced("diff", edits));
    }
    section(page, "JIRA issue", fields() + "\nDescription:\n\n" + fenced(description()));
    section(page, "Pull request", "Title:\n\n" + fenced(issue() + " " + summary() + "\n")
      + "\nBody:\n\n" + fenced(body()));
    section(page, "Release note", header.releaseNote().isEmpty()
      ? "None.\n"
      : fenced(wrap(header.releaseNote())));
    section(page, "What reviewers asked",
      header.reviews().isEmpty() ? "There was no earlier proposal.\n" : wrap(header.reviews()));
    return page.toString();
  }

  /** Returns the subject without the issue. */
  String summary() {
    return header.subject().replaceFirst("^HBASE-[0-9]+ ", "");
  }

  private String issue() {
    return header.jira() == null ? NO_ISSUE : header.jira();
  }

  private String fields() {
    StringBuilder table = new StringBuilder("| field | value |\n|---|---|\n");
    row(table, "Issue", header.jira() == null
      ? "to be filed"
      : "[" + header.jira() + "](" + ISSUES + header.jira() + ")");
    row(table, "Type", SubmissionOrder.isFix(patch) ? "Bug" : "Improvement");
    row(table, "Summary", summary());
    row(table, "Component", header.component());
    row(table, "Affects versions", String.join(", ", versions.affects()));
    row(table, "Fix versions", fixVersions());
    row(table, "Upstream", header.upstream());
    row(table, "Submit after", needs.stream()
      .map(need -> "[" + need.stem() + "](" + need.stem() + ".md)")
      .collect(Collectors.joining(", ")));
    return table.toString();
  }

  private String fixVersions() {
    if (SubmissionOrder.isFix(patch) && header.lines().isEmpty()) {
      return "not known: other lines were not examined";
    }
    List<String> fixes = versions.fixes();
    return fixes.isEmpty() ? "none: newer releases do not have the defect"
      : String.join(", ", fixes);
  }

  private static void row(StringBuilder table, String field, String value) {
    if (!value.isEmpty()) {
      table.append("| ").append(field).append(" | ").append(value.replace("|", "\\|"))
        .append(" |\n");
    }
  }

  private String description() {
    StringBuilder text = new StringBuilder(wrap(header.description()));
    if (!header.tests().isEmpty()) {
      text.append('\n').append(wrap(failing(""))).append('\n');
      commands().forEach(command -> text.append(command).append('\n'));
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

  private List<String> commands() {
    Map<String, List<String>> byModule = new TreeMap<>();
    for (String test : header.tests()) {
      header.adds().stream().filter(path -> path.endsWith("/" + test + ".java")).forEach(
        path -> byModule.computeIfAbsent(Modules.of(path), module -> new ArrayList<>()).add(test));
    }
    List<String> commands = new ArrayList<>();
    byModule.forEach((module, tests) -> commands
      .add("mvn test -pl " + module + " -Dtest=" + String.join(",", tests)));
    return commands;
  }

  /** Returns a sentence for each group of lines of which the same is known. */
  private List<String> lines() {
    Map<String, List<String>> groups = new LinkedHashMap<>();
    for (LineVerdict line : header.lines()) {
      String known = line.evidence() == Evidence.TEST
        ? "the test was run"
        : "the sources were read";
      groups.computeIfAbsent(line.verdict() + "\n" + line.note() + "\n" + known,
        group -> new ArrayList<>()).add(line.line());
    }
    List<String> sentences = new ArrayList<>();
    groups.forEach((group, lines) -> {
      String[] parts = group.split("\n", -1);
      String what = switch (parts[0]) {
        case "there" -> lines.size() == 1 ? "has the defect" : "have the defect";
        case "fixed" -> lines.size() == 1 ? "does not have the defect" : "do not have the defect";
        default -> lines.size() == 1 ? "is not affected" : "are not affected";
      };
      sentences.add(join(lines) + " " + what + (parts[1].isEmpty() ? "" : ", " + parts[1]) + " ("
        + parts[2] + ").");
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
    StringBuilder text = new StringBuilder();
    text.append("JIRA: ").append(ISSUES).append(issue()).append("\n\n")
      .append(wrap(header.description()));
    text.append("\n### Tests\n\n").append(wrap(header.tests().isEmpty()
      ? "The tests of the change are part of it."
      : failing("`")));
    text.append("\n### Compatibility\n\n").append(wrap(header.compatibility().isEmpty()
      ? "No change of an API, a default, a wire format or persisted data."
      : header.compatibility()));
    text.append("\n### Disclosure\n\n").append(wrap("Parts of this change were made with a "
      + "generative tool. The submitter has reviewed and tested it, and knows of no third-party "
      + "material in it.")).append("\nGenerated-by: NAME AND VERSION OF THE TOOL\n");
    return text.toString();
  }

  private static void section(StringBuilder page, String title, String content) {
    page.append("\n## ").append(title).append("\n\n").append(content);
  }

  private static String fenced(String text) {
    return fenced("text", text);
  }

  private static String fenced(String language, String text) {
    return "```" + language + "\n" + text + "```\n";
  }

  /** Returns the text in lines of at most {@link #WIDTH} characters, each with its newline. */
  static String wrap(String text) {
    StringBuilder lines = new StringBuilder();
    int width = 0;
    for (String word : text.split(" ")) {
      if (width > 0 && width + 1 + word.length() > WIDTH) {
        lines.append('\n');
        width = 0;
      }
      lines.append(width > 0 ? " " : "").append(word);
      width += (width > 0 ? 1 : 0) + word.length();
    }
    return lines.append('\n').toString();
  }
}
