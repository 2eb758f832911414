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
import dev.stratum.fork.series.PatchFile;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The tables of all patches that are to go upstream, in the order of submission. */
final class SubmissionIndex {
  private final List<PatchFile> order;

  /** @param order the patches in the order of submission */
  SubmissionIndex(List<PatchFile> order) {
    this.order = order;
  }

  /** Returns the page. */
  String page() {
    return "# Patches in the order of submission\n\n" + tables();
  }

  private String tables() {
    List<PatchFile> fixes = order.stream().filter(SubmissionOrder::isFix).toList();
    List<PatchFile> open = fixes.stream().filter(SubmissionIndex::isOpen).toList();
    StringBuilder text = new StringBuilder();
    if (!open.isEmpty()) {
      text.append("### Fixes\n\n").append(fixes(open)).append('\n');
    }
    List<PatchFile> closed = fixes.stream().filter(patch -> !open.contains(patch)).toList();
    if (!closed.isEmpty()) {
      text.append("### Fixes that newer lines do not need\n\n").append(fixes(closed)).append('\n');
    }
    List<PatchFile> features = order.stream().filter(patch -> !fixes.contains(patch)).toList();
    if (!features.isEmpty()) {
      text.append("### Features\n\n| patch | feature | component |\n|---|---|---|\n");
      for (PatchFile patch : features) {
        text.append("| ").append(link(patch)).append(" | ").append(patch.header().feature())
          .append(" | ").append(patch.header().component()).append(" |\n");
      }
    }
    return text.toString().stripTrailing() + "\n";
  }

  /** Returns whether a line of HBase has the defect, as far as is known. */
  private static boolean isOpen(PatchFile patch) {
    List<LineVerdict> lines = patch.header().lines();
    return lines.isEmpty()
      || lines.stream().anyMatch(line -> line.verdict() == LineVerdict.Verdict.THERE);
  }

  private String fixes(List<PatchFile> fixes) {
    Set<String> lines = new TreeSet<>();
    fixes.forEach(patch -> patch.header().lines().forEach(line -> lines.add(line.line())));
    StringBuilder text = new StringBuilder("| patch | component |");
    lines.forEach(line -> text.append(' ').append(line).append(" |"));
    text.append("\n|---|---|").append("---|".repeat(lines.size())).append('\n');
    for (PatchFile patch : fixes) {
      Map<String, LineVerdict> known = new TreeMap<>();
      patch.header().lines().forEach(line -> known.put(line.line(), line));
      text.append("| ").append(link(patch)).append(" | ").append(patch.header().component())
        .append(" |");
      lines.forEach(line -> text.append(' ').append(known.containsKey(line)
        ? known.get(line).verdict() + ", " + known.get(line).evidence()
        : "").append(" |"));
      text.append('\n');
    }
    return text.toString();
  }

  private static String link(PatchFile patch) {
    return "[" + patch.stem() + "](" + patch.stem() + ".md)";
  }
}
