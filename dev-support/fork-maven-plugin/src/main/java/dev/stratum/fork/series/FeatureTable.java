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
import dev.stratum.fork.OutputTree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

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
  private static final String ISSUES = "https://issues.apache.org/jira/browse/";
  private static final Pattern BENCHMARK = Pattern.compile("\\b[A-Z]\\w*Benchmark\\b");

  private final Series series;
  private final Path root;

  /**
   * @param series the patches
   * @param root   the repository's root
   */
  public FeatureTable(Series series, Path root) {
    this.series = series;
    this.root = root;
  }

  /**
   * Returns CONTRIBUTING.md with the table as the patches have it, {@code null} if there is no such
   * file or it has no marker lines.
   */
  public byte[] page() throws IOException {
    Path file = root.resolve(FILE);
    if (!Files.exists(file)) {
      return null;
    }
    String text = Files.readString(file);
    int begin = text.indexOf(BEGIN);
    if (begin < 0) {
      return null;
    }
    int end = text.indexOf(END, begin);
    if (end < 0) {
      throw new ForkException("%s has the line '%s', but no line '%s' below it; add one.", FILE,
        BEGIN.trim(), END.trim());
    }
    return (text.substring(0, begin + BEGIN.length()) + table() + text.substring(end))
      .getBytes(StandardCharsets.UTF_8);
  }

  private String table() throws IOException {
    Map<String, List<PatchFile>> features = new LinkedHashMap<>();
    for (PatchFile patch : series.patches()) {
      String slug = patch.header().feature();
      List<PatchFile> patches =
        features.containsKey(slug) ? features.remove(slug) : new ArrayList<>();
      patches.add(patch);
      features.put(slug, patches); // in the order of each feature's last patch
    }
    List<PatchFile> fixes = features.remove(PatchHeader.FIX);
    Set<String> benchmarks = new TreeSet<>();
    for (Path source : OutputTree.files(root.resolve("bench/src/main/java"))) {
      benchmarks.add(source.getFileName().toString().replace(".java", ""));
    }
    StringBuilder table = new StringBuilder("\n| feature | JIRA | patches | packages | benchmarks |"
      + "\n|---|---|---|---|---|\n");
    for (Map.Entry<String, List<PatchFile>> feature : features.entrySet()) {
      table.append(row(feature.getKey(), feature.getValue(), benchmarks));
    }
    if (fixes != null) {
      table.append("| fixes of the base | ").append(issues(fixes)).append(" | ")
        .append(fixes.size()).append(" in [patches/series](patches/series) | ")
        .append(packages(fixes)).append(" | |\n");
    }
    return table.append('\n').toString();
  }

  private String row(String slug, List<PatchFile> patches, Set<String> benchmarks)
    throws IOException {
    Path guide = root.resolve("docs").resolve(slug + ".md");
    Set<String> named = new TreeSet<>();
    if (Files.exists(guide)) {
      Matcher matcher = BENCHMARK.matcher(Files.readString(guide));
      while (matcher.find()) {
        if (benchmarks.contains(matcher.group())) {
          named.add('`' + matcher.group() + '`');
        }
      }
    }
    return "| " + (Files.exists(guide) ? "[" + slug + "](docs/" + slug + ".md)" : slug) + " | "
      + issues(patches) + " | "
      + (patches.size() == 1
        ? "[" + patches.get(0).stem() + "](" + patches.get(0).shown() + ")"
        : patches.size() + " in [patches/series](patches/series)")
      + " | " + packages(patches) + " | " + String.join(", ", named) + " |\n";
  }

  private static String issues(List<PatchFile> patches) {
    return patches.stream().map(patch -> patch.header().jira()).filter(jira -> jira != null)
      .distinct().sorted().map(jira -> "[" + jira + "](" + ISSUES + jira + ")")
      .collect(Collectors.joining(", "));
  }

  private static String packages(List<PatchFile> patches) {
    return patches.stream().flatMap(patch -> patch.header().adds().stream())
      .filter(path -> path.contains(MAIN))
      .map(path -> path.substring(path.indexOf(MAIN) + MAIN.length()))
      .filter(path -> path.contains("/"))
      .map(path -> path.substring(0, path.lastIndexOf('/')).replace('/', '.'))
      .distinct().sorted().map(name -> '`' + name + '`').collect(Collectors.joining(", "));
  }
}
