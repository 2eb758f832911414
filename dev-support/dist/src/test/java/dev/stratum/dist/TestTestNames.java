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

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

/** Methods with {@code @Test} are called testX, as upstream's are. */
public class TestTestNames {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root")).normalize();

  private static final Pattern METHOD = Pattern.compile("@Test\\b(?:\\([^)]*\\))?"
    + "(?:\\s+@\\w+(?:\\([^)]*\\))?)*\\s+(?:public\\s+)?(?:final\\s+)?void\\s+(\\w+)\\s*\\(");

  private static final Pattern LITERAL = Pattern.compile("\"(?:[^\"\\\\\\n]|\\\\.)*\"");

  /** Returns the names of test methods that are not testX. */
  private static List<String> misnamed(String source) {
    List<String> names = new ArrayList<>();
    String code = LITERAL.matcher(source).replaceAll("\"\"");
    for (Matcher method = METHOD.matcher(code); method.find();) {
      if (!method.group(1).matches("test[A-Z0-9]\\w*")) {
        names.add(method.group(1));
      }
    }
    return names;
  }

  @Test
  public void testTestMethodsAreNamedTestX() throws Exception {
    List<String> failed = new ArrayList<>();
    int sources = 0;
    for (Path module : Sources.modules(ROOT)) {
      for (Path file : Sources.java(module, "src/test/java")) {
        sources++;
        for (String name : misnamed(Files.readString(file))) {
          failed.add(ROOT.relativize(file) + " " + name + ": say test...");
        }
      }
    }
    assertTrue("sources: " + sources, sources > 200);
    assertEquals("", String.join("\n", failed));
  }

  @Test
  public void testEachFormOfATestMethodIsFound() {
    assertEquals(List.of("a", "tests", "b", "c", "testing", "d"), misnamed(
      "@Test public void a() {}\n@Test\n  public void tests() {\n  @Test(timeout = 1)\n  public"
        + " void b()\n@Test @Category(Small.class)\npublic void c() { @Test void testing() {\n"
        + "@Test(expected = A.class)\n  public final void d () throws X {"));
    assertEquals(List.of(), misnamed("@Test public void testA() {}\n@Test\npublic void test2x() {}"
      + "\n@Before public void setUp() {}\npublic void helper() {}\n@Test Object a;"));
  }
}
