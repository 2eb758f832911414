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
package dev.stratum.fork.style;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.diff.FileEdit;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The layout, compared with published sources and with hooks. */
@Category(LargeTests.class)
public class TestUpstreamFormatter {
  /** Their chains of conditional expressions are wrapped in another way, which stays. */
  private static final List<String> CHAINS =
    List.of("org/apache/hadoop/hbase/ipc/FastPathRWQueueRpcExecutor.java",
      "org/apache/hadoop/hbase/regionserver/HRegionServer.java");

  private final UpstreamFormatter formatter = new UpstreamFormatter();

  /** Returns the published files that patches edit. */
  private static SortedSet<String> edited() throws IOException {
    SortedSet<String> names = new TreeSet<>();
    for (PatchFile patch : Series.read(Path.of("../..").toRealPath()).patches()) {
      for (FileEdit edit : patch.edits()) {
        String path = edit.path();
        if (path.endsWith(".java") && !path.contains("/tmpl/") && !path.endsWith("_jsp.java")) {
          names.add(path.substring(path.indexOf(Modules.JAVA) + Modules.JAVA.length()));
        }
      }
    }
    return names;
  }

  private static String published(String name) throws IOException {
    try (InputStream in = TestUpstreamFormatter.class.getResourceAsStream("/" + name)) {
      return in == null ? null : JavaText.text(in.readAllBytes());
    }
  }

  @Test
  public void testPublishedFilesHaveThisLayout() throws IOException {
    List<String> others = new ArrayList<>();
    int files = 0;
    for (String name : edited()) {
      String text = published(name);
      if (text != null) {
        files++;
        if (!text.equals(formatter.format(text))) {
          others.add(name);
        }
      }
    }
    assertTrue(files + " files", files > 50);
    assertEquals(CHAINS, others);
  }

  @Test
  public void testLinesOfANewBlockAreIndented() {
    String before = "class A {\n  void a() {\n    b();\n    c();\n  }\n}\n";
    String after = before.replace("    b();\n    c();\n",
      "    if (d) {\n    b();\n    c();\n    }\n");
    assertEquals(
      before.replace("    b();\n    c();\n", "    if (d) {\n      b();\n      c();\n    }\n"),
      formatter.format(before, after));
  }

  @Test
  public void testLongConditionHasItsParenthesesOnLinesOfTheirOwn() {
    String long1 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    String code = "class A {\n  void a() {\n    if (%s) {\n      b();\n    }\n  }\n}\n";
    assertEquals(String.format(code, "\n      " + long1 + "\n        && " + long1 + "\n    "),
      formatter.format(String.format(code, long1 + " && " + long1)));
  }

  @Test
  public void testUnusualLayoutOfUpstreamStays() {
    String before = "class A {\n  int  a;\n\n  void b()  {\n    c();\n  }\n}\n";
    String after = before.replace("    c();\n", "    c( );\n    d( );\n");
    assertEquals(before.replace("    c();\n", "    c();\n    d();\n"),
      formatter.format(before, after));
  }

  @Test
  public void testWhatDoesNotParseStays() {
    String text = "class A { void ( }\n";
    assertEquals(text, formatter.format(text));
  }

  @Test
  public void testBraces() {
    String text = "class A {\n  void a() {\n    if (b) c(); // why\n    else if (d) e();\n"
      + "    for (;;) f();\n  }\n}\n";
    assertEquals("class A {\n  void a() {\n    if (b) {\n      c(); // why\n"
      + "    } else if (d) {\n      e();\n    }\n    for (;;) {\n      f();\n    }\n  }\n}\n",
      formatter.format(Braces.add(text, line -> true)));
    assertEquals(text, Braces.add(text, line -> false));
  }
}
