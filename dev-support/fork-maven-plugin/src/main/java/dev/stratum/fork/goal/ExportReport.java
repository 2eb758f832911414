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
import dev.stratum.fork.base.Published;
import dev.stratum.fork.check.RedGreen;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.UpstreamEdits;
import dev.stratum.fork.series.PatchFile;
import java.util.ArrayList;
import java.util.List;

/** Says what fork:export did for one version of HBase. */
final class ExportReport {
  private final String version;
  private final List<String> rows = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final List<String> refused = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private String classPath = "";
  private boolean tested;

  ExportReport(String version) {
    this.version = version;
  }

  /** Notes what the tests were run with. */
  void classPath(String note) {
    classPath = note;
  }

  /** Notes a patch that was exported, and what its tests said; {@code null} if none were run. */
  void exported(LineExport.Exported exported, RedGreen.Verdict verdict) {
    String stem = exported.patch().stem();
    StringBuilder row = new StringBuilder("| " + stem + " | " + exported.commits().size() + " | "
      + exported.branch() + " |");
    if (verdict != null) {
      tested = true;
      row.append(' ').append(cell(verdict.before())).append(" | ").append(cell(verdict.after()))
        .append(" |");
      if (!verdict.red()) {
        findings.add(stem + " is not shown to fix anything: " + verdict.before());
      } else if (!verdict.green()) {
        findings.add(stem + " does not pass its tests: " + verdict.after());
      }
    }
    rows.add(row.toString());
    exported.notes().forEach(note -> notes.add("- " + stem + ": " + note));
  }

  private static String cell(String text) {
    return text.replaceAll("\\s+", " ").replace("|", "\\|");
  }

  /** Notes a patch that could not be exported. */
  void refused(PatchFile patch, String why) {
    refused.add(why);
    notes.add("- " + patch.stem() + ": " + why);
  }

  /** Notes that a patch has edits that are not tested, with the version of its protocols' files. */
  void edited(PatchFile patch, String protocols) {
    notes.add("- " + patch.stem() + " has the edits of " + UpstreamEdits.FOLDER + ". They need "
      + "classes that upstream's build generates: what is compiled and tested here is the same "
      + "without them."
      + (protocols.equals(version) ? "" : " " + Published.PROTOCOL + " " + version + " is not "
        + "published; its files are those of " + protocols + "."));
  }

  /** Returns the report. */
  String text() {
    return "# Exports for " + version + "\n\n" + (classPath.isEmpty() ? "" : classPath + "\n\n")
      + "| patch | commits | branch |" + (tested ? " without the patch | with it |" : "")
      + "\n|---|---|---|" + (tested ? "---|---|" : "") + "\n" + String.join("\n", rows) + "\n"
      + (notes.isEmpty() ? "" : "\n" + String.join("\n", notes) + "\n");
  }

  /**
   * Ends the goal with what has to be seen.
   * @throws ForkException if nothing was exported, or tests are not red without and green with the
   *                       patch
   */
  void check() {
    if (rows.isEmpty() && !refused.isEmpty()) {
      throw new ForkException("%s", refused.get(0));
    }
    if (!findings.isEmpty()) {
      throw new ForkException("%d findings in %d exports for %s; the first: %s", findings.size(),
        rows.size(), version, findings.get(0));
    }
  }
}
