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
package dev.stratum.dist;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** The settings check reads the presets of the archive with their memory. */
@Category(LargeTests.class)
public class TestPresets {
  private static final Path FOLDER = Path.of(System.getProperty("stratum.kit"), "presets");
  private static final Pattern MEMORY = Pattern.compile("-Xmx\\d+m|-XX:MaxDirectMemorySize=\\d+m");

  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  private static List<String> names() throws IOException {
    try (Stream<Path> presets = Files.list(FOLDER)) {
      return presets.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  /** Returns the limits of heap and direct memory of hbase-env.sh. */
  private static List<String> memory(Path preset) throws IOException {
    return MEMORY.matcher(Files.readString(preset.resolve("hbase-env.sh"))).results()
      .map(MatchResult::group).toList();
  }

  private List<String> check(String preset) throws Exception {
    Path folder = FOLDER.resolve(preset);
    return CheckedSettings.findings(temporary.newFolder().toPath(),
      Files.readString(folder.resolve("hbase-site.xml")), memory(folder)).stream()
      .map(line -> preset + ": " + line).toList();
  }

  @Test
  public void testSettingsCheckAcceptsEachWithItsMemory() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<Callable<List<String>>> checks = new ArrayList<>();
      names().forEach(preset -> checks.add(() -> check(preset)));
      List<String> found = new ArrayList<>();
      for (Future<List<String>> check : threads.invokeAll(checks)) {
        found.addAll(check.get());
      }
      assertEquals(List.of(), found);
    } finally {
      threads.shutdownNow();
    }
  }

  /** Returns what a pattern finds in the summary of a preset. */
  private static String find(String site, String pattern) {
    Matcher matcher = Pattern.compile("(?m)^ *" + pattern).matcher(site);
    assertTrue(pattern, matcher.find());
    return matcher.group(1);
  }

  private static String table() throws IOException {
    StringBuilder table = new StringBuilder("\n| preset | heap | L1 | L2 | block indexes | bloom "
      + "filters | in L1 | in L1 or L2 |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (String load : List.of("serving", "ingest", "mixed")) {
      for (String memory : List.of("32g", "64g", "128g", "256g")) {
        for (int devices : new int[] { 1, 4 }) {
          String name = load + "-" + memory + "-" + devices + "-ssd";
          String site = Files.readString(FOLDER.resolve(name).resolve("hbase-site.xml"));
          List<String> cells = new ArrayList<>(List.of("`" + name + "`"));
          for (String row : List.of("heap", "L1", "L2", "block indexes", "row bloom filters")) {
            cells.add(find(site, row + "  +([\\d.]+ .B)"));
          }
          cells.add(find(site, "zipfian.*: (\\d+ %) in L1,"));
          cells.add(find(site, "zipfian.*, (\\d+ %) in L1 or L2"));
          table.append("| ").append(String.join(" | ", cells)).append(" |\n");
        }
      }
    }
    return table.append('\n').toString();
  }

  @Test
  public void testTableOfTheGuideIsThatOfThePresets() throws Exception {
    Path guide = Path.of(System.getProperty("stratum.root"), "docs/presets.md");
    String text = Files.readString(guide);
    String begin = "<!-- presets, written by TestPresets -->\n";
    String written = text.substring(0, text.indexOf(begin) + begin.length()) + table()
      + text.substring(text.indexOf("<!-- end of presets -->"));
    if (Boolean.getBoolean("presets.write")) {
      Files.writeString(guide, written);
    }
    assertEquals(written, Files.readString(guide));
  }

  @Test
  public void testMemoryOfAPresetIsThatOfItsName() throws Exception {
    for (String preset : names()) {
      long gigabytes = Long.parseLong(preset.replaceAll(".*-(\\d+)g-.*", "$1"));
      List<String> memory = memory(FOLDER.resolve(preset));
      assertEquals(preset, 2, memory.size());
      long megabytes =
        memory.stream().mapToLong(option -> Long.parseLong(option.replaceAll("\\D", ""))).sum();
      assertTrue(preset, megabytes < gigabytes << 10);
      assertTrue(preset, megabytes > (gigabytes << 10) * 3 / 4);
      String site = Files.readString(FOLDER.resolve(preset).resolve("hbase-site.xml"));
      assertTrue(preset, site.contains("<property>"));
    }
  }
}
