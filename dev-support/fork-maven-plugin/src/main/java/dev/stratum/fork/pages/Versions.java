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
import dev.stratum.fork.series.LineVerdict.Verdict;
import dev.stratum.fork.series.PatchFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The affects and fix versions of a patch's JIRA issue, by what its header says of other lines. */
final class Versions {
  /** The branch that gets each change first. */
  private static final String MASTER = "master";
  /** The next release of {@link #MASTER}, as JIRA names it. */
  private static final String MASTER_RELEASE = "4.0.0-alpha-1";

  private final PatchFile patch;
  private final String base;

  /**
   * @param patch the patch
   * @param base  the version that the patch is made against, without what Hadoop it is for
   */
  Versions(PatchFile patch, String base) {
    this.patch = patch;
    this.base = base;
  }

  /** Returns the lines with the defect, the base first; none for a feature. */
  List<String> affects() {
    List<String> affected = new ArrayList<>();
    if (SubmissionOrder.isFix(patch)) {
      affected.add(base);
      with(Verdict.THERE).filter(line -> !line.equals(MASTER)).forEach(affected::add);
    }
    return affected;
  }

  /**
   * Returns the releases that would have the change first, the newest one first: the next ones of
   * the affected lines. None if no line that is still developed has the defect.
   */
  List<String> fixes() {
    List<String> releases = new ArrayList<>();
    if (!SubmissionOrder.isFix(patch)) {
      releases.add(MASTER_RELEASE);
      return releases;
    }
    with(Verdict.THERE).filter(Versions::isRelease).forEach(line -> releases.add(0, next(line)));
    if (isInMaster()) {
      releases.add(0, MASTER_RELEASE);
    }
    return releases;
  }

  /** What is not said of master is what holds for the last line that is named. */
  private boolean isInMaster() {
    List<LineVerdict> lines = patch.header().lines();
    Optional<LineVerdict> said =
      lines.stream().filter(line -> line.line().equals(MASTER)).findFirst();
    return said.or(() -> lines.stream().reduce((first, second) -> second))
      .filter(line -> line.verdict() == Verdict.THERE).isPresent();
  }

  private Stream<String> with(Verdict verdict) {
    return patch.header().lines().stream().filter(line -> line.verdict() == verdict)
      .map(LineVerdict::line);
  }

  /** Returns the newest release that has the defect; the base for a feature. */
  String newest() {
    List<String> affected = affects();
    affected.removeIf(line -> !isRelease(line));
    return affected.isEmpty() ? base : affected.get(affected.size() - 1);
  }

  /** Returns whether the line is a release, and neither a branch nor what precedes a release. */
  private static boolean isRelease(String line) {
    return line.matches("\\d+(\\.\\d+)*");
  }

  private static String next(String release) {
    int dot = release.lastIndexOf('.');
    return release.substring(0, dot + 1) + (Integer.parseInt(release.substring(dot + 1)) + 1);
  }
}
