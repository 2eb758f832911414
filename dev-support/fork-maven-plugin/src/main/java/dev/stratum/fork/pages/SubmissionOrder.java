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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.PatchHeader;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The order in which the patches are to be submitted: those that patches/upstream-order names, one
 * in a line, {@code #} begins a comment; then the other fixes, then the other patches, both in the
 * order of the series. A patch that stays in the fork is not among them.
 */
final class SubmissionOrder {
  /** The file that names the first patches, below patches/. */
  static final String FILE = "upstream-order";

  private SubmissionOrder() {
  }

  /**
   * Reads the order.
   * @throws ForkException if the file names something that is not a patch to be submitted
   */
  static List<PatchFile> of(Series series, Path root) throws IOException {
    Set<PatchFile> order = new LinkedHashSet<>();
    Path file = root.resolve(PatchFile.FOLDER).resolve(FILE);
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        String name = line.replaceFirst("#.*", "").trim();
        if (!name.isEmpty() && !order.add(named(series, name))) {
          throw new ForkException("patches/%s names %s twice; keep one line.", FILE, name);
        }
      }
    }
    List<PatchFile> others = new ArrayList<>(series.patches());
    others.removeIf(patch -> patch.header().staysInFork());
    others.stream().filter(SubmissionOrder::isFix).forEach(order::add);
    order.addAll(others);
    return List.copyOf(order);
  }

  /** Returns whether the patch fixes a defect. */
  static boolean isFix(PatchFile patch) {
    return patch.header().feature().equals(PatchHeader.FIX);
  }

  private static PatchFile named(Series series, String name) {
    for (PatchFile patch : series.patches()) {
      if (patch.stem().equals(name)) {
        if (patch.header().staysInFork()) {
          throw new ForkException("patches/%s names %s, whose header says 'JIRA: none', that it "
            + "stays in the fork; remove the line, or write 'JIRA: none yet'.", FILE, name);
        }
        return patch;
      }
    }
    throw new ForkException("patches/%s names %s, which is no patch of patches/series; write its "
      + "file name without .patch, or remove the line.", FILE, name);
  }
}
