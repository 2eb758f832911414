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
package dev.stratum.fork.series;

import dev.stratum.fork.ForkException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The pull requests that a feature's design note plans, in their order: the rows of its table with
 * the columns PR, what, classes and patches, main lines, needs. A patch stands for its edits, and
 * for its files that no row names; a class of HBase for all edits of it by the patches of the plan.
 * @param feature      the feature's name, that of its page in {@value #FOLDER}
 * @param pullRequests the rows
 */
public record ReviewPlan(String feature, List<PullRequest> pullRequests) {
  /** The folder with the design notes, with a slash at the end. */
  public static final String FOLDER = "docs/upstream/design/";

  private static final Pattern ROW = Pattern
    .compile("\\| (\\d+) \\|([^|]*)\\|([^|]*)\\| (\\d+)( \\(above 900\\))? \\|[^|]*\\|");
  private static final Pattern NAME = Pattern.compile("`([^`]+)`");

  /**
   * One row.
   * @param number what it is called in the plan
   * @param title  what it does
   * @param names  simple names of classes, and names of patches without their extension
   * @param lines  how many lines of main code it says that it has
   * @param above  whether it says that these are too many
   */
  public record PullRequest(int number, String title, List<String> names, int lines,
    boolean above) {
  }

  /** Reads the plan of a page, which is empty if the page has none. */
  public static ReviewPlan parse(String feature, String page) {
    List<PullRequest> rows = new ArrayList<>();
    Matcher row = ROW.matcher(page);
    while (row.find()) {
      rows.add(new PullRequest(Integer.parseInt(row.group(1)), row.group(2).strip(),
        NAME.matcher(row.group(3)).results().map(name -> name.group(1)).toList(),
        Integer.parseInt(row.group(4)), row.group(5) != null));
    }
    return new ReviewPlan(feature, List.copyOf(rows));
  }

  /**
   * Reads the plan of a feature.
   * @param root the repository's root
   * @throws ForkException if the feature has none
   */
  public static ReviewPlan read(Path root, String feature) throws IOException {
    Path page = root.resolve(FOLDER).resolve(feature + ".md");
    ReviewPlan plan = Files.exists(page) ? parse(feature, Files.readString(page)) : null;
    if (plan == null || plan.pullRequests().isEmpty()) {
      throw new ForkException("%s%s.md has no table of pull requests; name a feature whose design "
        + "note has one.", FOLDER, feature);
    }
    return plan;
  }

  /** Returns the index of the pull request that names a class or a patch, -1 if none does. */
  public int indexOf(String name) {
    for (int i = 0; i < pullRequests.size(); i++) {
      if (pullRequests.get(i).names().contains(name)) {
        return i;
      }
    }
    return -1;
  }
}
