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
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

/**
 * docs/upstream-fixes.md against the patches: what is said to be here is, and a patch of an issue
 * in the tables, or of a fix that 2.6.6 has, is said to be.
 */
public class TestUpstreamFixes {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root")).normalize();
  private static final Pattern ROW = Pattern.compile("\\| ([^|]*)\\| ([^|]+) \\| ([^|]+) \\|");
  private static final Pattern HERE =
    Pattern.compile("\\[here\\]\\(\\.\\./patches/([\\w-]+)\\.patch\\)");
  private static final Pattern ISSUE = Pattern.compile("HBASE-\\d+");

  private record Row(Set<String> issues, String notice, String status) {
    /** Returns the name of the patch, or null. */
    String patch() {
      Matcher here = HERE.matcher(status);
      return here.lookingAt() ? here.group(1) : null;
    }
  }

  private static List<Row> rows() throws IOException {
    List<Row> rows = new ArrayList<>();
    boolean table = false;
    for (String line : Files.readAllLines(ROOT.resolve("docs/upstream-fixes.md"))) {
      if (!line.startsWith("|")) {
        table = false;
      } else if (line.startsWith("| issue |")) {
        table = true;
      } else if (table && !line.startsWith("|---")) {
        Matcher row = ROW.matcher(line);
        assertTrue(line, row.matches());
        Set<String> issues = new TreeSet<>();
        ISSUE.matcher(row.group(1)).results().forEach(issue -> issues.add(issue.group()));
        rows.add(new Row(issues, row.group(2), row.group(3)));
      }
    }
    assertTrue("rows: " + rows.size(), rows.size() > 40);
    return rows;
  }

  private static Path patch(String name) {
    return ROOT.resolve("patches/" + name + ".patch");
  }

  private static String header(Path patch) throws IOException {
    String text = Files.readString(patch);
    return text.substring(0, text.indexOf("\n\n")).replace("\n ", " ");
  }

  private static String value(Path patch, String key) throws IOException {
    return header(patch).lines().filter(line -> line.startsWith(key + ": ")).findFirst()
      .orElseThrow().substring(key.length() + 2);
  }

  @Test
  public void testStatusIsOneOfFour() throws Exception {
    for (Row row : rows()) {
      assertTrue(row.toString(), row.patch() != null
        || row.status().matches("(not needed|not possible: .+|not yet)([:;] .+)?"));
    }
  }

  @Test
  public void testPatchesOfWhatIsHereExist() throws Exception {
    for (Row row : rows()) {
      if (row.patch() != null) {
        assertTrue(row.toString(), Files.exists(patch(row.patch())));
        String issue = value(patch(row.patch()), "JIRA");
        assertTrue(row + ": " + issue,
          !issue.startsWith("HBASE") || row.issues().contains(issue));
      }
    }
  }

  @Test
  public void testPatchesOfIssuesAreSaidToBeHere() throws Exception {
    Set<String> here = new TreeSet<>();
    Set<String> issues = new TreeSet<>();
    for (Row row : rows()) {
      here.add(String.valueOf(row.patch()));
      issues.addAll(row.issues());
    }
    Set<String> missing = new TreeSet<>();
    for (Path patch : Sources.patches(ROOT)) {
      String name = patch.getFileName().toString().replace(".patch", "");
      boolean released = value(patch, "Upstream").startsWith("in 2.6.6");
      if ((released || issues.contains(value(patch, "JIRA"))) && !here.contains(name)) {
        missing.add(name);
      }
    }
    assertEquals("patches that docs/upstream-fixes.md does not name", Set.of(), missing);
  }
}
