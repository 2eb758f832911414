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
import dev.stratum.fork.OutputTree;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.PatchHeader;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The table of the features in CONTRIBUTING.md, made from the patches' headers: for each slug its
 * guide, JIRA issues, its patch or their number, the packages of its new classes, and the
 * benchmarks that its guide names. The last row counts the fixes. It stands between two marker
 * lines; a page without them has no table.
 */
public final class FeatureTable {
  /** The file that has the table. */
  public static final String FILE = "CONTRIBUTING.md";
  static final String BEGIN = "<!-- features, written by fork:rebuild -->\n";
  static final String END = "<!-- end of features -->\n";

  private static final String MAIN = "/src/main/java/org/apache/hadoop/hbase/";
  private static final String IN_SERIES = " in [patches/series](patches/series)";
  private static final Pattern BENCHMARK = Pattern.compile("\\b[A-Z]\\w*Benchmark\\b");

  private FeatureTable() {
  }

  /**
   * Returns CONTRIBUTING.md with the table as the patches have it, {@code null} if there is no such
   * file or it has no marker lines.
   */
  public static byte[] page(Series series, Path root) throws IOException {
    String text =
      Files.exists(root.resolve(FILE)) ? Files.readString(root.resolve(FILE)) : "";
    int begin = text.indexOf(BEGIN);
    if (begin < 0) {
      return null;
    }
    int end = text.indexOf(END, begin);
    if (end < 0) {
      throw new ForkException("%s has the line '%s', but no line '%s' below it; add one.", FILE,
        BEGIN.trim(), END.trim());
    }
    return (text.substring(0, begin + BEGIN.length()) + table(series, root) + text.substring(end))
      .getBytes(StandardCharsets.UTF_8);
  }

  private static String table(Series series, Path root) throws IOException {
    Map<String, List<PatchFile>> features = new LinkedHashMap<>();
    for (PatchFile patch : series.patches()) {
      // Features are in the order of their last patches.
      List<PatchFile> patches = features.remove(patch.header().feature());
      features.put(patch.header().feature(), patches == null ? new ArrayList<>() : patches);
      features.get(patch.header().feature()).add(patch);
    }
    List<PatchFile> fixes = features.remove(PatchHeader.FIX);
    List<String> benchmarks = OutputTree.files(root.resolve("bench/src/main/java")).stream()
      .map(source -> source.getFileName().toString().replace(".java", "")).toList();
    StringBuilder table = new StringBuilder("\n| feature | JIRA | patches | packages | benchmarks |"
      + "\n|---|---|---|---|---|\n");
    for (Map.Entry<String, List<PatchFile>> feature : features.entrySet()) {
      List<PatchFile> patches = feature.getValue();
      String page = "docs/" + feature.getKey() + ".md";
      boolean guide = Files.exists(root.resolve(page));
      table.append(row(guide ? "[" + feature.getKey() + "](" + page + ")" : feature.getKey(),
        patches, patches.size() == 1
          ? "[" + patches.get(0).stem() + "](" + patches.get(0).shown() + ")"
          : patches.size() + IN_SERIES))
        .append(quoted(!guide ? Stream.of()
          : BENCHMARK.matcher(Files.readString(root.resolve(page))).results()
            .map(MatchResult::group).filter(benchmarks::contains)))
        .append(" |\n");
    }
    if (fixes != null) {
      table.append(row("fixes of the base", fixes, fixes.size() + IN_SERIES)).append("|\n");
    }
    return table.append('\n').toString();
  }

  /** Returns a row without its last cell. */
  private static String row(String name, List<PatchFile> patches, String shown) {
    String issues = patches.stream().map(patch -> patch.header().jira())
      .filter(jira -> jira != null).distinct().sorted()
      .map(jira -> "[" + jira + "](" + SubmissionPage.ISSUES + jira + ")")
      .collect(Collectors.joining(", "));
    String packages = quoted(patches.stream().flatMap(patch -> patch.header().adds().stream())
      .filter(path -> path.contains(MAIN))
      .map(path -> path.substring(path.indexOf(MAIN) + MAIN.length()))
      .filter(path -> path.contains("/"))
      .map(path -> path.substring(0, path.lastIndexOf('/')).replace('/', '.')));
    return "| " + name + " | " + issues + " | " + shown + " | " + packages + " | ";
  }

  private static String quoted(Stream<String> names) {
    return names.distinct().sorted().map(name -> '`' + name + '`')
      .collect(Collectors.joining(", "));
  }
}
